"""Helpers of these tests: read a text as a file, and check what a user sees of a broken one."""

from __future__ import annotations

import re

import pytest

from predictor.core.errors import InputError
from predictor.probing.importers.records import ImportedFile
from predictor.probing.importers.registry import import_bytes


def read(text: str | bytes, name: str = "results.txt") -> ImportedFile:
    return import_bytes(name, text if isinstance(text, bytes) else text.encode())


def refusal(text: str | bytes, name: str = "results.txt") -> str:
    """Return the one sentence that a broken file gets."""
    with pytest.raises(InputError) as caught:
        read(text, name)
    sentence = str(caught.value)
    assert sentence.startswith(name)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


def changed(text: str, old: str, new: str) -> str:
    """Return ``text`` with one change, which must be possible."""
    assert text.count(old) >= 1, f"{old!r} is not in the sample"
    return text.replace(old, new, 1)


def line_of(sentence: str) -> int:
    match = re.search(r", line (\d+):", sentence)
    assert match, sentence
    return int(match[1])
