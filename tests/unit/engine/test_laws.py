"""Laws of physics that no estimate breaks, whatever it has learned.

They compare predictions at equal evidence: most of them on the shipped engine without its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ctm_research.evaluation.judge.better_devices import better_pairs
from ctm_research.evaluation.judge.equal_operators import equal_operators, without_last
from ctm_research.evaluation.judge.varied_facts import RATE, SIZE, UNUSED, variants
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision, Target
from predictor.engine.run_graphs import parts_of
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.scaling import at_batch
from tests.support.estimates import (
    blind_engine,
    every_target,
    samples,
    shipped_engine,
)
from tests.support.explanations import explanation_of
from tests.support.graphs import make_graph
from tests.support.laws import (
    EXACT,
    OF_THE_BOUND,
    VariedTable,
    assert_bounded,
    assert_lawful,
    assert_lawful_at_equal_evidence,
    assert_no_fact_breaks_a_law,
    assert_only_the_bound_moves,
    kind_of,
    one_of_each_kind,
    varied_table,
)
from tests.support.random_graphs import graphs, operators

pytestmark = pytest.mark.slow

# Facts of a core, or of all of them alike; the others are sums over the cores.
OF_A_CORE = {"clock_mhz", "fp32_au_per_core", "l1_kb_per_core", "process_nm"}
unhurried = settings(deadline=None, max_examples=25)
# Of numbers of the network, in single precision through its layers: a row's place may count.
SINGLE = 1e-5
ROUNDED = 1e-6
WITHOUT_WORK = OperatorFlag.VIEW | OperatorFlag.FUSED


@cache
def targets_of_each_kind() -> tuple[Target, ...]:
    """Return the configurations of one device of each kind; research checks all devices."""
    return tuple(
        Target(device, configuration)
        for device in one_of_each_kind()
        for configuration in device.configurations
    )


@cache
def of_each_kind() -> VariedTable:
    """Return the sample networks on these targets and on their variants."""
    return varied_table(targets_of_each_kind())


# --- 1: facts ---


def test_no_fact_of_any_kind_of_device_breaks_a_law() -> None:
    assert_no_fact_breaks_a_law(of_each_kind())
    kinds = [kind_of(variant) for variant in of_each_kind()[2]]
    assert min(kinds.count(kind) for kind in (RATE, SIZE, UNUSED)) > 1000


def test_nor_does_one_on_the_shipped_engine_at_equal_evidence() -> None:
    assert_lawful_at_equal_evidence(one_of_each_kind(), 2000)


def test_nor_does_one_where_some_of_the_cores_run() -> None:
    plain = [
        replace(target, configuration=replace(target.configuration, threads=threads))
        for target in every_target()
        for threads in (1, 3, 5)
        # Where the small cores alone have fast kernels for INT8, more big ones must not hinder.
        if target.device.clusters and target.configuration.precision is Precision.INT8
    ]
    varied = [(place, each) for place, target in enumerate(plain) for each in variants(target)]
    every = [*plain, *(each.target for _, each in varied)]
    latency_ms = blind_engine().predict([samples()["yolov3-tiny-416"]], every, {}).latency_ms
    known = np.isfinite(latency_ms[0, : len(plain)])[[place for place, _ in varied]]

    ratio = latency_ms[:, len(plain) :] / latency_ms[:, [place for place, _ in varied]]

    assert known.sum() > 2000
    assert_lawful(
        ratio[:, known],
        [each for (_, each), is_known in zip(varied, known, strict=True) if is_known],
    )


def test_of_one_architecture_a_device_as_good_in_each_fact_is_never_slower() -> None:
    table = blind_engine().predict(list(samples().values()), every_target(), {})
    pairs = np.array(list(better_pairs(every_target())))
    better, other = table.latency_ms[:, pairs[:, 0]], table.latency_ms[:, pairs[:, 1]]
    known = np.isfinite(better) & np.isfinite(other)

    assert known.sum() > 10_000
    slower = known & (better > other * (1 + EXACT))
    assert not slower.any(), [
        [str(every_target()[place].id) for place in pairs[column]]
        for column in np.flatnonzero(slower.any(axis=0))[:5]
    ]


@pytest.mark.parametrize(
    ("fact", "precision"),
    [
        ("int8_tops", Precision.FP32),
        ("int8_tops", Precision.FP16),
        ("bf16_tflops", Precision.INT8),
        ("tf32_tflops", Precision.FP16),
        ("tdp_w", Precision.FP32),
        ("process_nm", Precision.FP32),
    ],
)
def test_a_fact_that_a_run_has_no_use_for_changes_nothing_by_any_factor(
    fact: str, precision: Precision
) -> None:
    before = [
        target
        for target in every_target()
        if target.configuration.precision is precision
        and {fact, "fp32_tflops"} <= target.device.metrics.keys()
        # The power of a card limits its clock.
        and (fact not in {"tdp_w", "process_nm"} or target.device.family is not Family.GPU)
    ]
    after = [
        replace(
            target,
            device=replace(
                target.device,
                metrics={**target.device.metrics, fact: target.device.metrics[fact] * factor},
            ),
        )
        for factor in (0.01, 100.0)
        for target in before
    ]

    plain, low, high = np.split(
        blind_engine().predict([samples()["yolov3-tiny-416"]], before + after, {}).latency_ms[0], 3
    )

    assert np.isfinite(plain).sum() > 10
    assert np.array_equal(plain, low, equal_nan=True)
    assert np.array_equal(plain, high, equal_nan=True)


@pytest.mark.parametrize("fact", OF_THE_BOUND)
def test_what_only_the_bound_reads_moves_only_the_bound(fact: str) -> None:
    # In TF32 run few kinds of devices that state it.
    assert_only_the_bound_moves(of_each_kind(), fact, 15)


RATES = st.floats(0.01, 1000.0)
NUMBERS = st.floats(1.0, 1e5)
UNITS = st.fixed_dictionaries(
    {"fp32_tflops": RATES},
    optional={
        **dict.fromkeys(("fp16_tflops", "bf16_tflops", "tf32_tflops", "int8_tops"), RATES),
        **dict.fromkeys(("dram_bw_gbps", "l2_kb", "llc_kb", "dram_gb", "tdp_w"), NUMBERS),
        "process_nm": st.floats(2, 40),
        "clock_mhz": st.floats(100, 3000),
        "core_count": st.integers(1, 200).map(float),
        "fp32_au_per_core": st.sampled_from([1.0, 64.0, 128.0]),
    },
)
CORES = st.fixed_dictionaries(
    {"clock_mhz": st.floats(100, 5000), "core_count": st.integers(1, 64).map(float)},
    optional={
        **dict.fromkeys(("fp32_tflops", "int8_tops"), RATES),
        **dict.fromkeys(("dram_bw_gbps", "l1_kb_per_core", "l2_kb", "llc_kb", "tdp_w"), NUMBERS),
        "fp32_au_per_core": st.sampled_from([1.0, 4.0, 16.0]),
    },
)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Cluster, ...]:
    """Draw kinds of cores in any order."""
    designs = st.sampled_from(["", "cortex-a76", "cortex-a75", "cortex-a55", "cortex-x1"])
    return tuple(
        Cluster(
            name=f"Kind {place}",
            cores=draw(st.integers(1, 8)),
            clock_mhz=draw(st.floats(500, 4000)),
            fp32_au_per_core=draw(st.sampled_from([None, 4.0, 8.0])),
            architecture=draw(designs),
        )
        for place in range(draw(st.integers(0, 3)))
    )


@st.composite
def targets(draw: st.DrawFn) -> Target:
    """Draw a target of a device that nobody has heard of."""
    family = draw(
        st.sampled_from([Family.CPU, Family.MOBILE_CPU, Family.GPU, Family.MOBILE_GPU, Family.NPU])
    )
    is_cpu = family in {Family.CPU, Family.MOBILE_CPU}
    designs = ["", "zen-2", "cortex-a76", "haswell"] if is_cpu else ["", "ampere-ga10x", "turing"]
    kinds = draw(clusters()) if family is Family.MOBILE_CPU else ()
    metrics = draw(CORES if is_cpu else UNITS)
    if kinds:
        metrics["core_count"] = float(sum(each.cores for each in kinds))
    runtime = draw(st.sampled_from(["onnxruntime", "pytorch", "ncnn", "tflite", "tensorrt", "new"]))
    device = Device(
        id="made-up",
        name="Made Up 1",
        vendor=draw(st.sampled_from(["", "NVIDIA"])),
        family=family,
        metrics=metrics,
        configurations=tuple(Configuration(runtime, each) for each in Precision),
        clusters=kinds,
        architecture=draw(st.sampled_from(designs)),
    )
    precision = draw(st.sampled_from(list(Precision)))
    threads = draw(st.integers(0, int(metrics["core_count"]))) if is_cpu else 0
    return Target(device, Configuration(runtime, precision, threads))


@unhurried
@given(targets(), st.lists(graphs(), min_size=1, max_size=3))
def test_no_fact_of_a_device_that_nobody_has_heard_of_breaks_a_law(
    target: Target, networks: list[OperatorGraph]
) -> None:
    # A graph of integers runs in INT8 whatever is requested.
    integers = any(graph.has_flag(OperatorFlag.QUANTISED).any() for graph in networks)
    varied = [
        each
        for each in variants(target)
        if not (integers and each.kind == UNUSED and each.fact == "int8_tops")
    ]

    table = blind_engine().predict(networks, [target, *(each.target for each in varied)], {})

    plain, changed = table.latency_ms[:, :1], table.latency_ms[:, 1:]
    assert (np.isfinite(changed) == np.isfinite(plain)).all()
    takes_time = (plain > 0)[:, 0]  # a graph of views alone takes none
    assert_lawful(changed[takes_time] / plain[takes_time], varied)
    bounded = np.isfinite(table.latency_ms) & np.isfinite(table.bound_ms)
    assert (table.low95_ms >= table.bound_ms)[bounded].all()


@unhurried
@given(targets(), st.lists(graphs(), min_size=1, max_size=3), st.data())
def test_a_device_that_is_better_in_several_facts_is_never_slower(
    target: Target, networks: list[OperatorGraph], data: st.DataObject
) -> None:
    factor = st.sampled_from([1, 2, 5])
    device = target.device
    cores = data.draw(factor)
    # More cores that do no more together are weaker ones, which a fixed number of threads shows.
    of_facts = {
        name: data.draw(factor) * (1 if name in OF_A_CORE else cores) for name in device.metrics
    } | {"core_count": cores}
    better = replace(
        device,
        metrics={
            # Of a process the finer is the better.
            name: value / of_facts[name] if name == "process_nm" else value * of_facts[name]
            for name, value in device.metrics.items()
        },
        clusters=tuple(
            replace(each, cores=each.cores * cores, clock_mhz=each.clock_mhz * data.draw(factor))
            for each in device.clusters
        ),
    )

    table = blind_engine().predict(networks, [target, replace(target, device=better)], {})

    known = np.isfinite(table.latency_ms[:, 0])
    assert (table.latency_ms[:, 1] <= table.latency_ms[:, 0] * (1 + EXACT))[known].all()


# --- 2: the bound ---


def test_nothing_is_faster_than_its_bound() -> None:
    assert_bounded(of_each_kind()[0], 25_000)


# --- 3: equal operators ---


@pytest.mark.parametrize("name", ["distilbert-base", "mobilenetv2-1.0-224"])
def test_equal_operators_of_a_network_cost_the_same(name: str) -> None:
    graph = samples()[name]
    groups = equal_operators(graph)
    assert groups
    chosen = every_target()[:: len(every_target()) // 60]
    table = shipped_engine().predict([graph], chosen, {})

    for place in np.flatnonzero(np.isfinite(table.latency_ms[0])).tolist():
        latency_ms = explanation_of(shipped_engine(), graph, chosen[place]).latency_ms
        for group in groups:
            assert latency_ms[group] == pytest.approx(latency_ms[group[0]], rel=SINGLE)


@unhurried
@given(targets(), st.lists(operators(), min_size=1, max_size=4), st.integers(2, 4))
def test_a_network_of_equal_parts_takes_as_long_in_each(
    target: Target, ops: list, times: int
) -> None:
    graph = make_graph(ops * times)
    if np.isnan(blind_engine().predict([graph], [target], {}).latency_ms[0, 0]):
        return

    latency_ms = explanation_of(blind_engine(), graph, target).latency_ms.reshape(times, -1)

    assert latency_ms == pytest.approx(np.tile(latency_ms[0], (times, 1)), rel=SINGLE)


# --- 4: batches and shorter networks ---


@cache
def grown() -> Mapping[str, tuple[OperatorGraph, list[OperatorGraph], OperatorGraph]]:
    """Return each sample, itself at larger batches, and without its last operator."""
    result = {}
    for name, graph in samples().items():
        shorter = without_last(graph)
        assert shorter is not None
        result[name] = (graph, [at_batch(graph, factor) for factor in (2, 3, 8, 64)], shorter)
    return result


_OF_LAST_OPERATOR = 0.01  # decision 0028


@pytest.mark.parametrize("make", [blind_engine, shipped_engine])
@pytest.mark.parametrize("name", list(samples()))
def test_no_listed_target_is_faster_with_a_larger_batch_or_more_operators(
    name: str, make: object
) -> None:
    graph, batches, shorter = grown()[name]
    table = make().predict([shorter, graph, *batches], every_target(), {})  # type: ignore[operator]
    checked = np.isfinite(table.latency_ms[1])

    assert checked.sum() > 3500
    latency_ms = table.latency_ms[:, checked]
    # What a microcontroller does not hold at one batch it does not hold at a larger one.
    fits = np.isfinite(latency_ms)
    assert (np.diff(fits[1:].astype(int), axis=0) <= 0).all()
    both = fits[:-1] & fits[1:]
    # Where its silicon was measured a network deviates a little less without its last operator.
    slack = np.full((len(latency_ms) - 1, 1), ROUNDED)
    slack[0] = _OF_LAST_OPERATOR if make is shipped_engine else ROUNDED
    assert (np.diff(latency_ms, axis=0) >= -slack * latency_ms[:-1])[both].all()
    assert (latency_ms[2:] < latency_ms[1] * 65)[fits[2:]].all()


@unhurried
@given(targets(), graphs(), st.integers(2, 64))
def test_a_larger_batch_is_never_faster(target: Target, graph: OperatorGraph, factor: int) -> None:
    table = blind_engine().predict([graph, at_batch(graph, factor)], [target], {})

    one, many = table.latency_ms[:, 0]
    assert np.isnan(one) or one <= many * (1 + EXACT)


@unhurried
@given(targets(), st.lists(operators(), min_size=2, max_size=6))
def test_a_chain_without_its_last_operator_is_never_slower(target: Target, ops: list) -> None:
    # Without its only half, or its only product of integers, a graph is a file of another type.
    alike = [replace(op, dtype=ops[0].dtype) for op in ops]
    graph, chain = make_graph(alike), make_graph(alike[:-1])
    assume((parts_of(graph) is None) == (parts_of(chain) is None))
    assume(any(not op.flags & WITHOUT_WORK for op in alike[:-1]))
    table = blind_engine().predict([graph, chain], [target], {})

    whole, shorter = table.latency_ms[:, 0]
    # Another number of rows is rounded anew.
    assert np.isnan(whole) or shorter <= whole * (1 + SINGLE)
