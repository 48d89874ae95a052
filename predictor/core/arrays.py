"""Types of arrays, and records of arrays that share their first axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Places = NDArray[np.integer] | Bools | slice | tuple[slice, None]
"""Index of some rows: their places, which of them, a part, or all with an axis of 1 after them."""


class ArrayRecord:
    """A frozen dataclass whose fields are arrays with a row for each item."""

    __slots__ = ()

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the items of several records, one after the other."""
        return cls(**{n: np.concatenate([getattr(p, n) for p in parts]) for n in cls._names()})

    def take(self, places: Places) -> Self:
        """Return some of the items, in the order of ``places``."""
        return type(self)(**{name: getattr(self, name)[places] for name in self._names()})

    @classmethod
    def _names(cls) -> list[str]:
        record: Any = cls
        return [field.name for field in fields(record)]
