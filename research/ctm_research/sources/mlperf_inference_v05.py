"""MLPerf Inference 0.5, single stream: one query after the other on submitted systems.

Source: ``mlcommons/inference_results_v0.5``. The median is taken: some systems are noisy.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ctm_research.sources.aliases import Aliases, read_aliases
from ctm_research.sources.graphs import Joined, joined_graphs
from ctm_research.sources.samples import Sample, Statistic
from ctm_research.sources.source import Share, Source
from ctm_research.sources.tables import Row, read_rows
from predictor.core.records import Configuration, Precision

NAME = "mlperf_inference_v05"
_TABLE = "latencies.csv"
_COLUMNS = (
    *("division", "submitter", "system", "benchmark", "run", "weight_dtype_stated"),
    *("p50_ms", "valid"),
)


# By a word of the system's name; the others' runtime is not known.
_RUNTIMES = (
    *(("armnn", "armnn"), ("tflite", "tflite"), ("openvino", "openvino"), ("OpenVINO", "openvino")),
    *(("tensorrt", "tensorrt"), ("pytorch", "pytorch"), ("tensorflow", "tensorflow")),
)
# By the system, where its name has no such word.
_SYSTEMS = {
    "0": "tflite",
    "Hailo8": "hailort",
    "SDM855": "qnn",
    "T4x8": "tensorrt",
    "TitanRTXx4": "tensorrt",
    "Xavier": "tensorrt",
}
# Hailo-8 took 11.5 ms for ResNet-50 in 2019, and 2.9 ms on the page of Hailo's own figures
# (github.com/hailo-ai/hailo_model_zoo, docs/BENCHMARKS.rst).
_PREVIEWS = frozenset({"Hailo8"})
_PRECISIONS = {"int8": Precision.INT8, "uint8": Precision.INT8, "fp32": Precision.FP32}


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs, aliases = joined_graphs(data, NAME), read_aliases(NAME)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        yield _sample(row, graphs, aliases)


def _sample(row: Row, graphs: Joined, aliases: Aliases) -> Sample:
    system = row["system"]
    named = next((runtime for word, runtime in _RUNTIMES if word in system), "unknown")
    precision = _precision(row)
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["benchmark"],
        graph=graphs.get((row["benchmark"], "")),
        batch_factor=1,
        device=f"{row['submitter']} {row['system']}",
        device_id=aliases.find(system).device_id,
        configuration=Configuration(_SYSTEMS.get(system, named), precision or Precision.FP32, 0, 1),
        latency_ms=row.positive("p50_ms"),
        statistic=Statistic.MEDIAN,
        provenance=f"mlcommons/inference_results_v0.5, {row['division']}, {row['submitter']}, "
        f"{row['system']}, {row['benchmark']}, {row['run'] or 'run not named'}",
        flags=(row["division"],),
        excluded=_exclusion(row, precision),
        threads_stated=False,
    )


def _precision(row: Row) -> Precision | None:
    """Return the stated type of the weights; submitters state it in their own words."""
    stated = row["weight_dtype_stated"].lower()
    if "to int8" in stated:
        return Precision.INT8
    return _PRECISIONS.get(stated)


def _exclusion(row: Row, precision: Precision | None) -> str:
    if row["valid"] != "VALID":
        return "not a valid run"
    if row["system"] in _PREVIEWS:
        return "a preview: its maker states a quarter of the time since"
    return "" if precision else "the precision is not stated in a form that we can use"


SOURCE = Source(
    name=NAME,
    rank=9,
    title="MLPerf Inference v0.5",
    repository="mlcommons/inference_results_v0.5",
    commits=("f5acb8be",),
    licence="Apache-2.0",
    notice="; MLPerf is a trademark, and these are data, not official scores",
    files=(_TABLE,),
    row="the median of single queries",
    ships="not official scores",
    samples=samples,
    shares={NAME: Share(0.05, 8, 8)},
    spreads=(("p50_ms", "mean_ms"), ("p50_ms", "p90_ms")),
)
