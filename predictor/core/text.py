"""Words for people: counted nouns, and untrusted text from files.

Control and direction characters of a file's text are shown escaped.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

# Cc control, Cf format (all direction marks among them), Cs surrogate, Co private, Cn unassigned,
# Zl and Zp line separators: none of them may reach a terminal, a label or a table as it is.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def escaped(character: str) -> str:
    """Return a character as an escape that says its number."""
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def is_plain(text: str) -> bool:
    """Whether ``printable`` leaves ``text``, and every part of it, as it is for sure."""
    return text.isascii() and text.isprintable()


def printable(text: str) -> str:
    r"""Return ``text`` with control and direction characters as ``\uXXXX``; letters stay."""
    if is_plain(text):
        return text
    return "".join(
        escaped(character) if unicodedata.category(character) in _HIDDEN else character
        for character in text
    )


def shortened(text: str, limit: int) -> str:
    """Return printable ``text`` in at most ``limit`` >= 1 characters, its middle left out."""
    plain = printable(text)
    if len(plain) <= limit:
        return plain
    head = (limit - 1) // 2
    return f"{plain[:head]}…{plain[len(plain) - (limit - 1 - head) :]}"


def shortened_distinct(names: Sequence[str], limit: int) -> list[str]:
    """Return names in at most ``limit`` >= 1 characters, their ends left out.

    Where that makes two names alike, the middle of each is left out, see :func:`shortened`.
    """
    cut = [name if len(name) <= limit else f"{name[: limit - 1]}…" for name in names]
    return cut if len(set(cut)) == len(set(names)) else [shortened(n, limit) for n in names]


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun: ``1 model``, ``3 models``, ``2 latencies``.

    Args:
        count: written in front.
        noun: for one, such as ``model``; a verb may follow: ``model fits``.
        nouns: for any other count; empty for ``noun`` with an s.
    """
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"


def capitalised(text: str) -> str:
    """Return text with a capital at its start, the rest as it is."""
    return f"{text[:1].upper()}{text[1:]}"


def uncapitalised(text: str) -> str:
    """Return a label as within a sentence: ``memory bandwidth``, but ``L2`` and ``FP32 peak``."""
    return f"{text[:1].lower()}{text[1:]}" if text[1:2].islower() else text
