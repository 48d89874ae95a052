"""A corpus that the estimate is trained on in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from ctm_research.corpus.packing import GraphPacker
from ctm_research.evaluation.judge.judged import Judged
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Target
from predictor.cost.physics import Work, rates_of, term_times
from predictor.graph.operator_graph import OperatorGraph
from research.tests.evaluation.judge.hand_made import Row, judged
from tests.support.graphs import Op, make_graph

GRAPHS = (
    make_graph([Op(macs=10**8, read=10**6, weights=10**5, written=10**6), Op(read=10**6)]),
    make_graph([Op(macs=10**9, read=10**7, weights=10**6, written=10**6)] * 3),
    make_graph([Op(macs=3 * 10**8, read=2 * 10**7, weights=10**6, written=10**6)] * 2),
)


def target(silicon: int, copy: int) -> Target:
    """Return one of the GPUs of a die; dies differ in all rates, copies in the clock alone."""
    metrics = {
        "fp32_tflops": 4.0 * 1.5**silicon,
        "dram_bw_gbps": 200.0 * 1.3**silicon,
        "boost_clock_mhz": 1500.0 + copy,
        "core_count": 20.0 * (1 + silicon),
        "fp32_au_per_core": 128.0,
    }
    name = f"s{silicon:02} {copy}"
    device = Device(
        id=name,
        name=name,
        vendor="NVIDIA",
        family=Family.GPU,
        metrics=metrics,
        chip=f"s{silicon:02}",
    )
    return Target(device, Configuration("pytorch"))


def corpus_of(
    silicon: int,
    copies: int = 1,
    slow: Sequence[float] = (),
    networks: Sequence[OperatorGraph] = GRAPHS,
) -> Judged:
    """Return measurements that are twice the physics, times the slowness of each silicon."""
    targets = [target(number, copy) for number in range(silicon) for copy in range(copies)]
    rates = rates_of(targets)
    ms = 2 * np.array([term_times(Work.of(graph), rates).sum(axis=(0, 2)) for graph in networks])
    ms *= np.repeat(slow or [1.0] * silicon, copies)
    rows = [
        Row(each.device.chip, network, float(ms[network, place]), device=each.device.id)
        for place, each in enumerate(targets)
        for network in range(len(networks))
    ]
    made = judged([replace(row, runtime="pytorch", kind="nvidia") for row in rows])
    packer = GraphPacker()
    for graph in networks:
        packer.add(graph)
    packed, costs = packer.packed()
    graphs = SimpleNamespace(
        packed=packed,
        costs=costs,
        batch=np.ones(len(networks), np.int32),
        operator_graph=lambda index: networks[index],
    )
    listed = SimpleNamespace(threads_stated=True, threads_likely=0, early_starts=False)
    return replace(
        made,
        corpus=replace(
            made.corpus, graphs=cast("Any", graphs), targets=cast("Any", (listed,) * len(targets))
        ),
        targets=targets,
    )
