"""What values are called: the one wording of the command line, the window and the clipboard.

Pure functions from values to text, in English and without markup. Who shows the text escapes what
its medium needs; names from an image come through `format.text` before they get here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from qcowgui.format import bitmaps, limits
from qcowgui.format.bitmaps import BitmapEntry
from qcowgui.format.encryption import KEY_SLOT_DISABLED, LuksHeader, LuksKeySlot
from qcowgui.format.extensions import Extension, ExtensionType
from qcowgui.format.features import FeatureClass, FeatureNames, feature_name
from qcowgui.format.fields import BitField, FieldKind, FieldValue
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.format.geometry import cluster_bits_valid
from qcowgui.format.header import COMPRESSION_TYPES, CRYPT_METHODS, MAGIC
from qcowgui.format.snapshots import Snapshot
from qcowgui.format.text import decode_name
from qcowgui.units import format_count, format_hex, format_offset, format_size

MAX_HEX_BYTES: Final = 64
"""Bytes that `hex_text` shows unless told otherwise."""

FEATURE_FIELDS: Final = {
    "incompatible_features": FeatureClass.INCOMPATIBLE,
    "compatible_features": FeatureClass.COMPATIBLE,
    "autoclear_features": FeatureClass.AUTOCLEAR,
}
"""Header field → the set of feature bits it holds."""

SEVERITY_WORDS: Final = {
    Severity.INFO: "note",
    Severity.LEAK: "leak",
    Severity.SUSPICIOUS: "suspicious",
    Severity.CORRUPTION: "corruption",
    Severity.FATAL: "fatal",
}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NANOSECONDS: Final = 1_000_000_000
_NO_ICOUNT: Final = 0xFFFF_FFFF_FFFF_FFFF
_COMPAT: Final = {2: "0.10", 3: "1.1"}
_BITMAP_TYPES: Final = {bitmaps.TYPE_DIRTY_TRACKING: "dirty tracking"}
_BITMAP_FLAGS: Final = {
    bitmaps.FLAG_IN_USE: "in_use",
    bitmaps.FLAG_AUTO: "auto",
    bitmaps.FLAG_EXTRA_DATA_COMPATIBLE: "extra_data_compatible",
}
_NAME_EXTENSIONS: Final = frozenset(
    {
        ExtensionType.BACKING_FORMAT,
        ExtensionType.CROSVM_BACKING_FORMAT,
        ExtensionType.DATA_FILE,
    }
)


# -------------------------------------------------------------------------------- plain numbers


def size_text(size_bytes: int) -> str:
    """A size in a binary unit, with the exact number where the rounded one may be another."""
    if size_bytes < 1000:
        return format_count(size_bytes, "byte")
    return f"{format_size(size_bytes)} ({format_count(size_bytes, 'byte')})"


def offset_text(offset: int) -> str:
    """An offset in bytes, in hexadecimal and, where they differ, in decimal."""
    return f"{offset}" if offset < 10 else f"{format_offset(offset)} ({offset:,})"


def hex_text(data: bytes, max_bytes: int = MAX_HEX_BYTES) -> str:
    """Bytes as pairs of digits in groups of four; cut after `max_bytes`, and then it says so."""
    shown = data[:max_bytes].hex(" ", -4)
    if len(data) > max_bytes:
        shown += f" … ({format_count(len(data) - max_bytes, 'byte')} more)"
    return shown


def share_text(part: int, whole: int) -> str:
    """`part` of `whole` as a percentage that is 0 % or 100 % only when exactly so."""
    share = part / whole if whole else 0.0
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.1%}"


# -------------------------------------------------------------------------------- fields


def field_text(found: FieldValue, names: FeatureNames | None = None) -> str:
    """A field's number, and what it means where the number alone does not tell.

    Args:
        found: The field as found.
        names: The image's own names of feature bits.

    Returns:
        "absent" or "cut off" when there is no number.
    """
    field, value = found.field, found.value
    if value is None:
        return "cut off" if 0 < len(found.raw) < field.width_bytes else "absent"
    special = _special_text(field.name, value)
    if special:
        return special
    match field.kind:
        case FieldKind.OFFSET:
            return offset_text(value) if value else "none"
        case FieldKind.BYTES:
            return size_text(value)
        case FieldKind.FLAGS:
            return flags_text(field.name, value, names or {})
        case FieldKind.HEX:
            return format_hex(value, field.width_bytes * 8)
        case FieldKind.PADDING:
            return "not zero" if value else "0"
        case FieldKind.NUMBER:
            return f"{value:,}"


def _special_text(name: str, value: int) -> str:
    """The words for fields whose number stands for something else, or an empty string."""
    if name == "magic" and value == MAGIC:
        return r"QFI\xfb"
    if name == "icount" and value == _NO_ICOUNT:
        return "none"
    note = _NOTES[name](value) if name in _NOTES else ""
    return f"{value:,} ({note})" if note else ""


def _compat_text(version: int) -> str:
    return f"compat {_COMPAT[version]}" if version in _COMPAT else "unknown"


def _cluster_text(cluster_bits: int) -> str:
    possible = cluster_bits_valid(cluster_bits)
    return format_size(1 << cluster_bits) if possible else "not possible"


def _refcount_text(refcount_order: int) -> str:
    possible = refcount_order <= limits.MAX_REFCOUNT_ORDER
    return format_count(1 << refcount_order, "bit") if possible else "not possible"


def _granularity_text(granularity_bits: int) -> str:
    possible = granularity_bits <= bitmaps.MAX_SHIFT_BITS
    return format_size(1 << granularity_bits) if possible else "not possible"


def _date_text(seconds: int) -> str:
    # Not fromtimestamp: some systems' C libraries end in 2038.
    return f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}"


_NOTES: Final[dict[str, Callable[[int], str]]] = {
    "version": _compat_text,
    "cluster_bits": _cluster_text,
    "refcount_order": _refcount_text,
    "crypt_method": lambda method: CRYPT_METHODS.get(method, "unknown"),
    "compression_type": lambda number: COMPRESSION_TYPES.get(number, "unknown"),
    "date_sec": lambda seconds: f"{_date_text(seconds)} UTC",
    "granularity_bits": _granularity_text,
    "type": lambda number: _BITMAP_TYPES.get(number, "unknown"),
}
"""Field → what its number says. No other table of `format.fields` has one of these names."""


def flags_text(field_name: str, word: int, names: FeatureNames) -> str:
    """The bits that are set in a field of flags, by name where they have one."""
    if not word:
        return "none"
    set_bits = [bit for bit in range(word.bit_length()) if word >> bit & 1]
    feature_class = FEATURE_FIELDS.get(field_name)
    if feature_class is not None:
        return ", ".join(feature_name(feature_class, bit, names) for bit in set_bits)
    return ", ".join(_BITMAP_FLAGS.get(1 << bit, f"bit {bit}") for bit in set_bits)


def bit_span_text(field: BitField) -> str:
    """Which bits of the word, the most significant one first: "62" or "55–9"."""
    return f"{field.low}" if field.low == field.high else f"{field.high}–{field.low}"


def bit_field_text(field: BitField, word: int) -> str:
    """The value of some bits of `word`: offsets in bytes, sets of bits in hexadecimal."""
    value = field.extract(word)
    if field.name.endswith("offset"):
        offset = value << field.low
        return offset_text(offset) if offset else "none"
    width = field.high - field.low + 1
    return format_hex(value, width) if width == 32 else f"{value:,}"


# -------------------------------------------------------------------------------- the header


def version_text(version: int) -> str:
    """The format's version, and how qemu-img calls it."""
    return f"{version:,} ({_compat_text(version)})"


def crypt_method_text(crypt_method: int) -> str:
    """The name of an encryption method."""
    return CRYPT_METHODS.get(crypt_method, f"unknown ({crypt_method:,})")


def feature_class_text(feature_class: FeatureClass) -> str:
    """Which set a feature bit belongs to."""
    return feature_class.name.lower()


def extension_name_text(extension: Extension) -> str:
    """The name that an extension consists of, in quotes; empty for those of another kind."""
    if extension.type in _NAME_EXTENSIONS:
        return f"“{decode_name(extension.data)[0]}”"
    return ""


# -------------------------------------------------------------------------------- snapshots


def snapshot_date_text(snapshot: Snapshot) -> str:
    """When it was taken, in UTC: the image knows no time zone."""
    return _date_text(snapshot.date_seconds)


def snapshot_clock_text(snapshot: Snapshot) -> str:
    """How long the guest had been running, as h:mm:ss.mmm."""
    seconds, nanoseconds = divmod(snapshot.vm_clock_nanoseconds, _NANOSECONDS)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours:,}:{minute:02}:{second:02}.{nanoseconds // 1_000_000:03}"


def snapshot_vm_state_text(snapshot: Snapshot) -> str:
    """How large the saved machine is."""
    return format_size(snapshot.vm_state_bytes) if snapshot.vm_state_bytes else "none"


def snapshot_disk_text(snapshot: Snapshot) -> str:
    """How large the virtual disk was."""
    return "not recorded" if snapshot.disk_bytes is None else format_size(snapshot.disk_bytes)


# -------------------------------------------------------------------------------- bitmaps


def bitmap_granularity_text(bitmap: BitmapEntry) -> str:
    """How many guest bytes a bit stands for."""
    return _granularity_text(bitmap.granularity_bits)


def bitmap_type_text(bitmap: BitmapEntry) -> str:
    """What kind of bitmap it is; the format knows one."""
    return _BITMAP_TYPES.get(bitmap.type, f"unknown ({bitmap.type})")


def bitmap_state_text(bitmap: BitmapEntry) -> str:
    """Whether its content counts, and whether it goes on recording."""
    words = []
    if bitmap.in_use:
        words.append("not saved cleanly")
    elif not bitmap.usable:
        words.append("not usable")
    words.append("recording" if bitmap.auto else "disabled")
    if bitmap.unknown_flags:
        words.append(f"flags {bitmap.unknown_flags:#x}")
    return ", ".join(words)


# -------------------------------------------------------------------------------- encryption


def iter_luks_rows(luks: LuksHeader) -> Iterator[tuple[str, int | str, str, str]]:
    """Name (LUKS's own), value, text and meaning of each field of a LUKS header. Spec: 1.13"""
    yield "version", luks.version, f"{luks.version}", "version of LUKS"
    yield "cipher-name", luks.cipher_name, luks.cipher_name, "how guest data is encrypted"
    yield "cipher-mode", luks.cipher_mode, luks.cipher_mode, f"together: {luks.cipher}"
    yield "hash-spec", luks.hash_spec, luks.hash_spec, "derives keys from passphrases"
    payload = luks.payload_offset
    yield "payload-offset", payload, offset_text(payload), "not used by qcow2"
    yield "key-bytes", luks.key_bytes, f"{luks.key_bytes:,}", "length of the master key"
    digest, salt = luks.mk_digest, luks.mk_digest_salt
    yield "mk-digest", digest.hex(), hex_text(digest), "tells whether a master key is right"
    yield "mk-digest-salt", salt.hex(), hex_text(salt), "of that digest"
    iterations = luks.mk_digest_iterations
    yield "mk-digest-iterations", iterations, f"{iterations:,}", "of that digest"
    yield "uuid", luks.uuid, luks.uuid, "names the volume"


def key_slot_state_text(slot: LuksKeySlot) -> str:
    """Whether a passphrase opens it."""
    if slot.active:
        return "active"
    return "empty" if slot.state == KEY_SLOT_DISABLED else f"damaged ({format_hex(slot.state, 32)})"


def key_slots_text(luks: LuksHeader) -> str:
    """How many key slots are active, and which."""
    active = [f"{slot.index}" for slot in luks.key_slots if slot.active]
    numbers = f" (number {', '.join(active)})" if active else ""
    return f"{len(active)} of {len(luks.key_slots)}{numbers}"


# -------------------------------------------------------------------------------- findings


def finding_text(finding: Finding) -> str:
    """What is wrong, and how often where it is more than once."""
    return finding.message + (f" (×{finding.count:,})" if finding.count > 1 else "")


def place_text(finding: Finding) -> str:
    """Where a finding is: structure, entry, host offset, guest range; as far as it is known."""
    parts = [finding.structure]
    if finding.entry is not None:
        parts.append(f"entry {finding.entry:,}")
    if finding.host_offset is not None:
        parts.append(f"host {format_offset(finding.host_offset)}")
    if finding.guest_start is not None:
        guest = f"guest {format_offset(finding.guest_start)}"
        if finding.guest_end is not None:
            guest += f" – {format_offset(finding.guest_end)}"
        parts.append(guest)
    return " · ".join(parts)


def finding_detail_text(finding: Finding) -> str:
    """What was found and expected, and who refuses the image; a fact a line, maybe none."""
    lines = []
    if finding.expected:
        lines.append(f"Expected: {finding.expected}")
    if finding.raw is not None:
        lines.append(f"Found: {finding.raw:,} ({finding.raw:#x})")
    if finding.refusal is Refusal.QEMU:
        lines.append("QEMU refuses the image; guest data can be read.")
    elif finding.refusal is Refusal.READER:
        lines.append("QEMU refuses the image; guest data can't be read.")
    return "\n".join(lines)


def unseen_text(*, mapping_read: bool) -> str:
    """What opening an image does not look at, for sentences that must not claim more."""
    if mapping_read:
        return "refcounts and guest data"
    return "the mapping tables, refcounts and guest data"
