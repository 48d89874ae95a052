"""A model as plain JSON values, in which form it crosses the ingestion worker's pipe."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from predictor.core.records import DynamicDimension, TensorInfo
from predictor.graph.model import Model

Payload = dict[str, Any]


def model_to_payload(model: Model) -> Payload:
    """Return a model as JSON values; the operator graph's bytes in base64."""
    return {
        "path": model.path,
        "size_bytes": model.size_bytes,
        "modified_ns": model.modified_ns,
        "ir_version": model.ir_version,
        "opsets": dict(model.opsets),
        "producer": model.producer,
        "inputs": [asdict(tensor) for tensor in model.inputs],
        "outputs": [asdict(tensor) for tensor in model.outputs],
        "dynamic": [asdict(dimension) for dimension in model.dynamic],
        "notes": list(model.notes),
        "graph": base64.b64encode(model.graph.to_bytes()).decode("ascii"),
    }


def model_from_payload(payload: Mapping[str, Any]) -> Model:
    """Rebuild a model (inverse of ``model_to_payload``).

    Raises:
        KeyError, TypeError, ValueError: the payload is not from this version of the program.
    """
    # numpy comes with it; a command starts its worker before it loads numpy.
    from predictor.graph.operator_graph import OperatorGraph  # noqa: PLC0415

    return Model(
        path=payload["path"],
        size_bytes=payload["size_bytes"],
        modified_ns=payload["modified_ns"],
        ir_version=payload["ir_version"],
        opsets=dict(payload["opsets"]),
        producer=payload["producer"],
        inputs=_tensors(payload["inputs"]),
        outputs=_tensors(payload["outputs"]),
        dynamic=tuple(DynamicDimension(**dimension) for dimension in payload["dynamic"]),
        notes=tuple(payload["notes"]),
        graph=OperatorGraph.from_bytes(base64.b64decode(payload["graph"])),
    )


def _tensors(items: Sequence[Mapping[str, Any]]) -> tuple[TensorInfo, ...]:
    return tuple(
        TensorInfo(item["name"], item["dtype"], tuple(item["declared"]), tuple(item["shape"]))
        for item in items
    )
