"""The gate: a file that an image refers to is opened only when the user has agreed to it.

The names of backing and data files are under the control of whoever made the image: a crafted one
may name any file of the host (CVE-2024-4467, CVE-2024-32498). So every such open passes `permit`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, runtime_checkable

from qcowgui.errors import ReferencedFileError
from qcowgui.format import limits
from qcowgui.format.text import decode_name
from qcowgui.image.source import FileSource, Identity

if TYPE_CHECKING:
    from qcowgui.image.inspect import ImageReport

ReferenceKind = Literal["backing file", "data file"]

Place: TypeAlias = tuple[Path, str]
"""Which reference: the image that has it, absolute, and the name as it is stored there."""

_HINT: Final = (
    "following references is off; on the command line --allow-backing turns it on, "
    "--allow-backing=PATH for one file or folder"
)
_UNTRUSTED_HINT: Final = (
    "the format of the referring file is not recorded, only guessed from content that a guest may "
    "have written; --allow-backing=PATH allows one file or folder by name"
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A file that an image refers to, before anything was opened.

    Attributes:
        kind: What the image wants it for.
        name: The name as stored: untrusted text.
        image_path: The image that has the reference.
        path: Where the name leads, or None when it is no plain file name.
        in_folder: Whether the real path lies in (or below) the image's own folder.
        note: What the user should know of how the path was found, or an empty string.
        trusted: False when the image's own format was only guessed from its content: a guest could
            have written a header there that names any file.
    """

    kind: ReferenceKind
    name: str
    image_path: Path
    path: Path | None
    in_folder: bool
    note: str = ""
    trusted: bool = True

    @property
    def shown(self) -> str:
        """The name in quotation marks, fit to be shown."""
        return f"'{decode_name(os.fsencode(self.name))[0]}'"


def resolve_reference(
    kind: ReferenceKind, name: str, image_path: Path, *, trusted: bool = True
) -> Reference:
    """Where `name` leads, by QEMU's rule: relative to the folder of the image's path as given.

    When nothing is there and the image's path is a symbolic link, the folder of the link's target
    is tried, and the result says so. Opens nothing.
    """
    # QEMU takes everything before a colon for a protocol, unless a slash comes first.
    has_protocol = ":" in name.partition("/")[0]
    if not name or "\0" in name or has_protocol or len(name) > limits.MAX_BACKING_NAME_BYTES:
        return Reference(kind, name, image_path, None, in_folder=False, trusted=trusted)
    folder = image_path.parent
    path = folder / name
    note = ""
    if not os.path.lexists(path):
        real_folder = Path(os.path.realpath(image_path)).parent
        if real_folder != folder and os.path.lexists(real_folder / name):
            path = real_folder / name
            note = "found beside the file that the image's symbolic link leads to"
    real = Path(os.path.realpath(path))
    roots = {Path(os.path.realpath(folder)), Path(os.path.realpath(image_path)).parent}
    in_folder = any(map(real.is_relative_to, roots))
    return Reference(kind, name, image_path, path, in_folder, note, trusted)


def backing_reference(report: ImageReport, *, trusted: bool = True) -> Reference | None:
    """Where the image's backing file should be, or None when it has none. Opens nothing.

    `trusted` is false when the image's own format was only guessed.
    """
    if not report.backing_name_raw or report.header.data_file_raw:
        return None
    name = os.fsdecode(report.backing_name_raw)
    return resolve_reference("backing file", name, Path(report.name), trusted=trusted)


def data_file_reference(report: ImageReport, *, trusted: bool = True) -> Reference | None:
    """Where the image's external data file should be, or None when it uses or names none.

    Opens nothing. `trusted` is as in `backing_reference`.
    """
    if not report.data_file_name_raw or not report.header.has_data_file:
        return None
    name = os.fsdecode(report.data_file_name_raw)
    return resolve_reference("data file", name, Path(report.name), trusted=trusted)


class Gate(Protocol):
    """Decides whether a referenced file may be opened."""

    def permit(self, reference: Reference) -> bool:
        """Whether the user agrees that `reference` is opened."""
        ...


@runtime_checkable
class LocatingGate(Gate, Protocol):
    """A gate that also knows where files are that lie elsewhere than the images say."""

    def locate(self, reference: Reference) -> Reference:
        """`reference` with the place where its file is; unchanged where nothing else is known."""
        ...


def locate(reference: Reference, gate: Gate) -> Reference:
    """`reference` as `gate` knows it. Opens nothing."""
    return gate.locate(reference) if isinstance(gate, LocatingGate) else reference


def located_at(reference: Reference, located: Mapping[Place, Path]) -> Reference:
    """`reference`, leading to where `located` says; unchanged when it says nothing of it."""
    path = located.get((reference.image_path.absolute(), reference.name))
    if path is None:
        return reference
    folder = Path(os.path.realpath(reference.image_path)).parent
    in_folder = Path(os.path.realpath(path)).is_relative_to(folder)
    return replace(reference, path=path, in_folder=in_folder, note="")


class DenyGate:
    """Opens nothing: the default."""

    def permit(self, reference: Reference) -> bool:
        """No."""
        return False


@dataclass(frozen=True, slots=True)
class AllowGate:
    """Opens what the user allowed.

    Attributes:
        paths: Files and folders that may be opened, and all below them. Empty: any backing file
            that is a regular file, and data files of the image's own folder. Block devices, data
            files elsewhere, and what a file of guessed format refers to must be named, because
            converting copies their content.
    """

    paths: Sequence[Path] = ()

    def permit(self, reference: Reference) -> bool:
        """Whether the rule above covers `reference`."""
        if reference.path is None:
            return False
        real = Path(os.path.realpath(reference.path))
        if self.paths:
            return any(real.is_relative_to(os.path.realpath(path)) for path in self.paths)
        if not reference.trusted or (reference.kind == "data file" and not reference.in_folder):
            return False
        try:
            return stat.S_ISREG(real.stat().st_mode)
        except OSError:
            return True  # opening it will say what is wrong


@dataclass(frozen=True, slots=True)
class AskGate:
    """Asks a person, by a callable that gets the reference."""

    ask: Callable[[Reference], bool]

    def permit(self, reference: Reference) -> bool:
        """The person's answer."""
        return self.ask(reference)


@dataclass(frozen=True, slots=True)
class EitherGate:
    """Permits what at least one of two gates permits."""

    first: Gate
    second: Gate

    def permit(self, reference: Reference) -> bool:
        """Whether one of the two does."""
        return self.first.permit(reference) or self.second.permit(reference)

    def locate(self, reference: Reference) -> Reference:
        """What the first knows, then the second."""
        return locate(locate(reference, self.first), self.second)


DENY: Final = DenyGate()


def open_reference(reference: Reference, gate: Gate) -> FileSource:
    """Open a referenced file read-only, where the gate knows it to be, if the gate permits it.

    Raises:
        ReferencedFileError: When the name is no plain file name, when the gate refuses, or when the
            file is missing or no regular file or block device.
        SourceError: When the operating system refuses to open it.
    """
    reference = locate(reference, gate)
    kind, name, shown, path = reference.kind, reference.name, reference.shown, reference.path
    if path is None:
        raise ReferencedFileError(
            f"The {kind} {shown} is not a plain file name; it is not opened",
            name=name,
            reason="protocol",
            hint="the name holds a NUL byte, which no file name can; qemu-img rebase -u rewrites it"
            if "\0" in name
            else "protocol and json: names are shown only; write ./ before a name that has a colon",
        )
    if not gate.permit(reference):
        raise ReferencedFileError(
            f"{reference.image_path} refers to the {kind} {shown} ({path}), which was not opened",
            name=name,
            reason="denied",
            hint=_HINT if reference.trusted else _UNTRUSTED_HINT,
        )
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise ReferencedFileError(
            f"The {kind} {shown} of {reference.image_path} can't be found: looked at {path} "
            f"({error.strerror})",
            name=name,
            reason="missing",
            hint=_moved_hint(reference, path),
        ) from error
    if not stat.S_ISREG(mode) and not stat.S_ISBLK(mode):
        raise ReferencedFileError(
            f"The {kind} {shown} leads to {path}, which is neither a file nor a block device",
            name=name,
            reason="special",
        )
    return FileSource(path)


def _moved_hint(reference: Reference, path: Path) -> str:
    """Where a file of the same name lies beside the image, as after a move to another machine."""
    beside = reference.image_path.parent / path.name
    return f"a file of that name is beside the image: {beside}" if beside.is_file() else ""


class ChainGuard:
    """Refuses backing chains that are loops, by the files' identity, or too long."""

    def __init__(self) -> None:
        self._seen: dict[Identity, str] = {}

    def enter(self, source: FileSource) -> None:
        """Note the next file of the chain.

        Raises:
            ReferencedFileError: When the chain has been there, or is too long.
        """
        identity = source.identity
        if identity in self._seen:
            ring = " → ".join([*self._seen.values(), source.name])
            raise ReferencedFileError(
                f"The backing chain is a loop: {ring}", name=source.name, reason="loop"
            )
        if len(self._seen) >= limits.MAX_CHAIN_LAYERS:
            raise ReferencedFileError(
                f"The backing chain has more than {limits.MAX_CHAIN_LAYERS} layers",
                name=source.name,
                reason="depth",
            )
        self._seen[identity] = source.name
