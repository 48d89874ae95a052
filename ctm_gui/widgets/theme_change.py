"""The change from one theme to another: what is in sight at once, the rest in turns.

With a style sheet, Qt hands a new palette to no widget: each takes it when it is polished again.
Setting another sheet would do that to all of them and their layouts in one turn, over a second of
processor time for 1 500 widgets, of which about 100 are in sight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from ctm_gui.tasks.turns import in_turns
from ctm_gui.widgets.theme import THEME_PROPERTY, Theme, palette_of, style_sheet

_TURN_WIDGETS: Final = 64  # 3 to 6 ms
_OWNER_NAME: Final = "theme change"


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Draw the whole application in ``theme``; views with their own painting are told apart.

    Args:
        app: its visible widgets have the theme on return, hidden ones some turns of the event loop
            later, and those that are made from now on by themselves.
        theme: the colours.
    """
    app.setPalette(palette_of(theme))
    for window in app.topLevelWidgets():
        if window.parent() is None:
            window.setProperty(THEME_PROPERTY, theme.name)
    if not app.styleSheet():
        app.setStyleSheet(style_sheet())
        return
    former = app.findChild(QObject, _OWNER_NAME, Qt.FindChildOption.FindDirectChildrenOnly)
    if former is not None:
        former.deleteLater()
    widgets = app.allWidgets()
    _polish_again(each for each in widgets if each.isVisible())
    owner = QObject(app)
    owner.setObjectName(_OWNER_NAME)
    in_turns(_polishing([each for each in widgets if not each.isVisible()]), owner)


def _polishing(widgets: list[QWidget]) -> Iterator[None]:
    """Polish the widgets that are still there, some of them from one ``yield`` to the next."""
    for first in range(0, len(widgets), _TURN_WIDGETS):
        yield
        some = widgets[first : first + _TURN_WIDGETS]
        _polish_again(each for each in some if isValid(each))


def _polish_again(widgets: Iterable[QWidget]) -> None:
    for widget in widgets:
        # Forgets what the style sheet made of the former palette.
        widget.style().polish(widget)
