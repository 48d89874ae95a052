"""Editor of a load: tables of its streams and stages, and its fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QSplitter, QTabWidget, QWidget

from ctm_gui.loads.box_form_view import BoxForm, CostForm, SimulationForm
from ctm_gui.loads.fields_view import TableForm
from ctm_gui.loads.form_view import StageForm, StreamForm
from ctm_gui.loads.presenter import LoadPresenter
from ctm_gui.loads.rows import StagesGrid, StreamsGrid
from ctm_gui.widgets.basic import (
    STRETCH,
    button,
    fill_splitter,
    hbox,
    label,
    scrolled,
    vbox,
)
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.table_view import GridView
from predictor.core.text import capitalised
from predictor.core.toml_tables import Place
from predictor.services.loads.draft import (
    LoadDraft,
    new_stage,
    new_stream,
    samples,
    tokens_of,
)
from predictor.services.loads.records import Box

SOURCES: Final = ("id", "file", "units")
"""Keys of a box's table that name it: one of them."""
_UNITS: Final = ("_ms", "_w", "_gb")
_TABLE_PX = 96
_GAP_PX, _SCROLL_BAR_PX = 8, 16


class LoadEditor(QSplitter):
    """Streams and their stages as tables; beside them the fields of all tables of the file.

    Args:
        presenter: of the load.
        models: returns names and paths of the open models.
    """

    def __init__(
        self, presenter: LoadPresenter, models: Callable[[], Sequence[tuple[str, str]]]
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._presenter, self._models = presenter, models
        self._stream, self._stage = 0, 0

    def build(self) -> None:
        """Make the parts."""
        self.streams = GridView(GridModel(), "Streams")
        self.stages = GridView(GridModel(), "Stages of the stream")
        for grid in (self.streams, self.stages):
            grid.setMinimumHeight(_TABLE_PX)
        self.add_stream = button("Add Stream", "Add a stream.", self._add_stream)
        self.remove_stream = button("Remove Stream", "Remove this stream.", self._remove_stream)
        self.add_stage = button("Add Stage", "Add a stage after the last.", self._add_stage)
        self.remove_stage = button("Remove Stage", "Remove this stage.", self._remove_stage)
        self.stream_form, self.stage_form = StreamForm(), StageForm()
        self.box_form, self.cost_form = BoxForm(), CostForm()
        self.simulation_form = SimulationForm()
        tables = QWidget()
        vbox(
            hbox(self.add_stream, self.remove_stream, STRETCH),
            (self.streams, 1),
            hbox(self.add_stage, self.remove_stage, STRETCH),
            (self.stages, 1),
            of=tables,
            margins=(0, 0, 6, 0),
        )
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("Fields of the load")
        pipeline = ("Stream", self.stream_form), ("Stage", self.stage_form)
        box = (
            ("Box", self.box_form), ("Cost", self.cost_form), ("Simulation", self.simulation_form)
        )  # fmt: skip
        self.tabs.addTab(_scrolled(*pipeline), "Stream and Stage")
        self.tabs.addTab(_scrolled(*box), "Box and Cost")
        fill_splitter(self, tables, self.tabs, sizes=(560, 440), stretch=(3, 2))
        self._connect()

    def _connect(self) -> None:
        self.streams.rows_selected.connect(self._choose_stream)
        self.stages.rows_selected.connect(self._choose_stage)
        for name, form in self._forms():
            form.edited.connect(
                lambda key, value, name=name: self._edit_field(name, key, value)
            )  # fmt: skip

    def _forms(self) -> list[tuple[str, TableForm]]:
        """Return the forms by the table that they edit."""
        return [
            ("stream", self.stream_form),
            ("stage", self.stage_form),
            ("box", self.box_form),
            ("cost", self.cost_form),
            ("simulation", self.simulation_form),
        ]

    def _place(self, name: str) -> Place:
        stream = ("stream", self._stream)
        return {"stream": stream, "stage": (*stream, "stage", self._stage)}.get(name, (name,))

    def show_first(self) -> None:
        """Select the first stream and its first stage."""
        self._stream = self._stage = 0

    # What the user does

    def _edit_field(self, name: str, key: str, value: object) -> None:
        draft, box = self._presenter.draft, self._presenter.box
        place = self._place(name)
        if draft is None or (name in {"stream", "stage"} and not draft.table(place)):
            return
        values: dict[str, object] = {key: value}
        if name == "box" and key == "units":
            # Stated units take the place of an id or a file.
            values |= dict.fromkeys(SOURCES[:2])
            values |= {"name": draft.box.get("name", box.name if box else None)}
        if name == "stage" and key == "model":
            values |= tokens_of(value, draft.path.parent, draft.table(place))
        title = capitalised(key.rpartition("_")[0] if key.endswith(_UNITS) else key)
        words = f"{title.replace('_', ' ').title()} of a {name.capitalize()}"
        self._presenter.edit(draft.with_values(place, values), words, f"{key} {place}")

    def _add_stream(self) -> None:
        draft = self._presenter.draft
        if draft is not None:
            count = len(draft.streams)
            stream = new_stream([path for _, path in self._models()], count)
            self._stream, self._stage = count, 0
            self._presenter.edit(draft.with_table((), "stream", stream), "Add Stream")

    def _remove_stream(self) -> None:
        draft = self._presenter.draft
        if draft is not None and draft.table(self._place("stream")):
            self._presenter.edit(draft.without(self._place("stream")), "Remove Stream")

    def _add_stage(self) -> None:
        draft, place = self._presenter.draft, self._place("stream")
        stream = draft.table(place) if draft else {}
        if draft is not None and stream:
            stages = list(stream.get("stage", ()))
            self._stage = len(stages)
            changed = draft.with_table(place, "stage", new_stage(stages))
            self._presenter.edit(changed, "Add Stage")

    def _remove_stage(self) -> None:
        draft = self._presenter.draft
        if draft is not None and draft.table(self._place("stage")):
            self._presenter.edit(draft.without(self._place("stage")), "Remove Stage")

    def _choose_stream(self, *_: object) -> None:
        row = self.streams.current_row()
        if row is not None and row != self._stream:
            self._stream, self._stage = row, 0
            self._show_selected()

    def _choose_stage(self, *_: object) -> None:
        row = self.stages.current_row()
        if row is not None and row != self._stage:
            self._stage = row
            self._show_selected()

    # What is shown

    def _show_selected(self) -> None:
        draft = self._presenter.draft
        if draft is not None:
            self.show_draft(draft)
            self.show_problem()

    def show_draft(self, draft: LoadDraft) -> None:
        """Show tables and fields of the load as it is edited."""
        self._stream = min(self._stream, max(len(draft.streams) - 1, 0))
        stages = draft.table(("stream", self._stream)).get("stage", ())
        self._stage = min(self._stage, max(len(stages) - 1, 0))
        self._show_tables(draft)
        stream, stage = draft.table(self._place("stream")), draft.table(self._place("stage"))
        self.stream_form.setEnabled(bool(stream))
        self.stage_form.setEnabled(bool(stage))
        self.remove_stream.setEnabled(bool(stream))
        self.add_stage.setEnabled(bool(stream))
        self.remove_stage.setEnabled(bool(stage))
        self.stream_form.show_table(stream)
        self.stage_form.show_table(stage, self._choices(), self._presenter.box)
        self.box_form.show_table(draft.box, self._box)
        self.cost_form.show_table(draft.table(("cost",)))
        self.simulation_form.show_table(draft.table(("simulation",)))

    def show_results(self, draft: LoadDraft) -> None:
        """Show what the box makes of the load, and what it offers."""
        self._show_tables(draft)
        self.show_choices(draft)
        self.box_form.show_table(draft.box, self._box)

    def _show_tables(self, draft: LoadDraft) -> None:
        answer = self._presenter.answer
        stream = draft.table(self._place("stream"))
        streams = answer.streams if answer else ()
        name = str(stream.get("name"))
        of_stream = next((entry for entry in streams if entry.stream.name == name), None)
        stages = list(stream.get("stage", ()))
        _show_rows(self.streams, StreamsGrid(draft.streams, answer), self._stream)
        _show_rows(self.stages, StagesGrid(stages, of_stream), self._stage)

    @property
    def _box(self) -> Box | None:
        """The box, where the one that the load names is known."""
        problem = self._presenter.problem
        is_unknown = problem and problem.place == ("box",) and problem.key in {"box", *SOURCES}
        return None if is_unknown else self._presenter.box

    def _choices(self) -> list[tuple[str, str]]:
        """Return the models that a stage may have."""
        return [*self._models(), *((name, name) for name in samples())]

    def show_choices(self, draft: LoadDraft) -> None:
        """Offer other models and units; what is typed in other fields stays."""
        stage = draft.table(self._place("stage"))
        self.stage_form.show_choices(stage, self._choices(), self._presenter.box)

    def show_problem(self) -> bool:
        """Say what is wrong at its field; return whether it has one."""
        problem = self._presenter.problem
        is_said = False
        for name, form in self._forms():
            is_here = problem is not None and problem.place == self._place(name)
            # The box and the chance are chosen above the tables.
            if problem is not None and name in {"box", "simulation"}:
                is_here &= problem.key in form.fields
            key = problem.key if problem and is_here else None
            form.show_problem(key, problem.sentence if problem else "")
            is_said |= is_here
        return is_said


def _scrolled(*forms: tuple[str, TableForm]) -> QWidget:
    """Return forms under their titles, which scroll where they do not fit."""
    content = QWidget()
    parts = [part for title, form in forms for part in (label(title, "heading"), form)]
    vbox(*parts, STRETCH, of=content, margins=(_GAP_PX, 0, 0, 0))
    area = scrolled(content, f"Fields of {' and '.join(title.lower() for title, _ in forms)}")
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setMinimumWidth(content.minimumSizeHint().width() + _SCROLL_BAR_PX)
    return area


def _show_rows(view: GridView, grid: Any, row: int) -> None:
    with QSignalBlocker(view.selectionModel()):
        view.show_grid(grid)
        if grid.count:
            view.select_rows([row], row)
    view.fit_columns()
