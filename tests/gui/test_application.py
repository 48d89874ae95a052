"""The program as a whole: what it checks before Qt, what it does with defects, what it loads."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QPushButton
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.app import EXIT_HOST, main
from ctm_gui.application import Application
from ctm_gui.display import display_problem
from ctm_gui.settings import Settings
from ctm_gui.widgets.theme import DARK, LIGHT, ThemeChoice
from ctm_gui.window.crash import CrashDialog, CrashHandler, log_path
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.errors import InputError
from predictor.core.resources import resources_dir
from predictor.services.devices.catalogue import Catalogue
from tests.support.killed_writer import killed_writer

ROOT = Path(__file__).resolve().parents[2]


def ctm_gui(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program as a process of its own, with no display unless one is given."""
    bare = {k: v for k, v in os.environ.items() if k not in {"DISPLAY", "WAYLAND_DISPLAY"}}
    bare.pop("QT_QPA_PLATFORM", None)
    return subprocess.run(
        [sys.executable, "-m", "ctm_gui", *arguments],
        cwd=ROOT,
        env=bare | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def run_python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout


linux = pytest.mark.skipif(sys.platform != "linux", reason="displays are variables on Linux only")


@linux
def test_without_a_display_it_says_so_and_exits_3() -> None:
    run = ctm_gui()
    assert run.returncode == EXIT_HOST
    assert run.stderr.startswith("ctm-gui: There is no display")
    assert "Traceback" not in run.stderr


@linux
def test_a_display_that_does_not_answer_is_found_before_qt_aborts() -> None:
    run = ctm_gui(DISPLAY=":987")
    assert run.returncode == EXIT_HOST
    assert "display :987 does not answer" in run.stderr or "libraries" in run.stderr


@linux
def test_offscreen_needs_no_display() -> None:
    assert display_problem({"QT_QPA_PLATFORM": "offscreen"}) == ""
    assert display_problem({"WAYLAND_DISPLAY": "nowhere-0"}) != ""


@linux
def test_an_x_server_is_enough() -> None:
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as numbers:
            display = f":{numbers.readline().strip()}"
        assert display_problem({"DISPLAY": display}) == ""
    finally:
        server.terminate()
        server.wait(10)


def test_help_and_version_need_no_display() -> None:
    assert "MODEL" in ctm_gui("--help").stdout
    assert ctm_gui("--version").stdout.startswith("CloserToMe ")


def test_a_damaged_catalogue_is_one_sentence_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], qtbot: QtBot
) -> None:
    def damaged() -> Catalogue:
        raise InputError("rpi5.json", "it is no JSON", "install the program again")

    monkeypatch.setattr("ctm_gui.application.load_catalogue", damaged)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert main([]) == 2
    assert capsys.readouterr().err == (
        "ctm-gui: rpi5.json: it is no JSON; install the program again.\n"
    )


def test_the_windows_process_loads_neither_onnx_nor_torch() -> None:
    code = "import sys, ctm_gui.application; print(*sys.modules)"
    loaded = set(run_python(code).split())
    assert "PySide6.QtWidgets" in loaded
    assert not {"onnx", "onnxruntime", "torch"} & loaded


def test_the_check_before_qt_loads_no_qt() -> None:
    code = "import sys, ctm_gui.app; print('PySide6' in sys.modules)"
    assert run_python(code).strip() == "False"


@pytest.fixture
def application(make_application: Callable[..., Application]) -> Application:
    return make_application()


def test_garbage_is_collected_on_the_windows_thread_only(
    qtbot: QtBot, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cycle:
        def __init__(self) -> None:
            self.itself = self

    deleted_on: list[int] = []
    freeze = Mock()
    monkeypatch.setattr(gc, "freeze", freeze)
    application.start()
    weakref.finalize(Cycle(), lambda: deleted_on.append(threading.get_ident()))
    litter = threading.Thread(target=lambda: [Cycle() for _ in range(100_000)])
    litter.start()
    litter.join()

    assert not gc.isenabled()
    freeze.assert_called_once_with()
    assert not deleted_on  # 100 000 objects on another thread made the collector due, not run
    qtbot.waitUntil(lambda: deleted_on == [threading.get_ident()])


@pytest.mark.skipif(sys.platform != "linux", reason="SIGKILL, folders by XDG")
def test_what_a_killed_window_left_is_removed_and_told_in_a_message(
    qtbot: QtBot,
    application: Application,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "saved").mkdir()
    report = killed_writer(tmp_path / "saved" / "report.pdf")
    store = killed_writer(tmp_path / "store.db")
    application.start()
    messages = application.workspace.messages

    qtbot.waitUntil(lambda: len(messages.messages) == 2)

    assert {message.text for message in messages.messages} == {
        f"{path} was left by a program that was killed, and is removed." for path in (report, store)
    }
    assert messages.error_count == 0
    assert not report.exists()
    assert not store.exists()
    assert capsys.readouterr().err == ""


def test_files_on_the_command_line_are_opened(
    qtbot: QtBot,
    application: Application,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> None:
    path = make_model("given.onnx")
    application.start([str(path)])
    qtbot.waitUntil(lambda: len(application.workspace.shelf.entries) == 1)
    settle(application.workspace)
    assert len(application.workspace.comparison.rows) == len(
        application.workspace.selection.selected
    )


def test_the_theme_follows_the_choice_and_is_remembered(
    application: Application, tmp_path: Path
) -> None:
    application.window.actions_by_id["theme_dark"].trigger()
    assert application.qt.palette().window().color().name() == DARK.background
    application.window.actions_by_id["theme_light"].trigger()
    assert application.qt.palette().window().color().name() == LIGHT.background
    application.window.close()
    chosen = Settings(tmp_path / "window.ini")
    assert chosen.get(table.THEME) == ThemeChoice.LIGHT.value


def test_the_theme_follows_the_system_until_the_user_chooses(application: Application) -> None:
    hints = application.qt.styleHints()

    def window_colour() -> str:
        return application.qt.palette().window().color().name()

    # The offscreen platform has no scheme of its own to change, so only the news of it is given.
    application.use_theme(ThemeChoice.DARK)
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert window_colour() == LIGHT.background
    application.window.actions_by_id["theme_dark"].trigger()
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert window_colour() == DARK.background


def test_a_closed_program_follows_no_theme(application: Application) -> None:
    application.use_theme(ThemeChoice.DARK)
    application.close()
    application.qt.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert application.qt.palette().window().color().name() == DARK.background


def test_the_shipped_font_loads_with_its_licence_beside_it(qtbot: QtBot) -> None:
    fonts = resources_dir() / "fonts"
    loaded = QFontDatabase.addApplicationFont(str(fonts / "DejaVuSans.ttf"))
    assert QFontDatabase.applicationFontFamilies(loaded) == ["DejaVu Sans"]
    QFontDatabase.removeApplicationFont(loaded)
    assert "Bitstream" in (fonts / "DejaVuSans-LICENSE.txt").read_text(encoding="utf-8")


@pytest.mark.fresh_children
def test_closing_while_files_are_read_leaves_nothing_behind(
    qtbot: QtBot, application: Application, make_model: Callable[..., Path]
) -> None:
    before, children = threading.active_count(), set(psutil.Process().children())
    application.start([str(make_model(f"m{number}.onnx")) for number in range(20)])
    qtbot.waitUntil(lambda: bool(application.workspace.shelf.entries))
    application.window.close()
    application.close()
    assert threading.active_count() <= before
    assert set(psutil.Process().children()) <= children


def test_a_defect_opens_a_report_and_the_window_lives_on(
    qtbot: QtBot, window: MainWindow, make_model: Callable[..., Path]
) -> None:
    crash = CrashHandler(window)
    with capture_exceptions():
        crash.install()
        try:
            QTimer.singleShot(0, lambda: 1 // 0)
            qtbot.waitUntil(lambda: bool(window.findChildren(CrashDialog)))
        finally:
            crash.uninstall()
    dialog = window.findChild(CrashDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: "ZeroDivisionError" in dialog.report)
    assert "CloserToMe" in dialog.report
    assert "PySide6" in dialog.report
    copy = next(b for b in dialog.findChildren(QPushButton) if "Copy" in b.text())
    copy.click()
    assert QGuiApplication.clipboard().text() == dialog.report
    assert "ZeroDivisionError" in log_path().read_text(encoding="utf-8")
    assert window.isVisible()


def test_defects_in_threads_and_repeated_ones_share_one_dialog(
    qtbot: QtBot, window: MainWindow
) -> None:
    crash = CrashHandler(window)
    crash.install()
    try:
        for _ in range(3):
            thread = threading.Thread(target=[].pop)
            thread.start()
            thread.join()
    finally:
        crash.uninstall()
    qtbot.waitUntil(lambda: bool(window.findChildren(CrashDialog)))
    (dialog,) = window.findChildren(CrashDialog)
    qtbot.waitUntil(lambda: dialog.report.count("IndexError: pop from empty list") == 3)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders")
def test_a_log_that_is_a_pipe_keeps_nobody_waiting(
    window: MainWindow, capsys: pytest.CaptureFixture[str]
) -> None:
    log_path().parent.mkdir(parents=True)
    os.mkfifo(log_path())
    CrashHandler(window).report(ValueError("of ours"))
    assert "could not be written" in capsys.readouterr().err


def test_about_lists_the_versions(qtbot: QtBot, window: MainWindow) -> None:
    window.assistance.show_about()
    box = next(child for child in window.children() if child.inherits("QMessageBox"))
    assert "onnxruntime" in box.informativeText()  # type: ignore[attr-defined]
    box.close()  # type: ignore[attr-defined]
