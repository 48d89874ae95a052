"""Builds the files of reference networks in a process of its own.

Importing onnx and making weights would hold up the threads of the process that asks.

    in   one JSON line {"folder", "networks": [{"name", "space", "code"}]}
    out  one line {"id": 0, "kind": "result", "payload": {name: SHA-256}}, or kind error
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from predictor.core.errors import CtmError
from predictor.probing.runner.messages import Lines


def main(_: Sequence[str] = ()) -> int:
    """Build the networks that the standard input names, and answer."""
    answers = Lines(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # prints of a library are no answer
    job = json.loads(sys.stdin.buffer.readline())
    try:
        answers.send(0, "result", _build(job))
    except CtmError as error:
        answers.send(0, "error", error.to_dict())
    return 0


def _build(job: dict[str, object]) -> dict[str, str]:
    from pathlib import Path  # noqa: PLC0415  # with onnx, which takes longest

    from predictor.probing.networks.spaces import write_network  # noqa: PLC0415

    folder, networks = Path(str(job["folder"])), job["networks"]
    assert isinstance(networks, list)  # noqa: S101  # our own parent wrote it
    return {
        network["name"]: write_network(
            folder / f"{network['name']}.onnx", network["space"], network["code"]
        )
        for network in networks
    }


if __name__ == "__main__":
    sys.exit(main())
