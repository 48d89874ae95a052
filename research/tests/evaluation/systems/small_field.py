"""A field of two networks on six GPUs of one class, made by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from ctm_research.corpus.packing import GraphPacker
from ctm_research.evaluation.judge.folds import Fold
from ctm_research.evaluation.systems.field import Field
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Target
from predictor.graph.operator_graph import OperatorGraph
from research.tests.evaluation.judge.hand_made import Row, judged
from tests.support.graphs import Op, make_graph

NETWORKS = 12
SILICON = "abcdef"
METRICS = {
    "dram_bw_gbps": 300.0,
    "boost_clock_mhz": 1500.0,
    "core_count": 40.0,
    "fp32_au_per_core": 128.0,
}


def graph(number: int) -> OperatorGraph:
    """Return a network of some products and one that moves memory, larger by its number."""
    size = 1 + number
    product = Op(macs=size * 10**8, read=10**6, weights=size * 10**5, written=10**6)
    return make_graph([product] * (1 + number % 3) + [Op(read=size * 10**6)])


def speed(silicon: str) -> float:
    """Return TFLOP/s of a silicon."""
    return 2.0 ** SILICON.index(silicon)


def latency_ms(silicon: str, network: int) -> float:
    """Return a time that is as long as the arithmetic, twice over."""
    macs = (1 + network) * 1e8 * (1 + network % 3)
    return 2 * 2 * macs / (speed(silicon) * 1e12) * 1e3


def small_field(*, factor: float = 1.0) -> Field:
    """Return the field; the silicon ``f`` is left out, its latencies times a factor."""
    rows = [
        Row(
            s,
            n,
            latency_ms(s, n) * (factor if s == "f" else 1),
            estimate_ms=latency_ms(s, n) / 2,
            runtime="pytorch",
            kind="nvidia",
        )
        for s in SILICON
        for n in range(NETWORKS)
    ]
    made = judged(rows)
    packer = GraphPacker()
    for number in range(NETWORKS):
        packer.add(graph(number))
    packed, costs = packer.packed()
    graphs = SimpleNamespace(packed=packed, costs=costs, batch=np.ones(NETWORKS, np.int32))
    stated = (SimpleNamespace(threads_stated=True, threads_likely=0),) * len(SILICON)
    made = replace(
        made,
        corpus=replace(made.corpus, graphs=cast("Any", graphs), targets=cast("Any", stated)),
        targets=[
            Target(
                Device(
                    id=s,
                    name=s,
                    vendor="NVIDIA",
                    family=Family.GPU,
                    metrics={**METRICS, "fp32_tflops": speed(s)},
                ),
                Configuration("pytorch"),
            )
            for s in SILICON
        ],
    )
    left_out = made.silicon_of(made.rows) == SILICON.index("f")
    return Field(made, made.rows, (Fold(made.rows[~left_out], made.rows[left_out]),))
