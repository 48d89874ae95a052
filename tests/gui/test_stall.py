"""The window never stalls: no turn of its event loop computes for over 50 ms.

While models load, at the first look at what is built only then, and when the theme changes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ctm_gui.application import Application
from ctm_gui.attention.view import AttentionView
from ctm_gui.devices.view import COMPARISON_PAGE, PROFILE_PAGE
from ctm_gui.prediction.explanation import Explained
from ctm_gui.roofline.view import RooflineView
from ctm_gui.tasks.turns import is_work_left
from ctm_gui.timeline.view import TimelineView
from ctm_gui.widgets.theme import DARK, LIGHT, ThemeChoice
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.start_page import PurposePage
from ctm_gui.window.workspace import Workspace
from predictor.core.resources import resources_dir
from predictor.core.units import LatencyUnit
from predictor.services.prediction.explain import OperatorTable
from tests.support.attended import BOARD, attended
from tests.support.explained import explained_pair
from tests.support.heartbeat import (
    ATTEMPTS,
    LIMIT_MS,
    REFERENCE_MS,
    Heartbeat,
    longest_turn_ms,
    reference_work,
)
from tests.support.operator_tables import make_table
from tests.support.paints import Paints

LARGE = 10_000


@pytest.fixture
def application(make_application: Callable[..., Application]) -> Application:
    application = make_application()
    application.window.resize(1280, 800)
    return application


def test_a_stall_is_what_the_thread_computed_between_two_beats() -> None:
    assert longest_turn_ms([100.0]) == 0.0
    assert longest_turn_ms([100.0, 130.0, 190.0, 191.0]) == 60.0


def compute(milliseconds: float) -> None:
    """Keep the present thread busy for as long as this takes on a usual core."""
    for _ in range(round(milliseconds / REFERENCE_MS)):
        reference_work()


@pytest.mark.timing
def test_the_heartbeat_sees_a_busy_thread(qtbot: QtBot) -> None:
    heart = Heartbeat()
    heart.start()
    computed: list[None] = []
    QTimer.singleShot(20, lambda: computed.append(compute(171)))
    qtbot.waitUntil(lambda: len(computed) == 1)
    assert heart.stop() >= LIMIT_MS


@pytest.mark.timing
def test_other_programs_on_every_processor_are_no_stall(qtbot: QtBot) -> None:
    busy = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(busy) for _ in range(3 * (os.cpu_count() or 1))]
    try:
        heart, turns = Heartbeat(), []
        timer = QTimer(interval=10)
        timer.timeout.connect(lambda: turns.append(compute(9)))
        timer.start()
        heart.start()
        qtbot.waitUntil(lambda: len(turns) >= 50, timeout=60_000)
        assert heart.stop() < LIMIT_MS
        assert heart.computed_ms >= 50 * LIMIT_MS / 10
    finally:
        for other in others:
            other.kill()
            other.wait()


@pytest.mark.timing
@pytest.mark.parametrize("page", ["compare", "operators"])
def test_dropping_models_never_stalls_the_window(
    qtbot: QtBot,
    application: Application,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    drop_files: Callable[[MainWindow, list[Path]], None],
    page: str,
) -> None:
    files = [
        make_model("large.onnx", layers=LARGE),
        *sorted((resources_dir() / "samples").glob("*.onnx")),
        *(make_model(f"small/{number}.onnx") for number in range(20)),
    ]
    assert len(files) > 21
    window, workspace = application.window, application.workspace
    window.show_page(page)
    with qtbot.waitExposed(window):
        application.start()
    heart = Heartbeat()
    longest: list[float] = []
    for _ in range(ATTEMPTS):
        heart.start()
        drop_files(window, files)
        qtbot.waitUntil(lambda: len(workspace.shelf.entries) == len(files))
        settle(workspace)
        if page == "operators":
            qtbot.waitUntil(lambda: window.central.explanation.settled)
        longest.append(heart.stop())
        assert len(workspace.comparison.rows) == len(files) * len(workspace.selection.selected)
        workspace.shelf.remove(range(len(files)))
        settle(workspace)
        if longest[-1] < LIMIT_MS:
            break
    assert min(longest) < LIMIT_MS, f"the window stood still for {longest} ms"


@pytest.mark.timing
def test_a_large_model_at_further_batches_never_stalls_the_window(
    qtbot: QtBot,
    application: Application,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> None:
    window, workspace = application.window, application.workspace
    explanation = window.central.explanation
    window.show_page("operators")
    with qtbot.waitExposed(window):
        application.start()
    window.open_paths([str(make_model("large.onnx", layers=LARGE))])
    settle(workspace)
    qtbot.waitUntil(lambda: explanation.costs is not None, timeout=30_000)
    device = workspace.selection.selected[0]
    longest: list[float] = []
    heart = Heartbeat()
    for attempt in range(ATTEMPTS):
        batch = 8 * 2**attempt
        heart.start()
        variant = replace(device.configurations[0], batch=batch)
        workspace.selection.add_variant(device, variant)
        settle(workspace)
        place = next(n for n, name in enumerate(explanation.targets) if f"batch {batch})" in name)
        explanation.choose(0, place)
        qtbot.waitUntil(lambda: explanation.settled, timeout=30_000)
        longest.append(heart.stop())
        assert workspace.comparison.rows[place].prediction.configuration.batch == batch
        if longest[-1] < LIMIT_MS:
            break
    assert min(longest) < LIMIT_MS, f"the window stood still for {longest} ms"


@pytest.mark.timing
def test_the_sensitivity_of_many_operators_is_worked_out_without_a_stall(
    qtbot: QtBot,
    application: Application,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> None:
    window = application.window
    explanation = window.central.explanation
    window.show_page("operators")
    with qtbot.waitExposed(window):
        application.start()
    window.open_paths([str(make_model("large.onnx", layers=LARGE))])
    settle(application.workspace)
    qtbot.waitUntil(lambda: explanation.sensitivity is not None, timeout=30_000)
    heart = Heartbeat()
    longest: list[float] = []
    for attempt in range(ATTEMPTS):
        with qtbot.waitSignal(explanation.table_changed, timeout=30_000):
            explanation.choose(0, 1 + attempt % 2)
        # Filling the table is not asked about here.
        heart.start()
        qtbot.waitUntil(lambda: explanation.sensitivity is not None, timeout=30_000)
        longest.append(heart.stop())
        assert window.central.why_view.pair.sentence.text()
        if longest[-1] < LIMIT_MS:
            break
    assert min(longest) < LIMIT_MS, f"the window stood still for {longest} ms"


@pytest.mark.timing
def test_many_operators_are_sorted_and_scrolled_without_a_stall(
    qtbot: QtBot,
    application: Application,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> None:
    window, view = application.window, application.window.central.operators_view
    table = view.table
    window.show_page("operators")
    with qtbot.waitExposed(window):
        application.start()
    window.open_paths([str(make_model("large.onnx", layers=LARGE))])
    qtbot.waitUntil(lambda: table.model().rowCount() == LARGE, timeout=30_000)
    settle(application.workspace)
    steps = {
        "sort by name": lambda: table.sort_by("name"),
        "sort by share": lambda: table.sort_by("share", descending=True),
        "sort by latency": lambda: table.sort_by("latency"),
        "search": lambda: view.table.search_box.setText("product_77"),
        "show all": view.table.search_box.clear,
        "scroll": lambda: table.verticalScrollBar().setValue(LARGE // 2),
        "to the end": table.scrollToBottom,
    }
    heart, longest = Heartbeat(), {step: [] for step in steps}
    for attempt in range(ATTEMPTS):
        # A grid that has never been sorted by name.
        window.options.set_unit((LatencyUnit.US, LatencyUnit.MS)[attempt % 2])
        for step, act in steps.items():
            heart.start()
            act()
            painted(qtbot, table.viewport())
            longest[step].append(heart.stop())
        if all(min(times) < LIMIT_MS for times in longest.values()):
            break
    slow = {step: times for step, times in longest.items() if min(times) >= LIMIT_MS}
    assert not slow, f"the window stood still for {slow} ms"


@pytest.mark.timing
def test_the_first_look_at_the_devices_never_stalls_the_window(
    qtbot: QtBot,
    make_application: Callable[..., Application],
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    tmp_path: Path,
) -> None:
    longest: dict[str, list[float]] = {"devices": [], "profile": [], "comparison": []}
    for attempt in range(ATTEMPTS):
        application = make_application(tmp_path / str(attempt))
        application.window.resize(1280, 800)
        with qtbot.waitExposed(application.window):
            application.start()
        # A prediction ends once the store and the reading process are there too.
        application.workspace.open_paths([str(make_model())])
        settle(application.workspace)
        for look, ms in first_looks(qtbot, application.window).items():
            longest[look].append(ms)
        application.close()
        if all(min(times) < LIMIT_MS for times in longest.values()):
            break
    slow = {look: times for look, times in longest.items() if min(times) >= LIMIT_MS}
    assert not slow, f"the window stood still for {slow} ms"


def first_looks(qtbot: QtBot, window: MainWindow) -> dict[str, float]:
    """Look at the Devices tab and at each of its pages; return the longest gaps, in ms."""
    view, heart = window.central.devices_view, Heartbeat()
    longest = {}
    heart.start()
    window.show_page("devices")
    qtbot.waitUntil(lambda: view.is_built)
    painted(qtbot, view.form_view.texts["name"])
    longest["devices"] = heart.stop()
    heart.start()
    view.pages.setCurrentIndex(PROFILE_PAGE)
    painted(qtbot, view.profile.title)
    longest["profile"] = heart.stop()
    heart.start()
    view.pages.setCurrentIndex(COMPARISON_PAGE)
    painted(qtbot, view.comparison.table.viewport())
    longest["comparison"] = heart.stop()
    assert view.profile.rows
    assert view.comparison.table.model().rowCount()
    return longest


@pytest.mark.timing
def test_another_theme_never_stalls_the_window(
    qtbot: QtBot,
    application: Application,
    settle: Callable[[Workspace], None],
) -> None:
    window, workspace = application.window, application.workspace
    with qtbot.waitExposed(window):
        application.start()
    workspace.selection.select(list(workspace.library.by_id())[:400:25], selected=True)
    window.open_paths([str(path) for path in (resources_dir() / "samples").glob("*.onnx")])
    settle(workspace)
    assert len(workspace.comparison.rows) >= 3 * 16
    for page in window.pages:
        window.show_page(page.id)
        shown = window.tabs.currentWidget()
        purposes = [each for each in shown.findChildren(PurposePage) if each.isVisible()]
        painted(qtbot, purposes[0].open_button if purposes else shown)
    window.show_page("compare")
    qtbot.waitUntil(lambda: window.central.explanation.settled, timeout=30_000)
    painted(qtbot, window.tabs.currentWidget())
    finish_turns()
    assert len(application.qt.allWidgets()) > 1000
    heart = Heartbeat()
    longest: list[float] = []
    work: list[float] = []
    for attempt in range(ATTEMPTS):
        heart.start()
        application.use_theme((ThemeChoice.DARK, ThemeChoice.LIGHT)[attempt % 2])
        painted(qtbot, window.tabs.currentWidget())
        finish_turns()
        longest.append(heart.stop())
        work.append(heart.computed_ms)
        if longest[-1] < LIMIT_MS:
            break
    assert min(longest) < LIMIT_MS, f"the window stood still for {longest} ms"
    # All turns together are a part of what another style sheet takes: work of the same kind, which
    # cold caches slow down alike, as they do not the reference work.
    heart.start()
    application.qt.setStyleSheet(f"{application.qt.styleSheet()}\n")
    heart.stop()
    assert min(work) < heart.computed_ms / 2


def finish_turns() -> None:
    """Wait until no work waits for a turn.

    ``waitUntil`` computes a millisecond at each look: where other programs have the processors, a
    change lasts many looks, which would count as its own work.
    """
    loop, timer = QEventLoop(), QTimer(interval=5)
    timer.timeout.connect(lambda: None if is_work_left() else loop.quit())
    timer.start()
    loop.exec()


@pytest.mark.timing
@pytest.mark.parametrize("make", [RooflineView, TimelineView], ids=["roofline", "timeline"])
def test_a_picture_of_ten_thousand_operators_never_stalls_the_window(
    qtbot: QtBot, make: type[RooflineView | TimelineView]
) -> None:
    options = ViewOptions()
    pair, view, heart = scattered_pair(LARGE), make(options), Heartbeat()
    qtbot.addWidget(view)
    view.resize(1280, 800)
    with qtbot.waitExposed(view):
        view.show()
    keys = (Qt.Key.Key_Right, Qt.Key.Key_Plus, Qt.Key.Key_End)
    steps: dict[str, Callable[[], object]] = {
        "show": lambda: view.show_explained(pair),
        "select": lambda: view.select_operators(np.arange(100), 7),
        **{key.name: partial(QTest.keyClick, view.plot, key) for key in keys},
        "theme": lambda: options.set_theme(DARK if options.theme is LIGHT else LIGHT),
    }
    longest: dict[str, list[float]] = {}
    for _ in range(ATTEMPTS):
        for step, work in steps.items():
            heart.start()
            work()
            painted(qtbot, view.plot.canvas.viewport())
            qtbot.waitUntil(lambda: not view.findChildren(QTimer, "turns"))
            longest.setdefault(step, []).append(heart.stop())
        if all(min(times) < LIMIT_MS for times in longest.values()):
            break
    slow = {step: times for step, times in longest.items() if min(times) >= LIMIT_MS}
    assert not slow, f"the window stood still for {slow} ms"


@pytest.mark.timing
@pytest.mark.parametrize("page", ["roofline", "timeline"])
def test_a_picture_of_ten_thousand_operators_is_there_within_two_seconds(
    qtbot: QtBot,
    application: Application,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    page: str,
) -> None:
    window = application.window
    with qtbot.waitExposed(window):
        application.start()
    window.open_paths([str(make_model("large.onnx", layers=LARGE))])
    settle(application.workspace)
    seconds, heart, longest = [], Heartbeat(), []
    for _ in range(ATTEMPTS):
        window.show_page("compare")
        heart.start()
        window.show_page(page)
        qtbot.waitUntil(lambda: window.central.explanation.explained is not None)
        painted(qtbot, window.tabs.currentWidget())
        longest.append(heart.stop())
        seconds.append(heart.program_s)
        if longest[-1] < LIMIT_MS:
            break
    assert min(seconds) < 2.0
    assert min(longest) < LIMIT_MS, f"the window stood still for {longest} ms"


@pytest.mark.timing
def test_the_graph_of_ten_thousand_operators_never_stalls_the_window(
    qtbot: QtBot,
    make_application: Callable[..., Application],
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    tmp_path: Path,
) -> None:
    large = str(make_model("large.onnx", layers=LARGE))
    seconds: list[float] = []
    longest: dict[str, list[float]] = {}
    for attempt in range(ATTEMPTS):
        application = make_application(tmp_path / str(attempt))
        window = application.window
        window.resize(1280, 800)
        window.show_page("operators")
        with qtbot.waitExposed(window):
            application.start()
        window.open_paths([large])
        settle(application.workspace)
        qtbot.waitUntil(lambda at=window: at.central.explanation.sensitivity is not None)
        for step, work in graph_steps(window).items():
            stall_ms, took_s = graph_stall(qtbot, window, work)
            longest.setdefault(step, []).append(stall_ms)
            if step == "show":
                seconds.append(took_s)
        application.close()
        if all(min(times) < LIMIT_MS for times in longest.values()):
            break
    assert min(seconds) < 2.0
    slow = {step: times for step, times in longest.items() if min(times) >= LIMIT_MS}
    assert not slow, f"the window stood still for {slow} ms"


@pytest.mark.timing
def test_ten_thousand_operators_beside_their_graph_never_stall_the_window(
    qtbot: QtBot,
    make_application: Callable[..., Application],
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    tmp_path: Path,
) -> None:
    large = str(make_model("large.onnx", layers=LARGE))
    seconds: list[float] = []
    longest: dict[str, list[float]] = {}
    for attempt in range(ATTEMPTS):
        application = make_application(tmp_path / str(attempt))
        window = application.window
        window.resize(1400, 800)
        with qtbot.waitExposed(window):
            application.start()
        window.open_paths([large])
        settle(application.workspace)
        for step, work in beside_steps(window).items():
            stall_ms, took_s = graph_stall(qtbot, window, work)
            longest.setdefault(step, []).append(stall_ms)
            if step == "show":
                seconds.append(took_s)
                assert window.central.operators_view.table.model().rowCount() == LARGE
                assert window.central.graph_view.isVisible()
        application.close()
        if all(min(times) < LIMIT_MS for times in longest.values()):
            break
    assert min(seconds) < 2.0
    slow = {step: times for step, times in longest.items() if min(times) >= LIMIT_MS}
    assert not slow, f"the window stood still for {slow} ms"


def beside_steps(window: MainWindow) -> dict[str, Callable[[], object]]:
    """Return what a user does with operators beside their graph, each step by a name."""
    central = window.central
    graph, table = central.graph_view, central.operators_view.table
    button = central.why_view.larger_button

    def root() -> None:
        assert graph.presenter.facts is not None
        graph._current = graph.presenter.facts.tree.root
        graph._select()

    return {
        "show": lambda: window.show_page("operators"),
        "costs": lambda: wait_for_costs(window),
        "row": lambda: QTest.keyClick(table, Qt.Key.Key_Down),
        "box": lambda: QTest.keyClick(graph.canvas, Qt.Key.Key_Down),
        "every operator": root,
        "search": lambda: table.search_box.setText("product_77"),
        "all": table.search_box.clear,
        "hide": button.click,
        "show again": button.click,
        "to the graph": lambda: window.show_page("graph"),
        "back": lambda: window.show_page("operators"),
    }


def wait_for_costs(window: MainWindow) -> None:
    """Let the window work until the costs on every target are known."""
    loop = QEventLoop()
    explanation = window.central.explanation
    if explanation.costs is None:
        explanation.costs_changed.connect(loop.quit)
        while explanation.costs is None:
            loop.exec()


def graph_stall(
    qtbot: QtBot, window: MainWindow, work: Callable[[], object]
) -> tuple[float, float]:
    """Return the longest gap in ms until the graph shows what was done, and the work in seconds."""
    view, heart = window.central.graph_view, Heartbeat()
    heart.start()
    work()
    qtbot.waitUntil(lambda: view.presenter.settled and bool(view.presenter.picture.nodes.size))
    seen = view.canvas.viewport() if view.isVisible() else window.central.operators_view.table
    painted(qtbot, seen)
    return heart.stop(), heart.program_s


def graph_steps(window: MainWindow) -> dict[str, Callable[[], object]]:
    """Return what a user does with the graph of a large model, each step by a name."""
    view = window.central.graph_view
    canvas, search = view.canvas, view.search_box
    return {
        "show": lambda: window.show_page("graph"),
        "walk": lambda: QTest.keyClick(canvas, Qt.Key.Key_Down),
        "open": lambda: QTest.keyClick(canvas, Qt.Key.Key_Return),
        "search": lambda: search.setText("product_77"),
        "find": lambda: QTest.keyClick(search, Qt.Key.Key_Return),
        "all": search.clear,
        "fit": canvas.fit,
        "zoom": lambda: QTest.keyClick(canvas, Qt.Key.Key_Plus),
        "scroll": lambda: canvas.verticalScrollBar().setValue(2000),
        "bound": lambda: view.colour_box.activated.emit(1),
        "theme": lambda: window.options.set_theme(DARK),
    }


def scattered_pair(count: int) -> Explained:
    """Return operators of which no two stand at one place."""
    pair = explained_pair(count)
    generator = np.random.default_rng(0)
    intensity = np.exp(generator.normal(2.0, 2.0, count))
    roofline = replace(
        pair.roofline,
        intensity=intensity,
        flops_per_s=np.exp(generator.normal(20.0, 3.0, count)),
    )
    return replace(pair, roofline=roofline)


@pytest.mark.timing
def test_a_map_of_ten_thousand_operators_never_stalls_the_window(
    qtbot: QtBot,
) -> None:
    table = attended(make_table(LARGE), metrics=22)
    view, heart = AttentionView(ViewOptions()), Heartbeat()
    qtbot.addWidget(view)
    view.resize(1280, 800)
    with qtbot.waitExposed(view):
        view.show()
    longest: dict[str, list[float]] = {}
    for _ in range(ATTEMPTS):
        for step, work in attention_steps(view, table).items():
            heart.start()
            work()
            painted(qtbot, view.map.rows_plot.canvas.viewport())
            longest.setdefault(step, []).append(heart.stop())
        if all(min(times) < LIMIT_MS for times in longest.values()):
            break
    slow = {step: times for step, times in longest.items() if min(times) >= LIMIT_MS}
    assert not slow, f"the window stood still for {slow} ms"


def attention_steps(view: AttentionView, table: OperatorTable) -> dict[str, Callable[[], object]]:
    """Return what a user does with a map, each step by a name."""
    bar = view.map.rows_plot.scroll_bar
    return {
        "show": lambda: view.show_table(table, "", BOARD),
        "scroll": lambda: bar.setValue(bar.maximum() // 2),
        "move": lambda: QTest.keyClick(view.map, Qt.Key.Key_PageDown),
        "sort": lambda: view.table.sort_by("attention", descending=True),
        "search": lambda: view.table.search_box.setText("conv"),
        "all": view.table.search_box.clear,
        "group": lambda: view.group_box.setChecked(True),
        "ungroup": lambda: view.group_box.setChecked(False),
    }


def painted(qtbot: QtBot, widget: QWidget) -> None:
    """Wait until a widget is painted once more."""
    paints = Paints(widget)
    widget.update()
    qtbot.waitUntil(lambda: paints.done)
