"""Charts of the Python API as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from predictor.core.prediction import Prediction
from predictor.core.records import Target
from predictor.graph.model import Model
from predictor.presentation.svg import bar_chart_svg
from predictor.services.report.comparison import latency_chart
from predictor.services.report.request import ReportRequest, labelled


def latencies_svg(
    models: Sequence[Model],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    budget_ms: float | None,
) -> str:
    """Return the chart of reports: latencies with their 80 % intervals, the fastest first.

    Args:
        models: at least one.
        targets: at least one.
        predictions: one a pair, all targets of the first model first.
        budget_ms: a line of the chart; None for none.
    """
    request = ReportRequest(
        models=labelled(models),
        targets=tuple(targets),
        predictions=tuple(predictions),
        explain=_no_table,
        created=datetime.now(UTC),
        budget_ms=budget_ms,
    )
    return bar_chart_svg(latency_chart(request))


def _no_table(*_: object) -> Any:
    raise AssertionError("a chart of latencies needs no operators")
