"""After a fixed batch was replaced: find the node that still pins the old one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.graph.network import Network, Node
from predictor.graph.values import ValueTable

_ACTION = "export the model with a dynamic batch dimension"


@contextmanager
def batch_change(
    network: Network, values: ValueTable, old_batch: int, batch: int
) -> Iterator[None]:
    """Infer a model within, whose fixed batch was replaced.

    Raises:
        InputError: a node pins the old batch, or inputs do not fit any more; the node is named.
    """
    try:
        yield
    except InputError as error:
        _check_batch(network, values, old_batch, batch)
        raise InputError(error.subject, error.reason, _ACTION) from error
    _check_batch(network, values, old_batch, batch)


def check_reshapes(network: Network) -> None:
    """Check that every Reshape keeps the number of elements.

    Raises:
        InputError: one does not; it is named.
    """
    loose = network.data_dependent | network.assumed
    for node in network.nodes:
        if node.op != "Reshape" or node.inputs[0] in loose:
            continue
        source, result = network.type_of(node.inputs[0]), network.type_of(node.outputs[0])
        if source.known and result.known and source.elements != result.elements:
            raise InputError(
                f"node {node.name}",
                f"Reshape cannot make {_shown(result.dims)} of {_shown(source.dims)}",
                "check the dimensions that the model is bound to",
            )


def _check_batch(network: Network, values: ValueTable, old_batch: int, batch: int) -> None:
    for node in network.nodes:
        if _pins(network, values, node, old_batch, batch):
            raise InputError(
                f"node {node.name}",
                f"{node.op_type} pins the batch to {old_batch}, {batch} was asked for",
                _ACTION,
            )


def _pins(network: Network, values: ValueTable, node: Node, old: int, new: int) -> bool:
    if node.op == "Reshape" and len(node.inputs) > 1:
        return _reshape_pins(network, values, node, old, new)
    if node.op in {"LSTM", "GRU", "RNN"}:
        return _state_pins(network, node, new)
    return False


def _reshape_pins(network: Network, values: ValueTable, node: Node, old: int, new: int) -> bool:
    """A constant target that starts with the old batch, for data that starts with the new one."""
    source = network.type_of(node.inputs[0]).dims
    target = values.get(node.inputs[1])
    if (
        target is None
        or target.ndim != 1
        or target.dtype.kind != "i"
        or not target.size
        or not source
    ):
        return False
    sizes = [int(s) for s in target]
    return source[0] == new and sizes[0] == old and -1 in sizes


def _state_pins(network: Network, node: Node, new: int) -> bool:
    batch_axis = 0 if node.attributes.integer("layout") else 1
    for name in node.inputs[5:7]:
        dims = network.type_of(name).dims if name else ()
        if len(dims) == 3 and dims[batch_axis] != new:
            return True
    return False


def _shown(dims: tuple[int, ...]) -> str:
    return shortened("[" + ", ".join(map(str, dims)) + "]", 80)
