"""Where a part of a window is entered by keys."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QWidget


def content_of(part: QWidget) -> QWidget:
    """Return where a part is entered: its first table or tree, else what Tab reaches first."""
    tables = (view for view in part.findChildren(QAbstractItemView) if _takes_tab(view))
    return next(tables, None) or first_focusable(part) or part


def first_focusable(part: QWidget) -> QWidget | None:
    """Return the first widget of a part that Tab can reach; a view that was left is remembered."""
    last = part.focusWidget()
    if last is not None and last.isVisible() and last.isEnabled():
        return last
    widget: QWidget | None = part
    while widget is not None and not _takes_tab(widget):
        following = widget.nextInFocusChain()
        widget = following if following is not part and holds(part, following) else None
    return widget


def holds(part: QWidget, widget: QWidget | None) -> bool:
    """Return whether a widget is a part or in it."""
    return widget is not None and (widget is part or part.isAncestorOf(widget))


def _takes_tab(widget: QWidget) -> bool:
    policy = widget.focusPolicy()
    return (
        bool(policy & Qt.FocusPolicy.TabFocus)
        and widget.isVisible()
        and widget.isEnabled()
        and widget.focusProxy() is None
    )
