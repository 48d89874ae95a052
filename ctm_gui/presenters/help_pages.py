"""The pages of help: Markdown files of ``docs/help``, one a view, found by the view's class.

A view needs no entry anywhere: ``HistoryView`` has the page ``history.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from predictor.core.resources import help_dir

INDEX = "index"
_SUFFIXES = re.compile(r"(View|Panel|Bar|List|Dialog|Page|Tabs|Window|Wizard|Palette)$")
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


def contents() -> list[tuple[str, str]]:
    """Return the pages that the index links to, in its order: name and title."""
    links = ((name, title) for title, name in _LINK.findall(page_text(INDEX)))
    return [(INDEX, "Begin"), *dict.fromkeys(links)]


def view_name(class_name: str) -> str:
    """Return the name of a view by its class: ``WhatIfBar`` is ``what-if``."""
    stem = _SUFFIXES.sub("", class_name)
    return re.sub(r"(?<!^)(?=[A-Z])", "-", stem).lower()


def page_of(class_names: Iterable[str]) -> str:
    """Return the page of the first class that has one, else the index.

    Args:
        class_names: of the widget with the focus and of what it lies in, from inside out.
    """
    names = map(view_name, class_names)
    return next((name for name in names if has_page(name)), INDEX)
