"""A step of an undo stack of the window: it has one for each place."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtGui import QUndoCommand, QUndoStack

# Letters of a word and digits of a number follow each other faster than this.
_TYPING_S = 1.0


V = TypeVar("V")


def push_change(
    stack: QUndoStack,
    text: str,
    set_value: Callable[[V], object],
    after: V,
    before: V,
    typed: str = "",
    page: str = "",
) -> None:
    """Push the step from one value to another; the other arguments are those of UndoStep."""
    redo, undo = partial(set_value, after), partial(set_value, before)
    stack.push(UndoStep(text, redo, undo, typed, page))


class UndoStep(QUndoCommand):
    """Does something when it is pushed on a stack, takes it back, and does it again.

    Args:
        text: its words in the Edit menu.
        redo: does it, the first time too.
        undo: takes it back.
        typed: names the field that was typed into, whose letters are one step while they follow one
            another; empty for a step of its own.
        page: id of the page that shows what it changes; empty where every page of its place does.
    """

    def __init__(
        self,
        text: str,
        redo: Callable[[], object],
        undo: Callable[[], object],
        typed: str = "",
        page: str = "",
    ) -> None:
        super().__init__(text)
        self._undo = undo
        self.page = page
        self.again, self.typed, self.at_s = redo, typed, time.monotonic()

    def id(self) -> int:
        """Return the kind of step that merges."""
        # Qt merges only commands of one id, and never those of -1.
        return 2 if self.typed else -1

    def mergeWith(self, other: QUndoCommand) -> bool:  # noqa: N802 - Qt's name
        """Merge what was typed on in the same field into this step."""
        if not isinstance(other, UndoStep) or other.typed != self.typed:
            return False
        if other.at_s - self.at_s > _TYPING_S:
            return False
        self.again, self.at_s = other.again, other.at_s
        self.setText(other.text())
        empty_merged(other)
        return True

    def redo(self) -> None:
        """Do it."""
        self.again()

    def undo(self) -> None:
        """Take it back."""
        self._undo()


def empty_merged(step: QUndoCommand) -> None:
    """Take from a step all that it refers to, once another one has merged it.

    PySide gives the stack a reference to it after Qt has deleted it, which nothing ends.
    """
    vars(step).clear()


def page_of(stack: QUndoStack, *, redo: bool = False) -> str:
    """Return the id of the page that shows what the next step of a stack changes, or nothing."""
    step = stack.command(stack.index() - (not redo))
    return getattr(step, "page", "")
