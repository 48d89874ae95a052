"""From the proto to a :class:`Network`: one flat scope, body graphs of If, Loop and Scan inline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

import onnx

from predictor.core.errors import InputError
from predictor.graph.attributes import NO_ATTRIBUTES, parse_attributes
from predictor.graph.expressions import evaluate
from predictor.graph.network import Body, Network, Node, Scope, TensorType
from predictor.graph.operators import (
    CONTROL,
    DTYPE_OF_ONNX,
    canonical_operator,
    qualified_type,
)

_GRAPH = onnx.AttributeProto.GRAPH
_BODY_ATTRIBUTES = ("then_branch", "else_branch", "body")


def flatten(proto: onnx.ModelProto) -> Network:
    """Build the network of a model whose local functions are inlined already.

    Args:
        proto: the model; its value_info is taken for inferred types.

    Raises:
        InputError: a body graph is malformed.
    """
    network = Network()
    network.opsets = {o.domain: o.version for o in proto.opset_import}
    graph = proto.graph
    network.types.update(graph_types(graph))
    _add_initializers(network, graph, "")
    network.inputs = [v.name for v in graph.input if v.name not in network.constants]
    network.outputs = [v.name for v in graph.output]
    _Flattener(network).add_nodes(graph.node, None, None)
    return network


class StoredTypes(Mapping[str, TensorType]):
    """The types that a file's graph states, read at their first use.

    Args:
        graph: as its file has it.
        sizes: of open dimensions by name.
    """

    def __init__(self, graph: onnx.GraphProto, sizes: Mapping[str, int]) -> None:
        self._graph = graph
        self._sizes = sizes

    @cached_property
    def _types(self) -> dict[str, TensorType]:
        types = graph_types(self._graph)
        for infos in (self._graph.value_info, self._graph.output):
            for info in infos:
                stated = types[info.name]
                is_open = not stated.is_static or min(stated.dims, default=0) < 0
                if is_open and info.type.HasField("tensor_type"):
                    types[info.name] = self._bound(types[info.name], info.type.tensor_type.shape)
        return types

    def _bound(self, stated: TensorType, shape: onnx.TensorShapeProto) -> TensorType:
        """Return a type with its open dimensions bound, those in arithmetic on others too."""
        if stated.shape is None or len(stated.shape) != len(shape.dim):
            return stated  # a damaged file states a value twice: the last one counts
        sizes = (
            size if size is not None and size >= 0 else evaluate(dim.dim_param, self._sizes)
            for size, dim in zip(stated.shape, shape.dim, strict=True)
        )
        return TensorType(stated.dtype, tuple(sizes))

    def __getitem__(self, name: str) -> TensorType:
        return self._types[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)


def graph_types(graph: onnx.GraphProto) -> dict[str, TensorType]:
    """Return the types that a graph states for its values, by name."""
    return {
        info.name: _parsed_type(info.type.SerializeToString())
        # Inputs last: their bound shapes win over a value_info of the same name.
        for infos in (graph.value_info, graph.output, graph.input)
        for info in infos
    }


# Networks repeat the same few types; one call of protobuf is quicker than one for each dim.
@lru_cache(maxsize=4096)
def _parsed_type(serialized: bytes) -> TensorType:
    return type_from_proto(onnx.TypeProto.FromString(serialized))


def type_from_proto(proto: onnx.TypeProto) -> TensorType:
    """Convert a type; sequences and optionals stand for their elements."""
    while not proto.HasField("tensor_type"):
        if proto.HasField("sequence_type"):
            proto = proto.sequence_type.elem_type
        elif proto.HasField("optional_type"):
            proto = proto.optional_type.elem_type
        else:
            return TensorType(DTYPE_OF_ONNX[0], None)
    tensor = proto.tensor_type
    dtype = DTYPE_OF_ONNX.get(tensor.elem_type, DTYPE_OF_ONNX[0])
    if not tensor.HasField("shape"):
        return TensorType(dtype, None)
    # dim_value reads 0 where it is not set: only then is the slower question asked.
    dims = tuple(
        [d.dim_value or (0 if d.HasField("dim_value") else None) for d in tensor.shape.dim]
    )
    return TensorType(dtype, dims)


def _add_initializers(network: Network, graph: onnx.GraphProto, prefix: str) -> None:
    for tensor in graph.initializer:
        _add_tensor(network, prefix + tensor.name, tensor)
    for sparse in graph.sparse_initializer:
        name = prefix + sparse.values.name
        dtype = DTYPE_OF_ONNX.get(sparse.values.data_type, DTYPE_OF_ONNX[0])
        network.types[name] = TensorType(dtype, tuple(sparse.dims))
        network.add_constant(name, dtype)


def _add_tensor(network: Network, name: str, tensor: onnx.TensorProto) -> None:
    dtype = DTYPE_OF_ONNX.get(tensor.data_type, DTYPE_OF_ONNX[0])
    network.types[name] = TensorType(dtype, tuple(tensor.dims))
    network.tensors[name] = tensor
    network.add_constant(name, dtype)


class _Names:
    """Flat names of one body graph; names of outer graphs resolve through the parent."""

    def __init__(self, prefix: str, graph: onnx.GraphProto, parent: _Names | None) -> None:
        self.prefix = prefix
        self.parent = parent
        self.flat: dict[str, str] = {"": ""}
        for node in graph.node:
            self.flat.update((name, prefix + name) for name in node.output if name)
        self.flat.update((t.name, prefix + t.name) for t in graph.initializer)
        self.flat.update((s.values.name, prefix + s.values.name) for s in graph.sparse_initializer)

    def resolve(self, name: str) -> str:
        names: _Names | None = self
        while names is not None:
            if name in names.flat:
                return names.flat[name]
            names = names.parent
        return name


class _Flattener:
    def __init__(self, network: Network) -> None:
        self.network = network

    def add_nodes(
        self, protos: Iterable[onnx.NodeProto], names: _Names | None, scope: Scope | None
    ) -> None:
        nodes = self.network.nodes
        for index, proto in enumerate(protos):
            node = self._node(proto, names, scope, index)
            if node.op in CONTROL:
                # Before the control node itself, which reads the results of its bodies.
                self._add_bodies(node, proto, names, scope)
            elif (
                node.op == "Constant"
                and node.outputs
                and _stored_constant(self.network, node, proto)
            ):
                continue
            nodes.append(node)

    def _node(
        self, proto: onnx.NodeProto, names: _Names | None, scope: Scope | None, index: int
    ) -> Node:
        op_type, domain = proto.op_type, proto.domain
        op = canonical_operator(domain, op_type)
        node = Node(
            op=op,
            op_type=qualified_type(domain, op_type),
            domain=domain,
            name=proto.name or f"{op_type}_{index}",
            inputs=list(proto.input),
            outputs=list(proto.output),
            attributes=parse_attributes(proto.attribute),
            proto=proto,
        )
        if names is not None:
            node.name = names.prefix + node.name
            node.inputs = [names.resolve(name) for name in node.local_inputs]
            node.outputs = [names.resolve(name) for name in node.local_outputs]
            node.scope = scope
        return node

    def _add_bodies(
        self, node: Node, proto: onnx.NodeProto, names: _Names | None, parent: Scope | None
    ) -> None:
        graphs = {a.name: a.g for a in proto.attribute if a.type == _GRAPH}
        bodies = [graphs[name] for name in _BODY_ATTRIBUTES if name in graphs]
        if len(bodies) != (2 if node.op == "If" else 1):
            raise InputError(node.subject, f"{node.op} has no body graph", "export the model again")
        for branch, graph in enumerate(bodies):
            suffix = ("then/", "else/")[branch] if node.op == "If" else ""
            self._add_body(
                node,
                graph,
                names,
                Scope(control=node, branch=branch, parent=parent, carries=node.op != "If"),
                suffix,
            )

    def _add_body(
        self, node: Node, graph: onnx.GraphProto, names: _Names | None, scope: Scope, suffix: str
    ) -> None:
        inner = _Names(f"{node.name}/{suffix}", graph, names)
        _add_initializers(self.network, graph, inner.prefix)
        for name, value_type in graph_types(graph).items():
            if name in inner.flat and value_type.is_static:
                self.network.types.setdefault(inner.flat[name], value_type)
        formals = [v.name for v in graph.input if v.name not in inner.flat]
        if node.op == "Loop":
            _bind_loop_inputs(self.network, node, formals, inner)
        elif node.op == "Scan":
            _bind_scan_inputs(self.network, node, formals, inner, scope)
        self.add_nodes(graph.node, inner, scope)
        node.bodies.append(Body(scope, [inner.resolve(v.name) for v in graph.output]))


def _bind_loop_inputs(network: Network, node: Node, formals: list[str], names: _Names) -> None:
    """Loop-carried values are named like their initial values; counter and condition are new."""
    scalar_types = (DTYPE_OF_ONNX[onnx.TensorProto.INT64], DTYPE_OF_ONNX[onnx.TensorProto.BOOL])
    for name, dtype in zip(formals[:2], scalar_types, strict=False):
        names.flat[name] = names.prefix + name
        network.types[names.flat[name]] = TensorType(dtype, ())
        network.formals.add(names.flat[name])
    for name, actual in zip(formals[2:], node.inputs[2:], strict=False):
        names.flat[name] = actual


def _bind_scan_inputs(
    network: Network, node: Node, formals: list[str], names: _Names, scope: Scope
) -> None:
    """State values are named like their initial values; scanned values are slices of theirs."""
    scanned = node.attributes.integer("num_scan_inputs")
    states = len(node.inputs) - scanned
    for position, (name, actual) in enumerate(zip(formals, node.inputs, strict=False)):
        if position < states:
            names.flat[name] = actual
            continue
        names.flat[name] = flat = names.prefix + name
        # Without a proto: one trip reads a slice along the first axis, see shape_rules.
        piece = Node(
            op="Slice",
            op_type="Slice",
            domain="",
            name=flat,
            inputs=[actual],
            outputs=[flat],
            attributes=NO_ATTRIBUTES,
        )
        piece.scope = scope
        network.nodes.append(piece)


def _stored_constant(network: Network, node: Node, proto: onnx.NodeProto) -> bool:
    """Register a Constant node's tensor; False where its value has another form."""
    for attribute in proto.attribute:
        tensor = _constant_tensor(attribute)
        if tensor is not None:
            _add_tensor(network, node.outputs[0], tensor)
            return True
    return False


def _constant_tensor(attribute: onnx.AttributeProto) -> onnx.TensorProto | None:
    """Return the tensor of a Constant's attribute; strings keep their count only."""
    name = attribute.name
    if name == "value":
        return attribute.t
    if name in {"value_string", "value_strings"}:
        count = [len(attribute.strings)] if name == "value_strings" else []
        return onnx.TensorProto(data_type=onnx.TensorProto.STRING, dims=count)
    forms: dict[str, tuple[int, Sequence[float], bool]] = {
        "value_int": (onnx.TensorProto.INT64, [attribute.i], True),
        "value_ints": (onnx.TensorProto.INT64, attribute.ints, False),
        "value_float": (onnx.TensorProto.FLOAT, [attribute.f], True),
        "value_floats": (onnx.TensorProto.FLOAT, attribute.floats, False),
    }
    if name not in forms:
        return None
    kind, numbers, scalar = forms[name]
    return onnx.helper.make_tensor("", kind, [] if scalar else [len(numbers)], numbers)
