"""Bars of a device among the devices of its family; absent metrics are drawn as absent."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from ctm_gui.devices.tables import ProfileRow, profile
from ctm_gui.widgets.axes import AT_LEFT, PixelItem, RowLabels
from ctm_gui.widgets.basic import label, vbox
from ctm_gui.widgets.plots import RowPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.records import Device
from predictor.presentation.metric_labels import FAMILY_WORDS

_ROW_PX = 24
_NAMES_PX = 210
_TICKS = (
    (0, ""),
    (25, "25 %"),
    (50, "median"),
    (75, "75 %"),
    (100, "highest"),
)
# The axis from the lowest to the highest of the family, then room for the value.
_VALUES_SHARE = 100 / 0.62


class DeviceProfile(QWidget):
    """Shows where each metric of a device stands in its family.

    Args:
        options: the theme.
    """

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        self.rows: Sequence[ProfileRow] = ()
        self.title = label(role="muted")
        right = Qt.TextElideMode.ElideRight
        names = RowLabels(_NAMES_PX, _ROW_PX, self, self._names, right, gap_px=10)
        axis = pg.AxisItem("bottom")
        axis.setTicks([_TICKS])
        self.plot = RowPlot(options, {"left": names, "bottom": axis}, self)
        self.plot.box.setXRange(0, _VALUES_SHARE, padding=0)
        self.plot.tooltip_at = self._tooltip
        self._bars = PixelItem(self.plot.box, self._paint)
        self.plot.box.sigRangeChanged.connect(lambda *_: self.plot.canvas.getAxis("left").update())
        vbox(self.title, (self.plot, 1), of=self, margins=8)
        self.setAccessibleName("Profile of the device in its family")

    def show_device(self, device: Device | None, devices: Sequence[Device]) -> None:
        """Show a device among ``devices``."""
        self.rows = () if device is None else profile(device, devices)
        self.plot.set_content_height(_ROW_PX * len(self.rows))
        if device is not None:
            peers = sum(d.family is device.family and d.id != device.id for d in devices)
            self.title.setText(
                f"Where each value stands among those of the other {peers} devices of the "
                f"family {FAMILY_WORDS[device.family]}, as far as they state it."
            )
        self.setAccessibleDescription("; ".join(_describe(row) for row in self.rows))
        self._repaint()

    def _names(self) -> list[tuple[str, str]]:
        theme = self._options.theme
        return [(row.label, theme.muted if row.absent else theme.text) for row in self.rows]

    def _repaint(self) -> None:
        self._bars.refresh()
        self.plot.canvas.getAxis("left").update()

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        top = self.plot.box.viewRange()[1][0]
        full = rect.width() * 100 / _VALUES_SHARE
        painter.setFont(self.font())
        grid = QPen(QColor(self._options.theme.grid))
        painter.setPen(grid)
        for share, _name in _TICKS:
            x = full * share / 100
            painter.drawLine(QPointF(x, 0), QPointF(x, rect.height()))
        for row, part in enumerate(self.rows):
            room = QRectF(0, row * _ROW_PX - top, rect.width(), _ROW_PX)
            self._paint_row(painter, part, room, full)

    def _paint_row(self, painter: QPainter, part: ProfileRow, room: QRectF, full: float) -> None:
        if part.percentile is not None:
            bar = QRectF(0, room.top() + 5, max(full * part.percentile / 100, 2.0), _ROW_PX - 10)
            painter.fillRect(bar, QColor(self._options.theme.series[0]))
        else:
            painter.setPen(QColor(self._options.theme.muted))
            words = "not known" if part.absent else "too few devices to compare"
            painter.drawText(room.adjusted(8, 0, 0, 0), AT_LEFT, words)
        if not part.absent:
            painter.setPen(QColor(self._options.theme.text))
            painter.drawText(room.adjusted(full + 10, 0, 0, 0), AT_LEFT, part.value)

    def _tooltip(self, point: QPointF, _on_axis: bool) -> str:
        row = int(point.y() // _ROW_PX)
        return _describe(self.rows[row]) if 0 <= row < len(self.rows) else ""


def _describe(row: ProfileRow) -> str:
    """Return a row in words."""
    value = "not known" if row.absent else row.value
    lines = [f"{row.label}: {value}"]
    if row.percentile is not None:
        lines.append(f"at or above {row.percentile:.0f} % of {row.peers} others")
    if row.range_text:
        lines.append(f"the others: {row.range_text}")
    return "\n".join(lines)
