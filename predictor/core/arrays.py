"""Types of arrays, and records of arrays that share their first axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Places = NDArray[np.integer] | Bools | slice | tuple[slice, None]
"""Index of rows: their places, a flag a row, a slice, or all rows with an axis of 1 after them."""


class ArrayRecord:
    """A frozen dataclass whose fields are arrays with a row for each item."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the items of several records, one after the other."""
        columns = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(cls)
        }
        return cls(**columns)

    def take(self, places: Places) -> Self:
        """Return some of the items, in the order of ``places``."""
        return type(self)(
            **{field.name: getattr(self, field.name)[places] for field in fields(self)}
        )
