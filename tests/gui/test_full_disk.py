"""A disk that is full: one sentence for each thing that is not saved, and the window goes on."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.application import Application
from ctm_gui.window.workspace import Workspace
from predictor.core.errors import HostError
from predictor.services.history.past_predictions import NewTruth

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a small disk by mount")

DISK_BYTES = 16 * 2**20
FULL = r"(disk is full|disk failed|No space left on device|File too large)"


class Disk:
    """A small disk and the file that fills it; without the right to mount one, a limit of files."""

    def __init__(self, folder: Path, *, is_mounted: bool) -> None:
        self.folder = folder
        self._is_mounted = is_mounted
        self._filler = folder / "filler"
        self._limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(self) -> None:
        with closing(sqlite3.connect(self.folder / "store.db")) as store:
            # Its log is as long as it ever was, and would take what is written.
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if not self._is_mounted:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, self._limits[1]))
            return
        with self._filler.open("wb", buffering=0) as file:
            # The last blocks too: a few bytes would go into the tail of one.
            for size in (2**16, 1):
                while True:
                    try:
                        file.write(bytes(size))
                    except OSError:
                        break

    def empty(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self._limits)
        self._filler.unlink(missing_ok=True)

    def names(self) -> set[str]:
        return {path.name for path in self.folder.rglob("*") if path.is_file()} - {"filler"}


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount, umount = (shutil.which(program, path="/bin:/sbin") for program in ("mount", "umount"))
    command = [mount or "mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", str(folder)]
    mounted = mount is not None and not subprocess.call(command, stderr=subprocess.DEVNULL)
    small = Disk(folder, is_mounted=mounted)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    yield small
    small.empty()
    if mounted:
        # Lazily: a process of the window's may still have it open.
        subprocess.run([umount or "umount", "-l", str(folder)], check=True)


@pytest.fixture
def application(
    qtbot: QtBot,
    disk: Disk,
    make_application: Callable[..., Application],
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> Application:
    """A window whose files are on the disk, with one model that is stored."""
    application = make_application(disk.folder)
    path = make_model("first.onnx")
    with qtbot.waitSignal(application.workspace.recorder.recorded):
        application.start([str(path)])
    settle(application.workspace)
    application.workspace.history.set_active(active=True)
    qtbot.waitUntil(lambda: bool(application.workspace.history.data.rows))
    return application


def errors(workspace: Workspace) -> list[str]:
    return [m.text for m in workspace.messages.messages if m.level == "error"]


def test_a_project_that_finds_no_room_is_told_and_leaves_nothing(
    qtbot: QtBot, disk: Disk, application: Application
) -> None:
    workspace, path = application.workspace, disk.folder / "team.ctmproject"
    path.write_bytes(b"old")
    before = disk.names()
    disk.fill()
    with qtbot.waitSignal(workspace.projects.failed) as failed:
        workspace.projects.export(str(path))
    assert isinstance(failed.args[0], HostError)
    assert "the project could not be written (" in errors(workspace)[-1]
    assert len(errors(workspace)) == 1
    assert disk.names() == before
    assert path.read_bytes() == b"old"

    disk.empty()
    with qtbot.waitSignal(workspace.projects.done):
        workspace.projects.export(str(path))
    assert path.read_bytes()[:2] == b"PK"


@pytest.mark.parametrize("ending", ["pdf", "md", "json"])
def test_a_report_that_finds_no_room_is_told_and_leaves_nothing(
    qtbot: QtBot, disk: Disk, application: Application, ending: str
) -> None:
    dialog = application.open_report()
    qtbot.waitUntil(lambda: dialog.presenter.draft is not None and not dialog.presenter.busy)
    before = disk.names()
    disk.fill()
    with qtbot.waitSignal(dialog.presenter.failed):
        dialog.presenter.save(disk.folder / f"report.{ending}")
    assert "the report could not be written (" in dialog.words.text()
    assert re.search(FULL, dialog.words.text())
    assert disk.names() == before

    disk.empty()
    with qtbot.waitSignal(dialog.presenter.done):
        dialog.presenter.save(disk.folder / f"report.{ending}")
    assert (disk.folder / f"report.{ending}").stat().st_size > 100


def test_history_and_predictions_that_find_no_room_are_told_and_kept_later(
    qtbot: QtBot,
    disk: Disk,
    application: Application,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> None:
    workspace = application.workspace
    stored = len(workspace.history.data.rows)
    second = make_model("second.onnx", layers=300)
    disk.fill()
    with qtbot.waitSignal(workspace.history.failed):
        # Not a word: that would find room in a page that is there already.
        workspace.history.set_note(0, "a long note " * 150)
    with qtbot.waitSignal(workspace.history.failed):
        workspace.history.add_truth(workspace.history.data.rows[0].stored, NewTruth("3.5"))
    with qtbot.waitSignal(workspace.recorder.failed):
        workspace.open_paths([str(second)])
    settle(workspace)
    told = errors(workspace)
    assert len(told) == 3
    assert all(re.search(FULL, sentence) for sentence in told)
    assert all(sentence.isprintable() for sentence in told)
    assert len({row.prediction.model for row in workspace.comparison.rows}) == 2, "it is shown"
    workspace.history.read()
    qtbot.waitUntil(lambda: not workspace.history.busy)
    (first, *_), count = workspace.history.data.rows, len(workspace.history.data.rows)
    assert (count, first.stored.note, first.measured_ms) == (stored, "", None)

    disk.empty()
    with qtbot.waitSignal(workspace.recorder.recorded):
        workspace.selection.select([workspace.selection.selected[0].id], selected=False)
    workspace.history.set_note(0, "kept")
    qtbot.waitUntil(
        lambda: (
            workspace.history.data.rows[0].stored.note == "kept"
            or any(row.stored.note == "kept" for row in workspace.history.data.rows)
        )
    )
    assert len(errors(workspace)) == 3


def test_files_of_the_explained_pair_that_find_no_room_are_told_and_leave_nothing(
    qtbot: QtBot, disk: Disk, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, central = application.window, application.window.central
    window.show_page("graph")
    qtbot.waitUntil(lambda: central.explanation.explained is not None)
    qtbot.waitUntil(lambda: bool(central.graph_view.presenter.picture.nodes.size))
    writes = {
        "net.json": central.timeline_view.trace_requested.emit,
        "nodes.json": central.operators_view.node_data_requested.emit,
    }
    warned: list[str] = []
    monkeypatch.setattr(QMessageBox, "warning", lambda *words: warned.append(words[2]))
    before = disk.names()
    disk.fill()
    for name, write in writes.items():
        with qtbot.waitSignal(central.explanation.failed) as failed:
            write(disk.folder / name)
        assert re.search(FULL, str(failed.args[0]))
        assert isinstance(failed.args[0], HostError)
    for ending in ("svg", "png"):
        place = str(disk.folder / f"graph.{ending}")
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, at=place: (at, ""))
        central.graph_view.save_button.click()
    assert len(errors(application.workspace)) == len(warned) == 2
    assert all(re.search(FULL, sentence) and "\n" not in sentence for sentence in warned)
    assert disk.names() == before
    # The graph goes on.
    QTest.keyClick(central.graph_view.canvas, Qt.Key.Key_Down)
    assert central.explanation.selected.size

    disk.empty()
    for name, write in writes.items():
        with qtbot.waitSignal(central.explanation.done):
            write(disk.folder / name)
    central.graph_view.save_button.click()
    assert "graph.png" in disk.names()


def test_settings_that_find_no_room_stop_nobody(disk: Disk, application: Application) -> None:
    disk.fill()
    application.settings.set(table.BUDGET_MS, 12.5)
    application.window.close()
    application.close()
    assert application.settings.get(table.BUDGET_MS) == 12.5
    assert not any(name.endswith(".partial") for name in disk.names())
