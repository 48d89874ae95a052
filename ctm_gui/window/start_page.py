"""Pages shown while no model is open: ways to begin, and the purpose of a page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ctm_gui.language.presenter import LanguagePresenter
from ctm_gui.models.shelf import ModelShelf
from ctm_gui.widgets.basic import STRETCH, CurrentPages, Part, button, fill, hbox, label, vbox
from ctm_gui.window.pages import Page, WorksOn
from predictor.core.resources import resources_dir

# The shipped models, the lightest first: file, usual name, what it is for.
_SAMPLES = (
    ("mobilenetv2-1.0-224", "MobileNetV2", "classifies images of 224 × 224; light, for phones"),
    ("yolov3-tiny-416", "YOLOv3-tiny", "finds objects in images of 416 × 416"),
    ("distilbert-base", "DistilBERT", "reads text; batch and length are open and can be set"),
)
_SAMPLE = ("MobileNetV2", "mobilenetv2-1.0-224.onnx")
# Usual name and file of the sample that a page is tried with.
_SAMPLE_OF = {
    WorksOn.MODELS: _SAMPLE,
    WorksOn.LANGUAGE_MODELS: ("Qwen3 1.7B", "qwen3-1.7b.json"),
    WorksOn.EITHER: _SAMPLE,
}
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


class _MiddlePage(QScrollArea):
    """A column of sentences and buttons in the middle of a page.

    Args:
        name: for screen readers.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setProperty("role", "page")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(name)
        self._page = QWidget()

    def minimumSizeHint(self) -> QSize:
        """Return a width in which no sentence is cut: panels give way to it."""
        content, bar = self._page.minimumSizeHint(), self.verticalScrollBar().sizeHint()
        return QSize(content.width() + bar.width(), super().minimumSizeHint().height())

    def _show(self, parts: Sequence[Part]) -> None:
        body = QWidget()
        body.setMaximumWidth(_WIDTH_PX)
        column = fill(QVBoxLayout(body), *parts, spacing=12)
        # A little above the middle.
        column.insertStretch(0, 2)
        column.addStretch(3)
        fill(QHBoxLayout(self._page), STRETCH, (body, 20), STRETCH)
        self.setWidget(self._page)


class StartPage(_MiddlePage):
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
        super().__init__("Start")
        self.open_button = button("Open Models…", "Ctrl+O", self.open_requested.emit)
        self.folder_button = button("Open a Folder…", "Ctrl+Shift+O", self.folder_requested.emit)
        self.help_button = button("How to Begin", "F1", self.help_requested.emit)
        parts = (
            label("Drop a model on this window", "title"),
            label(_STEPS, "muted"),
            hbox(self.open_button, self.folder_button, self.help_button, STRETCH),
            16,
            label("Or try a model that ships with the program", "heading"),
            self._build_samples(),
            8,
            self._build_guide(),
        )
        self._show(parts)

    def _build_guide(self) -> QWidget:
        self.guide = QWidget()
        close = button("Hide", act=self._close_guide, name="Hide the first minute")
        heading = hbox(label("Your first minute", "heading"), STRETCH, close)
        acts = (self.machine_requested, self.targets_requested, self.probe_requested)
        steps = [button(title, act=act.emit) for (title, _), act in zip(_GUIDE, acts, strict=True)]
        self.guide_buttons = [close, *steps]
        rows = _with_words(steps, [words for _, words in _GUIDE])
        vbox(heading, rows, of=self.guide, margins=0, spacing=8)
        return self.guide

    def _close_guide(self) -> None:
        self.guide.hide()
        self.guide_closed.emit()

    def _build_samples(self) -> QGridLayout:
        paths = [str(resources_dir() / "samples" / f"{name}.onnx") for name, _, _ in _SAMPLES]
        self.sample_buttons = [
            button(title, act=partial(self.samples_chosen.emit, [path]))
            for (_, title, _), path in zip(_SAMPLES, paths, strict=True)
        ]
        grid = _with_words(self.sample_buttons, [words for _, _, words in _SAMPLES])
        self.all_button = button("Compare All Three", act=partial(self.samples_chosen.emit, paths))
        grid.addWidget(self.all_button, len(paths), 0)
        return grid


def _with_words(parts: Sequence[QWidget], words: Sequence[str]) -> QGridLayout:
    """Return a row for each part, with words on it at its right."""
    grid = QGridLayout()
    grid.setHorizontalSpacing(12)
    grid.setColumnStretch(1, 1)
    for row, (part, text) in enumerate(zip(parts, words, strict=True)):
        part.setAccessibleDescription(text)
        grid.addWidget(part, row, 0)
        grid.addWidget(label(text, "muted"), row, 1)
    return grid


class PurposePage(_MiddlePage):
    """The purpose of a page in one sentence, shown in its place until a model for it is open.

    Signals:
        open_requested: the user asks for the dialog of files.
        sample_chosen: paths of a shipped model to open.

    Args:
        page: has a purpose.
    """

    open_requested = Signal()
    sample_chosen = Signal(object)

    def __init__(self, page: Page) -> None:
        title = page.text.replace("&", "") or page.title
        super().__init__(title)
        name, file = _SAMPLE_OF[page.works_on]
        paths = [str(resources_dir() / "samples" / file)]
        self.open_button = button("Open Models…", "Ctrl+O", self.open_requested.emit)
        self.sample_button = button(
            f"Try {name}",
            "A model that ships with the program",
            partial(self.sample_chosen.emit, paths),
        )
        titles = [label(part.text.replace("&", ""), "heading", wraps=False) for part in page.parts]
        parts = _with_words(titles, [f"{part.tip}." for part in page.parts])
        buttons = hbox(self.open_button, self.sample_button, STRETCH)
        self._show([label(title, "title"), label(page.purpose, "muted"), buttons, 8, parts])


class UntilOpened(CurrentPages):
    """Shows a first page until a model of the right kind is open, then the view on it.

    Args:
        first: the page.
        works_on: kind of model that must be open for the view.
        shelf: of the models.
        language: of the language models.
    """

    def __init__(
        self,
        first: QWidget,
        works_on: WorksOn,
        shelf: ModelShelf,
        language: LanguagePresenter,
    ) -> None:
        super().__init__()
        self._first, self._works_on = first, works_on
        self._shelf, self._language = shelf, language
        self._other: QWidget | None = None
        self.addWidget(first)
        shelf.inserted.connect(self._follow)
        shelf.removed.connect(self._follow)
        language.state_changed.connect(self._follow)

    def set_other(self, other: QWidget) -> None:
        """Set the view that is shown once a model is open."""
        self._other = other
        if self.indexOf(other) < 0:
            self.addWidget(other)
        self._follow()

    def _follow(self, *_: object) -> None:
        opened = {
            WorksOn.MODELS: bool(self._shelf.entries),
            WorksOn.LANGUAGE_MODELS: bool(self._language.state.entries),
        }
        opened[WorksOn.EITHER] = any(opened.values())
        other = self._other if opened[self._works_on] else None
        self.setCurrentWidget(other or self._first)


class FirstView(UntilOpened):
    """The first page of the window: ways to begin, then the comparison.

    Attributes:
        start: the ways to begin.
    """

    def __init__(self, shelf: ModelShelf, language: LanguagePresenter) -> None:
        self.start = StartPage()
        super().__init__(self.start, WorksOn.EITHER, shelf, language)
