"""The ground of a plot: axes around a view box, without pyqtgraph's own menus and buttons.

pyqtgraph's ``PlotWidget`` makes some forty widgets of a menu for each plot, which is most of the
time that it takes to be made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsItem, QToolTip, QWidget

from ctm_gui.widgets.tooltips import as_tooltip

# Row and column of the parts, as pyqtgraph's own plots have them.
_BOX: Final = (2, 1)
_PLACES: Final[Mapping[str, tuple[int, int]]] = {"top": (1, 1), "bottom": (3, 1), "left": (2, 0)}
_BOX_STRETCH: Final = 100  # the axes take no more room than they need


def without_export(scene: pg.GraphicsScene) -> None:
    """Remove pyqtgraph's "Export…", which needs a click that plots never get; ours is a button."""
    for action in scene.contextMenu:
        action.deleteLater()
    scene.contextMenu = []


class Canvas(pg.GraphicsView):  # type: ignore[misc]  # pyqtgraph has no types
    """A plot within a widget, which has the keys, with tooltips of its own.

    Args:
        owner: the widget around it.
        tooltip: returns the tooltip of a pixel, plain text.
        axes: axis items by side, ``left``, ``bottom`` and ``top``.
        margins_px: left, top, right and bottom.
    """

    def __init__(
        self,
        owner: QWidget,
        tooltip: Callable[[QPoint], str],
        axes: Mapping[str, pg.AxisItem],
        margins_px: tuple[int, int, int, int],
    ) -> None:
        super().__init__(owner)
        self._tooltip, self._axes = tooltip, axes
        self._frame = pg.GraphicsWidget()
        self._box = pg.ViewBox(parent=self._frame, enableMenu=False)
        self._arrange(margins_px)
        self.setCentralItem(self._frame)
        self.setAntialiasing(True)
        self._box.setMouseEnabled(x=False, y=False)
        self._box.setDefaultPadding(0)
        # A click must not take the focus from the widget around it.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setFocusPolicy(Qt.FocusPolicy.NoFocus)
        without_export(self.scene())

    def getAxis(self, side: str) -> pg.AxisItem:
        """Return the axis of a side."""
        return self._axes[side]

    def getViewBox(self) -> pg.ViewBox:
        """Return what is between the axes."""
        return self._box

    def setLabel(self, side: str, text: str) -> None:
        """Write beside an axis what it measures."""
        self._axes[side].setLabel(text)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = self._tooltip(event.pos())
            QToolTip.showText(event.globalPos(), as_tooltip(text) if text else "", self)
            return True
        return bool(super().viewportEvent(event))

    def _arrange(self, margins_px: tuple[int, int, int, int]) -> None:
        layout = QGraphicsGridLayout()
        layout.setContentsMargins(*margins_px)
        layout.setSpacing(0)
        self._frame.setLayout(layout)
        layout.addItem(self._box, *_BOX)
        for side, axis in self._axes.items():
            axis.setParentItem(self._frame)
            axis.linkToView(self._box)
            layout.addItem(axis, *_PLACES[side])
            axis.setZValue(0.5)  # over images
            axis.setFlag(QGraphicsItem.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
        layout.setRowStretchFactor(_BOX[0], _BOX_STRETCH)
        layout.setColumnStretchFactor(_BOX[1], _BOX_STRETCH)
