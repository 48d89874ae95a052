"""The operator graph, input of every engine. Frozen arrays, cost O(operators + edges)."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

# Graphs lie in the store: another layout needs another number.
_MAGIC = b"CTMG1\n"


class OperatorFlag(IntFlag):
    """Special properties of an operator."""

    UNKNOWN = 1  # not known to us: bytes are counted, MACs are 0
    VIEW = 2  # changes the shape only: no traffic, no launch
    FUSED = 4  # runs inside the operator in ``fused_into``: no traffic, no launch of its own
    SUBGRAPH = 8  # stands in the body of an If, Loop or Scan
    UNKNOWN_TRIPS = 16  # in a loop whose trip count the file does not state: counted once
    QUANTISED = 32  # multiplies integers
    WINOGRAD = 64  # convolution with stride 1 and dilation 1, which fast algorithms may serve
    DATA_DEPENDENT = 128  # its output size depends on values: an upper bound is counted


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True, kw_only=True)
class OperatorGraph:
    """Operators in topological order, N of them, with E edges.

    Attributes:
        op_code: int16 [N], index into ``operators.OPERATORS``; 0 is an unknown operator.
        dtype: int8 [N], index into ``operators.DTYPES`` of the type that it computes in.
        flags: uint16 [N], :class:`OperatorFlag` bits.
        repeats: int64 [N], runs in one run of the model (trips of its loops), 1 outside loops.
        macs: int64 [N], multiply-accumulates, all repeats together.
        bytes_read: int64 [N], activations read, all repeats together.
        weight_bytes: int64 [N], constants read, all repeats together.
        bytes_written: int64 [N], activations written, all repeats together.
        gemm: int64 [N, 4], groups, M, N, K of a contraction (groups * M * N * K = macs of one
            run); zeros elsewhere. A convolution counts as im2col: M = batch x output pixels,
            N = output channels per group, K = input channels per group x window.
        window: int32 [N, 2], kernel height and width of convolution and pooling, else 0.
        stride: int32 [N, 2], its strides, else 0.
        fused_into: int32 [N], operator whose epilogue it is, or -1.
        edges: int32 [2, E], producer and consumer; no duplicates.
        shape_offsets: int32 [N + 1], operator i's first output has the dims
            ``shape_dims[shape_offsets[i]:shape_offsets[i + 1]]``.
        shape_dims: int64 [S].
        names: node names as in the file (never trusted: show through ``printable``).
        op_types: ONNX type of each operator, ``domain::Type`` outside the default domain.
        attributes: canonical attributes of each operator, one JSON object each, keys sorted.
        parameters: distinct constant elements that operators read (a shared weight counts once).
        weights_total_bytes: their bytes.
        input_bytes: bytes of the model's inputs.
        output_bytes: bytes of the model's outputs.
        peak_activation_bytes: largest sum of live activations in this order.
        fingerprint: SHA-256 (hex) of the canonical graph; see ``fingerprint.py``.
        former_fingerprint: the same by the former recipe; empty where ``fingerprint`` is by it.
    """

    op_code: NDArray[np.int16]
    dtype: NDArray[np.int8]
    flags: NDArray[np.uint16]
    repeats: NDArray[np.int64]
    macs: NDArray[np.int64]
    bytes_read: NDArray[np.int64]
    weight_bytes: NDArray[np.int64]
    bytes_written: NDArray[np.int64]
    gemm: NDArray[np.int64]
    window: NDArray[np.int32]
    stride: NDArray[np.int32]
    fused_into: NDArray[np.int32]
    edges: NDArray[np.int32]
    shape_offsets: NDArray[np.int32]
    shape_dims: NDArray[np.int64]
    names: tuple[str, ...]
    op_types: tuple[str, ...]
    attributes: tuple[str, ...]
    parameters: int
    weights_total_bytes: int
    input_bytes: int
    output_bytes: int
    peak_activation_bytes: int
    fingerprint: str
    former_fingerprint: str = ""

    def __post_init__(self) -> None:
        for name in ARRAYS:
            # A frozen dataclass protects its fields, not the contents of its arrays.
            getattr(self, name).setflags(write=False)

    def __len__(self) -> int:
        return len(self.names)

    def as_formerly(self) -> OperatorGraph:
        """Return the graph under its former fingerprint, as reference networks are found."""
        former = self.former_fingerprint or self.fingerprint
        return replace(self, fingerprint=former, former_fingerprint="")

    @property
    def bytes_moved(self) -> NDArray[np.int64]:
        """Int64 [N], activations and weights read and activations written."""
        total: NDArray[np.int64] = self.bytes_read + self.weight_bytes + self.bytes_written
        return total

    def output_shape(self, index: int) -> tuple[int, ...]:
        """Return the dims of operator ``index``'s first output."""
        start, stop = self.shape_offsets[index], self.shape_offsets[index + 1]
        return tuple(self.shape_dims[start:stop].tolist())

    def has_flag(self, flag: OperatorFlag) -> NDArray[np.bool_]:
        """Bool [N], which operators carry ``flag``."""
        carries: NDArray[np.bool_] = (self.flags & int(flag)) != 0
        return carries

    def to_bytes(self) -> bytes:
        """Return a compact form for pipe and store: a JSON header, then the arrays."""
        arrays = [np.ascontiguousarray(getattr(self, name)) for name in ARRAYS]
        header = {
            # dtype.str holds the byte order, so that every machine reads the same numbers.
            "arrays": [[a.dtype.str, list(a.shape)] for a in arrays],
            **{name: getattr(self, name) for name in _PLAIN},
        }
        if not self.former_fingerprint:
            del header["former_fingerprint"]  # the bytes are those of programs before it
        text = json.dumps(header, separators=(",", ":")).encode()
        return b"".join(
            [_MAGIC, len(text).to_bytes(8, "little"), text, *(a.tobytes() for a in arrays)]
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> OperatorGraph:
        """Rebuild a graph from ``to_bytes``.

        Raises:
            ValueError: the bytes are no operator graph of this version.
        """
        if data[: len(_MAGIC)] != _MAGIC:
            raise ValueError("not an operator graph of this version")
        start = len(_MAGIC) + 8
        offset = start + int.from_bytes(data[len(_MAGIC) : start], "little")
        header = json.loads(data[start:offset])
        values: dict[str, object] = {}
        for name, (dtype, shape) in zip(ARRAYS, header["arrays"], strict=True):
            count = int(np.prod(shape, dtype=np.int64))
            # A view of the bytes, no copy.
            array = np.frombuffer(data, np.dtype(dtype), count, offset).reshape(shape)
            offset += array.nbytes
            values[name] = array
        for name in _PLAIN:
            value = header.get(name, "") if name == "former_fingerprint" else header[name]
            values[name] = tuple(value) if isinstance(value, list) else value
        return cls(**values)  # type: ignore[arg-type]  # the header names exactly the fields


# With postponed annotations the type of a field is its source text.
ARRAYS = tuple(f.name for f in fields(OperatorGraph) if str(f.type).startswith("NDArray"))
_PLAIN = tuple(f.name for f in fields(OperatorGraph) if f.name not in ARRAYS)
