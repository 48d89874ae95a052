"""Rows of predictions as text, a model's at a time: JSON lines or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Final

from predictor.core.prediction import TIMES, Prediction

NUMBERS: Final = (*TIMES, "p90_ms", "p99_ms", "bound_ms", "basis")
NAMES: Final = (
    *("model", "fingerprint", "device", "runtime", "precision", "threads", "batch"),
    *NUMBERS,
    *("memory_bytes", "engine", "problem"),
)
_numbers = attrgetter(*NUMBERS)

Row = Mapping[str, object]


class RowForm(StrEnum):
    """Form of the text."""

    JSON_LINES = "jsonl"
    CSV = "csv"


def predictions_text(path: str, predictions: Iterable[Prediction], form: RowForm) -> bytes:
    """Return the rows of one model.

    Args:
        path: of its file, as the user gave it.
        predictions: one a target.
        form: of the text.
    """
    return rows_text([_row(path, prediction) for prediction in predictions], form)


def rows_text(rows: Sequence[Row], form: RowForm) -> bytes:
    """Return rows as text; a column that one lacks is null, in CSV empty."""
    if form is RowForm.JSON_LINES:
        empty = dict.fromkeys(NAMES)
        return "".join([json.dumps({**empty, **row}) + "\n" for row in rows]).encode()
    text = io.StringIO(newline="")
    csv.DictWriter(text, NAMES, restval="").writerows(rows)
    return text.getvalue().encode()


def header_text(form: RowForm) -> bytes:
    """Return the text before the first row."""
    return (",".join(NAMES) + "\r\n").encode() if form is RowForm.CSV else b""


def _row(path: str, prediction: Prediction) -> dict[str, object]:
    configuration, memory = prediction.configuration, prediction.memory
    return {
        "model": path,
        "fingerprint": prediction.fingerprint,
        "device": prediction.device_id,
        "runtime": configuration.runtime,
        "precision": str(configuration.precision),
        "threads": configuration.threads,
        "batch": configuration.batch,
        **dict(zip(NUMBERS, _numbers(prediction), strict=True)),
        "memory_bytes": None if memory is None else memory.peak_bytes,
        "engine": prediction.engine,
        "problem": prediction.problem or None,
    }
