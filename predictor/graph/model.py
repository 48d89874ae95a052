"""What ingestion makes of a file: the operator graph and what the file says about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from predictor.core.records import DynamicDimension, TensorInfo

if TYPE_CHECKING:  # numpy comes with it; a command starts its worker before it loads numpy
    from predictor.graph.operator_graph import OperatorGraph


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A user's ONNX file, ingested with its dynamic dimensions bound.

    Attributes:
        path: absolute path as the user gave it.
        size_bytes: size of the file, external data apart.
        modified_ns: its modification time.
        ir_version: of the file.
        opsets: opset version by domain ("" is the default domain).
        producer: name and version of the exporter, as the file says.
        inputs: the graph's inputs without initializers.
        outputs: the graph's outputs.
        dynamic: the dimensions that the file leaves open, as bound now.
        notes: remarks in whole sentences (a loop with unknown trip count, an unknown operator).
        graph: the operators.
    """

    path: str
    size_bytes: int
    modified_ns: int
    ir_version: int
    opsets: Mapping[str, int]
    producer: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    dynamic: tuple[DynamicDimension, ...]
    notes: tuple[str, ...]
    graph: OperatorGraph
