"""Curves of latencies with ends that have no place on a logarithmic axis."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from ctm_gui.loads.latency_plot import LatencyPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.services.loads.answers import SHARES, StreamAnswer
from predictor.services.loads.records import Stream
from predictor.services.serving.records import Between


def answered(
    between: Between, deadline_ms: float | None = None, name: str = "camera"
) -> StreamAnswer:
    return StreamAnswer(
        stream=Stream(line=1, name=name, rate_per_s=1.0, deadline_ms=deadline_ms, stages=()),
        stages=(),
        alone_ms=0.0,
        p50_ms=between,
        p90_ms=between,
        p99_ms=between,
        distribution_ms=(between,) * len(SHARES),
        missed=0.0,
        chance=1.0,
        largest_count=1,
        joules=None,
    )


@pytest.mark.parametrize(
    "between", [Between(0.0, 0.0, 0.0), Between(1.0, 0.0, math.inf), Between(*[math.inf] * 3)]
)
@pytest.mark.parametrize("deadline_ms", [None, 100.0])
def test_times_of_nothing_and_without_an_end_leave_the_axis_finite(
    qtbot: QtBot, options: ViewOptions, between: Between, deadline_ms: float | None
) -> None:
    plot = LatencyPlot(options)
    qtbot.addWidget(plot)
    plot.show()

    plot.show_streams([answered(between, deadline_ms), answered(Between(10.0, 5.0, 20.0))])

    (left, right), _ = plot.canvas.getViewBox().viewRange()
    assert left < math.log10(5.0) < math.log10(20.0) < right
    assert np.isfinite([left, right]).all()
    plot.grab()


@pytest.mark.parametrize("width", [260, 700])
def test_names_stand_over_all_curves(qtbot: QtBot, options: ViewOptions, width: int) -> None:
    plot = LatencyPlot(options)
    qtbot.addWidget(plot)
    plot.resize(width, 240)
    plot.show()
    names = ["camera of the door", "camera of the yard", "questions"]
    plot.show_streams([answered(Between(10.0, 5.0, 20.0), name=name) for name in names])
    plot.grab()

    room = plot.canvas.getViewBox().rect()
    placed = plot.names_px(room.width())
    assert [text for *_, text in placed] == names
    rows = [row for _, row, _ in placed]
    assert rows[0] == 0
    assert rows[-1] == (0 if width > 600 else 2)
    top_of_curves = plot._place(1.0, 100.0).y()
    assert 16 * (rows[-1] + 1) <= top_of_curves < room.height() / 2
    ticks = plot.canvas.getAxis("left").tickValues(-2.0, 140.0, room.height())
    assert max(value for _, values in ticks for value in values) == 100
