"""Layers that compute: convolutions, products, pooling, activations, sums."""

from __future__ import annotations

from typing import Any, Final

from onnx import TensorProto

from predictor.formats.coreml.layers.layer import Layer, rule
from predictor.formats.emitter import LARGEST_INT, UnreadError


def _sizes(values: Any, count: int = 2) -> list[int]:
    return [int(value) for value in values] or [1] * count


def _borders(amounts: Any) -> tuple[list[int], list[int]]:
    edges = list(amounts.borderAmounts) or [None, None]
    return (
        [int(edge.startEdgeSize) if edge else 0 for edge in edges],
        [int(edge.endEdgeSize) if edge else 0 for edge in edges],
    )


def _padding(params: Any) -> dict[str, Any]:
    if params.HasField("same"):
        return {"auto_pad": "SAME_LOWER" if params.same.asymmetryMode else "SAME_UPPER"}
    before, after = _borders(params.valid.paddingAmounts)
    return {"pads": [*before, *after]}


@rule("convolution")
def _convolution(layer: Layer) -> str:
    params, stored = layer.params, layer.params.weights
    kernel = [int(size) for size in params.kernelSize] or [3, 3]
    groups, outputs = max(int(params.nGroups), 1), int(params.outputChannels)
    attributes = {
        "dilations": _sizes(params.dilationFactor),
        "group": groups,
        "kernel_shape": kernel,
        "strides": _sizes(params.stride),
        **_padding(params),
    }
    bias = [layer.channels(outputs, "bias")] if params.hasBias else []
    if not params.isDeconvolution:
        weight = layer.weight([outputs, params.kernelChannels, *kernel], stored)
        return layer.emit("Conv", [layer.data, weight, *bias], **attributes)
    weight = layer.weight([params.kernelChannels, outputs // groups, *kernel], stored)
    if params.outputShape:
        attributes["output_shape"] = [int(size) for size in params.outputShape]
    return layer.emit("ConvTranspose", [layer.data, weight, *bias], **attributes)


@rule("innerProduct")
def _inner_product(layer: Layer) -> str:
    params = layer.params
    inputs, outputs = int(params.inputChannels), int(params.outputChannels)
    weight = layer.weight([outputs, inputs], params.weights)
    bias = layer.channels(outputs, "bias") if params.hasBias else ""
    if layer.is_flat or layer.rank == 2:
        data = layer.reshape(layer.data, [-1, inputs]) if layer.is_flat else layer.data
        return layer.emit("Gemm", [data, weight, *([bias] if bias else [])], transB=1)
    result = layer.emit("MatMul", [layer.data, layer.transpose(weight, (1, 0))])
    return layer.emit("Add", [result, bias]) if bias else result


@rule("batchedMatmul")
def _matmul(layer: Layer) -> str:
    params, operands = layer.params, layer.inputs
    if len(operands) == 1:
        operands.append(layer.weight([params.rows, params.columns], params.weights))
    axes = layer.rank
    order = (*range(axes - 2), axes - 1, axes - 2)
    flags = (params.transposeA, params.transposeB and len(layer.inputs) > 1)
    operands = [
        layer.transpose(name, order) if flag else name
        for name, flag in zip(operands, flags, strict=True)
    ]
    result = layer.emit("MatMul", operands)
    return (
        layer.emit("Add", [result, layer.channels(params.columns, "bias")])
        if params.hasBias
        else result
    )


@rule("embedding embeddingND")
def _embedding(layer: Layer) -> str:
    params = layer.params
    table = layer.weight([params.inputDim, params.outputChannels], params.weights)
    indices = layer.emit("Cast", [layer.data], to=TensorProto.INT64)
    if layer.is_flat:
        indices = layer.reshape(indices, [-1])
    elif layer.kind == "embeddingND":
        indices = layer.squeeze(indices, [-1])
    result = layer.emit("Gather", [table, indices])
    if not params.hasBias:
        return result
    return layer.emit("Add", [result, layer.channels(params.outputChannels, "bias")])


@rule("pooling")
def _pooling(layer: Layer) -> str:
    params = layer.params
    names = {0: "MaxPool", 1: "AveragePool", 2: "LpPool"}
    if params.globalPooling:
        return layer.emit(f"Global{names[params.type]}", [layer.data])
    attributes: dict[str, Any] = {
        "kernel_shape": [int(size) for size in params.kernelSize] or [3, 3],
        "strides": _sizes(params.stride),
    }
    if params.HasField("includeLastPixel"):
        pads = [int(size) for size in params.includeLastPixel.paddingAmounts] or [0, 0]
        attributes |= {"pads": pads * 2, "ceil_mode": 1}
    else:
        attributes |= _padding(params)
    if params.type == 1:
        attributes["count_include_pad"] = int(not params.avgPoolExcludePadding)
    return layer.emit(names[params.type], [layer.data], **attributes)


_ACTIVATIONS: Final = {
    "ReLU": "Relu",
    "tanh": "Tanh",
    "sigmoid": "Sigmoid",
    "softsign": "Softsign",
    "softplus": "Softplus",
}
# Their numbers are attributes of ONNX.
_SLOPED: Final = {
    "leakyReLU": "LeakyRelu",
    "thresholdedReLU": "ThresholdedRelu",
    "sigmoidHard": "HardSigmoid",
    "ELU": "Elu",
}


@rule("activation")
def _activation(layer: Layer) -> str:
    (field, numbers), *_ = layer.params.ListFields()
    name = field.name
    if name in _ACTIVATIONS:
        return layer.emit(_ACTIVATIONS[name], [layer.data])
    if name in _SLOPED:
        stated = {field.name: getattr(numbers, field.name) for field in numbers.DESCRIPTOR.fields}
        return layer.emit(_SLOPED[name], [layer.data], **stated)
    if name == "PReLU":
        return layer.emit("PRelu", [layer.data, layer.constant(1, layer.dtype)])
    if name == "linear":
        scaled = layer.scaled(layer.data, numbers.alpha)
        return layer.emit("Add", [scaled, layer.constant(numbers.beta, layer.dtype)])
    if name == "scaledTanh":
        inner = layer.emit("Tanh", [layer.scaled(layer.data, numbers.beta)])
        return layer.scaled(inner, numbers.alpha)
    if name == "parametricSoftplus":
        # Its numbers are weights, which are not read.
        return layer.scaled(layer.emit("Softplus", [layer.scaled(layer.data, 1)]), 1)
    raise UnreadError(name)


@rule("batchnorm")
def _batch_norm(layer: Layer) -> str:
    count, stems = int(layer.params.channels), ("gamma", "beta", "mean", "variance")
    if layer.params.instanceNormalization:
        parts = [layer.channels(count, stem) for stem in stems[:2]]
        return layer.emit("InstanceNormalization", [layer.data, *parts])
    parts = [layer.channels(count, stem) for stem in stems]
    return layer.emit("BatchNormalization", [layer.data, *parts])


@rule("layerNormalization")
def _layer_norm(layer: Layer) -> str:
    dims = [int(size) for size in layer.params.normalizedShape]
    parts = [layer.weight(dims, None, stem) for stem in ("gamma", "beta")]
    return layer.emit("LayerNormalization", [layer.data, *parts], axis=-len(dims))


@rule("scale bias")
def _scale(layer: Layer) -> str:
    params, data = layer.params, layer.data
    if layer.kind == "bias":
        return layer.emit("Add", [data, _broadcast(layer, params.shape, None, "bias")])
    data = layer.emit("Mul", [data, _broadcast(layer, params.shapeScale, params.scale, "weight")])
    if not params.hasBias:
        return data
    return layer.emit("Add", [data, _broadcast(layer, params.shapeBias, None, "bias")])


def _broadcast(layer: Layer, shape: Any, stored: Any, stem: str) -> str:
    """Add numbers of [1], [channels], [1, height, width] or [channels, height, width]."""
    dims = list(shape) or [1]
    return layer.weight([*dims, 1, 1] if len(dims) == 1 else dims, stored, stem)


@rule("lrn")
def _lrn(layer: Layer) -> str:
    return layer.emit("LRN", [layer.data], size=int(layer.params.localSize))


@rule("softmax softmaxND")
def _softmax(layer: Layer) -> str:
    if layer.kind == "softmaxND":
        return layer.emit("Softmax", [layer.data], axis=int(layer.params.axis))
    axis = 1 if layer.is_flat else max(layer.rank - 3, 0)
    return layer.emit("Softmax", [layer.data], axis=axis if layer.rank != 2 else -1)


@rule("concat concatND stack")
def _concat(layer: Layer) -> str:
    if layer.kind == "stack":
        parts = [layer.unsqueeze(name, [int(layer.params.axis)]) for name in layer.inputs]
        return layer.emit("Concat", parts, axis=int(layer.params.axis))
    axis = int(layer.params.axis) if layer.kind == "concatND" else max(layer.rank - 3, 0)
    return layer.emit("Concat", layer.inputs, axis=axis)


_JOINS: Final = {
    "add": "Add",
    "addBroadcastable": "Add",
    "divideBroadcastable": "Div",
    "greaterThan": "Greater",
    "lessThan": "Less",
    "max": "Max",
    "maxBroadcastable": "Max",
    "min": "Min",
    "minBroadcastable": "Min",
    "multiply": "Mul",
    "multiplyBroadcastable": "Mul",
    "powBroadcastable": "Pow",
    "subtractBroadcastable": "Sub",
}


@rule(" ".join(_JOINS))
def _join(layer: Layer) -> str:
    op_type, operands = _JOINS[layer.kind], layer.inputs
    if len(operands) == 1:
        operands.append(layer.constant(getattr(layer.params, "alpha", 0), layer.dtype))
    result = operands[0]
    for operand in operands[1:]:
        result = layer.emit(op_type, [result, operand])
    return result


@rule("average")
def _average(layer: Layer) -> str:
    return layer.emit("Mean", layer.inputs)


_PLAIN: Final = {
    "ceil": "Ceil",
    "cos": "Cos",
    "erf": "Erf",
    "floor": "Floor",
    "gelu": "Gelu",
    "round": "Round",
    "sign": "Sign",
    "sin": "Sin",
    "tanh": "Tanh",
}


@rule(" ".join(_PLAIN))
def _plain(layer: Layer) -> str:
    return layer.emit(_PLAIN[layer.kind], [layer.data])


@rule("copy")
def _copy(layer: Layer) -> str:
    return layer.data


@rule("clip")
def _clip(layer: Layer) -> str:
    bounds = [layer.constant(b, layer.dtype) for b in (layer.params.minVal, layer.params.maxVal)]
    return layer.emit("Clip", [layer.data, *bounds])


_UNARY: Final = ("Sqrt", "", "Reciprocal", "Pow", "Exp", "Log", "Abs", "Max")


@rule("unary")
def _unary(layer: Layer) -> str:
    params, data = layer.params, layer.data
    if params.scale not in {0, 1}:  # a file that leaves it out states 0
        data = layer.scaled(data, params.scale)
    if params.shift:
        data = layer.emit("Add", [data, layer.constant(params.shift, layer.dtype)])
    if not (op_type := _UNARY[params.type]):
        return layer.emit("Reciprocal", [layer.emit("Sqrt", [data])])
    number = [layer.constant(params.alpha, layer.dtype)] if op_type in {"Pow", "Max"} else []
    return layer.emit(op_type, [data, *number])


@rule("padding")
def _pad(layer: Layer) -> str:
    modes = {"reflection": "reflect", "replication": "edge"}
    mode = next((word for field, word in modes.items() if layer.params.HasField(field)), "constant")
    before, after = _borders(layer.params.paddingAmounts)
    outer = [0] * (layer.rank - 2)
    pads = layer.integer_constant([*outer, *before, *outer, *after])
    return layer.emit("Pad", [layer.data, pads], mode=mode)


@rule("crop")
def _crop(layer: Layer) -> str:
    if len(layer.inputs) > 1:
        raise UnreadError("a crop to another value's size")
    before, after = _borders(layer.params.cropAmounts)
    ends = [-size if size else LARGEST_INT for size in after]
    return layer.cut(layer.data, before, ends, [layer.rank - 2, layer.rank - 1])


@rule("upsample")
def _upsample(layer: Layer) -> str:
    params = layer.params
    factors = [float(f) for f in params.fractionalScalingFactor or params.scalingFactor or (1, 1)]
    scales = layer.constant([*[1.0] * (layer.rank - 2), *factors])
    return _resized(layer, [layer.data, "", scales], is_linear=params.mode == 1)


@rule("resizeBilinear")
def _resize(layer: Layer) -> str:
    targets = [int(size) for size in layer.params.targets] or [1, 1]
    rank = layer.rank
    outer = layer.emit("Shape", [layer.data], end=rank - 2)
    sizes = layer.emit("Concat", [outer, layer.integer_constant(targets)], axis=0)
    return _resized(layer, [layer.data, "", "", sizes], is_linear=True)


def _resized(layer: Layer, inputs: list[str], *, is_linear: bool) -> str:
    if is_linear:
        return layer.emit("Resize", inputs, mode="linear")
    return layer.emit(
        "Resize",
        inputs,
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
