"""On a screen of high density, what is painted ahead and kept is as sharp as the rest."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# A page of stripes, each as wide as one pixel of the screen: smoothed, they would all be grey.
STRIPES = """
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from ctm_gui.report.marks import Box, Page, PageSize, Pages
from ctm_gui.report.preview import PagePreview
from ctm_gui.widgets.view_options import ViewOptions

app = QApplication([])
preview = PagePreview(ViewOptions())
preview.resize(460, 300)
preview.show()
density = preview.devicePixelRatioF()
size = PageSize.A4
preview.show_pages(Pages("blank", size, (Page(()),)))
app.processEvents()
wide_px = round(preview._page_px().width() * density)
step = size.width / wide_px
stripes = [Box(2 * n * step, 0, step, size.height, "#000000") for n in range(wide_px // 2)]
preview.show_pages(Pages("stripes", size, (Page(tuple(stripes)),)))
app.processEvents()
while not preview.images.settled:
    QTest.qWait(5)
shown = preview.viewport().grab().toImage()
row, left = shown.height() // 2, shown.width() // 2
colours = [QColor(shown.pixel(left + n, row)).red() for n in range(40)]
print(density, min(abs(one - other) for one, other in zip(colours, colours[1:])) > 250)
preview.images.close()
"""

# pyqtgraph keeps pictures of the symbols of a plot.
SYMBOLS = """
from PySide6.QtWidgets import QApplication
from ctm_gui.probing.plots import SamplesPlot
from ctm_gui.widgets.view_options import ViewOptions

app = QApplication([])
plot = SamplesPlot(ViewOptions())
plot.resize(300, 200)
plot.show()
curve = plot._curves[0]
curve.setData([1.0, 2.0], [1.0, 2.0])
plot.grab()
atlas = curve.scatter.fragmentAtlas
print(plot.devicePixelRatioF(), atlas.devicePixelRatio())
"""


def said(program: str, factor: str) -> str:
    """Run a program in a process of its own: the factor is read when Qt starts."""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": factor},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@pytest.mark.parametrize("factor", ["1", "2"])
def test_a_page_of_the_preview_has_each_pixel_of_the_screen(factor: str) -> None:
    assert said(STRIPES, factor) == f"{float(factor)} True"


def test_symbols_of_plots_are_kept_in_the_density_of_the_screen() -> None:
    assert said(SYMBOLS, "2") == "2.0 2.0"
