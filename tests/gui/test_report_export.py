"""Exporting a report from the window: what is written, what is said, what is asked."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from qcowgui.check.clustermap import ClusterState
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, OutputError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.heatmap.layers import HOST_KEYS, Order, state_layer
from qcowgui.gui.report.export import ReportExport
from qcowgui.gui.report.map_picture import map_picture
from qcowgui.gui.session import CheckState, Session
from qcowgui.report.palette import host_colour
from tests.gui.support import button, open_question


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)


@pytest.fixture
def session(qtbot: QtBot, runner: BackgroundRunner, data_image: Path) -> Session:
    made = Session(data_image, runner)
    made.load()
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)
    return made


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def test_a_page_and_its_json_are_written(
    qtbot: QtBot, session: Session, parent: QWidget, tmp_path: Path
) -> None:
    export = ReportExport(session, parent)
    page, data = tmp_path / "r.html", tmp_path / "r.json"
    with qtbot.waitSignal(export.written) as written:
        export.export(page, data)
    assert written.args == [(page, data)]
    text = page.read_text("utf-8")
    assert "Metadata consistent" in text
    assert text.count("<img ") == 2  # the file's clusters and the guest's disk
    found = json.loads(data.read_text("ascii"))
    assert found["check"]["verdict"] == "consistent"
    assert found["info"]["qcowgui"]["clusters"]["normal"] == 8


def test_what_can_not_be_written_is_told(
    qtbot: QtBot, session: Session, parent: QWidget, tmp_path: Path
) -> None:
    export = ReportExport(session, parent)
    with qtbot.waitSignal(export.failed) as failed:
        export.export(tmp_path / "no folder" / "r.html", None)
    assert isinstance(failed.args[0], OutputError)


def test_a_session_without_an_image_has_no_report(
    qtbot: QtBot, runner: BackgroundRunner, parent: QWidget, tmp_path: Path
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("no image")
    session = Session(path, runner)
    session.load()
    qtbot.waitUntil(lambda: not runner.active)
    export = ReportExport(session, parent)
    assert not export.can_export
    assert export.choose_file() is None


def test_json_beside_the_page_is_replaced_only_when_a_person_says_so(
    qtbot: QtBot, session: Session, parent: QWidget, tmp_path: Path
) -> None:
    export = ReportExport(session, parent)
    (tmp_path / "r.json").write_text("mine")
    dialog = export.choose_file(str(tmp_path))
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "r.html"))
    box = open_question()
    with qtbot.waitSignal(export.written) as written:
        button(box, "Page alone").click()
    assert written.args == [(tmp_path / "r.html",)]
    assert (tmp_path / "r.json").read_text() == "mine"
    dialog.fileSelected.emit(str(tmp_path / "r.html"))
    with qtbot.waitSignal(export.written):
        button(open_question(), "Replace").click()
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == 1
    dialog.close()
    QApplication.processEvents()
    assert not [w for w in QApplication.topLevelWidgets() if isinstance(w, QMessageBox)]


def test_a_report_without_a_check_says_why(
    qtbot: QtBot,
    runner: BackgroundRunner,
    parent: QWidget,
    data_image: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("qcowgui.gui.opening.check_image", _until_cancelled)
    session = Session(data_image, runner)
    session.load()
    qtbot.waitUntil(lambda: session.check_state is CheckState.RUNNING)
    export = ReportExport(session, parent)
    notes = []
    for _ in range(2):
        with qtbot.waitSignal(export.written):
            export.export(None, tmp_path / "r.json")
        notes.append(json.loads((tmp_path / "r.json").read_text())["check-note"])
        session.cancel_check()
    assert notes == ["the check had not finished yet", "the check was cancelled"]


def _until_cancelled(*_: object, token: CancelToken, **__: object) -> object:
    while not token.cancelled:
        time.sleep(0.005)
    raise Cancelled


def test_one_bad_cluster_of_many_is_in_the_picture() -> None:
    states = np.full(1 << 22, ClusterState.DATA, dtype=np.uint8)
    states[1_234_567] = ClusterState.CONTESTED
    layer = state_layer(Order.HOST, states, cluster_bytes=65536, end_bytes=len(states) * 65536)
    picture = map_picture(layer)
    assert picture is not None
    image = QImage.fromData(picture.png)
    assert (image.width(), image.height()) == (picture.width, picture.height)
    bad = host_colour(ClusterState.CONTESTED).light
    found = {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }
    assert bad in found
    assert [entry.name for entry in picture.legend] == [
        key.name
        for key in reversed(HOST_KEYS)
        if key.value in (ClusterState.CONTESTED, ClusterState.DATA)
    ]
    assert picture.legend[0].clusters == 1
    assert picture.legend[0].fault
