"""Tasks of users in the real window, walked by mouse and by keys alone, with their goals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionViewItem, QTreeView, QWidget

from benchmarks.user_hands import Counts, Hands
from ctm_gui.application import Application
from ctm_gui.report.dialog import ReportDialog
from ctm_gui.settings import FOLDER
from predictor.core.resources import resources_dir

DEVICES: Final = {
    "pi 5": "rpi5",
    "orin nano gpu": "jetson-orin-nano-gpu",
    "rtx 4090": "rtx4090",
    "galaxy s23": "snapdragon-8-gen-2",
    "macbook air m3": "apple-m3-cpu",
}
"""Words of devices as a user types them, and what each means."""

NUMBERS: Final = ("2400", "4", "0.15", "12")
"""Clock, cores, FP32 peak and memory bandwidth of a device of one's own."""

LIMITS: Final = ("30", "15")
"""Most milliseconds and watts."""

MODEL: Final = resources_dir() / "samples" / "mobilenetv2-1.0-224.onnx"
_ENTER = Qt.Key.Key_Return


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTask:
    """One task.

    Attributes:
        title: of the task.
        before: clicks and entries that it took in the window with eleven tabs, in words.
        goal: most clicks, or most clicks and entries together where ``counts_entries``.
        counts_entries: whether what is typed counts against the goal.
        by_mouse: walks it with the mouse; words and numbers are typed all the same.
        by_keys: walks it with the keyboard alone.
        reached: waits for what it is walked for.
    """

    title: str
    before: str
    goal: int
    counts_entries: bool
    by_mouse: Callable[[Application, Hands], None]
    by_keys: Callable[[Application, Hands], None]
    reached: Callable[[Application, Hands], None]

    def counted(self, counts: Counts) -> int:
        """Return what is held against the goal."""
        return counts.total if self.counts_entries else counts.total - counts.entries


def walk(task: UserTask, app: Application, *, by_keys: bool) -> Counts:
    """Walk a task in a program whose tasks before are walked, and return what it took.

    Raises:
        TimeoutError: a step of it did not happen.
    """
    hands = Hands(app.window)
    (task.by_keys if by_keys else task.by_mouse)(app, hands)
    return hands.counts


def _settle(app: Application, hands: Hands) -> None:
    hands.wait(lambda: app.workspace.settled, "the comparison is not there")


def _five_compared(app: Application, hands: Hands) -> None:
    hands.wait(
        lambda: set(app.workspace.selection.selected_ids) == set(DEVICES.values()),
        f"other targets are ticked: {app.workspace.selection.selected_ids}",
    )
    _settle(app, hands)
    hands.wait(lambda: len(app.window.central.compare_view.rows) == len(DEVICES), "no five rows")


def _compare_by_mouse(app: Application, hands: Hands) -> None:
    panel = app.window.targets_panel
    hands.drop([MODEL])
    _settle(app, hands)
    hands.click(panel.none_button)
    for words, device_id in DEVICES.items():
        hands.click(panel.search_box)
        panel.search_box.selectAll()  # as a click on the cross would, which is left out
        hands.type(words)
        index = panel.model.index_of(device_id)
        panel.tree.scrollTo(index)
        hands.click(panel.tree.viewport(), _tick_of(panel.tree, index))


def _tick_of(tree: QTreeView, index: QModelIndex) -> QPoint:
    """Return the middle of the tick of a row."""
    option = QStyleOptionViewItem()
    option.initFrom(tree)
    option.rect = tree.visualRect(index)
    option.features = QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator
    part = QStyle.SubElement.SE_ItemViewItemCheckIndicator
    return tree.style().subElementRect(part, option, tree).center()


def _compare_by_keys(app: Application, hands: Hands) -> None:
    panel = app.window.targets_panel
    hands.in_file_dialog(
        lambda dialog: hands.type_file(dialog, MODEL), lambda: hands.press("Ctrl+O")
    )
    _settle(app, hands)
    hands.press_until("F6", panel.search_box.hasFocus)
    hands.press_until("Shift+Tab", panel.none_button.hasFocus)
    hands.press("Space")
    hands.press_until("Tab", panel.search_box.hasFocus)
    for words in DEVICES:
        hands.type(words, _ENTER)


def slowest_operator(app: Application) -> tuple[str, str]:
    """Return the first row of the operators that are in sight: name, and what binds it."""
    table = app.window.central.operators_view.table
    grid = table.grid_model.grid
    texts = {column.key: column.text(grid.source(0)) for column in grid.columns}
    return texts["name"], texts["bound"]


def _operators_shown(app: Application, hands: Hands) -> None:
    explanation = app.window.central.explanation
    table = app.window.central.operators_view.table
    hands.wait(lambda: app.window.page.id == "why" and explanation.settled, "no explanation")
    hands.wait(lambda: table.isVisible() and table.grid_model.rowCount(), "no operators")
    hands.wait(table.hasFocus, "the slowest operator has no focus")


def _slowest_by_mouse(app: Application, hands: Hands) -> None:
    table = app.window.central.compare_view.table
    place = table.visualRect(table.model().index(0, table.column("latency"))).center()
    hands.double_click(table.viewport(), place)


def _slowest_by_keys(app: Application, hands: Hands) -> None:
    hands.press_until("F6", app.window.central.compare_view.table.hasFocus)
    hands.press("Return")


def _focus(app: Application) -> QWidget:
    return QApplication.focusWidget() or app.window


def _own_predicted(app: Application, hands: Hands) -> None:
    _settle(app, hands)
    hands.wait(
        lambda: any(
            row.prediction.device_id == "my-device" and row.prediction.latency_ms
            for row in app.workspace.comparison.rows
        ),
        "the device has no latency",
    )


def _own_by_mouse(app: Application, hands: Hands) -> None:
    view = app.window.central.devices_view
    hands.click(view.new_button)
    _type_numbers(app, hands)
    hands.click(view.header.save_button)


def _own_by_keys(app: Application, hands: Hands) -> None:
    hands.press("Ctrl+N")
    _type_numbers(app, hands)
    hands.press("Space")  # on *Save*


def _type_numbers(app: Application, hands: Hands) -> None:
    form = app.window.central.devices_view.form_view
    for name, number in zip(
        ("clock_mhz", "core_count", "fp32_tflops", "dram_bw_gbps"), NUMBERS, strict=True
    ):
        hands.wait(form.fields[name].value.hasFocus, f"the cursor is not in {name}")
        hands.type(number, _ENTER)


def _report_by_mouse(app: Application, hands: Hands) -> None:
    hands.click(app.window.places.report_button)
    hands.wait(lambda: app.report is not None, "no report")
    hands.in_file_dialog(hands.accept_file, lambda: hands.click(_report(app).save_button))


def _report_by_keys(app: Application, hands: Hands) -> None:
    hands.press("Ctrl+P")
    hands.wait(lambda: app.report is not None and app.report.save_button.isEnabled(), "no report")
    hands.wait(_report(app).isActiveWindow, "the report is not active")
    hands.in_file_dialog(hands.accept_by_enter, lambda: hands.press("Ctrl+S"))


def _report_written(app: Application, hands: Hands) -> None:
    path = Path(app.settings.get(FOLDER)) / "report.pdf"
    hands.wait(lambda: path.is_file() and not _report(app).presenter.busy, f"no {path}")
    _report(app).close()


def _report(app: Application) -> ReportDialog:
    report = app.report
    assert report is not None  # noqa: S101 - callers waited for it
    return report


def _choose_by_mouse(app: Application, hands: Hands) -> None:
    hands.click(app.window.place_strip.buttons["choose"])
    _type_limits(app, hands)


def _choose_by_keys(app: Application, hands: Hands) -> None:
    hands.press("Ctrl+3")
    _type_limits(app, hands)


def _type_limits(app: Application, hands: Hands) -> None:
    view = app.window.central.choose_view
    for box, limit in zip((view.latency_box, view.power_box), LIMITS, strict=True):
        hands.wait(lambda box=box: box.isAncestorOf(_focus(app)) or box.hasFocus(), "no cursor")
        hands.type(limit, _ENTER)


def _devices_chosen(app: Application, hands: Hands) -> None:
    choice = app.window.central.choice
    asked = tuple(map(float, LIMITS))
    hands.wait(lambda: (choice.limits.max_ms, choice.limits.max_watts) == asked, f"{choice.limits}")
    hands.wait(lambda: choice.settled and choice.chosen is not None, "no choice")


TASKS: Final = (
    UserTask(
        title="Compare a model on five devices named in words",
        before="18 clicks, and 5 for TensorRT",
        goal=12,
        counts_entries=False,
        by_mouse=_compare_by_mouse,
        by_keys=_compare_by_keys,
        reached=_five_compared,
    ),
    UserTask(
        title="The slowest operator of a row, and what binds it",
        before="1 click",
        goal=1,
        counts_entries=False,
        by_mouse=_slowest_by_mouse,
        by_keys=_slowest_by_keys,
        reached=_operators_shown,
    ),
    UserTask(
        title="A device of one's own by four numbers, from the Library",
        before="6 clicks, 4 entries; three attempts",
        goal=6,
        counts_entries=True,
        by_mouse=_own_by_mouse,
        by_keys=_own_by_keys,
        reached=_own_predicted,
    ),
    UserTask(
        title="A report as PDF",
        before="3 keys",
        goal=3,
        counts_entries=True,
        by_mouse=_report_by_mouse,
        by_keys=_report_by_keys,
        reached=_report_written,
    ),
    UserTask(
        title="Which device holds 30 ms and 15 W",
        before="1 key, 2 entries",
        goal=3,
        counts_entries=True,
        by_mouse=_choose_by_mouse,
        by_keys=_choose_by_keys,
        reached=_devices_chosen,
    ),
)


def prepare(task: UserTask, app: Application, folder: Path) -> None:
    """Bring the window to where a task begins, which is not counted."""
    app.window.activateWindow()
    hands = Hands(app.window)
    if task.by_mouse is _own_by_mouse:
        app.window.show_page("devices")
        hands.wait(lambda: app.window.central.devices_view.is_built, "no form")
    elif task.by_mouse is not _choose_by_mouse:
        app.window.show_page("compare")
    if task.by_mouse is _report_by_mouse and app.report is None:
        app.settings.set(FOLDER, str(folder))
