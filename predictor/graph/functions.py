"""Model-local functions written out, the defaults of their attributes with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx
import onnx.inliner
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto

from predictor.core.errors import InputError
from predictor.graph.network import ONNX_MISFIT, first_line

FunctionId = tuple[str, str, str]


def inline_functions(model: ModelProto) -> ModelProto:
    """Return a model without local functions.

    onnx leaves out an attribute that a call does not state, its default too. So the defaults are
    written into the calls, from the outermost functions inwards: a call inside of a function may
    pass on an attribute that the function was not given.

    Raises:
        InputError: the functions cannot be written out.
    """
    try:
        while any(function.attribute_proto for function in model.functions):
            outermost = _outermost(model)
            if not outermost:
                break
            defaults = {_id(f): list(f.attribute_proto) for f in outermost}
            _write_defaults(model.graph.node, defaults)
            model = onnx.inliner.inline_selected_functions(
                model, [(domain, name) for domain, name, _ in defaults]
            )
        return onnx.inliner.inline_local_functions(model) if model.functions else model
    except ONNX_MISFIT as error:
        raise InputError(
            "model-local functions",
            f"they cannot be inlined: {first_line(error)}",
            "export the model without functions",
        ) from error


def _id(function: FunctionProto) -> FunctionId:
    return function.domain, function.name, function.overload


def _outermost(model: ModelProto) -> list[FunctionProto]:
    """Return the functions that no other function calls."""
    called = {
        (node.domain, node.op_type, node.overload)
        for function in model.functions
        for node in _all_nodes(function.node)
    }
    return [function for function in model.functions if _id(function) not in called]


def _all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Yield nodes and those of their bodies."""
    for node in nodes:
        yield node
        for graph in _bodies(node):
            yield from _all_nodes(graph.node)


def _bodies(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g


def _write_defaults(
    nodes: Iterable[NodeProto], defaults: dict[FunctionId, list[AttributeProto]]
) -> None:
    for node in _all_nodes(nodes):
        stated = {attribute.name for attribute in node.attribute}
        for default in defaults.get((node.domain, node.op_type, node.overload), ()):
            if default.name not in stated:
                node.attribute.append(default)
