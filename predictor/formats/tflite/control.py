"""Loops and branches, whose bodies are subgraphs of the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from onnx import TensorProto

from predictor.formats.builder import ModelBuilder
from predictor.formats.tflite.file import Operator, Subgraph
from predictor.formats.tflite.layouts import as_filed
from predictor.formats.tflite.translation import Translation

Body: TypeAlias = Callable[[Translation], None]
"""Adds the operators of a subgraph."""

_COMPARISONS: Final = {"LESS": 0, "LESS_EQUAL": 1, "NOT_EQUAL": 0}
# Of several conditions that all hold the first to fail ends a loop; of these no single one does.
_UNBOUNDED: Final = frozenset({"LOGICAL_NOT", "LOGICAL_OR"})
_MAX_TRIPS: Final = 10**7


def loop(translation: Translation, operator: Operator, prefix: str, translate: Body) -> None:
    """Translate WHILE to a Loop, with the number of its trips where a counter has a bound."""
    subgraphs = translation.file.subgraphs
    condition = subgraphs[operator.option("CondSubgraphIndex")]
    graph = subgraphs[operator.option("BodySubgraphIndex")]
    trips = _trips(translation, operator, condition, graph)
    builder = translation.builder.body()
    builder.input(builder.fresh("trip"), TensorProto.INT64, [])
    goes_on = builder.fresh("condition")
    builder.input(goes_on, TensorProto.BOOL, [])
    inner = Translation(translation.file, graph, builder, prefix)
    for index in graph.inputs:
        tensor, layout = inner.tensor(index), as_filed(inner.rank(index))
        name = inner.free_name(index)
        builder.input(name, tensor.dtype or TensorProto.FLOAT, None)
        inner.define(index, name, layout)
    translate(inner)
    again = builder.node("Identity", [goes_on])
    builder.output(again, TensorProto.BOOL, [])
    _add_outputs(inner, builder, graph)
    count = "" if trips is None else translation.builder.constant(np.array(trips, np.int64))
    start = [_start(translation, index) for index in operator.inputs]
    _add(translation, operator, "Loop", [count, "", *start], body=builder.graph)


def _start(translation: Translation, index: int) -> str:
    """Return the first state of a loop, its batch of one fixed as in the states of the body.

    Without it another batch would be multiplied with states of one, and counted too low.
    """
    tensor = translation.tensor(index)
    value = translation.value(index, as_filed(len(tensor.dims)))
    units = [axis for axis, size in enumerate(tensor.dims) if size == 1]
    if translation.is_constant(index) or -1 in tensor.signature or not units:
        return value
    axes = translation.builder.constant(units)
    flat = translation.builder.node("Squeeze", [value, axes])
    return translation.builder.node("Unsqueeze", [flat, axes])


def branch(translation: Translation, operator: Operator, prefix: str, translate: Body) -> None:
    """Translate IF, whose branches read what it passes to them."""
    bodies: list[ModelBuilder] = []
    for name in ("Then", "Else"):
        graph = translation.file.subgraphs[operator.option(f"{name}SubgraphIndex")]
        builder = translation.builder.body()
        inner = Translation(translation.file, graph, builder, f"{prefix}{name.lower()}/")
        for index, outer in zip(graph.inputs, operator.inputs[1:], strict=True):
            layout = as_filed(translation.rank(outer))
            inner.define(index, translation.value(outer, layout), layout)
        translate(inner)
        _add_outputs(inner, builder, graph)
        bodies.append(builder)
    inputs = [translation.value(operator.inputs[0])]
    _add(
        translation,
        operator,
        "If",
        inputs,
        then_branch=bodies[0].graph,
        else_branch=bodies[1].graph,
    )


def _add_outputs(inner: Translation, builder: ModelBuilder, graph: Subgraph) -> None:
    """Name the results of a body anew: they may be its inputs, or the same one twice."""
    for index in graph.outputs:
        tensor = inner.tensor(index)
        value = inner.value(index, as_filed(len(tensor.dims)))
        name = builder.node("Identity", [value])
        builder.output(name, tensor.dtype or TensorProto.FLOAT)


def _add(
    translation: Translation,
    operator: Operator,
    op_type: str,
    inputs: Sequence[str],
    **bodies: Any,
) -> None:
    names = [translation.free_name(index) for index in operator.outputs]
    translation.builder.node(op_type, inputs, names, name=names[0] if names else "", **bodies)
    for index, name in zip(operator.outputs, names, strict=True):
        translation.define(index, name, as_filed(translation.rank(index)))


def _trips(
    translation: Translation, operator: Operator, condition: Subgraph, body: Subgraph
) -> int | None:
    """Return the trips of a loop whose condition compares counters with constants."""
    conditions = Translation(translation.file, condition, translation.builder)
    bodies = Translation(translation.file, body, translation.builder)
    trips: list[int] = []
    if any(test.type in _UNBOUNDED for test in condition.operators):
        return None
    for test in condition.operators:
        if test.type not in _COMPARISONS or test.inputs[0] not in condition.inputs:
            continue
        place = condition.inputs.index(test.inputs[0])
        limit = _number(conditions, test.inputs[1])
        if limit is None and test.inputs[1] in condition.inputs:
            limit = _number(translation, operator.inputs[condition.inputs.index(test.inputs[1])])
        start, step = _number(translation, operator.inputs[place]), _step(bodies, body, place)
        if limit is not None and start is not None and step:
            trips.append(-(-(limit + _COMPARISONS[test.type] - start) // step))
    count = min(trips, default=-1)
    return count if 0 <= count <= _MAX_TRIPS else None


def _step(bodies: Translation, body: Subgraph, place: int) -> int | None:
    """Return the step of a counter in one trip, if it is more than 0."""
    maker = bodies.producers.get(body.outputs[place])
    if maker is None or maker.type != "ADD" or body.inputs[place] not in maker.inputs:
        return None
    steps = [_number(bodies, index) for index in maker.inputs if index != body.inputs[place]]
    return steps[0] if len(steps) == 1 and steps[0] and steps[0] > 0 else None


def _number(translation: Translation, index: int) -> int | None:
    numbers = translation.integers(index) if translation.is_constant(index) else None
    return numbers[0] if numbers is not None and len(numbers) == 1 else None


def writes_of(translation: Translation) -> dict[int, tuple[int, int, frozenset[int]]]:
    """Return the Concats that put one element of a list in the place of another.

    Loops write their results so: the list before the place, the element, the list behind it.

    Returns:
        By the index of the Concat: the list, the element, and the operators of the two parts.
    """
    result: dict[int, tuple[int, int, frozenset[int]]] = {}
    for operator in translation.graph.operators:
        if operator.type != "CONCATENATION" or len(operator.inputs) != 3:
            continue
        before, element, behind = operator.inputs
        parts = [translation.producers.get(index) for index in (before, behind)]
        slices = [part for part in parts if part is not None and part.type == "SLICE"]
        if len(slices) != 2 or slices[0].inputs[0] != slices[1].inputs[0]:
            continue
        data = slices[0].inputs[0]
        is_alone = all(len(translation.users.get(index, ())) == 1 for index in (before, behind))
        has_dims = translation.tensor(data).dims == translation.tensor(operator.outputs[0]).dims
        if is_alone and has_dims:
            steps = frozenset(part.index for part in slices)
            result[operator.index] = data, element, steps
    return result
