"""The working form of a model while it is ingested: nodes by name, mutable, one flat scope."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import onnx

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.graph.operators import DTYPE_BITS, DTYPE_CODE, DTYPES, tensor_bytes

if TYPE_CHECKING:
    from predictor.graph.attributes import Attributes

_Proto = TypeVar("_Proto", onnx.NodeProto, onnx.TensorProto)

Shape = tuple[int | None, ...]
UNKNOWN_DTYPE = DTYPE_CODE["unknown"]


class TensorType(NamedTuple):
    """Type of one value: index into DTYPES and dims.

    Attributes:
        dtype: index into DTYPES.
        shape: dims, None for one that is not known; None for an unknown rank.
    """

    dtype: int
    shape: Shape | None

    @property
    def is_static(self) -> bool:
        """Whether every dim is known."""
        return self.shape is not None and None not in self.shape

    @property
    def dims(self) -> tuple[int, ...]:
        """The dims of a known shape, () where nothing is known."""
        shape = self.shape
        if not shape:
            return ()
        return tuple(d or 0 for d in shape) if None in shape else shape  # type: ignore[return-value]  # no None in it

    @property
    def elements(self) -> int:
        """Number of elements of a known shape."""
        return math.prod(self.dims)

    @property
    def bytes(self) -> int:
        """Packed size; 0 where the rank is not known (a value that is no tensor)."""
        return 0 if self.shape is None else tensor_bytes(self.dtype, self.elements)


UNKNOWN_TYPE = TensorType(UNKNOWN_DTYPE, None)


class Constant(NamedTuple):
    """A value that does not depend on the model's inputs.

    Attributes:
        roots: names of the stored tensors that it is made of.
        bits: bits in which one element is stored.
        derived: made with the help of a shape, so it changes with what the model is bound to.
        picks_elements: made by picking elements of its roots, which the model holds entirely.
        is_quantised: made of integers and their scales, which the model holds in place of it.
    """

    roots: tuple[str, ...]
    bits: int
    derived: bool
    picks_elements: bool = False
    is_quantised: bool = False


@dataclass(slots=True, eq=False, kw_only=True)
class Scope:
    """One body graph of an If, Loop or Scan.

    Attributes:
        control: the If, Loop or Scan that runs it.
        branch: 0 for then, 1 for else and for loop bodies 0.
        parent: the body that the control node stands in.
        trips: number of its runs in one run of its control node.
        trips_stated: whether the file states that number.
        settled: whether ``trips`` was requested already.
        carries: a loop's body, whose inputs change from run to run.
        counted: False for the branch of an If that is not counted.
    """

    control: Node
    branch: int
    parent: Scope | None
    trips: int = 1
    trips_stated: bool = True
    settled: bool = False
    carries: bool = False
    counted: bool = True


@dataclass(slots=True, eq=False, kw_only=True)
class Node:
    """One operator as its file states it, with values by their name in the flat scope.

    Attributes:
        op: name in ``OPERATORS``.
        op_type: type as the file names it, ``domain::Type`` outside the default domain.
        inputs, outputs: flat names; ``local_inputs`` and ``local_outputs`` are those of its graph.
        flags: :class:`OperatorFlag` bits.
        fused_into: the operator that it runs inside of.
    """

    op: str
    op_type: str
    domain: str
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: Attributes
    proto: onnx.NodeProto | None = None
    scope: Scope | None = None
    bodies: list[Body] = field(default_factory=list)
    flags: int = 0
    fused_into: Node | None = None
    local_inputs: list[str] = field(init=False)
    local_outputs: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.local_inputs, self.local_outputs = self.inputs, self.outputs

    @property
    def subject(self) -> str:
        """The node in an error."""
        return f"node {shortened(self.name, 120)}"

    @property
    def consumed(self) -> list[str]:
        """The values that the node needs: its inputs and its bodies' results."""
        if not self.bodies and "" not in self.inputs:
            return self.inputs
        names = [name for name in self.inputs if name]
        if self.bodies:
            names += (name for body in self.bodies for name in body.outputs)
        return names

    @property
    def repeats(self) -> int:
        """Number of runs of the node in one run of the model."""
        count, scope = 1, self.scope
        while scope is not None:
            count *= scope.trips
            scope = scope.parent
        return count


class Body(NamedTuple):
    """A body graph after flattening: its scope and the flat names of its outputs."""

    scope: Scope
    outputs: list[str]


@dataclass(slots=True, eq=False, kw_only=True)
class Network:
    """All that is known of a model while it is ingested.

    Attributes:
        nodes: in topological order once ``validation.sort_nodes`` ran.
        types: type by value name.
        constants: by value name.
        tensors: small stored tensors by value name, as protos.
        inputs: names of the model's inputs, initializers apart.
        outputs: names of its outputs.
        formals: values that a loop hands to its body: counter, condition.
        stored_types: types in the file's value_info; never trusted over inference.
        opsets: opset version by domain.
        notes: remarks in whole sentences, each once.
        data_dependent: values whose size is an upper bound.
        assumed: values whose type was guessed, behind an operator that is not known.
        lengths: number of tensors in a sequence, where it is known.
        scales: stored tensors that scale or shift the integers of others.
    """

    nodes: list[Node] = field(default_factory=list)
    types: dict[str, TensorType] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    tensors: dict[str, onnx.TensorProto] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    formals: set[str] = field(default_factory=set)
    stored_types: Mapping[str, TensorType] = field(default_factory=dict)
    opsets: dict[str, int] = field(default_factory=dict)
    # A dict as an ordered set.
    notes: dict[str, None] = field(default_factory=dict)
    data_dependent: set[str] = field(default_factory=set)
    assumed: set[str] = field(default_factory=set)
    lengths: dict[str, int] = field(default_factory=dict)
    scales: set[str] = field(default_factory=set)

    def type_of(self, name: str) -> TensorType:
        """Return the type of a value, unknown for an absent one."""
        return self.types.get(name, UNKNOWN_TYPE)

    def text_of(self, name: str) -> str:
        """Return the type of a value in words: ``float32[1,3,224,224]``."""
        return _type_text(self.types.get(name, UNKNOWN_TYPE))

    def input_type(self, node: Node, position: int) -> TensorType:
        """Return the type of one input, unknown where it is absent."""
        inputs = node.inputs
        return (
            self.types.get(inputs[position], UNKNOWN_TYPE)
            if position < len(inputs)
            else UNKNOWN_TYPE
        )

    def dims_of(self, node: Node, position: int) -> tuple[int, ...]:
        """Return the dims of input ``position``, of the first output for -1; () where absent."""
        if position >= 0:
            return self.input_type(node, position).dims
        return self.type_of(node.outputs[0]).dims if node.outputs else ()

    def release_file(self) -> None:
        """Let go of the file's protos once every type is known: they are most of the memory.

        What is read later, small tensors and the fill of a ConstantOfShape, is copied: any part of
        a proto keeps the whole.
        """
        self.tensors = {name: _copy_of(tensor) for name, tensor in self.tensors.items()}
        for node in self.nodes:
            if node.proto is not None:
                node.proto = _copy_of(node.proto) if node.op == "ConstantOfShape" else None

    def note(self, sentence: str) -> None:
        """Add a remark once."""
        self.notes[sentence] = None

    def add_constant(self, name: str, dtype: int) -> None:
        """Register a stored tensor as its own root."""
        self.constants[name] = Constant((name,), DTYPE_BITS[dtype], derived=False)


def _copy_of(proto: _Proto) -> _Proto:
    copy = type(proto)()
    copy.CopyFrom(proto)
    return copy


# Deep networks repeat the same few types.
@lru_cache(maxsize=4096)
def _type_text(value_type: TensorType) -> str:
    dims = "?" if value_type.shape is None else ",".join(map(str, value_type.dims))
    return f"{DTYPES[value_type.dtype]}[{dims}]"


# Errors of arithmetic on dims and attributes where a file gives a rank, a count or a size that
# the operator does not have. Rules and counters read dims as the operator's definition says.
MISFIT = (ArithmeticError, LookupError, TypeError, ValueError)
# Errors of onnx's own inference for a file that it cannot make sense of. bad_alloc reaches us as
# MemoryError: a size that lies, not a machine without memory.
ONNX_MISFIT = (
    onnx.shape_inference.InferenceError,
    onnx.checker.ValidationError,
    RuntimeError,
    MemoryError,
    *MISFIT,
)


def misfit(node: Node, reason: str = "their shapes or attributes are not its own") -> InputError:
    """Return the error that names an operator whose inputs do not fit it."""
    return InputError(
        node.subject,
        f"its inputs do not fit {shortened(node.op_type, 60)}: {reason}",
        "check the dimensions that the model is bound to, or export it again",
    )


def first_line(error: Exception) -> str:
    """Return the first line of onnx's message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shortened(lines[0] if lines else "shape inference failed", 200)
