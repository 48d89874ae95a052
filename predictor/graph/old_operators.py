"""Operators from before opset 7 in the form that they have since: attributes of the same meaning.

Reference:
    onnx, docs/Changelog.md, versions 1 to 6 of the default operator set.
"""

from __future__ import annotations

from collections.abc import Callable

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.graph.network import MISFIT, first_line

FIRST_OPSET = 7
"""The oldest default opset whose operators are read as they stand."""

_STANDARD = frozenset({"", "ai.onnx"})


def renew_operators(model: ModelProto) -> None:
    """Rewrite the operators of a model of an opset before :data:`FIRST_OPSET`, bodies too.

    Args:
        model: changed in place; a newer one stays as it is.

    Raises:
        InputError: an attribute has no later form.
    """
    versions = [opset.version for opset in model.opset_import if opset.domain in _STANDARD]
    if versions and versions[0] < FIRST_OPSET:
        _renew_graph(model.graph)


def _renew_graph(graph: GraphProto) -> None:
    for position, node in enumerate(graph.node):
        _drop_attribute(node, "consumed_inputs")
        renew = _RENEWALS.get(node.op_type)
        if renew is not None:
            try:
                renew(node)
            except MISFIT as error:
                raise InputError(
                    f"node {shortened(node.name or node.op_type, 120)}",
                    f"its attributes do not fit {node.op_type}: {first_line(error)}",
                    "export the model again",
                ) from error
        if node.op_type == "Reshape":
            _take_shape(node, graph, position)
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                _renew_graph(attribute.g)


def _drop_attribute(node: NodeProto, name: str) -> AttributeProto | None:
    for position, attribute in enumerate(node.attribute):
        if attribute.name == name:
            copy = AttributeProto()
            copy.CopyFrom(attribute)
            del node.attribute[position]
            return copy
    return None


def _renew_concat(node: NodeProto) -> None:
    if not any(attribute.name == "axis" for attribute in node.attribute):
        node.attribute.append(helper.make_attribute("axis", 1))


def _renew_pad(node: NodeProto) -> None:
    paddings = _drop_attribute(node, "paddings")
    if paddings is not None:
        node.attribute.append(helper.make_attribute("pads", list(paddings.ints)))


def _renew_cast(node: NodeProto) -> None:
    target = _drop_attribute(node, "to")
    if target is None:
        return
    if target.type == AttributeProto.STRING:
        name = target.s.decode("utf-8", "replace")
        target = helper.make_attribute("to", TensorProto.DataType.Value(name.upper()))
    node.attribute.append(target)


def _renew_norm(node: NodeProto) -> None:
    norm = _drop_attribute(node, "p")
    if norm is not None:
        value = int(norm.f) if norm.type == AttributeProto.FLOAT else norm.i
        node.attribute.append(helper.make_attribute("p", value))


def _renew_upsample(node: NodeProto) -> None:
    height, width = _drop_attribute(node, "height_scale"), _drop_attribute(node, "width_scale")
    if height is not None and width is not None:
        scales = [1.0, 1.0, height.f, width.f]
        node.attribute.append(helper.make_attribute("scales", scales))


def _take_shape(node: NodeProto, graph: GraphProto, position: int) -> None:
    """Make the shape, once an attribute, a constant input."""
    shape = _drop_attribute(node, "shape")
    if shape is not None and len(node.input) == 1:
        name = f"{node.output[0] if node.output else position}/shape"
        tensor = helper.make_tensor(name, TensorProto.INT64, [len(shape.ints)], shape.ints)
        graph.initializer.append(tensor)
        node.input.append(name)


_RENEWALS: dict[str, Callable[[NodeProto], None]] = {
    "Cast": _renew_cast,
    "Concat": _renew_concat,
    "GlobalLpPool": _renew_norm,
    "LpPool": _renew_norm,
    "Pad": _renew_pad,
    "Upsample": _renew_upsample,
}
