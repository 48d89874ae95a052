"""The model sheets: what was predicted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictor.core.records import TensorInfo
from predictor.core.report import (
    Block,
    Bullets,
    Cell,
    Facts,
    Heading,
    Row,
    Section,
    SectionId,
    Table,
)
from predictor.core.text import plural
from predictor.core.units import format_bytes, format_count
from predictor.core.wording import shown
from predictor.graph.model import Model
from predictor.services.models.inspection import totals
from predictor.services.report.request import ReportedModel, ReportRequest
from predictor.services.report.words import count, dims, figures, share, text, words

_TYPES_LISTED = 12
_TENSORS_LISTED = 24
_TENSOR_COLUMNS = (
    words("tensor", "Tensor"),
    words("name", "Name"),
    words("dtype", "Type"),
    words("shape", "Shape"),
    words("declared", "In the file"),
)
_TYPE_COLUMNS = (
    words("op_type", "Operator type"),
    figures("operators", "Count"),
    figures("macs", "MACs"),
    figures("macs_share", "of MACs"),
    figures("bytes_moved", "Bytes moved"),
    figures("bytes_share", "of bytes"),
)


def models_section(request: ReportRequest) -> Section:
    """Return a sheet a model."""
    blocks = [block for model in request.models for block in _sheet(model)]
    title = "Model" if len(request.models) == 1 else "Models"
    return Section(SectionId.MODELS, title, tuple(blocks))


def _sheet(reported: ReportedModel) -> Iterator[Block]:
    model = reported.model
    yield Heading(shown(reported.label))
    yield Facts(tuple(_facts(model)))
    yield Table(_TENSOR_COLUMNS, tuple(_tensors(model)), "Inputs and outputs")
    yield Table(_TYPE_COLUMNS, tuple(_types(model)), "Operators by type")
    if model.notes:
        yield Bullets(tuple(Cell(shown(note)) for note in model.notes))


def _facts(model: Model) -> Iterator[tuple[str, Cell]]:
    sums = totals(model)
    yield "File", text(shown(os.path.basename(model.path.replace("\\", "/"))))  # noqa: PTH119
    modified = datetime.fromtimestamp(model.modified_ns / 1e9, UTC).date().isoformat()
    size = f"{format_bytes(model.size_bytes)} without external weights, of {modified}"
    yield "Size and date", Cell(size, float(model.size_bytes))
    yield "Fingerprint", text(model.graph.fingerprint)
    yield "Parameters", _counted(sums["params"])
    yield "MACs", _counted(sums["macs"])
    yield "Operators", count(sums["operators"])
    yield "Bytes moved", _bytes(sums["bytes_moved"])
    yield "Weights", _bytes(sums["weight_bytes"])
    yield "Largest live activations", _bytes(sums["peak_activation_bytes"])
    yield "Opsets", text(_opsets(model))
    if model.producer:
        yield "Made by", text(shown(model.producer))
    for dimension in model.dynamic:
        origin = dimension.reason if dimension.value == dimension.default else "as set"
        value = Cell(f"{dimension.value} ({origin})", float(dimension.value))
        yield f"Open dimension {shown(dimension.name)}", value


def _counted(value: int) -> Cell:
    return Cell(format_count(value), float(value))


def _bytes(value: int) -> Cell:
    return Cell(format_bytes(value), float(value))


def _opsets(model: Model) -> str:
    return ", ".join(
        f"{shown(domain) or 'ONNX'} {version}" for domain, version in model.opsets.items()
    )


def _tensors(model: Model) -> Iterator[Row]:
    every = [("input", tensor) for tensor in model.inputs]
    every += [("output", tensor) for tensor in model.outputs]
    for kind, tensor in every[:_TENSORS_LISTED]:
        yield Row(tuple(map(text, (kind, *_tensor(tensor)))))
    rest = len(every) - _TENSORS_LISTED
    if rest > 0:
        yield Row((text(f"and {plural(rest, 'more tensor')}"), *[text("")] * 4))


def _tensor(tensor: TensorInfo) -> tuple[str, ...]:
    return shown(tensor.name), tensor.dtype, dims(tensor.shape), dims(tensor.declared)


def _types(model: Model) -> Iterator[Row]:
    """Yield operator types with the most MACs first, then those that move the most bytes."""
    graph = model.graph
    types, index = np.unique(np.array(graph.op_types, dtype=object), return_inverse=True)
    sums = np.stack(
        [np.bincount(index, minlength=types.size)]
        + [
            np.bincount(index, column, types.size).astype(np.int64)
            for column in (graph.macs, graph.bytes_moved)
        ]
    )
    order = np.lexsort((-sums[0], -sums[2], -sums[1]))
    for place in order[:_TYPES_LISTED].tolist():
        yield _type_row(shown(str(types[place])), sums[:, place], sums.sum(axis=1))
    rest = order[_TYPES_LISTED:]
    if rest.size:
        name = f"{plural(rest.size, 'other type')}"
        yield _type_row(name, sums[:, rest].sum(axis=1), sums.sum(axis=1))


def _type_row(name: str, sums: NDArray[Any], every: NDArray[Any]) -> Row:
    operators, macs, moved = map(int, sums.tolist())
    _, all_macs, all_moved = map(int, every.tolist())
    cells = (
        text(name),
        count(operators),
        _counted(macs),
        share(macs / all_macs if all_macs else 0.0),
        _bytes(moved),
        share(moved / all_moved if all_moved else 0.0),
    )
    return Row(cells)
