"""What the conversion form holds and says, without a widget."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from qcowgui.codec.registry import LEVELS, CompressionType
from qcowgui.convert.forecast import DEFAULT_CANDIDATES, Candidate
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.presets import PRESETS
from qcowgui.convert.warnings import Concern
from qcowgui.engine.work import CancelToken
from qcowgui.errors import OptionsError, QcowError
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent
from qcowgui.gui.dialogs.convert_entries import (
    Entries,
    Entry,
    conflict_text,
    is_free,
    merged_concerns,
)
from qcowgui.gui.dialogs.convert_form import (
    DEFAULTS,
    candidate_of,
    first_preset,
    fitting,
    matching_preset,
    preset_candidates,
    preset_values,
    qcowgui_text,
    qemu_img_text,
    settings_text,
    source_text,
    values_in,
)
from qcowgui.gui.dialogs.convert_work import (
    FindWork,
    Looked,
    LookWork,
    OutlookWork,
    Planned,
    Unusable,
)
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder

MIB = 1 << 20
OWN = {"target_format": "qcow2", "compression": "zstd", "level": 19, "cluster_bytes": 2 * MIB}


@pytest.fixture
def rich_path(tmp_path: Path) -> Path:
    (tmp_path / "base.raw").write_bytes(pattern(1 << 20, seed=9))
    return rich().write_to(tmp_path / "rich.qcow2")


@pytest.fixture
def raw_path(tmp_path: Path) -> Path:
    path = tmp_path / "disk.img"
    path.write_bytes(pattern(MIB))
    return path


def look(*paths: Path) -> dict[Path, Looked | Unusable]:
    return LookWork(paths, {})(CancelToken())


def looked_at(path: Path) -> Looked:
    found = look(path)[path]
    assert isinstance(found, Looked)
    return found


# -------------------------------------------------------------------- settings


def test_the_settings_are_all_options_but_the_files_own() -> None:
    names = {field.name for field in dataclasses.fields(ConvertOptions)}
    assert names - set(DEFAULTS) == {"source", "target", "overwrite"}
    options = ConvertOptions(Path("a"), Path("b"))
    assert values_in(options) == DEFAULTS


def test_a_raw_target_keeps_nothing_of_qcow2() -> None:
    asked = OWN | {"bitmaps": True, "keep_backing": True, "extended_l2": True}
    raw = fitting(asked | {"target_format": "raw", "sparse_bytes": 0})
    assert raw == DEFAULTS | {"target_format": "raw", "sparse_bytes": 0}
    ConvertOptions(Path("a"), Path("b"), **raw)
    qcow2 = fitting(asked | {"sparse_bytes": 0})
    assert qcow2["sparse_bytes"] == DEFAULTS["sparse_bytes"]


def test_what_belongs_to_a_compression_goes_with_it() -> None:
    zlib = {"target_format": "qcow2", "compression": "zlib", "level": 9, "window": "4k"}
    assert fitting(zlib | {"compression": "zstd"})["window"] == "32k"
    assert fitting(zlib | {"compression": "none"})["level"] is None


@pytest.mark.parametrize("key", [found.key for found in PRESETS])
def test_each_preset_is_found_again(key: str, rich_path: Path) -> None:
    looked = looked_at(rich_path)
    values = preset_values(key, DEFAULTS, looked)
    assert values is not None
    assert matching_preset(values, looked) == key
    ConvertOptions(Path("a"), Path("b"), **values)


def test_own_settings_are_no_preset() -> None:
    values = preset_values("smallest", DEFAULTS, None)
    assert values is not None
    assert matching_preset(values | {"level": 18}, None) is None
    assert matching_preset(values | {"refcount_bits": 8}, None) is None


def test_a_preset_leaves_what_is_read_alone() -> None:
    asked = DEFAULTS | {"threads": 3, "verify": False, "salvage": True, "snapshot": "one"}
    values = preset_values("fastest", asked, None)
    assert values is not None
    assert {key: values[key] for key in ("threads", "verify", "salvage", "snapshot")} == {
        "threads": 3,
        "verify": False,
        "salvage": True,
        "snapshot": "one",
    }


def test_only_a_qcow2_image_can_be_optimised(rich_path: Path, raw_path: Path) -> None:
    assert preset_values("optimise", DEFAULTS, None) is None
    assert preset_values("optimise", DEFAULTS, looked_at(raw_path)) is None
    values = preset_values("optimise", DEFAULTS, looked_at(rich_path))
    assert values is not None
    report = looked_at(rich_path).report
    assert report is not None
    assert values["cluster_bytes"] == 1 << report.header.cluster_bits


@pytest.mark.parametrize(
    ("remembered", "raw", "first"),
    [
        ("", False, "raw"),
        ("", True, "smallest"),
        ("fastest", False, "fastest"),
        ("raw", True, "smallest"),
        ("optimise", False, "raw"),
        ("no such preset", False, "raw"),
    ],
)
def test_the_form_begins_with_what_was_used_last(
    remembered: str, raw: bool, first: str, rich_path: Path, raw_path: Path
) -> None:
    assert first_preset(remembered, looked_at(raw_path if raw else rich_path)) == first


# -------------------------------------------------------------------- entries


def test_several_images_get_names_of_their_own(tmp_path: Path) -> None:
    entries = Entries()
    sources = [tmp_path / "a" / "disk.qcow2", tmp_path / "b" / "disk.qcow2"]
    assert entries.add(sources, dict(DEFAULTS)) == 2
    assert [entry.target for entry in entries.items] == [
        tmp_path / "a" / "disk.raw",
        tmp_path / "b" / "disk.raw",
    ]
    entries.folder = tmp_path / "out"
    entries.rename()
    targets = [entry.target for entry in entries.items]
    assert len(set(targets)) == 2
    assert {target.parent for target in targets if target is not None} == {tmp_path / "out"}
    assert conflict_text(entries.items) == ""
    assert entries.add(sources, dict(DEFAULTS)) == 0  # they are there already


def test_settings_are_for_the_chosen_images(tmp_path: Path) -> None:
    entries = Entries()
    entries.add([tmp_path / f"{name}.qcow2" for name in "abc"], dict(DEFAULTS))
    entries.items[1].values |= {"snapshot": "snapshot.id=1"}
    entries.select([1, 2])
    entries.set_values(fitting(OWN))
    assert [entry.values["compression"] for entry in entries.items] == ["none", "zstd", "zstd"]
    assert entries.items[1].values["snapshot"] == "snapshot.id=1"
    assert entries.items[1].target == tmp_path / "b-zstd.qcow2"
    entries.select([])  # all
    assert len(entries.chosen) == 3
    entries.select([0])
    entries.remove_selected()
    assert [entry.source.name for entry in entries.items] == ["b.qcow2", "c.qcow2"]
    assert entries.selected == [0, 1]


def test_a_name_that_a_person_gave_stays_and_is_given_to_no_other(tmp_path: Path) -> None:
    entries = Entries(tmp_path)
    entries.add([tmp_path / "x" / "a.qcow2", tmp_path / "x" / "b.qcow2"], dict(DEFAULTS))
    first = entries.items[0]
    first.target, first.target_chosen = tmp_path / "b.raw", True
    entries.rename()
    assert first.target == tmp_path / "b.raw"
    assert entries.items[1].target not in (None, tmp_path / "b.raw")
    entries.items[1].target, entries.items[1].target_chosen = tmp_path / "b.raw", True
    assert conflict_text(entries.items) == "a.qcow2 and b.qcow2 would both become b.raw"


def test_names_of_other_conversions_are_left_alone(tmp_path: Path) -> None:
    entries = Entries()
    entries.add([tmp_path / "a.qcow2"], dict(DEFAULTS))
    assert entries.items[0].target == tmp_path / "a.raw"
    entries.set_taken([tmp_path / "a.raw"])
    assert entries.items[0].target != tmp_path / "a.raw"


def test_a_source_is_never_suggested_as_the_target_of_another(tmp_path: Path) -> None:
    entries = Entries()
    entries.add([tmp_path / "a.qcow2", tmp_path / "a.raw"], dict(DEFAULTS))
    assert tmp_path / "a.raw" not in [entry.target for entry in entries.items]


def test_a_dangling_link_is_no_free_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    assert not is_free(tmp_path / "link")
    assert is_free(tmp_path / "else")


def test_what_cannot_be_read_is_said_before_the_start(tmp_path: Path) -> None:
    vmdk = tmp_path / "disk.vmdk"
    vmdk.write_bytes(b"KDMV" + b"\1\0\0\0" + bytes(1 << 16))
    entries = Entries()
    entries.add([vmdk], dict(DEFAULTS))
    entries.take(look(vmdk))
    problem = entries.items[0].problem
    assert isinstance(problem, QcowError)
    with pytest.raises(OptionsError, match="VMDK"):
        entries.items[0].options()
    entries.set_values(DEFAULTS | {"source_format": "raw"})  # somebody knows better
    assert entries.items[0].options().source_format == "raw"


def test_replacing_is_for_one_name_alone(tmp_path: Path) -> None:
    agreed = frozenset([tmp_path / "b.raw"])
    entry = Entry(tmp_path / "a.qcow2", target=tmp_path / "b.raw", agreed=agreed)
    assert entry.options().overwrite
    entry.target = tmp_path / "c.raw"
    assert not entry.options().overwrite


# -------------------------------------------------------------------- work


def test_looking_tells_what_a_source_is(rich_path: Path, raw_path: Path) -> None:
    found = look(rich_path, raw_path, rich_path.with_name("missing"))
    qcow2, raw, missing = found.values()
    assert isinstance(qcow2, Looked)
    assert qcow2.format == "qcow2"
    assert [reference.name for reference in qcow2.references] == ["base.raw"]
    assert "snapshot" in source_text(qcow2)
    assert "bitmap" in source_text(qcow2)
    assert isinstance(raw, Looked)
    assert (raw.format, raw.virtual_bytes, raw.report) == ("raw", MIB, None)
    assert source_text(raw) == "raw · 1 MiB disk · file of 1 MiB"
    assert isinstance(missing, Unusable)
    assert "missing" in missing.error.message


def test_folders_are_looked_through(rich_path: Path, raw_path: Path) -> None:
    found = FindWork((rich_path.parent, rich_path.with_name("gone")))(CancelToken())
    assert {rich_path, raw_path} <= set(found.sources)
    assert [refusal.path.name for refusal in found.refusals if refusal.is_failure] == ["gone"]


def test_concerns_are_told_without_opening_what_nobody_allowed(rich_path: Path) -> None:
    target = rich_path.with_name("out.raw")
    options = ConvertOptions(rich_path, target)
    base = rich_path.with_name("base.raw")
    denied, allowed = OutlookWork(
        (Planned(options, NOTHING_ALLOWED), Planned(options, Consent((base,))))
    )(CancelToken())
    assert denied == ()
    codes = {concern.code for concern in allowed}
    assert any("snapshot" in code for code in codes), codes
    assert not target.exists()


def test_what_cannot_be_opened_stops(tmp_path: Path) -> None:
    gone = ConvertOptions(tmp_path / "gone.qcow2", tmp_path / "out.raw")
    ((concern,),) = OutlookWork((Planned(gone, NOTHING_ALLOWED),))(CancelToken())
    assert concern.level == "stop"
    assert "gone.qcow2" in concern.message


def test_a_missing_backing_file_stops(rich_path: Path) -> None:
    base = rich_path.with_name("base.raw")
    base.unlink()
    options = ConvertOptions(rich_path, rich_path.with_name("out.raw"))
    ((concern,),) = OutlookWork((Planned(options, Consent((base,))),))(CancelToken())
    assert (concern.code, concern.level) == ("reference-unusable", "stop")


def test_concerns_of_several_images_are_told_once() -> None:
    readers = Concern("readers", "note", "Needs QEMU 5.1.")
    grows = Concern("grows", "warning", "Larger.")
    exists = Concern("target-exists", "stop", "It exists.")
    entries = [Entry(Path(f"{number}.qcow2")) for number in range(6)]
    found = [(entry, (readers, exists)) for entry in entries[:-1]]
    found.append((entries[-1], (readers, grows)))
    assert merged_concerns(found) == [("", readers), ("5.qcow2", grows)]
    many = [(entry, (grows,) if number else ()) for number, entry in enumerate(entries)]
    assert merged_concerns(many) == [("5 images", grows)]


# -------------------------------------------------------------------- words


def test_settings_in_a_line() -> None:
    assert settings_text(DEFAULTS) == "raw disk · verified"
    values = fitting(OWN | {"verify": False, "refcount_bits": 64, "bitmaps": True})
    assert settings_text(values) == (
        "qcow2 · zstd 19 · clusters of 2 MiB · with its bitmaps · refcounts of 64 bits · "
        "not verified"
    )
    small = fitting({"target_format": "qcow2", "compression": "zlib", "window": "4k"})
    assert "zlib 6, window of 4 KiB" in settings_text(small)


def test_a_forecast_tries_the_usual_the_presets_and_the_form(rich_path: Path) -> None:
    values = fitting(OWN | {"level": 7, "cluster_bytes": 1 << 16})
    tried = preset_candidates(values, looked_at(rich_path))
    assert set(DEFAULT_CANDIDATES) <= set(tried)
    smallest = preset_values("smallest", DEFAULTS, looked_at(rich_path))
    assert smallest is not None
    assert candidate_of(smallest) in tried
    assert Candidate("zstd", 7, 1 << 16) in tried
    assert len(tried) == len(set(tried))


def test_what_a_forecast_cannot_try() -> None:
    assert candidate_of(DEFAULTS) is None  # a raw disk
    zlib = fitting({"target_format": "qcow2", "compression": "zlib"})
    assert candidate_of(zlib | {"level": 6}) == Candidate("zlib", 6, 1 << 16)
    default = LEVELS[CompressionType.ZLIB].default
    assert candidate_of(zlib) == Candidate("zlib", default, 1 << 16)
    assert candidate_of(zlib | {"window": "4k"}) is None
    assert candidate_of(zlib | {"level": 99}) is None


def test_commands_are_a_line_for_each_image(tmp_path: Path) -> None:
    wanted = [
        ConvertOptions(
            tmp_path / f"{name}.qcow2",
            tmp_path / f"{name} out.qcow2",
            "qcow2",
            compression="zstd",
            level=19,
        )
        for name in "ab"
    ]
    text = qcowgui_text((options, NOTHING_ALLOWED) for options in wanted)
    assert [line.split()[:2] for line in text.splitlines()] == [["qcowgui", "convert"]] * 2
    assert f"'{tmp_path}/a out.qcow2'" in text
    qemu, left_out = qemu_img_text(wanted)
    assert [line.split()[0] for line in qemu.splitlines()] == ["qemu-img"] * 2
    assert len([sentence for sentence in left_out if "level" in sentence]) == 1


def test_an_image_builder_image_without_references_has_none(tmp_path: Path) -> None:
    path = ImageBuilder(size=MIB).build().write_to(tmp_path / "plain.qcow2")
    entries = Entries()
    entries.add([path], dict(DEFAULTS))
    entries.take(look(path))
    assert entries.items[0].open_references() == []


def test_a_reference_is_open_until_it_is_allowed(rich_path: Path) -> None:
    entries = Entries()
    entries.add([rich_path], dict(DEFAULTS))
    entries.take(look(rich_path))
    (reference,) = entries.items[0].open_references()
    entries.items[0].consent = Consent((rich_path.with_name("base.raw"),))
    assert reference.path == rich_path.with_name("base.raw")
    assert entries.items[0].open_references() == []


def test_the_smallest_preset_fits_its_clusters_to_the_data(raw_path: Path) -> None:
    looked = looked_at(raw_path)
    sizes = []
    for stored_bytes in (MIB, 1 << 30):
        found = dataclasses.replace(looked, stored_bytes=stored_bytes)
        values = preset_values("smallest", DEFAULTS, found)
        assert values is not None
        assert matching_preset(values, found) == "smallest"
        sizes.append(values["cluster_bytes"])
    assert sizes == [1 << 16, 2 * MIB]


def test_a_raw_source_is_asked_for_no_bitmaps(rich_path: Path, raw_path: Path) -> None:
    entries = Entries()
    entries.add([rich_path, raw_path], DEFAULTS | {"target_format": "qcow2", "bitmaps": True})
    entries.take(look(rich_path, raw_path))
    of_qcow2, of_raw = qemu_img_text(entry.options() for entry in entries.items)[0].splitlines()
    assert "--bitmaps" in of_qcow2
    assert "--bitmaps" not in of_raw
