"""The operator graph with the time on its boxes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from ctm_gui.graph.boxes_plot import Colouring, GraphPainter, looks_of, parts_of
from ctm_gui.graph.canvas_view import GraphCanvas
from ctm_gui.graph.facts import NodeFacts
from ctm_gui.graph.legend_strip import Legend
from ctm_gui.graph.presenter import WORKING, GraphPresenter
from ctm_gui.prediction.explanation import Explained
from ctm_gui.widgets.basic import (
    ContentOrMessage,
    SearchBox,
    add_view_keys,
    combo_box,
    hbox,
    holder,
    label,
    named,
    note_label,
    show_note,
    tool_button,
    vbox,
)
from ctm_gui.widgets.ordering import IndexArray
from ctm_gui.widgets.save_plot import save_button, save_plot
from ctm_gui.widgets.theme_change import follow_theme
from ctm_gui.widgets.tooltips import as_tooltip
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.records import Device
from predictor.core.text import plural
from predictor.presentation.wording import shown
from predictor.services.prediction.attention import token_label

_NOTHING_YET = "Drop a model and tick a target to see its graph with the time on it."
_HINT = (
    "A click chooses, a double click or Enter opens a group, arrows go along edges, Backspace "
    "closes the group around, Ctrl and the wheel enlarge."
)
_LONGEST_PICTURE_PX = 12_000
_NO_OPERATORS: IndexArray = np.zeros(0, dtype=np.intp)


class GraphView(QWidget):
    """The graph of one model, coloured by the time on one target.

    Signals:
        operators_selected: the user chose a box: its operators, intp [K], and the slowest of them.

    Args:
        options: unit and theme.
        presenter: the groups and their picture.
    """

    operators_selected = Signal(object, object)

    def __init__(self, options: ViewOptions, presenter: GraphPresenter) -> None:
        super().__init__()
        self._options, self.presenter = options, presenter
        # The node with the cursor; an operator may be hidden in a closed group.
        self._current: int | None = None
        self._selected: IndexArray = _NO_OPERATORS
        self._anchor: QPointF | None = None
        self._words, self._match = "", -1
        self._device: Device | None = None
        self._make_controls()
        self.canvas = GraphCanvas(options)
        self.canvas.tooltip_of = self._tooltip_of
        self.legend = Legend(options)
        self._arrange()
        self._connect()
        options.unit_changed.connect(self._show_facts)
        follow_theme(self, options, self._show_facts)
        self.show_explained(None)

    def show_explained(self, explained: Explained | None, message: str = "") -> None:
        """Show the graph of an explained pair, or say why there is none."""
        self._current, self._selected = None, _NO_OPERATORS
        if explained is None or not explained.table.names:
            self.presenter.show_operators(None)
            self._stack.show_message(shown(message) if message else _NOTHING_YET)
            return
        self._device = explained.device
        self.presenter.show_operators(explained.operators, explained.interval)
        if not self.presenter.picture.nodes.size:
            self._stack.show_message(WORKING)

    def search(self, words: str) -> None:
        """Show the boxes whose operators have all words, the others pale."""
        self._words, self._match = words, -1
        self.presenter.search(words)
        self._mark()

    def select_operators(self, operators: IndexArray, current: int | None) -> None:
        """Mark the boxes of operators; that of the current one comes into view."""
        self._selected = operators
        self._go_to(current)
        self._mark()

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        self.search_box.focus()

    def save_plot(self, path: Path) -> None:
        """Save all of the picture as SVG or PNG by the path's ending.

        Raises:
            HostError: the file cannot be written.
        """
        # A copy with room for every box: the visible one keeps its size and its place.
        copy = _SavedGraph(self._options, self._painter())
        save_plot(copy, path, "Operator graph")

    def _make_controls(self) -> None:
        self.search_box = SearchBox(
            "Find name or type, Enter for the next (Ctrl+F)", "Search operators"
        )
        self.matches = label(role="muted", name="Matches", wraps=False)
        self.colour_box = combo_box("Colour of boxes", [colouring.value for colouring in Colouring])
        self.fit_button = tool_button("F&it", "Show all of the graph (0).")
        self.closer_button = tool_button("+", "Enlarge (+).", "Enlarge")
        self.wider_button = tool_button("−", "Make smaller (-).", "Make smaller")
        self.save_button = save_button("graph", self.save_plot, text="&Save Graph…")
        self.problem = note_label("warn")

    def _arrange(self) -> None:
        controls = hbox(
            (self.search_box, 1),
            self.matches,
            self.wider_button,
            self.closer_button,
            self.fit_button,
            self.save_button,
        )
        colours = hbox(named("&Colour", self.colour_box), self.colour_box, (self.legend, 1))
        self.canvas.setWhatsThis(_HINT)
        content = holder(controls, colours, self.problem, (self.canvas, 1))
        self._stack = ContentOrMessage(content, name="Message")
        vbox(self._stack, of=self, margins=0)

    def _connect(self) -> None:
        self.presenter.picture_changed.connect(self._show_picture)
        self.presenter.facts_changed.connect(self._show_facts)
        self.search_box.textChanged.connect(self.search)
        self.search_box.returnPressed.connect(lambda: self._next_match(1))
        self.colour_box.activated.connect(self._show_facts)
        self.fit_button.clicked.connect(self.canvas.fit)
        self.closer_button.clicked.connect(lambda: self.canvas.zoom(1.25))
        self.wider_button.clicked.connect(lambda: self.canvas.zoom(0.8))
        self.canvas.clicked.connect(self._on_clicked)
        self.canvas.toggled.connect(self._toggle)
        self.canvas.stepped.connect(self._on_stepped)
        self.canvas.closed.connect(self._close_around)
        add_view_keys(self, QKeySequence.StandardKey.FindNext, lambda: self._next_match(1))
        add_view_keys(self, QKeySequence.StandardKey.FindPrevious, lambda: self._next_match(-1))

    def _show_picture(self, anchor: int | None) -> None:
        """Show another picture; the box of ``anchor`` stays where it was."""
        if not self.presenter.picture.nodes.size:
            return
        self._stack.show_content()
        show_note(self.problem, [self.presenter.problem] if self.presenter.problem else [])
        self._show_facts()
        if anchor is None:
            self.search(self._words)
            self.canvas.show_first()
            self._go_to(self._current)
            return
        box = self.presenter.box_of(anchor)
        if box is not None and self._anchor is not None:
            self.canvas.move_to(box, self._anchor)
        elif box is not None:
            self.canvas.focus_on(box)
        self._anchor = None

    def _show_facts(self, *_: object) -> None:
        """Colour and label the boxes anew."""
        facts, picture = self.presenter.facts, self.presenter.picture
        if facts is None or not picture.nodes.size:
            return
        self.canvas.show_picture(self._painter())
        closed = picture.nodes[~picture.is_open]
        largest = float(parts_of(facts, self._colouring)[closed].max(initial=0.0))
        kinds = np.unique(facts.kinds[closed]).tolist()
        self.legend.show_colours(self._colouring, largest, kinds, self._metrics(facts))
        boxes = closed.size
        self.canvas.setAccessibleDescription(
            f"{plural(boxes, 'box', 'boxes')} of {plural(facts.tree.operators, 'operator')}; "
            "the table has them as rows."
        )
        self._mark()

    def _metrics(self, facts: NodeFacts) -> list[str]:
        """Return the labels of the metrics that have a colour."""
        attention, device = facts.table.attention, self._device
        if attention is None or device is None or self._colouring is not Colouring.ATTENTION:
            return []
        return [token_label(attention.metrics[place], device) for place in facts.top_metrics]

    @property
    def _colouring(self) -> Colouring:
        return list(Colouring)[self.colour_box.currentIndex()]

    def _painter(self) -> GraphPainter:
        facts, picture = self.presenter.facts, self.presenter.picture
        unit, theme = self._options.unit, self._options.theme
        looks = []
        if facts is not None:
            looks = looks_of(picture, facts, self._colouring, unit, theme, self.font())
        return GraphPainter(picture, looks, theme, self.font())

    def _mark(self) -> None:
        presenter = self.presenter
        box = None if self._current is None else presenter.box_of(self._current)
        bright = presenter.boxes_of(presenter.matches) if self._words.strip() else None
        self.canvas.mark(box, presenter.boxes_of(self._selected), bright)
        self._show_matches()

    def _tooltip_of(self, box: int) -> str:
        facts = self.presenter.facts
        if facts is None:
            return ""
        node = int(self.presenter.picture.nodes[box])
        return as_tooltip(facts.details(node, self._options.unit))

    def _on_clicked(self, box: int | None) -> None:
        self._current = None if box is None else int(self.presenter.picture.nodes[box])
        self._select()

    def _on_stepped(self, across: int, down: int) -> None:
        # Without a cursor the walk begins at the first operator.
        node: int | None = 0
        if self._current is not None:
            node = self.presenter.next_to(self._current, across, down)
        if node is not None:
            self._go_to(node)
            self._select()

    def _go_to(self, node: int | None) -> None:
        self._current = node
        box = None if node is None else self.presenter.box_of(node)
        if box is not None:
            self.canvas.reveal(box)

    def _select(self) -> None:
        """Emit the operators of the box with the cursor."""
        facts = self.presenter.facts
        operators, slowest = _NO_OPERATORS, None
        if facts is not None and self._current is not None:
            operators = facts.tree.operators_of(self._current)
            slowest = int(operators[np.argmax(facts.table.latency_ms[operators])])
        self._selected = operators
        self._mark()
        self.operators_selected.emit(operators, slowest)

    def _toggle(self, box: int) -> None:
        self._anchor = self.canvas.place_of(box)
        self.presenter.toggle(int(self.presenter.picture.nodes[box]))

    def _close_around(self) -> None:
        """Close the group with the cursor, or that around it."""
        facts, picture = self.presenter.facts, self.presenter.picture
        if facts is None or self._current is None:
            return
        for node in (self._current, *facts.tree.ancestors(self._current)):
            box = picture.box_of(node)
            if box is not None and picture.is_open[box]:
                self._current = node
                self._toggle(box)
                return

    def _show_matches(self) -> None:
        count = self.presenter.matches.size
        text = plural(count, "match", "matches") if self._words.strip() else ""
        self.matches.setText(f"{self._match + 1} of {text}" if self._match >= 0 and text else text)

    def _next_match(self, step: int) -> None:
        """Open the groups around the next match and put the cursor on it."""
        matches = self.presenter.matches
        if not matches.size:
            return
        self._match = (self._match + step) % matches.size if self._match >= 0 else 0
        operator = int(matches[self._match])
        self._current, self._selected = operator, np.array([operator], dtype=np.intp)
        if not self.presenter.reveal(operator):
            box = self.presenter.box_of(operator)
            if box is not None:
                self.canvas.focus_on(box)
        self._mark()
        self.operators_selected.emit(self._selected, operator)


class _SavedGraph(QWidget):
    """All of a graph at scale 1, or smaller where it would be a huge picture."""

    def __init__(self, options: ViewOptions, painter: GraphPainter) -> None:
        super().__init__()
        self.canvas = GraphCanvas(options, self)
        self.canvas.show_picture(painter)
        for policy in (
            self.canvas.setHorizontalScrollBarPolicy,
            self.canvas.setVerticalScrollBarPolicy,
        ):
            policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        size = self.canvas.sceneRect().size()
        scale = min(1.0, _LONGEST_PICTURE_PX / max(size.width(), size.height(), 1.0))
        self.canvas.scale(scale, scale)
        frame = 2 * self.canvas.frameWidth()
        self.canvas.resize(
            QSize(round(size.width() * scale) + frame, round(size.height() * scale) + frame)
        )
        self.resize(self.canvas.size())
