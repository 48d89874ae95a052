"""The one graph of the window: in its own tab, or beside the table of operators."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QObject, Signal
from PySide6.QtWidgets import QTabWidget

from ctm_gui import settings as table
from ctm_gui.graph.view import GraphTab
from ctm_gui.operators.view import OperatorsView
from ctm_gui.settings import Settings

# Under it the latencies of the table are out of view.
_MIN_PX = 840
_SHARE = 0.43  # of the width, where the user has chosen no other


class GraphBeside(QObject):
    """Puts the graph where it is looked at; the user's choice goes before the room there is.

    One graph and not two: groups are open, and boxes stand, in both places alike.

    Signals:
        changed: the graph came to the operators, or went from them.

    Args:
        operators: has a place for it.
        tab: its own place.
        tabs: with both; owner of this object.
        settings: keep the choice and the widths.
    """

    changed = Signal()

    def __init__(
        self, operators: OperatorsView, tab: GraphTab, tabs: QTabWidget, settings: Settings
    ) -> None:
        super().__init__(tabs)
        self._operators, self._tab, self._tabs = operators, tab, tabs
        self._settings = settings
        operators.graph_button.clicked.connect(self._choose)
        operators.table.search_box.textChanged.connect(self._search)
        operators.body.splitterMoved.connect(self._remember)
        operators.installEventFilter(self)

    @property
    def is_docked(self) -> bool:
        """Whether the graph stands beside the operators."""
        return self._operators.body.isAncestorOf(self._tab.graph)

    def place(self) -> None:
        """Put the graph where the tab that is shown wants it."""
        current, graph = self._tabs.currentWidget(), self._tab.graph
        choice, body = self._settings.get(table.GRAPH_DOCKED), self._operators.body
        has_room = self._operators.width() >= _MIN_PX
        wanted = has_room if choice == "auto" else choice == "shown"
        self._operators.graph_button.setChecked(wanted)
        if current is self._operators and wanted and not self.is_docked:
            body.addWidget(graph)
            # Both give way to a narrower window: the table alone would lose its shares.
            body.setStretchFactor(body.indexOf(graph), 1)
            graph.set_docked(self._operators.table.words)
            graph.show()  # a splitter gives no width to what is hidden
            if not body.restoreState(QByteArray(self._settings.get(table.GRAPH_SPLITTER))):
                width = self._operators.width()
                body.setSizes([round((1 - _SHARE) * width), round(_SHARE * width)])
        elif current is self._tab or not wanted:
            self._tab.take_back()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the width of the operators."""
        if event.type() is QEvent.Type.Resize and self._tabs.currentWidget() is self._operators:
            self._follow()
        return super().eventFilter(watched, event)

    def _choose(self, visible: bool) -> None:
        self._settings.set(table.GRAPH_DOCKED, "shown" if visible else "hidden")
        self._follow()

    def _follow(self) -> None:
        before = self.is_docked
        self.place()
        if self.is_docked != before:
            self.changed.emit()

    def _search(self, words: str) -> None:
        if self.is_docked:
            self._tab.graph.search(words)

    def _remember(self) -> None:
        if self.is_docked:
            state = self._operators.body.saveState()
            self._settings.set(table.GRAPH_SPLITTER, bytes(state.data()))
