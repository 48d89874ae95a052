"""Sorting by index arrays: stable in both directions, what is missing always last."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]

# Longer runs of digits are no numbers that a reader compares.
_NUMBER = re.compile(r"\d{1,18}")
_NUMBERS = re.compile(r"(\d{1,18})")
_DIGITS = 18
# Stands between texts: no name that a person reads holds it.
_BREAK = "\0"


def natural_key(text: str) -> str:
    """Return a sort key in which ``RTX 980`` sorts before ``RTX 3090``, case aside."""
    plain = text.replace(_BREAK, " ").casefold()
    return _NUMBER.sub(lambda run: run.group().zfill(_DIGITS), plain)


def _natural_keys(texts: Sequence[str]) -> list[str]:
    """Return the natural keys of many texts: all are split at once, a call for each is slow."""
    parts = _NUMBERS.split(_BREAK.join(text.replace(_BREAK, " ") for text in texts).casefold())
    parts[1::2] = [digits.zfill(_DIGITS) for digits in parts[1::2]]
    return "".join(parts).split(_BREAK) if texts else []


def text_ranks(texts: Sequence[str]) -> FloatArray:
    """Return each text's rank in natural order, equal texts alike and an empty one NaN.

    Args:
        texts: N texts.

    Returns:
        float64 [N]; NaN marks an empty text, which sorts last.
    """
    distinct = list(dict.fromkeys(text for text in texts if text))
    ranked = [text for _, text in sorted(zip(_natural_keys(distinct), distinct, strict=True))]
    rank_of = {text: float(rank) for rank, text in enumerate(ranked)}
    return np.fromiter((rank_of.get(text, np.nan) for text in texts), np.float64, len(texts))


def number_keys(values: Sequence[float | None]) -> FloatArray:
    """Return ``values`` as float64 [N] with NaN for None."""
    return np.fromiter(
        (np.nan if value is None else value for value in values), np.float64, len(values)
    )


def stable_order(keys: FloatArray, *, descending: bool = False) -> IndexArray:
    """Return the permutation that sorts ``keys``; equal keys keep their order, NaN comes last.

    Args:
        keys: float64 [N].
        descending: largest first; equal keys keep their order here too.

    Returns:
        intp [N], a permutation of 0 .. N-1.
    """
    # argsort places NaN last whatever its sign, so negation turns the order of numbers alone.
    return np.argsort(-keys if descending else keys, kind="stable")
