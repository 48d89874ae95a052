"""A subgraph of a TensorFlow Lite file in the making as ONNX: its values, their order and types."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import tflite
from numpy.typing import NDArray
from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.formats.builder import ModelBuilder
from predictor.formats.tflite.file import AGAIN, ModelFile, Operator, Subgraph, Tensor
from predictor.formats.tflite.layouts import (
    Layout,
    arranged,
    as_filed,
    channels_first,
    images_of,
    is_view,
)
from predictor.graph.cleanup import CONTRACTIONS, INTEGER_CAPABLE

DOMAIN: Final = "tflite"
_SMALL_ELEMENTS: Final = 4096
# Operators that only place elements work on stored integers as they are.
_COMPUTING: Final = INTEGER_CAPABLE - frozenset(
    """
    Concat DepthToSpace Expand Flatten Gather Pad Reshape Slice SpaceToDepth Split Squeeze Transpose
    Unsqueeze
    """.split()
)
_COUNTING: Final = (TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL)
_ACTIVATIONS: Final = {
    tflite.ActivationFunctionType.RELU: ("Relu",),
    tflite.ActivationFunctionType.RELU_N1_TO_1: ("Clip", -1.0, 1.0),
    tflite.ActivationFunctionType.RELU6: ("Clip", 0.0, 6.0),
    tflite.ActivationFunctionType.TANH: ("Tanh",),
    tflite.ActivationFunctionType.SIGN_BIT: ("Sign",),
}

Operand: TypeAlias = int | str
"""A tensor of the subgraph by its index, or a value of the model by its name."""


class Translation:
    """Values of one subgraph while its operators become nodes.

    Args:
        file: it is of.
        graph: the subgraph.
        builder: of the model or body that the nodes go to.
        prefix: of names, so that those of two subgraphs differ.

    Attributes:
        images: tensors that have channels first in the model, where that is free.
        users: the operators that read each tensor.
        producers: the operator that makes each tensor.
        transposed: what a transposed tensor was before, and the order of its axes.
        stacks: matrices that are stacked along several axes, where the file joins these to one: the
            value and its sizes.
    """

    def __init__(
        self, file: ModelFile, graph: Subgraph, builder: ModelBuilder, prefix: str = ""
    ) -> None:
        self.file, self.graph, self.builder, self.prefix = file, graph, builder, prefix
        self.images = images_of(graph)
        self.users: dict[int, list[Operator]] = {}
        self.producers: dict[int, Operator] = {}
        for operator in graph.operators:
            for index in operator.inputs:
                self.users.setdefault(index, []).append(operator)
            for index in operator.outputs:
                self.producers.setdefault(index, operator)
        self.transposed: dict[int, tuple[int, list[int]]] = {}
        self.stacks: dict[int, tuple[str, tuple[int, ...]]] = {}
        self._layouts: dict[int, Layout] = {}
        self._values: dict[tuple[int, Layout], str] = {}
        self._reals: dict[str, str] = {}
        self._bounds: dict[float, str] = {}
        self._made: set[str] = set()
        self._constants: set[int] = set()

    def tensor(self, index: int) -> Tensor:
        """Return a tensor; IndexError for an absent one."""
        if index < 0:
            raise IndexError(index)
        return self.graph.tensors[index]

    def name(self, index: int) -> str:
        """Return the name of a tensor in the model."""
        return self.prefix + self.tensor(index).name

    def rank(self, index: int) -> int:
        """Return the number of axes of a tensor."""
        return len(self.tensor(index).dims)

    def is_constant(self, index: int) -> bool:
        """Whether a tensor holds data, or is a state that starts as zeros."""
        tensor = self.tensor(index)
        if index in self._layouts:
            return index in self._constants
        return self.file.is_constant(tensor) or tensor.is_variable or 0 in tensor.dims

    def has(self, operator: Operator, position: int) -> bool:
        """Whether an operator has an optional input."""
        return position < len(operator.inputs) and operator.inputs[position] >= 0

    def integers(self, index: int) -> list[int] | None:
        """Return the values of a small constant of integers; None of any other tensor."""
        values = self.values(index)
        if values is None or values.dtype.kind not in "iub":
            return None
        numbers: list[int] = values.astype(np.int64).reshape(-1).tolist()
        return numbers

    def steering(self, operator: Operator, position: int) -> list[int]:
        """Return the values of an input that has to be constant.

        Raises:
            InputError: it is computed by the network.
        """
        numbers = self.integers(operator.inputs[position])
        if numbers is None:
            reason = f"its input {position} is computed, and what it does depends on it"
            raise InputError(operator.subject, reason, "convert the model with fixed sizes")
        return numbers

    def values(self, index: int) -> NDArray[Any] | None:
        """Return the values of a small constant; None of any other tensor."""
        tensor = self.tensor(index)
        if not self.is_constant(index) or math.prod(tensor.dims) > _SMALL_ELEMENTS:
            return None
        if tensor.dtype in (TensorProto.UNDEFINED, TensorProto.STRING):
            return None
        return self.file.data(tensor)

    def layout(self, index: int) -> Layout:
        """Return the layout that a tensor has in the model."""
        return self._layouts.get(index) or as_filed(self.rank(index))

    def result_layout(self, operator: Operator) -> Layout:
        """Return the layout of the result of a neutral operator: that of its images, if any."""
        result = operator.outputs[0]
        rank = self.rank(result)
        dynamic = [i for i in operator.inputs if i >= 0 and not self.is_constant(i)]
        for index in dynamic:
            if self.rank(index) == rank and self.layout(index) != as_filed(rank):
                return self.layout(index)
        is_image = result in self.images and any(self.rank(i) == rank for i in dynamic)
        return channels_first(rank) if is_image else as_filed(rank)

    def define(self, index: int, value: str, layout: Layout) -> None:
        """State which value of the model a tensor is, and its layout."""
        self._layouts[index] = layout
        self._values[index, layout] = value

    def value(self, index: int, layout: Layout | None = None) -> str:
        """Return the value of a tensor in its stored type.

        Args:
            index: of the tensor.
            layout: that it has to have; the one that it has if None.

        Raises:
            InputError: nothing makes it.
        """
        if index not in self._layouts:
            self._add_constant(index, layout)
        layout = self.layout(index) if layout is None else layout
        value = self._values.get((index, layout))
        if value is None:
            value = self._values[index, layout] = self._rearranged(index, layout)
        return value

    def _add_constant(self, index: int, layout: Layout | None) -> None:
        tensor = self.tensor(index)
        if not self.is_constant(index):
            reason = f"nothing makes its tensor '{tensor.name[:80]}'"
            raise InputError(self.file.path, reason, AGAIN)
        values = self.values(index) if tensor.dtype in _COUNTING else None
        layout = as_filed(len(tensor.dims)) if layout is None or values is not None else layout
        name = self.name(index)
        if values is not None:
            self.builder.constant(values, name)
        else:
            dtype = tensor.dtype or TensorProto.FLOAT
            self.builder.weight(name, dtype, arranged(tensor.dims, layout))
        self._constants.add(index)
        self.define(index, name, layout)

    def _rearranged(self, index: int, layout: Layout) -> str:
        """Return a tensor in another layout: a view where only axes of one element move."""
        tensor, present = self.tensor(index), self.layout(index)
        if index in self.transposed:
            data, order = self.transposed[index]
            return self.value(data, tuple(order[axis] for axis in layout))
        source = self._values[index, present]
        if is_view(tensor.signature, present, layout):
            return self.reshaped(source, arranged(tensor.signature, layout))
        order = [present.index(axis) for axis in layout]
        return self.builder.node("Transpose", [source], perm=order)

    def reshaped(self, value: str, sizes: Sequence[int], name: str = "") -> str:
        """Return a value in another shape; one size may be -1, or the first as it was."""
        target = list(sizes)
        if target.count(-1) > 1 and target[0] == -1:
            target[0] = 0
        if target.count(-1) > 1:
            raise InputError(
                self.file.path, "a Reshape in it has several open sizes", "fix them in the model"
            )
        outputs = [name] if name else None
        return self.builder.node("Reshape", [value, self.builder.constant(target)], outputs)

    def real(self, index: int, layout: Layout | None = None) -> str:
        """Return the value of a tensor as real numbers, dequantised where it is integers."""
        tensor, value = self.tensor(index), self.value(index, layout)
        if not tensor.is_quantised:
            return value
        if value not in self._reals:
            layout = self.layout(index) if layout is None else layout
            inputs = [value, *self._scale(tensor, is_weight=self._is_weight(index))]
            axis = layout.index(tensor.axis) if tensor.scales > 1 else None
            self._reals[value] = self.builder.node("DequantizeLinear", inputs, axis=axis)
        return self._reals[value]

    def scale(self, index: int) -> list[str]:
        """Return the scales of a tensor, with its zero points."""
        return self._scale(self.tensor(index), is_weight=self._is_weight(index))

    def _is_weight(self, index: int) -> bool:
        return self.file.is_constant(self.tensor(index))

    def _scale(self, tensor: Tensor, *, is_weight: bool) -> list[str]:
        """Return the scales of a tensor, with zero points where its integers need some."""
        dims = [tensor.scales] if tensor.scales > 1 else []
        scale = self.builder.weight(self.builder.fresh("scale"), TensorProto.FLOAT, dims)
        if is_weight and tensor.dtype != TensorProto.UINT8:
            return [scale]  # symmetric, as the kernels need them
        return [scale, self.builder.weight(self.builder.fresh("zero"), tensor.dtype, dims)]

    def is_integer(self, operator: Operator, op_type: str) -> bool:
        """Whether an operator becomes one between conversions, which then are parts of it."""
        result = operator.outputs[0] if operator.outputs else -1
        return op_type in _COMPUTING and result >= 0 and self.tensor(result).is_quantised

    def operand(self, operand: Operand, layout: Layout | None, *, is_integer: bool) -> str:
        """Return an input of a node: weights as real numbers, others so in an integer operator."""
        if isinstance(operand, str):
            return operand
        if operand < 0:
            return ""
        is_real = is_integer or self._is_weight(operand)
        return self.real(operand, layout) if is_real else self.value(operand, layout)

    def aligned(self, operand: Operand, layout: Layout, *, is_integer: bool = False) -> str:
        """Return an operand of a result with a layout; one of lower rank gets leading axes."""
        if isinstance(operand, str) or operand < 0 or self.rank(operand) == len(layout):
            return self.operand(operand, layout, is_integer=is_integer)
        value = self.operand(operand, as_filed(self.rank(operand)), is_integer=is_integer)
        missing = len(layout) - self.rank(operand)
        is_plain = layout == as_filed(len(layout)) and self.is_constant(operand)
        if missing < 0 or not self.rank(operand) or is_plain:
            return value
        sizes = [1] * missing + [*self.tensor(operand).signature]
        if is_view(sizes, as_filed(len(layout)), layout):
            return self.reshaped(value, arranged(sizes, layout))
        return self.builder.node("Transpose", [self.reshaped(value, sizes)], perm=list(layout))

    def node(
        self,
        operator: Operator,
        op_type: str,
        operands: Sequence[Operand],
        layout: Layout | None = None,
        *,
        operand_layout: Layout | None = None,
        is_integer: bool | None = None,
        **attributes: Any,
    ) -> None:
        """Add the node of an operator with one result, its activation and conversions.

        Args:
            operator: it is of.
            op_type: its type in ONNX.
            operands: its inputs.
            layout: of its result; that of the file if None.
            operand_layout: of the inputs that are tensors; the one that they have if None.
            is_integer: whether inputs that are values are real numbers of an integer operator; it
                follows from the tensors among the inputs if None.
            attributes: of the node; ``domain`` is that of its type.
        """
        if is_integer is None:
            has_tensors = any(isinstance(operand, int) for operand in operands)
            is_integer = has_tensors and self.is_integer(operator, op_type)
        if operand_layout is None:
            inputs = [self.operand(o, None, is_integer=is_integer) for o in operands]
        else:
            inputs = [self.aligned(o, operand_layout, is_integer=is_integer) for o in operands]
        self.result(
            operator,
            lambda outputs: self.builder.node(
                op_type, inputs, outputs, name=self._node_name(operator), **attributes
            ),
            layout,
            is_integer=is_integer,
            is_contraction=op_type in CONTRACTIONS,
        )

    def _node_name(self, operator: Operator) -> str:
        return self.name(operator.outputs[0])

    def result(
        self,
        operator: Operator,
        add: Callable[[list[str]], str],
        layout: Layout | None = None,
        *,
        is_integer: bool = False,
        is_contraction: bool = False,
        sizes: Sequence[int] | None = None,
    ) -> None:
        """Let ``add`` make the result of an operator, its activation and conversion follow.

        Args:
            operator: with one result.
            add: adds a node with outputs of these names.
            layout: of the result; that of the file if None.
            is_integer: whether the result is real and has to be made integers.
            is_contraction: whether an activation runs inside the operator.
            sizes: that the result gets at last; those that it has if None.
        """
        index = operator.outputs[0]
        layout = as_filed(self.rank(index)) if layout is None else layout
        last = self.free_name(index)
        name = last if sizes is None else self.builder.fresh(last)
        function = _ACTIVATIONS.get(operator.option("FusedActivationFunction"))
        if function is None and not is_integer:
            add([name])
        elif function is None:
            self._quantise(index, add([self.builder.fresh(name)]), name)
        else:
            value = add([self.builder.fresh(name)])
            if is_integer and not is_contraction:
                value = self._between(index, value)
            op_type, *bounds = function
            inputs = [value, *map(self.bound, bounds)]
            if is_integer:
                self._quantise(index, self.builder.node(op_type, inputs), name)
            else:
                self.builder.node(op_type, inputs, [name])
        if sizes is not None:
            self.reshaped(name, sizes, last)
        self.define(index, last, layout)

    def free_name(self, index: int) -> str:
        """Return the name of a tensor for the value that an operator makes of it."""
        name = self.name(index)
        if name in self._made:
            raise InputError(self.file.path, f"its tensor '{name[:80]}' is made twice", AGAIN)
        self._made.add(name)
        return name

    def bound(self, value: float) -> str:
        """Return a constant number."""
        if value not in self._bounds:
            self._bounds[value] = self.builder.constant(
                np.array(value, np.float32), f"{self.prefix}bound/{value}"
            )
        return self._bounds[value]

    def _quantise(self, index: int, value: str, name: str) -> None:
        inputs = [value, *self._scale(self.tensor(index), is_weight=False)]
        self.builder.node("QuantizeLinear", inputs, [name])

    def _between(self, index: int, value: str) -> str:
        """Return a real value that was an integer between two operators."""
        tensor, integers = self.tensor(index), self.builder.fresh("integers")
        self._quantise(index, value, integers)
        scale = self._scale(tensor, is_weight=False)
        return self.builder.node("DequantizeLinear", [integers, *scale])

    def stacked(self, operator: Operator, value: str, sizes: tuple[int, ...]) -> None:
        """State the result of an operator on stacks: a view of it has the sizes of the file."""
        index = operator.outputs[0]
        name = self.free_name(index)
        self.reshaped(value, self.tensor(index).dims, name)
        self.define(index, name, as_filed(self.rank(index)))
        self.stacks[index] = value, sizes

    def unknown(self, operator: Operator) -> None:
        """Add an operator that ONNX does not have, its results in the shapes of the file."""
        inputs = [self.value(i, as_filed(self.rank(i))) if i >= 0 else "" for i in operator.inputs]
        outputs = [self.free_name(i) if i >= 0 else "" for i in operator.outputs]
        for index, name in zip(operator.outputs, outputs, strict=True):
            if not name:
                continue
            tensor = self.tensor(index)
            self.builder.shape(name, tensor.dtype or TensorProto.FLOAT, tensor.dims)
            self.define(index, name, as_filed(len(tensor.dims)))
        self.builder.node(
            operator.type, inputs, outputs, name=outputs[0] if outputs else "", domain=DOMAIN
        )
