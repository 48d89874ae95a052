"""A child process that fine-tunes FiLM: torch is loaded here, never in the program itself.

It reads one line, ``{"head": path, "latency_ms": [k], "inputs": file}``, where the file has the
arrays ``NAME/PLACE``, and answers in lines: progress after each fit, at last the fitted biases.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from predictor.network.film_tuning.fit import FilmOfTarget


def main() -> int:
    """Serve one request."""
    request = json.loads(sys.stdin.readline())
    latency_ms = np.array(request["latency_ms"], np.float64)
    inputs: list[dict[str, Any]] = [{} for _ in latency_ms]
    with np.load(request["inputs"], allow_pickle=False) as arrays:
        for key in arrays.files:
            name, _, place = key.rpartition("/")
            inputs[int(place)][name] = arrays[key]
    fitted = []
    for biases in FilmOfTarget(Path(request["head"]), inputs, np.log(latency_ms)).all_biases():
        fitted.append(biases.to_json())
        _answer("progress", {"done": len(fitted), "total": len(latency_ms) + 1})
    _answer("result", {"fitted": fitted})
    return 0


def _answer(kind: str, payload: dict[str, object]) -> None:
    print(json.dumps({"id": 0, "kind": kind, "payload": payload}), flush=True)  # noqa: T201 - answer


if __name__ == "__main__":
    sys.exit(main())
