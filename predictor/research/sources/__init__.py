"""Published measurements by source: one module for each folder of a data folder.

A data folder has one folder a source, with the tables that the source's module reads. Each module
has ``NAME``, the folder, and ``samples(data)``, its rows as :class:`Sample`. The search spaces of
``nas`` are matrices and stand apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from predictor.research.sources import (
    aihub,
    coral_edgetpu,
    hailo,
    mlperf_inference_v05,
    ncnn,
    neusight,
    rknn,
    timm,
    xilinx_dpu,
)
from predictor.research.sources.samples import GraphFile, Sample, Statistic

__all__ = ["SOURCES", "GraphFile", "Sample", "Statistic"]

_MODULES = (
    ncnn,
    timm,
    neusight,
    aihub,
    hailo,
    rknn,
    coral_edgetpu,
    xilinx_dpu,
    mlperf_inference_v05,
)

SOURCES: Mapping[str, Callable[[Path], Iterator[Sample]]] = MappingProxyType(
    {module.NAME: module.samples for module in _MODULES}
)
