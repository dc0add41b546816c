"""Presets: each makes options that are valid, and the image that it promises."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qcowgui.cli.target_options import PRESET_KEYS
from qcowgui.convert.job import ConvertJob
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.presets import PRESETS, Preset, SourceFacts, apply, facts_of, preset
from qcowgui.engine.work import SerialExecutor
from qcowgui.errors import OptionsError
from qcowgui.image.inspect import inspect
from tests.converting import names_in
from tests.support import oracle
from tests.support.base_images import pattern, text
from tests.support.options import GIB, KIB, MIB, TIB

FACTS = SourceFacts("zlib", 4096, "0.10", 16, extended_l2=False, lazy_refcounts=False)


def test_the_command_line_knows_them_all() -> None:
    assert tuple(found.key for found in PRESETS) == PRESET_KEYS


def test_an_unknown_key() -> None:
    with pytest.raises(OptionsError, match="no preset 'quick'"):
        preset("quick")


@pytest.mark.parametrize("chosen", PRESETS, ids=lambda chosen: chosen.key)
def test_what_a_preset_makes(chosen: Preset, tmp_path: Path) -> None:
    raw = tmp_path / "source.raw"
    raw.write_bytes(text(300_000).ljust(1 << 20, b"\0"))
    source = oracle.convert(
        raw, tmp_path / "source.qcow2", source_format="raw", target_format="qcow2"
    )
    fields = apply(chosen, facts_of(inspect(source)))
    options = ConvertOptions(source=source, target=tmp_path / "target", **fields)
    ConvertJob(options).run(SerialExecutor())
    assert names_in(tmp_path) == {"source.raw", "source.qcow2", "target"}
    if chosen.target_format == "raw":
        assert options.target.read_bytes() == raw.read_bytes()
        return
    assert oracle.check(options.target).is_clean
    assert oracle.guest_bytes(options.target) == raw.read_bytes()
    data = oracle.info(options.target)["format-specific"]["data"]
    assert data["compression-type"] == (chosen.compression if not chosen.like_source else "zlib")


def test_smallest_is_smaller_than_the_others(tmp_path: Path) -> None:
    source = tmp_path / "source.raw"
    source.write_bytes(text(4 << 20) + pattern(1 << 20))
    sizes = {}
    stored_bytes = source.stat().st_size
    for key in ("smallest", "fastest", "compatible"):
        fields = apply(preset(key), stored_bytes=stored_bytes)
        options = ConvertOptions(source=source, target=tmp_path / key, **fields)
        sizes[key] = ConvertJob(options).run(SerialExecutor()).target_bytes
    assert sizes["smallest"] == min(sizes.values())


@pytest.mark.parametrize(
    ("stored_bytes", "cluster_bytes"),
    [(None, 2 * MIB), (0, 64 * KIB), (100 * MIB, 512 * KIB), (GIB, 2 * MIB), (TIB, 2 * MIB)],
)
def test_the_smallest_has_large_clusters_where_they_pay(
    stored_bytes: int | None, cluster_bytes: int
) -> None:
    fields = apply(preset("smallest"), stored_bytes=stored_bytes)
    assert fields["cluster_bytes"] == cluster_bytes
    assert apply(preset("fastest"), stored_bytes=stored_bytes)["cluster_bytes"] == 64 * KIB


def test_optimise_keeps_what_the_source_is() -> None:
    fields = apply(preset("optimise"), FACTS)
    options = ConvertOptions(Path("a"), Path("b"), **fields)
    assert (options.compression, options.cluster_bytes, options.compat) == ("zlib", 4096, "0.10")
    facts = replace(FACTS, compression="zstd", compat="1.1", refcount_bits=1, cluster_bytes=1 << 21)
    facts = replace(facts, extended_l2=True, lazy_refcounts=True)
    options = ConvertOptions(Path("a"), Path("b"), **apply(preset("optimise"), facts))
    assert (options.compression, options.refcount_bits) == ("zstd", 1)
    assert options.extended_l2
    assert options.lazy_refcounts


def test_optimise_needs_a_qcow2_source() -> None:
    with pytest.raises(OptionsError, match="better copy of a qcow2 image"):
        apply(preset("optimise"), None)
    assert facts_of(None) is None


def test_facts_of_an_image(tmp_path: Path) -> None:
    path = oracle.create(
        tmp_path / "x.qcow2",
        1 << 20,
        "-o",
        "cluster_size=16k,extended_l2=on,lazy_refcounts=on,refcount_bits=8,compression_type=zstd",
    )
    assert facts_of(inspect(path)) == SourceFacts(
        "zstd", 16384, "1.1", 8, extended_l2=True, lazy_refcounts=True
    )
