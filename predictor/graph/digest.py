"""The hash of a graph of operations: SHA-256, independent of names and of their order.

Fields are joined by the byte 0x1f.

1. Upwards, in topological order: an operation hashes its words and, for each value that it reads,
   the words on the value and the hash of its producer with the position of the output.
2. Downwards: an operation or input hashes its upward hash with the sorted list of (hash of the
   reader, label of the read), and the positions of its outputs that are outputs of the model. A
   shared subgraph and two equal copies differ in this.
3. The result is the hash of the recipe's words and the sorted downward hashes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

_SEPARATOR = "\x1f"


Read: TypeAlias = tuple[str, str, str]
"""A value that an operation reads: its name, empty of a constant; a label of the input, empty where
the order of the inputs does not count; words on the value that are hashed with it."""


class Operation(NamedTuple):
    """An operation.

    Attributes:
        words: on its type, attributes and results.
        reads: the values that it reads.
        outputs: names of the values that it makes.
    """

    words: Sequence[str]
    reads: Sequence[Read]
    outputs: Sequence[str]


def digest(
    recipe: Sequence[str],
    inputs: Mapping[str, str],
    operations: Sequence[Operation],
    outputs: Iterable[str],
) -> str:
    """Return the hash in hex.

    Args:
        recipe: its version, and further words on the model.
        inputs: words on each input of the model, by name.
        operations: in topological order.
        outputs: names of the model's outputs.
    """
    upward = {name: _hash(("input", words)) for name, words in inputs.items()}
    hashes: list[str] = []
    for operation in operations:
        result = _hash([*operation.words, *_read_texts(operation.reads, upward)])
        hashes.append(result)
        for position, name in enumerate(operation.outputs):
            if name:
                upward[name] = f"{result}:{position}"
    return _hash([*recipe, *sorted(_downward(inputs, operations, outputs, upward, hashes))])


def _hash(fields: Iterable[str]) -> str:
    text = _SEPARATOR.join(fields)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _read_texts(reads: Iterable[Read], upward: Mapping[str, str]) -> list[str]:
    texts: list[str] = []
    free: list[str] = []
    for value, label, words in reads:
        (texts if label else free).append(words + upward.get(value, ""))
    return texts + sorted(free) if free else texts


def _downward(
    inputs: Iterable[str],
    operations: Sequence[Operation],
    outputs: Iterable[str],
    upward: Mapping[str, str],
    hashes: Sequence[str],
) -> list[str]:
    readers: dict[str, list[str]] = {}
    for name in outputs:
        readers.setdefault(name, []).append("output")
    results: list[str] = []
    # Backwards: each reader's hash is final before the operation that it reads.
    for operation, upward_hash in zip(reversed(operations), reversed(hashes), strict=True):
        result = _hash([upward_hash, *_read_by(operation.outputs, readers)])
        results.append(result)
        for value, label, _ in operation.reads:
            if value in readers:
                readers[value].append(f"{result}:{label}")
            elif value in upward:
                readers[value] = [f"{result}:{label}"]
    return [*results, *(_hash([upward[name], *_read_by([name], readers)]) for name in inputs)]


def _read_by(outputs: Sequence[str], readers: Mapping[str, list[str]]) -> list[str]:
    if len(outputs) == 1:  # as of nearly all operators
        return ["0<" + reader for reader in sorted(readers.get(outputs[0], ()))]
    return [
        f"{position}<{reader}"
        for position, name in enumerate(outputs)
        for reader in sorted(readers.get(name, ()))
    ]
