"""Rows of the published tables that are no latency of their graph on their target, and why.

What the publishers and the notes of the rows say; a row that no rule names is taken.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from ctm_research.sources.samples import Statistic
from ctm_research.sources.stated import NOT_STATED, SPARSE, STATISTICS
from ctm_research.sources.tables import Row

# A table that stands in two folders is read from one: folder that has a copy, repository, start of
# the device, folder that is read.
_COPIES: Final = (
    ("published_mobile", "PaddlePaddle/PaddleClas", "", "published_gpu"),
    ("published_mobile", "PaddlePaddle/PaddleDetection", "", "published_gpu"),
    ("published_mobile", "mlcommons/", "", "published_mlperf"),
    ("published_mobile", "Nota-NetsPresso/netspresso-trainer", "", "published_x86"),
    ("published_gpu", "Nota-NetsPresso/netspresso-trainer", "", "published_x86"),
    ("published_gpu", "mit-han-lab/efficientvit", "", "published_mobile"),
    ("published_gpu", "Abdirahmanabdirizak/ultralytics", "Intel", "published_x86"),
    ("published_gpu", "Abdirahmanabdirizak/ultralytics", "Raspberry Pi", "published_x86"),
    ("published_npu", "synaptics-synap/doc", "", "published_mobile"),
    ("published_npu", "STMicroelectronics/stm32ai-modelzoo", "", "published_mobile"),
    ("published_npu", "opencv/opencv_zoo", "", "published_mobile"),
    ("published_npu", "justincdavis/trtutils", "", "published_gpu"),
    ("published_npu", "ispcojp/ai_inference_device_benchmark", "", "published_x86"),
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """Words in a column that say why a row is not taken; a doubt is the source's own."""

    column: str
    words: str
    reason: str
    is_doubt: bool = False


_WITH_IMAGES: Final = "work before and after the network is in the time"
_SEVERAL: Final = "several runs at a time: the latency has waiting in it"
_LITTLE: Final = "run on slower cores only, which a configuration cannot say"
_BEST_OF: Final = "the fastest of several back ends, unnamed"
_TUNING: Final = "without a search for schedules, by level of optimisation"
_PADDING: Final = "padding is cut away: less work than the graph's"

COPY: Final = "the same table is read from"

_RULES: Final = (
    _Rule("note", "includes pre- and post-processing", _WITH_IMAGES),
    _Rule("note", "end to end pipeline", _WITH_IMAGES),
    _Rule("note", "DeepDetect REST server", _WITH_IMAGES),
    _Rule("source", "opencv/opencv_zoo", _WITH_IMAGES),
    _Rule("note", "whole pipeline", "a whole pipeline, not one run of the graph"),
    _Rule("note", "full pipeline", "a whole pipeline, not one run of the graph"),
    _Rule("note", "NOT a single-request latency", _SEVERAL),
    _Rule("note", "includes waiting", _SEVERAL),
    _Rule("note", "instances running at the same time not stated", _SEVERAL),
    _Rule("note", "FPS without synchronise each call", "a rate of calls that are not waited for"),
    _Rule("scenario", "MultiStream", "a query of several samples, which chips may share"),
    _Rule("valid", "INVALID", "not a valid run"),
    _Rule("runtime", "deepsparse", SPARSE),
    _Rule("runtime", "nebullvm", _BEST_OF),
    _Rule("runtime", "paddlex-hpi", _BEST_OF),
    _Rule("runtime", "hf-infinity", _BEST_OF),
    _Rule("provider_or_delegate", "torch.compile", "compiled by a mode that no runtime of ours is"),
    _Rule("provider_or_delegate", "DirectML", "a back end that no runtime of ours is"),
    _Rule("runtime", "bf16s", "activations are stored in BF16, which no precision of ours says"),
    _Rule("note", "ISA limited to FMA3", "kernels for AVX-512 were switched off"),
    _Rule("runtime_version", "2018 R5", "a release of 2018, before the kernels of today"),
    _Rule("note", "whether CPU or GPU of the M1 Pro ran", "the unit that ran is not told apart"),
    _Rule("note", "sparse weights", SPARSE),
    _Rule("note", "unstructured-sparse", SPARSE),
    _Rule("note", "pruned ", SPARSE),
    _Rule("note", "submitter drops padding", _PADDING),
    _Rule("provider_or_delegate", "remove padding", _PADDING),
    _Rule("provider_or_delegate", "little cores", _LITTLE),
    _Rule("note", "precision not stated (fp32 assumed)", NOT_STATED),
    _Rule("note", "precision not stated (FP32 presumed)", NOT_STATED),
    _Rule("note", "row: Predict", "the time of one image, the batch is not certain"),
    _Rule("note", "padding to 384 not stated", "whether it was padded to the graph's length", True),
    _Rule("note", "DOUBTFUL", "cells of the table are copied or shifted", True),
    _Rule("note", "AMBIGUOUS", "several values for one configuration", True),
    _Rule("note", "INPUT SIZE UNCERTAIN", "the size of the input is uncertain", True),
    _Rule("note", "treat as doubtful", "too small for the stated batch", True),
    _Rule("input_shape", "stated; speed fits", "the length is not the stated one", True),
    _Rule("note", "weak row", "device and threads are not stated", True),
    _Rule("note", "it can exceed p90", "start-up is in the mean", True),
    _Rule("note", "IE type reads CPU+iGPU", "the page contradicts itself on the unit", True),
    _Rule("note", "layers presumed for the", "the number of layers is presumed", True),
    _Rule("note", "platform label", "the page contradicts itself on the unit", True),
    _Rule("note", "a differing value exists", "another release states another figure", True),
    _Rule("note", "look-up table", "the figure may come from a table of blocks", True),
)
_SHIFTED: Final = "rows of the page are shifted: these are the figures of other networks"
_PAGE: Final = {"source": "openvinotoolkit/openvino@*", "unit": "cpu"}
# Rows that their publisher's README, or other pages of the publisher, speak against: the reason,
# and patterns of columns.
_DOUBTED: Final[tuple[tuple[str, Mapping[str, str]], ...]] = (
    (
        "the GPU was not waited for",
        {
            "source": "ispcojp/ai_inference_device_benchmark@*",
            "unit": "gpu",
            "runtime": "pytorch*",
        },
    ),
    ("the processor is not stated", {"source": "amd/RyzenAI-SW@*"}),
    ("the figure may come from a table of blocks", {"source": "mit-han-lab/once-for-all@*"}),
    ("the rate is not that of the network alone", {"source": "*/baseline_dino_resnet50/*"}),
    ("device and batch are not stated", {"source": "mit-han-lab/proxylessnas@*"}),
    ("device and threads are not stated", {"source": "facebookresearch/mobile-vision@*"}),
    # Wide ResNet-50 in half of the time of ResNet-50, VGG-16 in twenty times that with norms.
    (_SHIFTED, {"source": "openppl-public/ppl.nn@*", "device": "NVIDIA A100"}),
    # The host takes most of the time: 100 ms beside a Pi 4, 37 ms on the page of the maker.
    (
        "the processor of the host decodes the boxes",
        {
            "source": "NobuoTsukamoto/benchmarks@*",
            "provider_or_delegate": "edgetpu",
            "model": "tflite:efficientdet-lite*",
        },
    ),
    # An A2 takes 22 ms in the same suite, at a sixth of the INT8 rate.
    (
        "a much smaller card of the suite takes half of the time",
        {"source": "mlcommons/*RTX_4000_Ada*", "model": "retinanet*"},
    ),
    (
        "seconds with one decimal, loading of data may be in them",
        {"source": "isabellyrocha/edgetune@*"},
    ),
    # Release 2022.2 has the column of 2022.1, digit for digit, beside another list of networks.
    *(
        (_SHIFTED, {**_PAGE, "runtime_version": "2022.2", "device": f"*{device}"})
        for device in ("x6425E", "6305E", "10920X", "i9-12900", "Silver 4316", "10900TE")
    ),
    # Release 2024.0 has the two SSDs in each other's place: the small one takes 20 times as long.
    (
        _SHIFTED,
        {**_PAGE, "runtime_version": "2024.0", "device": "*6548N", "model": "ssd*"},
    ),
    (
        "the column of FP16 repeats that of INT8",
        {
            "source": "openvinotoolkit/openvino@*",
            "runtime_version": "2024.0",
            "device": "*1185G7",
            "precision": "fp16",
        },
    ),
    # A third of what all later releases say, and less than its arithmetic takes.
    (
        "other releases state three times as much",
        {
            "source": "openvinotoolkit/openvino@*",
            "runtime_version": "2022.3",
            "device": "*i5-13600K",
            "model": "bert-large*",
        },
    ),
    # Faster than FP32 can be; the harness of NVIDIA runs these networks in INT8 or FP16.
    (
        "the stated precision is that of the reference, not of the run",
        {"source": "*nvidia_original*", "runtime": "tensorrt", "precision": "fp32"},
    ),
    # Release 2024.3 has the row of ResNet-50 twice, on every device.
    (
        _SHIFTED,
        {
            "source": "openvinotoolkit/openvino@*",
            "runtime_version": "2024.3",
            "model": "ssd-resnet34-1200-onnx",
        },
    ),
)


def excluded(source: str, row: Row) -> str:
    """Return why a row is no latency of its graph on its target, else empty."""
    copied_from = next(
        (
            home
            for folder, repository, device, home in _COPIES
            if folder == source
            and row["source"].startswith(repository)
            and row["device"].startswith(device)
        ),
        "",
    )
    if copied_from:
        return f"{COPY} {copied_from}"
    return _by_rule(row, is_doubt=False)


def doubt(row: Row) -> str:
    """Return why the source itself speaks against a figure, else empty."""
    for reason, patterns in _DOUBTED:
        if all(fnmatchcase(row[column], pattern) for column, pattern in patterns.items()):
            return reason
    return _by_rule(row, is_doubt=True)


def _by_rule(row: Row, *, is_doubt: bool) -> str:
    for rule in _RULES:
        if rule.is_doubt is is_doubt and rule.words in row.cells.get(rule.column, ""):
            return rule.reason
    return ""


ANOTHER: Final = "another statistic of the same run is taken"
MIXED: Final = "run on slower cores before all of the faster ones, which a configuration cannot say"
PART_OF_CORES: Final = "run on a part of the accelerator's cores, which a configuration cannot say"

# The statistic that is taken where a run has several, best first.
_ORDER: Final = (
    *(Statistic.MEDIAN, Statistic.MEAN, Statistic.STATED, Statistic.MINIMUM),
    *(Statistic.INTERVAL, Statistic.P90, Statistic.P99),
)
_NOT_OF_A_RUN: Final = frozenset({"metric", "value", "note"})


class RunsOfTable:
    """What only the other rows of a table tell of a row: its run, and the cores of its device."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._best: dict[tuple[str, ...], Statistic] = {}
        for row in rows:
            key, statistic = _run(row), STATISTICS[row["metric"]]
            self._best[key] = min(self._best.get(key, statistic), statistic, key=_ORDER.index)
        self._cores = _most_cores(rows)

    def excluded(self, row: Row) -> str:
        """Return why a row is not taken beside the others, else empty."""
        if STATISTICS[row["metric"]] is not self._best[_run(row)]:
            return ANOTHER
        most = self._cores[row["device"]]
        counts = _cores(row)
        if counts.keys() & {"TPU", "NPU"}:
            return PART_OF_CORES if any(n < most[kind] for kind, n in counts.items()) else ""
        return "" if len(counts) < 2 or _is_fastest(counts, most) else MIXED

    def cluster(self, row: Row) -> int:
        """Return the kind of cores that alone ran, 0 being the fastest of the device."""
        counts = _cores(row)
        kinds = [kind for kind in _CLASSES if kind in self._cores[row["device"]]]
        ran = [place for place, kind in enumerate(kinds) if kind in counts]
        return ran[0] if len(ran) == 1 else 0


def _run(row: Row) -> tuple[str, ...]:
    return tuple(text for name, text in row.cells.items() if name not in _NOT_OF_A_RUN)


_CORES: Final = re.compile(r"(\d+)(large|med|small)")
_ACCELERATOR_CORES: Final = re.compile(r"(NPU|TPU) cores=(\d+)")
_CLASSES: Final = ("large", "med", "small")


def _cores(row: Row) -> dict[str, int]:
    """Return the number of cores in use by their class, empty where none is stated."""
    provider = row["provider_or_delegate"]
    if provider.startswith("cores="):
        return {kind: int(count) for count, kind in _CORES.findall(provider)}
    return {kind: int(count) for kind, count in _ACCELERATOR_CORES.findall(provider)}


def _most_cores(rows: Iterable[Row]) -> Mapping[str, Mapping[str, int]]:
    most: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        by_class = most[row["device"]]
        for kind, count in _cores(row).items():
            by_class[kind] = max(count, by_class.get(kind, 0))
    return most


def _is_fastest(counts: Mapping[str, int], most: Mapping[str, int]) -> bool:
    """Whether the cores in use are the fastest of the device, as threads of ours are."""
    is_full = True
    for kind in _CLASSES:
        if counts.get(kind, 0) and not is_full:
            return False
        is_full = is_full and counts.get(kind, 0) == most.get(kind, 0)
    return True
