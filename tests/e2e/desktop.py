"""A small desktop: a display, a window manager, and files that are opened as users open them."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.test_real_window import take_picture, wait_for
from tests.e2e.test_real_window_inspector import Desk, drop

CONVERT_PLACES = ((0.85, 0.4), (0.75, 0.5), (0.65, 0.3))
"""Where the middle's right third may be, as shares of the window, whatever panels stand around."""

START_FROM_RIGHT, START_FROM_BOTTOM = 150, 31
"""Where the form's button Start is, beside its last one, in pixels from the corner."""


class Desktop(Desk):
    """A desk whose windows have a manager, for a user who has an empty home."""

    def __init__(self, display: str, folder: Path) -> None:
        super().__init__(display, folder)
        self.home = folder / "home"
        # Not below pytest's folder: the path of a socket may not be that long.
        self._runtime = tempfile.TemporaryDirectory(prefix="qcowgui-")
        self._log = folder / "opener.log"
        self._log.touch()
        self.home.mkdir()
        for name in list(self.environment):
            # Nothing may lead to the desktop of whoever runs this.
            if name.startswith("XDG_") or name in ("DBUS_SESSION_BUS_ADDRESS", "WAYLAND_DISPLAY"):
                del self.environment[name]
        self.environment |= {"HOME": str(self.home), "XDG_RUNTIME_DIR": self._runtime.name}
        self._manager = subprocess.Popen(
            ["openbox", "--sm-disable"],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._programs.append(self._manager)
        wait_for(lambda: self.x("get_desktop_viewport"))

    def end(self) -> None:
        """End what still runs, and remove what only ran programs need."""
        super().end()
        self._runtime.cleanup()

    def open(self, opener: str, *words: str | Path) -> None:
        """Have the desktop open a file: `gio open`, `xdg-open`. Some return at once, some don't."""
        with self._log.open("ab") as log:
            program = subprocess.Popen(
                [opener, *map(str, words)],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._programs.append(program)

    def window(self, title: str) -> str:
        """The window whose title starts so, brought to the front.

        Raises:
            AssertionError: When there is none in time; with what the openers said.
        """
        try:
            found = wait_for(lambda: self.x("search", "--onlyvisible", "--name", f"^{title}"))
        except AssertionError:
            raise AssertionError(f"no window {title!r}: {self._log.read_text()}") from None
        window = found.splitlines()[-1]
        self.x("windowactivate", "--sync", window)
        return window

    def process_of(self, window: str) -> int:
        """The process that shows a window."""
        return int(self.x("getwindowpid", window))

    def convert_by_drop(self, window: str, image: Path) -> Path:
        """Drop an image on a window where that converts, accept what is suggested, and wait.

        Returns:
            The file that appears beside it.

        Raises:
            AssertionError: When none does.
        """
        before = set(image.parent.iterdir())
        left, top, width, height = self._geometry(window)
        for number, (across, down) in enumerate(CONVERT_PLACES):
            point = round(left + across * width), round(top + down * height)
            others = list(self._programs)
            drop(self, image, point, self.home.parent / f"source {number}.log")
            form = ""
            with contextlib.suppress(AssertionError):
                form = wait_for(
                    lambda: self.x("search", "--onlyvisible", "--name", "^Convert"), seconds=15
                )
            # Whoever takes a drop asks its source for the files: it is needed until here.
            self._end([program for program in self._programs if program not in others])
            if form:
                break
        else:
            raise AssertionError("dropping the image offered no conversion anywhere")
        self._press_start(form.splitlines()[-1])
        found = wait_for(lambda: new_file(image.parent, before), seconds=60)
        return Path(found)

    def _press_start(self, form: str) -> None:
        """Click on Start until the form goes: it can be pressed once the image was looked at.

        Raises:
            AssertionError: When the form stays.
        """
        self.x("windowactivate", "--sync", form)
        _, _, width, height = self._geometry(form)
        deadline = time.monotonic() + 30
        while form in self.x("search", "--onlyvisible", "--name", "^Convert").splitlines():
            assert time.monotonic() < deadline, "the conversion can't be started"
            corner = width - START_FROM_RIGHT, height - START_FROM_BOTTOM
            self.x("mousemove", "--window", form, *corner, "click", 1)
            time.sleep(0.5)

    def _geometry(self, window: str) -> tuple[int, int, int, int]:
        """(left, top, width, height) of a window; its place is off by the manager's frame."""
        lines = self.x("getwindowgeometry", "--shell", window).splitlines()
        found = dict(line.split("=", 1) for line in lines)
        return int(found["X"]), int(found["Y"]), int(found["WIDTH"]), int(found["HEIGHT"])

    def _end(self, programs: list[subprocess.Popen[bytes]]) -> None:
        for program in programs:
            program.terminate()
            program.wait()
            self._programs.remove(program)

    def picture(self, window: str, target: Path) -> None:
        """Save a picture of a window that shows something."""
        wait_for(lambda: take_picture(self.environment, window, target))

    def close(self, window: str) -> None:
        """Close a window by the keyboard, and wait until its process has ended."""
        process = self.process_of(window)
        self.x("windowactivate", "--sync", window)
        self.x("key", "ctrl+q")
        wait_for(lambda: "" if Path(f"/proc/{process}").exists() else "ended")


def new_file(folder: Path, before: set[Path]) -> str:
    """A whole file that was not in a folder before; an empty text while there is none."""
    found = (path for path in folder.iterdir() if path not in before and path.suffix != ".part")
    return str(next(found, ""))


@contextlib.contextmanager
def desktop(display: str, folder: Path) -> Iterator[Desktop]:
    """A desktop that is tidied up."""
    made = Desktop(display, folder)
    try:
        yield made
    finally:
        made.end()
