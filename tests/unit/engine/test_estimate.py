"""The estimate of hardware of which little or nothing was measured."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from predictor.calibration.efficiencies import groups_of
from predictor.calibration.evidence import Evidence
from predictor.calibration.network_deviations import NetworkDeviations, Products
from predictor.calibration.target_fit import PARTS, TargetFit
from predictor.calibration.unknowns import widening
from predictor.core.metrics import Family
from predictor.core.records import Basis, Configuration, Device, Precision, Target
from predictor.cost.engine import PredictionTable, TargetMeasurements
from predictor.cost.operator_kinds import KIND, kinds_of
from predictor.cost.physics import TERMS
from predictor.engine import estimate as estimate_module
from predictor.engine import operator_factors
from predictor.engine.checkpoint import ESTIMATE
from predictor.engine.estimate import RATES, Estimate
from predictor.engine.estimate_file import read_estimate
from predictor.engine.float_runs import keys_of
from predictor.engine.target_estimates import TargetEstimates
from predictor.engine.track import tracks_of
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.features import exact_features, scale_free
from tests.support.estimates import (
    CLASS,
    LEVEL,
    MEASURED,
    NEAR,
    PROBED,
    SCALES,
    SHIPPED,
    blind_engine,
    every_target,
    evidence_of,
    other_device,
    samples,
    shipped_engine,
    small_estimate,
)
from tests.support.explanations import explanation_of
from tests.support.graphs import VIEW, Op, make_graph, make_target
from tests.support.operator_factors import random_factors
from tests.support.random_graphs import graphs
from tests.support.tiny_engine import tiny_engine

pytestmark = pytest.mark.slow

unhurried = settings(deadline=None, max_examples=25)
# 10^12 multiply-accumulates and 10^11 bytes a second: a millisecond of each, one of a launch in us.
GRAPH = make_graph([Op(macs=10**9, read=10**8), Op(read=10**7, written=10**7), Op(flags=VIEW)])
TARGET = make_target(runtime="tensorrt")  # terms add up
EAGER = make_target(runtime="pytorch")  # starts and work overlap
ONE_MS = np.array([1.0])


def at(target: Target, **changes: object) -> Target:
    return replace(target, configuration=replace(target.configuration, **changes))  # type: ignore[arg-type]


# --- Times ---


def latency_ms(estimate: Estimate, graph: OperatorGraph, asked: Sequence[Target]) -> np.ndarray:
    return estimate.predict(graph, estimate.of(asked)).latency_ms


def test_a_latency_is_the_work_over_the_rates_times_the_factors() -> None:
    """Arithmetic 1 ms, memory 1 and 0.2 ms, a launch 0.001 ms each, a block 256 / 1e10 s.

    The factors are 2, 3, 4 and 1.
    """
    estimate = small_estimate()
    estimates = estimate.of([TARGET])

    terms = estimate.operator_ms(GRAPH, estimates)

    block = 256 / 1e10 * 1e3
    assert terms[:2] == pytest.approx(np.array([[2, block, 3, 0.004], [0, 0, 0.6, 0.004]]))
    assert terms[2].tolist() == [0, 0, 0, 0]  # a view
    assert latency_ms(estimate, GRAPH, [TARGET]) == pytest.approx([5.608 + block])


def test_the_deviation_is_that_of_level_shape_and_network() -> None:
    """One part alone: a level of 0.31 and more, a shape of 3 x 0.09, a network of 0.0225.

    One rate of the target is not stated, which widens the level.

    The memory of two kinds of operators, 3 to 1: their term is shared by all of the time, their
    kinds and pairs are not: 0.09 x (1 + 2 x 10 / 16).
    """
    one = make_graph([Op(read=10**10)])
    two = make_graph([Op(read=3 * 10**11), Op(macs=1, read=10**11)])
    estimate = small_estimate()
    level = LEVEL * widening(np.array([1]))[0] ** 2

    first, second = (estimate.predict(graph, estimate.of([TARGET])) for graph in (one, two))

    assert first.deviation == pytest.approx([np.sqrt(level + 0.27 + 0.0225)], rel=1e-4)
    assert second.deviation == pytest.approx([np.sqrt(level + 0.09 * 2.25 + 0.0225)], rel=1e-4)
    # The level and what both have of the term and of a kind; the error of a network is its own.
    shared = level + 0.09 * (1 + 0.75 + 0.75)
    both = float(first.deviation[0] * second.deviation[0])
    assert first.shared[0] @ second.shared[0] == pytest.approx(shared / both, rel=1e-4)
    assert first.shared[0] @ first.shared[0] == pytest.approx(
        1 - 0.0225 / first.deviation[0] ** 2, rel=1e-6
    )


def test_some_of_the_targets_are_what_they_are_among_all() -> None:
    published, probed = other_device("published"), other_device("probed")
    targets = [TARGET, published, probed, EAGER]
    estimate = replace(
        small_estimate(evidence_of([published], [0.4], [5])), operators=random_factors()
    )
    known = estimate.of(targets, [estimate.fitted(probed, [GRAPH], ONE_MS)])
    places = np.array([2, 0, 3])

    some = known.take(places)

    whole, part = (estimate.predict(GRAPH, each) for each in (known, some))
    assert part.latency_ms == pytest.approx(whole.latency_ms[places])
    assert part.deviation == pytest.approx(whole.deviation[places])
    np.testing.assert_allclose(part.shared, whole.shared[places])
    assert list(some.fits) == [0]
    for name in ("targets", "evidence", "doubts", "class_chips"):
        assert list(getattr(some, name)) == [getattr(known, name)[place] for place in places]
    for name in ("usual", "factors", "ahead", "context", "variance", "unknown"):
        np.testing.assert_array_equal(getattr(some, name), getattr(known, name)[places])
    np.testing.assert_array_equal(some.wide, known.wide[:, places])


def test_a_level_shifts_all_terms_alike() -> None:
    """The measured target is the asked one: a gain of 0.31 / (0.31 + 0.25 / 5) = 0.31 / 0.36."""
    plain = small_estimate()
    estimate = small_estimate(evidence_of([TARGET], [0.9], [5]))

    before, after = (each.operator_ms(GRAPH, each.of([TARGET])) for each in (plain, estimate))

    assert after == pytest.approx(before * np.exp(0.9 * 0.31 / 0.36))
    known = estimate.of([TARGET])
    assert known.variance == pytest.approx([0.31 - 0.31**2 / 0.36])
    assert known.unknown == pytest.approx([0.3])


def test_a_shape_shifts_its_part_alone() -> None:
    """Of another device with the chip, 0.7 of the shape is shared."""
    shape = np.zeros(PARTS)
    shape[KIND["product of activations"] * len(TERMS) + TERMS.index("memory")] = 0.9
    asked = other_device("asked", TARGET, "ampere-ga10x")
    measured = other_device("measured", TARGET, "ampere-ga10x")
    estimate = small_estimate(evidence_of([measured], [0.0], [5], shape))

    before, after = (
        each.operator_ms(GRAPH, each.of([asked])) for each in (small_estimate(), estimate)
    )

    expected = before.copy()
    expected[0, TERMS.index("memory")] *= np.exp(0.7 * 0.9)
    assert after == pytest.approx(expected)
    assert estimate.of([asked]).unknown == pytest.approx([0.6])


def test_factors_of_operators_are_on_their_terms() -> None:
    plain, estimate = small_estimate(), replace(small_estimate(), operators=random_factors())

    before, after = (each.operator_ms(GRAPH, each.of([TARGET])) for each in (plain, estimate))

    states = estimate.operators.states(
        scale_free(exact_features(GRAPH)), GRAPH.op_code, kinds_of(GRAPH)
    )
    _, in_full = estimate.operators.contexts([TARGET], np.ones(1))
    factors = np.sqrt(estimate.operators.factors(states, in_full)[0])  # by half: nothing is near
    assert after == pytest.approx(before * factors)
    runs = before[:, TERMS.index("memory")] > 0
    ratios = (after / np.maximum(before, 1e-12))[runs]
    assert np.abs(np.log(ratios[:, TERMS.index("memory")])).max() > 0.01
    assert after.sum() == pytest.approx(latency_ms(estimate, GRAPH, [TARGET])[0])


@unhurried
@given(graphs())
def test_the_latency_is_the_sum_of_the_times_of_the_operators(graph: OperatorGraph) -> None:
    estimate = replace(small_estimate(), operators=random_factors())
    targets = [TARGET, at(TARGET, precision=Precision.INT8)]
    whole = latency_ms(estimate, graph, targets)

    for place, target in enumerate(targets):
        parts = estimate.operator_ms(graph, estimate.of([target]))
        assert parts.sum() == pytest.approx(whole[place], rel=1e-9)
        assert parts.shape == (len(graph), len(TERMS))


@unhurried
@given(graphs(), st.data())
def test_a_share_is_a_part_of_the_latency(graph: OperatorGraph, data: st.DataObject) -> None:
    estimate = replace(small_estimate(), operators=random_factors())
    estimates = estimate.of([TARGET])
    parts = estimate.operator_ms(graph, estimates).sum(axis=1)
    assume(parts.sum() > 1e-9)
    places = st.lists(st.integers(0, len(graph) - 1), unique=True)
    chosen = np.array(data.draw(places), np.int64)

    share = estimate.share(graph, estimates, chosen)

    assert share.shape == (1,)
    assert share[0] == pytest.approx(parts[chosen].sum() / parts.sum(), rel=1e-6)
    assert estimate.share(graph, estimates, np.arange(len(graph)))[0] == pytest.approx(1.0)


def test_blocks_do_not_change_a_bit_of_a_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual block of states holds dozens of contexts of this graph, the small ones one each."""
    targets = every_target()[:: len(every_target()) // 40]
    graph = samples()["mobilenetv2-1.0-224"]
    rare = replace(graph, op_types=("Mystery",) * len(graph))

    def tables() -> list[PredictionTable]:
        # Copies: what an engine knows of a graph it does not compute again.
        return [shipped_engine().predict([replace(g)], targets, {}) for g in (graph, rare)]

    usual = tables()
    monkeypatch.setattr(operator_factors, "_BLOCK_CELLS", 1)
    monkeypatch.setattr(estimate_module, "_BLOCK_CELLS", 1)
    for before, after in zip(usual, tables(), strict=True):
        assert before.out_of_distribution == after.out_of_distribution
        for name in ("latency_ms", "low95_ms", "high80_ms", "shared_error"):
            assert getattr(before, name).tobytes() == getattr(after, name).tobytes()


def test_factors_of_a_large_graph_are_never_all_in_memory() -> None:
    """20 000 operators with 64 states each in some 80 contexts would be 400 MB."""
    graph = make_graph([Op(macs=10**6, read=10**4)] * 20_000)
    engine = shipped_engine()
    engine.predict([make_graph([Op(macs=1)])], every_target(), {})

    tracemalloc.start()
    try:
        engine.predict([graph], every_target(), {})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 80e6


def test_targets_are_estimated_alone_as_together() -> None:
    targets = every_target()[:: len(every_target()) // 40]
    graph = samples()["yolov3-tiny-416"]

    together = blind_engine().predict([graph], targets, {})
    alone = [blind_engine().predict([graph], [target], {}) for target in targets]

    for name in ("latency_ms", "low95_ms", "high80_ms"):
        ours = np.concatenate([getattr(each, name)[0] for each in alone])
        assert ours == pytest.approx(getattr(together, name)[0], rel=1e-6, nan_ok=True)


# --- Explanations ---


@pytest.mark.parametrize("bound_ms", [np.nan, 0.0, 1.0, 50.0])
def test_an_explanation_sums_to_the_latency_or_the_bound(bound_ms: float) -> None:
    estimate = small_estimate()
    estimates = estimate.of([TARGET])

    explained = estimate.explain(GRAPH, estimates, bound_ms)

    whole_ms = float(latency_ms(estimate, GRAPH, [TARGET])[0])
    assert explained.latency_ms.sum() == pytest.approx(np.fmax(whole_ms, bound_ms))
    parts = explained.compute_ms + explained.memory_ms + explained.launch_ms
    assert explained.latency_ms == pytest.approx(parts)
    assert explained.bound_type.tolist() == [2, 2, 0]  # memory, memory, and a view of no time


@pytest.mark.parametrize("ops", [[Op(flags=VIEW)], [Op(flags=VIEW)] * 3])
def test_views_alone_take_a_little_time_and_are_explained(ops: list[Op]) -> None:
    estimate = small_estimate()
    graph, known = make_graph(ops), estimate.of([TARGET])

    explained = estimate.explain(graph, known, 0.0)

    assert explained.latency_ms.sum() == pytest.approx(latency_ms(estimate, graph, [TARGET])[0])
    assert explained.latency_ms[0] > 0
    assert explained.latency_ms == pytest.approx(np.full(len(ops), explained.latency_ms[0]))
    assert explained.attention is not None
    launch = RATES.index("launch")
    assert (explained.attention.operator_to_metric[:, launch] == 1.0).all()


@unhurried
@given(graphs())
def test_attention_sums_to_one_both_ways(graph: OperatorGraph) -> None:
    estimate = small_estimate()

    attention = estimate.explain(graph, estimate.of([TARGET]), np.nan).attention

    assert attention is not None
    assert attention.metrics == RATES
    assert attention.operator_to_metric.shape == (len(graph), len(RATES))
    assert attention.metric_to_operator.shape == (len(RATES), len(graph))
    for part in (attention.operator_to_metric, attention.metric_to_operator):
        assert part.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
        assert (part >= 0).all()


def test_learned_factors_are_those_that_the_times_have() -> None:
    """Without factors of operators each term is what is left when the learned one is taken out."""
    learned, plain = replace(small_estimate(), operators=random_factors()), small_estimate()
    graph = samples()["mobilenetv2-1.0-224"]

    explained = learned.explain(graph, learned.of([TARGET]), np.nan)

    maps = explained.attention
    assert maps is not None
    assert maps.learned is not None
    assert maps.network == 1.0
    terms = explained.latency_ms[:, None] * maps.operator_to_metric / maps.learned
    assert terms == pytest.approx(plain.operator_ms(graph, plain.of([TARGET])), rel=1e-4, abs=1e-9)
    assert np.ptp(maps.learned) > 0.1


CHANGED = {
    "matrix_rate": ("convolution", "matrix", "vector"),  # all are rates of arithmetic
    "unit_rate": ("unit",),
    "bandwidth": ("bandwidth",),
    "launch": ("launch_s",),
}


@pytest.mark.parametrize("name", RATES)
def test_attention_is_minus_the_elasticity_of_the_time_to_the_rate(name: str) -> None:
    estimate = replace(small_estimate(), operators=random_factors())
    graph = samples()["mobilenetv2-1.0-224"]
    estimates = estimate.of([TARGET])
    attention = estimate.explain(graph, estimates, np.nan).attention
    assert attention is not None
    more = 1.0001
    rates = {
        each: getattr(estimates.rates, each) * (1 / more if each == "launch_s" else more)
        for each in CHANGED[name]
    }
    changed = replace(estimates, rates=replace(estimates.rates, **rates))

    before, after = (estimate.operator_ms(graph, each).sum(axis=1) for each in (estimates, changed))

    runs = before > 0
    elasticity = np.log(after[runs] / before[runs]) / np.log(more)
    ours = attention.operator_to_metric[runs, RATES.index(name)]
    assert ours == pytest.approx(-elasticity, abs=1e-3)
    assert ours.max() > 0.01


def test_starts_and_work_of_an_eager_framework_overlap() -> None:
    """Parts of 5.6 ms of work and 8 ms of starts that add up to 13.6 take the root of both."""
    graph = make_graph([Op(macs=10**9, read=10**8), *[Op(read=1) for _ in range(2000)]])
    estimate = small_estimate()
    estimates = estimate.of([EAGER])
    parts = estimate.operator_ms(graph, estimate.of([TARGET])).sum(axis=0)

    terms = estimate.operator_ms(graph, estimates)

    whole = np.hypot(parts[:3].sum(), parts[3])
    assert latency_ms(estimate, graph, [EAGER]) == pytest.approx([whole])
    assert terms.sum() == pytest.approx(whole)
    assert terms.sum(axis=0)[3] == pytest.approx(parts[3] ** 2 / whole)


@pytest.mark.parametrize("name", RATES)
def test_attention_sums_to_the_elasticity_of_the_whole_where_starts_overlap(name: str) -> None:
    estimate = replace(small_estimate(), operators=random_factors())
    graph = samples()["mobilenetv2-1.0-224"]
    estimates = estimate.of([EAGER])
    explained = estimate.explain(graph, estimates, np.nan)
    assert explained.attention is not None
    more = 1.0001
    rates = {
        each: getattr(estimates.rates, each) * (1 / more if each == "launch_s" else more)
        for each in CHANGED[name]
    }
    changed = replace(estimates, rates=replace(estimates.rates, **rates))

    before, after = (estimate.predict(graph, each).latency_ms[0] for each in (estimates, changed))

    shares = explained.attention.operator_to_metric[:, RATES.index(name)]
    weighted = shares @ explained.latency_ms / explained.latency_ms.sum()
    assert weighted == pytest.approx(-np.log(after / before) / np.log(more), abs=1e-3)


def test_attention_of_a_shipped_target_is_the_elasticity_to_its_own_fact() -> None:
    target = next(t for t in every_target() if t.device.id == "snapdragon-8-elite-gen-5")
    rate = target.device.metrics["dram_bw_gbps"]
    faster = replace(
        target,
        device=replace(
            target.device, metrics={**target.device.metrics, "dram_bw_gbps": rate * 1.001}
        ),
    )
    graph = samples()["mobilenetv2-1.0-224"]

    before, after = (explanation_of(shipped_engine(), graph, each) for each in (target, faster))

    runs = before.latency_ms > 0
    elasticity = np.log(after.latency_ms[runs] / before.latency_ms[runs]) / np.log(1.001)
    attention = before.attention
    assert attention is not None
    ours = attention.operator_to_metric[runs, attention.metrics.index("bandwidth")]
    assert ours == pytest.approx(-elasticity, abs=2e-3)


def test_explanations_of_the_shipped_engine_sum_to_its_predictions() -> None:
    graph = samples()["mobilenetv2-1.0-224"]
    targets = every_target()[:: len(every_target()) // 60]
    table = shipped_engine().predict([graph], targets, {})

    checked = 0
    for place in np.flatnonzero(np.isfinite(table.latency_ms[0])).tolist():
        explained = explanation_of(shipped_engine(), graph, targets[place])
        assert explained.latency_ms.sum() == pytest.approx(table.latency_ms[0, place], rel=1e-6)
        checked += 1
    assert checked > 40


# --- Evidence and doubts in words ---


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        (
            other_device("twin", at(TARGET, runtime="ncnn"), "cortex-a76"),
            (
                "from twin, which has the same chip or cores (ncnn; 1 network); "
                "checked on 1 chip of any kind: median error 10 %"
            ),
        ),
        (
            other_device("made-up", at(TARGET, precision=Precision.INT8), "cortex-a76"),
            (
                "from this device under tensorrt int8 (1 network); "
                "checked on 1 chip of any kind: median error 10 %"
            ),
        ),
        (
            other_device("made-up", TARGET, "cortex-a76"),
            (
                "from 1 network measured on this device; "
                "checked on 9 chips of any kind: median error 8 %"
            ),
        ),
        (
            other_device("twin", TARGET, "cortex-a53"),
            (
                "not measured here: a rate of it is not stated; "
                "checked on 12 chips of this kind: median error 21.4 %"
            ),
        ),
    ],
)
def test_words_of_evidence(measured: Target, words: str) -> None:
    asked = other_device("made-up", TARGET, "cortex-a76")
    estimate = small_estimate(evidence_of([measured], [0.1], [1]))

    assert estimate.of([asked]).evidence == [words]


@pytest.mark.parametrize(
    ("threads", "words"), [(1, "1 thread"), (3, "3 threads"), (4, "all cores")]
)
def test_words_of_evidence_count_threads_and_networks(threads: int, words: str) -> None:
    board = make_target(
        {"core_count": 4.0, "clock_mhz": 1000.0}, family=Family.CPU, runtime="ncnn", threads=2
    )
    estimate = small_estimate(evidence_of([at(board, threads=threads)], [0.1], [7]))

    [text] = estimate.of([board]).evidence

    assert text.startswith(f"from this device under ncnn, {words} (7 networks); ")


def test_a_group_without_a_record_of_its_own_has_that_of_a_coarser_one() -> None:
    estimate = small_estimate()
    runs = [TARGET, at(TARGET, runtime="ncnn")]

    tracks = [tracks_of(estimate.tracks, groups_of(target))["unseen"] for target in runs]

    assert [(level, track.silicon) for level, track in tracks] == [("class", 12), ("all", 40)]
    assert tracks_of(estimate.tracks, groups_of(TARGET))["near"] == ("all", NEAR)
    assert tracks_of(estimate.tracks, groups_of(TARGET))["measured 3"] == ("all", MEASURED)
    assert tracks_of(estimate.tracks, groups_of(TARGET))["probed 12"] == ("all", PROBED)


@pytest.mark.parametrize(
    ("runtime", "is_near", "doubt"),
    [
        ("tensorrt", False, ""),
        ("ncnn", False, "few chips of this kind were checked under ncnn"),
        # Of another precision: that is no record of the class.
        ("ncnn", True, "few chips of this kind were checked under ncnn"),
        ("new-one", False, "low confidence: no training device used new-one"),
        ("new-one", True, "low confidence: no training device used new-one"),
    ],
)
def test_doubts(runtime: str, is_near: bool, doubt: str) -> None:
    target = at(TARGET, runtime=runtime)
    measured = [at(target, precision=Precision.INT8)] if is_near else []
    estimate = small_estimate(evidence_of(measured, [0.1] * is_near, [5] * is_near))

    assert estimate.of([target]).doubts == [doubt]


def test_chips_of_a_class_count_where_nothing_was_measured_there() -> None:
    others = [TARGET, at(TARGET, runtime="ncnn")]
    assert small_estimate().of(others).class_chips == [12, 0]

    known = small_estimate(evidence_of(others[1:], [0.1], [5])).of(others)
    assert known.class_chips == [12, None]
    assert known.doubts[1] == ""


@pytest.mark.parametrize(("family", "is_twin"), [(Family.NPU, True), (Family.MOBILE_GPU, False)])
@pytest.mark.parametrize("rate", [1.0, 1.5])
def test_only_an_accelerator_has_a_twin(family: Family, rate: float, is_twin: bool) -> None:
    """A twin shares all of 0.31; another device with the chip 0.25."""
    measured, asked = (
        Target(
            replace(other_device(name, TARGET, "hexagon-v75").device, family=family),
            TARGET.configuration,
        )
        for name in ("measured", "asked")
    )
    estimate = small_estimate(evidence_of([measured], [0.1], [5]))
    asked = replace(asked, device=replace(asked.device, metrics={"fp32_tflops": 2.0 * rate}))

    known = estimate.of([asked])

    covariance = 0.31 if is_twin else 0.25
    assert known.factors / known.usual == pytest.approx(
        np.full(known.usual.shape, np.exp(0.1 * covariance / 0.36))
    )
    assert known.variance == pytest.approx([0.31 - covariance**2 / 0.36])
    # In words and in its record it is another device with the chip all the same; but it is no surer
    # than the one that stands for it.
    assert known.evidence[0].startswith("from measured, which has the same chip or cores (tensorrt")
    width = MEASURED if is_twin else NEAR
    assert known.wide[:, 0].tolist() == [width.wide80, width.wide95]
    assert not any(estimate.have_measured([asked]))


@pytest.mark.parametrize("precision", [Precision.FP16, Precision.FP32])
def test_ncnn_is_asked_as_it_was_published(precision: Precision) -> None:
    """ncnn computes in halves where it can, whatever the network's format."""
    target = at(TARGET, runtime="ncnn", precision=Precision.FP32)
    estimate = small_estimate(evidence_of([target], [0.5], [5]))

    asked = at(target, precision=precision)

    assert estimate.have_measured([asked, at(asked, precision=Precision.INT8)]) == [True, False]
    [text] = estimate.of([asked]).evidence
    assert text.startswith("from 5 networks measured on this device; ")


# --- Intervals ---


def test_intervals_are_as_wide_as_the_record_of_the_setting() -> None:
    near = at(TARGET, precision=Precision.INT8)
    settings_of = {
        CLASS: small_estimate().of([TARGET]),
        NEAR: small_estimate(evidence_of([near], [0.0], [5])).of([TARGET]),
        MEASURED: small_estimate(evidence_of([TARGET], [0.0], [5])).of([TARGET]),
        PROBED: small_estimate().of([TARGET], [small_estimate().fitted(TARGET, [GRAPH], ONE_MS)]),
    }

    for track, estimates in settings_of.items():
        assert estimates.wide[:, 0].tolist() == [track.wide80, track.wide95]


def test_intervals_of_the_engine_are_factors_on_the_deviation() -> None:
    """Over the latency they are exp(wide times deviation), and under it by as much."""
    graph, target = samples()["mobilenetv2-1.0-224"], board("mine")
    estimate = read_estimate(SHIPPED / ESTIMATE)
    evidence = estimate.evidence
    nothing = Evidence.nothing(evidence.scales, evidence.covariance)
    estimate = replace(estimate, evidence=nothing)
    estimates = estimate.of([target])
    deviation = estimate.predict(graph, estimates).deviation

    table = blind_engine().predict([graph], [target], {})

    for place, edge in enumerate((table.high80_ms, table.high95_ms)):
        apart = np.exp(estimates.wide[place] * deviation)
        assert edge[0] / table.latency_ms[0] == pytest.approx(apart)
    assert table.low80_ms[0] == pytest.approx(
        np.fmax(table.latency_ms[0] ** 2 / table.high80_ms[0], table.bound_ms[0])
    )


def test_intervals_are_ordered_and_not_under_the_bound_over_the_whole_catalogue() -> None:
    table = shipped_engine().predict(list(samples().values()), every_target(), {})
    known = np.isfinite(table.latency_ms)
    assert known.sum() > 9000

    edges = [
        table.low95_ms,
        table.low80_ms,
        table.latency_ms,
        table.high80_ms,
        table.high95_ms,
    ]
    for low, high in pairwise(edges):
        assert (low <= high)[known].all()
    bounded = known & np.isfinite(table.bound_ms)
    assert bounded.sum() > 8000
    assert (table.low95_ms >= table.bound_ms)[bounded].all()
    assert (table.high80_ms > table.latency_ms)[known].all()


def test_all_graphs_on_a_target_share_the_error_of_its_deviation() -> None:
    target = next(t for t in every_target() if t.device.id == "apple-a18-pro-cpu")
    table = shipped_engine().predict(list(samples().values())[:2], [target], {})

    assert table.shared_error is not None
    one, other = table.shared_error[:, 0]
    assert 0 < one @ other < 1
    assert (one @ other) ** 2 <= (one @ one) * (other @ other) + 1e-6
    # What is left is the error of one network alone.
    for row in (one, other):
        assert 0.5 < row @ row < 1


# --- The user's own measurements ---


def board(name: str, architecture: str = "cortex-a76") -> Target:
    metrics = {"core_count": 4.0, "clock_mhz": 2000.0, "dram_bw_gbps": 10.0}
    device = Device(
        id=name,
        name=name,
        vendor="",
        family=Family.MOBILE_CPU,
        metrics=metrics,
        configurations=tuple(Configuration(runtime) for runtime in ("tflite", "ncnn")),
        architecture=architecture,
    )
    return Target(device, Configuration("tflite", threads=4))


def measurements(target: Target, factor: float) -> TargetMeasurements:
    others = list(samples().values())[:2]
    plain = blind_engine().predict(others, [target], {}).latency_ms[:, 0]
    return TargetMeasurements(
        signature_id="own", graphs=others, latency_ms=plain * factor, noise=np.full(2, 0.01)
    )


def test_own_measurements_move_what_shares_the_silicon() -> None:
    mine = board("mine")
    other_runtime = at(mine, runtime="ncnn")
    targets = [mine, other_runtime, board("same-cores"), board("other-cores", "cortex-a53")]
    graph = samples()["yolov3-tiny-416"]

    before = blind_engine().predict([graph], targets, {})
    faster, after = (
        blind_engine().predict([graph], targets, {mine.id: measurements(mine, factor)})
        for factor in (0.5, 2.0)
    )

    # One against the other: whatever was measured, factors of operators count in full from now on.
    moved = np.log(after.latency_ms / faster.latency_ms)[0] / np.log(4.0)
    assert 0.05 < moved[2] < 1  # another device of the cores
    assert 0.05 < moved[1] < 1  # another runtime on the device
    assert moved[3] == 0.0
    width, was = (np.log(each.high80_ms / each.latency_ms)[0] for each in (after, before))
    assert width[0] < was[0]
    # Devices with the same cores differ by their memory, which the record of that case says.
    assert width[2] < 1.15 * was[2]
    words = after.facts["evidence"][0]
    assert words[0].startswith("from 2 networks that you measured; checked on ")
    assert moved[0] == pytest.approx(1.0, abs=0.1)
    assert words[1].startswith("from this device under tflite fp32, all cores (2 networks); ")
    assert words[2].startswith(
        "from mine, which has the same chip or cores (tflite fp32, all cores"
    )
    assert words[3].startswith("not measured here")


def test_own_measurements_leave_the_shipped_estimate_as_it_was() -> None:
    mine, other = board("mine"), at(board("mine"), runtime="ncnn")
    graph = samples()["yolov3-tiny-416"]
    before = blind_engine().predict([graph], [mine, other], {})

    blind_engine().predict([graph], [mine, other], {mine.id: measurements(mine, 3.0)})

    after = blind_engine().predict([graph], [mine, other], {})
    assert np.array_equal(after.latency_ms, before.latency_ms)
    assert after.facts == before.facts


def test_the_fit_to_own_measurements_starts_from_what_is_known() -> None:
    """The level is known to 0.31 - 0.31^2 / 0.36, and 0.15 more for the user's own device."""
    estimate = small_estimate(evidence_of([TARGET], [0.9], [5]))
    graph = make_graph([Op(read=10**10)])
    level = 0.9 * 0.31 / 0.36
    plain = latency_ms(small_estimate(), graph, [TARGET])
    prior = TargetFit.prior(level, 0.31 - 0.31**2 / 0.36 + 0.15**2, shape_variance=0.3)
    parts = np.zeros((1, PARTS))
    place = KIND["other"] * len(TERMS) + TERMS.index("memory")
    parts[0, [place, place + 1]] = [plain[0] - 0.004, 0.004]

    own = estimate.fitted(TARGET, [graph], plain * 3.0)

    expected = prior.measured(parts, plain * 3.0)
    assert own.networks == 1
    assert own.key == keys_of([TARGET]).targets()[0]
    assert own.fit.mean == pytest.approx(expected.mean, abs=1e-9)
    assert own.fit.covariance == pytest.approx(expected.covariance, abs=1e-9)
    assert level < own.fit.mean[0] < np.log(3.0)


def test_a_network_counts_as_like_ones_of_the_class_where_silicon_was_measured() -> None:
    """Half of the products is in common, so the deviation counts by a third."""
    graph = make_graph([Op(macs=10**9, weights=8, columns=8), Op(macs=10**9, weights=8, columns=4)])
    like = Products.of(make_graph([Op(macs=10**9, weights=8, columns=8)]))
    networks = NetworkDeviations.of([like], ["gpu x tensorrt"], np.array([[0.3]]))
    unseen = other_device("unseen")
    asked = [TARGET, unseen, at(TARGET, runtime="ncnn")]
    plain = small_estimate(evidence_of([asked[0], asked[2]], [0.0, 0.0], [5, 5]))
    estimate = replace(plain, networks=networks)

    ratio = latency_ms(estimate, graph, asked) / latency_ms(plain, graph, asked)

    assert ratio == pytest.approx([np.exp(0.3 * 0.5 / 1.5), 1.0, 1.0])
    known = estimate.of(asked)
    one = known.take(np.array([0]))
    assert estimate.operator_ms(graph, one).sum() == pytest.approx(
        estimate.predict(graph, one).latency_ms[0]
    )
    assert estimate.share(graph, known, np.array([0, 1])) == pytest.approx([1.0] * 3)
    own = estimate.fitted(unseen, [graph] * 5, latency_ms(plain, graph, [unseen]) * ratio[0])
    assert own.fit.mean == pytest.approx(np.zeros(1 + PARTS), abs=1e-9)


def test_effects_of_kinds_of_products_count_by_their_shares() -> None:
    """All products of the graph are of one kind, on which the target deviates by 0.4 in ln."""
    graph = make_graph([Op(macs=10**9, weights=8, columns=8)])
    directions = Products.of(graph).of_kinds[:, None] * [[1.0, 0.5]]
    shape = np.append(np.zeros(PARTS), [0.3, 0.2])
    covariance = np.diag(np.append(np.full(PARTS, 0.27), [0.04, 0.01]))
    evidence = replace(evidence_of([TARGET], [0.0], [5], shape), covariance=covariance)
    asked = [TARGET, other_device("unseen")]
    estimate = replace(small_estimate(evidence), directions=directions)
    plain = latency_ms(small_estimate(evidence_of([TARGET], [0.0], [5])), graph, asked)

    assert latency_ms(estimate, graph, asked) == pytest.approx(plain * [np.exp(0.4), 1.0])
    estimates = estimate.of(asked)
    one = estimates.take(np.array([0]))
    assert estimate.operator_ms(graph, one).sum() == pytest.approx(plain[0] * np.exp(0.4))
    assert estimate.explain(graph, one, 0.0).attention.network == pytest.approx(np.exp(0.4))
    views = make_graph([Op(read=10**9)])  # without products
    rest, whole = (estimate.predict(each, estimates).shared[1] for each in (views, graph))
    assert rest[-2:] == pytest.approx([0.0, 0.0])
    assert whole[-1] / whole[-2] == pytest.approx(0.5 * 0.1 / 0.2)


def test_own_measurements_tell_effects_of_kinds_of_products() -> None:
    """Networks of one kind are twice as slow as those of the other: between them is ln 2."""
    narrow, wide = (make_graph([Op(macs=10**11, weights=8, columns=at)]) for at in (4, 4096))
    kinds = np.stack([Products.of(graph).of_kinds for graph in (narrow, wide)])
    covariance = np.diag(np.append(np.full(PARTS, 1e-9), [4.0]))
    evidence = Evidence.nothing(SCALES, covariance)
    estimate = replace(small_estimate(evidence), directions=(kinds[0] - kinds[1])[:, None])
    plain = np.concatenate([latency_ms(estimate, graph, [TARGET]) for graph in (narrow, wide)])

    user_fit = estimate.fitted(TARGET, [narrow, wide] * 20, np.tile(plain * [2.0, 1.0], 20))

    assert user_fit.fit.mean[-1] == pytest.approx(np.log(2.0) / 2, rel=0.02)
    estimates = estimate.of([TARGET], [user_fit])
    after = [estimate.predict(graph, estimates).latency_ms[0] for graph in (narrow, wide)]
    assert after == pytest.approx(plain * [2.0, 1.0], rel=0.02)


@pytest.mark.parametrize("factor", [0.3, 1.0, 4.0])
def test_networks_as_measured_are_predicted_as_they_were(factor: float) -> None:
    estimate = replace(small_estimate(), operators=random_factors())
    networks = [make_graph([Op(read=10**9)]), make_graph([Op(macs=10**11)] * 2), GRAPH]
    plain = np.concatenate([latency_ms(estimate, each, [TARGET]) for each in networks])
    own = estimate.fitted(TARGET, networks * 8, np.tile(plain * factor, 8))

    known = estimate.of([TARGET], [own])

    after = [estimate.predict(each, known) for each in networks]
    assert [each.latency_ms[0] for each in after] == pytest.approx(plain * factor, rel=0.02)
    before = [estimate.predict(each, estimate.of([TARGET])) for each in networks]
    for one, other in zip(before, after, strict=True):
        assert other.deviation[0] < 0.4 * one.deviation[0]
    assert known.evidence == [
        "from 24 networks that you measured; checked on 9 chips of any kind: median error 12 %"
    ]
    assert known.doubts == [""]


def test_own_measurements_tell_the_shape_of_other_networks() -> None:
    """A target slow in memory alone is slow for what moves data, not for what computes."""
    estimate = small_estimate()
    moving, computing = make_graph([Op(read=10**10)]), make_graph([Op(macs=10**12)])
    plain = np.concatenate([latency_ms(estimate, each, [TARGET]) for each in (moving, computing)])
    own = estimate.fitted(TARGET, [moving, computing], plain * [2.5, 1.0])

    known = estimate.of([TARGET], [own])

    ratio = [
        estimate.predict(graph, known).latency_ms[0] / before
        for graph, before in zip((moving, computing), plain, strict=True)
    ]
    assert 1.8 < ratio[0] < 2.5
    assert 0.9 < ratio[1] < 1.3
    # The memory of another kind of operator is slower too.
    other = make_graph([Op(macs=1, read=10**10)])
    assert latency_ms_of(estimate, other, known) / latency_ms(estimate, other, [TARGET])[0] > 1.2


def latency_ms_of(estimate: Estimate, graph: OperatorGraph, known: TargetEstimates) -> float:
    return float(estimate.predict(graph, known).latency_ms[0])


def test_own_measurements_take_the_place_of_published_ones() -> None:
    estimate = small_estimate(evidence_of([TARGET], [0.9], [5]))
    near = at(TARGET, precision=Precision.INT8)
    graph = make_graph([Op(read=10**10)])
    plain = latency_ms(small_estimate(), graph, [TARGET])
    own = estimate.fitted(TARGET, [graph] * 50, np.tile(plain * 3.0, 50))

    known = estimate.of([near], [own])

    assert known.evidence[0].startswith("from this device under tensorrt fp32 (50 networks); ")
    # The level of the target is shared but for half of 0.01, whatever the published ones tell.
    variance = 0.15**2 / 50
    assert known.variance == pytest.approx([0.31 - 0.305**2 / (0.31 + variance)])
    assert estimate.evidence.networks.tolist() == [5]


def test_measurements_of_another_configuration_count_whatever_is_asked_beside() -> None:
    other = at(TARGET, runtime="onnxruntime")
    plain = tiny_engine().predict([GRAPH], [TARGET], {}).latency_ms[0, 0]
    slow = TargetMeasurements(
        signature_id="own",
        graphs=[GRAPH] * 3,
        latency_ms=np.full(3, 50 * plain),
        noise=np.full(3, 0.01),
    )

    alone = tiny_engine().predict([GRAPH], [TARGET], {other.id: slow})
    beside = tiny_engine().predict([GRAPH], [TARGET, other], {other.id: slow})

    assert alone.latency_ms[0, 0] == pytest.approx(beside.latency_ms[0, 0], rel=1e-9)
    assert alone.latency_ms[0, 0] > 1.2 * plain
    explained = explanation_of(tiny_engine(), GRAPH, TARGET, {other.id: slow})
    assert explained.latency_ms.sum() == pytest.approx(alone.latency_ms[0, 0], rel=1e-9)
    assert alone.basis == [[Basis.ZERO_SHOT]]
    assert beside.basis == [[Basis.ZERO_SHOT, Basis.PROBED]]


def test_measurements_of_no_graph_are_none() -> None:
    nothing = TargetMeasurements(
        signature_id="own", graphs=[], latency_ms=np.empty(0), noise=np.empty(0)
    )

    before, after = (
        tiny_engine().predict([GRAPH], [TARGET], known) for known in ({}, {TARGET.id: nothing})
    )

    assert np.array_equal(before.latency_ms, after.latency_ms)
    assert after.basis == [[Basis.ZERO_SHOT]]


def test_views_alone_have_an_interval_on_hardware_that_nobody_measured() -> None:
    graph = make_graph([Op(flags=VIEW)])
    table = tiny_engine().predict([graph], [TARGET], {})
    assert 0 < table.low80_ms[0, 0] < table.latency_ms[0, 0] < table.high80_ms[0, 0]
