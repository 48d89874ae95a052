"""Help and commands: pages of docs/help by a view's class, actions by a few letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from predictor.core.resources import help_dir

INDEX = "index"
_SUFFIXES = re.compile(r"(View|Panel|Bar|List|Dialog|Page|Tabs|Window|Wizard|Palette)$")
_PICTURE = re.compile(r"([a-z]+)-light\.png")
_LINK = re.compile(r"\[([^\]]+)\]\(([a-z0-9-]+)\.md\)")


def page_text(name: str) -> str:
    """Return the Markdown of a page; the index says so where there is none of that name."""
    path = help_dir() / f"{name}.md"
    if path.parent != help_dir() or not path.is_file():
        return f"# No such page\n\nThere is no page `{name}`. Go to [all pages]({INDEX}.md).\n"
    return path.read_text(encoding="utf-8")


def has_page(name: str) -> bool:
    """Whether there is a page of this name."""
    return (help_dir() / f"{name}.md").is_file()


def picture_path(name: str, *, is_dark: bool) -> Path | None:
    """Return the file of a picture in the colours of a theme; None where there is none.

    Args:
        name: as a page has it, ``compare-light.png``.
        is_dark: whether the dark theme is shown.
    """
    stem = _PICTURE.fullmatch(name)
    if stem is None:
        return None
    path = help_dir() / "pictures" / f"{stem[1]}-{'dark' if is_dark else 'light'}.png"
    return path if path.is_file() else None


def contents() -> list[tuple[str, str]]:
    """Return the pages that the index links to, in its order: name and title."""
    links = ((name, title) for title, name in _LINK.findall(page_text(INDEX)))
    return [(INDEX, "Begin"), *dict.fromkeys(links)]


def view_name(class_name: str) -> str:
    """Return the name of a view by its class: ``WhatIfBar`` is ``what-if``."""
    stem = _SUFFIXES.sub("", class_name)
    return re.sub(r"(?<!^)(?=[A-Z])", "-", stem).lower()


def page_of(class_names: Iterable[str]) -> str:
    """Return the page of the first class that has one, empty where none has.

    Args:
        class_names: of the widget with the focus and of its parents, from inside out.
    """
    names = map(view_name, class_names)
    return next(filter(has_page, names), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One action of the window, or devices to tick.

    Attributes:
        id: of the action.
        menu: title of its menu.
        text: its words.
        keys: its shortcut in the words of the system, or empty.
        tip: one sentence, or empty.
        enabled: whether it can be done now.
        device_ids: that it ticks; none for an action.
    """

    id: str
    menu: str
    text: str
    keys: str = ""
    tip: str = ""
    enabled: bool = True
    device_ids: tuple[str, ...] = ()


def matching(commands: Sequence[Command], query: str) -> list[Command]:
    """Return the commands that hold every word of ``query``; best first.

    A word that begins a word of the text counts more than one inside it, and one of the text more
    than one of its menu or sentence. Commands that are disabled now come last.
    """
    words = query.casefold().split()
    ranked = [(_rank(command, words), command) for command in commands]
    matches = [(rank, command) for rank, command in ranked if rank is not None]
    matches.sort(key=lambda pair: (not pair[1].enabled, pair[0]))
    return [command for _, command in matches]


def _rank(command: Command, words: Sequence[str]) -> int | None:
    """Return the distance of a command from the words asked for; None where one is missing."""
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
