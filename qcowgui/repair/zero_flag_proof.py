"""Zero flags in version 2, which has none: where every reading of the entry gives zeros.

QEMU fails to read such a cluster. It may be one of zeros, whose writer forgot to raise the version,
or one of data with a broken bit; where its bytes are zeros, both are the same. Spec: 1.7, 2.5
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from qcowgui.check.l2_tables import L2Table
from qcowgui.check.rule_context import Hit
from qcowgui.convert.zeros import is_zero
from qcowgui.format import geometry as geo
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import MIB

CODE: Final = "zero-flag-v2"
_MAX_PROOF_BYTES: Final = 256 * MIB
"""What is read of clusters to see that they are zeros; entries beyond that stay as they are."""


class ZeroFlagProof:
    """Tells which flags can be cleared without a guess. For one thread."""

    def __init__(self, source: ByteSource, report: ImageReport) -> None:
        """A judge of the entries of one image."""
        self._source = source
        self._has_backing_file = bool(report.header.backing_file_offset)
        self._left_bytes = _MAX_PROOF_BYTES

    def proven(self, hits: Sequence[Hit], table: L2Table) -> list[Hit]:
        """The hits without those flags whose cluster may hold something else than zeros.

        Args:
            hits: What rules found in a table.
            table: The table.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        kept = []
        for code, indices in hits:
            if code != CODE:
                kept.append(Hit(code, indices))
                continue
            zeros = [index for index in indices.tolist() if self._reads_zeros(table, index)]
            if zeros:
                kept.append(Hit(CODE, np.array(zeros, dtype=np.intp)))
        return kept

    def _reads_zeros(self, table: L2Table, index: int) -> bool:
        word = int(table.words[index]) & ~geo.READS_ZERO
        if not word:
            return not self._has_backing_file
        offset, cluster_bytes = word & geo.OFFSET_MASK, table.geometry.cluster_bytes
        if word & geo.L2_RESERVED_MASK or not offset or not table.geometry.is_aligned(offset):
            return False
        if offset + cluster_bytes > self._source.size_bytes or self._left_bytes < cluster_bytes:
            return False
        self._left_bytes -= cluster_bytes
        return is_zero(self._source.read_at(offset, cluster_bytes))
