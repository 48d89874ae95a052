"""From an ONNX file to a :class:`Model`: bind, infer, clean up, count, fingerprint."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

import onnx

from predictor.core.errors import InputError
from predictor.core.memory import release_memory
from predictor.core.tensors import TensorInfo
from predictor.graph.assembly import assemble
from predictor.graph.binding import InputBinding
from predictor.graph.cleanup import (
    clean_up,
    drop_dead_nodes,
    fold_constants,
    mark_epilogues,
    mark_quantised,
    mark_views,
)
from predictor.graph.control_flow import drop_idle_loops, mark_body_nodes, take_branches
from predictor.graph.flatten import StoredTypes, flatten
from predictor.graph.functions import inline_functions
from predictor.graph.model import Model
from predictor.graph.network import Network, TensorType
from predictor.graph.old_operators import renew_operators
from predictor.graph.operators import DTYPES
from predictor.graph.reader import ReadModel, read_model
from predictor.graph.rebatching import Rebatching
from predictor.graph.shapes import complete_types, infer_all_types
from predictor.graph.validation import check_arity, check_reshapes, refuse_compiled, validate
from predictor.graph.values import ValueTable

_LARGE: Final = 10_000
"""A network of more operators is worth the time that giving memory back takes."""


def ingest(
    path: str | os.PathLike[str],
    bindings: Mapping[str, int] | None = None,
    batch: int | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> Model:
    """Read a file and build its model.

    Args:
        path: of the ONNX file.
        bindings: values of dynamic dimensions by name.
        batch: batch to set; a batch that the file fixes is replaced.
        shapes: whole input shapes by input name.

    Raises:
        InputError: the file or one of the arguments is wrong.
    """
    return build_model(read_model(path), bindings or {}, batch, shapes or {})


def build_model(
    read: ReadModel,
    bindings: Mapping[str, int],
    batch: int | None,
    shapes: Mapping[str, tuple[int, ...]],
) -> Model:
    """Build the model of a file that was read; the arguments are those of :func:`ingest`.

    Raises:
        InputError: the graph or an argument is wrong, or values are needed that are missing.
    """
    proto = onnx.ModelProto()
    # Binding rewrites the shapes, and those of the file are still read below.
    proto.CopyFrom(read.proto)
    if proto.functions:
        proto = inline_functions(proto)
    renew_operators(proto)
    binding = InputBinding(proto.graph, bindings, batch, shapes)
    stored = StoredTypes(read.proto.graph, {d.name: d.value for d in binding.dynamic})
    try:
        network, values = _bound(proto, binding, batch, stored)
    except InputError as error:
        if read.missing is None:
            raise
        # The types may follow from what is missing.
        raise read.missing from error
    outputs = tuple(_output_info(o, network.type_of(o.name)) for o in read.proto.graph.output)
    if read.missing is not None:
        reason = read.missing.reason
        reason = reason[:1].upper() + reason[1:]
        network.note(f"{reason}: they are counted as the file states them.")
    _simplify(network, values)
    if not network.nodes:
        raise InputError(
            str(read.path),
            "none of its operators does any work on its inputs",
            "choose a model that computes its outputs from its inputs",
        )
    return Model(
        path=str(read.path),
        size_bytes=read.size_bytes,
        modified_ns=read.modified_ns,
        format=read.format,
        ir_version=read.proto.ir_version,
        opsets=dict(network.opsets),
        producer=f"{read.proto.producer_name} {read.proto.producer_version}".strip(),
        inputs=_input_infos(network, binding),
        outputs=outputs,
        dynamic=binding.dynamic,
        notes=tuple(network.notes),
        graph=assemble(network, values),
    )


def _bound(
    proto: onnx.ModelProto, binding: InputBinding, batch: int | None, stored: StoredTypes
) -> tuple[Network, ValueTable]:
    """Return the network of a model with the inputs of a binding, the type of every value known."""
    binding.apply(proto.graph, old_batch=binding.old_batch is not None)
    network, values = _typed(proto, stored)
    if binding.old_batch is not None and batch is not None:
        binding.apply(proto.graph)
        network, values = _rebatched(proto, network, binding.old_batch, batch)
    network.release_file()
    if len(network.nodes) > _LARGE:
        release_memory()
    return network, values


def _typed(proto: onnx.ModelProto, stored: StoredTypes) -> tuple[Network, ValueTable]:
    """Return the network of a model with bound inputs, the type of every value known."""
    network = flatten(infer_all_types(proto))
    network.stored_types = stored
    validate(network)
    refuse_compiled(network)
    check_arity(network)
    values = ValueTable(network)
    complete_types(network, values)
    check_reshapes(network)
    return network, values


def _rebatched(
    proto: onnx.ModelProto, old: Network, old_batch: int, batch: int
) -> tuple[Network, ValueTable]:
    """Return the network of a model that is bound to another batch than its file fixes.

    Nodes are fitted one after the other; the types that the file states hold for its own batch.
    """
    network = flatten(proto)
    validate(network)
    values = ValueTable(network)
    change = Rebatching(network, values, old, old_batch, batch)
    with change.naming_pins():
        complete_types(network, values, change.fit)
        check_reshapes(network)
    change.finish()
    return network, values


def _simplify(network: Network, values: ValueTable) -> None:
    # Control flow first, so that untaken branches are not folded; marks last, on what stays.
    drop_idle_loops(network)
    take_branches(network, values)
    fold_constants(network)
    clean_up(network)
    mark_body_nodes(network)
    mark_views(network)
    mark_epilogues(network)
    mark_quantised(network)
    drop_dead_nodes(network)


def _input_infos(network: Network, binding: InputBinding) -> tuple[TensorInfo, ...]:
    return tuple(
        TensorInfo(
            name, DTYPES[network.type_of(name).dtype], binding.declared[name], binding.shapes[name]
        )
        for name in network.inputs
    )


def _output_info(stated: onnx.ValueInfoProto, inferred: TensorType) -> TensorInfo:
    declared = tuple(
        d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else d.dim_param or "?"
        for d in stated.type.tensor_type.shape.dim
    )
    return TensorInfo(stated.name, DTYPES[inferred.dtype], declared or inferred.dims, inferred.dims)
