"""The fingerprints of a network: hashes that are independent of names and of node order.

Recipe ``ctm-fingerprint/2`` is the hash (``digest.py``) of the canonical operations
(``canonical.py``): it is one for all files of a network, whichever exporter wrote them.

Recipe ``ctm-fingerprint/1``, the former one, is the hash of the operators as they are listed, and
of the number of distinct constant elements. An operation is its type, attributes as written,
computing dtype, repeats, and the dtypes and shapes of its outputs; it reads its inputs in order, a
constant by its dtype and shape. Reference networks and their files are found by it.

Changing a recipe needs a new version tag: stored measurements are found by fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from predictor.graph.canonical import canonical_inputs, canonical_operations, matrix_elements
from predictor.graph.cleanup import data_inputs, value_tensors
from predictor.graph.digest import Operation, digest
from predictor.graph.network import Network, Node
from predictor.graph.operators import DTYPES
from predictor.graph.values import ValueTable

VERSION: Final = "ctm-fingerprint/2"
FORMER_VERSION: Final = "ctm-fingerprint/1"


def fingerprint(network: Network, values: ValueTable, dtypes: Mapping[int, int]) -> str:
    """Return the fingerprint in hex.

    Args:
        network: cleaned up, its nodes in topological order.
        values: of its constants.
        dtypes: index into DTYPES of the type that each node computes in, by ``id(node)``.
    """
    operations, outputs = canonical_operations(network, values, dtypes)
    inputs = canonical_inputs(network, operations, outputs)
    return digest([VERSION, str(matrix_elements(network))], inputs, operations, outputs)


def former_fingerprint(network: Network, dtypes: Mapping[int, int]) -> str:
    """Return the fingerprint by the former recipe, in hex; the arguments are as above."""
    values = {*network.inputs, *(name for node in network.nodes for name in node.outputs)}
    operations = [_listed(network, node, dtypes[id(node)], values) for node in network.nodes]
    inputs = {name: network.text_of(name) for name in network.inputs}
    recipe = [FORMER_VERSION, str(_constant_elements(network))]
    return digest(recipe, inputs, operations, network.outputs)


def _constant_elements(network: Network) -> int:
    """Return the distinct constant elements that operators read, quantised ones as their values."""
    constants = network.constants.keys()
    readers = [node for node in network.nodes if not constants.isdisjoint(node.inputs)]
    names = {name for node in readers for name in data_inputs(node)}
    tensors = {tensor for name in names & constants for tensor in value_tensors(network, name)}
    return sum(network.type_of(name).elements for name in tensors)


def _listed(network: Network, node: Node, dtype: int, values: set[str]) -> Operation:
    repeats = "1" if node.scope is None else str(node.repeats)
    words = [node.op_type, node.attributes.text, DTYPES[dtype], repeats]
    words += [network.text_of(name) if name else "" for name in node.outputs]
    reads = [
        (name, str(position), "")
        if name in values or not name
        else ("", str(position), f"constant {network.text_of(name)}")
        for position, name in enumerate(node.inputs)
    ]
    for body in node.bodies:
        reads += [
            (
                name,
                f"body:{position}",
                "" if name in values else f"constant {network.text_of(name)}",
            )
            for position, name in enumerate(body.outputs)
        ]
    return Operation(words, reads, node.outputs)
