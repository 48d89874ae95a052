"""Rows of predictions as text, a model's at a time: JSON lines or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Final

from predictor.core.csv_style import CsvStyle
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
    CSV_COMMA = "csv, decimal commas"

    @property
    def style(self) -> CsvStyle | None:
        """Style of a table; None of JSON lines."""
        styles = {RowForm.CSV: CsvStyle.POINT, RowForm.CSV_COMMA: CsvStyle.COMMA}
        return styles.get(self)


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
    style = form.style
    if style is None:
        empty = dict.fromkeys(NAMES)
        return "".join([json.dumps({**empty, **row}) + "\n" for row in rows]).encode()
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, NAMES, restval="", delimiter=style.separator)
    for row in rows:
        table.writerow({name: _cell(value, style) for name, value in row.items()})
    return text.getvalue().encode()


def _cell(value: object, style: CsvStyle) -> object:
    return style.number(str(value)) if isinstance(value, float) else value


def header_text(form: RowForm) -> bytes:
    """Return the text before the first row."""
    return b"" if form.style is None else (form.style.separator.join(NAMES) + "\r\n").encode()


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
