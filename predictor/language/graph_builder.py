"""Builds an :class:`OperatorGraph` operator by operator, without a file and without onnx."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import prod
from typing import NamedTuple

import numpy as np

from predictor.graph.operator_graph import ARRAYS, OperatorGraph
from predictor.graph.operators import DTYPE_CODE, OPERATOR_CODE, tensor_bytes
from predictor.graph.work import NO_WORK, Work

_VERSION = b"ctm-language/1"


class Moved(NamedTuple):
    """Bytes of one operator: activations read, constants read, activations written."""

    read: float = 0
    weights: float = 0
    written: float = 0


NOTHING = Moved()


@dataclass(frozen=True, slots=True)
class Value:
    """What an operator makes, or an input of the model (``producer`` -1)."""

    producer: int
    shape: tuple[int, ...]
    dtype: int

    @property
    def bytes(self) -> int:
        """Packed size."""
        return tensor_bytes(self.dtype, prod(self.shape))


@dataclass(slots=True)
class _Operator:
    op_type: str
    name: str
    inputs: tuple[Value, ...]
    output: Value
    work: Work
    moved: Moved
    attributes: str


@dataclass(slots=True)
class GraphBuilder:
    """Operators in the order in which they are added, which is topological."""

    dtype: int
    _operators: list[_Operator] = field(default_factory=list)
    _inputs: list[Value] = field(default_factory=list)

    def input(self, shape: tuple[int, ...], dtype: str) -> Value:
        """Add an input of the model."""
        self._inputs.append(Value(-1, shape, DTYPE_CODE[dtype]))
        return self._inputs[-1]

    def add(
        self,
        op_type: str,
        name: str,
        inputs: Sequence[Value],
        shape: tuple[int, ...],
        work: Work = NO_WORK,
        moved: Moved = NOTHING,
        attributes: Mapping[str, int] | None = None,
    ) -> Value:
        """Add an operator and return what it makes.

        Args:
            op_type: as ONNX names it, ``domain::Type`` outside the default domain.
            name: of the operator.
            inputs: values that it reads; a Gather reads of them what it gives out.
            shape: of its output.
            work: its arithmetic.
            moved: bytes beside those of inputs and output.
            attributes: of the operator.
        """
        output = Value(len(self._operators), shape, self.dtype)
        given = dict.fromkeys(inputs)
        read = sum(value.bytes for value in given)
        read = min(read, output.bytes) if op_type == "Gather" else read
        counts = (read + moved.read, moved.weights, output.bytes + moved.written)
        text = json.dumps(attributes or {}, sort_keys=True, separators=(",", ":"))
        self._operators.append(
            _Operator(op_type, name, tuple(given), output, work, Moved(*map(round, counts)), text)
        )
        return output

    def build(self, parameters: int, weights_bytes: int, held_bytes: int) -> OperatorGraph:
        """Freeze the graph; its one output is that of the last operator.

        Args:
            parameters: of the whole model.
            weights_bytes: their bytes.
            held_bytes: of a cache that is an input beside those that were added.
        """
        ops = self._operators
        count = len(ops)
        gemm = np.array([op.work.gemm for op in ops], np.int64).reshape(-1, 4)
        moved = np.array([op.moved for op in ops], np.int64)
        graph = OperatorGraph(
            op_code=np.array([OPERATOR_CODE[op.op_type.split("::")[-1]] for op in ops], np.int16),
            dtype=np.full(count, self.dtype, np.int8),
            flags=np.zeros(count, np.uint16),
            repeats=np.ones(count, np.int64),
            macs=gemm.prod(axis=1),
            bytes_read=moved[:, 0].copy(),
            weight_bytes=moved[:, 1].copy(),
            bytes_written=moved[:, 2].copy(),
            gemm=gemm,
            window=np.array([op.work.window for op in ops], np.int32).reshape(-1, 2),
            stride=np.array([op.work.stride for op in ops], np.int32).reshape(-1, 2),
            fused_into=np.full(count, -1, np.int32),
            edges=self._edges(),
            shape_offsets=np.array([0, *accumulate(len(op.output.shape) for op in ops)], np.int32),
            shape_dims=np.array([size for op in ops for size in op.output.shape], np.int64),
            names=tuple(op.name for op in ops),
            op_types=tuple(op.op_type for op in ops),
            attributes=tuple(op.attributes for op in ops),
            parameters=parameters,
            weights_total_bytes=weights_bytes,
            input_bytes=held_bytes + sum(value.bytes for value in self._inputs),
            output_bytes=ops[-1].output.bytes,
            peak_activation_bytes=held_bytes + self._peak(),
            fingerprint="",
        )
        return replace(graph, fingerprint=_fingerprint(graph))

    def _edges(self) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
        pairs = [
            (value.producer, at)
            for at, op in enumerate(self._operators)
            for value in op.inputs
            if value.producer >= 0
        ]
        return np.ascontiguousarray(np.array(pairs, np.int32).reshape(-1, 2).T)

    def _peak(self) -> int:
        """Return the largest sum of live activations; inputs of the model live to the end."""
        last = {v: at for at, op in enumerate(self._operators) for v in op.inputs}
        freed: dict[int, list[Value]] = {}
        for value, at in last.items():
            if value.producer >= 0:
                freed.setdefault(at, []).append(value)
        live = peak = sum(value.bytes for value in self._inputs)
        for at, op in enumerate(self._operators):
            live += op.output.bytes
            peak = max(peak, live)
            live -= sum(value.bytes for value in freed.get(at, ()))
        return peak


def _fingerprint(graph: OperatorGraph) -> str:
    """SHA-256 of all that the graph holds but names."""
    digest = hashlib.sha256(_VERSION)
    for name in ARRAYS:
        array = getattr(graph, name)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    texts = [graph.op_types, graph.attributes, graph.parameters, graph.weights_total_bytes]
    digest.update(json.dumps(texts).encode())
    return digest.hexdigest()
