"""Nodes of the ONNX model for operators of a subgraph: activations, conversions, integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
import onnx
import tflite
from onnx import TensorProto

from predictor.formats.builder import OPSET, ModelBuilder
from predictor.formats.tflite.file import ModelFile, Operator, Subgraph, Tensor
from predictor.formats.tflite.layouts import (
    Layout,
    arranged,
    as_filed,
    is_view,
)
from predictor.formats.tflite.values import Values
from predictor.graph.cleanup import CONTRACTIONS, INTEGER_CAPABLE

DOMAIN: Final = "tflite"
# Operators that only place elements work on stored integers as they are.
_PLACING: Final = """
    Concat DepthToSpace Expand Flatten Gather Pad Reshape Slice SpaceToDepth Split Squeeze Transpose
    Unsqueeze
"""
_COMPUTING: Final = INTEGER_CAPABLE - frozenset(_PLACING.split())
# Type in ONNX and bounds of each fused activation.
_ACTIVATIONS: Final[dict[int, tuple[str, tuple[float, ...]]]] = {
    tflite.ActivationFunctionType.RELU: ("Relu", ()),
    tflite.ActivationFunctionType.RELU_N1_TO_1: ("Clip", (-1.0, 1.0)),
    tflite.ActivationFunctionType.RELU6: ("Clip", (0.0, 6.0)),
    tflite.ActivationFunctionType.TANH: ("Tanh", ()),
    tflite.ActivationFunctionType.SIGN_BIT: ("Sign", ()),
}

Operand: TypeAlias = int | str
"""A tensor of the subgraph by its index, or a value of the model by its name."""


@lru_cache(maxsize=256)
def takes_type(op_type: str, dtype: int) -> bool:
    """Whether the first input of an operator of ONNX may be of a type."""
    schema = onnx.defs.get_schema(op_type, OPSET)
    text = f"tensor({TensorProto.DataType.Name(dtype).lower()})"
    return not schema.inputs or text in schema.inputs[0].types


class Translation(Values):
    """Values of one subgraph while its operators become nodes.

    The arguments are those of :class:`Values`.

    Attributes:
        unknowns: results of operators that ONNX does not have.
    """

    def __init__(
        self, file: ModelFile, graph: Subgraph, builder: ModelBuilder, prefix: str = ""
    ) -> None:
        super().__init__(file, graph, builder, prefix)
        self._reals: dict[str, str] = {}
        self._bounds: dict[float, str] = {}
        self.unknowns: set[int] = set()

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
        if result < 0 or not self.tensor(result).is_quantised:
            return False
        return op_type in _COMPUTING or not takes_type(op_type, self.tensor(result).dtype)

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
                value = self.between(index, value)
            op_type, bounds = function
            inputs = [value, *map(self.bound, bounds)]
            if is_integer:
                self._quantise(index, self.builder.node(op_type, inputs), name)
            else:
                self.builder.node(op_type, inputs, [name])
        if sizes is not None:
            self.reshaped(name, sizes, last)
        self.define(index, last, layout)

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

    def between(self, index: int, value: str) -> str:
        """Return a real value that was an integer of a tensor's scales between two operators."""
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
            self.builder.shape(name, tensor.dtype or TensorProto.FLOAT, self.stated_dims(index))
            self.define(index, name, as_filed(len(tensor.dims)))
            self.unknowns.add(index)
        self.builder.node(
            operator.type, inputs, outputs, name=outputs[0] if outputs else "", domain=DOMAIN
        )
