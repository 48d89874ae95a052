"""Facts of runs that follow from graph and target alone: the same for every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from predictor.graph.operator_graph import OperatorFlag, OperatorGraph

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_UNCOUNTED = OperatorFlag.UNKNOWN | OperatorFlag.UNKNOWN_TRIPS


class Row(Protocol[T_co]):
    """Values of one field of predictions, one a target."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> T_co: ...

    def __iter__(self) -> Iterator[T_co]: ...


class Computed(Generic[T]):
    """A row whose values are computed as they are read: of many targets few may be looked at."""

    def __init__(self, length: int, value: Callable[[int], T]) -> None:
        """Make a row; ``value`` returns that of a place, 0 to ``length - 1``."""
        self._length, self._value = length, value

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: int, /) -> T:
        return self._value(place)

    def __iter__(self) -> Iterator[T]:
        return map(self._value, range(self._length))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Computed | list) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


Facts = Mapping[str, Sequence[Row[Any]]]
"""Values of fields of ``Prediction`` by name, G rows of T."""


def uncounted(graph: OperatorGraph) -> tuple[str, ...]:
    """Return the names of the operators of unknown cost, which latencies leave out."""
    places = np.flatnonzero(graph.has_flag(_UNCOUNTED)).tolist()
    return tuple(graph.names[place] for place in places)
