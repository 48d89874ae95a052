"""A model at another batch than the one that its file fixes.

Exporters write the batch of their example into the graph: a Reshape to ``[1, 196, 768]``, a class
token ``[1, 1, 768]`` that a Concat joins, the sizes of a Resize. The types at the file's own batch
show what such a node means: where an axis of its data grows with the batch, the axis of its result
that holds the batch grows too, and a parameter that stands beside such data is repeated.

The batch is taken to be the outermost factor of an axis, as in windows ``[batch x 64, 49, C]``, but
where rows of ``[length, batch, width]`` are joined.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

import numpy as np
import onnx

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.graph.attributes import NO_ATTRIBUTES
from predictor.graph.network import MISFIT, Constant, Network, Node, TensorType, misfit
from predictor.graph.operators import DTYPE_CODE
from predictor.graph.values import Array, ValueTable

_INT64: Final = DTYPE_CODE["int64"]
_EXPORT_DYNAMIC: Final = "export the model with a dynamic batch dimension"
_TO_THE_END: Final = np.iinfo(np.int64).max

# Operands whose dims are aligned from the right.
_BROADCASTING_WORDS = """
    Add And BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max
    Mean Min Mod Mul Or PRelu Pow Sub Sum Where Xor
"""
_BROADCASTING: Final = frozenset(_BROADCASTING_WORDS.split())
# Operands that have the axis of the batch in common.
_SAME_AXIS: Final = frozenset({"Concat", "GatherElements", "GatherND", "GridSample", "RoiAlign"})
# Their results have the first axis of their first input, whatever else they do.
_KEEPING_WORDS = """
    Add AveragePool BatchNormalization Cast Clip Conv ConvTranspose Div Erf Exp Gelu
    GlobalAveragePool HardSigmoid HardSwish LayerNormalization LeakyRelu MaxPool Mul PRelu Pow Relu
    Sigmoid Softmax Sqrt Sub Tanh
"""
_KEEPING: Final = frozenset(_KEEPING_WORDS.split())
_WEIGHT_INPUTS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("Conv", "ConvInteger", "ConvTranspose", "DeformConv"), 1),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), 1),
    "QLinearConv": 3,
}
# initial_h and initial_c: [directions, B, H], or [B, directions, H] in layout 1.
_STATES: Final = (5, 6)
_RECURRENT: Final = frozenset({"LSTM", "GRU", "RNN"})


class Rebatching:
    """Fits the nodes of a network to its new batch, one after the other in topological order.

    Attributes:
        network: bound to the new batch; the types of a node's inputs are known when it is fitted.
        values: of ``network``.
        old: the same model at the batch of its file, all types known.
        old_batch, batch: of the file, and the new one.
    """

    def __init__(
        self,
        network: Network,
        values: ValueTable,
        old: Network,
        old_batch: int,
        batch: int,
    ) -> None:
        self.network = network
        self.values = values
        self.old = old
        self.old_batch = old_batch
        self.batch = batch
        self._old_values = ValueTable(old)
        self._follows = set(network.inputs)
        self._fixed = set(network.constants)
        # Of values whose batch is not the outermost part of its axis: the axis' size, what is
        # outside of the batch.
        self._joined: dict[str, tuple[int, int]] = {}
        self._repeats: dict[int, list[Node]] = {}

    def fit(self, node: Node) -> None:
        """Replace what ``node`` has of the old batch: targets, sizes, parameters beside data.

        Raises:
            InputError: it pins the batch, or its inputs do not fit it; it is named.
        """
        try:
            self._fit(node)
        except MISFIT as error:
            raise misfit(node) from error

    def _fit(self, node: Node) -> None:
        inputs = [name for name in node.inputs if name]
        if not node.bodies and inputs and all(name in self._fixed for name in inputs):
            self._fixed.update(node.outputs)
            self._take_types(node, ())
            return
        if node.op not in {"Shape", "Size"} and any(name in self._follows for name in inputs):
            self._follows.update(name for name in node.outputs if name)
        joined = next((self._joined[name] for name in inputs if name in self._joined), None)
        if joined is not None and node.op != "Reshape":
            self._joined.update(dict.fromkeys(node.outputs, joined))
        if self._has_grown_weights(node) or (node.op == "Squeeze" and self._drops_batch(node)):
            raise self.pinned(node)
        self._fit_inputs(node)
        if node.op in _KEEPING and self._keeps_first(node):
            self._take_types(node, (0,))

    def _fit_inputs(self, node: Node) -> None:
        match node.op:
            case "Reshape":
                self._fit_reshape(node)
            case "Expand":
                self._fit_sizes(node, 1)
                self._fit_expanded(node)
            case "Resize":
                self._fit_sizes(node, 3)
            case "Slice":
                self._fit_slice(node)
            case op if op in _RECURRENT:
                self._fit_states(node)
            case op if op in _BROADCASTING or op in _SAME_AXIS or op == "MatMul":
                self._fit_operands(node)

    def finish(self) -> None:
        """Put the nodes that repeat parameters before those that read them."""
        self.network.nodes = [
            placed
            for node in self.network.nodes
            for placed in (*self._repeats.get(id(node), ()), node)
        ]

    @contextmanager
    def naming_pins(self) -> Iterator[None]:
        """Infer the network within: a node that does not fit any more pins the batch.

        Raises:
            InputError: one does; it is named, with the way out.
        """
        try:
            yield
        except InputError as error:
            raise InputError(error.subject, error.reason, _EXPORT_DYNAMIC) from error

    def pinned(self, node: Node) -> InputError:
        """Return the error that names a node which fixes the batch."""
        return InputError(
            node.subject,
            f"fixed batch {self.old_batch} ({shortened(node.op_type, 40)})",
            _EXPORT_DYNAMIC,
        )

    def _grown(self, size: int) -> int:
        return size * self.batch // self.old_batch

    def _axis(self, name: str) -> int | None:
        """Return the axis of a value that grows with the batch; None where none does."""
        old, new = self.old.type_of(name), self.network.type_of(name)
        if not (old.is_static and new.is_static) or len(old.dims) != len(new.dims):
            return None
        axes = [i for i, (a, b) in enumerate(zip(old.dims, new.dims, strict=True)) if a != b]
        if len(axes) != 1 or self._grown(old.dims[axes[0]]) != new.dims[axes[0]]:
            return None
        return axes[0]

    def _has_grown_weights(self, node: Node) -> bool:
        position = _WEIGHT_INPUTS.get(node.op, len(node.inputs))
        return position < len(node.inputs) and self._axis(node.inputs[position]) is not None

    def _written(self, node: Node, position: int) -> Array | None:
        """Return an integer input that is the same at both batches; None where none is."""
        if position >= len(node.inputs) or not node.inputs[position]:
            return None
        name = node.inputs[position]
        old, new = self._old_values.get(name), self.values.get(name)
        if old is None or new is None or new.dtype.kind != "i" or not np.array_equal(old, new):
            return None
        return new

    def _keeps_first(self, node: Node) -> bool:
        """Whether the batch is the first axis of all operands that have it, and of the result."""
        result = self.old.dims_of(node, -1)
        for position, name in enumerate(node.inputs):
            axis = self._axis(name) if name else None
            if axis is not None and (axis != 0 or len(self.old.type_of(name).dims) != len(result)):
                return False
            if position == 0 and (axis is None or self.old.type_of(name).dims[0] != result[0]):
                return False
        return True

    def _take_types(self, node: Node, grown: tuple[int, ...]) -> None:
        """Take the types at the old batch, some axes grown: quicker than to infer them."""
        for name in filter(None, node.outputs):
            old = self.old.type_of(name)
            loose = name in self.old.data_dependent or name in self.old.assumed
            if old.is_static and not loose:
                dims = [self._grown(d) if i in grown else d for i, d in enumerate(old.dims)]
                self.network.types[name] = TensorType(old.dtype, tuple(dims))

    def _fit_reshape(self, node: Node) -> None:
        axis, written = self._axis(node.inputs[0]), self._written(node, 1)
        result = self.old.type_of(node.outputs[0]).dims
        source = self.old.type_of(node.inputs[0]).dims
        if axis is None and written is None and source[:1] == result[:1] == (self.old_batch,):
            # Queries, beside data whose batch the target takes from a Shape.
            target = self.values.get(node.inputs[1]) if len(node.inputs) > 1 else None
            if target is not None and target.size and target.reshape(-1)[0] == self.batch:
                self._repeat(node, 0, 0)
            return
        if axis is None or written is None or 0 in result:
            return
        size, outside = self._joined.get(node.inputs[0], (0, 1))
        place = _reshaped(source, _Place(axis, outside if size == source[axis] else 1), result)
        if place is None:
            raise self.pinned(node)
        if place.outside > 1:
            self._joined[node.outputs[0]] = (result[place.axis], place.outside)
        grown = [self._grown(d) if i == place.axis else d for i, d in enumerate(result)]
        self._replace(node, 1, np.array(grown, np.int64))

    def _fit_sizes(self, node: Node, position: int) -> None:
        """Fit sizes that are written out for each axis, aligned from the right."""
        axis, sizes = self._axis(node.inputs[0]), self._written(node, position)
        if axis is None or sizes is None or not sizes.size:
            return
        dims = self.old.type_of(node.inputs[0]).dims
        place = axis - len(dims) + sizes.size
        if place >= 0 and sizes[place] == dims[axis]:
            sizes = sizes.copy()
            sizes[place] = self._grown(int(sizes[place]))
            self._replace(node, position, sizes)

    def _fit_expanded(self, node: Node) -> None:
        """Repeat a parameter of the old batch that a Shape expands to the new one."""
        old, new = self._old_values.get(node.inputs[1]), self.values.get(node.inputs[1])
        dims = self.network.type_of(node.inputs[0]).dims
        if old is None or new is None or old.shape != new.shape:
            return
        for axis, size in enumerate(dims, start=old.size - len(dims)):
            if axis >= 0 and size == old[axis] != new[axis] == self._grown(size):
                self._repeat(node, 0, axis - old.size + len(dims))

    def _drops_batch(self, node: Node) -> bool:
        """Whether a Squeeze drops the axis of the batch, which was 1."""
        axis, axes = self._axis(node.inputs[0]), self._written(node, 1)
        stated = node.attributes.integers("axes") if axes is None else axes.reshape(-1).tolist()
        rank = len(self.old.type_of(node.inputs[0]).dims)
        return axis is not None and axis in [int(a) % rank for a in stated]

    def _fit_slice(self, node: Node) -> None:
        """A slice of the whole batch stays one of the whole batch."""
        axis, ends, axes = self._axis(node.inputs[0]), self._written(node, 2), None
        if axis is None or ends is None:
            return
        source = self.old.type_of(node.inputs[0]).dims
        result = self.old.type_of(node.outputs[0]).dims
        axes = self._written(node, 3)
        sliced = range(ends.size) if axes is None else [int(a) % len(source) for a in axes]
        if axis not in sliced or result[axis : axis + 1] != source[axis : axis + 1]:
            return
        ends = ends.copy()
        ends[list(sliced).index(axis)] = _TO_THE_END
        self._replace(node, 2, ends)

    def _fit_states(self, node: Node) -> None:
        batch_axis = 0 if node.attributes.integer("layout") else 1
        data = self._axis(node.inputs[0])
        if data is None:
            return
        if data != batch_axis:
            raise self.pinned(node)
        for position in _STATES:
            if position < len(node.inputs) and node.inputs[position]:
                self._repeat(node, position, batch_axis)

    def _fit_operands(self, node: Node) -> None:
        """Repeat parameters that have the batch of the file where other operands have the new."""
        axes = {
            position: axis
            for position, name in enumerate(node.inputs)
            if name and (axis := self._axis(name)) is not None
        }
        if not axes:
            return
        leader, axis = next(iter(axes.items()))
        dims = self.old.type_of(node.inputs[leader]).dims
        if node.op == "Concat" and node.attributes.integer("axis") % len(dims) == axis:
            return
        for position, name in enumerate(node.inputs):
            if name and position not in axes:
                sizes = self.old.type_of(name).dims
                place = axis if node.op in _SAME_AXIS else axis - len(dims) + len(sizes)
                if node.op == "MatMul" and place >= len(sizes) - 2:
                    continue
                needed = node.op in _SAME_AXIS or sizes[place : place + 1] != (1,)
                if 0 <= place < len(sizes) and sizes[place] == dims[axis] and needed:
                    self._repeat(node, position, place)

    def _repeat(self, node: Node, position: int, axis: int) -> None:
        """Repeat a parameter along an axis before ``node`` reads it.

        Raises:
            InputError: it comes from the model's inputs, and a node before it dropped the batch.
        """
        name = node.inputs[position]
        if self._axis(name) is not None:
            return
        if name in self._follows:
            raise self.pinned(node)
        value_type = self.network.type_of(name)
        dims = list(value_type.dims)
        counts = np.ones(len(dims), np.int64)
        # Whole repeats: a batch of 4 to one of 6 takes 1.5, of which only the size matters here.
        counts[axis] = max(self.batch // self.old_batch, 1)
        dims[axis] = self._grown(dims[axis])
        place = f"{node.name}/{position}"
        repeat = Node(
            op="Tile",
            op_type="Tile",
            domain="",
            name=f"{place}/batch",
            inputs=[name, self._constant(f"{place}/n", counts)],
            outputs=[f"{place}/repeated"],
            attributes=NO_ATTRIBUTES,
        )
        repeat.scope = node.scope
        self.network.types[repeat.outputs[0]] = TensorType(value_type.dtype, tuple(dims))
        self._repeats.setdefault(id(node), []).append(repeat)
        self._read(node, position, repeat.outputs[0])

    def _replace(self, node: Node, position: int, value: Array) -> None:
        self._read(node, position, self._constant(f"{node.name}/{position}/batch", value))

    def _constant(self, name: str, value: Array) -> str:
        self.network.tensors[name] = onnx.numpy_helper.from_array(value, name)
        self.network.types[name] = TensorType(_INT64, value.shape)
        self.network.constants[name] = Constant((), 64, derived=True)
        return name

    def _read(self, node: Node, position: int, name: str) -> None:
        # A new list: ``local_inputs`` keep the names that the file has.
        node.inputs = [*node.inputs[:position], name, *node.inputs[position + 1 :]]


class _Place(NamedTuple):
    """Where a value holds the batch.

    Attributes:
        axis: that grows with it.
        outside: elements of that axis, at the old batch, which lie outside of the batch in memory.
    """

    axis: int
    outside: int


def _reshaped(source: tuple[int, ...], place: _Place, result: tuple[int, ...]) -> _Place | None:
    """Return where the result of a Reshape holds the batch; None where no axis can.

    A Reshape keeps the order in memory, so what lies outside of the batch stays outside of it.

    Args:
        source: dims of the data at the old batch.
        place: of the batch in the data.
        result: dims of the result at the old batch.
    """
    outside = math.prod(source[: place.axis]) * place.outside
    fits = []
    for axis, size in enumerate(result):
        within, rest = divmod(outside, math.prod(result[:axis]))
        if not rest and within and size % within == 0:
            fits.append(_Place(axis, within))
    if place.axis != len(source) - 1:
        # Features are not joined to the batch where rows can be, as in [length x batch, width].
        fits = [fit for fit in fits if fit.axis != len(result) - 1] or fits
    outermost = [fit for fit in fits if fit.outside == 1]
    # Axes of 1 leave a choice: those before the batch stay where none are joined.
    same = [fit for fit in outermost if fit.axis == place.axis and len(result) >= len(source)]
    return next(iter(same or outermost or fits), None)
