"""The diagram of a load: what is written of stages and units in the room that they have."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetrics
from pytestqt.qtbot import QtBot

from ctm_gui.loads.flow_plot import FlowPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.loads.boxes import named_box
from predictor.services.loads.load_file import load_of_tables
from predictor.services.loads.records import Load

_BOX = named_box("jetson-orin-nx-16gb", load_catalogue())


def _load(stages: int) -> Load:
    names = [f"stage {place}" for place in range(stages)]
    tables = [{"name": name, "model": "a.onnx", "unit": "gpu"} for name in names]
    return load_of_tables({"stream": [{"name": "camera", "rate": 5, "stage": tables}]})


@pytest.mark.parametrize("stages", [1, 3, 5])
@pytest.mark.parametrize("width", [350, 470, 900])
def test_stages_leave_room_for_their_arrows_and_the_units(
    qtbot: QtBot, options: ViewOptions, stages: int, width: int
) -> None:
    plot = FlowPlot(options)
    qtbot.addWidget(plot)
    plot.show_load(_load(stages), _BOX, None)
    plot.resize(max(width, plot.minimumSizeHint().width()), 200)

    rects = [plot.stage_rect(stage) for stage in plot.stages]
    units = plot.unit_rect(0)
    for left, right in itertools.pairwise(rects):
        assert right.left() - left.right() >= 10
    assert all(rect.width() >= 60 for rect in rects)
    assert rects[-1].right() < units.left()
    assert units.width() >= 95
    assert units.right() <= plot.width()


def test_the_first_text_that_fits_is_written(qtbot: QtBot, options: ViewOptions) -> None:
    plot = FlowPlot(options)
    qtbot.addWidget(plot)
    written: list[str] = []
    metrics = QFontMetrics(plot.font())

    class Recorder:
        @staticmethod
        def fontMetrics() -> QFontMetrics:  # noqa: N802 - Qt's name
            return metrics

        @staticmethod
        def drawText(_room: QRectF, _flags: object, text: str) -> None:  # noqa: N802
            written.append(text)

    texts = "gpu: 42 % (29 to 67 %)", "gpu: 42 %"
    for width in (400, metrics.horizontalAdvance(texts[1]) + 1, 12):
        plot.write(Recorder(), QRectF(0, 0, width, 20), *texts)  # type: ignore[arg-type]
    assert written[:2] == [*texts]
    assert written[2].endswith("…")
