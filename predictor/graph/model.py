"""An ingested file: the operator graph and the metadata of the file."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Self

from predictor.core.tensors import DynamicDimension, TensorInfo

if TYPE_CHECKING:  # numpy comes with it; a command starts its worker before it loads numpy
    from predictor.graph.operator_graph import OperatorGraph

ONNX: Final = "ONNX"
"""Format of a file that needs no conversion."""

# Reasons of the defaults of open dimensions that a batch sets; the second where none is named so.
NAMED_BATCH: Final = "named like a batch"
LEADING_BATCH: Final = "first dimension, taken as batch"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Model:
    """A user's model file, ingested with its dynamic dimensions bound.

    Attributes:
        path: absolute path as the user gave it.
        size_bytes: size of the file, external data apart.
        modified_ns: its modification time.
        format: of the file: ONNX, or one that was read into an ONNX model.
        ir_version: of the ONNX model.
        opsets: opset version by domain ("" is the default domain), of the ONNX model.
        producer: name and version of the exporter, from the file.
        inputs: the graph's inputs without initializers.
        outputs: the graph's outputs.
        dynamic: the dimensions that the file leaves open, as bound now.
        notes: remarks in whole sentences (a loop with unknown trip count, an unknown operator).
        graph: the operators.
    """

    path: str
    size_bytes: int
    modified_ns: int
    format: str = ONNX
    ir_version: int
    opsets: Mapping[str, int]
    producer: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    dynamic: tuple[DynamicDimension, ...]
    notes: tuple[str, ...]
    graph: OperatorGraph

    @classmethod
    def of_graph(cls, path: str, graph: OperatorGraph) -> Self:
        """Return a model of which only its name and its graph are known, as of a stored one."""
        return cls(
            path=path,
            size_bytes=0,
            modified_ns=0,
            format="",
            ir_version=0,
            opsets={},
            producer="",
            inputs=(),
            outputs=(),
            dynamic=(),
            notes=(),
            graph=graph,
        )

    def to_payload(self) -> dict[str, Any]:
        """Return plain JSON values: a model crosses the ingestion worker's pipe in this form."""
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "inputs": [asdict(tensor) for tensor in self.inputs],
            "outputs": [asdict(tensor) for tensor in self.outputs],
            "dynamic": [asdict(dimension) for dimension in self.dynamic],
            "graph": base64.b64encode(self.graph.to_bytes()).decode("ascii"),
        }

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        """Rebuild from :meth:`to_payload`.

        Raises:
            KeyError, TypeError, ValueError: the payload is not from this version of the program.
        """
        from predictor.graph.operator_graph import OperatorGraph  # noqa: PLC0415  # as above

        return cls(
            **{
                **payload,
                "inputs": tuple(_tensor(**tensor) for tensor in payload["inputs"]),
                "outputs": tuple(_tensor(**tensor) for tensor in payload["outputs"]),
                "dynamic": tuple(DynamicDimension(**dimension) for dimension in payload["dynamic"]),
                "notes": tuple(payload["notes"]),
                "graph": OperatorGraph.from_bytes(base64.b64decode(payload["graph"])),
            }
        )


def _tensor(name: str, dtype: str, declared: list[int | str], shape: list[int]) -> TensorInfo:
    return TensorInfo(name, dtype, tuple(declared), tuple(shape))
