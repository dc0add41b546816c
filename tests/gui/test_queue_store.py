"""The queue on disk: what is kept, what comes back, and what rubbish does to it."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import typing
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.part_file import create_part
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, OutputError
from qcowgui.gui.consent import Consent
from qcowgui.gui.queue_store import QueueStore, SavedJob, _fits, read_jobs

EVERYTHING = ConvertOptions(
    Path("/images/größe %20.qcow2"),
    Path("/out/a b.qcow2"),
    "qcow2",
    source_format="qcow2",
    compression="zlib",
    level=9,
    window="4k",
    cluster_bytes=2 << 20,
    refcount_bits=64,
    extended_l2=True,
    lazy_refcounts=True,
    snapshot="before",
    backing_file="base.qcow2",
    backing_format="qcow2",
    threads=3,
    verify=False,
    salvage=True,
    overwrite=True,
)
CONSENT = Consent(
    (Path("/images/base.qcow2"), Path("/moved/old.qcow2")),
    {(Path("/images/base.qcow2"), "../old.qcow2"): Path("/moved/old.qcow2")},
)
PLAIN = ConvertOptions(Path("/images/b.qcow2"), Path("/out/b.raw"))


def entry(**changes: object) -> dict[str, object]:
    options = {"source": "/images/a.qcow2", "target": "/out/a.raw"} | changes
    return {"options": {key: value for key, value in options.items() if value is not ...}}


def file_with(folder: Path, content: object) -> Path:
    path = folder / "queue-1.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_every_option_comes_back(tmp_path: Path) -> None:
    kept = (SavedJob(EVERYTHING, CONSENT), SavedJob(PLAIN))
    store = QueueStore(tmp_path / "state" / "qcowgui")
    assert store.open() == ()
    store.write(kept)
    store.close()
    assert QueueStore(tmp_path / "state" / "qcowgui").open() == kept


def test_names_that_are_no_text_come_back(tmp_path: Path) -> None:
    source = Path(os.fsdecode(b"/images/\xff\xfe\n.qcow2"))
    kept = (SavedJob(ConvertOptions(source, Path("/out/x.raw"))),)
    store = QueueStore(tmp_path)
    store.open()
    store.write(kept)
    store.close()
    assert QueueStore(tmp_path).open() == kept


def test_what_is_relative_is_kept_as_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = QueueStore(tmp_path)
    store.open()
    store.write([SavedJob(ConvertOptions(Path("a.qcow2"), Path("a.raw")))])
    store.close()
    (saved,) = QueueStore(tmp_path).open()
    assert saved.options.source == tmp_path / "a.qcow2"
    assert saved.options.target == tmp_path / "a.raw"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        {"version": 1},
        {"version": 2, "jobs": [entry()]},
        {"version": 1, "jobs": {}},
        {"version": 1, "jobs": [None, 1, [], {}, {"options": []}]},
        {"version": 1, "jobs": [entry(source=...)]},
        {"version": 1, "jobs": [entry(source="")]},
        {"version": 1, "jobs": [entry(source="relative.qcow2")]},
        {"version": 1, "jobs": [entry(target="/out/nul\0.raw")]},
        {"version": 1, "jobs": [entry(target=7)]},
        {"version": 1, "jobs": [entry(level="high")]},
        {"version": 1, "jobs": [entry(threads=True)]},
        {"version": 1, "jobs": [entry(threads=1_000_000)]},
        {"version": 1, "jobs": [entry(verify=1)]},
        {"version": 1, "jobs": [entry(target_format="vmdk")]},
        {"version": 1, "jobs": [entry(compression=["zlib"])]},
        {"version": 1, "jobs": [entry(compression="zlib")]},  # of a raw target
        {"version": 1, "jobs": [entry() | {"allowed": "x"}]},
        {"version": 1, "jobs": [entry() | {"located": {}}]},
        {"version": 1, "jobs": [entry() | {"located": [["/a", "b", "/c"]]}]},
        {"version": 1, "jobs": [entry() | {"located": [{"image": "/a", "name": 1, "path": "/c"}]}]},
        {"version": 1, "jobs": [entry() | {"located": [{"image": "/a", "name": "b"}]}]},
    ],
)
def test_rubbish_is_left_out(tmp_path: Path, content: object) -> None:
    path = file_with(tmp_path, content)
    assert read_jobs(path) == []
    assert QueueStore(tmp_path).open() == ()


def test_what_is_usable_of_a_file_comes_back(tmp_path: Path) -> None:
    good = entry(unknown="of a later version")
    path = file_with(tmp_path, {"version": 1, "jobs": [entry(level="x"), good, 3]})
    assert [job.options.target for job in read_jobs(path)] == [Path("/out/a.raw")]


def test_every_option_has_a_type_that_can_be_judged() -> None:
    kinds = typing.get_type_hints(ConvertOptions)
    for field in fields(ConvertOptions):
        if field.default is not MISSING:
            assert _fits(field.default, kinds[field.name]), field.name
        assert not _fits(object(), kinds[field.name]), field.name


def test_two_windows_have_a_file_each(tmp_path: Path) -> None:
    first, second = QueueStore(tmp_path), QueueStore(tmp_path)
    assert first.open() == second.open() == ()
    first.write([SavedJob(PLAIN)])
    second.write([SavedJob(EVERYTHING)])
    assert QueueStore(tmp_path).open() == ()  # both are alive
    first.close()
    second.close()
    third = QueueStore(tmp_path)
    assert third.open() == (SavedJob(PLAIN), SavedJob(EVERYTHING))
    assert [path.name for path in tmp_path.glob("*.json")] == ["queue-1.json"]
    assert read_jobs(tmp_path / "queue-1.json") == [SavedJob(PLAIN), SavedJob(EVERYTHING)]


def test_a_process_that_was_killed_leaves_its_queue(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from qcowgui.convert.options import ConvertOptions\n"
        "from qcowgui.gui.queue_store import QueueStore, SavedJob\n"
        "store = QueueStore(Path(sys.argv[1]))\n"
        "store.open()\n"
        "store.write([SavedJob(ConvertOptions(Path('/a.qcow2'), Path('/a.raw')))])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert run.returncode == -9
    (saved,) = QueueStore(tmp_path).open()
    assert saved.options.source == Path("/a.qcow2")


def test_what_a_dead_writer_has_left_beside_a_target_goes(tmp_path: Path) -> None:
    images = tmp_path / "images"
    images.mkdir()
    target = images / "a.raw"
    _, dead = create_part(target, 0o600)
    os.close(dead)
    alive, fd = create_part(target, 0o600)
    other, dead = create_part(images / "b.raw", 0o600)
    os.close(dead)
    try:
        store = QueueStore(tmp_path)
        store.open()
        store.write([SavedJob(ConvertOptions(images / "a.qcow2", target))])
        store.close()
        QueueStore(tmp_path).open()
        assert sorted(images.iterdir()) == sorted([alive, other])
    finally:
        os.close(fd)


def test_a_folder_that_can_not_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="can't be made"):
        QueueStore(tmp_path / "file" / "state").open()


def test_a_full_disk_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = QueueStore(tmp_path), QueueStore(tmp_path)
    for store, options in ((first, PLAIN), (second, EVERYTHING)):
        store.open()
        store.write([SavedJob(options)])
    for store in (first, second):
        store.close()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    third = QueueStore(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwritev", full)
        assert third.open() == (SavedJob(PLAIN), SavedJob(EVERYTHING))
        with pytest.raises(OutputError):
            third.write([SavedJob(PLAIN)])
    third.close()
    assert QueueStore(tmp_path).open() == (SavedJob(PLAIN), SavedJob(EVERYTHING))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["queue-1.json"]


def test_opening_stops_on_request(tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        QueueStore(tmp_path).open(token)
