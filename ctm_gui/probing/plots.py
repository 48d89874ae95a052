"""The two plots of the wizard: coverage of a plan, and samples as they come."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt

from ctm_gui.probing.progress import SampleTrace
from ctm_gui.widgets.axes import ValueAxis, colour_axes, show_axes
from ctm_gui.widgets.canvas import without_export
from ctm_gui.widgets.theme_change import follow_theme
from ctm_gui.widgets.view_options import ViewOptions
from predictor.services.probing.plan import Coverage

MAX_POINTS = 800
_SYMBOLS = ("o", "t", "s")
_MIN_HEIGHT_PX = 150


class _Plot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """A plot in the theme's colours, without pyqtgraph's own zooming and menus.

    Args:
        options: the theme.
        name: for screen readers.
    """

    def __init__(self, options: ViewOptions, name: str) -> None:
        super().__init__(axisItems={"left": ValueAxis("left")}, enableMenu=False)
        self.hideButtons()
        self.setAntialiasing(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plotItem.layout.setContentsMargins(4, 8, 8, 6)
        self.plotItem.vb.setMouseEnabled(x=False, y=False)
        without_export(self.scene())
        self._options = options
        self.setAccessibleName(name)
        self.setMinimumHeight(_MIN_HEIGHT_PX)

    def _draw(self) -> None:
        self.setBackground(self._options.theme.surface)
        colour_axes(self.plotItem, self._options.theme)
        self.paint_again()

    def paint_again(self) -> None:
        """Draw the data in the present colours."""


class CoveragePlot(_Plot):
    """All candidates by estimated latency, the chosen ones marked."""

    def __init__(self, options: ViewOptions) -> None:
        super().__init__(options, "Coverage of the plan")
        self._coverage: Coverage | None = None
        self.plotItem.setLogMode(y=True)
        self.plotItem.setLabel("left", "Estimated latency (ms)")
        self.plotItem.setLabel("bottom", "Reference networks by estimated latency")
        follow_theme(self, options, self._draw)

    def show_coverage(self, coverage: Coverage | None) -> None:
        """Show the chosen networks of a plan among all candidates."""
        self._coverage = coverage
        chosen = 0 if coverage is None else int(coverage.chosen.sum())
        count = 0 if coverage is None else len(coverage.names)
        self.setAccessibleDescription(
            f"{chosen} of {count} networks are chosen; the table says which."
        )
        self.paint_again()

    def paint_again(self) -> None:
        """Draw every candidate."""
        self.clear()
        show_axes(self.plotItem, has_data=self._coverage is not None)
        if self._coverage is None:
            return
        coverage, theme = self._coverage, self._options.theme
        displayed_ms = np.where(
            np.isnan(coverage.expected_ms), coverage.middle_ms, coverage.expected_ms
        )
        order = np.argsort(displayed_ms, kind="stable")
        place = np.arange(1.0, order.size + 1)
        self.plot(
            # Two points a segment for connect="pairs": one curve is faster than a line item each.
            np.repeat(place, 2),
            np.stack([coverage.low_ms[order], coverage.high_ms[order]], axis=1).ravel(),
            connect="pairs",
            pen=pg.mkPen(theme.grid, width=2),
        )
        chosen = coverage.chosen[order]
        for mask, symbol, size, colour in (
            (~chosen, "o", 4, theme.muted),
            (chosen, "d", 11, theme.series[1]),
        ):
            self.plot(
                place[mask],
                displayed_ms[order][mask],
                pen=None,
                symbol=symbol,
                symbolSize=size,
                symbolBrush=colour,
                symbolPen=None,
            )


class SamplesPlot(_Plot):
    """Every run of the network that is measured, block by block.

    Attributes:
        has_data: whether there is any yet.

    Args:
        options: the theme.
    """

    def __init__(self, options: ViewOptions) -> None:
        super().__init__(options, "Samples of the network that is measured")
        self.plotItem.setLabel("left", "One run (ms)")
        self.plotItem.setLabel("bottom", "Run (block 1 circles, 2 triangles, 3 squares)")
        self._curves = [
            self.plot([], [], pen=None, symbol=symbol, symbolSize=5, symbolPen=None)
            for symbol in _SYMBOLS
        ]
        self.has_data = False
        show_axes(self.plotItem, has_data=False)
        follow_theme(self, options, self._draw)

    def show_trace(self, trace: SampleTrace) -> None:
        """Show the samples that have come so far."""
        # Blocks count from 1 in a session.
        blocks = [trace.points(number, MAX_POINTS) for number in range(1, len(_SYMBOLS) + 1)]
        for curve, points in zip(self._curves, blocks, strict=True):
            curve.setData(*points)
        self.has_data = any(len(runs) for runs, _ in blocks)
        show_axes(self.plotItem, has_data=self.has_data)

    def paint_again(self) -> None:
        """Colour the blocks."""
        for curve, colour in zip(self._curves, self._options.theme.series, strict=False):
            curve.setSymbolBrush(colour)
