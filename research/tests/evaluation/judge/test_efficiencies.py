"""Efficiencies by kind of operator, on corpora whose truth is known."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ctm_research.corpus.packing import GraphPacker
from ctm_research.evaluation.judge.ablation import FORMS, ablation_page
from ctm_research.evaluation.judge.efficiencies import KindEfficiencies
from ctm_research.evaluation.judge.judged import Judged
from ctm_research.evaluation.judge.term_times import completed, sums_by_kind
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Target
from predictor.cost.operator_kinds import KIND, KINDS, kinds_of
from predictor.cost.physics import TERMS, Work, rates_of, term_times
from research.tests.evaluation.judge.hand_made import Row, judged
from tests.support.graphs import Op, make_graph

TRUE = {"arithmetic": 3.0, "memory": 0.8, "launch": 2.0}


def corpus_of(silicon: int = 8, networks: int = 12) -> tuple[Judged, np.ndarray]:
    """Return measurements that the true efficiencies make, and their terms."""
    rng = np.random.default_rng(1)
    work = np.exp(rng.normal(0, 1, (networks, len(KINDS), len(TERMS))))
    work[:, 3:] = 0  # three kinds of operators only
    work[..., TERMS.index("block")] = 0
    speed = np.exp(rng.normal(0, 1, (silicon, len(TERMS))))
    times = (work[None] * speed[:, None, None]).reshape(-1, len(KINDS), len(TERMS))
    true = np.array([TRUE.get(term, 1.0) for term in TERMS])
    ms = (times * true).sum(axis=(1, 2))
    rows = [
        Row(f"s{s}", n, float(ms[s * networks + n]))
        for s in range(silicon)
        for n in range(networks)
    ]
    return judged(rows), times.astype(np.float32)


def test_what_made_the_latencies_comes_back_on_unseen_silicon() -> None:
    corpus, times = corpus_of()
    unseen = corpus.silicon[corpus.target] == 7

    fitted = KindEfficiencies(times, corpus.rows).fit(corpus, np.flatnonzero(~unseen))
    predicted = fitted.predict(np.flatnonzero(unseen), {})

    assert predicted.log_ms == pytest.approx(corpus.log_latency[unseen], abs=0.1)


def test_no_latency_of_another_row_is_read() -> None:
    corpus, times = corpus_of()
    unseen = corpus.silicon[corpus.target] == 7
    shifted = replace(corpus, log_latency=corpus.log_latency + 5.0 * unseen)

    predicted = [
        KindEfficiencies(times, each.rows)
        .fit(each, np.flatnonzero(~unseen))
        .predict(np.flatnonzero(unseen), {})
        .log_ms
        for each in (corpus, shifted)
    ]

    assert np.array_equal(*predicted)


GRAPHS = (
    make_graph([Op(macs=10**8, read=10**6, weights=10**5, written=10**6), Op(read=10**6)]),
    make_graph([Op(macs=10**9, read=10**7, weights=10**6, written=10**6)] * 3),
)
METRICS = {"fp32_tflops": 10.0, "dram_bw_gbps": 300.0, "boost_clock_mhz": 1500.0, "core_count": 40}


def corpus_with_graphs() -> Judged:
    """Return measurements of both graphs on two GPUs."""
    corpus = judged([Row(s, n, 1.0, runtime="pytorch") for s in ("a", "b") for n in (0, 1)])
    packer = GraphPacker()
    for graph in GRAPHS:
        packer.add(graph)
    packed, costs = packer.packed()
    graphs = SimpleNamespace(packed=packed, costs=costs, batch=np.ones(2, np.int32))
    metrics = ({**METRICS, "fp32_au_per_core": 128}, {**METRICS, "fp32_tflops": 20.0})
    return replace(
        corpus,
        corpus=replace(corpus.corpus, graphs=cast("Any", graphs)),
        targets=[
            Target(
                Device(id=n, name=n, vendor="", family=Family.GPU, metrics=m),
                Configuration("pytorch"),
            )
            for n, m in zip("ab", metrics, strict=True)
        ],
    )


def test_terms_of_a_measurement_are_those_of_its_operators_by_kind() -> None:
    corpus = corpus_with_graphs()
    rates = completed(corpus.targets, rates_of(corpus.targets))

    sums = sums_by_kind(corpus, rates, corpus.rows)

    for row in corpus.rows.tolist():
        graph = GRAPHS[corpus.graph[row]]
        times = term_times(Work.of(graph), rates)[:, corpus.target[row]]
        assert sums[row].sum(axis=0) == pytest.approx(times.sum(axis=0), rel=1e-5)
        for kind in set(kinds_of(graph).tolist()):
            of_kind = times[kinds_of(graph) == kind].sum(axis=0)
            assert sums[row, kind] == pytest.approx(of_kind, rel=1e-5)
    assert sums[0, KIND["other"]].sum() > 0  # the operator without arithmetic


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_form_has_finite_times(form: Any) -> None:
    corpus = corpus_with_graphs()
    targets = [form.targets(target) for target in corpus.targets]
    rates = completed(targets, rates_of(targets))
    change = form.change and form.change(targets)

    sums = sums_by_kind(corpus, rates, corpus.rows, change, len(form.means))

    assert np.isfinite(sums).all()
    assert (sums >= 0).all()
    assert (sums.sum(axis=(1, 2)) > 0).all()


def test_the_page_lists_classes_and_the_mean_of_each_form() -> None:
    figures = {
        "classes": [
            {"class": "x86 x ncnn", "silicon": 4, "rows": 20, "error_percent": {"as it is": 25.04}}
        ],
        "mean_percent": {"as it is": 25.04},
    }
    page = ablation_page(figures, "Made by hand.")
    assert "| x86 x ncnn | 4 | 20 | 25.0 |" in page
    assert "| mean | | | 25.0 |" in page
