"""Normalisations of ATen."""

from __future__ import annotations

from predictor.formats.emitter import Dim, UnreadError
from predictor.formats.pytorch.call import Call, rule


@rule("batch_norm _native_batch_norm_legit_no_training native_batch_norm cudnn_batch_norm")
def _batch_norm(call: Call) -> str:
    if not call.has("running_mean"):
        return _instance_norm(call)
    channels, dtype = call.meta("input").dims[1], call.meta("input").dtype
    inputs = [
        _parameter(call, "weight", channels, 1, dtype),
        _parameter(call, "bias", channels, 0, dtype),
        call.tensor("running_mean"),
        call.tensor("running_var"),
    ]
    epsilon = float(call.number("eps", 1e-5))
    return call.emit("BatchNormalization", [call.tensor("input"), *inputs], epsilon=epsilon)


def _parameter(call: Call, key: str, size: Dim, value: float, dtype: int) -> str:
    """Return a scale or shift, equal numbers where the network has none."""
    if call.has(key):
        return call.tensor(key)
    if not isinstance(size, int):
        raise UnreadError(key)
    return call.equal(value, size, dtype)


def _instance_norm(call: Call) -> str:
    channels, dtype = call.meta("input").dims[1], call.meta("input").dtype
    scale = _parameter(call, "weight", channels, 1, dtype)
    shift = _parameter(call, "bias", channels, 0, dtype)
    epsilon = float(call.number("eps", 1e-5))
    return call.emit("InstanceNormalization", [call.tensor("input"), scale, shift], epsilon=epsilon)


@rule("group_norm native_group_norm")
def _group_norm(call: Call) -> str:
    """Return the form that torch's exporter writes: an instance normalisation of the groups."""
    data, meta = call.tensor("input"), call.meta("input")
    groups = int(call.number("num_groups" if call.has("num_groups") else "group"))
    sizes = call.sizes(data, meta.dims)
    rows = call.reshape(data, [sizes[0], groups, -1])
    ones, zeros = call.equal(1, groups, meta.dtype), call.equal(0, groups, meta.dtype)
    epsilon = float(call.number("eps", 1e-5))
    result = call.emit("InstanceNormalization", [rows, ones, zeros], epsilon=epsilon)
    result = call.reshape(result, sizes)
    axes = list(range(1, len(meta.dims) - 1))
    for key, op_type in (("weight", "Mul"), ("bias", "Add")):
        if call.has(key):
            result = call.emit(op_type, [result, call.unsqueeze(call.tensor(key), axes)])
    return result


@rule("layer_norm native_layer_norm")
def _layer_norm(call: Call) -> str:
    meta, axes = call.meta("input"), len(call.integers("normalized_shape"))
    dims = [int(size) for size in meta.dims[len(meta.dims) - axes :]]
    inputs = [call.tensor("input")]
    if call.has("weight"):
        inputs.append(call.tensor("weight"))
    else:
        inputs.append(call.emit("Expand", [call.constant(1, meta.dtype), call.vector(dims)]))
    if call.has("bias"):
        inputs.append(call.tensor("bias"))
    epsilon = float(call.number("eps", 1e-5))
    return call.emit("LayerNormalization", inputs, axis=-axes, epsilon=epsilon)


@rule("rms_norm _fused_rms_norm")
def _rms_norm(call: Call) -> str:
    axes, dtype = len(call.integers("normalized_shape")), call.meta("input").dtype
    data = call.tensor("input")
    epsilon = call.constant(call.get("eps", 1.2e-7), dtype)
    square = call.emit("Mul", [data, data])
    axes_input = call.integer_constant(list(range(-axes, 0)))
    mean = call.emit("ReduceMean", [square, axes_input], keepdims=1)
    root = call.emit("Sqrt", [call.emit("Add", [mean, epsilon])])
    result = call.emit("Div", [data, root])
    return call.emit("Mul", [result, call.tensor("weight")]) if call.has("weight") else result


rule("instance_norm _native_batch_norm_legit.no_stats")(_instance_norm)


@rule("local_response_norm")
def _local_response_norm(call: Call) -> str:
    return call.emit("LRN", [call.tensor("input")], size=int(call.number("size")))


@rule("linalg_vector_norm norm")
def _vector_norm(call: Call) -> str:
    order = call.get("ord" if call.has("ord") else "p", 2)
    op_type = {1: "ReduceL1", 2: "ReduceL2"}.get(order)
    if op_type is None:
        raise UnreadError("ord")
    data = call.cast(call.tensor("self"), call.meta("self").dtype, call.result().dtype)
    axes = call.integer_constant(call.axes("dim"))
    return call.emit(op_type, [data, axes], keepdims=int(bool(call.get("keepdim", False))))


@rule("_weight_norm_interface _weight_norm")
def _weight_norm(call: Call) -> str:
    """Return weights scaled by the norms of their rows."""
    rows = call.emit(
        "ReduceL2",
        [call.tensor("v"), call.integer_constant(list(range(1, call.rank("v"))))],
        keepdims=1,
    )
    scale = call.emit("Div", [call.tensor("g"), rows])
    return call.emit("Mul", [call.tensor("v"), scale])


@rule(
    "dropout native_dropout alpha_dropout feature_dropout clone detach detach_copy alias"
    " lift lift_fresh lift_fresh_copy contiguous positive resolve_conj resolve_neg"
)
def _same(call: Call) -> str:
    return call.tensor("self" if call.has("self") else "input")
