"""What of the feature bits QEMU refuses, and what they say of the image's state. Spec: 1.3, 1.5"""

from __future__ import annotations

from collections.abc import Iterator

from qcowgui.format import features, limits
from qcowgui.format.features import FeatureClass, FeatureNames, Incompatible
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.format.header import COMPRESSION_TYPES, Header
from qcowgui.format.header_rules import field_finding


def check_features(header: Header, names: FeatureNames) -> list[Finding]:
    """Findings about the feature bits and the compression type. Spec: 1.3, 1.5

    Args:
        header: What `parse_header` returned.
        names: The image's own names for bits, from its feature name table.
    """
    findings: list[Finding] = []
    if header.version < 3:
        return findings
    findings += _check_unknown_bits(header, names)
    if header.dirty:
        findings.append(
            field_finding(
                header,
                "dirty",
                Severity.INFO,
                "The image was not closed cleanly: its refcounts may be stale. "
                "Reading guest data is not affected.",
                "incompatible_features",
            )
        )
    if header.corrupt:
        findings.append(
            field_finding(
                header,
                "corrupt",
                Severity.CORRUPTION,
                "A writer found damage and marked the image as corrupt: "
                "QEMU opens it read-only until it is repaired.",
                "incompatible_features",
            )
        )
    findings += _check_compression_type(header)
    if header.extended_l2 and header.cluster_bits < limits.MIN_EXTENDED_L2_CLUSTER_BITS:
        findings.append(
            field_finding(
                header,
                "extended-l2-cluster",
                Severity.FATAL,
                "Extended L2 entries need clusters of at least 16 KiB.",
                "cluster_bits",
                Refusal.READER,
            )
        )
    if header.data_file_raw and not header.has_data_file:
        findings.append(
            field_finding(
                header,
                "raw-external-without-data-file",
                Severity.CORRUPTION,
                "The raw external data bit is set, but the image uses no external data file.",
                "autoclear_features",
                Refusal.QEMU,
            )
        )
    return findings


def _check_unknown_bits(header: Header, names: FeatureNames) -> Iterator[Finding]:
    rules = (
        (
            FeatureClass.INCOMPATIBLE,
            "incompatible_features",
            features.KNOWN_INCOMPATIBLE,
            Severity.FATAL,
            "the image must not be read by a program that does not know it",
        ),
        (
            FeatureClass.COMPATIBLE,
            "compatible_features",
            features.KNOWN_COMPATIBLE,
            Severity.INFO,
            "it may be ignored",
        ),
        (
            FeatureClass.AUTOCLEAR,
            "autoclear_features",
            features.KNOWN_AUTOCLEAR,
            Severity.INFO,
            "a writer that does not know it clears it",
        ),
    )
    for feature_class, field, known, severity, consequence in rules:
        unknown = getattr(header, field) & ~known
        for bit in range(64):
            if unknown >> bit & 1:
                kind = feature_class.name.lower()
                name = names.get((feature_class, bit))
                called = f", called “{name}” by the image," if name else ""
                yield field_finding(
                    header,
                    f"unknown-{kind}",
                    severity,
                    f"Unknown {kind} feature bit {bit}{called} is set: {consequence}.",
                    field,
                    Refusal.READER if severity is Severity.FATAL else Refusal.NONE,
                )


def _check_compression_type(header: Header) -> Iterator[Finding]:
    bit = bool(header.incompatible_features & Incompatible.COMPRESSION_TYPE)
    if header.compression_type not in COMPRESSION_TYPES:
        yield field_finding(
            header,
            "compression-type-unknown",
            Severity.FATAL,
            f"Compression type {header.compression_type} is unknown; 0 (deflate) and 1 (Zstandard) "
            "are defined.",
            "compression_type",
            Refusal.READER,
        )
    if bit != bool(header.compression_type):
        yield field_finding(
            header,
            "compression-type-bit",
            Severity.FATAL,
            f"compression_type is {header.compression_type} but the incompatible bit for it is "
            f"{'set' if bit else 'clear'}: one of the two is wrong.",
            "compression_type",
            Refusal.READER,
        )
