"""What every plot of the window has, and has not."""

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QAction

from ctm_gui.widgets.plots import StillPlot


def test_a_plot_offers_no_export_of_pyqtgraphs_own(qtbot):
    plot = StillPlot({}, (0, 0, 0, 0))
    qtbot.addWidget(plot)

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    assert [action.text() for action in plot.scene().findChildren(QAction)] == []
