"""What a parsed model file must hold: known versions, operators, readable names, true tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.graph.tensor_data import TensorCheck

_AGAIN = "export the model again"
_NO_OPSETS_BEFORE_IR = 3  # models of IR versions 1 and 2 have opset 1 without saying so
_MOST_DEPTH = 32


def check_versions(path: str, model: onnx.ModelProto) -> None:
    """Refuse a model that is newer than the installed onnx, or that states no opset.

    Args:
        path: of the file, for the sentence.
        model: with a graph.

    Raises:
        InputError: says the version found and the newest one known.
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
        if opset.version < 1:
            raise InputError(
                path,
                f"its opset {opset.version} for '{opset.domain or 'ai.onnx'}' is no version",
                _AGAIN,
            )
        if opset.domain in {"", "ai.onnx"} and opset.version > newest:
            raise InputError(
                path,
                f"its opset {opset.version} is newer than {newest}, the newest known",
                f"export it with opset {newest} or older",
            )


def check_contents(
    path: str, model: onnx.ModelProto, most_nodes: int, tensors: TensorCheck
) -> None:
    """Check the names, tensors and number of nodes of a model, bodies and functions included.

    Args:
        path: of the file, for the sentence.
        model: with a graph; its small external tensors are read in.
        most_nodes: how many nodes it may have.
        tensors: checks each constant.

    Raises:
        InputError: no operator, too many, a name that is no text, or a tensor that lies.
    """
    if not model.graph.node:
        raise InputError(path, "its graph has no operator", "choose a model with operators")
    contents = _Contents(path, most_nodes, tensors)
    contents.check_names(
        "the model", [model.producer_name, model.producer_version, model.graph.name]
    )
    contents.graph(model.graph, 0)
    for function in model.functions:
        contents.check_names(
            "a function", [function.name, function.domain, *function.input, *function.output]
        )
        contents.nodes(function.node, 0)


class _Contents:
    """One pass over everything in a model that has a name or data."""

    def __init__(self, path: str, most_nodes: int, tensors: TensorCheck) -> None:
        self._path = path
        self._nodes_left = self._most_nodes = most_nodes
        self._tensors = tensors

    def graph(self, graph: GraphProto, depth: int) -> None:
        """Check a graph that stands in ``depth`` others."""
        if depth > _MOST_DEPTH:
            raise InputError(
                self._path, f"its graphs are nested deeper than {_MOST_DEPTH} levels", _AGAIN
            )
        self.check_names("an input, output or constant", _tensor_names(graph))
        for tensor in graph.initializer:
            self._tensors.parsed(tensor)
        for sparse in graph.sparse_initializer:
            self._tensors.parsed(sparse.values)
            self._tensors.parsed(sparse.indices)
        self.nodes(graph.node, depth)

    def nodes(self, nodes: Iterable[NodeProto], depth: int) -> None:
        """Check the nodes of one graph or function."""
        for position, node in enumerate(nodes):
            self._nodes_left -= 1
            if self._nodes_left < 0:
                raise InputError(
                    self._path,
                    f"it has more than {self._most_nodes} nodes, the most that we read",
                    "give a smaller model",
                )
            names = [node.name, node.op_type, node.domain, *node.input, *node.output]
            with_parts = []
            for attribute in node.attribute:
                names.append(attribute.name)
                if attribute.type in _WITH_PARTS:
                    with_parts.append(attribute)
            self.check_names(f"node {position}", names)
            for attribute in with_parts:
                self._parts(attribute, depth)

    def _parts(self, attribute: AttributeProto, depth: int) -> None:
        """Check the tensors and graphs in an attribute."""
        for tensor in _tensors(attribute):
            self._tensors.parsed(tensor)
        if attribute.HasField("g"):
            self.graph(attribute.g, depth + 1)
        for graph in attribute.graphs:
            self.graph(graph, depth + 1)

    def check_names(self, where: str, names: list[str]) -> None:
        """Refuse names that are not UTF-8, which protobuf gives as bytes, or that hold a NUL."""
        try:
            if "\0" not in "".join(names):
                return
        except TypeError:
            pass
        for name in names:
            text = shortened(name, 80) if isinstance(name, str) else repr(name)[:80]
            if not isinstance(name, str):
                raise InputError(self._path, f"the name {text} in {where} is not UTF-8", _AGAIN)
            if "\0" in name:
                raise InputError(
                    self._path, f"the name '{text}' in {where} holds a NUL character", _AGAIN
                )


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


def _tensors(attribute: AttributeProto) -> Iterator[TensorProto]:
    if attribute.HasField("t"):
        yield attribute.t
    yield from attribute.tensors
    sparse = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
    for tensor in (*sparse, *attribute.sparse_tensors):
        yield tensor.values
        yield tensor.indices


def _tensor_names(graph: GraphProto) -> list[str]:
    names = [tensor.name for tensor in graph.initializer]
    names.extend(sparse.values.name for sparse in graph.sparse_initializer)
    names.extend(value.name for value in graph.value_info)
    for value in (*graph.input, *graph.output):
        names.append(value.name)
        names.extend(dim.dim_param for dim in value.type.tensor_type.shape.dim)
    return names
