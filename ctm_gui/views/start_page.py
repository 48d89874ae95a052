"""What the first view shows while there is no model: how to begin, and three models to try."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ctm_gui.presenters.samples import Sample, samples
from ctm_gui.views.parts import plain_label, push_button

_WIDTH_PX = 620
_STEPS = (
    "CloserToMe says how fast it will run on the targets that are ticked at the left: the latency, "
    "why, and how sure that is. Nothing leaves this machine."
)


class StartPage(QScrollArea):
    """Ways to begin.

    Signals:
        open_requested, folder_requested, help_requested: the user asks for a dialog or for help.
        samples_chosen: paths of shipped models to open.
    """

    open_requested = Signal()
    folder_requested = Signal()
    help_requested = Signal()
    samples_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setProperty("role", "page")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Start")
        self.open_button = push_button("Open Models…", "Ctrl+O")
        self.open_button.clicked.connect(self.open_requested)
        self.folder_button = push_button("Open a Folder…", "Ctrl+Shift+O")
        self.folder_button.clicked.connect(self.folder_requested)
        self.help_button = push_button("How to Begin", "F1")
        self.help_button.clicked.connect(self.help_requested)
        self.sample_buttons: list[QPushButton] = []
        self.all_button = QPushButton("Compare All Three")
        self.setWidget(self._build())

    def _build(self) -> QWidget:
        body, page = QWidget(), QWidget()
        body.setMaximumWidth(_WIDTH_PX)
        column = QVBoxLayout(body)
        column.setSpacing(12)
        column.addStretch(2)
        column.addWidget(plain_label("Drop an ONNX model on this window", "title"))
        column.addWidget(plain_label(_STEPS, "muted"))
        row = QHBoxLayout()
        for button in (self.open_button, self.folder_button, self.help_button):
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        column.addSpacing(16)
        column.addWidget(plain_label("Or try a model that ships with the program", "heading"))
        column.addLayout(self._build_samples(samples()))
        column.addStretch(3)
        centred = QHBoxLayout(page)
        centred.addStretch(1)
        centred.addWidget(body, 20)
        centred.addStretch(1)
        return page

    def _build_samples(self, shipped: Sequence[Sample]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setColumnStretch(1, 1)
        for row, sample in enumerate(shipped):
            button = QPushButton(sample.title)
            button.setAccessibleDescription(sample.words)
            path = str(sample.path)
            button.clicked.connect(lambda _, path=path: self.samples_chosen.emit([path]))
            self.sample_buttons.append(button)
            grid.addWidget(button, row, 0)
            grid.addWidget(plain_label(sample.words, "muted"), row, 1)
        paths = [str(sample.path) for sample in shipped]
        self.all_button.clicked.connect(lambda _: self.samples_chosen.emit(paths))
        grid.addWidget(self.all_button, len(shipped), 0)
        return grid
