"""Batches: which files are sources, what their results are called, what counts as done."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import pytest

from qcowgui.convert import batch as batch_module
from qcowgui.convert import done_record, target_judge
from qcowgui.convert.batch import Found, find_sources, plan_batch
from qcowgui.convert.done_record import Done, Undone, note_done, source_facts
from qcowgui.convert.job import ConvertJob
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.result_comparison import Likeness
from qcowgui.convert.target_judge import judge_target
from qcowgui.engine.work import CancelToken, Counter, SerialExecutor
from qcowgui.errors import Cancelled
from tests.converting import ALLOW, ConvertKeywords
from tests.support import oracle
from tests.support.base_images import b0, pattern, text

CLUSTER = 65536


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def mbr() -> bytes:
    """A raw disk whose content tells what it is."""
    entry = bytes([0x80, 0, 0, 0, 0x83, 0, 0, 0]) + (2048).to_bytes(4, "little") * 2
    return (bytes(446) + entry + bytes(48) + b"\x55\xaa").ljust(4096, b"\0")


def names(found: Found, top: Path) -> list[str]:
    return [str(path.relative_to(top)) for path in found.sources]


def reasons(found: Found) -> dict[str, str]:
    return {refusal.path.name: refusal.reason for refusal in found.refusals}


def failures(found: Found) -> list[str]:
    return [refusal.path.name for refusal in found.refusals if refusal.is_failure]


def test_a_folder_by_content(tmp_path: Path) -> None:
    write(tmp_path / "b.qcow2", b0().to_bytes())
    write(tmp_path / "named wrong.txt", b0().to_bytes())
    write(tmp_path / "disk", mbr())
    write(tmp_path / "a.img", pattern(5000))
    write(tmp_path / "sub" / "zeros.raw", bytes(4096))
    write(tmp_path / "readme", b"what this is")
    write(tmp_path / "x.vmdk", b"KDMV\1\0\0\0".ljust(4096, b"\0"))
    write(tmp_path / ".hidden.qcow2", b0().to_bytes())
    write(tmp_path / ".b.qcow2.0123abcd.part", b0().to_bytes())
    found = find_sources([tmp_path])
    assert names(found, tmp_path) == [
        "a.img",
        "b.qcow2",
        "disk",
        "named wrong.txt",
        "sub/zeros.raw",
    ]
    assert failures(found) == []
    told = reasons(found)
    assert told.keys() == {"readme", "x.vmdk", ".hidden.qcow2", ".b.qcow2.0123abcd.part"}
    assert "VMDK" in told["x.vmdk"]
    assert "temporary file" in told[".b.qcow2.0123abcd.part"]


def test_a_name_that_promises_an_image(tmp_path: Path) -> None:
    write(tmp_path / "a.qcow2", b"<!doctype html><html>404</html>")
    write(tmp_path / "b.qcow2", pattern(5000))
    write(tmp_path / "c.qcow2", b"")
    write(tmp_path / "d.qcow2", b0().to_bytes())
    found = find_sources([tmp_path])
    assert names(found, tmp_path) == ["d.qcow2"]
    assert failures(found) == ["a.qcow2", "b.qcow2", "c.qcow2"]


def test_what_is_named_itself(tmp_path: Path) -> None:
    unknown = write(tmp_path / "unknown", pattern(5000))
    hidden = write(tmp_path / ".hidden", b0().to_bytes())
    part = write(tmp_path / ".x.0123abcd.part", b0().to_bytes())
    vmdk = write(tmp_path / "x", b"KDMV\1\0\0\0".ljust(4096, b"\0"))
    missing = tmp_path / "missing"
    os.mkfifo(tmp_path / "fifo")
    paths = [unknown, hidden, unknown, part, vmdk, missing, tmp_path / "fifo", Path("a\0b")]
    found = find_sources(paths)
    assert found.sources == (unknown, hidden)
    assert failures(found) == [".x.0123abcd.part", "x", "missing", "fifo", "a\0b"]
    told = reasons(found)
    assert "No such file" in told["missing"]
    assert "neither a file nor a block device" in told["fifo"]
    assert find_sources([vmdk], source_format="raw").sources == (vmdk,)


def test_a_folder_without_images_is_a_failure(tmp_path: Path) -> None:
    write(tmp_path / "sub" / "readme", b"text")
    found = find_sources([tmp_path])
    assert failures(found) == [tmp_path.name]
    assert "no image" in reasons(found)[tmp_path.name]


def test_links_and_loops(tmp_path: Path) -> None:
    top = tmp_path / "top"
    real = write(tmp_path / "elsewhere" / "real.qcow2", b0().to_bytes())
    write(top / "a.qcow2", b0().to_bytes())
    os.link(top / "a.qcow2", top / "b.qcow2")
    (top / "c.qcow2").symlink_to(real)
    (top / "broken").symlink_to("nowhere")
    (top / "self").symlink_to("self")
    (top / "loop").symlink_to(top)
    (top / "away").symlink_to(tmp_path / "elsewhere")
    found = find_sources([top])
    assert names(found, top) == ["a.qcow2", "c.qcow2"]
    assert failures(found) == []
    assert reasons(found)["b.qcow2"] == f"is the same file as {top / 'a.qcow2'}"
    assert "link to a folder" in reasons(found)["loop"]
    assert names(find_sources([top / "away"]), top / "away") == ["real.qcow2"]


def test_a_folder_named_twice_is_searched_once(tmp_path: Path) -> None:
    write(tmp_path / "sub" / "a.qcow2", b0().to_bytes())
    found = find_sources([tmp_path, tmp_path / "sub", tmp_path])
    assert names(found, tmp_path) == ["sub/a.qcow2"]


def test_the_folder_of_the_results_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a.qcow2", b0().to_bytes())
    out = write(tmp_path / "out" / "a.qcow2", b0().to_bytes()).parent
    assert names(find_sources([tmp_path], leave_out=out), tmp_path) == ["a.qcow2"]
    assert names(find_sources([tmp_path], leave_out=tmp_path / "none"), tmp_path) == [
        "a.qcow2",
        "out/a.qcow2",
    ]
    assert find_sources([out], leave_out=out).sources == (out / "a.qcow2",)


def test_a_folder_that_can_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "sub" / "a.qcow2", b0().to_bytes())
    write(tmp_path / "b.qcow2", b0().to_bytes())
    real = os.scandir

    def scandir(path: Path) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        if path.name == "sub":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = find_sources([tmp_path])
    assert names(found, tmp_path) == ["b.qcow2"]
    assert failures(found) == ["sub"]


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        write(tmp_path / f"{number}.qcow2", b0().to_bytes())
    monkeypatch.setattr(batch_module, "MAX_ENTRIES", 3)
    found = find_sources([tmp_path])
    assert len(found.sources) == 3
    assert "not searched to its end" in reasons(found)[tmp_path.name]
    monkeypatch.undo()
    monkeypatch.setattr(batch_module, "MAX_DEPTH", 2)
    deep = tmp_path / "1" / "2" / "3" / "4"
    write(deep / "x.qcow2", b0().to_bytes())
    found = find_sources([tmp_path])
    assert len(found.sources) == 5
    assert failures(found) == ["3"]


def test_ten_thousand_files_are_quick(tmp_path: Path) -> None:
    data = b0().to_bytes()[:4096]
    for number in range(10_000):
        (tmp_path / f"{number}.qcow2").write_bytes(data)
    began = time.process_time()
    found = find_sources([tmp_path])
    wanted = [ConvertOptions(source, source) for source in found.sources]
    plan = plan_batch(wanted, tmp_path / "out")
    seconds = time.process_time() - began
    assert len({options.target for options in plan.conversions}) == 10_000
    assert seconds < 10


def wanted(sources: Sequence[Path], **fields: Unpack[ConvertKeywords]) -> list[ConvertOptions]:
    return [ConvertOptions(source, source, **fields) for source in sources]


def test_names_depend_on_the_sources_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sources = [tmp_path / "a" / "d.img", tmp_path / "b" / "d.qcow2", tmp_path / "b" / "D.raw"]
    first = [options.target for options in plan_batch(wanted(sources), out).conversions]
    assert [path.name for path in first] == ["d.raw", "d-b.raw", "D-2.raw"]
    for path in first:
        write(path, b"result")
    assert [options.target for options in plan_batch(wanted(sources), out).conversions] == first


def test_results_among_their_sources(tmp_path: Path) -> None:
    """The same folder for both: once more, a result is no source."""
    zstd: ConvertKeywords = {"target_format": "qcow2", "compression": "zstd"}
    source, result = tmp_path / "a.qcow2", tmp_path / "a-zstd.qcow2"
    first = plan_batch(wanted([source], **zstd), tmp_path)
    again = plan_batch(wanted([result, source], **zstd), tmp_path)
    assert [options.target for options in first.conversions] == [result]
    assert again.conversions == first.conversions
    [refusal] = again.refusals
    assert refusal.path == result
    assert not refusal.is_failure


def test_a_source_is_never_a_target_that_may_be_replaced(tmp_path: Path) -> None:
    sources = [tmp_path / "a.qcow2", tmp_path / "a.raw", tmp_path / "x" / "a.img"]
    sources.append(tmp_path / "a-x.raw")
    plan = plan_batch(wanted(sources, overwrite=True), tmp_path)
    found = {
        options.source.name: (options.target, options.overwrite) for options in plan.conversions
    }
    assert found == {
        "a.qcow2": (tmp_path / "a.raw", False),
        "a.img": (tmp_path / "a-x.raw", False),
    }
    assert [refusal.path.name for refusal in plan.refusals] == ["a.raw", "a-x.raw"]


def test_results_with_second_choices_of_names_are_no_sources(tmp_path: Path) -> None:
    zstd: ConvertKeywords = {"target_format": "qcow2", "compression": "zstd"}
    sources = [tmp_path / name for name in ("a.img", "a.raw", "a.qcow2")]
    first = plan_batch(wanted(sources, **zstd), tmp_path)
    results = [options.target for options in first.conversions]
    assert len(set(results)) == len(sources)
    again = plan_batch(wanted(sorted([*sources, *results]), **zstd), tmp_path)
    assert {refusal.path for refusal in again.refusals} == set(results)
    assert {options.target for options in again.conversions} == set(results)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A raw disk with data that compresses, data that does not, and zeros."""
    data = text(2 * CLUSTER) + pattern(CLUSTER) + bytes(3 * CLUSTER)
    return write(tmp_path / "disk.raw", data)


def options_for(source: Path, target: Path, **fields: Unpack[ConvertKeywords]) -> ConvertOptions:
    fields.setdefault("target_format", "qcow2")
    fields.setdefault("compression", "zstd")
    return ConvertOptions(source, target, **fields)


def make(options: ConvertOptions) -> None:
    ConvertJob(options, ALLOW).run(SerialExecutor())


def make_and_note(options: ConvertOptions) -> None:
    before = source_facts(options, ALLOW)
    make(options)
    assert note_done(options, before, ALLOW)


def no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_judge, "compare_result", lambda *_, **__: Likeness("differs"))


def test_nothing_there_is_not_done(disk: Path, tmp_path: Path) -> None:
    assert isinstance(judge_target(options_for(disk, tmp_path / "missing")), Undone)
    assert isinstance(judge_target(options_for(disk, tmp_path)), Undone)


def test_a_note_is_believed_while_nothing_has_changed(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = options_for(disk, tmp_path / "t.qcow2", level=5)
    make_and_note(options)
    no_comparison(monkeypatch)
    assert judge_target(options) == Done("record")
    assert judge_target(replace(options, threads=1, overwrite=True, verify=False)) == Done("record")
    assert isinstance(judge_target(replace(options, level=6)), Undone)
    assert isinstance(judge_target(replace(options, salvage=True)), Undone)


@pytest.mark.parametrize("which", ["source", "target"])
@pytest.mark.parametrize("how", ["touched", "grown", "replaced", "rewritten"])
def test_a_note_about_another_state_is_not_believed(
    which: str, how: str, disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = options_for(disk, tmp_path / "t.qcow2")
    make_and_note(options)
    path = disk if which == "source" else options.target
    if how == "touched":
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    elif how == "grown":
        times = path.stat()
        with path.open("ab") as file:
            file.write(bytes(512))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    elif how == "rewritten":  # its size and times are as before
        times = path.stat()
        with path.open("r+b") as file:
            file.write(b"other")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    else:
        shutil.copy2(path, tmp_path / "copy")
        (tmp_path / "copy").replace(path)
    no_comparison(monkeypatch)
    assert isinstance(judge_target(options), Undone)


def test_a_backing_file_that_changed_makes_the_note_void(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = oracle.create(tmp_path / "overlay.qcow2", None, "-b", disk, "-F", "raw")
    options = options_for(overlay, tmp_path / "t.qcow2")
    make_and_note(options)
    no_comparison(monkeypatch)
    assert judge_target(options, gate=ALLOW) == Done("record")
    assert isinstance(judge_target(options), Undone)  # whose chain may not be opened can't be known
    os.utime(disk, ns=(0, 0))
    assert isinstance(judge_target(options, gate=ALLOW), Undone)


@pytest.mark.parametrize(
    ("made", "asked", "reason"),
    [
        ({}, {"level": 19}, "was made with the default level, not 19"),
        (
            {"compression": "zlib"},
            {"compression": "zlib", "window": "4k"},
            "was made with a window of 32k, not 4k",
        ),
        (
            {"target_format": "raw", "compression": "none"},
            {"target_format": "raw", "compression": "none", "sparse_bytes": 0},
            "was made with a sparse threshold of 4096, not 0",
        ),
        ({}, {"sparse_bytes": 0}, ""),
    ],
)
def test_a_note_knows_what_the_file_does_not_tell(
    made: ConvertKeywords, asked: ConvertKeywords, reason: str, disk: Path, tmp_path: Path
) -> None:
    make_and_note(options_for(disk, tmp_path / "t", **made))
    found = judge_target(options_for(disk, tmp_path / "t", **asked))
    assert found == (Undone(reason) if reason else Done("record"))
    assert judge_target(options_for(disk, tmp_path / "t", **made)) == Done("record")


def test_a_kept_backing_file_that_changed_makes_the_note_void(disk: Path, tmp_path: Path) -> None:
    base = oracle.create(tmp_path / "base.qcow2", disk.stat().st_size)
    options = options_for(
        disk, tmp_path / "t.qcow2", backing_file="base.qcow2", backing_format="qcow2"
    )
    make_and_note(options)
    assert judge_target(options) == Done("record")
    shutil.copy2(base, tmp_path / "copy")
    (tmp_path / "copy").replace(base)
    assert judge_target(options) == Done("content")
    oracle.qemu_io(base, f"write -P 7 {5 * CLUSTER} {CLUSTER}")
    found = judge_target(options)
    assert found == Undone("differs from the source at guest offset 0x5_0000")


def test_a_target_on_another_backing_file_is_not_done(disk: Path, tmp_path: Path) -> None:
    for name in ("base.qcow2", "other.qcow2"):
        oracle.create(tmp_path / name, disk.stat().st_size)
    on_base: ConvertKeywords = {"backing_file": "base.qcow2", "backing_format": "qcow2"}
    on_other: ConvertKeywords = {"backing_file": "other.qcow2", "backing_format": "qcow2"}
    make(options_for(disk, tmp_path / "t.qcow2", **on_base))
    found = judge_target(options_for(disk, tmp_path / "t.qcow2", **on_other), gate=ALLOW)
    assert found == Undone("has another backing file")
    found = judge_target(options_for(disk, tmp_path / "t.qcow2", **on_other))
    assert found == Undone("refers to another file than the result would")
    assert judge_target(options_for(disk, tmp_path / "t.qcow2", **on_base)) == Done("content")


def test_a_source_that_changed_meanwhile_is_not_noted(disk: Path, tmp_path: Path) -> None:
    options = options_for(disk, tmp_path / "t.qcow2")
    before = source_facts(options)
    make(options)
    os.utime(disk, ns=(0, 0))
    assert not note_done(options, before)


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"\xff", b"null", b'{"schema": 9}'])
def test_rubbish_in_place_of_a_note(
    content: bytes, disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    options = options_for(disk, tmp_path / "t.qcow2")
    make_and_note(options)
    [note] = (done_record.state_folder() / "converted").glob("*.json")
    note.write_bytes(content)
    assert judge_target(options) == Done("content")


def test_what_was_compared_once_is_noted(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = options_for(disk, tmp_path / "t.qcow2")
    make(options)
    assert judge_target(options) == Done("content")
    no_comparison(monkeypatch)
    assert judge_target(options) == Done("record")


def test_a_note_that_was_left_half_written_goes(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    half = write(tmp_path / "state/qcowgui/converted/.x.json.0123abcd.part", b"{")
    make_and_note(options_for(disk, tmp_path / "t.qcow2"))
    assert not half.exists()


def test_a_state_folder_that_can_not_be_made(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(disk))
    options = options_for(disk, tmp_path / "t.qcow2")
    before = source_facts(options)
    make(options)
    assert not note_done(options, before)
    assert judge_target(options) == Done("content")


def test_the_number_of_notes_is_bounded(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(done_record, "_MAX_NOTES", 4)
    kept = []
    for number in range(6):
        options = options_for(disk, tmp_path / f"{number}.qcow2")
        make_and_note(options)
        notes = sorted((tmp_path / "state/qcowgui/converted").iterdir())
        for note in notes:
            os.utime(note, ns=(0, json.loads(note.read_text())["target"]["mtime_ns"]))
        kept.append(len(notes))
        assert judge_target(options) == Done("record")
    assert kept == [1, 2, 3, 4, 3, 4]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"compression": "zlib"},
        {"compression": "none"},
        {"compression": "zlib", "cluster_bytes": 4096, "level": 9},
        {"target_format": "raw", "compression": "none"},
    ],
)
def test_without_a_note_the_content_decides(
    fields: ConvertKeywords, disk: Path, tmp_path: Path
) -> None:
    target = tmp_path / ("t.raw" if fields.get("target_format") == "raw" else "t.qcow2")
    options = options_for(disk, target, **fields)
    make(options)
    counter = Counter()
    assert judge_target(options, counter=counter) == Done("content")
    assert counter.value == disk.stat().st_size
    content = bytearray(target.read_bytes())
    content[content.index(pattern(64))] ^= 1  # of what does not compress
    target.write_bytes(content)
    assert isinstance(judge_target(options), Undone)


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        ({"compression": "none"}, {"compression": "zlib"}),
        ({"compression": "zlib"}, {"compression": "none"}),
        ({"compression": "zlib"}, {"compression": "zstd"}),
        ({"cluster_bytes": 4096}, {}),
        ({}, {"refcount_bits": 8}),
        ({}, {"lazy_refcounts": True}),
        ({}, {"extended_l2": True}),
        ({"compression": "zlib"}, {"compression": "zlib", "compat": "0.10"}),
    ],
)
def test_the_same_content_in_another_shape_is_not_done(
    made: ConvertKeywords, asked: ConvertKeywords, disk: Path, tmp_path: Path
) -> None:
    make(options_for(disk, tmp_path / "t.qcow2", **made))
    assert isinstance(judge_target(options_for(disk, tmp_path / "t.qcow2", **asked)), Undone)


def test_a_file_of_the_other_format_is_not_done(disk: Path, tmp_path: Path) -> None:
    shutil.copy(disk, tmp_path / "t.qcow2")
    assert isinstance(judge_target(options_for(disk, tmp_path / "t.qcow2")), Undone)
    assert isinstance(
        judge_target(options_for(disk, disk, target_format="raw", compression="none")), Undone
    )


def test_a_target_with_a_backing_file_or_a_snapshot_is_not_done(disk: Path, tmp_path: Path) -> None:
    plain: ConvertKeywords = {"compression": "none"}
    overlay = oracle.create(tmp_path / "o.qcow2", None, "-b", disk, "-F", "raw")
    assert isinstance(judge_target(options_for(disk, overlay, **plain), gate=ALLOW), Undone)
    options = options_for(disk, tmp_path / "t.qcow2", **plain)
    make(options)
    oracle.qemu_img("snapshot", "-c", "s", options.target)
    assert isinstance(judge_target(options), Undone)


def test_a_source_that_can_not_be_read_is_not_done(disk: Path, tmp_path: Path) -> None:
    options = options_for(disk, tmp_path / "t.qcow2")
    make(options)
    disk.unlink()
    assert isinstance(judge_target(options), Undone)


def test_a_comparison_can_be_cancelled(disk: Path, tmp_path: Path) -> None:
    options = options_for(disk, tmp_path / "t.qcow2")
    make(options)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        judge_target(options, token=token)
