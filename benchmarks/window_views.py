"""Time that the window computes in one turn: show, sort, search, scroll, copy in two tables.

In processor time of its thread: other programs lengthen a step on the clock of the wall.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import TypeVar

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QScrollBar, QWidget

from benchmarks.common import Figure, parse_arguments, report
from ctm_gui.compare.view import CompareView
from ctm_gui.operators.view import OperatorsView
from ctm_gui.prediction.columns import ComparisonColumns
from ctm_gui.widgets.theme import LIGHT
from ctm_gui.widgets.theme_change import apply_theme
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Precision
from predictor.presentation.prediction_rows import PredictionRow
from predictor.services.prediction.explain import OperatorTable

STALL_LIMIT_MS = 50.0
PREDICTIONS = (150, 1000, 20_000)
OPERATORS = 10_000
_TARGETS = 1000
_TYPES = ("Conv", "Relu", "MatMul", "Add", "Reshape")

View = TypeVar("View", bound=QWidget)


def main() -> int:
    """Print the figures; return 1 when one exceeds its limit."""
    options = parse_arguments(__doc__, repeats=5)
    # The figures are of the program, not of a display.
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication.instance() or QApplication([])
    apply_theme(app, LIGHT)
    figures = [
        figure
        for count in PREDICTIONS
        for figure in _compare_figures(_predictions(count), options.repeats)
    ]
    figures += _operator_figures(_operators(OPERATORS), options.repeats)
    title = "How long one step of the window takes"
    return report("window_views", title, figures, options.output)


def _compare_figures(rows: Sequence[PredictionRow], repeats: int) -> list[Figure]:
    def columns() -> ComparisonColumns:
        made = ComparisonColumns(rows)
        made.read()  # as a comparison comes from the thread that predicts
        return made

    def fresh() -> CompareView:
        return _opened(CompareView(ViewOptions(budget_ms=30.0)))

    def shown() -> CompareView:
        view = fresh()
        view.show_predictions(columns())
        QApplication.processEvents()
        return view

    new, again = columns(), columns()
    steps: dict[str, tuple[Callable[[], CompareView], Callable[[CompareView], object]]] = {
        "show": (fresh, lambda view: view.show_predictions(new)),
        "show again": (shown, lambda view: view.show_predictions(again)),
        "sort by device": (shown, lambda view: view.table.sort_by("device")),
        "search": (shown, lambda view: view.table.search_box.setText("device 7")),
        "scroll the chart": (shown, lambda view: _scroll(view.chart.rows_plot.scroll_bar)),
        "scroll the table": (shown, lambda view: _scroll(view.table.verticalScrollBar())),
        "copy as CSV": (shown, lambda view: view.table.copy_as_csv()),
    }
    return [
        figure
        for what, (prepare, step) in steps.items()
        for figure in _step(f"{len(rows)} predictions: {what}", prepare, step, repeats)
    ]


def _operator_figures(table: OperatorTable, repeats: int) -> list[Figure]:
    def fresh() -> OperatorsView:
        return _opened(OperatorsView(ViewOptions()))

    def shown() -> OperatorsView:
        view = fresh()
        view.show_table(table)
        QApplication.processEvents()
        return view

    steps: dict[str, tuple[Callable[[], OperatorsView], Callable[[OperatorsView], object]]] = {
        "show": (fresh, lambda view: view.show_table(table)),
        "first sort by name": (shown, lambda view: view.table.sort_by("name")),
        "first search": (shown, lambda view: view.table.search_box.setText("conv 12")),
        "scroll": (shown, lambda view: _scroll(view.table.verticalScrollBar())),
        "copy as CSV": (shown, lambda view: view.table.copy_as_csv()),
    }
    return [
        figure
        for what, (prepare, step) in steps.items()
        for figure in _step(f"{len(table.names)} operators: {what}", prepare, step, repeats)
    ]


def _step(
    what: str, prepare: Callable[[], View], step: Callable[[View], object], repeats: int
) -> list[Figure]:
    """Return the usual time of a step, and of the longest turn of the event loop that follows.

    That turn lays out and paints what the step asks for; work that goes on piece by piece takes
    more than one turn.
    """
    stepped, painted = [], []
    for _ in range(repeats):
        view = prepare()
        started = time.thread_time()
        step(view)
        stepped.append(time.thread_time() - started)
        turns = [_turn()]
        while view.findChildren(QTimer, "turns"):
            turns.append(_turn())
        painted.append(max(turns))
        view.close()
        view.deleteLater()
        QApplication.processEvents()
    return [
        _figure(what, median(stepped)),
        _figure(f"{what}, longest turn after it", median(painted)),
    ]


def _turn() -> float:
    """Run one turn of the event loop and return how long it took, in seconds."""
    started = time.thread_time()
    QApplication.processEvents()
    return time.thread_time() - started


def _figure(what: str, seconds: float) -> Figure:
    return Figure(what, seconds * 1e3, "ms", STALL_LIMIT_MS, "our target")


def _opened(view: View) -> View:
    view.resize(1200, 800)
    view.show()
    QApplication.processEvents()
    return view


def _scroll(bar: QScrollBar) -> None:
    bar.setValue(bar.maximum() // 2)


def _predictions(count: int) -> list[PredictionRow]:
    """Return predictions of as many models as it takes on at most a thousand targets."""
    targets = min(count, _TARGETS)
    random = np.random.default_rng(0)
    latency_ms = random.lognormal(3.0, 1.5, count)
    return [
        _prediction(f"device {index % targets}", f"model {index // targets}", float(latency))
        for index, latency in enumerate(latency_ms)
    ]


def _prediction(device: str, model: str, latency_ms: float) -> PredictionRow:
    prediction = Prediction(
        model=f"{model}.onnx",
        fingerprint="0" * 64,
        device_id=device,
        configuration=Configuration("onnxruntime", Precision.FP32, 4, 1),
        engine="roofline",
        basis=Basis.ANALYTIC,
        latency_ms=latency_ms,
        bound_ms=latency_ms / 2,
    )
    return PredictionRow(
        prediction=prediction, device_name=device, model_label=model, vendor="Maker", family="gpu"
    )


def _operators(count: int) -> OperatorTable:
    random = np.random.default_rng(0)
    latency_ms = random.lognormal(-3.0, 1.0, count)
    counts = random.integers(1, 10**9, count)
    types = tuple(_TYPES[index % len(_TYPES)] for index in range(count))
    return OperatorTable(
        names=tuple(f"/layer_{i // 7}/block.{i % 7}/{kind}_{i}" for i, kind in enumerate(types)),
        op_types=types,
        output_shapes=((1, 64, 56, 56),) * count,
        macs=counts,
        bytes_moved=counts,
        weight_bytes=counts,
        latency_ms=latency_ms,
        share=latency_ms / latency_ms.sum(),
        compute_ms=latency_ms,
        memory_ms=latency_ms / 2,
        launch_ms=latency_ms * 0,
        bound_type=("compute",) * count,
        flags=("",) * count,
        edges=np.zeros((2, 0), dtype=np.int32),
    )


if __name__ == "__main__":
    sys.exit(main())
