"""Words and cells that several sections share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from predictor.core.prediction import Prediction
from predictor.core.text import shortened
from predictor.core.units import LatencyUnit, format_bytes, format_count
from predictor.presentation.report import Cell, Column, Row, Table
from predictor.presentation.wording import p50_text, percent

_BRIEF = 56
_MODELS = 4  # that are named before a sentence

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Field(Generic[T]):
    """A column of a table, and its cell in the row of a thing."""

    column: Column
    cell: Callable[[T], Cell]


def words(key: str, title: str, of: Callable[[T], str]) -> Field[T]:
    """Return a column of words."""
    return Field(Column(key, title), lambda thing: Cell(of(thing)))


def figures(key: str, title: str, of: Callable[[T], Cell]) -> Field[T]:
    """Return a column of figures."""
    return Field(Column(key, title, is_number=True), of)


def table_of(fields: Sequence[Field[T]], things: Iterable[T], title: str = "") -> Table:
    """Return a row a thing."""
    rows = (Row(tuple(field.cell(thing) for field in fields)) for thing in things)
    return Table(tuple(field.column for field in fields), tuple(rows), title)


def integer(value: int) -> Cell:
    """Return a cell of a small integer."""
    return Cell(str(value), float(value))


def count(value: int) -> Cell:
    """Return a cell of an integer with every digit."""
    return Cell(f"{value:,}".replace(",", " "), float(value))


def latency_words(prediction: Prediction, unit: LatencyUnit) -> str:
    """Write a prediction's P50 with its unit."""
    return p50_text(prediction, unit)


def counted(value: int) -> Cell:
    """Return a cell of a count with a decimal prefix."""
    return Cell(format_count(value), float(value))


def size(value: int) -> Cell:
    """Return a cell of a number of bytes."""
    return Cell(format_bytes(value), float(value))


def share(value: float) -> Cell:
    """Return a cell of a share as a percentage."""
    return Cell(percent(value), value)


def brief(name: str) -> str:
    """Return a name as it stands in a sentence."""
    return shortened(name, _BRIEF)


def by_sentence(remarks: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """Yield each sentence once, after the models that it is about; one model is not named.

    Args:
        remarks: each model's name with its sentences.
    """
    names: dict[str, dict[str, None]] = {}
    for name, sentences in remarks:
        for sentence in sentences:
            names.setdefault(sentence, {})[name] = None
    for sentence, of in names.items():
        if len(remarks) == 1:
            yield sentence
        else:
            subject = (
                f"All {len(remarks)} models" if len(of) == len(remarks) else joined([*of], _MODELS)
            )
            yield f"{subject}: {sentence}"


def joined(names: Sequence[str], limit: int = 8) -> str:
    """Join names by commas; those beyond ``limit`` are counted."""
    rest = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {rest} more" if rest > 0 else "")
