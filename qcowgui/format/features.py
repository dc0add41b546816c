"""The three sets of feature bits, and the names that an image gives them. Spec: 1.3"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from qcowgui.format import limits
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.text import decode_name


class FeatureClass(IntEnum):
    """The number that the feature name table uses for each set of bits."""

    INCOMPATIBLE = 0
    COMPATIBLE = 1
    AUTOCLEAR = 2


class Incompatible(IntEnum):
    """Bits of incompatible_features, as masks."""

    DIRTY = 1 << 0
    CORRUPT = 1 << 1
    EXTERNAL_DATA_FILE = 1 << 2
    COMPRESSION_TYPE = 1 << 3
    EXTENDED_L2 = 1 << 4


class Compatible(IntEnum):
    """Bits of compatible_features, as masks."""

    LAZY_REFCOUNTS = 1 << 0


class Autoclear(IntEnum):
    """Bits of autoclear_features, as masks."""

    BITMAPS = 1 << 0
    RAW_EXTERNAL_DATA = 1 << 1


KNOWN_INCOMPATIBLE: Final = sum(Incompatible)
KNOWN_COMPATIBLE: Final = sum(Compatible)
KNOWN_AUTOCLEAR: Final = sum(Autoclear)

FeatureNames = Mapping[tuple[int, int], str]
"""(class, bit) → name from the image's feature name table, fit to be shown: untrusted."""

FEATURES: Final[dict[tuple[int, int], tuple[str, str]]] = {
    (0, 0): ("dirty bit", "the image was not closed cleanly: refcounts may be stale"),
    (0, 1): ("corrupt bit", "a writer found damage: open read-only, or repair first"),
    (0, 2): ("external data file", "guest data lies in another file"),
    (0, 3): ("compression type", "compressed clusters are not deflate; see compression_type"),
    (0, 4): ("extended L2 entries", "each cluster has 32 subclusters"),
    (1, 0): ("lazy refcounts", "a writer may postpone refcount updates, with the dirty bit set"),
    (2, 0): ("bitmaps", "the bitmaps agree with the data"),
    (2, 1): ("raw external data", "the data file alone is a valid raw image"),
}
"""(class, bit) → (name, what it means), for every bit defined today. The names are QEMU's."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature bit that is known or set.

    Attributes:
        feature_class: Which of the three sets.
        bit: 0 to 63.
        is_set: Whether the image sets it.
        known: Whether the format defines it.
        name: Its name: ours when known, else the image's own (untrusted), else "bit N".
        meaning: What it says, or what an unknown bit of this set means.
    """

    feature_class: FeatureClass
    bit: int
    is_set: bool
    known: bool
    name: str
    meaning: str


_UNKNOWN_MEANING: Final = {
    FeatureClass.INCOMPATIBLE: "unknown: the image must not be read",
    FeatureClass.COMPATIBLE: "unknown: may be ignored",
    FeatureClass.AUTOCLEAR: "unknown: a writer clears it",
}


def parse_feature_names(data: bytes) -> tuple[dict[tuple[int, int], str], list[Finding]]:
    """The names in a feature name table extension, with findings about its shape. Spec: 1.4"""
    names: dict[tuple[int, int], str] = {}
    findings: list[Finding] = []
    entry_bytes = limits.FEATURE_NAME_ENTRY_BYTES
    if len(data) % entry_bytes:
        findings.append(
            Finding(
                "feature-table-length",
                Severity.SUSPICIOUS,
                f"The feature name table has {len(data)} bytes, not a multiple of {entry_bytes}.",
                "feature name table",
                raw=len(data),
                spec="1.4",
            )
        )
    for start in range(0, len(data) - entry_bytes + 1, entry_bytes):
        feature_class, bit = data[start], data[start + 1]
        name = data[start + 2 : start + entry_bytes].split(b"\0", 1)[0]
        names[feature_class, bit] = decode_name(name)[0]
    return names, findings


def feature_name(feature_class: FeatureClass, bit: int, names: FeatureNames) -> str:
    """What to call a bit: the format's name, else the image's own, else "bit N"."""
    known = FEATURES.get((feature_class, bit))
    if known:
        return known[0]
    return names.get((feature_class, bit)) or f"bit {bit}"


def decode_features(
    incompatible: int, compatible: int, autoclear: int, names: FeatureNames
) -> list[Feature]:
    """Every bit that is defined or set, set by set and bit by bit. Spec: 1.3"""
    features = []
    words = {
        FeatureClass.INCOMPATIBLE: incompatible,
        FeatureClass.COMPATIBLE: compatible,
        FeatureClass.AUTOCLEAR: autoclear,
    }
    for feature_class, word in words.items():
        for bit in range(64):
            known = FEATURES.get((feature_class, bit))
            is_set = bool(word >> bit & 1)
            if known or is_set:
                features.append(
                    Feature(
                        feature_class,
                        bit,
                        is_set,
                        known is not None,
                        feature_name(feature_class, bit, names),
                        known[1] if known else _UNKNOWN_MEANING[feature_class],
                    )
                )
    return features
