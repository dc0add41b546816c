"""Every option of the conversion form reaches the image: qemu-img is asked what came of it."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from qcowgui.convert.job import ConvertJob, ConvertResult
from qcowgui.convert.options import ConvertOptions, TargetFormat
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.errors import OptionsError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.consent import Consent
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.opening import inspect_image
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import Theme

Case = dict[str, Any]

CHOICES: dict[str, tuple[Any, ...]] = {
    "compression": ("none", "zlib", "zstd"),
    "level": (None, 1, 9),
    "window": ("32k", "4k"),
    "cluster_bytes": (512, 4096, 65536, 2 << 20),
    "compat": ("1.1", "0.10"),
    "refcount_bits": (1, 16, 64),
    "extended_l2": (False, True),
    "lazy_refcounts": (False, True),
    "bitmaps": (False, True),
    "keep_backing": (False, True),
    "snapshot": (None, "snapshot.id=1"),
    "threads": (None, 1),
    "verify": (True, False),
    "salvage": (False, True),
}


def possible(case: Case) -> bool:
    """Whether the options allow a case, and the form can show it."""
    if case["window"] == "4k" and case["compression"] != "zlib":
        return False
    try:
        ConvertOptions(Path("a"), Path("b"), "qcow2", **case)
    except OptionsError:
        return False
    return True


def pairs_of(case: Case) -> set[tuple[str, Any, str, Any]]:
    return {
        (left, case[left], right, case[right]) for left, right in itertools.combinations(CHOICES, 2)
    }


def pairwise() -> list[Case]:
    """Cases in which every pair of choices that go together occurs."""
    chance = random.Random(5)
    pool = [{key: chance.choice(values) for key, values in CHOICES.items()} for _ in range(6000)]
    pool = [case for case in pool if possible(case)]
    left = set().union(*map(pairs_of, pool))
    chosen: list[Case] = []
    while left:
        best = max(pool, key=lambda case: len(pairs_of(case) & left))
        chosen.append(best)
        left -= pairs_of(best)
    return chosen


def run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )


def info(path: Path) -> dict[str, Any]:
    told = run("qemu-img", "info", "--output=json", path)
    assert told.returncode == 0, told.stderr
    found: dict[str, Any] = json.loads(told.stdout)
    return found


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image on a backing file, with a snapshot and a bitmap, all made by QEMU."""
    folder = tmp_path_factory.mktemp("source")
    chance = random.Random(7)
    words = [chance.randbytes(24) for _ in range(400)]
    text = b"".join(chance.choice(words) for _ in range(40_000))[: 768 << 10]
    (folder / "base.raw").write_bytes(text + bytes(256 << 10))
    path = folder / "disk.qcow2"
    for command in (
        ("create", "-f", "qcow2", "-b", "base.raw", "-F", "raw", path),
        ("bitmap", "--add", path, "dirty"),
    ):
        assert run("qemu-img", *command).returncode == 0
    writes = run("qemu-io", "-f", "qcow2", "-c", "write -P 7 64k 192k", path)
    assert writes.returncode == 0, writes.stderr
    assert run("qemu-img", "snapshot", "-c", "before", path).returncode == 0
    writes = run("qemu-io", "-f", "qcow2", "-c", "write -P 9 512k 64k", path)
    assert writes.returncode == 0, writes.stderr
    return path


@pytest.fixture
def form(qtbot: QtBot, theme: Theme, settings: Settings, source: Path) -> Iterator[ConvertDialog]:
    runner = BackgroundRunner(interval_ms=10)
    made = ConvertDialog(
        [source],
        theme=theme,
        settings=settings,
        runner=runner,
        inspected=inspect_image(source),
        consent=Consent((source.with_name("base.raw"),)),
    )
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    made.forecast.stopped = True
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.entries.items[0].looked is not None)
    yield made
    made.reject()
    qtbot.waitUntil(lambda: not runner.active)


def choose(form: ConvertDialog, case: Case) -> None:
    """Set the fields one by one, as a person does."""
    fields = form.fields
    fields.choose("qcow2", case["compression"])
    for combo, key in fields._combos.items():
        if key in case:
            index = combo.findData(case[key])
            assert index >= 0, (key, case[key])
            combo.setCurrentIndex(index)
    if case["level"] is not None and case["compression"] != "none":
        fields.level.setValue(case["level"])
    for box, key in fields._boxes.items():
        box.setChecked(case[key])
    fields.threads.setValue(case["threads"] or 0)
    backing = "keep" if case["keep_backing"] else "flatten"
    fields.backing.setCurrentIndex(fields.backing.findData(backing))


def convert(options: ConvertOptions, consent: Consent) -> ConvertResult:
    with QPoolExecutor(options.threads) as executor:
        return ConvertJob(options, consent.gate()).run(executor)


CASES = pairwise()


def test_the_cases_cover_every_choice() -> None:
    for key, values in CHOICES.items():
        assert {case[key] for case in CASES} == set(values), key


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case.values())))
def test_an_option_of_the_form_is_one_of_the_image(
    form: ConvertDialog, source: Path, tmp_path: Path, case: Case
) -> None:
    choose(form, case)
    target = tmp_path / "made.qcow2"
    form.target.target.choose(str(target))
    ((options, consent),) = form.wanted()
    result = convert(options, consent)
    assert result.verified == case["verify"]
    assert options.threads == case["threads"]
    assert options.salvage == case["salvage"]
    if case["compression"] != "none":
        assert (options.level, options.window) == (case["level"], case["window"])
    if case["keep_backing"]:
        backing = target.parent / info(target)["backing-filename"]
        assert backing.samefile(source.with_name("base.raw"))
    else:
        assert "backing-filename" not in info(target)
    told = info(target)
    data = told["format-specific"]["data"]
    assert told["cluster-size"] == case["cluster_bytes"]
    assert data["compat"] == case["compat"]
    if case["compat"] == "1.1":
        assert data["refcount-bits"] == case["refcount_bits"]
        assert data["extended-l2"] == case["extended_l2"]
        assert data["lazy-refcounts"] == case["lazy_refcounts"]
        assert data["compression-type"] == ("zstd" if case["compression"] == "zstd" else "zlib")
        names = [bitmap["name"] for bitmap in data.get("bitmaps", [])]
        assert names == (["dirty"] if case["bitmaps"] else [])
    check = run("qemu-img", "check", "--output=json", target)
    assert check.returncode == 0, check.stdout + check.stderr
    if case["cluster_bytes"] > 512:  # there, a payload is hardly smaller than its cluster
        packed = json.loads(check.stdout).get("compressed-clusters", 0)
        assert (packed > 0) == (case["compression"] != "none")
    wanted = source
    if case["snapshot"] is not None:
        wanted = tmp_path / "snapshot.raw"
        made = run("qemu-img", "convert", "-l", "snapshot.id=1", "-O", "raw", source, wanted)
        assert made.returncode == 0, made.stderr
    same = run("qemu-img", "compare", wanted, target)
    assert same.returncode == 0, same.stdout + same.stderr


def test_level_and_window_reach_the_encoder(form: ConvertDialog, tmp_path: Path) -> None:
    sizes = {}
    for level, window in ((1, "32k"), (9, "32k"), (9, "4k")):
        form.fields.choose("qcow2", "zlib")
        form.fields.deflate_window.setCurrentIndex(form.fields.deflate_window.findData(window))
        form.fields.level.setValue(level)
        form.target.target.choose(str(tmp_path / f"{level}-{window}.qcow2"))
        ((options, consent),) = form.wanted()
        sizes[level, window] = convert(options, consent).target_bytes
    assert sizes[9, "32k"] < sizes[1, "32k"]
    assert sizes[9, "32k"] < sizes[9, "4k"]


@pytest.mark.parametrize(("sparse", "blocks"), [(4096, 704), (0, 1024)])
def test_holes_of_a_raw_target(
    form: ConvertDialog, source: Path, tmp_path: Path, sparse: int, blocks: int
) -> None:
    form.fields.choose("raw", "none")
    form.fields.sparse.setCurrentIndex(form.fields.sparse.findData(sparse))
    form.target.target.choose(str(tmp_path / "made.raw"))
    ((options, consent),) = form.wanted()
    convert(options, consent)
    assert run("qemu-img", "compare", source, tmp_path / "made.raw").returncode == 0
    kib = (tmp_path / "made.raw").stat().st_blocks // 2
    assert kib >= blocks
    assert (kib < 1024) == bool(sparse)


@pytest.mark.parametrize("target_format", ["raw", "qcow2"])
@pytest.mark.parametrize("mode", ["metadata", "falloc", "full"])
def test_space_is_set_aside(
    form: ConvertDialog, source: Path, tmp_path: Path, target_format: TargetFormat, mode: str
) -> None:
    fields = form.fields
    fields.choose(target_format, "none")
    item = fields.preallocation.findData(mode)
    if (target_format, mode) == ("raw", "metadata"):
        assert not fields.preallocation.model().item(item).isEnabled()  # type: ignore[attr-defined]
        return
    fields.preallocation.setCurrentIndex(item)
    target = tmp_path / "made"
    form.target.target.choose(str(target))
    ((options, consent),) = form.wanted()
    convert(options, consent)
    assert run("qemu-img", "compare", source, target).returncode == 0
    if target_format == "qcow2":
        check = json.loads(run("qemu-img", "check", "--output=json", target).stdout)
        assert check["allocated-clusters"] == check["total-clusters"]
    if mode != "metadata":
        assert target.stat().st_blocks * 512 >= 1 << 20


def test_nothing_is_set_aside_where_it_would_contradict(form: ConvertDialog) -> None:
    fields = form.fields
    fields.choose("qcow2", "none")
    fields.preallocation.setCurrentIndex(fields.preallocation.findData("metadata"))
    assert fields.values()["preallocation"] == "metadata"
    fields.backing.setCurrentIndex(fields.backing.findData("keep"))
    assert fields.values()["preallocation"] == "off"
    fields.backing.setCurrentIndex(fields.backing.findData("flatten"))
    fields.choose("qcow2", "zstd")
    assert fields.values()["preallocation"] == "off"
    assert not fields.preallocation.isVisibleTo(fields)
    fields.choose("raw", "none")
    assert fields.values()["preallocation"] == "off"


def test_a_source_that_is_called_raw_is_copied_byte_by_byte(
    form: ConvertDialog, source: Path, tmp_path: Path
) -> None:
    form.fields.choose("raw", "none")
    form.fields.source_format.setCurrentIndex(form.fields.source_format.findData("raw"))
    form.target.target.choose(str(tmp_path / "made.raw"))
    ((options, consent),) = form.wanted()
    convert(options, consent)
    assert (tmp_path / "made.raw").read_bytes()[: source.stat().st_size] == source.read_bytes()


def test_a_named_backing_file_is_kept(form: ConvertDialog, source: Path, tmp_path: Path) -> None:
    (tmp_path / "other.raw").write_bytes(source.with_name("base.raw").read_bytes())
    form.fields.choose("qcow2", "none")
    form.fields.backing.setCurrentIndex(form.fields.backing.findData("named"))
    form.fields.backing_name.setText("other.raw")
    form.fields.backing_format.setCurrentIndex(form.fields.backing_format.findData("raw"))
    form.target.target.choose(str(tmp_path / "made.qcow2"))
    ((options, consent),) = form.wanted()
    convert(options, consent)
    assert info(tmp_path / "made.qcow2")["backing-filename"] == "other.raw"
    assert run("qemu-img", "compare", source, tmp_path / "made.qcow2").returncode == 0


@pytest.mark.parametrize("mode", ["files", "chain"])
def test_snapshots_become_images_of_their_own(
    form: ConvertDialog, source: Path, tmp_path: Path, mode: str
) -> None:
    form.fields.choose("qcow2", "zstd")
    form.fields.carried.setCurrentIndex(form.fields.carried.findData(mode))
    form.target.target.choose(str(tmp_path / "made.qcow2"))
    wanted = form.wanted()
    assert [options.snapshot is None for options, _ in wanted] == [False, True]
    for options, consent in wanted:
        convert(options, consent)
    snapshot, active = (options.target for options, _ in wanted)
    assert active == tmp_path / "made.qcow2"
    assert run("qemu-img", "compare", source, active).returncode == 0
    then = tmp_path / "then.raw"
    made = run("qemu-img", "convert", "-l", "snapshot.id=1", "-O", "raw", source, then)
    assert made.returncode == 0, made.stderr
    assert run("qemu-img", "compare", then, snapshot).returncode == 0
    assert info(active).get("backing-filename") == (snapshot.name if mode == "chain" else None)


def test_salvage_reaches_the_reader(
    qtbot: QtBot, theme: Theme, settings: Settings, data_image: Path
) -> None:
    cut = data_image.with_name("cut.qcow2")
    content = data_image.read_bytes()
    cut.write_bytes(content[: len(content) - (128 << 10)])
    runner = BackgroundRunner(interval_ms=10)
    form = ConvertDialog([cut], theme=theme, settings=settings, runner=runner)
    form.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    form.forecast.stopped = True
    qtbot.addWidget(form)
    qtbot.waitUntil(lambda: bool(form.entries.items))
    form.fields.salvage.setChecked(True)
    ((options, consent),) = form.wanted()
    losses = convert(options, consent).losses
    assert [(lost.start, lost.length) for lost in losses] == [((512 - 128) << 10, 128 << 10)]
    form.reject()
    qtbot.waitUntil(lambda: not runner.active)
