"""What every plot of the window has, and has not."""

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from ctm_gui.probing.plots import SamplesPlot
from ctm_gui.widgets.canvas import Canvas
from ctm_gui.widgets.view_options import ViewOptions


@pytest.mark.parametrize(
    "make",
    [
        lambda owner: Canvas(owner, lambda _: "", {}, (0, 0, 0, 0)),
        lambda _: SamplesPlot(ViewOptions()),
    ],
    ids=["canvas", "samples"],
)
def test_a_plot_offers_no_export_of_pyqtgraphs_own(qtbot, make):
    owner = QWidget()
    plot = make(owner)
    qtbot.addWidget(plot)

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    assert [action.text() for action in plot.scene().findChildren(QAction)] == []
