"""Inputs and outputs of a model, and the dimensions that its file leaves open."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DynamicDimension:
    """A dimension of a model's input that the file leaves open.

    Attributes:
        name: the file's name for it (``batch``), or ``input:axis`` where it has none.
        value: that it is bound to now.
        default: that it is bound to unless the user says otherwise.
        reason: for this default, in a few words.
    """

    name: str
    value: int
    default: int
    reason: str


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """An input or output of a model: its dims as in the file, and as bound."""

    name: str
    dtype: str
    declared: tuple[int | str, ...]
    shape: tuple[int, ...]
