"""Layers that change shapes, choose elements, reduce or repeat."""

from __future__ import annotations

from typing import Final

from onnx import TensorProto

from predictor.formats.coreml.layers.layer import Layer, rule
from predictor.formats.emitter import LARGEST_INT, UnreadError


@rule("reshape reshapeStatic rankPreservingReshape")
def _reshape(layer: Layer) -> str:
    targets = [int(size) for size in layer.params.targets]
    if layer.is_flat and len(targets) == 3:
        targets = [1, *targets]
    return layer.reshape(layer.data, targets)


@rule("flatten flattenTo2D")
def _flatten(layer: Layer) -> str:
    axis = int(layer.params.axis) if layer.kind == "flattenTo2D" else 1
    return layer.emit("Flatten", [layer.data], axis=axis)


@rule("permute transpose")
def _permute(layer: Layer) -> str:
    order = [int(axis) for axis in layer.params.targets]
    if layer.kind == "permute" and layer.rank == 4:
        # Sequence, channels, height, width: the batch stands before them.
        order = order if sorted(order) == [0, 1, 2, 3] else []
    if sorted(order) != list(range(len(order))) or not order:
        raise UnreadError("axes")
    return layer.transpose(layer.data, order)


@rule("squeeze expandDims")
def _axes(layer: Layer) -> str:
    axes = [int(axis) for axis in layer.params.targets]
    if layer.kind == "expandDims":
        return layer.unsqueeze(layer.data, axes)
    return layer.emit("Squeeze", [layer.data, *([layer.integer_constant(axes)] if axes else [])])


@rule("reorganizeData")
def _reorganize(layer: Layer) -> str:
    block = int(layer.params.blockSize)
    if layer.params.mode == 0:
        return layer.emit("SpaceToDepth", [layer.data], blocksize=block)
    mode = "CRD" if layer.params.mode == 2 else "DCR"
    return layer.emit("DepthToSpace", [layer.data], blocksize=block, mode=mode)


_REDUCTIONS: Final = (
    *("ReduceSum", "ReduceMean", "ReduceProd", "ReduceLogSum", "ReduceSumSquare"),
    *("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMin"),
)


@rule("reduce")
def _reduce(layer: Layer) -> str:
    places = ((-3, -2, -1), (-2, -1), (-3,), (-2,), (-1,))
    axes = layer.integer_constant(places[layer.params.axis])
    return layer.emit(_REDUCTIONS[layer.params.mode], [layer.data, axes], keepdims=1)


@rule("reduceL1 reduceL2 reduceMax reduceMean reduceMin reduceProd reduceSum reduceSumSquare")
def _reduce_axes(layer: Layer) -> str:
    params = layer.params
    axes = [] if params.reduceAll else [layer.integer_constant([int(a) for a in params.axes])]
    op_type = f"R{layer.kind[1:]}"
    return layer.emit(op_type, [layer.data, *axes], keepdims=int(params.keepDims))


@rule("slice")
def _slice(layer: Layer) -> str:
    params = layer.params
    end = int(params.endIndex) or LARGEST_INT
    step = int(params.stride) or 1
    return layer.cut(layer.data, [int(params.startIndex)], [end], [params.axis - 3], [step])


@rule("sliceStatic")
def _slice_static(layer: Layer) -> str:
    params, axes = layer.params, list(range(len(layer.params.beginIds)))
    starts = [0 if params.beginMasks[a] else int(params.beginIds[a]) for a in axes]
    ends = [LARGEST_INT if params.endMasks[a] else int(params.endIds[a]) for a in axes]
    data = layer.cut(layer.data, starts, ends, axes, [int(step) for step in params.strides])
    return layer.squeeze(data, [axis for axis, flag in enumerate(params.squeezeMasks) if flag])


@rule("split splitND")
def _split(layer: Layer) -> list[str]:
    params, count = layer.params, len(layer.message.output)
    axis = int(params.axis) if layer.kind == "splitND" else max(layer.rank - 3, 0)
    if layer.kind == "splitND" and params.splitSizes:
        lengths = layer.integer_constant([int(size) for size in params.splitSizes])
        return layer.emit_all("Split", [layer.data, lengths], count, axis=axis)
    return layer.emit_all("Split", [layer.data], count, axis=axis, num_outputs=count)


@rule("loadConstant loadConstantND")
def _constant(layer: Layer) -> str:
    return layer.weight(layer.params.shape, layer.params.data)


@rule("gather gatherAlongAxis")
def _gather(layer: Layer) -> str:
    data, indices = layer.inputs
    indices = layer.emit("Cast", [indices], to=TensorProto.INT64)
    op_type = "Gather" if layer.kind == "gather" else "GatherElements"
    return layer.emit(op_type, [data, indices], axis=int(layer.params.axis))


@rule("mvn l2normalize")
def _normalized(layer: Layer) -> str:
    axes = layer.integer_constant([-3, -2, -1] if layer.kind == "l2normalize" else [-2, -1])
    data = layer.data
    if layer.kind == "l2normalize":
        return layer.emit("Div", [data, layer.emit("ReduceL2", [data, axes], keepdims=1)])
    difference = layer.emit("Sub", [data, layer.emit("ReduceMean", [data, axes], keepdims=1)])
    square = layer.emit("Mul", [difference, difference])
    root = layer.emit("Sqrt", [layer.emit("ReduceMean", [square, axes], keepdims=1)])
    return layer.emit("Div", [difference, root])


@rule("uniDirectionalLSTM biDirectionalLSTM")
def _recurrent(layer: Layer) -> list[str]:
    """Return the outputs and the last states.

    Data are [length, batch, width], states [1, batch, hidden], with two more axes of size 1.
    """
    if layer.is_flat:
        raise UnreadError("a sequence in an array without ranks")
    params, sides = layer.params, 2 if layer.kind == "biDirectionalLSTM" else 1
    width, hidden = int(params.inputVectorSize), int(params.outputVectorSize)
    weights = [
        layer.weight([sides, 4 * hidden, columns], None, f"weight_{place}")
        for place, columns in (("inputs", width), ("states", hidden))
    ]
    data = layer.reshape(layer.data, [0, 0, width])
    direction = "bidirectional" if sides == 2 else "forward"
    inputs = [data, *weights, *_gate_vectors(layer, sides, hidden)]
    output, *states = layer.emit_all("LSTM", inputs, 3, hidden_size=hidden, direction=direction)
    if not params.params.sequenceOutput:
        output = layer.cut(output, [-1], [LARGEST_INT], [0])
    mixed = layer.transpose(output, (0, 2, 1, 3))
    results = [layer.reshape(mixed, [0, 0, sides * hidden, 1, 1])]
    for side in range(sides):
        for state in states:
            last = layer.cut(state, [side], [side + 1], [0])
            results.append(layer.reshape(last, [0, 0, hidden, 1, 1]))
    return results


def _gate_vectors(layer: Layer, sides: int, hidden: int) -> list[str]:
    """Return the biases of an LSTM and its peepholes as the inputs that ONNX has of them."""
    params, inputs = layer.params.params, [""] * 5
    if params.hasBiasVectors:
        stored = layer.weight([sides, 4 * hidden], None, "bias")
        # ONNX has biases of the states as well.
        zeros = layer.emit(
            "Expand", [layer.constant(0, layer.dtype), layer.integer_constant([sides, 4 * hidden])]
        )
        inputs[0] = layer.joined([stored, zeros], 1)
    if params.hasPeepholeVectors:
        inputs[4] = layer.weight([sides, 3 * hidden], None, "peepholes")
    return inputs


@rule("argMax argMin")
def _place(layer: Layer) -> str:
    op_type = f"A{layer.kind[1:]}"
    keepdims = int(not layer.params.removeDim)
    return layer.emit(op_type, [layer.data], axis=int(layer.params.axis), keepdims=keepdims)


@rule("constantPad")
def _constant_pad(layer: Layer) -> str:
    amounts = [int(size) for size in layer.params.padAmounts]
    pads = layer.integer_constant([*amounts[0::2], *amounts[1::2]])
    return layer.emit("Pad", [layer.data, pads])


@rule("cumSum")
def _cumulated(layer: Layer) -> str:
    axis = layer.constant(int(layer.params.axis), TensorProto.INT64)
    return layer.emit("CumSum", [layer.data, axis])


@rule("reverse")
def _reverse(layer: Layer) -> str:
    axes = [axis for axis, flag in enumerate(layer.params.reverseDim) if flag]
    ones = [-1] * len(axes)
    return layer.cut(layer.data, ones, [-LARGEST_INT] * len(axes), axes, ones)


@rule("tile broadcastToStatic")
def _repeat(layer: Layer) -> str:
    sizes = layer.integer_constant([int(size) for size in layer.params.targets])
    return layer.emit("Tile" if layer.kind == "tile" else "Expand", [layer.data, sizes])
