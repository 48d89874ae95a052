"""The change from one theme to another: what is in sight at once, the rest in turns.

With a style sheet, Qt hands a new palette to no widget: each takes it when it is polished again.
Setting another sheet would do that to all of them and their layouts in one turn, over a second of
processor time for 1 500 widgets, of which about 100 are in sight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, cast

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from ctm_gui.tasks.turns import in_turns
from ctm_gui.widgets.theme import THEME_PROPERTY, Theme, palette_of, style_sheet
from ctm_gui.widgets.view_options import ViewOptions

_TURN_WIDGETS: Final = 64  # 3 to 6 ms
_LATER_NAME: Final = "theme change"


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Draw the application in ``theme``; views with custom painting are notified separately.

    Args:
        app: its visible widgets have the theme on return, hidden ones once they are shown or some
            turns of the event loop later, and those that are made from now on by themselves.
        theme: the colours.
    """
    app.setPalette(palette_of(theme))
    for window in app.topLevelWidgets():
        if window.parent() is None:
            window.setProperty(THEME_PROPERTY, theme.name)
    if not app.styleSheet():
        app.setStyleSheet(style_sheet())
        return
    former = app.findChild(QObject, _LATER_NAME, Qt.FindChildOption.FindDirectChildrenOnly)
    if former is not None:
        former.deleteLater()
    hidden = []
    for widget in app.allWidgets():
        if widget.isVisible():
            _polish_again(widget)
        else:
            hidden.append(widget)
    if hidden:
        _Later(app, hidden)


class _Later(QObject):
    """Polishes hidden widgets in turns of the event loop, what is shown before its turn at once.

    Args:
        app: owner.
        widgets: those to polish; they may be deleted before.
    """

    def __init__(self, app: QApplication, widgets: list[QWidget]) -> None:
        super().__init__(app)
        self._app = app
        self.setObjectName(_LATER_NAME)
        self._left = dict.fromkeys(widgets)  # in order, and found at once
        app.installEventFilter(self)
        in_turns(self._polishing(), self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Polish what is shown."""
        if event.type() is QEvent.Type.Show and isinstance(watched, QWidget):
            self._polish(watched)
        return False

    def _polishing(self) -> Iterator[None]:
        while self._left:
            yield
            # Polishing sends each widget several events, of which none shows it.
            self._app.removeEventFilter(self)
            for widget in list(self._left)[:_TURN_WIDGETS]:
                self._polish(widget)
            self._app.installEventFilter(self)
        self.deleteLater()

    def _polish(self, widget: QWidget) -> None:
        if widget in self._left:
            del self._left[widget]
            if isValid(widget):
                _polish_again(widget)


def _polish_again(widget: QWidget) -> None:
    # Forgets what the style sheet made of the former palette.
    widget.style().polish(widget)


def follow_theme(widget: QWidget, options: ViewOptions, draw: Callable[[], object]) -> None:
    """Draw a widget in the theme of the options, now and at each change.

    Args:
        widget: while it is hidden, it is drawn once it is shown or in a turn of its own.
        options: have the theme.
        draw: gives the parts of the widget the colours of the theme; a method of the widget.
    """
    _Follower(widget, options, draw)
    draw()


class _Follower(QObject):
    """Calls ``draw`` at changes of the theme: at once where its widget is in sight.

    Signals:
        due: the widget is to be drawn. A signal has no hold on the widget as a call would.
    """

    due = Signal()

    def __init__(self, widget: QWidget, options: ViewOptions, draw: Callable[[], object]) -> None:
        super().__init__(widget)
        self._options, self._is_late = options, False
        self.due.connect(draw)
        options.theme_changed.connect(self._on_theme)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Draw what is shown before its turn."""
        if event.type() is QEvent.Type.Show:
            self._draw()
        return super().eventFilter(watched, event)

    @property
    def _widget(self) -> QWidget:
        return cast("QWidget", self.parent())

    def _on_theme(self) -> None:
        if self._widget.isVisible():
            self._draw()
        elif not self._is_late:
            self._is_late = True
            self._widget.installEventFilter(self)
            self._options.do_in_turn(self._draw_late)

    def _draw_late(self) -> None:
        if isValid(self) and self._is_late:
            self._draw()

    def _draw(self) -> None:
        if self._is_late:
            self._is_late = False
            self._widget.removeEventFilter(self)
        self.due.emit()
