"""The first tab: ways to begin while there is no model, the comparison from then on."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ctm_gui.language.presenter import LanguagePresenter
from ctm_gui.models.shelf import ModelShelf
from ctm_gui.widgets.basic import STRETCH, CurrentPages, button, fill, hbox, label, vbox
from predictor.core.resources import resources_dir

# The shipped models, the lightest first: file, usual name, what it is for.
_SAMPLES = (
    ("mobilenetv2-1.0-224", "MobileNetV2", "classifies images of 224 × 224; light, for phones"),
    ("yolov3-tiny-416", "YOLOv3-tiny", "finds objects in images of 416 × 416"),
    ("distilbert-base", "DistilBERT", "reads text; batch and length are open and can be set"),
)
# The steps of the guide: button, and what comes of it.
_GUIDE = (
    ("See This PC", "its hardware; ticked, it is the first of the targets"),
    ("Tick Hardware", "search the catalogue and tick where the model is to run"),
    ("Probe a Device…", "a minute of measuring narrows the intervals of a device"),
)
_WIDTH_PX = 620
_STEPS = (
    "CloserToMe says how fast it will run on the targets that are ticked at the left: the latency, "
    "why, and how sure that is. Nothing leaves this machine."
)


class StartPage(QScrollArea):
    """Ways to begin.

    Signals:
        open_requested, folder_requested, help_requested: the user asks for a dialog or for help.
        machine_requested, targets_requested, probe_requested: a step of the guide.
        guide_closed: the user needs the guide no more.
        samples_chosen: paths of shipped models to open.
    """

    open_requested = Signal()
    folder_requested = Signal()
    help_requested = Signal()
    machine_requested = Signal()
    targets_requested = Signal()
    probe_requested = Signal()
    guide_closed = Signal()
    samples_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setProperty("role", "page")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Start")
        self.open_button = button("Open Models…", "Ctrl+O", self.open_requested.emit)
        self.folder_button = button("Open a Folder…", "Ctrl+Shift+O", self.folder_requested.emit)
        self.help_button = button("How to Begin", "F1", self.help_requested.emit)
        self.sample_buttons: list[QPushButton] = []
        self._page = self._build()
        self.setWidget(self._page)

    def minimumSizeHint(self) -> QSize:
        """Return a width in which no sentence is cut: panels give way to it."""
        content, bar = self._page.minimumSizeHint(), self.verticalScrollBar().sizeHint()
        return QSize(content.width() + bar.width(), super().minimumSizeHint().height())

    def _build(self) -> QWidget:
        body, page = QWidget(), QWidget()
        body.setMaximumWidth(_WIDTH_PX)
        column = fill(
            QVBoxLayout(body),
            label("Drop a model on this window", "title"),
            label(_STEPS, "muted"),
            hbox(self.open_button, self.folder_button, self.help_button, STRETCH),
            16,
            label("Or try a model that ships with the program", "heading"),
            self._build_samples(),
            8,
            self._build_guide(),
            spacing=12,
        )
        # A little above the middle.
        column.insertStretch(0, 2)
        column.addStretch(3)
        fill(QHBoxLayout(page), STRETCH, (body, 20), STRETCH)
        return page

    def _build_guide(self) -> QWidget:
        self.guide = QWidget()
        close = button("Hide", act=self._close_guide, name="Hide the first minute")
        heading = hbox(label("Your first minute", "heading"), STRETCH, close)
        steps = QGridLayout()
        steps.setHorizontalSpacing(12)
        steps.setColumnStretch(1, 1)
        acts = (self.machine_requested, self.targets_requested, self.probe_requested)
        self.guide_buttons = [close]
        for row, ((title, words), act) in enumerate(zip(_GUIDE, acts, strict=True)):
            step = button(title, act=act.emit)
            step.setAccessibleDescription(words)
            self.guide_buttons.append(step)
            steps.addWidget(step, row, 0)
            steps.addWidget(label(words, "muted"), row, 1)
        vbox(heading, steps, of=self.guide, margins=0, spacing=8)
        return self.guide

    def _close_guide(self) -> None:
        self.guide.hide()
        self.guide_closed.emit()

    def _build_samples(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setColumnStretch(1, 1)
        paths = []
        for row, (name, title, words) in enumerate(_SAMPLES):
            path = str(resources_dir() / "samples" / f"{name}.onnx")
            sample = button(title, act=partial(self.samples_chosen.emit, [path]))
            sample.setAccessibleDescription(words)
            self.sample_buttons.append(sample)
            grid.addWidget(sample, row, 0)
            grid.addWidget(label(words, "muted"), row, 1)
            paths.append(path)
        self.all_button = button("Compare All Three", act=partial(self.samples_chosen.emit, paths))
        grid.addWidget(self.all_button, len(paths), 0)
        return grid


class FirstView(CurrentPages):
    """Shows ``start`` or, once it is there, another view, by whether there are models."""

    def __init__(self, shelf: ModelShelf, language: LanguagePresenter) -> None:
        super().__init__()
        self.start = StartPage()
        self._shelf, self._language = shelf, language
        self._other: QWidget | None = None
        self.addWidget(self.start)
        shelf.inserted.connect(self._follow)
        shelf.removed.connect(self._follow)
        language.state_changed.connect(self._follow)

    def set_other(self, other: QWidget) -> None:
        """Give the view that is shown while there are models."""
        self._other = other
        if self.indexOf(other) < 0:
            self.addWidget(other)
        self._follow()

    def _follow(self, *_: object) -> None:
        other, has_models = self._other, self._shelf.entries or self._language.state.entries
        self.setCurrentWidget(other if has_models and other else self.start)
