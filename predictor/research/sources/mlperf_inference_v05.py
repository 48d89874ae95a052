"""MLPerf Inference 0.5, single stream: one query after the other on submitted systems.

Source: ``mlcommons/inference_results_v0.5``. The median is taken: some systems are noisy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from predictor.core.records import Configuration, Precision
from predictor.research.sources.networks import published_graphs
from predictor.research.sources.samples import GraphFile, Sample, Statistic
from predictor.research.sources.source import Share, Source
from predictor.research.sources.tables import Row, read_rows

NAME = "mlperf_inference_v05"
_TABLE = "latencies.csv"
_COLUMNS = (
    *("division", "submitter", "system", "benchmark", "run", "weight_dtype_stated"),
    *("p50_ms", "valid"),
)


@dataclass(frozen=True, slots=True)
class System:
    """Device and runtime of a submitted system that run the network."""

    device_id: str
    runtime: str


SYSTEMS: dict[str, System] = {
    "0": System("centaur-ncore", "tflite"),
    "DELLEMC_R740xd6248_openvino-linux": System("xeon-gold-6248-x2", "openvino"),
    "DELLEMC_R740xd8276_openvino-linux": System("xeon-platinum-8276-x2", "openvino"),
    "Goya_1": System("habana-goya", "unknown"),
    "Hailo8": System("hailo-8", "hailort"),
    "ICL-I3-1005G1_OpenVINO-Windows": System("core-i3-1005g1", "openvino"),
    "SDM855": System("snapdragon-855-hvx", "qnn"),
    "T4x8": System("tesla-t4", "tensorrt"),
    "TitanRTXx4": System("titan-rtx", "tensorrt"),
    "Xavier": System("jetson-agx-xavier-gpu", "tensorrt"),
    "alibaba_HanGuang": System("hanguang-800", "unknown"),
    "clx-8255c-4s_pytorch-caffe2": System("xeon-platinum-8255c-x4", "pytorch"),
    "clx-9282-2s_pytorch-caffe2": System("xeon-platinum-9282-x2", "pytorch"),
    "clx_9282-2s_openvino-linux": System("xeon-platinum-9282-x2", "openvino"),
    "firefly-armnn-v19.08-neon": System("rk3399-cpu", "unknown"),
    "firefly-armnn-v19.08-opencl": System("rk3399-mali", "unknown"),
    "firefly-tflite-v1.15": System("rk3399-cpu", "tflite"),
    "furiosa-single-fpga": System("furiosa-renegade-u250", "unknown"),
    "hikey960-armnn-v19.08-neon": System("hikey960-cpu", "unknown"),
    "hikey960-armnn-v19.08-opencl": System("hikey960-mali", "unknown"),
    "hikey960-tflite-v1.15": System("hikey960-cpu", "tflite"),
    "mate10pro-armnn-v19.08-neon": System("mate-10-pro-cpu", "unknown"),
    "mate10pro-armnn-v19.08-opencl": System("mate-10-pro-mali", "unknown"),
    "mate10pro-tflite-v1.13": System("mate-10-pro-cpu", "tflite"),
    "rpi4-armnn-v19.08-neon": System("rpi4", "unknown"),
    "rpi4-tflite-v1.15": System("rpi4", "tflite"),
    "velociti-tensorflow-v1.14-cpu": System("xeon-e5-2650-v3", "unknown"),
    "velociti-tensorflow-v1.14-cuda": System("gtx1080", "unknown"),
    "velociti-tensorflow-v1.14-tensorrt": System("gtx1080", "tensorrt"),
    "velociti-tensorflow-v1.14-tensorrt-dynamic": System("gtx1080", "tensorrt"),
}
NETWORKS: dict[str, str] = {
    "mobilenet": "mobilenet-v1",
    "mobilenet-quantized": "mobilenet-v1",
    "mobilenet-v1-1.0-224": "mobilenet-v1",
    "mobilenet-v1-1.0-224-quantized": "mobilenet-v1",
    "mobilenet-v2-0.35-224": "mobilenet-v2-0.35",
    "mobilenet-v2-0.5-224": "mobilenet-v2-0.5",
    "mobilenet-v2-0.75-224": "mobilenet-v2-0.75",
    "mobilenet-v2-1.0-224": "mobilenet-v2-1.0",
    "mobilenet-v2-1.4-224": "mobilenet-v2-1.4",
    "resnet": "resnet-50-v1.5",
    "resnet50": "resnet-50-v1.5",
}
_PRECISIONS = {"int8": Precision.INT8, "uint8": Precision.INT8, "fp32": Precision.FP32}


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs = published_graphs(data)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        yield _sample(row, graphs)


def _sample(row: Row, graphs: Mapping[str, GraphFile]) -> Sample:
    system = SYSTEMS.get(row["system"], System("", "unknown"))
    precision = _precision(row)
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["benchmark"],
        graph=graphs.get(NETWORKS.get(row["benchmark"], "")),
        batch_factor=1,
        device=f"{row['submitter']} {row['system']}",
        device_id=system.device_id,
        configuration=Configuration(system.runtime, precision or Precision.FP32, 0, 1),
        latency_ms=row.positive("p50_ms"),
        statistic=Statistic.MEDIAN,
        provenance=f"mlcommons/inference_results_v0.5, {row['division']}, {row['submitter']}, "
        f"{row['system']}, {row['benchmark']}, {row['run'] or 'run not named'}",
        flags=(row["division"],),
        excluded=_exclusion(row, precision),
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
    names=(SYSTEMS, NETWORKS),
    spreads=(("p50_ms", "mean_ms"), ("p50_ms", "p90_ms")),
)
