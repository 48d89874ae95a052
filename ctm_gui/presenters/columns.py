"""Columns of texts, counts and numbers that are there already, an entry a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ctm_gui.presenters.grid import Column
from ctm_gui.presenters.ordering import FloatArray, text_ranks
from predictor.core.units import format_count
from predictor.core.wording import NOTHING, number, plain_number


def text_column(key: str, title: str, texts: Sequence[str], help_text: str = "") -> Column:
    """Return a column of texts; a dash sorts last."""
    return Column(
        key,
        title,
        numeric=False,
        text=lambda row: texts[row],
        sort_keys=lambda: text_ranks(["" if text == NOTHING else text for text in texts]),
        help=help_text,
    )


def count_column(key: str, title: str, counts: Sequence[int]) -> Column:
    """Return a column of counts with decimal prefixes; a copy holds them in full."""
    return Column(
        key,
        title,
        numeric=True,
        text=lambda row: format_count(counts[row]),
        sort_keys=lambda: np.array(counts, dtype=np.float64),
        copied=lambda rows: [str(counts[row]) for row in rows],
    )


def number_column(
    key: str,
    title: str,
    values: FloatArray,
    help_text: str = "",
    write: Callable[[float], str] = number,
) -> Column:
    """Return a column of numbers, float64 [N] with NaN where there is none."""
    return Column(
        key,
        title,
        numeric=True,
        text=lambda row: write(float(values[row])),
        sort_keys=lambda: values,
        copied=lambda rows: [plain_number(value) for value in values[rows].tolist()],
        help=help_text,
    )
