"""The About box: what the program is, and the versions that a bug report needs."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget

from predictor import __version__

_PACKAGES = ("PySide6-Essentials", "pyqtgraph", "numpy", "onnx", "onnxruntime", "sqlite-utils")


def versions() -> str:
    """Return one line a component: ours, Python, the system, the libraries."""
    lines = [
        f"CloserToMe {__version__}",
        f"Python {platform.python_version()}",
        f"{platform.system()} {platform.release()} {platform.machine()}",
    ]
    for package in _PACKAGES:
        try:
            lines.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            lines.append(f"{package} unknown")
    return "\n".join(lines)


def show_about(parent: QWidget) -> QMessageBox:
    """Show the box without blocking the window."""
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle("About CloserToMe")
    box.setText("Predicts how fast an ONNX model will run on hardware that is not on your desk.")
    box.setInformativeText(versions())
    copy = box.addButton("Copy Versions", QMessageBox.ButtonRole.ActionRole)
    copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(versions()))
    box.setStandardButtons(QMessageBox.StandardButton.Close)
    box.open()
    return box
