"""Per-operator values as node data of Google's Model Explorer.

A file holds the values of one graph under ``results``, by node id, and the colours under
``gradient``, from the smallest value to the largest. It names no graph, so that Model Explorer lays
it over the graph that is open; its adapter for ONNX takes the nodes' names for their ids.

Reference:
    google-ai-edge/model-explorer, ``src/server/package/src/model_explorer/node_data_builder.py``
    and ``src/ui/src/components/visualizer/node_data_provider_dropdown.ts``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from predictor.core.files import write_text
from predictor.services.prediction.explain import OperatorTable

# From the colour of an unmarked node to a dark blue, on which Model Explorer writes in white.
_GRADIENT: Final = ({"stop": 0, "bgColor": "#ffffff"}, {"stop": 1, "bgColor": "#0b4f8a"})


def write_node_data(table: OperatorTable, path: Path) -> tuple[Path, Path]:
    """Write the operators' latencies in ms to ``path``, and their shares in percent beside it.

    Model Explorer shows one value a file and heads its column with the file's name.

    Returns:
        The two files: ``NAME.json`` and ``NAME.share.json`` for ``NAME.json``.

    Raises:
        HostError: a file cannot be written.
    """
    shares_path = path.with_name(f"{path.stem}.share{path.suffix}")
    _write(path, node_data(table.names, table.latency_ms.tolist()))
    _write(shares_path, node_data(table.names, (100 * table.share).tolist()))
    return path, shares_path


def node_data(names: Iterable[str], values: Iterable[float]) -> dict[str, object]:
    """Return a document of one value a node; those of nodes of one name are added up."""
    sums: defaultdict[str, float] = defaultdict(float)
    for name, value in zip(names, values, strict=True):
        # Nothing keeps the names of nodes unique, and the file has one value an id.
        sums[name] += value
    results = {name: {"value": float(f"{value:.6g}")} for name, value in sums.items()}
    return {"results": results, "gradient": list(_GRADIENT)}


def _write(path: Path, document: dict[str, object]) -> None:
    content = json.dumps(document, allow_nan=False) + "\n"
    write_text(path, content, "the node data")
