"""The exception tree: texts, fields, exit codes."""

from __future__ import annotations

import pytest

from qcowgui import errors
from qcowgui.errors import ExitCode
from qcowgui.format import limits
from qcowgui.format.finding import CODES, Finding, Refusal, Severity, fold


def _subclasses(kind: type[BaseException]) -> set[type[BaseException]]:
    found = set(kind.__subclasses__())
    return found.union(*map(_subclasses, found)) if found else found


def test_every_error_is_in_the_drawing_at_the_top_of_the_module() -> None:
    names = {kind.__name__ for kind in _subclasses(errors.QcowError)}
    assert names
    for name in names:
        if getattr(errors, name, None) is not None:
            assert name in (errors.__doc__ or ""), name


def test_exit_codes_are_numbers_that_scripts_know() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "GOOD": 0,
        "FAILED": 1,
        "CORRUPT": 2,
        "LEAKS": 3,
        "UNSUPPORTED": 63,
        "CANCELLED": 130,
    }


@pytest.mark.parametrize(
    ("error", "text", "exit_code"),
    [
        (errors.QcowError("it broke"), "it broke", 1),
        (errors.QcowError("it broke", hint="mend it"), "it broke (mend it)", 1),
        (errors.ImageError("bad", path="a.qcow2", guest_offset=7), "a.qcow2: bad", 1),
        (errors.NotQcow2Error("is raw", path="x", detected="raw", hint="h"), "x: is raw (h)", 63),
        (errors.TruncatedError("short", needed_offset=9, file_bytes=8), "short", 2),
        (errors.CorruptError("bad"), "bad", 2),
        (errors.UnsupportedError("no"), "no", 63),
        (errors.LimitError("too many"), "too many", 2),
        (errors.ReferencedFileError("no", name="b", reason="denied"), "no", 1),
        (errors.SourceError("no", path="p", errno=5), "no", 1),
        (errors.OptionsError("no"), "no", 1),
        (errors.OutputError("no", path="p", errno=28), "no", 1),
        (errors.VerifyError("differs", guest_offset=4096), "differs", 2),
        (errors.UsageError("what?"), "what?", 1),
    ],
)
def test_text_and_exit_code(error: errors.QcowError, text: str, exit_code: int) -> None:
    assert str(error) == text
    assert error.exit_code == exit_code


def test_fields_are_kept() -> None:
    finding = Finding("dirty", Severity.INFO, "m", "header")
    assert errors.CorruptError("m", finding=finding).finding is finding
    truncated = errors.TruncatedError("m", needed_offset=9, file_bytes=8, guest_offset=1)
    assert (truncated.needed_offset, truncated.file_bytes, truncated.guest_offset) == (9, 8, 1)
    assert errors.NotQcow2Error("m", detected="vmdk").detected == "vmdk"
    reference = errors.ReferencedFileError("m", name="n", reason="loop")
    assert (reference.name, reference.reason) == ("n", "loop")
    assert errors.SourceError("m", path="p", errno=2).errno == 2
    output = errors.OutputError("m", path="p", errno=28)
    assert (output.path, output.errno) == ("p", 28)
    assert errors.VerifyError("m", guest_offset=3).guest_offset == 3


def test_cancelled_is_no_error_of_ours() -> None:
    assert not issubclass(errors.Cancelled, errors.QcowError)


def test_a_finding_needs_a_known_code() -> None:
    with pytest.raises(ValueError, match="no-such-code"):
        Finding("no-such-code", Severity.INFO, "m", "header")


def test_finding_codes_are_spelt_alike() -> None:
    for code, meaning in CODES.items():
        assert code == code.lower().replace("_", "-")
        assert meaning.endswith(".")


def test_fold_keeps_the_first_of_a_kind_and_counts_the_others() -> None:
    limit = limits.MAX_FINDINGS_OF_A_KIND
    flood = [
        Finding("bitmap-type", Severity.INFO, "Bad.", "x", entry=index, count=2)
        for index in range(limit + 10)
    ]
    refusing = Finding("bitmap-type", Severity.INFO, "Bad.", "x", refusal=Refusal.QEMU)
    other = Finding("dirty", Severity.INFO, "Dirty.", "x")
    kept = fold([*flood, refusing, other])
    assert kept[: limit - 1] == flood[: limit - 1]
    assert kept[limit:] == [refusing, other]
    last = kept[limit - 1]
    assert (last.entry, last.count) == (limit - 1, 2 + 20)
    assert last.message == "Bad. There are 20 more of this kind."
    assert sum(finding.count for finding in kept) == 2 * len(flood) + 2


def test_fold_leaves_what_is_within_the_limit() -> None:
    few = [Finding("dirty", Severity.INFO, "Dirty.", "x")] * limits.MAX_FINDINGS_OF_A_KIND
    assert fold(iter(few)) == few
