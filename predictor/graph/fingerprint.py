"""The fingerprint of an operator graph: SHA-256, independent of names and node order.

Recipe ``ctm-fingerprint/1``. Every hash is SHA-256; fields are joined by the byte 0x1f.

1. Leaves. A model input hashes its dtype and shape; a constant its dtype and shape.
2. Upwards, in topological order: an operator hashes its type, canonical attributes, computing
   dtype, repeats, the dtypes and shapes of its outputs, and for each input in order the hash of
   its producer with the position of the producer's output.
3. Downwards: an operator or input hashes its upward hash with the sorted list of (hash of the
   consumer, positions of the inputs that read it), and the positions of its outputs that are
   outputs of the model. A shared subgraph and two equal copies differ in this.
4. The fingerprint is the hash of the version tag, the number of distinct constant elements, and
   the sorted downward hashes.

Changing the recipe needs a new version tag: stored measurements are found by fingerprint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache

from predictor.graph.cleanup import data_inputs, value_tensors
from predictor.graph.network import Network, Node, TensorType
from predictor.graph.operators import DTYPES

VERSION = "ctm-fingerprint/1"
_SEPARATOR = "\x1f"


def _hash(*fields: str) -> str:
    text = _SEPARATOR.join(fields)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def fingerprint(network: Network, dtypes: Mapping[int, int]) -> str:
    """Return the fingerprint in hex.

    Args:
        network: cleaned up, its nodes in topological order.
        dtypes: index into DTYPES of the type that each node computes in, by ``id(node)``.
    """
    upward: dict[str, str] = {}
    made: list[str] = []
    for name in network.inputs:
        upward[name] = _hash("input", _type_text(network, name))
    for node in network.nodes:
        node_hash = _hash(*_fields(network, node, dtypes[id(node)], upward))
        made.append(node_hash)
        for position, name in enumerate(node.outputs):
            if name:
                upward[name] = f"{node_hash}:{position}"
    return _hash(
        VERSION, str(_constant_elements(network)), *sorted(_downward(network, upward, made))
    )


def _constant_elements(network: Network) -> int:
    """Return the distinct constant elements that operators read, quantised ones as their values."""
    names = {name for node in network.nodes for name in data_inputs(node)}
    tensors = {t for name in names & network.constants.keys() for t in value_tensors(network, name)}
    return sum(network.type_of(name).elements for name in tensors)


def _type_text(network: Network, name: str) -> str:
    return _text_of(network.type_of(name))


# Deep networks repeat the same few types.
@lru_cache(maxsize=4096)
def _text_of(value_type: TensorType) -> str:
    dims = "?" if value_type.shape is None else ",".join(map(str, value_type.dims))
    return f"{DTYPES[value_type.dtype]}[{dims}]"


def _fields(network: Network, node: Node, dtype: int, upward: Mapping[str, str]) -> list[str]:
    fields = [node.op_type, node.attributes.text, DTYPES[dtype], str(node.repeats)]
    fields += [_type_text(network, name) if name else "" for name in node.outputs]
    for name in (*node.inputs, *(o for body in node.bodies for o in body.outputs)):
        if name in upward:
            fields.append(upward[name])
        else:
            fields.append(f"constant {_type_text(network, name)}" if name else "")
    return fields


def _downward(network: Network, upward: Mapping[str, str], made: list[str]) -> list[str]:
    readers: dict[str, list[str]] = {}
    for name in network.outputs:
        readers.setdefault(name, []).append("output")
    hashes: list[str] = []
    # Backwards: each reader's hash is final before the node that it reads.
    for node, node_hash in zip(reversed(network.nodes), reversed(made), strict=True):
        result = _hash(node_hash, *_read_by(node.outputs, readers))
        hashes.append(result)
        for position, name in enumerate(node.inputs):
            if name in upward:
                readers.setdefault(name, []).append(f"{result}:{position}")
        for body in node.bodies:
            for position, name in enumerate(body.outputs):
                readers.setdefault(name, []).append(f"{result}:body:{position}")
    hashes += [_hash(upward[n], *_read_by([n], readers)) for n in network.inputs]
    return hashes


def _read_by(outputs: list[str], readers: Mapping[str, list[str]]) -> list[str]:
    return [
        f"{position}<{reader}"
        for position, name in enumerate(outputs)
        for reader in sorted(readers.get(name, ()))
    ]
