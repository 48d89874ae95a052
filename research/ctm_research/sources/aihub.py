"""Qualcomm AI Hub's published latencies of networks on the NPUs of phones and boards.

Source: ``quic/ai-hub-models``, perf.yaml of each model. The time is the vendor's own summary of
many runs; whether it is the minimum or the mean is not said.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ctm_research.sources.aliases import Aliases, read_aliases
from ctm_research.sources.graphs import Joined, joined_graphs
from ctm_research.sources.samples import Sample, Statistic
from ctm_research.sources.source import Share, Source
from ctm_research.sources.tables import Row, read_rows
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Precision

NAME = "aihub"
_TABLE = "latencies.csv"
_COLUMNS = (
    *("model_id", "component", "precision", "device", "runtime", "inference_time_ms"),
    *("primary_compute_unit", "layers_gpu", "layers_cpu", "qairt_version", "job_id", "mirror_of"),
)

# The NPU runs float networks in half precision, the source says.
_PRECISIONS = {"float": Precision.FP16, "w8a8": Precision.INT8}
_RUNTIMES = {
    "onnx": "onnxruntime",
    "precompiled_qnn_onnx": "onnxruntime",
    "qnn_context_binary": "qnn",
    "qnn_dlc": "qnn",
    "tflite": "tflite",
}


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs, aliases = joined_graphs(data, NAME), read_aliases(NAME)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        if row["runtime"] not in _RUNTIMES:
            row.refuse("runtime", f"one of {', '.join(_RUNTIMES)}")
        yield _sample(row, graphs, aliases)


def _sample(row: Row, graphs: Joined, aliases: Aliases) -> Sample:
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=f"{row['model_id']}, {row['component']}",
        graph=graphs.get((f"{row['model_id']}/{row['component']}", "")),
        batch_factor=1,
        device=row["device"],
        device_id=aliases.find(row["device"]).device_id,
        configuration=Configuration(
            _RUNTIMES[row["runtime"]], _PRECISIONS.get(row["precision"], Precision.INT8), 0, 1
        ),
        latency_ms=row.positive("inference_time_ms"),
        statistic=Statistic.STATED,
        provenance=f"quic/ai-hub-models 0.46.1, job {row['job_id']}, "
        f"QAIRT {row['qairt_version'] or 'not stated'}",
        flags=tuple(
            f"layers on the {unit}"
            for unit in ("gpu", "cpu")
            if row[f"layers_{unit}"] not in {"", "0"}
        ),
        excluded=_exclusion(row),
    )


def _exclusion(row: Row) -> str:
    if row["mirror_of"]:
        return "copy of another device's measurement"
    if row["primary_compute_unit"] != "NPU":
        return "most layers ran on the processor or the GPU"
    if row["precision"] not in _PRECISIONS:
        return "mixed widths of integers (w8a16 and the like), which no precision of ours says"
    return ""


SOURCE = Source(
    name=NAME,
    rank=4,
    title="Qualcomm AI Hub",
    repository="quic/ai-hub-models",
    commits=("52c080d2",),
    licence="BSD-3-Clause",
    notice=", release 0.46.1; each model has a licence of its own",
    files=(_TABLE,),
    row="the vendor's summary, batch 1",
    ships="perf.yaml of each model",
    samples=samples,
    shares={NAME: Share(0.07, 10, 12)},
    unlisted={"": Family.NPU},
)
