"""The strips that choose a view: the places at the left, the pages of one over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QSizePolicy, QTabBar, QToolButton

from ctm_gui.widgets.basic import tool_button, vbox
from ctm_gui.window.pages import Place
from ctm_gui.window.side_panels import narrow_room

_MARGIN_PX = 200  # of the report's button and the unit


class PlaceStrip(QFrame):
    """A button for each place, from the top down.

    Args:
        places: in their order.
        actions: by id; a button does what the action of its place does.
    """

    def __init__(self, places: Sequence[Place], actions: Mapping[str, QAction]) -> None:
        super().__init__()
        self.setProperty("role", "places")
        self.setAccessibleName("Places")
        self.buttons: dict[str, QToolButton] = {}
        column = vbox(of=self, margins=(0, 8, 0, 8), spacing=2)
        for place in places:
            made = tool_button(place.title, f"{place.tip} ({place.keys})", place.title)
            made.setCheckable(True)
            made.setProperty("role", "place")
            made.setAccessibleDescription(place.tip)
            made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            made.clicked.connect(actions[place.id].trigger)
            # No group: Tab would pass by all but the one that is looked at.
            made.clicked.connect(lambda _, button=made: button.setChecked(True))
            self.buttons[place.id] = made
            column.addWidget(made)
        column.addStretch(1)

    def show_place(self, place_id: str) -> None:
        """Mark the place that is looked at."""
        for name, button in self.buttons.items():
            button.setChecked(name == place_id)


class PageStrip(QTabBar):
    """The pages of a place; hidden where there is nothing to choose.

    Args:
        actions: by id; a tab does what its action does.

    Signals:
        chosen: the id of an action.
    """

    chosen = Signal(str)

    def __init__(self, actions: Mapping[str, QAction]) -> None:
        super().__init__()
        self._actions = actions
        self._ids: tuple[str, ...] = ()
        self.setAccessibleName("Pages")
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(True)
        self.currentChanged.connect(lambda place: self.chosen.emit(self._ids[place]))

    def minimumSizeHint(self) -> QSize:
        """Return a width in which no page is behind an arrow, as far as the window has it."""
        room = narrow_room(self)
        return self.sizeHint().boundedTo(QSize(room.width() - _MARGIN_PX, room.height()))

    def show_pages(self, ids: Sequence[str], current: str) -> None:
        """Offer pages, one of which is looked at; fewer than two need no strip."""
        with QSignalBlocker(self):
            if tuple(ids) != self._ids:
                self._fill(ids)
            if current in self._ids:
                self.setCurrentIndex(self._ids.index(current))
        self.setVisible(len(self._ids) > 1)

    def _fill(self, ids: Sequence[str]) -> None:
        while self.count():
            self.removeTab(0)
        self._ids = tuple(ids)
        for place, name in enumerate(self._ids):
            action = self._actions[name]
            keys = action.shortcut().toString(action.shortcut().SequenceFormat.NativeText)
            self.addTab(action.iconText().partition(" (")[0])
            self.setTabToolTip(place, f"{action.toolTip()} ({keys})" if keys else action.toolTip())
