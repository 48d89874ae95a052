"""Tags and notes that users give to predictions: their limits, and the form they are stored in."""

from __future__ import annotations

from collections.abc import Iterable

from predictor.core.errors import InputError
from predictor.core.text import shortened

MAX_TAGS = 20
MAX_TAG = 40
MAX_NOTE = 2000


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags as they are stored: trimmed, each once, case kept, in the user's order.

    Raises:
        InputError: one is too long, or there are too many.
    """
    by_folded: dict[str, str] = {}
    for tag in tags:
        word = " ".join(tag.split())
        if word:
            by_folded.setdefault(word.casefold(), word)
    clean = tuple(by_folded.values())
    for tag in clean:
        if len(tag) > MAX_TAG or "," in tag:
            what = "has a comma" if "," in tag else f"has more than {MAX_TAG} characters"
            raise InputError(f"tag {shortened(tag, 30)}", f"it {what}", "write a shorter word")
    if len(clean) > MAX_TAGS:
        raise InputError(
            "the tags", f"{len(clean)} are more than {MAX_TAGS}", "keep those that you search for"
        )
    return clean


def checked_note(note: str) -> str:
    """Return a note without blanks around it.

    Raises:
        InputError: it is too long.
    """
    text = note.strip()
    if len(text) > MAX_NOTE:
        reason = f"it has {len(text)} characters, more than {MAX_NOTE}"
        raise InputError("the note", reason, "shorten it")
    return text
