"""Plans are carried out wholly or not at all, on copies and in place, whatever goes wrong."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import overload

import pytest

from qcowgui.codec.cluster import Buffer
from qcowgui.engine.work import CancelToken, Counter
from qcowgui.errors import Cancelled, OutputError, SourceError
from qcowgui.format.finding import Repair
from qcowgui.image.patched import Deferred, Edit
from qcowgui.image.source import FileSource
from qcowgui.repair.apply import apply_in_place, apply_to_copy
from qcowgui.repair.copying import CopyMethod
from qcowgui.repair.edits import RepairPlan, take_fingerprint
from qcowgui.repair.undo import undo_repair
from qcowgui.repair.undo_file import UndoFile, UndoState
from qcowgui.repair.writable import WritableImage
from tests.converting import names_in
from tests.support import damage, oracle
from tests.support.base_images import b0, pattern
from tests.support.options import KIB, MIB

SIZE = 0x1_2345
NEW_SIZE = 0x1_6000
PRIVATE = 0o600


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "disk.img"
    path.write_bytes(pattern(SIZE))
    return path


@pytest.fixture
def undo_path(tmp_path: Path) -> Path:
    return tmp_path / "disk.img.undo"


def edit(source: FileSource, offset: int, after: bytes | Deferred, length: int = 0) -> Edit:
    length = length or len(after)  # type: ignore[arg-type]
    return Edit(offset, source.read_at(offset, length), after, "Because.")


def plan_for(path: Path, edits: Sequence[Edit] | None = None, size: int = NEW_SIZE) -> RepairPlan:
    """A plan with edits in the header, elsewhere, over the end and behind it."""
    with FileSource(path) as source:
        if edits is None:
            edits = [
                edit(source, 72, bytes(8)),
                edit(source, 104, b"\x70"),
                edit(source, 0x3000, pattern(0x5000, 1)),
                edit(source, 0x9001, b"x"),
                edit(source, SIZE - 3, pattern(0x100, 2)),
                edit(source, 0x1_4000, pattern(0x1001, 3)),
            ]
        return RepairPlan(str(path), take_fingerprint(source), edits, size, Repair.ALL)


def result_of(plan: RepairPlan, path: Path) -> bytes:
    with FileSource(path) as source:
        return plan.applied_to(source).read_at(0, plan.new_file_bytes)


def in_place(
    plan: RepairPlan, path: Path, undo_path: Path, *, allow_unknown_locks: bool = False
) -> None:
    apply_in_place(
        plan, path, undo_path, token=CancelToken(), allow_unknown_locks=allow_unknown_locks
    )


# on a copy


def test_a_copy_has_the_edits_and_the_original_has_not(image: Path, tmp_path: Path) -> None:
    plan, old, counter = plan_for(image), image.read_bytes(), Counter()
    wanted = result_of(plan, image)
    examined = []

    def examine(path: Path) -> None:
        assert not (tmp_path / "new").exists()
        examined.append(path.read_bytes())

    with FileSource(image) as source:
        result = apply_to_copy(
            plan,
            source,
            tmp_path / "new",
            token=CancelToken(),
            counter=counter,
            before_move=examine,
        )
    assert (tmp_path / "new").read_bytes() == wanted
    assert examined == [wanted]
    assert image.read_bytes() == old
    assert names_in(tmp_path) == {image.name, "new"}
    assert result.target == tmp_path / "new"
    assert result.method in CopyMethod
    assert result.written_bytes == plan.written_bytes
    assert counter.value == SIZE + plan.written_bytes


def test_a_copy_that_fails_its_examination_leaves_nothing(image: Path, tmp_path: Path) -> None:
    def examine(_: Path) -> None:
        raise OutputError("the copy is no better")

    with FileSource(image) as source, pytest.raises(OutputError, match="no better"):
        apply_to_copy(
            plan_for(image), source, tmp_path / "new", token=CancelToken(), before_move=examine
        )
    assert names_in(tmp_path) == {image.name}


def test_a_copy_is_no_more_public_than_the_image(image: Path, tmp_path: Path) -> None:
    image.chmod(PRIVATE)
    with FileSource(image) as source:
        apply_to_copy(plan_for(image), source, tmp_path / "new", token=CancelToken())
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == PRIVATE


def test_the_image_is_not_its_own_copy(image: Path, tmp_path: Path) -> None:
    (tmp_path / "link").hardlink_to(image)
    plan, old = plan_for(image), image.read_bytes()
    with FileSource(image) as source:
        for target in (image, tmp_path / "link"):
            with pytest.raises(OutputError, match="is the source itself"):
                apply_to_copy(plan, source, target, overwrite=True, token=CancelToken())
    assert image.read_bytes() == old


def test_an_existing_target_is_kept_unless_allowed(image: Path, tmp_path: Path) -> None:
    target = tmp_path / "new"
    target.write_bytes(b"old")
    plan = plan_for(image)
    with FileSource(image) as source:
        with pytest.raises(OutputError, match="exists already"):
            apply_to_copy(plan, source, target, token=CancelToken())
        assert target.read_bytes() == b"old"
        apply_to_copy(plan, source, target, overwrite=True, token=CancelToken())
    assert target.read_bytes() == result_of(plan, image)


def test_a_plan_for_an_older_state_is_refused(image: Path, tmp_path: Path) -> None:
    plan = plan_for(image)
    damage.poke_file(image, 0x8000, b"changed")
    with FileSource(image) as source, pytest.raises(SourceError, match="since the plan was made"):
        apply_to_copy(plan, source, tmp_path / "new", token=CancelToken())
    with pytest.raises(SourceError, match="since the plan was made"):
        in_place(plan, image, tmp_path / "undo")
    assert names_in(tmp_path) == {image.name}


def test_a_plan_that_knows_other_bytes_is_refused(image: Path, tmp_path: Path) -> None:
    plan = plan_for(image, [Edit(0x9000, b"never so", b"whatever", "Because.")])
    old = image.read_bytes()
    with FileSource(image) as source, pytest.raises(SourceError, match="since the plan was made"):
        apply_to_copy(plan, source, tmp_path / "new", token=CancelToken())
    with pytest.raises(SourceError, match="since the plan was made"):
        in_place(plan, image, tmp_path / "undo")
    assert image.read_bytes() == old
    assert names_in(tmp_path) == {image.name}


def test_a_change_while_it_is_copied(image: Path, tmp_path: Path) -> None:
    plan = plan_for(image)

    class Meddler(CancelToken):
        def raise_if_cancelled(self) -> None:
            os.utime(image, ns=(0, 0))

    with FileSource(image) as source, pytest.raises(SourceError, match="was changed"):
        apply_to_copy(plan, source, tmp_path / "new", token=Meddler())
    assert names_in(tmp_path) == {image.name}


# in place


def test_in_place_and_back(image: Path, undo_path: Path) -> None:
    plan, old, counter = plan_for(image), image.read_bytes(), Counter()
    wanted = result_of(plan, image)
    inode = image.stat().st_ino
    result = apply_in_place(plan, image, undo_path, token=CancelToken(), counter=counter)
    assert image.read_bytes() == wanted
    assert image.stat().st_ino == inode
    assert (result.undo_path, result.written_bytes) == (undo_path, plan.written_bytes)
    assert counter.value == 2 * plan.written_bytes
    undone = undo_repair(undo_path)
    assert image.read_bytes() == old
    assert undone.image_path == image
    assert undone.restored_bytes > 0


def test_qemu_agrees_in_place_and_back(tmp_path: Path) -> None:
    built = damage.set_feature_bit(b0(), "incompatible_features", 1)  # the corrupt bit
    built = damage.set_refcount(built, 5, 0)
    path = built.write_to(tmp_path / "disk.qcow2")
    old = path.read_bytes()
    before = oracle.check(path)
    assert before.corruptions
    slot = built.layout.refcount_slot(5)
    flags, _ = built.layout.header_field("incompatible_features")
    with FileSource(path) as source:
        edits = [edit(source, flags, bytes(8)), edit(source, slot.offset, b"\0\1")]
    in_place(plan_for(path, edits, len(old)), path, tmp_path / "undo")
    assert oracle.check(path).is_clean
    assert oracle.guest_bytes(path) == built.guest_bytes()
    undo_repair(tmp_path / "undo")
    assert path.read_bytes() == old
    assert oracle.check(path).corruptions == before.corruptions


def test_nothing_to_do(image: Path, undo_path: Path) -> None:
    result = apply_in_place(plan_for(image, [], SIZE), image, undo_path, token=CancelToken())
    assert (result.undo_path, result.written_bytes) == (None, 0)
    assert not undo_path.exists()


def test_growth_alone(image: Path, undo_path: Path) -> None:
    old = image.read_bytes()
    in_place(plan_for(image, [], NEW_SIZE), image, undo_path)
    assert image.read_bytes() == old.ljust(NEW_SIZE, b"\0")
    assert undo_repair(undo_path).restored_bytes == NEW_SIZE - SIZE
    assert image.read_bytes() == old


def test_everything_is_saved_and_ordered(
    image: Path, undo_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The undo file first; then what is new, what is old, and the header, each made durable."""
    events: list[str] = []
    real_write, real_sync = WritableImage.write_at, WritableImage.sync

    def write(self: WritableImage, offset: int, data: Buffer) -> None:
        with UndoFile(undo_path) as undo:
            assert undo.state is UndoState.WRITTEN
        events.append(f"{offset:#x}")
        real_write(self, offset, data)

    def sync(self: WritableImage) -> None:
        events.append("sync")
        real_sync(self)

    monkeypatch.setattr(WritableImage, "write_at", write)
    monkeypatch.setattr(WritableImage, "sync", sync)
    in_place(plan_for(image), image, undo_path)
    straddling = f"{SIZE - 3:#x}"
    assert events == [
        *("0x14000", "sync"),
        *("0x3000", "0x9001", straddling, "sync"),
        *("0x48", "0x68", "sync"),
    ]
    with UndoFile(undo_path) as undo:
        assert undo.state is UndoState.APPLIED


def test_bytes_that_are_moved_are_saved_before(image: Path, undo_path: Path) -> None:
    """An edit may take its bytes from where another one writes."""
    with FileSource(image) as source:
        a, b = source.read_at(0x3000, 0x1000), source.read_at(0x5000, 0x1000)
        edits = [
            Edit(0x3000, a, Deferred.of_source(source, 0x5000, 0x1000), "Swapped."),
            Edit(0x5000, b, Deferred.of_source(source, 0x3000, 0x1000), "Swapped."),
        ]
        in_place(plan_for(image, edits, SIZE), image, undo_path)
    data = image.read_bytes()
    assert (data[0x3000:0x4000], data[0x5000:0x6000]) == (b, a)


def test_an_undo_file_is_never_overwritten(image: Path, undo_path: Path) -> None:
    old = image.read_bytes()
    undo_path.write_bytes(b"precious")
    with pytest.raises(OutputError, match="exists already"):
        in_place(plan_for(image), image, undo_path)
    assert undo_path.read_bytes() == b"precious"
    with pytest.raises(OutputError, match="exists already"):
        in_place(plan_for(image), image, image)
    assert image.read_bytes() == old


def test_an_undo_file_is_no_more_public_than_the_image(image: Path, undo_path: Path) -> None:
    image.chmod(PRIVATE)
    in_place(plan_for(image), image, undo_path)
    assert stat.S_IMODE(undo_path.stat().st_mode) == PRIVATE


def test_an_image_in_use_is_refused(tmp_path: Path) -> None:
    path = oracle.create(tmp_path / "disk.qcow2", MIB)
    plan = plan_for(path, [], path.stat().st_size + KIB)
    command = [oracle.tool("qemu-io"), "-f", "qcow2", str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("length\n")
        process.stdin.flush()
        assert "MiB" in process.stdout.readline()
        with pytest.raises(OutputError, match="is in use") as caught:
            in_place(plan, path, tmp_path / "undo")
        assert caught.value.errno == errno.EBUSY
        process.stdin.close()
    in_place(plan, path, tmp_path / "undo")


def test_a_repair_holds_off_qemu_and_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = oracle.create(tmp_path / "disk.qcow2", MIB)
    with FileSource(path) as source:
        plan = plan_for(path, [edit(source, 600, b"\1")], path.stat().st_size)
    real = WritableImage.write_at
    refusals = []

    def write(self: WritableImage, offset: int, data: Buffer) -> None:
        refusals.append(oracle.qemu_img("check", path, check=False).stderr)
        with pytest.raises(OutputError, match="is in use"):
            in_place(plan, path, tmp_path / "undo2")
        real(self, offset, data)

    monkeypatch.setattr(WritableImage, "write_at", write)
    in_place(plan, path, tmp_path / "undo")
    [refusal] = refusals
    assert "Is another process using the image" in refusal


def test_unknown_locks_need_consent(
    image: Path, undo_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    plan = plan_for(image)
    wanted = result_of(plan, image)
    with pytest.raises(OutputError, match="may be in use"):
        in_place(plan, image, undo_path)
    in_place(plan, image, undo_path, allow_unknown_locks=True)
    assert image.read_bytes() == wanted
    with pytest.raises(OutputError, match="may be in use"):
        undo_repair(undo_path)
    undo_repair(undo_path, allow_unknown_locks=True)


@pytest.mark.parametrize("mode", [0o444, 0o400])
def test_a_read_only_file_is_refused_even_to_root(mode: int, image: Path, undo_path: Path) -> None:
    plan = plan_for(image)
    image.chmod(mode)
    with pytest.raises(OutputError, match="is read-only"):
        in_place(plan, image, undo_path)
    assert not undo_path.exists()


@pytest.mark.parametrize(
    ("number", "hint"), [(errno.EROFS, "-o"), (errno.EPERM, "-o"), (errno.EBUSY, "mounted")]
)
def test_an_image_that_cannot_be_opened_for_writing(
    number: int, hint: str, image: Path, undo_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_for(image)

    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OutputError, match="can't be opened for writing") as caught:
        in_place(plan, image, undo_path)
    assert hint in caught.value.hint


def test_no_image_and_no_file(tmp_path: Path, image: Path) -> None:
    plan = plan_for(image)
    with pytest.raises(OutputError, match="No such file"):
        in_place(plan, tmp_path / "none", tmp_path / "undo")
    with pytest.raises(OutputError, match="neither a file nor a block device"):
        in_place(plan, tmp_path, tmp_path / "undo")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OutputError, match="neither a file nor a block device"):
        in_place(plan, tmp_path / "fifo", tmp_path / "undo")


@pytest.fixture
def block_device(image: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The image, which the program now takes for a block device."""
    monkeypatch.setattr(stat, "S_ISBLK", stat.S_ISREG)
    return image


def test_a_block_device_that_is_too_small(block_device: Path, undo_path: Path) -> None:
    plan, old = plan_for(block_device), block_device.read_bytes()
    with pytest.raises(OutputError, match="a device can't grow by itself"):
        in_place(plan, block_device, undo_path)
    assert not undo_path.exists()
    assert block_device.read_bytes() == old


def test_a_block_device_keeps_its_size(block_device: Path, undo_path: Path) -> None:
    with FileSource(block_device) as source:
        plan = plan_for(block_device, [edit(source, 0x3000, b"new")], SIZE)
    old = block_device.read_bytes()
    assert plan.fingerprint.modified_ns is None
    in_place(plan, block_device, undo_path)
    assert block_device.read_bytes() == old[:0x3000] + b"new" + old[0x3003:]
    # Others' writes leave no trace in a device's times; only the bytes concerned are looked at.
    os.utime(block_device, ns=(0, 0))
    undo_repair(undo_path)
    assert block_device.read_bytes() == old


# when it goes wrong


def fail_at(
    monkeypatch: pytest.MonkeyPatch, call: int, number: int, *, persistent: bool = False
) -> None:
    """Let a write to the image fail, half done; later ones succeed, unless it is persistent."""
    real = WritableImage.write_at
    calls = 0

    def write(self: WritableImage, offset: int, data: Buffer) -> None:
        nonlocal calls
        calls += 1
        if calls == call or (persistent and calls > call):
            real(self, offset, data[: len(data) // 2])
            error = OSError(number, os.strerror(number))
            raise self._refused(f"can't be written at offset {offset:#x}", error)
        real(self, offset, data)

    monkeypatch.setattr(WritableImage, "write_at", write)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", range(1, 7))
def test_a_failed_write_puts_everything_back(
    call: int, number: int, image: Path, undo_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, old = plan_for(image), image.read_bytes()
    fail_at(monkeypatch, call, number)
    with pytest.raises(OutputError, match="the image was put back as it was") as caught:
        in_place(plan, image, undo_path)
    assert caught.value.errno == number
    assert os.strerror(number) in str(caught.value)
    assert image.read_bytes() == old
    with pytest.raises(OutputError, match="was used already"):
        undo_repair(undo_path)


@pytest.mark.parametrize("call", [2, 4, 6])
def test_a_disk_that_fails_for_good(
    call: int, image: Path, undo_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, old = plan_for(image), image.read_bytes()
    with monkeypatch.context() as patch:
        fail_at(patch, call, errno.EIO, persistent=True)
        with pytest.raises(OutputError, match="half repaired") as caught:
            in_place(plan, image, undo_path)
    assert f"repair --undo {undo_path}" in caught.value.hint
    assert image.read_bytes() != old
    undo_repair(undo_path)
    assert image.read_bytes() == old


def test_a_disk_that_is_full(image: Path, undo_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies behind the end comes first, so that nothing has to be written to put it back."""
    plan, old = plan_for(image), image.read_bytes()
    fail_at(monkeypatch, 1, errno.ENOSPC, persistent=True)
    with pytest.raises(OutputError, match="No space left on device; the image was put back"):
        in_place(plan, image, undo_path)
    assert image.read_bytes() == old


def test_a_failed_sync(image: Path, undo_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, old = plan_for(image), image.read_bytes()
    real, calls = os.fsync, []

    def fsync(fd: int) -> None:
        if os.fstat(fd).st_ino == image.stat().st_ino:
            calls.append(fd)
            if len(calls) == 2:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OutputError, match=r"can't be brought to the disk.*put back"):
        in_place(plan, image, undo_path)
    assert image.read_bytes() == old


def test_no_room_for_the_undo_file(
    image: Path, undo_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, old = plan_for(image), image.read_bytes()

    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwritev", refuse)
    with pytest.raises(OutputError, match=r"disk\.img\.undo can't be written.*No space left"):
        in_place(plan, image, undo_path)
    assert image.read_bytes() == old
    assert names_in(image.parent) == {image.name}


def test_somebody_writes_while_the_undo_file_is_made(
    image: Path, undo_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_for(image)
    real = os.fsync

    def fsync(fd: int) -> None:
        real(fd)
        damage.poke_file(image, 0x8000, b"meddled")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with pytest.raises(SourceError, match="since the plan was made"):
            in_place(plan, image, undo_path)
    assert image.read_bytes() == pattern(SIZE)[:0x8000] + b"meddled" + pattern(SIZE)[0x8007:]
    assert names_in(image.parent) == {image.name}


@pytest.mark.parametrize("reads", range(0, 13, 3))
def test_cancelled(reads: int, image: Path, undo_path: Path) -> None:
    class Impatient(CancelToken):
        asked = 0

        def raise_if_cancelled(self) -> None:
            self.asked += 1
            if self.asked > reads:
                raise Cancelled

    plan, old = plan_for(image), image.read_bytes()
    wanted = result_of(plan, image)
    token = Impatient()
    if reads >= 2 * len(plan.edits):
        apply_in_place(plan, image, undo_path, token=token)
        assert image.read_bytes() == wanted
        return
    with pytest.raises(Cancelled):
        apply_in_place(plan, image, undo_path, token=token)
    assert image.read_bytes() == old
    # Cancelled before the first change, it leaves no undo file; later, one that is used up.
    assert undo_path.exists() == (reads >= len(plan.edits))


KILLED = """
import os, signal, sys
from pathlib import Path
from qcowgui.repair.writable import WritableImage
from tests.unit.test_repair_apply import in_place, plan_for
from qcowgui.repair.undo import undo_repair

path, undo, task, call, part = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:]
writes, syncs = [], []
real_write, real_sync = WritableImage.write_at, WritableImage.sync

def write(self, offset, data):
    writes.append(offset)
    if len(writes) == int(call):
        real_write(self, offset, data[: len(data) * int(part) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    real_write(self, offset, data)

WritableImage.write_at = write
if task == "undo":
    undo_repair(undo)
else:
    in_place(plan_for(path), path, undo)
"""


def run_killed(image: Path, undo_path: Path, task: str, call: int, part: int) -> int:
    """Repair or undo in a process that kills itself inside its n-th write."""
    arguments = [str(image), str(undo_path), task, str(call), str(part)]
    return subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False).returncode


@pytest.mark.parametrize("part", [0, 1, 2])
@pytest.mark.parametrize("call", range(1, 7))
def test_killed_inside_each_edit(call: int, part: int, image: Path, undo_path: Path) -> None:
    old = image.read_bytes()
    assert run_killed(image, undo_path, "repair", call, part) == -signal.SIGKILL
    assert image.read_bytes() != old
    undo_repair(undo_path)
    assert image.read_bytes() == old


@pytest.mark.parametrize("call", range(1, 6))
def test_killed_inside_the_undo(call: int, image: Path, undo_path: Path) -> None:
    old = image.read_bytes()
    in_place(plan_for(image), image, undo_path)
    assert run_killed(image, undo_path, "undo", call, 1) == -signal.SIGKILL
    assert image.read_bytes() != old
    undo_repair(undo_path)
    assert image.read_bytes() == old


def test_killed_after_the_last_edit(image: Path, undo_path: Path) -> None:
    """The undo works though nobody noted that the repair was complete."""
    plan, old = plan_for(image), image.read_bytes()
    wanted = result_of(plan, image)
    assert run_killed(image, undo_path, "repair", 6, 2) == -signal.SIGKILL
    assert image.read_bytes() == wanted
    undo_repair(undo_path)
    assert image.read_bytes() == old


# size


class HugeEdits(Sequence[Edit]):
    """Edits that nobody could hold in memory at once."""

    def __init__(self, count: int, length: int, file_bytes: int) -> None:
        self._count = count
        self._length = length
        self._file_bytes = file_bytes

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Edit: ...
    @overload
    def __getitem__(self, index: slice) -> list[Edit]: ...
    def __getitem__(self, index: int | slice) -> Edit | list[Edit]:
        assert isinstance(index, int)
        if index >= self._count:
            raise IndexError(index)
        offset = 2 * index * self._length
        old = max(0, min(self._length, self._file_bytes - offset))
        before = Deferred(old, lambda _, length: bytes(length))
        after = Deferred(self._length, lambda _, length: b"\5" * length)
        return Edit(offset, before, after, "Because.")


REPORT_MEMORY = """
import resource, sys
from pathlib import Path
from tests.unit.test_repair_apply import HugeEdits, in_place, plan_for
from qcowgui.repair.undo import undo_repair

path, undo = Path(sys.argv[1]), Path(sys.argv[2])
count, length, size = map(int, sys.argv[3:])
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
in_place(plan_for(path, HugeEdits(count, length, path.stat().st_size), size), path, undo)
undo_repair(undo)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) * 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("count", "length"), [(4, 32 * MIB), (30_000, 16)])
def test_memory_does_not_grow_with_the_plan(count: int, length: int, tmp_path: Path) -> None:
    path, size = tmp_path / "disk.img", 2 * count * length
    path.touch()
    os.truncate(path, size // 2)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            REPORT_MEMORY,
            path,
            tmp_path / "undo",
            *map(str, (count, length, size)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 24 * MIB
    assert path.stat().st_size == size // 2
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    assert digest == hashlib.sha256(bytes(size // 2)).hexdigest()
