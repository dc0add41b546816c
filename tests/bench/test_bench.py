"""The benchmark judges others, so it is judged here, on a few megabytes."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from qcowgui.units import KIB, MIB
from tests.bench.corpus import Corpus, Scale, build_corpus, iter_sample
from tests.bench.digest import guest_digest
from tests.bench.measure import BenchError, CommandError, Sample, measure
from tests.bench.result import Broken, Figures, Measured, find_misses
from tests.bench.rows import ALL_ROWS, REQUIRED_ROWS, Compression, Row
from tests.bench.runner import Runner
from tests.bench.table import format_table

# Speaks qcowgui's command line and has qemu-img do the work; with a size, cuts the raw result.
_STAND_IN = """
import os, subprocess, sys
action, *words = sys.argv[2:]
own = {"--no-verify", "--force", "-q"}
words = [word for word in words if word not in own]
if "--level" in words:
    index = words.index("--level")
    del words[index:index + 2]
subprocess.run(["qemu-img", action, *words], check=True, stdout=sys.stdout)
if int(sys.argv[1]) and action == "convert":
    with open(words[-1], "r+b") as target:
        target.seek(int(sys.argv[1]))
        byte = target.read(1)
        target.seek(int(sys.argv[1]))
        target.write(bytes([byte[0] ^ 1]))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty files, 4 MiB in all, half of them noise."""
    folder = tmp_path_factory.mktemp("tree")
    for index in range(40):
        half = os.urandom(50 * KIB)
        (folder / f"file-{index:02}").write_bytes(half + b"text " * (len(half) // 5))
    return folder


@pytest.fixture(scope="module")
def corpus(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    scale = Scale(data_bytes=4 * MIB, image_bytes=32 * MIB)
    return build_corpus(tmp_path_factory.mktemp("corpus"), scale, (tree,))


def _stand_in(folder: Path, damaged_offset: int = 0) -> list[str]:
    script = folder / "stand_in.py"
    script.write_text(_STAND_IN, encoding="utf-8")
    return [sys.executable, str(script), str(damaged_offset)]


def _figures(seconds: float, output_bytes: int = 0, rss_bytes: int = 50_000_000) -> Figures:
    return Figures((Sample(seconds, seconds, rss_bytes, 0),), output_bytes)


def _row(source: str, compression: Compression | None = None) -> Row:
    """The required row that reads `source`, or that writes with `compression`."""
    if compression is None:
        return next(row for row in REQUIRED_ROWS if row.source.label == source and row.target)
    return next(
        row for row in REQUIRED_ROWS if row.target and row.target.compression == compression
    )


def test_digest_ignores_holes(tmp_path: Path) -> None:
    sparse, dense = tmp_path / "sparse", tmp_path / "dense"
    content = bytes(MIB) + b"content" + bytes(70 * MIB)
    dense.write_bytes(content)
    with sparse.open("wb") as file:
        file.seek(MIB)
        file.write(b"content")
        file.truncate(len(content))
    assert sparse.stat().st_blocks < dense.stat().st_blocks
    assert guest_digest(sparse) == guest_digest(dense)


@pytest.mark.parametrize("offset", [0, 64 * KIB - 1, 64 * MIB, 70 * MIB + 5])
def test_digest_sees_every_byte(tmp_path: Path, offset: int) -> None:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(70 * MIB + 6)
    before = guest_digest(image)
    with image.open("r+b") as file:
        file.seek(offset)
        file.write(b"\x01")
    assert guest_digest(image) != before


def test_digest_depends_on_place_and_length(tmp_path: Path) -> None:
    contents = [b"x" + bytes(128 * KIB), bytes(64 * KIB) + b"x" + bytes(64 * KIB), b"x"]
    digests = set()
    for index, content in enumerate(contents):
        path = tmp_path / str(index)
        path.write_bytes(content)
        digests.add(guest_digest(path))
    assert len(digests) == len(contents)


def test_sample_is_repeatable_and_below_its_size(tree: Path) -> None:
    sample = list(iter_sample((tree,), 2 * MIB))
    assert sample == list(iter_sample((tree,), 2 * MIB))
    assert MIB < sum(size_bytes for _, size_bytes in sample) <= 2 * MIB


def test_sample_counts_hard_links_once(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"data")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    (tmp_path / "three").symlink_to("one")
    assert list(iter_sample((tmp_path,), MIB)) == [(tmp_path / "one", 4)]


def test_too_few_files_are_refused(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="are needed"):
        build_corpus(tmp_path, Scale(data_bytes=16 * MIB, image_bytes=64 * MIB), (tree,))
    assert list(tmp_path.iterdir()) == []


def test_measure_sees_memory_and_cpu() -> None:
    code = "import time; block = b'x' * 200_000_000\nwhile time.process_time() < 0.3: pass"
    sample = measure([sys.executable, "-c", code])
    assert sample.peak_rss_bytes > 200_000_000
    assert 0.3 <= sample.cpu_seconds < 10
    assert sample.wall_seconds > 0.2


def test_measure_reports_a_failure() -> None:
    with pytest.raises(CommandError, match="exit status 3: no such thing") as caught:
        measure(
            [
                sys.executable,
                "-c",
                "import sys; print('no such thing', file=sys.stderr); sys.exit(3)",
            ]
        )
    assert caught.value.status == 3


def test_a_ratio_at_its_target_suffices() -> None:
    row = _row("64k-zlib")
    assert find_misses(Measured(row, _figures(1.0), _figures(2.1)), judge_speed=True) == []


@pytest.mark.parametrize(
    ("result", "miss"),
    [
        (Measured(_row("64k-zlib"), _figures(1.0), _figures(2.09)), "below 2.1"),
        (Measured(_row("64k-zstd"), _figures(1.0), _figures(1.29)), "below 1.3"),
        (
            Measured(_row("raw", Compression.ZLIB), _figures(1, 100), _figures(3.9, 100)),
            "below 4.0",
        ),
        (Measured(_row("raw", Compression.ZSTD), _figures(1, 99), _figures(1.5, 100)), "below 1.6"),
        (Measured(REQUIRED_ROWS[1], _figures(0.3), _figures(0.01)), "not under 0.3 s"),
    ],
)
def test_a_slow_row_is_missed(result: Measured, miss: str) -> None:
    (only,) = find_misses(result, judge_speed=True)
    assert miss in only
    assert find_misses(result, judge_speed=False) == []


def test_size_memory_and_breakage_count_even_when_speed_does_not() -> None:
    row = _row("raw", Compression.ZLIB)
    large = Measured(row, _figures(1, 1_011), _figures(9, 1_000))
    greedy = Measured(row, _figures(1, 1_000, 300_000_000), _figures(9, 1_000))
    assert "1.011 times" in find_misses(large, judge_speed=False)[0]
    assert "300 MB" in find_misses(greedy, judge_speed=False)[0]
    assert find_misses(Broken(row, "no output"), judge_speed=False) == ["no output"]


def test_table_names_every_row_and_miss() -> None:
    results: list[Measured | Broken] = [
        Broken(_row("64k-zlib"), "wrong bytes"),
        Measured(_row("64k-zstd"), _figures(1), _figures(2)),
    ]
    lines = format_table(results, judge_speed=True).splitlines()
    assert lines[1].startswith("64k-zlib to raw")
    assert lines[1].endswith("BROKEN")
    assert lines[2].endswith("reached")
    assert lines[3] == "64k-zlib to raw: wrong bytes"
    assert len({len(line) for line in lines[:3]}) == 1


def test_row_names_are_unique() -> None:
    assert len({row.name for row in ALL_ROWS}) == len(ALL_ROWS)


def test_rows_run_and_clean_up(corpus: Corpus, tmp_path: Path) -> None:
    work_dir = tmp_path / "work"
    work_dir.mkdir()
    runner = Runner(corpus, work_dir, _stand_in(tmp_path), runs=2)
    results = list(runner.run_rows(REQUIRED_ROWS))
    assert [result.row for result in results] == list(REQUIRED_ROWS)
    for result in results:
        assert isinstance(result, Measured), result
        assert len(result.product.samples) == len(result.peer.samples) == 2
    assert list(work_dir.iterdir()) == []


def test_a_wrong_byte_breaks_a_row(corpus: Corpus, tmp_path: Path) -> None:
    row = _row("64k-zlib")
    damaged = Runner(corpus, tmp_path, _stand_in(tmp_path, damaged_offset=MIB), runs=1)
    (result,) = damaged.run_rows([row])
    assert isinstance(result, Broken)
    assert "SHA-256" in result.reason


def test_a_damaged_qcow2_breaks_a_row(corpus: Corpus, tmp_path: Path) -> None:
    # Byte 48 is the top of refcount_table_offset: the table then lies outside the file.
    damaged = Runner(corpus, tmp_path, _stand_in(tmp_path, damaged_offset=48), runs=1)
    (result,) = damaged.run_rows([_row("raw", Compression.ZSTD)])
    assert isinstance(result, Broken)
    assert "not a good image" in result.reason


def test_a_failing_product_breaks_a_row_and_a_missing_input_the_run(
    corpus: Corpus, tmp_path: Path
) -> None:
    row = _row("64k-zstd")
    failing = [sys.executable, "-c", "raise SystemExit('no')"]
    (result,) = Runner(corpus, tmp_path, failing, runs=1).run_rows([row])
    assert isinstance(result, Broken)
    gone = replace(corpus, raw_path=tmp_path / "gone.raw")
    with pytest.raises(CommandError, match=r"gone\.raw"):
        list(Runner(gone, tmp_path, failing, runs=1).run_rows([row]))
