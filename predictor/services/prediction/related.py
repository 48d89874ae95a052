"""Models that can stand in for one another, so that the faster one is an answer."""

from __future__ import annotations

from collections.abc import Iterable

from predictor.core.tensors import TensorInfo
from predictor.graph.model import Model

_Shapes = tuple[tuple[int, ...], ...]


def are_related(models: Iterable[Model]) -> bool:
    """Whether each of several models can stand in for each other.

    They can where the shapes of their inputs are equal, and those of their outputs, in any order
    and without the first dimension, the batch. Names and types do not count: a quantised or
    half-precision export of a network stands in for it.
    """
    return len({_signature(model) for model in models}) < 2


def _signature(model: Model) -> tuple[_Shapes, _Shapes]:
    return _shapes(model.inputs), _shapes(model.outputs)


def _shapes(tensors: Iterable[TensorInfo]) -> _Shapes:
    return tuple(sorted(tensor.shape[1:] for tensor in tensors))
