"""Server beside Offline: the largest rate under a deadline, and whether a rule is nearer."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ctm_research.evaluation.throughput.of_loads import (
    concurrency,
    judged_batches,
    left_out_rule,
    loads_take_it,
)
from ctm_research.evaluation.throughput.pairs import QUERIES, Pair
from ctm_research.evaluation.throughput.served import (
    DEADLINES_MS,
    Served,
    largest_rate,
    share_figures,
)
from predictor.core.records import Precision
from predictor.services.prediction.batches import SIZES

PAIR = Pair(
    source="Offline",
    runtime="tensorrt",
    kind="gpu",
    device="it",
    silicon="it",
    network="net",
    graph=None,
    precision=Precision.INT8,
    latency_ms=2.0,
    per_s=500.0,
)


def line(device: str, offline_per_s: float, latency_ms: float = 1.0) -> Served:
    """Return a Server line of which batches bring nothing by prediction."""
    return Served(
        runtime="tensorrt",
        kind="gpu",
        device=device,
        silicon=device,
        network="resnet50",
        server_per_s=0.9 * offline_per_s,
        offline_per_s=offline_per_s,
        latency_ms=latency_ms,
        ratio=np.array(SIZES, np.float64),
    )


def test_without_batches_the_rate_is_that_of_an_m_d_1_queue() -> None:
    # Of such a queue at a load of 0.6 99 % of the jobs end within 5.53 times a job: two million of
    # them by Lindley's recursion.
    rate = largest_rate(np.array([1.0]), 5.53)
    assert rate == pytest.approx(0.6, abs=0.02)


def test_batches_reach_a_rate_that_single_runs_do_not() -> None:
    sizes = np.arange(1, 129)
    batch_s = 0.001 + 0.0001 * sizes
    alone, batches = (largest_rate(times, 0.02, 4000) for times in (batch_s[:1], batch_s))
    assert alone < 1 / batch_s[0]
    assert 5 * alone < batches < 128 / batch_s[-1]


def test_a_deadline_that_no_run_keeps_has_no_rate() -> None:
    assert largest_rate(np.array([2.0, 3.0]), 1.9) == 0.0


def test_the_share_is_of_the_queue_alone() -> None:
    # A run takes 1 / 4000 s whatever the prediction says; the deadline is 60 times that.
    (figures,) = share_figures([line("a", 4000.0), line("b", 4000.0, latency_ms=7.0)], 3000)
    assert DEADLINES_MS["resnet50"] * 4 == 60
    assert figures["devices"] == 2
    assert 0.95 < figures["predicted"] < 1.0
    assert figures["error"] == pytest.approx(figures["predicted"] / 0.9 - 1)
    assert figures["none_error"] == pytest.approx(1 / 9)


def test_a_rule_without_the_silicon_is_of_the_others() -> None:
    pairs = [
        replace(PAIR, device=f"{name}{place}", silicon=name, batch_gain=gain, per_s=500 * gain**2)
        for name in ("one", "two")
        for place, gain in enumerate((1.5, 2.0, 3.0))
    ]
    odd = [replace(p, per_s=9 * p.per_s) if p.silicon == "one" else p for p in pairs]
    rule = left_out_rule(odd, "batches", "silicon")
    assert rule("one0", "one").batches == pytest.approx(2.0)
    assert rule("two1", "two").batches > 3.0
    assert left_out_rule(odd, "batches", "device")("other", "other").batches > 2.0


def test_the_rule_is_taken_where_it_is_nearer_on_four_devices() -> None:
    queries = [
        replace(PAIR, source=QUERIES, device=f"d{i}", batch=8, batch_gain=2.0, per_s=500 * 4.0)
        for i in range(4)
    ]
    judges = judged_batches(lambda *_: concurrency({"batches": 2.0}), queries, [])
    assert judges[0]["engine"]["mean_log"] == pytest.approx(math.log(2))
    assert judges[0]["rule"]["mean_log"] == pytest.approx(0.0, abs=1e-9)
    assert loads_take_it(judges)
    assert not loads_take_it(
        judged_batches(lambda *_: concurrency({"batches": 2.0}), queries[:3], [])
    )
    worse = judged_batches(lambda *_: concurrency({"batches": 0.0}), queries, [])
    assert not loads_take_it(worse)
    # Lines of Server are a judge of each network.
    both = judged_batches(lambda *_: concurrency({"batches": 2.0}), queries, [line("d9", 900.0)])
    assert [judge["judge"] for judge in both] == [QUERIES, "Server, resnet50"]
