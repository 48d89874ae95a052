"""Commands of the palette, matched by a few letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One action of the window.

    Attributes:
        id: of the action.
        menu: title of its menu.
        text: its words.
        keys: its shortcut in the words of the system, or empty.
        tip: one sentence, or empty.
        enabled: whether it can be done now.
    """

    id: str
    menu: str
    text: str
    keys: str = ""
    tip: str = ""
    enabled: bool = True


def matching(commands: Sequence[Command], asked: str) -> list[Command]:
    """Return the commands that hold every word of ``asked``; best first.

    A word that begins a word of the text counts more than one inside it, and one of the text more
    than one of its menu or sentence. What cannot be done now comes last.
    """
    words = asked.casefold().split()
    ranked = [(_rank(command, words), command) for command in commands]
    matches = [(rank, command) for rank, command in ranked if rank is not None]
    matches.sort(key=lambda pair: (not pair[1].enabled, pair[0]))
    return [command for _, command in matches]


def _rank(command: Command, words: Sequence[str]) -> int | None:
    """Return how far a command is from what is asked; None where a word is missing."""
    text = command.text.casefold()
    rest = f"{command.menu} {command.tip}".casefold()
    distance = 0
    for word in words:
        if any(part.startswith(word) for part in text.split()):
            continue
        if word in text:
            distance += 1
        elif word in rest:
            distance += 2
        else:
            return None
    return distance
