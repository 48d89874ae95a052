"""Graphs in the form in which a run computes them.

A file whose products are of integers is its float network in INT8. So its integer operators have
the form of that network, for a run in INT8: one network in one precision has one number, whether
its file is quantised or is to be. Bytes stay those of the file: a float of four takes one in INT8.

Conversions between integer operators, and at the ends of the graph, are parts of their neighbours,
as in an engine in INT8. Those at an operator that stays in floating point run, and so do those that
choose their scales at run time (DynamicQuantizeLinear).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from predictor.core.arrays import Bools
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import DTYPE_CODE, OPERATOR_CODE, OPERATORS, by_operator

_QUANTISED: Final = int(OperatorFlag.QUANTISED)
_FUSED: Final = int(OperatorFlag.FUSED)
_SILENT: Final = int(OperatorFlag.VIEW | OperatorFlag.FUSED)
_FLOAT: Final = DTYPE_CODE["float32"]
_FLOAT_BYTES: Final = 4
_BYTES: Final = [DTYPE_CODE[name] for name in ("int8", "uint8", "int4", "uint4", "int2", "uint2")]
_HALVES: Final = [DTYPE_CODE[name] for name in ("float16", "bfloat16")]
_CONVERSIONS: Final = [OPERATOR_CODE[name] for name in ("QuantizeLinear", "DequantizeLinear")]
_FLOAT_TYPES: Final = {
    **{name: name.removeprefix("QLinear") for name in OPERATORS if name.startswith("QLinear")},
    **by_operator(
        {
            "ConvInteger NhwcQLinearConv": "Conv",
            """
            DynamicQuantizeMatMul MatMulInteger MatMulInteger16 MatMulIntegerToFloat
            """: "MatMul",
            "QGemm": "Gemm",
            "QAttention": "Attention",
            "DynamicQuantizeLSTM": "LSTM",
            "NhwcMaxPool": "MaxPool",
        }
    ),
}
_FLOAT_CODE: Final = np.array(
    [OPERATOR_CODE[_FLOAT_TYPES.get(name, name)] for name in OPERATORS], np.int16
)


class GraphParts(NamedTuple):
    """A graph whose products are of integers, in two parts with all of its operators.

    Attributes:
        integers: the float form of its integer operators; the others do nothing.
        floats: the operators that stay in floating point; None where none of them runs.
        share: part of the multiplications that is of integers.
    """

    integers: OperatorGraph
    floats: OperatorGraph | None
    share: float


def parts_of(graph: OperatorGraph) -> GraphParts | None:
    """Return the parts of a graph, cost O(N); None where it multiplies no integers."""
    quantised = graph.has_flag(OperatorFlag.QUANTISED)
    integer_macs = int(graph.macs[quantised].sum())
    if not integer_macs:
        return None
    integers = quantised | np.isin(graph.dtype, _BYTES)
    floats = ~integers & ((graph.flags & _SILENT) == 0)
    converts = np.isin(graph.op_code, _CONVERSIONS)
    floats &= ~converts | _at_floats(graph, floats & ~converts)
    float_form = replace(
        graph,
        op_code=np.where(integers, _FLOAT_CODE[graph.op_code], graph.op_code),
        dtype=np.where(integers, np.int8(_FLOAT), graph.dtype),
        flags=graph.flags & np.uint16(~_QUANTISED & 0xFFFF),
        op_types=tuple(_FLOAT_TYPES.get(name.rpartition("::")[2], name) for name in graph.op_types),
        weights_total_bytes=graph.weights_total_bytes * _FLOAT_BYTES,
        **_traffic(graph, integers, _FLOAT_BYTES),
    )
    return GraphParts(
        _alone(float_form, integers),
        _alone(graph, floats) if floats.any() else None,
        integer_macs / int(graph.macs.sum()),
    )


def _traffic(graph: OperatorGraph, chosen: Bools, factor: int) -> dict[str, Any]:
    """Return the bytes of operators by name, of the chosen ones times a factor, int64 [N]."""
    factors = np.where(chosen, factor, 1)
    names = ("bytes_read", "weight_bytes", "bytes_written")
    return {name: getattr(graph, name) * factors for name in names}


def _at_floats(graph: OperatorGraph, floats: Bools) -> Bools:
    """Return which operators read or feed one that runs in floating point, bool [N].

    Views are seen through, and what is fused into an operator counts as that.
    """
    places = np.arange(len(graph))
    here = floats[np.where(graph.fused_into >= 0, graph.fused_into, places)]
    producer, consumer = graph.edges
    views = graph.has_flag(OperatorFlag.VIEW)
    while True:
        touched = np.zeros(len(graph), np.bool_)
        touched[producer[here[consumer]]] = True
        touched[consumer[here[producer]]] = True
        wider = here | (touched & views)
        if (wider == here).all():
            return touched
        here = wider


def _alone(graph: OperatorGraph, chosen: Bools) -> OperatorGraph:
    """Return a graph in which operators that are not chosen do nothing."""
    return replace(
        graph,
        flags=np.where(chosen, graph.flags, graph.flags | np.uint16(_FUSED)),
        macs=graph.macs * chosen,
        bytes_read=graph.bytes_read * chosen,
        weight_bytes=graph.weight_bytes * chosen,
        bytes_written=graph.bytes_written * chosen,
    )


def with_casts(graph: OperatorGraph) -> OperatorGraph:
    """Return a graph of floats or halves as it runs in FP32 between casts.

    Inputs are read as halves and written as floats, outputs the other way: ONNX Runtime casts
    nothing else, and weights once as it loads them.
    """
    halves = np.isin(graph.dtype, _HALVES)
    widened = replace(
        graph,
        dtype=np.where(halves, np.int8(_FLOAT), graph.dtype),
        weights_total_bytes=graph.weights_total_bytes * (2 if halves.any() else 1),
        **_traffic(graph, halves, 2),
    )
    runs = np.flatnonzero((graph.flags & _SILENT) == 0)
    if not len(runs):
        return widened
    # A half and a float are one and a half floats.
    of_input, of_output = (
        size * 3 if halves.any() else size * 3 // 2
        for size in (graph.input_bytes, graph.output_bytes)
    )
    read, written = widened.bytes_read.copy(), widened.bytes_written.copy()
    read[runs[0]] += of_input
    written[runs[-1]] += of_output
    return replace(widened, bytes_read=read, bytes_written=written)
