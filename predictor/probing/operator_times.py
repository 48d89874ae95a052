"""Times of the nodes of a measured network, in results documents and in provenances.

Both hold ``[name, op_type, time_ns]`` in the order of running, as onnxruntime names its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from predictor.core.documents import Provenance
from predictor.probing.runner.settings import LONGEST_NAME, MAX_OPERATORS

_LONGEST_NS = 10**12


@dataclass(frozen=True, slots=True)
class OperatorTime:
    """Time of one entry of a profile, under the tool's name for it.

    Attributes:
        name: of the (often fused) operator; empty where the file states the type alone.
        op_type: the tool's word for its type, empty where it has none.
        time_ms: of one run; 0 where the tool's clock was too coarse.
        unit: compute unit or provider that ran it, empty where it is not stated.
    """

    name: str
    op_type: str
    time_ms: float
    unit: str = ""


def checked_operators(value: object) -> tuple[OperatorTime, ...]:
    """Return a document's times of nodes.

    Raises:
        ValueError: it is no list of nodes with a name, a type and a time, or it is too long.
    """
    if not isinstance(value, list) or len(value) > MAX_OPERATORS:
        raise ValueError(f"operators is no list of at most {MAX_OPERATORS:,} nodes")
    return tuple(_checked(entry) for entry in value)


def _checked(entry: object) -> OperatorTime:
    if not isinstance(entry, list) or len(entry) != 3:
        raise ValueError("an operator is no list of name, type and time")
    name, op_type, time_ns = entry
    for text in (name, op_type):
        if not isinstance(text, str) or len(text) > LONGEST_NAME:
            raise ValueError(
                f"an operator's name or type is no text of at most {LONGEST_NAME} characters"
            )
    # JSON's true is an int to Python.
    number = isinstance(time_ns, int | float) and not isinstance(time_ns, bool)
    if not number or not 0 <= time_ns < _LONGEST_NS:  # nor is NaN
        raise ValueError("an operator's time is no number of nanoseconds from 0")
    return OperatorTime(name, op_type, time_ns / 1e6)


def triples(operators: Sequence[OperatorTime]) -> list[list[str | int]]:
    """Return operators as documents hold them; none of a network that has too many."""
    if len(operators) > MAX_OPERATORS:
        return []
    return [
        [entry.name[:LONGEST_NAME], entry.op_type[:LONGEST_NAME], round(entry.time_ms * 1e6)]
        for entry in operators
    ]


def operator_times(provenance: Provenance) -> tuple[OperatorTime, ...]:
    """Return the time of each node from a measurement's provenance; empty where it has none.

    A malformed list counts as none: another program may have written it.
    """
    try:
        return checked_operators(provenance.content.get("operators", []))
    except ValueError:
        return ()
