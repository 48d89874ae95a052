"""The page of a load: what comes, what it passes, which box runs it, and whether that holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QFileDialog,
    QMenu,
    QProgressBar,
    QSplitter,
    QTabWidget,
    QWidget,
)

from ctm_gui.loads.boxes_view import BoxesView
from ctm_gui.loads.editor_view import SOURCES, LoadEditor
from ctm_gui.loads.fields_view import PlainBox, show_number
from ctm_gui.loads.flow_plot import FlowPlot
from ctm_gui.loads.latency_plot import LatencyPlot
from ctm_gui.loads.presenter import WORKING, LoadPresenter, Problem
from ctm_gui.loads.rows import stage_name
from ctm_gui.loads.work import modes_of
from ctm_gui.widgets.basic import (
    STRETCH,
    ContentOrMessage,
    button,
    combo_box,
    fill_box,
    fill_splitter,
    hbox,
    holder,
    label,
    named,
    note_label,
    scrolled,
    show_note,
    splitter,
    vbox,
)
from ctm_gui.widgets.save_plot import save_button
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.progress import Progress
from predictor.core.records import Device
from predictor.core.text import capitalised
from predictor.presentation.wording import shown
from predictor.services.loads.answers import Answer
from predictor.services.loads.draft import SUFFIX, LoadDraft, bundled_loads
from predictor.services.loads.sentences import headline, sentences

_LETTERS = 18
_LONGEST = 400
_USUAL_MODE = "usual clocks"
_DEVICES, _FILE = "The ticked devices", "A box file…"
_AS_STATED = "as the file has it"
_USUAL_CHANCE = 90
_PROGRESS_PX = 160
_GAP_PX = 8


class LoadView(QWidget):
    """Streams and their stages as tables with a form, the box, and below them the answer.

    Args:
        options: the theme.
        presenter: of the load.
        models: returns names and paths of the open models.
        devices: returns the ticked devices.
    """

    def __init__(
        self,
        options: ViewOptions,
        presenter: LoadPresenter,
        models: Callable[[], Sequence[tuple[str, str]]],
        devices: Callable[[], Sequence[Device]],
    ) -> None:
        super().__init__()
        self._options, self._presenter = options, presenter
        self._models, self._devices = models, devices
        self.editor = LoadEditor(presenter, models)
        self.is_built = False

    def build(self) -> Iterator[None]:
        """Make the parts, some between two ``yield``, from the outside in, see WhyView."""
        self._make_head()
        yield
        self.editor.build()
        yield
        self._make_answer()
        yield
        self._connect()
        self.is_built = True
        self._show_boxes()
        self.show_draft()
        self._show_results()

    def focus_search(self) -> None:
        """Go to the streams: there is nothing to search."""
        self.editor.streams.setFocus()

    # What it is made of

    def _make_head(self) -> None:
        self.new_button = button("&New Load", "Begin a load of one camera.", self._begin)
        self.open_button = button("Open &Load…", "Open a load file (.toml).", self._open)
        self.save_button = button("&Save Load…", "Save the load file, for ctm load.", self._save)
        self.examples_button = button("E&xamples", "Open a load that ships with the program.")
        menu = QMenu(self.examples_button)
        for path in bundled_loads():
            title = capitalised(path.stem.replace("-", " "))
            menu.addAction(title).triggered.connect(
                lambda _checked, path=path: self._presenter.open(path)
            )
        self.examples_button.setMenu(menu)
        self.box_box = combo_box("Box that runs the load", letters=_LETTERS)
        self.mode_box = combo_box("Power mode of the box", letters=12)
        self.chance_box = PlainBox("Chance in percent with which the load has to hold", "%", 1.0)
        self.chance_box.setToolTip("The chance with which the load has to hold, over all draws.")
        self.box_note = note_label("bad")
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName("Progress of the simulation")
        self.progress.setFixedWidth(_PROGRESS_PX)
        self.progress_text = label(role="muted", wraps=False)
        self.cancel_button = button("&Cancel", "Stop the simulation.", self._presenter.cancel)
        self.again_button = button("Simulate A&gain", "Simulate the load.", self._presenter.refresh)
        self.answer = label(role="heading", name="Answer", selectable=True)
        files = hbox(
            self.new_button, self.open_button, self.save_button, self.examples_button, STRETCH,
        )  # fmt: skip
        head = hbox(
            named("&Box", self.box_box), (self.box_box, 1),
            named("&Mode", self.mode_box), self.mode_box,
            named("Holds with", self.chance_box), self.chance_box,
        )  # fmt: skip
        self._head = holder(head)
        busy = hbox(
            (self.answer, 1), self.progress_text, self.progress, self.cancel_button,
            self.again_button,
        )  # fmt: skip
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("Answer and boxes")
        self._pictures = QSplitter(across)
        content = QWidget()
        self.content = ContentOrMessage(content, name="No load")
        vbox(files, self._head, self.box_note, (self.content, 1), of=self)
        parts = splitter(down, self.editor, self.tabs, sizes=(300, 270), stretch=(1, 1))
        vbox(busy, (parts, 1), of=content, margins=0)

    def _make_answer(self) -> None:
        self.remarks = label(name="What stands behind the answer", selectable=True)
        self.remarks.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.remarks.setContentsMargins(_GAP_PX, 0, 0, 0)
        self.flow, self.plot = FlowPlot(self._options), LatencyPlot(self._options)
        self.save_plot = save_button("load", self.plot.save)
        self.boxes = BoxesView(self._options, self._presenter)
        self.tabs.addTab(self._pictures, "On This Box")
        self.tabs.addTab(self.boxes, "Which Boxes Hold It")
        fill_splitter(
            self._pictures,
            scrolled(self.flow, "Pipelines and units"),
            holder((self.plot, 1), hbox(STRETCH, self.save_plot)),
            scrolled(self.remarks, "What stands behind the answer"),
            sizes=(470, 280, 250),
            stretch=(4, 2, 2),
        )

    def _connect(self) -> None:
        presenter = self._presenter
        presenter.draft_changed.connect(self.show_draft)
        presenter.results_changed.connect(self._show_results)
        presenter.boxes_changed.connect(self._show_boxes)
        presenter.choice_changed.connect(self._show_busy)
        presenter.progressed.connect(self._show_progress)
        self.box_box.activated.connect(self._use_box)
        self.mode_box.activated.connect(self._use_mode)
        self.chance_box.valueChanged.connect(
            lambda value: self._edit("simulation", "chance", value, "Chance of a Load", "chance")
        )
        self.boxes.used.connect(lambda: self.tabs.setCurrentIndex(0))

    # What the user does

    def _begin(self) -> None:
        self.editor.show_first()
        self._presenter.begin([path for _, path in self._models()])

    def _open(self) -> None:
        draft = self._presenter.draft
        folder = str(draft.path.parent) if draft else ""
        path, _ = QFileDialog.getOpenFileName(self, "Open a load", folder, f"Loads (*{SUFFIX})")
        if path:
            self._presenter.open(Path(path))

    def _save(self) -> None:
        draft = self._presenter.draft
        if draft is None:
            return
        is_bundled = draft.path in bundled_loads()
        first = draft.path.name if is_bundled else str(draft.path)
        path, _ = QFileDialog.getSaveFileName(self, "Save the load", first, f"Loads (*{SUFFIX})")
        if path:
            self._presenter.save(Path(path).with_suffix(SUFFIX))

    def _use_box(self, place: int) -> None:
        table, name = self.box_box.itemData(place), self.box_box.itemText(place)
        if name == _DEVICES:
            self._presenter.use_devices(self._devices())
        elif name == _FILE:
            path, _ = QFileDialog.getOpenFileName(self, "Open a box", "", "Boxes (*.json)")
            if path:
                self._presenter.add_box(Path(path), [])
        elif table is not None:
            self._presenter.use_box(table, name)
        self._show_boxes()

    def _use_mode(self, place: int) -> None:
        mode = self.mode_box.itemText(place) if place else None
        self._edit("box", "mode", mode, f"Mode {mode or _USUAL_MODE}")

    def _edit(self, name: str, key: str, value: object, words: str, typed: str = "") -> None:
        draft = self._presenter.draft
        if draft is not None:
            self._presenter.edit(draft.with_value((name,), key, value), words, typed)

    # What is shown

    def show_draft(self) -> None:
        """Show tables and fields of the load as it is edited."""
        draft = self._presenter.draft
        self.save_button.setEnabled(draft is not None)
        self._head.setVisible(draft is not None)
        for box in (self.box_box, self.mode_box, self.chance_box):
            box.setEnabled(draft is not None)
        if draft is None:
            self.content.show_message(self._presenter.message)
            return
        self.content.show_content()
        self.editor.show_draft(draft)
        self._show_boxes()
        chance = draft.table(("simulation",)).get("chance", _USUAL_CHANCE)
        show_number(self.chance_box, chance)
        self._show_problem()

    def show_choices(self) -> None:
        """Offer other models and units; what is typed in other fields stays."""
        draft = self._presenter.draft
        if draft is not None and self.is_built:
            self.editor.show_choices(draft)

    def _show_boxes(self) -> None:
        """Show the boxes to choose from, and the modes of the one that is chosen."""
        draft, presenter = self._presenter.draft, self._presenter
        table = dict(draft.box) if draft else {}
        source = {key: table[key] for key in SOURCES if key in table}
        entries: list[tuple[str, Any]] = [(entry.name, entry.table) for entry in presenter.boxes]
        tables = [entry for _, entry in entries]
        if source and source not in tables:
            name = str(table.get("name", source.get("id", source.get("file", _AS_STATED))))
            entries.insert(0, (shown(name), source))
            tables.insert(0, source)
        with QSignalBlocker(self.box_box):
            self.box_box.clear()
            for name, entry in [*entries, (_DEVICES, None), (_FILE, None)]:
                self.box_box.addItem(name, entry)
            self.box_box.setCurrentIndex(tables.index(source) if source else -1)
        mode = str(table.get("mode", ""))
        modes = modes_of(presenter.box) if presenter.box and draft else []
        names = [_USUAL_MODE, *modes, *([mode] if mode and mode not in modes else [])]
        fill_box(self.mode_box, names, mode or 0)

    def _show_results(self) -> None:
        presenter = self._presenter
        draft, answer = presenter.draft, presenter.answer
        if draft is not None:
            self.editor.show_results(draft)
            self._show_boxes()
        else:
            self.content.show_message(presenter.message)
        self._show_busy()
        self._show_problem()
        self._show_pictures(answer)

    def _show_pictures(self, answer: Answer | None) -> None:
        presenter, prepared = self._presenter, self._presenter.prepared
        if answer is not None:
            self.flow.show_load(answer.load, answer.box, answer)
        elif prepared is not None and presenter.problem is None and presenter.draft is not None:
            self.flow.show_load(prepared.load, prepared.box, None)
        else:
            self.flow.show_load(None, None, None)
        self.plot.show_streams(answer.streams if answer else ())
        self.remarks.setText("\n".join(f"• {text}" for text in sentences(answer)) if answer else "")
        self._show_answer()

    def _show_answer(self) -> None:
        """Say what holds, or why nothing is simulated."""
        presenter = self._presenter
        if presenter.answer is not None:
            text = headline(presenter.answer)
        elif presenter.problem is not None and presenter.draft is not None:
            text = f"Not simulated. {_problem_line(presenter.problem, presenter.draft)}"
        else:
            text = WORKING if presenter.busy else presenter.message
        self.answer.setText(shown(text, _LONGEST))

    def _show_busy(self) -> None:
        presenter = self._presenter
        busy = presenter.busy or presenter.choosing
        for widget in (self.progress, self.progress_text, self.cancel_button):
            widget.setVisible(busy)
        cancelled = not busy and presenter.answer is None and presenter.problem is None
        self.again_button.setVisible(cancelled and presenter.draft is not None)

    def _show_progress(self, progress: Progress) -> None:
        self.progress.setMaximum(progress.total)
        self.progress.setValue(progress.done)
        self.progress_text.setText(capitalised(progress.message))

    def _show_problem(self) -> None:
        """Say what is wrong at its field; where that is not shown, in the answer."""
        problem = self._presenter.problem
        is_said = self.editor.show_problem()
        is_of_head = problem is not None and problem.place in {("box",), ("simulation",)}
        show_note(
            self.box_note, [problem.sentence] if problem and is_of_head and not is_said else []
        )


def _problem_line(problem: Problem, draft: LoadDraft) -> str:
    """Return what is wrong, with the stream or the table that it is about."""
    names: list[str] = []
    if problem.place[:1] == ("cost",):
        names.append("Cost")
    if problem.place[:1] == ("stream",) and len(problem.place) > 1:
        names.append(str(draft.table(problem.place[:2]).get("name", "")))
        if len(problem.place) > 2:
            names.append(stage_name(draft.table(problem.place)))
    return ": ".join([*map(shown, filter(None, names)), problem.sentence])
