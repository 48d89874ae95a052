"""Where a part of a window is entered by keys."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QWidget


def content_of(part: QWidget) -> QWidget:
    """Return where a part is entered: its first table or tree, else what Tab reaches first."""
    tables = (view for view in _reached(part) if isinstance(view, QAbstractItemView))
    return next(tables, None) or first_focusable(part) or part


def first_focusable(part: QWidget) -> QWidget | None:
    """Return the first widget of a part that Tab can reach; a view that was left is remembered."""
    last = part.focusWidget()
    return last if last is not None and _takes_tab(last) else next(_reached(part), None)


def holds(part: QWidget, widget: QWidget | None) -> bool:
    """Return whether a widget is a part or in it."""
    return widget is not None and (widget is part or part.isAncestorOf(widget))


def _reached(part: QWidget) -> Iterator[QWidget]:
    """Yield the widgets of a part that Tab can reach, in its order."""
    if _takes_tab(part):
        yield part
    widget = part.nextInFocusChain()
    while widget is not None and widget is not part:  # others of the window may stand between
        if _takes_tab(widget) and part.isAncestorOf(widget):
            yield widget
        widget = widget.nextInFocusChain()


def _takes_tab(widget: QWidget) -> bool:
    policy = widget.focusPolicy()
    return (
        bool(policy & Qt.FocusPolicy.TabFocus)
        and widget.isVisible()
        and widget.isEnabled()
        and widget.focusProxy() is None
    )
