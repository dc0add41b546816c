"""Every exception that leaves a room of this program, and the exit code each one means.

    QcowError
    ├── ImageError                what a file is, or holds
    │   ├── NotQcow2Error         the file is something else (and says what)
    │   ├── TruncatedError        the bytes asked for lie beyond the end of the file
    │   ├── CorruptError          a structure or a cluster contradicts the format
    │   ├── UnsupportedError      valid, but this program (or QEMU) can't read it
    │   └── LimitError            a number in the file exceeds its bound
    ├── ReferencedFileError       a backing or data file: not allowed, missing, a loop
    ├── SourceError               the operating system refused a read
    ├── ConvertError
    │   ├── OptionsError          the options contradict each other or the source
    │   ├── OutputError           the target can't be written
    │   └── VerifyError           the result reads differently from the source
    ├── ProofError                a repair's plan does not keep what it must keep: a mistake of ours
    └── UsageError                the command line is wrong

`Cancelled` stands apart: it is an outcome, not an error.
Exceptions carry fields; the text is built from them here and nowhere else.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qcowgui.format.finding import Finding


class ExitCode(IntEnum):
    """What the process returns."""

    GOOD = 0
    FAILED = 1
    CORRUPT = 2
    LEAKS = 3
    UNSUPPORTED = 63
    CANCELLED = 130


class QcowError(Exception):
    """The root of every error this program raises on purpose.

    Attributes:
        message: What happened and where, one sentence.
        hint: What the user can do next, or an empty string.
        exit_code: What the command line returns for it.
    """

    exit_code: ExitCode = ExitCode.FAILED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ImageError(QcowError):
    """The file can't be read as an image.

    Attributes:
        path: The file, or an empty string when the source has no name.
        guest_offset: The first guest byte that is affected, where one is known.
    """

    def __init__(
        self, message: str, *, path: str = "", guest_offset: int | None = None, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.guest_offset = guest_offset

    def __str__(self) -> str:
        prefix = f"{self.path}: " if self.path else ""
        return prefix + super().__str__()


class NotQcow2Error(ImageError):
    """The file has no qcow2 magic; `detected` names what it looks like."""

    exit_code = ExitCode.UNSUPPORTED

    def __init__(self, message: str, *, path: str = "", detected: str = "", hint: str = "") -> None:
        super().__init__(message, path=path, hint=hint)
        self.detected = detected


class TruncatedError(ImageError):
    """The file ends before bytes that the image refers to.

    Attributes:
        needed_offset: The end (exclusive host offset) of the bytes asked for.
        file_bytes: The file's length.
    """

    exit_code = ExitCode.CORRUPT

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        guest_offset: int | None = None,
        needed_offset: int | None = None,
        file_bytes: int | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, path=path, guest_offset=guest_offset, hint=hint)
        self.needed_offset = needed_offset
        self.file_bytes = file_bytes


class CorruptError(ImageError):
    """Something in the image contradicts the format; `finding` says what and where."""

    exit_code = ExitCode.CORRUPT

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        guest_offset: int | None = None,
        finding: Finding | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, path=path, guest_offset=guest_offset, hint=hint)
        self.finding = finding


class UnsupportedError(ImageError):
    """The image may be fine, but it uses something this program can't read."""

    exit_code = ExitCode.UNSUPPORTED


class LimitError(ImageError):
    """A number in the file is larger than anything this program will allocate or walk."""

    exit_code = ExitCode.CORRUPT


class ReferencedFileError(QcowError):
    """A backing or data file that can't, or may not, be opened.

    Attributes:
        name: The name as the image stores it.
        reason: One of "denied", "missing", "loop", "depth", "special", "protocol", "invalid".
    """

    def __init__(self, message: str, *, name: str, reason: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.name = name
        self.reason = reason


class SourceError(QcowError):
    """The operating system refused to open or to read a file."""

    def __init__(
        self, message: str, *, path: str = "", errno: int | None = None, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.errno = errno


class ProofError(QcowError):
    """A plan that would change what the guest reads, or make the image worse: a mistake of ours."""

    def __init__(self, message: str) -> None:
        super().__init__(
            f"the repair was not carried out, because its proof failed: {message}",
            hint="this is a mistake in qcowgui: please report it among the issues of its "
            "repository, with what `qcowgui check --json` prints",
        )


class ConvertError(QcowError):
    """A conversion could not start or could not finish."""


class OptionsError(ConvertError):
    """The options contradict each other, the format or the source."""


class OutputError(ConvertError):
    """The target can't be created, written or put in place."""

    def __init__(
        self, message: str, *, path: str = "", errno: int | None = None, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.errno = errno


class VerifyError(ConvertError):
    """The written image does not read as its source does.

    Attributes:
        guest_offset: The first guest byte that differs.
    """

    exit_code = ExitCode.CORRUPT

    def __init__(self, message: str, *, guest_offset: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.guest_offset = guest_offset


class UsageError(QcowError):
    """The command line can't be understood."""


class Cancelled(Exception):  # noqa: N818  an outcome, not an error
    """Raised inside work whose CancelToken was set; caught at the job's boundary."""
