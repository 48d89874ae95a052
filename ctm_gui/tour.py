"""Drives the real application through every view with real models and saves pictures of it.

``python3 run.py tour DIR`` runs it. Each scene is taken in the light and the dark theme and in two
sizes, so that a person can look at what the program shows before it ships.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QDeadlineTimer, QEventLoop, Qt
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow, QWidget

from ctm_gui.application import Application
from ctm_gui.presenters.prediction_run import WhatIf
from ctm_gui.presenters.probing_choice import Way
from ctm_gui.presenters.probing_run import Phase
from ctm_gui.theme import ThemeChoice
from ctm_gui.views.compare_tabs import DIFFERENCE_PAGE, MATRIX_PAGE, PARETO_PAGE
from ctm_gui.views.devices_view import COMPARISON_PAGE, FORM_PAGE, PROFILE_PAGE
from ctm_gui.views.tab_places import ATTENTION_TAB, COMPARE_TAB, DEVICES_TAB, OPERATORS_TAB
from ctm_gui.wizard.window import NAMES, RESULT, TARGET
from predictor.core.errors import HostError
from predictor.core.libraries import settle_libraries
from predictor.core.records import Precision
from predictor.core.resources import resources_dir
from predictor.core.units import LatencyUnit

SIZES = ((1280, 800), (1920, 1080))
THEMES = (ThemeChoice.LIGHT, ThemeChoice.DARK)
_SETTLE_MS = 60_000
_REPAINT_MS = 150  # plots and delegates paint in the turns of the loop after a change


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture: what is done to the application before it is taken, and of which window.

    Attributes:
        name: begins the names of the files.
        play: does it.
        of: the class of the window that is shown; the main window where there is none such.
        sized: whether the picture is taken in all sizes; a dialog keeps its own.
    """

    name: str
    play: Callable[[Application, Path], None]
    of: type[QWidget] = QMainWindow
    sized: bool = True


def _nothing(_: Application, __: Path) -> None:
    """Leave the window as it starts."""


def _one_model(app: Application, _: Path) -> None:
    app.window.open_paths([str(sample_models()[0])])


def _all_models(app: Application, _: Path) -> None:
    app.window.open_paths([str(path) for path in sample_models()])


def _budget(app: Application, _: Path) -> None:
    app.window.central.compare_view.set_budget_ms(5.0)


def _frames_per_second(app: Application, _: Path) -> None:
    app.window.what_if_bar.unit_changed.emit(LatencyUnit.FPS)


def _every_target(app: Application, _: Path) -> None:
    app.window.what_if_bar.unit_changed.emit(LatencyUnit.MS)
    selection = app.workspace.selection
    selection.select([device.id for device in selection.devices], selected=True)


def _operators(app: Application, _: Path) -> None:
    app.window.show_tab(OPERATORS_TAB)


def _attention(app: Application, _: Path) -> None:
    app.window.show_tab(ATTENTION_TAB)
    _wait(lambda: app.window.central.explanation.settled)


def _attention_of_types(app: Application, _: Path) -> None:
    view = app.window.central.attention_view
    view.group_box.setChecked(True)
    view.table.setFocus()


def _what_if(app: Application, _: Path) -> None:
    app.window.show_tab(COMPARE_TAB)
    app.window.what_if_bar.precision_changed.emit(Precision.INT8)
    app.window.what_if_bar.batch_changed.emit(8)


def _matrix(app: Application, _: Path) -> None:
    app.window.what_if_bar.show_what_if(WhatIf())
    _show_page(app, MATRIX_PAGE)


def _pareto(app: Application, _: Path) -> None:
    tabs = app.window.central.compare_tabs
    for model, score in enumerate((81.3, 72.1, 70.4)[: len(app.workspace.comparison.models)]):
        tabs.pareto.score_typed.emit(model, score)
    _show_page(app, PARETO_PAGE)


def _what_changed(app: Application, _: Path) -> None:
    _show_page(app, DIFFERENCE_PAGE)


def _show_page(app: Application, page: int) -> None:
    _wait(lambda: app.workspace.settled)
    app.window.central.compare_tabs.show_page(page)
    _wait(lambda: app.window.central.compare_tabs.settled)


def _broken_file(app: Application, folder: Path) -> None:
    broken = folder / "not-a-model.onnx"
    broken.write_text("this is text, not a model\n")
    app.window.open_paths([str(broken)])
    app.window.toggle_messages()


def _shipped_device(app: Application, _: Path) -> None:
    if app.window.message_list.isVisible():
        app.window.toggle_messages()
    view = app.window.central.devices_view
    app.window.show_tab(DEVICES_TAB)
    _wait(lambda: view.is_built)
    view.show_device("a100-sxm4-40gb")


def _own_device(app: Application, _: Path) -> None:
    view = app.window.central.devices_view
    view.show_device("rk3588-cpu")
    _turn(_REPAINT_MS)
    view.header.duplicate_button.click()
    _wait(lambda: view.form.editable)
    app.workspace.selection.set_favourite(view.form.fields.id, favourite=True)
    view.form.set_text("name", "My RK3588 board")
    view.form.set_value("fp32_tflops", "2.1")
    view.form.set_value("core_count", "6")
    view.form.set_value("tdp_w", "ten")
    view.form.set_available("tdp_w", available=True)


def _lower_form(app: Application, _: Path) -> None:
    _turn(2 * _REPAINT_MS)
    bar = app.window.central.devices_view.form_view.verticalScrollBar()
    bar.setValue(bar.maximum())


def _profile(app: Application, _: Path) -> None:
    app.window.central.devices_view.pages.setCurrentIndex(PROFILE_PAGE)


def _device_comparison(app: Application, _: Path) -> None:
    view = app.window.central.devices_view
    view.pages.setCurrentIndex(COMPARISON_PAGE)
    view.show_device("rtx3090")
    view.comparison.choose("rtx4090")


def _this_machine(app: Application, _: Path) -> None:
    view = app.window.central.devices_view
    view.pages.setCurrentIndex(FORM_PAGE)
    view.detect_button.click()
    _wait(lambda: view.form.fields.id == "this-machine")


def _probe_target(app: Application, _: Path) -> None:
    _close_dialogs(app)
    wizard = app.open_wizard()
    _wait(lambda: wizard.is_built)
    wizard.target_page.choose(Way.SSH)
    wizard.target_page.form.device_box.choose("rpi5")


def _probe_plan(app: Application, _: Path) -> None:
    wizard = app.open_wizard()
    wizard.target_page.choose(Way.THIS)
    wizard.target_page.form.device_box.choose("rpi5")
    wizard.next()
    _wait(lambda: wizard.plan_page.planned is not None)


def _probe_measure(app: Application, _: Path) -> None:
    wizard = app.open_wizard()
    wizard.plan_page.minutes_box.setValue(1)
    wizard.plan_page.probes_box.setValue(1)
    _wait(lambda: wizard.plan_page.planned is not None)
    wizard.next()
    _wait(lambda: wizard.desk.run.progress is not None)


def _probe_result(app: Application, _: Path) -> None:
    run = app.open_wizard().desk.run
    _wait(lambda: run.phase is Phase.ENDED, limit_ms=5 * _SETTLE_MS)


def _probe_kit(app: Application, folder: Path) -> None:
    wizard = app.open_wizard()
    wizard.show_page(TARGET)
    wizard.target_page.choose(Way.KIT)
    wizard.target_page.form.device_box.choose("rpi5")
    wizard.next()
    _wait(lambda: wizard.plan_page.planned is not None)
    planned = wizard.plan_page.planned
    if planned is not None:
        wizard.desk.write_kit(planned.plan, str(folder / "kit.zip"))
    wizard.show_page(RESULT)
    _wait((folder / "kit.zip").is_file)
    _turn(2 * _REPAINT_MS)


def _probe_names(app: Application, _: Path) -> None:
    wizard = app.open_wizard()
    wizard.show_page(TARGET)
    wizard.target_page.choose(Way.IMPORT)
    form = wizard.target_page.form
    form.source_box.setCurrentText("Medians typed by hand")
    form.device_box.choose("rpi5")
    form.typed_edit.setPlainText("mobilenetv2-1.0-224 23.4 ms\nmobile net v3 11.8 ms\n")
    wizard.next()
    _wait(lambda: wizard.pages.currentIndex() == NAMES)


def _settings(app: Application, _: Path) -> None:
    app.window.assistance.show_settings()


def _palette(app: Application, _: Path) -> None:
    _close_dialogs(app)
    palette = app.window.assistance.show_palette()
    palette.edit.setText("o")


def _help(app: Application, _: Path) -> None:
    _close_dialogs(app)
    app.window.assistance.show_help("compare")


def _close_dialogs(app: Application) -> None:
    for dialog in app.window.findChildren(QDialog):
        dialog.close()


SCENES = (
    Scene("1-empty", _nothing),
    Scene("2-one-model", _one_model),
    Scene("3-compare", _all_models),
    Scene("4-budget", _budget),
    Scene("5-fps", _frames_per_second),
    Scene("6-every-target", _every_target),
    Scene("7-operators", _operators),
    Scene("8-attention", _attention),
    Scene("9-attention-of-types", _attention_of_types),
    Scene("10-what-if", _what_if),
    Scene("10b-matrix", _matrix),
    Scene("10c-pareto", _pareto),
    Scene("10d-what-changed", _what_changed),
    Scene("11-broken-file", _broken_file),
    Scene("12-shipped-device", _shipped_device),
    Scene("13-own-device", _own_device),
    Scene("14-lower-form", _lower_form),
    Scene("15-profile", _profile),
    Scene("16-device-comparison", _device_comparison),
    Scene("17-this-machine", _this_machine),
    Scene("17b-settings", _settings, of=QDialog, sized=False),
    Scene("17c-palette", _palette, of=QDialog, sized=False),
    Scene("17d-help", _help, of=QDialog, sized=False),
    Scene("18-probe-target", _probe_target, of=QDialog),
    Scene("19-probe-plan", _probe_plan, of=QDialog),
    Scene("20-probe-measure", _probe_measure, of=QDialog),
    Scene("21-probe-result", _probe_result, of=QDialog),
    Scene("22-probe-kit", _probe_kit, of=QDialog),
    Scene("23-probe-names", _probe_names, of=QDialog),
)


def sample_models() -> list[Path]:
    """Return the bundled models."""
    return sorted((resources_dir() / "samples").glob("*.onnx"))


def take(directory: Path) -> list[Path]:
    """Play every scene and save its pictures.

    Args:
        directory: where the PNG files go; made if missing.

    Returns:
        The files, in the order of the scenes.

    Raises:
        HostError: the application did not settle, or a picture cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ctm-tour-") as name:
        folder = Path(name)
        app = Application(folder / "store.sqlite", folder / "settings.ini")
        app.start()
        _wait(lambda: app.window.central.is_built)
        try:
            return [path for scene in SCENES for path in _pictures(app, scene, folder, directory)]
        finally:
            app.window.close()
            app.close()


def _pictures(app: Application, scene: Scene, folder: Path, directory: Path) -> list[Path]:
    scene.play(app, folder)
    _settle(app, scene)
    files = []
    for theme in THEMES:
        app.use_theme(theme)
        for width, height in SIZES if scene.sized else SIZES[:1]:
            shown = _window_of(app, scene)
            if scene.sized:
                shown.resize(width, height)
            _turn(_REPAINT_MS)
            path = directory / f"{scene.name}-{theme.value}-{shown.width()}x{shown.height()}.png"
            if not shown.grab().save(str(path)):
                raise HostError(str(path), "the picture cannot be written", "choose another folder")
            files.append(path)
    return files


def _window_of(app: Application, scene: Scene) -> QWidget:
    """Return the last window of a scene's class that is open."""
    found = [part for part in app.window.findChildren(scene.of) if part.isVisible()]
    return found[-1] if found else app.window


def _settle(app: Application, scene: Scene) -> None:
    """Let the application work until what it shows is true to what was asked for."""
    deadline = QDeadlineTimer(_SETTLE_MS)
    _turn(_REPAINT_MS)
    while not app.workspace.settled:
        if deadline.hasExpired():
            raise HostError(
                scene.name, "the window was still busy after a minute", "report it as a defect"
            )
        _turn(_REPAINT_MS)
    _turn(_REPAINT_MS)


def _wait(done: Callable[[], bool], limit_ms: int = _SETTLE_MS) -> None:
    """Run the event loop until something that the store or another process does is done."""
    deadline = QDeadlineTimer(limit_ms)
    while not done():
        if deadline.hasExpired():
            raise HostError("the tour", "a step did not end", "report it as a defect")
        _turn(_REPAINT_MS)


def _turn(milliseconds: int) -> None:
    """Run the event loop for a while."""
    loop = QEventLoop()
    deadline = QDeadlineTimer(milliseconds, Qt.TimerType.PreciseTimer)
    while not deadline.hasExpired():
        loop.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)


def main(argv: Sequence[str] | None = None) -> int:
    """Take the tour; without a display Qt draws offscreen."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if len(arguments) != 1:
        print("usage: python3 run.py tour DIR", file=sys.stderr)  # noqa: T201 - a command
        return 2
    if sys.platform == "linux" and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    settle_libraries()
    try:
        files = take(Path(arguments[0]))
    except HostError as error:
        print(f"tour: {error}", file=sys.stderr)  # noqa: T201 - a command
        return error.exit_code
    print(f"{len(files)} pictures in {arguments[0]}")  # noqa: T201 - a command
    QApplication.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
