"""Running the rows: one source image at a time, product and peer in turn, every output checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.corpus import Corpus
from tests.bench.digest import guest_digest
from tests.bench.measure import BenchError, CommandError, Sample, find_program, measure, run
from tests.bench.result import Broken, Figures, Measured
from tests.bench.rows import RAW, Image, Row, qemu_img_convert


class ContentError(BenchError):
    """An output doesn't hold what its source holds."""


@dataclass(frozen=True)
class Runner:
    """Everything that is the same for all rows.

    Attributes:
        corpus: The raw image that all sources are made of.
        work_dir: Where sources and outputs are written.
        product: How qcowgui is started.
        runs: How often each program does each row.
        keep_sources: Whether source images outlive their last row.
    """

    corpus: Corpus
    work_dir: Path
    product: list[str]
    runs: int
    keep_sources: bool = False

    def run_rows(self, rows: Sequence[Row]) -> Iterator[Measured | Broken]:
        """Each row's result as soon as it is known, rows of one source together.

        Raises:
            BenchError: When a source can't be built, or a peer fails: then nothing is proved.
        """
        for source in dict.fromkeys(row.source for row in rows):
            with self._source(source) as source_path:
                for row in rows:
                    if row.source == source:
                        yield self._run_row(row, source_path)

    @contextmanager
    def _source(self, image: Image) -> Iterator[Path]:
        """An image of the kind, made by qemu-img, for as long as it is needed.

        Written without -W: clusters in guest order is the layout of nearly all images that exist.
        """
        if image == RAW:
            yield self.corpus.raw_path
            return
        path = self.work_dir / f"source-{image.label}.qcow2"
        try:
            run(qemu_img_convert(RAW, self.corpus.raw_path, image, path, ["-m", "16"]))
            yield path
        finally:
            if not self.keep_sources:
                path.unlink(missing_ok=True)

    def _run_row(self, row: Row, source_path: Path) -> Measured | Broken:
        output = self.work_dir / "output"
        product_command = row.product_command(self.product, source_path, output)
        peer_command = row.peer_command(source_path, self.corpus.raw_path, output)
        product: list[Sample] = []
        peer: list[Sample] = []
        product_bytes = peer_bytes = 0
        for _ in range(self.runs):
            try:
                sample, product_bytes = self._run_once(row, product_command, output)
            except (CommandError, ContentError) as error:
                return Broken(row, str(error))
            product.append(sample)
            sample, peer_bytes = self._run_once(row, peer_command, output)
            peer.append(sample)
        return Measured(
            row, Figures(tuple(product), product_bytes), Figures(tuple(peer), peer_bytes)
        )

    def _run_once(self, row: Row, command: list[str], output: Path) -> tuple[Sample, int]:
        """One measured run and its output's length; the output is checked and removed."""
        try:
            sample = measure(command)
            if row.target is None:
                if not sample.stdout_bytes:
                    raise ContentError(f"{row.name}: nothing was printed")
                return sample, 0
            if not output.exists():
                raise ContentError(f"{row.name}: nothing was written")
            self._check_output(row.target, output)
            return sample, output.stat().st_size
        finally:
            output.unlink(missing_ok=True)

    def _check_output(self, image: Image, output: Path) -> None:
        """Compare the guest content of `output` with the corpus, through QEMU where it is qcow2.

        Raises:
            ContentError: When it differs, or when `qemu-img check` has anything to say.
        """
        if image == RAW:
            self._check_raw(output)
            return
        qemu_img = find_program("qemu-img")
        decoded = self.work_dir / "decoded.raw"
        try:
            run([qemu_img, "check", "-q", "-f", "qcow2", str(output)])
            run([qemu_img, "compare", "-q", "-f", "raw", "-F", "qcow2",
                 str(self.corpus.raw_path), str(output)])  # fmt: skip
            run(qemu_img_convert(image, output, RAW, decoded, ["-W", "-m", "16"]))
            self._check_raw(decoded)
        except CommandError as error:
            raise ContentError(f"the output is not a good image: {error}") from error
        finally:
            decoded.unlink(missing_ok=True)

    def _check_raw(self, path: Path) -> None:
        digest = guest_digest(path)
        if digest != self.corpus.digest:
            raise ContentError(
                f"the output's SHA-256 is {digest}, the source's {self.corpus.digest}"
            )
