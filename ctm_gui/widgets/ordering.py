"""Sorting by index arrays: stable in both directions, missing values always last."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.intp]

_NUMBER = re.compile("[0-9]+")
# Longer runs of digits are no numbers that a reader compares.
_DIGITS = 18
_ZERO = np.uint8(ord("0"))
# Stands between texts: no name that a person reads holds it.
_BREAK = "\0"


def natural_key(text: str) -> str:
    """Return a sort key by which ``RTX 980`` sorts before ``RTX 3090``, case aside."""
    plain = text.replace(_BREAK, " ").casefold()
    return _NUMBER.sub(lambda run: run.group().zfill(_DIGITS), plain)


def _natural_keys(texts: Sequence[str]) -> list[bytes]:
    """Return keys that sort as natural keys do, of all texts at once: a call for each is slow.

    Bytes of UTF-8 sort as the characters do. Numbers get the digits of the longest, not more.
    """
    joined = _BREAK.join(texts)
    if joined.count(_BREAK) >= len(texts):
        joined = _BREAK.join(text.replace(_BREAK, " ") for text in texts)
    codes = np.frombuffer(joined.casefold().encode(errors="surrogatepass"), np.uint8)
    is_digit = codes - _ZERO < 10  # what comes before 0 wraps round
    # Start and end of each run of digits, in turn.
    edges = np.flatnonzero(np.diff(is_digit, prepend=False, append=False))
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    missing = np.maximum(min(lengths.max(initial=0), _DIGITS) - lengths, 0)
    return np.insert(codes, np.repeat(starts, missing), _ZERO).tobytes().split(_BREAK.encode())


def text_ranks(texts: Sequence[str]) -> FloatArray:
    """Return each text's rank in natural order, equal texts alike and an empty one NaN.

    Args:
        texts: N texts.

    Returns:
        float64 [N]; NaN marks an empty text, which sorts last.
    """
    distinct = list(dict.fromkeys(filter(None, texts)))
    keys = _natural_keys(distinct)
    by_key = sorted(range(len(distinct)), key=keys.__getitem__)
    ranks = np.empty(len(distinct))
    ranks[by_key] = np.arange(len(distinct))
    if len(distinct) == len(texts):
        return ranks
    rank_of = dict(zip(distinct, ranks.tolist(), strict=True)) | {"": np.nan}
    return np.fromiter(map(rank_of.__getitem__, texts), np.float64, len(texts))


def number_keys(values: Sequence[float | None] | FloatArray) -> FloatArray:
    """Return ``values`` as float64 [N] with NaN for None."""
    return np.array(values, dtype=np.float64)


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
