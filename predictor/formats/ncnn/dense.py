"""Matrix products, attention and recurrent layers."""

from __future__ import annotations

from typing import Final

from predictor.formats.builder import MisfitError
from predictor.formats.ncnn.layers import Dims, Handler, Operation
from predictor.formats.ncnn.quantised import integer_input, stored_weight


def _inner_product(op: Operation) -> None:
    """Rows of a matrix each, where their size fits; else all elements as one row."""
    outputs = max(op.integer(0), 1)
    inner = op.inner_size(2, outputs)
    data, dims = integer_input(op), op.dims()
    by_rows = len(dims) == 2 and dims[-1] in (inner, None)
    if not by_rows and len(dims) > 1:
        data = op.step("Flatten", [data], axis=1)
    weights = stored_weight(op, "weight", [outputs, inner])
    bias = [op.weight("bias", [outputs])] if op.integer(1) else []
    if by_rows:
        value = op.step("MatMul", [data, op.step("Transpose", [weights], perm=[1, 0])])
        value = op.step("Add", [value, *bias]) if bias else value
        op.give(op.activated(value), [dims[0], outputs])
        return
    value = op.step("Gemm", [data, weights, *bias], transB=1)
    op.give(op.activated(value), [outputs])


def _gemm(op: Operation) -> None:
    names, sizes = list(op.inputs), {"M": op.integer(7), "N": op.integer(8), "K": op.integer(9)}
    first, rows, _ = _gemm_side(op, "A", names)
    second, columns, is_constant = _gemm_side(op, "B", names)
    value = op.step("MatMul", [first, second])
    if op.integer(6):
        form = op.integer(10)
        shape = {
            0: [1],
            1: [sizes["M"], 1],
            2: [sizes["M"], 1],
            3: [sizes["M"], sizes["N"]],
            4: [sizes["N"]],
        }.get(form)
        value = value if shape is None else op.step("Add", [value, op.weight("bias", shape)])
    elif names:
        value = op.step("Add", [value, names.pop(0)])
    dims: Dims = [rows, columns]
    if op.integer(14):
        value, dims = _swapped(op, value, 2, not is_constant), dims[::-1]
    op.give(value, dims)


def _gemm_side(op: Operation, side: str, names: list[str]) -> tuple[str, int | None, bool]:
    """Return a factor as a product reads it, and its rows or columns."""
    first = side == "A"
    transposed = bool(op.integer(2 if first else 3))
    size, inner = op.integer(7 if first else 8), op.integer(9)
    if op.integer(4 if first else 5):
        dims = [size, inner] if transposed != first else [inner, size]
        name = stored_weight(op, f"weight_{side}", dims, 18)
        name = op.step("Transpose", [name], perm=[1, 0]) if transposed else name
        return name, size, True
    if not names:
        raise MisfitError("has too few inputs")
    index = len(op.inputs) - len(names)
    names.pop(0)
    dims_in, name = op.dims(index), integer_input(op, index, 18)
    outer = dims_in[-1 if transposed == first else -2] if len(dims_in) > 1 else dims_in[0]
    if transposed:
        name = _swapped(op, name, len(dims_in), batched=True)
    return name, outer, False


def _swapped(op: Operation, name: str, rank: int, batched: bool) -> str:
    first = list(range(rank + batched - 2))
    last = len(first)
    return op.step("Transpose", [name], perm=[*first, last + 1, last])


def _matmul(op: Operation) -> None:
    first, second = op.inputs[:2]
    dims = list(op.dims())
    columns = op.dims(1)[-2 if op.integer(0) and op.rank(1) > 1 else -1]
    if op.integer(0) and op.rank(1) > 1:
        second = _swapped(op, second, op.rank(1), batched=True)
    outer = op.dims(1)[:-2] if op.rank(1) > op.rank() else dims[:-2]
    op.emit("MatMul", [*outer, *dims[-2:-1], columns], [first, second])


def _attention(op: Operation) -> None:
    """Multi-head attention: three projections, products of heads, one projection."""
    width, heads = op.integer(0), max(op.integer(1, 1), 1)
    inner = op.inner_size(2, width)
    # Queries, keys and values may be one blob; a mask comes last.
    count = len(op.inputs) - (1 if op.integer(5) else 0)
    places = {1: (0, 0, 0), 2: (0, 1, 1)}.get(count, (0, 1, 2))
    sizes = (inner, op.integer(3, width), op.integer(4, width))
    queries, keys, values = (
        _heads(op, name, place, (size, width, heads), name == "keys")
        for name, place, size in zip(("queries", "keys", "values"), places, sizes, strict=True)
    )
    factor = op.number_constant(op.number(6, (width / heads) ** -0.5))
    scores = op.step("MatMul", [op.step("Mul", [queries, factor]), keys])
    if op.integer(5):
        scores = op.step("Add", [scores, op.inputs[-1]])
    mixed = op.step("MatMul", [op.step("Softmax", [scores], axis=-1), values])
    joined = op.reshaped(op.step("Transpose", [mixed], perm=[0, 2, 1, 3]), [0, 0, width])
    op.give(_projected(op, "output", joined, (width, inner)), [op.dims()[0], inner])


def _projected(op: Operation, what: str, name: str, sizes: tuple[int, int]) -> str:
    weights = stored_weight(op, f"{what}_weight", sizes[::-1], 18)
    turned = op.step("Transpose", [weights], perm=[1, 0])
    value = op.step("MatMul", [name, turned])
    return op.step("Add", [value, op.weight(f"{what}_bias", sizes[1:])])


def _heads(
    op: Operation, what: str, place: int, sizes: tuple[int, int, int], is_transposed: bool
) -> str:
    """Return a projection with heads as an axis; keys with their sizes before their positions."""
    inner, width, heads = sizes
    value = _projected(op, what, integer_input(op, place, 18), (inner, width))
    parted = op.reshaped(value, [0, 0, heads, width // heads])
    return op.step("Transpose", [parted], perm=[0, 2, 3, 1] if is_transposed else [0, 2, 1, 3])


def _scaled_attention(op: Operation) -> None:
    queries, keys, values = op.inputs[:3]
    factor = op.number_constant(op.number(6, 1.0))
    turned = _swapped(op, keys, op.rank(1), batched=True)
    scores = op.step("MatMul", [op.step("Mul", [queries, factor]), turned])
    if op.integer(5) and len(op.inputs) > 3:
        scores = op.step("Add", [scores, op.inputs[3]])
    dims = [*op.dims()[:-1], op.dims(2)[-1]]
    op.emit("MatMul", dims, [op.step("Softmax", [scores], axis=-1), values])


_GATES: Final = {"LSTM": 4, "GRU": 3, "RNN": 1}


def _recurrent(op_type: str) -> Handler:
    """Rows of a matrix are steps; states come in and go out where the layer has the blobs."""

    def convert(op: Operation) -> None:
        outputs, gates = max(op.integer(0), 1), _GATES[op_type]
        hidden = op.integer(3, outputs) if op_type == "LSTM" else outputs
        directions = 2 if op.integer(2) == 2 else 1
        size = op.inner_size(1, directions * gates * hidden)
        data = op.step("Transpose", [op.inputs[0]], perm=[1, 0, 2])
        # Reset after the product gives ncnn's GRU a fourth bias, as in ONNX.
        biases = gates + 1 if op_type == "GRU" else gates
        weights = [
            op.weight("weight", [directions, gates * hidden, size]),
            op.weight("recurrence", [directions, gates * hidden, outputs]),
            op.weight("bias", [directions, biases * hidden]),
        ]
        count = 2 if op_type == "LSTM" else 1
        results = [op.builder.fresh("states") for _ in range(count + 1)]
        op.builder.node(
            op_type,
            [data, *weights],
            results,
            name=op.layer.name,
            hidden_size=outputs,
            direction={1: "reverse", 2: "bidirectional"}.get(op.integer(2)),
        )
        turned = op.step("Transpose", results[:1], perm=[2, 0, 1, 3])
        width = directions * outputs
        op.give(op.reshaped(turned, [0, 0, width]), [op.dims()[0], width])
        for index in range(1, len(op.layer.outputs)):
            state = op.step("Transpose", [results[index]], perm=[1, 0, 2])
            op.give(state, [directions, outputs], index)

    return convert


def _embed(op: Operation) -> None:
    table = stored_weight(op, "table", [op.integer(1), op.integer(0)], 18)
    value = op.step("Gather", [table, op.inputs[0]], axis=0)
    if op.integer(2):
        value = op.step("Add", [value, op.weight("bias", [op.integer(0)])])
    op.give(value, [*op.dims(), op.integer(0)])


HANDLERS: Final[dict[str, Handler]] = {
    "Embed": _embed,
    "GRU": _recurrent("GRU"),
    "Gemm": _gemm,
    "InnerProduct": _inner_product,
    "LSTM": _recurrent("LSTM"),
    "MatMul": _matmul,
    "MultiHeadAttention": _attention,
    "RNN": _recurrent("RNN"),
    "SDPA": _scaled_attention,
}
"""Handlers by type of layer."""
