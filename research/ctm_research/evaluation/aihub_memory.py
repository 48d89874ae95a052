"""Peak memory and operators that fall back, held against what AI Hub publishes.

AI Hub states a range of the peak memory of each run and on which unit its layers ran. The range is
of the process: on phones it holds what the NPU uses, on Linux boards mostly not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctm_research.corpus.graph_files import GraphReader
from ctm_research.sources.aihub import NAME
from ctm_research.sources.graphs import joined_graphs
from ctm_research.sources.tables import read_rows
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.progress import Progress, ProgressCallback
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.cost.memory import memory_uses
from predictor.cost.support import unsupported
from predictor.graph.operator_graph import OperatorGraph
from predictor.presentation.markdown import table

_MIB: Final = 2.0**20  # AI Hub's unit
_COLUMNS: Final = (
    *("model_id", "component", "precision", "form_factor", "runtime", "primary_compute_unit"),
    *("peak_mem_min_mb", "peak_mem_max_mb", "layers_gpu", "layers_cpu", "mirror_of"),
)
# Programs of AI Engine Direct, made ahead of time or not, and its context binary in an ONNX file.
_QNN: Final = ("precompiled_qnn_onnx", "qnn_context_binary", "qnn_dlc")
_RUNTIMES: Final = {"onnx": "onnxruntime", "tflite": "tflite", **dict.fromkeys(_QNN, "qnn")}
_SYSTEMS: Final = {"IoT": "board"}  # Linux; phones, headsets and cars run Android
_OTHERS: Final = "phone, headset, car"

_INTRODUCTION: Final = """\
AI Hub publishes a range of the peak memory of each run, in MiB, and on which unit its layers ran
(quic/ai-hub-models 0.46.1). Here it is held against the weights and live activations that a
prediction states, and against the list of operators that it goes by.

## Peak memory

Half precision on the NPU and the GPU, single precision on the processor, or INT8; other widths are
left out. *Within*: weights and activations lie in the published range. The range is of the process:
on Linux boards most of what the NPU holds is not in it, and its low end is near 0 where the runtime
maps the file. Nor is a program in it that was compiled ahead of time (*context binary*,
*precompiled*). So the ranges of phones to be held against are those of the other runtimes."""
_RUNTIME: Final = """\
What lies between our number and the upper end differs by network and runtime: the weights a second
time while the NPU's program is made, buffers, the program itself. It is no constant that could be
added, so a prediction states weights and activations alone."""
_SUPPORT: Final = """\
## Operators that fall back

Networks that ran mostly on the NPU. *Named*: a prediction says that operators are not supported.
*Fell back*: the profile has layers on the processor or the GPU. AI Engine Direct (`qnn`) has no
fall-back: what is named there is told not to convert, and each such run is a false alarm. The
graphs are those of the ONNX files; AI Hub converts other files of the same networks for the other
runtimes.

That an Erf counts in quantised networks under ONNX Runtime alone was seen in these rows: the list
has none, and in floating point ONNX Runtime makes it one Gelu with what stands around it."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One row of AI Hub beside ours; sizes in MiB."""

    runtime: str
    unit: str
    system: str
    is_quantised: bool
    low: float
    high: float
    needed: float | None
    is_named: bool
    fell_back: bool


def memory_check(data: Path, progress: ProgressCallback) -> dict[str, Any]:
    """Return the figures.

    Args:
        data: folder with one folder a source.
        progress: gets the networks read.

    Raises:
        InputError: a table or a graph is missing or damaged.
    """
    runs = list(_runs(data, _graphs(data, progress)))
    groups: dict[tuple[str, str, str], list[_Run]] = defaultdict(list)
    for run in runs:
        if run.needed is not None:
            groups[run.runtime, run.unit, run.system].append(run)
    judged: dict[tuple[str, bool], list[_Run]] = defaultdict(list)
    for run in runs:
        if run.unit == "NPU":
            judged[_RUNTIMES[run.runtime], run.is_quantised].append(run)
    return {
        "memory": [
            dict(zip(("runtime", "unit", "system"), key, strict=True)) | _within(group)
            for key, group in sorted(groups.items())
        ],
        "support": [
            {"runtime": runtime, "quantised": is_quantised} | _counts(group)
            for (runtime, is_quantised), group in sorted(judged.items())
        ],
    }


def _graphs(data: Path, progress: ProgressCallback) -> dict[str, OperatorGraph]:
    """Return the graphs that stand for AI Hub's networks as published, by model and component."""
    files = {name: file for (name, shape), file in joined_graphs(data, NAME).items() if not shape}
    graphs = {}
    with GraphReader() as reader:
        for place, (name, file) in enumerate(files.items()):
            graphs[name] = reader.read(file)
            progress(Progress(place + 1, len(files), "networks"))
    if not graphs:
        raise InputError(str(data), "it has no graphs of AI Hub's networks", "name the data folder")
    return graphs


def _runs(data: Path, graphs: Mapping[str, OperatorGraph]) -> Iterator[_Run]:
    for row in read_rows(data / NAME / "latencies.csv", _COLUMNS):
        graph = graphs.get(f"{row['model_id']}/{row['component']}")
        if graph is None or row["mirror_of"]:
            continue
        unit, is_quantised = row["primary_compute_unit"], row["precision"] != "float"
        of_processor = Precision.FP32 if unit == "CPU" else Precision.FP16
        precision = Precision.INT8 if is_quantised else of_processor
        target = _target(_RUNTIMES[row["runtime"]], precision)
        needed = memory_uses(graph, [target])[0].peak_bytes / _MIB
        yield _Run(
            row["runtime"],
            unit,
            _SYSTEMS.get(row["form_factor"], _OTHERS),
            is_quantised,
            float(row["peak_mem_min_mb"]),
            float(row["peak_mem_max_mb"]),
            needed if row["precision"] in {"float", "w8a8"} else None,
            unsupported(graph, [target])[0] is not None,
            any(row[f"layers_{unit}"] not in {"", "0"} for unit in ("gpu", "cpu")),
        )


def _target(runtime: str, precision: Precision) -> Target:
    device = Device(id=NAME, name="AI Hub", vendor="Qualcomm", family=Family.NPU, metrics={})
    return Target(device, Configuration(runtime, precision))


def _within(runs: list[_Run]) -> dict[str, Any]:
    low, high, needed = (
        np.array([getattr(run, name) for run in runs], np.float64)
        for name in ("low", "high", "needed")
    )
    return {
        "runs": len(runs),
        "within": float(np.mean((needed >= low) & (needed <= high))),
        "over": float(np.mean(needed > high)),
        "median_needed": float(np.median(needed)),
        "median_high": float(np.median(high)),
        "median_high_over_needed": float(np.median(high / needed)),
    }


def _counts(runs: list[_Run]) -> dict[str, int]:
    return {
        "runs": len(runs),
        "named_and_fell_back": sum(run.is_named and run.fell_back for run in runs),
        "named_only": sum(run.is_named and not run.fell_back for run in runs),
        "fell_back_only": sum(run.fell_back and not run.is_named for run in runs),
        "neither": sum(not (run.is_named or run.fell_back) for run in runs),
    }


def memory_page(figures: Mapping[str, Any], origin: str) -> str:
    """Return the figures as a Markdown page.

    Args:
        figures: of :func:`memory_check`.
        origin: sentence on the command that made them.
    """
    memory = table(
        ("runtime", "unit", "system", "runs", "within %", "over it %", "ours MiB", "upper end MiB",
         "upper end / ours"),
        [
            (g["runtime"], g["unit"], g["system"], g["runs"], 100 * g["within"], 100 * g["over"],
             g["median_needed"], g["median_high"], g["median_high_over_needed"])
            for g in figures["memory"]
        ],
    )  # fmt: skip
    support = table(
        ("runtime", "networks", "runs", "named, fell back", "named only", "fell back only",
         "neither"),
        [
            (g["runtime"], "quantised" if g["quantised"] else "floating point", g["runs"],
             g["named_and_fell_back"], g["named_only"], g["fell_back_only"], g["neither"])
            for g in figures["support"]
        ],
    )  # fmt: skip
    parts = ("# Memory and fallbacks beside AI Hub's", origin, _INTRODUCTION, memory, _RUNTIME)
    return "\n\n".join([*parts, _SUPPORT, support]) + "\n"
