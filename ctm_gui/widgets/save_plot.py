"""Saving plots as SVG and PNG, and the numbers behind them as CSV.

pyqtgraph's own SVG exporter fails with PySide6, so the scene is painted into Qt's generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pyqtgraph as pg
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize
from PySide6.QtGui import QColor, QImage, QImageWriter, QPainter, QPixmap
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFileDialog, QMessageBox, QPushButton, QWidget

from ctm_gui.tasks.turns import in_turns
from ctm_gui.widgets.basic import button
from predictor.core.errors import HostError
from predictor.core.files import write_bytes, write_text


class Plot(Protocol):
    """A widget that shows a plot."""

    canvas: pg.GraphicsView

    def ensurePolished(self) -> None: ...

    def grab(self) -> QPixmap: ...


_PNG_SCALE = 2.0
# QImage cannot be taller than 32767 pixels.
_TALLEST_PNG_PX = 30_000
SVG, PNG, CSV = "SVG (*.svg)", "PNG (*.png)", "CSV (*.csv)"
_ENDINGS = {SVG: ".svg", PNG: ".png", CSV: ".csv"}


def ask_and_save(
    parent: QWidget, name: str, save: Callable[[Path], None], kinds: Sequence[str] = (SVG, PNG)
) -> None:
    """Ask where to save a plot and in which format, save it, and say so where that fails.

    Args:
        parent: the widget that asks.
        name: the name to propose, without its ending.
        save: saves the plot by the path's ending; may raise HostError.
        kinds: formats to offer.
    """
    chosen, kind = QFileDialog.getSaveFileName(parent, "Save plot", f"{name}.svg", ";;".join(kinds))
    if not chosen:
        return
    path = Path(chosen)
    if path.suffix.lower() not in {_ENDINGS[kind] for kind in kinds}:
        path = path.with_name(f"{path.name}{_ENDINGS.get(kind, '.svg')}")
    try:
        save(path)
    except HostError as error:
        _show_failure(parent, error)


def save_button(
    name: str,
    save: Callable[[Path], None],
    kinds: Sequence[str] = (SVG, PNG),
    *,
    text: str = "Save &Plot…",
    tip: str = "",
) -> QPushButton:
    """Return a button that saves a plot; the arguments are those of ``ask_and_save``."""
    made = button(text, tip, lambda: ask_and_save(made, name, save, kinds))
    return made


def save_table(parent: QWidget, path: Path, parts: Iterator[str]) -> None:
    """Write a table piece by piece, so that the window goes on; say so where that fails.

    Args:
        parent: the widget that the table belongs to.
        path: the file.
        parts: pieces of the text, each made in some milliseconds.
    """
    in_turns(_written(parent, path, parts), parent)


def _written(parent: QWidget, path: Path, parts: Iterator[str]) -> Iterator[None]:
    text = []
    for part in parts:
        text.append(part)
        yield
    try:
        write_text(path, "".join(text), "the table")
    except HostError as error:
        _show_failure(parent, error)


def _show_failure(parent: QWidget, error: HostError) -> None:
    QMessageBox.warning(parent, "The plot was not saved", str(error))


def save_plot(plot: Plot, path: Path, title: str) -> None:
    """Save the content of ``plot`` as SVG or PNG, by the path's ending.

    Args:
        plot: the plot, at the size in which it is to be saved.
        path: a path that ends with ``.svg``, or with anything else for PNG.
        title: title of the SVG document.

    Raises:
        HostError: the file cannot be written.
    """
    plot.ensurePolished()
    plot.grab()  # axes place their labels at the first painting
    is_svg = path.suffix.lower() == ".svg"
    content = _as_svg(plot.canvas, title) if is_svg else _as_png(plot.canvas)
    write_bytes(path, content, "the plot")


def _as_svg(canvas: pg.GraphicsView, title: str) -> bytes:
    size = canvas.viewport().size()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    # Without a view box the file does not scale where it is embedded.
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    generator.setTitle(title)
    painter = QPainter(generator)
    _render(canvas, painter, size)
    painter.end()
    return bytes(buffer.data().data())


def _as_png(canvas: pg.GraphicsView) -> bytes:
    size = canvas.viewport().size()
    scale = min(_PNG_SCALE, _TALLEST_PNG_PX / max(size.height(), 1))
    image = QImage(size * scale, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(scale, scale)
    _render(canvas, painter, size)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def _render(canvas: pg.GraphicsView, painter: QPainter, size: QSize) -> None:
    target = QRectF(0, 0, size.width(), size.height())
    painter.fillRect(target, QColor(canvas.backgroundBrush().color()))
    source = canvas.mapToScene(canvas.viewport().rect()).boundingRect()
    canvas.scene().render(painter, target, source)
