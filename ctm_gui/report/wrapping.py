"""Lines of a given width: broken between words, within a word only where it must be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctm_gui.report.marks import Style
from ctm_gui.report.typeface import Typeface

ELLIPSIS = "…"
# A name is broken after one of these where it can be (paths, URLs, dotted names), and before an
# escape.
_SEAMS = re.compile(r"(?<=[/._:,;\-×=)])|(?=\\)")


def wrapped(
    typeface: Typeface, text: str, style: Style, width: float, most: int = 10_000
) -> list[str]:
    """Return the lines of a text; the last one ends with a mark where more than ``most`` are due.

    Args:
        typeface: measures.
        text: printable; white space becomes single blanks.
        style: how it is set.
        width: of the lines, over 0.
        most: lines at most.
    """
    lines: list[str] = []
    line = ""
    for word in typeface.drawable(text).split():
        joined = f"{line} {word}" if line else word
        if typeface.width(joined, style) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        *whole, line = _pieces(typeface, word, style, width)
        lines += whole
        if len(lines) > most:
            break
    lines.append(line)
    if len(lines) <= most:
        return lines
    return [
        *lines[: most - 1],
        shortened_to(typeface, f"{lines[most - 1]} {ELLIPSIS}", style, width),
    ]


def shortened_to(typeface: Typeface, text: str, style: Style, width: float) -> str:
    """Return the text in one line, its middle left out with a mark where it is too wide."""
    shown = typeface.drawable(text)
    if typeface.width(shown, style) <= width:
        return shown
    low, high = 0, len(shown)
    while low < high:  # the most characters that fit
        middle = (low + high + 1) // 2
        if typeface.width(_without_middle(shown, middle), style) <= width:
            low = middle
        else:
            high = middle - 1
    return _without_middle(shown, low)


def _without_middle(text: str, kept: int) -> str:
    head = (kept + 1) // 2
    return text[:head] + ELLIPSIS + text[len(text) - (kept - head) :]


def _pieces(typeface: Typeface, word: str, style: Style, width: float) -> list[str]:
    """Return a word in pieces that fit, broken at seams where that is possible."""
    pieces = [""]
    for part in _parts(typeface, word, style, width):
        joined = pieces[-1] + part
        if not pieces[-1] or typeface.width(joined, style) <= width:
            pieces[-1] = joined
        else:
            pieces.append(part)
    return pieces


def _parts(typeface: Typeface, word: str, style: Style, width: float) -> Iterator[str]:
    """Yield the parts between seams; one that is too wide itself by its characters."""
    for part in _SEAMS.split(word):
        if typeface.width(part, style) <= width:
            yield part
        else:
            yield from part
