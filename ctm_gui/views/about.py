"""The About box: what the program is, and its version."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget


def show_about(parent: QWidget) -> QMessageBox:
    """Show the box without blocking the window."""
    # Not before it is asked for: it reads what is installed.
    from ctm_gui.system_information import versions  # noqa: PLC0415

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
