"""Checks of a parsed model file: known versions, operators, readable names, true tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import onnx
from onnx import AttributeProto, GraphProto, NodeProto, SparseTensorProto, TensorProto

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.graph.tensor_data import TensorCheck
from predictor.graph.wire_format import WalkLimits

_AGAIN = "export the model again"
_NO_OPSETS_BEFORE_IR = 3  # models of IR versions 1 and 2 have opset 1 without saying so
# The checks recurse, a level at a time.
_MAX_DEPTH = 32
_NO_VERSION = 2**31  # onnx counts versions in 32 bits
_FunctionId: TypeAlias = tuple[str, str, str]  # domain, name, overload
_STANDARD = frozenset({"", "ai.onnx"})  # two names of one domain


def check_versions(path: str, model: onnx.ModelProto) -> None:
    """Refuse a model that is newer than the installed onnx, or that states no opset.

    Args:
        path: of the file, for the error message.
        model: with a graph.

    Raises:
        InputError: with the version in the file and the newest one known.
    """
    if model.ir_version > onnx.IR_VERSION:
        raise InputError(
            path,
            f"its IR version {model.ir_version} is newer than {onnx.IR_VERSION}, the newest known",
            "update this program or export with an older version of onnx",
        )
    if not model.opset_import:
        if model.ir_version < _NO_OPSETS_BEFORE_IR and model.HasField("ir_version"):
            model.opset_import.add(domain="", version=1)
            return
        raise InputError(path, "it states no opset, so its operators have no meaning", _AGAIN)
    newest = onnx.defs.onnx_opset_version()
    for opset in model.opset_import:
        if not 1 <= opset.version < _NO_VERSION:
            raise InputError(
                path,
                f"its opset {opset.version} for '{opset.domain or 'ai.onnx'}' is no version",
                _AGAIN,
            )
        if opset.domain in _STANDARD and opset.version > newest:
            raise InputError(
                path,
                f"its opset {opset.version} is newer than {newest}, the newest known",
                f"export it with opset {newest} or older",
            )
    if not any(opset.domain in _STANDARD for opset in model.opset_import):
        _refuse_standard_operators(path, model.graph.node)


def _refuse_standard_operators(path: str, nodes: Sequence[NodeProto]) -> None:
    for node in nodes:
        if node.domain in _STANDARD:
            raise InputError(
                path,
                f"it holds the standard operator '{shortened(str(node.op_type), 80)}', "
                "but states no opset for the domain 'ai.onnx'",
                _AGAIN,
            )


def check_contents(
    path: str, model: onnx.ModelProto, limits: WalkLimits, check: TensorCheck
) -> None:
    """Check the names, tensors and number of nodes of a model, bodies and functions included.

    Args:
        path: of the file, for the error message.
        model: with a graph; its small external tensors are read in.
        limits: nodes and bytes that it may have, functions written out.
        check: checks each constant.

    Raises:
        InputError: no operator, too many, a name that is no text, a function that calls itself, or
            a tensor whose data contradict its type.
    """
    if not model.graph.node:
        raise InputError(path, "its graph has no operator", "choose a model with operators")
    contents = _Contents(path, limits.nodes)
    contents.names += (model.producer_name, model.producer_version, model.graph.name)
    contents.names += (opset.domain for opset in model.opset_import)
    contents.add_graph(model.graph, 0)
    for function in model.functions:
        contents.names += (function.name, function.domain, *function.input, *function.output)
        contents.names += (opset.domain for opset in function.opset_import)
        contents.add_nodes(function.node, 0)
    check_names(path, contents.names)
    _FunctionCalls(path, model.functions, limits).check(model.graph)
    for tensor in contents.tensors:
        check.parsed(tensor)
    for sparse in contents.sparse:
        check.sparse(sparse)


def check_names(path: str, names: Sequence[str]) -> None:
    """Refuse names that are not UTF-8, which protobuf gives as bytes, or that hold a NUL.

    Raises:
        InputError: naming the first such name.
    """
    try:
        # One join checks all names at once; the loop below only finds the culprit.
        if "\0" not in "".join(names):
            return
    except TypeError:
        pass  # some are bytes
    for name in names:
        if not isinstance(name, str):
            raise InputError(path, f"the name {repr(name)[:80]} in it is not UTF-8", _AGAIN)
        if "\0" in name:
            raise InputError(
                path, f"the name '{shortened(name, 80)}' in it holds a NUL character", _AGAIN
            )


class _Contents:
    """Collects the names and tensors of a model; counts its nodes.

    Attributes:
        names: as protobuf gives them.
        tensors: every constant.
        sparse: those among them that are sparse.
    """

    def __init__(self, path: str, max_nodes: int) -> None:
        self.names: list[str] = []
        self.tensors: list[TensorProto] = []
        self.sparse: list[SparseTensorProto] = []
        self._path = path
        self._nodes_left = self._max_nodes = max_nodes

    def add_graph(self, graph: GraphProto, depth: int) -> None:
        """Add a graph that stands in ``depth`` others."""
        if depth > _MAX_DEPTH:
            raise InputError(
                self._path, f"its graphs are nested deeper than {_MAX_DEPTH} levels", _AGAIN
            )
        self.tensors += graph.initializer
        for sparse in graph.sparse_initializer:
            self._add_sparse(sparse)
        self.names += _value_names(graph)
        self.add_nodes(graph.node, depth)

    def add_nodes(self, nodes: Sequence[NodeProto], depth: int) -> None:
        """Add the nodes of one graph or function."""
        # Before anything is collected, so that a huge graph takes no memory here.
        self._nodes_left -= len(nodes)
        if self._nodes_left < 0:
            raise InputError(
                self._path,
                f"it has more than {self._max_nodes} nodes, the most that we read",
                "give a smaller model",
            )
        names = self.names
        for node in nodes:
            names += (node.name, node.op_type, node.domain)
            names += node.input
            names += node.output
            for attribute in node.attribute:
                names.append(attribute.name)
                if attribute.type in _WITH_PARTS:
                    self._add_parts(attribute, depth)

    def _add_sparse(self, sparse: SparseTensorProto) -> None:
        self.sparse.append(sparse)
        self.tensors += (sparse.values, sparse.indices)

    def _add_parts(self, attribute: AttributeProto, depth: int) -> None:
        """Add the tensors and graphs in an attribute."""
        if attribute.HasField("t"):
            self.tensors.append(attribute.t)
        self.tensors += attribute.tensors
        if attribute.HasField("sparse_tensor"):
            self._add_sparse(attribute.sparse_tensor)
        for sparse in attribute.sparse_tensors:
            self._add_sparse(sparse)
        if attribute.HasField("g"):
            self.add_graph(attribute.g, depth + 1)
        for graph in attribute.graphs:
            self.add_graph(graph, depth + 1)


class _FunctionCalls:
    """Follows the calls of a model's local functions, which are written out where they are called.

    Args:
        path: of the file, for the error message.
        functions: of the model.
        limits: nodes and bytes that the calls may give.
    """

    def __init__(
        self, path: str, functions: Sequence[onnx.FunctionProto], limits: WalkLimits
    ) -> None:
        self._path = path
        self._limits = limits
        self._functions = {(f.domain, f.name, f.overload): f.node for f in functions}
        self._sizes: dict[_FunctionId, tuple[int, int]] = {}
        if len(self._functions) < len(functions):
            raise InputError(path, "two of its functions have one name", _AGAIN)

    def check(self, graph: GraphProto) -> None:
        """Check that every call ends and that all of them together are not too large.

        Raises:
            InputError: a function calls itself, or they are too large.
        """
        if self._functions:
            self._size(graph.node, ())

    def _size(
        self, nodes: Sequence[NodeProto], calling: tuple[_FunctionId, ...]
    ) -> tuple[int, int]:
        """Return the nodes and bytes that ``nodes`` have once their functions are written out."""
        count = size = 0
        for node in nodes:
            key = (node.domain, node.op_type, node.overload)
            inner = self._called(key, calling) if key in self._functions else (1, node.ByteSize())
            count, size = count + inner[0], size + inner[1]
            for attribute in node.attribute:
                for graph in (attribute.g, *attribute.graphs):
                    inner = self._size(graph.node, calling)
                    count, size = count + inner[0], size + inner[1]
            if count > self._limits.nodes or size > self._limits.copied_bytes:
                raise InputError(
                    self._path,
                    f"with its functions written out it has more than {self._limits.nodes} nodes "
                    f"or {self._limits.copied_bytes // 2**20} MiB, the most that we read",
                    "give a smaller model",
                )
        return count, size

    def _called(self, key: _FunctionId, calling: tuple[_FunctionId, ...]) -> tuple[int, int]:
        if key in calling or len(calling) > _MAX_DEPTH:
            reason = (
                "calls itself" if key in calling else f"is nested deeper than {_MAX_DEPTH} levels"
            )
            raise InputError(
                self._path, f"its function '{shortened(str(key[1]), 80)}' {reason}", _AGAIN
            )
        # Once a function: chains of double calls would take exponential time.
        if key not in self._sizes:
            self._sizes[key] = self._size(self._functions[key], (*calling, key))
        return self._sizes[key]


_WITH_PARTS = frozenset(
    {
        AttributeProto.UNDEFINED,  # very old files leave the type out
        AttributeProto.TENSOR,
        AttributeProto.TENSORS,
        AttributeProto.SPARSE_TENSOR,
        AttributeProto.SPARSE_TENSORS,
        AttributeProto.GRAPH,
        AttributeProto.GRAPHS,
    }
)


def _value_names(graph: GraphProto) -> list[str]:
    names = [tensor.name for tensor in graph.initializer]
    names += [sparse.values.name for sparse in graph.sparse_initializer]
    names += [value.name for value in graph.value_info]
    for value in (*graph.input, *graph.output):
        names.append(value.name)
        names += [dim.dim_param for dim in value.type.tensor_type.shape.dim]
    return names
