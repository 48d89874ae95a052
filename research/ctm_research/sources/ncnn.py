"""ncnn's published benchmark: small image networks on phones, boards, processors and GPUs.

Source: ``Tencent/ncnn``, benchmark/README.md. One image a run. The fastest of each run's
repetitions is taken: the mean is noisy in some runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ctm_research.sources.aliases import Aliases, read_aliases
from ctm_research.sources.samples import GraphFile, Sample, Statistic
from ctm_research.sources.source import Share, Source
from ctm_research.sources.tables import Row, read_rows
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Precision

NAME = "ncnn"
_TABLE = "latencies.csv"
_COLUMNS = (
    *("device_id", "backend", "num_threads", "powersave", "model", "min_ms", "run_id"),
    *("variant", "readme_date", "flags", "src_line"),
)
_NETWORK_COLUMNS = ("model", "precision", "graph")

_RUNTIMES = {"cpu": "ncnn", "vulkan": "ncnn-vulkan"}
_LITTLE_CORES = "1"  # of the column powersave
# Runs in which the GPU stopped computing, by the line of the README from which on it shows.
_STOPPED = {"s029_r1": 2897}


# Family of architectures by name of the graph's file, as timm's modules. MobileNet 1 and 2, MnasNet
# and ProxylessNAS are in timm's module of EfficientNet.
_FAMILIES = {
    "FastestDet": "shufflenet",
    "alexnet": "alexnet",
    "blazeface": "blazeface",
    "efficientnet_b0": "efficientnet",
    "efficientnetv2_b0": "efficientnet",
    "googlenet": "googlenet",
    "mnasnet": "efficientnet",
    "mobilenet": "efficientnet",
    "mobilenet_ssd": "efficientnet",
    "mobilenet_v2": "efficientnet",
    "mobilenet_v3": "mobilenetv3",
    "mobilenet_yolo": "efficientnet",
    "mobilenetv2_yolov3": "efficientnet",
    "nanodet_m": "shufflenet",
    "proxylessnasnet": "efficientnet",
    "regnety_400m": "regnet",
    "resnet18": "resnet",
    "resnet50": "resnet",
    "shufflenet": "shufflenet",
    "shufflenet_v2": "shufflenet",
    "squeezenet": "squeezenet",
    "squeezenet_ssd": "squeezenet",
    "vgg16": "vgg",
    "vision_transformer": "vision_transformer",
    "yolo-fastest-1.1": "yolo-fastest",
    "yolo-fastestv2": "shufflenet",
    "yolov4-tiny": "yolov4-tiny",
}


def families(data: Path) -> Mapping[GraphFile, str]:
    """Return the family of architectures of each graph that the folder may hold."""
    return {graph_file(data, stem): family for stem, family in _FAMILIES.items()}


def graph_file(data: Path, stem: str) -> GraphFile:
    """Return where the graph of a name is."""
    return GraphFile(data / NAME / "graphs" / f"{stem}.onnx")


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table.

    Raises:
        InputError: a table is missing or damaged.
    """
    folder = data / NAME
    networks = {row["model"]: row for row in read_rows(folder / "models.csv", _NETWORK_COLUMNS)}
    aliases = read_aliases(NAME)
    for row in read_rows(folder / _TABLE, _COLUMNS):
        if row["model"] not in networks:
            row.refuse("model", "a network of models.csv")
        if row["backend"] not in _RUNTIMES:
            row.refuse("backend", "cpu or vulkan")
        yield _sample(row, networks[row["model"]], folder, aliases)


def _sample(row: Row, network: Row, folder: Path, aliases: Aliases) -> Sample:
    on_cpu = row["backend"] == "cpu"
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["model"],
        graph=GraphFile(folder / network["graph"]) if network["graph"] else None,
        batch_factor=1,
        device=f"{row['device_id']} {row['backend']}",
        device_id=aliases.find(row["device_id"], row["backend"]).device_id,
        configuration=Configuration(
            runtime=_RUNTIMES[row["backend"]],
            # Float networks run in half precision where the device can; the source does not say
            # where. The physical bound of these runtimes allows for it.
            precision=Precision.INT8 if network["precision"] == "int8" else Precision.FP32,
            threads=row.count("num_threads") if on_cpu else 0,
            batch=1,
        ),
        latency_ms=row.positive("min_ms"),
        statistic=Statistic.MINIMUM,
        provenance=f"Tencent/ncnn, benchmark/README.md of {row['readme_date']}, "
        f"line {row['src_line']}, run {row['run_id']}",
        flags=tuple(filter(None, [*row["flags"].split(";"), row["variant"]])),
        excluded=_exclusion(row),
        doubt=_doubt(row),
    )


def _exclusion(row: Row) -> str:
    if "int8_on_cpu" in row["flags"]:
        return "int8 network of a Vulkan run: the processor did the work"
    if row["powersave"] == _LITTLE_CORES:
        return "run on the little cores only, which a configuration cannot say"
    return ""


def _doubt(row: Row) -> str:
    stopped = _STOPPED.get(row["run_id"])
    if stopped is None or row.count("src_line") < stopped:
        return ""
    return (
        "the GPU did not compute: in this run the times fall at once from 10.6 ms, for "
        "proxylessnasnet, to 2.15 ms, for efficientnet_b0 with more MACs, and stay there; the "
        "vision transformer, 31 times the MACs of squeezenet, takes 0.32 ms and squeezenet before "
        "it 7.83 ms; the int8 networks between them, which the processor ran, show nothing of it"
    )


SOURCE = Source(
    name=NAME,
    rank=1,
    title="ncnn benchmark",
    repository="Tencent/ncnn",
    commits=("a4d2ea1d",),
    licence="BSD-3-Clause",
    notice=", benchmark/README.md; (c) 2017 Tencent",
    files=(_TABLE, "models.csv", "graphs/*.onnx"),
    row="the fastest of a run's repetitions, batch 1",
    ships="benchmark/README.md",
    samples=samples,
    families=families,
    shares={NAME: Share(0.30, 12, 16)},
    names=(_FAMILIES,),
    spreads=(("min_ms", "avg_ms"),),
    unlisted={"ncnn": Family.MOBILE_CPU, "ncnn-vulkan": Family.MOBILE_GPU},
)
