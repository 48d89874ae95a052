"""A search space of a few real graphs with latencies that are known exactly."""

from __future__ import annotations

from functools import cache

import numpy as np

from ctm_research.nas.spaces.graphs import SpaceGraphs, build_graphs
from ctm_research.nas.spaces.space import NasSpace, architectures_of
from ctm_research.sources.nas import Column
from predictor.core.progress import CancelToken, no_progress

DEVICES = ("1080ti_1", "1080ti_32", "gold_6226", "raspi4", "fpga", "pixel3")
SIZE = 80


@cache
def small_codes() -> np.ndarray:
    """Return int64 [80, 6], distinct NAS-Bench-201 codes without a "none"."""
    every = np.stack(np.meshgrid(*[np.arange(1, 5)] * 6, indexing="ij"), axis=-1).reshape(-1, 6)
    return every[np.random.default_rng(7).choice(len(every), SIZE, replace=False)].astype(np.int64)


@cache
def small_graphs() -> SpaceGraphs:
    """Build their graphs, once for all tests."""
    return build_graphs("nasbench201-eager", small_codes(), no_progress, CancelToken())


def small_space(noise: float = 0.0) -> NasSpace:
    """Return a space in which each choice at each edge costs its own time on each device."""
    codes = small_codes()
    rng = np.random.default_rng(1)
    shared = rng.uniform(0.2, 1.0, (6, 5, 1))
    costs = shared * rng.uniform(0.8, 1.25, (6, 5, len(DEVICES)))  # devices differ a little
    latency_ms = 3 + costs[np.arange(6), codes].sum(axis=1)  # [80, 6]
    latency_ms *= np.exp(noise * rng.standard_normal(latency_ms.shape))
    columns = tuple(Column(name, "", 1, "") for name in DEVICES)
    return NasSpace(architectures_of("nasbench201", codes, small_graphs()), columns, latency_ms)
