"""A model in text: its sums, inputs, outputs, open dimensions, notes and operators."""

from __future__ import annotations

import os
from collections.abc import Iterator

from predictor.cli.tables import render_table
from predictor.core.tensors import TensorInfo
from predictor.core.text import printable, shortened
from predictor.core.units import format_bytes, format_count
from predictor.graph.model import ONNX, Model
from predictor.presentation.wording import shape_text
from predictor.services.models.inspection import totals
from predictor.services.models.operator_facts import operator_facts

# A name from a file may be megabytes long; a table cell shows its two ends.
NAME_COLUMNS = 48
_HEADERS = ("Operator", "Type", "Output", "MACs", "Bytes", "Weights", "")
_RIGHT = "   rrr"


def describe(model: Model) -> str:
    """Return a few lines on a model: its sums, inputs, outputs, open dimensions and notes."""
    return "\n".join(_lines(model))


def model_and_operators(model: Model) -> str:
    """Return the lines on a model and the table of its operators."""
    return f"{describe(model)}\n\n{_operator_table(model)}"


def headline(model: Model) -> str:
    """Return a model's name and sums in one line."""
    sums = totals(model)
    facts = [
        f"{format_count(sums['params'])} parameters",
        f"{format_count(sums['macs'])} MACs",
        f"{sums['operators']} operators",
        f"{format_bytes(sums['bytes_moved'])} moved",
        *_format(model),
    ]
    return f"{printable(os.path.basename(model.path))}: {', '.join(facts)}"  # noqa: PTH119


def _format(model: Model) -> list[str]:
    if model.format != ONNX:
        return [model.format]
    opset = model.opsets.get("")
    return [] if opset is None else [f"opset {opset}"]


def dimension_lines(model: Model) -> Iterator[str]:
    """Yield a line for each dimension that the file leaves open, with its value."""
    for dimension in model.dynamic:
        origin = dimension.reason if dimension.value == dimension.default else "as you set it"
        yield f"{shortened(dimension.name, NAME_COLUMNS)} = {dimension.value} ({origin})"


def _lines(model: Model) -> Iterator[str]:
    yield headline(model)
    for word, tensors in (("input", model.inputs), ("output", model.outputs)):
        for tensor in tensors:
            yield f"  {word} {_tensor_text(tensor)}"
    yield from (f"  {line}" for line in dimension_lines(model))
    yield from (f"  {printable(note)}" for note in model.notes)


def _tensor_text(tensor: TensorInfo) -> str:
    return f"{shortened(tensor.name, NAME_COLUMNS)}: {tensor.dtype} {shape_text(tensor.shape)}"


def _operator_table(model: Model) -> str:
    facts = operator_facts(model)
    columns = zip(
        facts.names,
        facts.op_types,
        facts.output_shapes,
        facts.macs.tolist(),
        facts.bytes_moved.tolist(),
        facts.weight_bytes.tolist(),
        facts.flags,
        strict=True,
    )
    rows = [
        (
            shortened(name, NAME_COLUMNS),
            shortened(op_type, NAME_COLUMNS),
            shape_text(shape),
            format_count(macs) if macs else "",
            format_bytes(traffic),
            format_bytes(weights) if weights else "",
            printable(flags),
        )
        for name, op_type, shape, macs, traffic, weights, flags in columns
    ]
    return render_table(_HEADERS, rows, _RIGHT)
