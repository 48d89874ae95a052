"""Quantised values: fake quantisation of activations, and weights of few bits with scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx import TensorProto

from predictor.formats.openvino.document import Layer
from predictor.formats.openvino.operation import Handler, Operation
from predictor.formats.openvino.scope import Rounded

# Integers, signed and unsigned, by the largest number of levels that they have.
_INTEGERS: Final = (
    (16, TensorProto.INT4, TensorProto.UINT4),
    (256, TensorProto.INT8, TensorProto.UINT8),
    (65536, TensorProto.INT16, TensorProto.UINT16),
)
# Types of weights that are stored with scales.
_STORED: Final = frozenset(
    {
        *(TensorProto.INT4, TensorProto.UINT4, TensorProto.INT8, TensorProto.UINT8),
        *(TensorProto.FLOAT4E2M1, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2),
    }
)


def _fake_quantize(op: Operation) -> None:
    """Rounding to levels as a QuantizeLinear and a DequantizeLinear."""
    levels = op.integer("levels", 256)
    types = next((pair for limit, *pair in _INTEGERS if levels <= limit), None)
    if types is None or levels < 3:
        op.unknown()
        return
    low = op.values(1)
    dtype = types[1] if low is not None and low.size and low.min() >= 0 else types[0]
    dims = op.port(1).static or ()
    channels = [size for size in dims if size != 1]
    axis = op.rank() - len(dims) + dims.index(channels[0]) if len(channels) == 1 else None
    shape = channels if len(channels) == 1 else []
    scales = op.builder.weight(op.builder.fresh("scale"), TensorProto.FLOAT, shape)
    zeros = op.builder.weight(op.builder.fresh("zero"), dtype, shape)
    if op.is_constant(0):
        rounded = op.step("QuantizeLinear", [op.inputs[0], scales, zeros], axis=axis)
        op.emit("DequantizeLinear", [rounded, scales, zeros], axis=axis)
    else:
        _round(op, op.inputs[0], Rounded(("", scales, zeros), axis))


def _round(op: Operation, name: str, form: Rounded) -> None:
    """Make the layer's output integers, which its readers read through their scale."""
    scales = form.inputs[1:]
    integers = op.step("QuantizeLinear", [name, *scales], axis=form.axis)
    form = Rounded((integers, *scales), form.axis)
    source = op.layer.id, op.out().id
    op.scope.rounded[source] = form
    value = integers
    if op.scope.readers[source] < 2:  # several readers get one each
        value = op.scope.free_name(op.layer.name)
        op.builder.node("DequantizeLinear", form.inputs, [value], axis=form.axis)
    op.scope.sources[source] = value


def keep_rounded(op: Operation) -> None:
    """Round the result of a layer that moves or chooses rounded values, which are so already."""
    forms = [op.scope.rounded.get(op.source(index)) for index in range(len(op.inputs))]
    data = forms if op.layer.type == "Concat" else forms[:1]
    first = data[0] if data else None
    if first is None or None in data or first.axis is not None:
        return
    name = op.scope.sources[op.layer.id, op.out().id]
    _round(op, name, first)


MOVING: Final = frozenset(
    {
        *("concat", "interpolate", "maxpool", "pad", "reshape", "slice", "squeeze"),
        *("stridedslice", "transpose", "unsqueeze", "shufflechannels", "depthtospace"),
    }
)
"""Layers whose results are values of their input, in lower case."""


def _multiply(op: Operation) -> None:
    """A product; of stored integers with scales it is a DequantizeLinear."""
    if not (op.is_constant(0) and op.is_constant(1) and _dequantise(op)):
        op.emit("Mul")


def _dequantise(op: Operation) -> bool:
    zeros = None
    layer = op.maker(0)
    if layer.type == "Subtract" and len(layer.inputs) == 2:
        zeros = _stored(op, _maker(op, layer, 1))
        layer = _maker(op, layer, 0)
    stored = _stored(op, layer)
    scale = op.port(1).static
    data = op.port(0).static
    if stored is None or scale is None or data is None:
        return False
    form = _form(data, scale)
    if form is None:
        return False
    shape, attributes = form
    inputs = [stored, op.reshaped(op.inputs[1], shape)]
    if zeros is not None:
        inputs.append(op.reshaped(zeros, shape) if _is_like(op, scale) else zeros)
    op.emit("DequantizeLinear", inputs, **attributes)
    return True


def _is_like(op: Operation, scale: tuple[int, ...]) -> bool:
    """Whether zero points have the shape of the scales."""
    port = op.maker(0).inputs[1]
    return port.static == scale


def _maker(op: Operation, layer: Layer, position: int) -> Layer:
    net = op.scope.net
    return net.layers[net.edges[layer.id, layer.inputs[position].id][0]]


def _stored(op: Operation, layer: Layer) -> str | None:
    """Return the constant of few bits that a layer converts, or is."""
    if layer.type == "Convert":
        layer = _maker(op, layer, 0)
    if layer.type != "Const" or not layer.outputs:
        return None
    port = layer.outputs[0]
    return op.scope.sources[layer.id, port.id] if port.dtype in _STORED else None


def _form(data: Sequence[int], scale: Sequence[int]) -> tuple[list[int], dict[str, int]] | None:
    """Return the shape of scales, and the axis or blocks that they are of; None of other forms."""
    scale = [1] * (len(data) - len(scale)) + list(scale)
    if len(scale) != len(data):
        return None
    scaled = [axis for axis, size in enumerate(scale) if size != 1]
    if any(scale[axis] != data[axis] for axis in scaled):
        return None
    if not scaled:
        return [], {}
    if len(scaled) == 1:
        return [scale[scaled[0]]], {"axis": scaled[0]}
    blocks = [axis for axis in range(len(data)) if axis not in scaled and data[axis] > 1]
    if len(blocks) != 1:
        return None
    return scale, {"axis": blocks[0], "block_size": data[blocks[0]]}


HANDLERS: Final[dict[str, Handler]] = {
    "fakequantize": _fake_quantize,
    "multiply": _multiply,
}
"""Handlers by operation in lower case."""
