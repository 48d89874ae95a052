"""Sums, means, extremes, softmax and sorting of ATen."""

from __future__ import annotations

from typing import Final

from onnx import TensorProto

from predictor.formats.emitter import UnreadError
from predictor.formats.pytorch.call import Call, rule

_REDUCTIONS: Final = {
    "amax": "ReduceMax",
    "amin": "ReduceMin",
    "logsumexp": "ReduceLogSumExp",
    "mean": "ReduceMean",
    "prod": "ReduceProd",
    "sum": "ReduceSum",
}


def _reduced(call: Call, op_type: str, data: str) -> str:
    keepdims = int(bool(call.get("keepdim", False)))
    axes = call.axes("dim")
    inputs = [data, call.integer_constant(axes)] if axes else [data]
    return call.emit(op_type, inputs, keepdims=keepdims)


def _register(name: str, op_type: str) -> None:
    @rule(name)
    def _apply(call: Call) -> str:
        data = call.cast(call.tensor("self"), call.meta("self").dtype, call.result().dtype)
        return _reduced(call, op_type, data)


for _name, _op_type in _REDUCTIONS.items():
    _register(_name, _op_type)


@rule("max min")
def _extreme(call: Call) -> list[str]:
    kind = call.kind.capitalize()
    values = _reduced(call, f"Reduce{kind}", call.tensor("self"))
    if not call.has("dim"):
        return [values]
    return [values, _place(call, f"Arg{kind}")]


@rule("argmax argmin")
def _argument(call: Call) -> str:
    op_type = f"Arg{call.kind.removeprefix('arg').capitalize()}"
    if call.has("dim"):
        return _place(call, op_type)
    flat = call.reshape(call.tensor("self"), [-1])
    return call.emit(op_type, [flat], axis=0, keepdims=0)


def _place(call: Call, op_type: str) -> str:
    keepdims = int(bool(call.get("keepdim", False)))
    return call.emit(op_type, [call.tensor("self")], axis=call.axis("dim"), keepdims=keepdims)


@rule("any all")
def _logical(call: Call) -> str:
    numbers = call.cast(call.tensor("self"), call.meta("self").dtype, TensorProto.INT32)
    op_type = "ReduceMax" if call.kind == "any" else "ReduceMin"
    return call.cast(_reduced(call, op_type, numbers), TensorProto.INT32, TensorProto.BOOL)


@rule("var std var_mean std_mean")
def _variance(call: Call) -> list[str]:
    """Return the variance as the mean of squares, and the mean."""
    data, dtype = call.tensor("self"), call.result().dtype
    axes = call.integer_constant(call.axes("dim"))
    mean = call.emit("ReduceMean", [data, axes], keepdims=1)
    difference = call.emit("Sub", [data, mean])
    square = call.emit("Mul", [difference, difference])
    keepdims = int(bool(call.get("keepdim", False)))
    variance = call.emit("ReduceMean", [square, axes], keepdims=keepdims)
    if call.get("unbiased", True) and call.get("correction", 1):
        variance = call.emit("Mul", [variance, call.constant(1, dtype)])
    result = call.emit("Sqrt", [variance]) if call.kind.startswith("std") else variance
    if not call.kind.endswith("_mean"):
        return [result]
    return [result, mean if keepdims else call.emit("Squeeze", [mean, axes])]


@rule("softmax _softmax _safe_softmax")
def _softmax(call: Call) -> str:
    data = call.cast(call.tensor("self"), call.meta("self").dtype, call.result().dtype)
    return call.emit("Softmax", [data], axis=_last(call))


@rule("log_softmax _log_softmax")
def _log_softmax(call: Call) -> str:
    data = call.cast(call.tensor("self"), call.meta("self").dtype, call.result().dtype)
    return call.emit("LogSoftmax", [data], axis=_last(call))


def _last(call: Call) -> int:
    """Return the axis of a softmax; the last one as exporters write it."""
    axis = call.axis("dim")
    return -1 if axis == call.rank("self") - 1 else axis


@rule("cumsum cumprod")
def _cumulated(call: Call) -> str:
    axis = call.constant(call.axis("dim"), TensorProto.INT64)
    data = call.cast(call.tensor("self"), call.meta("self").dtype, call.result().dtype)
    op_type = "CumSum" if call.kind == "cumsum" else "CumProd"
    return call.emit(op_type, [data, axis])


@rule("topk")
def _topk(call: Call) -> list[str]:
    count = call.symbol("k")
    if count is None:
        raise UnreadError("k")
    inputs = [call.tensor("self"), call.vector([count])]
    return call.emit_all(
        "TopK",
        inputs,
        2,
        axis=call.axis("dim", default=-1),
        largest=int(bool(call.get("largest", True))),
        sorted=int(bool(call.get("sorted", True))),
    )


@rule("sort argsort msort")
def _sort(call: Call) -> list[str]:
    axis = call.axis("dim", default=0 if call.kind == "msort" else -1)
    count = call.size(call.tensor("self"), call.meta("self").dims, axis)
    largest = int(bool(call.get("descending", False)))
    inputs = [call.tensor("self"), call.vector([count])]
    pair = call.emit_all("TopK", inputs, 2, axis=axis, largest=largest)
    return pair[1:] if call.kind == "argsort" else pair


@rule("cosine_similarity")
def _cosine(call: Call) -> str:
    first, second = call.tensor("x1"), call.tensor("x2")
    axis = call.integer_constant([int(call.number("dim", 1))])
    product = call.emit("ReduceSum", [call.emit("Mul", [first, second]), axis], keepdims=0)
    norms = [call.emit("ReduceL2", [name, axis], keepdims=0) for name in (first, second)]
    return call.emit("Div", [product, call.emit("Mul", norms)])
