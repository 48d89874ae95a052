"""Golden operator tables of published networks.

``python -m tests.golden.operator_tables`` writes them anew; look at the difference before you
commit it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import onnx

from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from tests.support.networks.ingesting import ingest_proto
from tests.support.networks.transformers import bert_base, vit_b16
from tests.support.networks.vision import mobilenet_v2, resnet18, resnet50, vgg16

FOLDER = Path(__file__).parent / "operators"
NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    function.__name__: function
    for function in (resnet18, resnet50, vgg16, mobilenet_v2, vit_b16, bert_base)
}
_COLUMNS = (
    *("name", "op_type", "output_shape", "dtype", "macs", "bytes_read", "weight_bytes"),
    *("bytes_written", "gemm", "window", "stride", "flags", "fused_into", "attributes"),
)


def table_text(graph: OperatorGraph) -> str:
    """Return the operators of a graph as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for i, name in enumerate(graph.names):
        flags = "|".join(str(flag.name) for flag in OperatorFlag(int(graph.flags[i])))
        writer.writerow(
            [
                *(name, graph.op_types[i], _joined(graph.output_shape(i)), graph.dtype[i]),
                *(graph.macs[i], graph.bytes_read[i], graph.weight_bytes[i]),
                *(graph.bytes_written[i], _joined(graph.gemm[i]), _joined(graph.window[i])),
                *(_joined(graph.stride[i]), flags, graph.fused_into[i], graph.attributes[i]),
            ]
        )
    return out.getvalue()


def totals(graph: OperatorGraph) -> dict[str, object]:
    """Return what a graph amounts to."""
    return {
        "operators": len(graph),
        "edges": graph.edges.shape[1],
        "macs": int(graph.macs.sum()),
        "parameters": graph.parameters,
        "weights_total_bytes": graph.weights_total_bytes,
        "bytes_moved": int(graph.bytes_moved.sum()),
        "peak_activation_bytes": graph.peak_activation_bytes,
        "fingerprint": graph.fingerprint,
        "former_fingerprint": graph.former_fingerprint,
    }


def _joined(values: object) -> str:
    return "x".join(str(int(v)) for v in values)  # type: ignore[attr-defined]


def write() -> None:
    """Write every table and the totals."""
    FOLDER.mkdir(exist_ok=True)
    summary = {}
    for name, build in NETWORKS.items():
        graph = ingest_proto(build()).graph
        (FOLDER / f"{name}.csv").write_text(table_text(graph), encoding="utf-8")
        summary[name] = totals(graph)
    text = json.dumps(summary, indent=2) + "\n"
    (FOLDER / "totals.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
