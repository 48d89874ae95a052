"""The model sheets: files, tensors and operators by type."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from operator import itemgetter

import numpy as np

from predictor.core.tensors import TensorInfo
from predictor.core.text import plural
from predictor.core.units import format_bytes, format_count
from predictor.graph.model import ONNX, Model
from predictor.presentation.report import Block, Bullets, Cell, Facts, Heading, Section, SectionId
from predictor.presentation.wording import shape_text, shown
from predictor.services.models.inspection import totals
from predictor.services.report.request import ReportedModel, ReportRequest
from predictor.services.report.words import (
    Field,
    count,
    counted,
    figures,
    share,
    size,
    table_of,
    words,
)

_MAX_TYPES = 12
_MAX_TENSORS = 24
_TENSORS: tuple[Field[tuple[str, ...]], ...] = (
    words("tensor", "Tensor", itemgetter(0)),
    words("name", "Name", itemgetter(1)),
    words("dtype", "Type", itemgetter(2)),
    words("shape", "Shape", itemgetter(3)),
    words("declared", "In the file", itemgetter(4)),
)


# Of operators of one type: its name, their count, MACs and bytes moved, and those of the model.
_Sums = tuple[str, list[int], list[int]]
_TYPES: tuple[Field[_Sums], ...] = (
    words("op_type", "Operator type", itemgetter(0)),
    figures("operators", "Count", lambda row: count(row[1][0])),
    figures("macs", "MACs", lambda row: counted(row[1][1])),
    figures("macs_share", "of MACs", lambda row: _part(row, 1)),
    figures("bytes_moved", "Bytes moved", lambda row: size(row[1][2])),
    figures("bytes_share", "of bytes", lambda row: _part(row, 2)),
)


def models_section(request: ReportRequest) -> Section:
    """Return a sheet a model."""
    blocks = [block for model in request.models for block in _sheet(model)]
    title = "Model" if len(request.models) == 1 else "Models"
    return Section(SectionId.MODELS, title, tuple(blocks))


def _sheet(reported: ReportedModel) -> Iterator[Block]:
    model = reported.model
    yield Heading(shown(reported.label))
    yield Facts((*_facts(model), *_at_batches(reported)))
    yield table_of(_TENSORS, _tensors(model), "Inputs and outputs")
    yield table_of(_TYPES, _types(model), "Operators by type")
    if model.notes:
        yield Bullets(tuple(Cell(shown(note)) for note in model.notes))


def _facts(model: Model) -> Iterator[tuple[str, Cell]]:
    sums = totals(model)
    yield "File", Cell(shown(os.path.basename(model.path.replace("\\", "/"))))  # noqa: PTH119
    modified = datetime.fromtimestamp(model.modified_ns / 1e9, UTC).date().isoformat()
    dated = f"{format_bytes(model.size_bytes)} without external weights, of {modified}"
    yield "Size and date", Cell(dated, float(model.size_bytes))
    yield "Fingerprint", Cell(model.graph.fingerprint)
    yield "Parameters", counted(sums["params"])
    yield "MACs", counted(sums["macs"])
    yield "Operators", count(sums["operators"])
    yield "Bytes moved", size(sums["bytes_moved"])
    yield "Weights", size(sums["weight_bytes"])
    yield "Largest live activations", size(sums["peak_activation_bytes"])
    yield "Format", Cell(_format(model))
    if model.producer:
        yield "Made by", Cell(shown(model.producer))
    for dimension in model.dynamic:
        origin = dimension.reason if dimension.value == dimension.default else "as set"
        value = Cell(f"{dimension.value} ({origin})", float(dimension.value))
        yield f"Open dimension {shown(dimension.name)}", value


def _format(model: Model) -> str:
    if model.format != ONNX:
        return model.format
    return ", ".join(
        f"{shown(domain) or ONNX} {version}" for domain, version in model.opsets.items()
    )


def _at_batches(reported: ReportedModel) -> Iterator[tuple[str, Cell]]:
    for batch, model in sorted(reported.batches.items()):
        sums = totals(model)
        activations = format_bytes(sums["peak_activation_bytes"])
        words = f"{format_count(sums['macs'])} MACs, {activations} of largest live activations"
        yield f"At batch {batch}", Cell(words, float(sums["macs"]))


def _tensors(model: Model) -> Iterator[tuple[str, ...]]:
    tensors = [("input", tensor) for tensor in model.inputs]
    tensors += [("output", tensor) for tensor in model.outputs]
    for kind, tensor in tensors[:_MAX_TENSORS]:
        yield kind, *_tensor(tensor)
    rest = len(tensors) - _MAX_TENSORS
    if rest > 0:
        yield f"and {plural(rest, 'more tensor')}", "", "", "", ""


def _tensor(tensor: TensorInfo) -> tuple[str, ...]:
    return shown(tensor.name), tensor.dtype, shape_text(tensor.shape), shape_text(tensor.declared)


def _types(model: Model) -> Iterator[_Sums]:
    """Yield operator types with the most MACs first, then those that move the most bytes."""
    graph = model.graph
    # object: a string array pads every type to the longest.
    types, index = np.unique(np.array(graph.op_types, dtype=object), return_inverse=True)
    sums = np.stack(
        [np.bincount(index, minlength=types.size)]
        + [
            # bincount sums weights as float64, exact up to 2**53.
            np.bincount(index, column, types.size).astype(np.int64)
            for column in (graph.macs, graph.bytes_moved)
        ]
    )
    # The last key of lexsort is the first to be compared.
    order = np.lexsort((-sums[0], -sums[2], -sums[1]))
    totals_of_model = sums.sum(axis=1).tolist()
    for place in order[:_MAX_TYPES].tolist():
        yield shown(str(types[place])), sums[:, place].tolist(), totals_of_model
    rest = order[_MAX_TYPES:]
    if rest.size:
        yield plural(rest.size, "other type"), sums[:, rest].sum(axis=1).tolist(), totals_of_model


def _part(row: _Sums, place: int) -> Cell:
    _, of_type, of_model = row
    return share(of_type[place] / of_model[place] if of_model[place] else 0.0)
