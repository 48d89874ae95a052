"""NeuSight's measurements of single operators, each as a graph of one operator.

Source: ``sitar-lab/NeuSight``, ASPLOS 2025, ``ops_train.csv.gz``: FP32 with TF32 switched off, the
mean of the 5 fastest of 25 runs. The graphs equal those of an ingested file of the operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from ctm_research.sources import neusight
from ctm_research.sources.aliases import read_aliases
from ctm_research.sources.tables import Row, read_rows
from predictor.core.records import Configuration, Precision
from predictor.graph.ingest import build_model
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.reader import ReadModel
from predictor.probing.networks.writer import NetworkWriter, Value

OPERATOR_FAMILY: Final = "single operators"
"""Family of graphs of one operator: they are no network and belong to no other family."""

_OPSET = 20  # the first with Gelu

Shape = tuple[int, ...]
Attributes = dict[str, Any]
# Type, inputs, shape of the output, attributes.
Operator = tuple[str, list[Value], Shape, Attributes]

_PRODUCT = ("mm_batch", "mm_rows", "mm_inner", "mm_cols")
_VECTOR = ("vec_rows", "vec_cols")
_CONV = (
    *("conv_batch", "conv_in_ch", "conv_out_ch", "conv_kernel", "conv_in_size"),
    *("conv_stride", "conv_pad"),
)
# ONNX type of the operators on a tensor of rows and columns, and what they read beside it: a tensor
# of the same size, a number, a scale and a shift for each column, or nothing.
_VECTOR_TYPES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **{name: (name.title(), "tensor") for name in ("add", "mul", "pow", "div")},
        **{f"{name}u": (name.title(), "number") for name in ("add", "mul", "pow", "div")},
        **{name: (name.title(), "") for name in ("relu", "gelu", "tanh", "softmax")},
        "ln": ("LayerNormalization", "columns"),
    }
)
_SIZES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"bmm": _PRODUCT, "linear": _PRODUCT, "conv": _CONV} | dict.fromkeys(_VECTOR_TYPES, _VECTOR)
)
_COLUMNS = ("device_id", "op", *_PRODUCT, *_VECTOR, *_CONV, "latency_ms")


@dataclass(frozen=True, slots=True, order=True)
class SingleOperator:
    """One operator of one size.

    Attributes:
        kind: name in the source.
        sizes: the dimensions of its class, in the order of the source's columns.
    """

    kind: str
    sizes: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.kind} {' x '.join(map(str, self.sizes))}"

    def graph(self) -> OperatorGraph:
        """Build its graph, a single operator in FP32."""
        writer = NetworkWriter(str(self), with_weights=False)
        build = _BUILDERS.get(self.kind, partial(_vector, kind=self.kind))
        op_type, inputs, shape, attributes = build(writer, *self.sizes)
        model = writer.finish(writer.node(op_type, "operator", inputs, shape, **attributes))
        model.opset_import[0].version = _OPSET
        return build_model(ReadModel(proto=model, path=str(self)), {}, None, {}).graph


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One row of the table.

    Attributes:
        operator: with its sizes.
        device: name in the source.
        device_id: in the catalogue; empty where the catalogue lacks it.
        configuration: eager PyTorch in FP32.
        latency_ms: mean of the fastest.
    """

    operator: SingleOperator
    device: str
    device_id: str
    configuration: Configuration
    latency_ms: float


def operator_rows(data: Path) -> Iterator[OperatorRow]:
    """Yield every row of the table of single operators, or none where the folder lacks it.

    Raises:
        InputError: the table is damaged.
    """
    path = data / neusight.NAME / neusight.OPERATORS_TABLE
    if not path.is_file():
        return
    configuration = Configuration("pytorch", Precision.FP32, 0, 1)
    aliases = read_aliases(neusight.NAME)
    for row in read_rows(path, _COLUMNS):
        yield OperatorRow(
            _operator(row),
            row["device_id"],
            aliases.find(row["device_id"]).device_id,
            configuration,
            row.positive("latency_ms"),
        )


def _operator(row: Row) -> SingleOperator:
    if row["op"] not in _SIZES:
        row.refuse("op", f"one of {', '.join(_SIZES)}")
    # A convolution may be padded by 0; every other size is above it.
    return SingleOperator(
        row["op"],
        tuple(
            0 if name == "conv_pad" and row[name] == "0" else row.count(name)
            for name in _SIZES[row["op"]]
        ),
    )


def _linear(writer: NetworkWriter, batch: int, rows: int, inner: int, cols: int) -> Operator:
    """A product with a weight and a bias; all rows of the batch go through it at once."""
    inputs = [writer.input("x", (batch * rows, inner))]
    inputs += [_weight(writer, "weight", (cols, inner)), _weight(writer, "bias", (cols,))]
    return "Gemm", inputs, (batch * rows, cols), {"transB": 1}


def _bmm(writer: NetworkWriter, batch: int, rows: int, inner: int, cols: int) -> Operator:
    inputs = [writer.input("x", (batch, rows, inner)), writer.input("z", (batch, inner, cols))]
    return "MatMul", inputs, (batch, rows, cols), {}


def _conv(
    writer: NetworkWriter,
    batch: int,
    inner: int,
    outer: int,
    window: int,
    size: int,
    stride: int,
    pad: int,
) -> Operator:
    inputs = [writer.input("x", (batch, inner, size, size))]
    inputs.append(_weight(writer, "weight", (outer, inner, window, window)))
    out = (size + 2 * pad - window) // stride + 1
    attributes = {"strides": [stride, stride], "pads": [pad, pad, pad, pad]}
    return "Conv", inputs, (batch, outer, out, out), attributes


def _vector(writer: NetworkWriter, rows: int, cols: int, *, kind: str) -> Operator:
    op_type, beside = _VECTOR_TYPES[kind]
    inputs = [writer.input("x", (rows, cols))]
    if beside == "tensor":
        inputs.append(writer.input("z", (rows, cols)))
    elif beside == "number":
        inputs.append(writer.constant("number", np.array(1.5, np.float32)))
    elif beside == "columns":
        inputs += [_weight(writer, "scale", (cols,)), _weight(writer, "shift", (cols,))]
    return op_type, inputs, (rows, cols), {}


def _weight(writer: NetworkWriter, name: str, shape: Shape) -> Value:
    return writer.weight(name, shape, 1.0)


_BUILDERS: Mapping[str, Callable[..., Operator]] = MappingProxyType(
    {"linear": _linear, "bmm": _bmm, "conv": _conv}
)
