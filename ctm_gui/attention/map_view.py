"""The maps of attention: operators by metrics in both directions, over the same rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from ctm_gui.attention.map import Cell, MapLayout
from ctm_gui.attention.map_items import ColourBars, MapState, MetricNames, RowNames, heat_table
from ctm_gui.widgets.axes import PixelItem
from ctm_gui.widgets.basic import vbox
from ctm_gui.widgets.plots import RowPlot
from ctm_gui.widgets.theme_change import follow_theme
from ctm_gui.widgets.view_options import ViewOptions

_NAMES_PX, _NAMES_SHARE = 230, 5  # at most, and as many times as wide is the plot
_EXPORT_WIDTH_PX = 1200
_WITH_BARS_PX = 200  # height from which there is room for the colour bars under four rows
# Viewers of SVG smooth what they enlarge: a saved cell is made of this many pixels.
_SAVED_CELL_PX = 16


class AttentionMap(QWidget):
    """Two heat maps side by side, a row of fixed height an operator or type.

    Signals:
        cell_chosen: the user chose a cell by mouse or keys; the Cell.
        row_activated: Enter or a double click on a row; its row in the data.

    Args:
        options: the theme.
    """

    cell_chosen = Signal(object)
    row_activated = Signal(int)

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._state = MapState(self.font(), options)
        self._names, self._metrics = RowNames(self._state), MetricNames(self._state)
        self._bars = ColourBars(self._state)
        axes = {"left": self._names, "top": self._metrics, "bottom": self._bars}
        self.rows_plot = RowPlot(options, axes, self)
        self.rows_plot.tooltip_at = self._tooltip
        self.images = tuple(pg.ImageItem(axisOrder="row-major") for _ in range(2))
        for image in self.images:
            self.rows_plot.box.addItem(image, ignoreBounds=True)
        self._repeats = (1, 1)
        # Scrolling changes the range of y, and only rows in view are in the images.
        self.rows_plot.box.sigYRangeChanged.connect(self._show_images)
        self._marks = PixelItem(self.rows_plot.box, self._paint_marks)
        vbox(self.rows_plot, of=self, margins=0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Maps of attention")
        self.rows_plot.clicked.connect(self._clicked)
        self.rows_plot.double_clicked.connect(self._double_clicked)
        follow_theme(self, options, self._colour_images)

    def show_layout(self, layout: MapLayout) -> None:
        """Show the rows of ``layout``."""
        self._state.layout = layout
        self._colour_images()
        self._metrics.fit()
        self.rows_plot.box.setXRange(0, layout.columns, padding=0)
        self.rows_plot.set_content_height(layout.height_px)
        self._show_images()
        self.setAccessibleDescription(
            f"{layout.order.size} rows, {layout.metrics} metrics; the table below says the same."
        )
        self._repaint()

    def show_nothing(self) -> None:
        """Let go of the rows."""
        self._state.layout = self._state.cell = None
        for image in self.images:
            image.clear()

    def select_rows(self, rows: Iterable[int], current: int | None) -> None:
        """Mark rows as selected; the cursor goes to the current one and comes into view."""
        state = self._state
        state.selected = frozenset(int(row) for row in rows)
        if current is None:
            state.cell = None
        elif state.cell is None or state.cell.row != current:
            column = state.cell or Cell(current, 0, backward=False)
            state.cell = Cell(current, column.metric, column.backward)
        self._reveal()
        self._repaint()

    def choose(self, cell: Cell) -> None:
        """Put the cursor on a cell."""
        self._state.cell = cell
        self._reveal()
        self._repaint()

    @property
    def cell(self) -> Cell | None:
        """The cell under the cursor."""
        return self._state.cell

    def save(self, path: Path) -> None:
        """Save the maps, every row of them, as SVG or PNG.

        Raises:
            HostError: the file cannot be written.
        """
        if self._state.layout is None:
            return
        # A copy with room for every row: the visible one keeps its size and its place.
        copy = AttentionMap(self._state.options)
        copy.setFont(self.font())
        copy.resize(max(self.width(), _EXPORT_WIDTH_PX), 400)
        layout = self._state.layout.full()
        copy._repeats = (layout.row_px, _SAVED_CELL_PX)
        copy.show_layout(layout)
        title = "Attention between operators and metrics"
        copy.rows_plot.save_rows(copy, layout.height_px, path, title)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._names.setWidth(min(_NAMES_PX, self.width() // _NAMES_SHARE))
        # In a low strip the rows are more than their scale: a cell's share is said where it is.
        self._bars.setVisible(self.height() >= _WITH_BARS_PX)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows, Home, End and the page keys move the cursor; Enter activates its row."""
        layout, cell = self._state.layout, self._state.cell
        key = Qt.Key(event.key())
        if layout is None:
            super().keyPressEvent(event)
            return
        if key in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and cell is not None:
            self.row_activated.emit(cell.row)
            return
        across = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(key)
        down = self.rows_plot.row_step(key, layout.row_px, layout.order.size)
        is_step = across is not None or down is not None
        target_cell = layout.stepped(cell, down or 0, across or 0) if is_step else None
        if target_cell is None:
            super().keyPressEvent(event)
        else:
            self.cell_chosen.emit(target_cell)

    def _show_images(self, *_: object) -> None:
        """Give the images the rows in view: a whole map of thousands is slow to paint."""
        layout = self._state.layout
        if layout is None:
            return
        places = layout.places_between(*self.rows_plot.box.viewRange()[1])
        for image, backward in zip(self.images, (False, True), strict=True):
            shares = layout.shares(places, backward=backward)
            # An image without pixels keeps its last ones.
            image.setVisible(shares.size > 0)
            if not shares.size:
                continue
            # [R, M] cells to [R * down, M * across] pixels; both factors are 1 on the screen.
            cells = shares.repeat(self._repeats[0], axis=0).repeat(self._repeats[1], axis=1)
            image.setImage(cells, levels=layout.scale(backward=backward))
            left, top = layout.start(backward=backward), places.start * layout.row_px
            height_px = shares.shape[0] * layout.row_px
            image.setRect(QRectF(left, top, layout.metrics, height_px))

    def _colour_images(self) -> None:
        layout = self._state.layout
        is_signed = layout is not None and layout.summary.is_signed
        table = heat_table(self._state.theme, is_signed=is_signed)
        for image in self.images:
            image.setLookupTable(table)

    def _repaint(self) -> None:
        self._marks.refresh()
        for axis in (self._names, self._metrics, self._bars):
            axis.update()

    def _reveal(self) -> None:
        layout, cell = self._state.layout, self._state.cell
        place = None if layout is None or cell is None else layout.place_of(cell.row)
        if layout is not None and place is not None:
            self.rows_plot.reveal(place * layout.row_px, layout.row_px)

    def _paint_marks(self, painter: QPainter, rect: QRectF) -> None:
        """Frame the selected rows in both maps, and the cell of the cursor."""
        layout = self._state.layout
        if layout is None:
            return
        (left, right), (top, bottom) = self.rows_plot.box.viewRange()
        column_px = rect.width() / (right - left)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._state.theme.accent), 1.0))
        places = layout.places_between(top, bottom)
        for place in range(places.start, places.stop):
            if int(layout.order[place]) in self._state.selected:
                y = place * layout.row_px - top
                for backward in (False, True):
                    x = layout.start(backward=backward) * column_px
                    width = layout.metrics * column_px
                    painter.drawRect(QRectF(x, y, width - 1, layout.row_px - 1))
        self._paint_cursor(painter, layout, top, column_px)

    def _paint_cursor(
        self, painter: QPainter, layout: MapLayout, top: float, column_px: float
    ) -> None:
        cell, theme = self._state.cell, self._state.theme
        place = None if cell is None else layout.place_of(cell.row)
        if cell is None or place is None:
            return
        y = place * layout.row_px - top
        frame = QRectF(layout.x_of(cell) * column_px, y, column_px, layout.row_px)
        # Surface, text, surface: one of the three rings shows on any colour of the map.
        for colour, inset in ((theme.surface, 0.0), (theme.text, 1.0), (theme.surface, 2.0)):
            painter.setPen(QPen(QColor(colour), 1.0))
            painter.drawRect(frame.adjusted(inset, inset, -inset - 1, -inset - 1))

    def _clicked(self, x: float, y: float) -> None:
        cell = None if self._state.layout is None else self._state.layout.cell_at(x, y)
        if cell is not None:
            self.cell_chosen.emit(cell)

    def _double_clicked(self, x: float, y: float) -> None:
        cell = None if self._state.layout is None else self._state.layout.cell_at(x, y)
        if cell is not None:
            self.row_activated.emit(cell.row)

    def _tooltip(self, point: QPointF, on_axis: bool) -> str:
        layout = self._state.layout
        if layout is None:
            return ""
        if on_axis:
            place = layout.place_at(point.y())
            return "" if place is None else layout.rows.label(int(layout.order[place]))
        cell = layout.cell_at(point.x(), point.y())
        return "" if cell is None else layout.sentence(cell)
