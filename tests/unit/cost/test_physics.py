"""Terms of the physics on operators worked out by hand, and the laws that they keep."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctm_research.evaluation.judge.term_times import completed
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Precision, Target
from predictor.cost.operator_kinds import KINDS, kinds_of
from predictor.cost.physics import TERMS, Work, matched_times, rates_of, term_times
from predictor.cost.rates.typical import Rates
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from tests.support.graphs import FUSED, VIEW, Op, make_graph, make_target
from tests.support.random_graphs import METRICS, graphs

pytestmark = pytest.mark.slow

GPU = {"fp32_tflops": 2.0, "dram_bw_gbps": 100.0, "boost_clock_mhz": 1000.0, "core_count": 8}


def times(graph: OperatorGraph, target: Target) -> dict[str, np.ndarray]:
    """Return the terms of the operators in ms, by name."""
    values = term_times(Work.of(graph), rates_of([target]))[:, 0]
    return dict(zip(TERMS, values.T, strict=True))


def test_each_term_is_its_work_over_its_rate() -> None:
    graph = make_graph([Op(macs=10**9, read=3 * 10**7, weights=10**7, written=10**7)])
    target = make_target({**GPU, "fp32_au_per_core": 128})
    of = times(graph, target)
    assert of["arithmetic"] == pytest.approx([1.0])  # 1e9 / 1e12 a second
    assert of["memory"] == pytest.approx([0.5])  # 5e7 bytes / 1e11 a second
    assert of["block"] == pytest.approx([256 / 128e9 * 1e3])  # a sum over 1, 16 x 16 outputs
    assert of["launch"] == pytest.approx([1e-3])


def test_views_and_fused_operators_cost_nothing() -> None:
    graph = make_graph([Op(), Op(read=100, flags=VIEW), Op(read=100, flags=FUSED, fused_into=0)])
    assert term_times(Work.of(graph), rates_of([make_target(GPU)]))[1:, :, 2:].sum() == 0


@pytest.mark.parametrize("count", [1, 3])
def test_a_run_of_views_alone_takes_less_than_one_start_but_some_time(count: int) -> None:
    views, one = make_graph([Op(flags=VIEW)] * count), make_graph([Op()])
    rates = rates_of([make_target(GPU)])
    of_views, of_one = (term_times(Work.of(graph), rates)[..., 3].sum() for graph in (views, one))
    assert 0 < of_views < of_one


CORES = {"clock_mhz": 1000.0, "boost_clock_mhz": 4000.0, "core_count": 4}
CORES |= {"fp32_au_per_core": 16, "dram_bw_gbps": 50.0}


def on_threads(number: int, **metrics: float) -> Rates:
    """Return the rates of a processor's threads."""
    target = make_target(
        {**CORES, **metrics}, family=Family.CPU, runtime="onnxruntime", threads=number
    )
    return rates_of([target])


def together(rate: float, alone: float) -> float:
    """Return the rate of threads that share all but a tenth of the work, which one core does."""
    return 1 / (0.1 / alone + 0.9 / rate)


def test_one_thread_runs_at_the_boost_clock_and_all_between_it_and_the_base_clock() -> None:
    """The root of 1 x 4 GHz is 2 GHz; of two threads of four one third of the way is gone."""
    alone = 4e9 * 16
    assert on_threads(1).matrix == pytest.approx([alone])
    two = 2 * (2e9 + 2 / 3 * 2e9) * 16
    assert on_threads(2).matrix == pytest.approx([together(two, alone)])
    for all_cores in (0, 4):
        assert on_threads(all_cores).matrix == pytest.approx([together(4 * 2e9 * 16, alone)])


def test_a_tenth_of_the_arithmetic_runs_on_one_core() -> None:
    """Amdahl: 1 / (0.1 + 0.9 / 16) = 6.4 times as fast on 16 cores, and never 10 times."""
    clocks = {"clock_mhz": 1000.0, "boost_clock_mhz": 1000.0, "core_count": 4096}
    alone, sixteen, all_cores = (float(on_threads(n, **clocks).matrix[0]) for n in (1, 16, 4096))

    assert sixteen / alone == pytest.approx(6.4)
    assert 9.9 < all_cores / alone < 10


@pytest.mark.parametrize(
    ("sets", "clock_mhz"), [(("sse4", "avx", "avx2"), 1470.0), (("neon",), 1000.0)]
)
def test_a_processor_of_x86_that_tells_its_base_clock_alone_boosts_one_thread(
    sets: tuple[str, ...], clock_mhz: float
) -> None:
    """On all four cores it runs half way between, in ratios: the root of 1000 x 1470."""
    facts = {name: value for name, value in CORES.items() if name != "boost_clock_mhz"}
    design = "zen" if "avx2" in sets else "cortex-a76"
    one, four = (
        make_target(facts, family=Family.CPU, runtime="onnxruntime", threads=threads)
        for threads in (1, 4)
    )
    rates = [
        rates_of(
            [replace(each, device=replace(each.device, architecture=design, instruction_sets=sets))]
        )
        for each in (one, four)
    ]

    assert rates[0].launch_s == pytest.approx([2000 / clock_mhz / 1e6])
    alone = rates[0].matrix[0]
    together = alone * np.sqrt(1000 * clock_mhz) / clock_mhz
    assert rates[1].matrix == pytest.approx([1 / (0.1 / alone + 0.9 / (4 * together))])


@given(st.integers(1, 64), st.floats(800.0, 3000.0), st.floats(1.0, 4.0))
def test_further_threads_are_never_slower(cores: int, base_mhz: float, turbo: float) -> None:
    clocks = {"clock_mhz": base_mhz, "boost_clock_mhz": turbo * base_mhz, "core_count": cores}
    rates = [on_threads(number, **clocks) for number in range(1, cores + 1)]
    for fewer, more in pairwise(rates):
        assert more.matrix >= fewer.matrix * (1 - 1e-9)
        assert (more.unit, more.launch_s) == (fewer.unit, fewer.launch_s)


@pytest.mark.parametrize(
    ("family", "runtime", "faster"),
    [
        (Family.GPU, "pytorch", False),
        (Family.GPU, "ncnn-vulkan", False),
        (Family.MOBILE_GPU, "ncnn-vulkan", True),
        (Family.MOBILE_GPU, "tflite", True),
        (Family.NPU, "tflite", True),
        (Family.NPU, "onnxruntime", False),
    ],
)
def test_an_fp32_network_runs_in_halves_where_its_runtime_may(
    family: Family, runtime: str, faster: bool
) -> None:
    facts = {"fp32_tflops": 1.0, "fp16_tflops": 3.0, "dram_bw_gbps": 10.0}
    single, half = (
        rates_of([make_target(facts, family=family, runtime=runtime, precision=precision)])
        for precision in (Precision.FP32, Precision.FP16)
    )
    is_gpu = family in {Family.GPU, Family.MOBILE_GPU}
    assert half.matrix == pytest.approx([1 / (0.1 / 0.5e12 + 0.9 / 1.5e12) if is_gpu else 1.5e12])
    assert single.matrix == pytest.approx(half.matrix if faster else [0.5e12])
    assert bool((single.weight_ratio == half.weight_ratio).all()) == faster


def test_ncnn_runs_in_halves_on_processors_that_have_them() -> None:
    matrix = [
        rates_of(
            [
                make_target(
                    {"clock_mhz": 1000.0, "core_count": 1, "dram_bw_gbps": 10.0},
                    family=Family.MOBILE_CPU,
                    runtime=runtime,
                    architecture=architecture,
                )
            ]
        ).matrix[0]
        for architecture in ("cortex-a76", "cortex-a72")
        for runtime in ("ncnn", "tflite")
    ]
    assert matrix == pytest.approx([16e9, 8e9, 4e9, 4e9])


@pytest.mark.parametrize(("architecture", "is_half"), [("cortex-a76", True), ("cortex-a72", False)])
def test_ncnn_stores_halves_where_the_cores_multiply_them(architecture: str, is_half: bool) -> None:
    facts = {"clock_mhz": 1000.0, "core_count": 1, "dram_bw_gbps": 10.0}
    single, half = (
        rates_of(
            [
                make_target(
                    facts,
                    family=Family.MOBILE_CPU,
                    runtime="ncnn",
                    precision=precision,
                    architecture=architecture,
                )
            ]
        )
        for precision in (Precision.FP32, Precision.FP16)
    )
    assert bool((single.weight_ratio == half.weight_ratio).all()) == is_half
    assert bool((single.activation_ratio == half.activation_ratio).all()) == is_half


def test_a_part_of_integers_runs_at_the_fp32_rate() -> None:
    """Three tenths with 8 lanes at 1 GHz, seven tenths with the 32 of the dot products."""
    facts = {"clock_mhz": 1000.0, "core_count": 1, "dram_bw_gbps": 10.0}
    single, narrow = (
        rates_of(
            [
                make_target(
                    facts,
                    family=Family.MOBILE_CPU,
                    runtime="onnxruntime",
                    precision=precision,
                    architecture="cortex-a76",
                )
            ]
        ).matrix[0]
        for precision in (Precision.FP32, Precision.INT8)
    )
    assert (single, narrow) == pytest.approx((8e9, 1 / (0.3 / 8e9 + 0.7 / 32e9)))


def test_a_product_needs_instructions_beside_those_that_multiply() -> None:
    """An SM of Hopper issues for as many lanes as it has, one of Volta for twice as many."""
    facts = {"fp32_tflops": 8.0, "dram_bw_gbps": 100.0}
    rates = rates_of(
        [make_target(facts, architecture=name) for name in ("hopper", "volta", "pascal-gp10x", "")]
    )
    assert rates.matrix == pytest.approx([3e12, 4e12, 4e12, 4e12])
    assert rates.vector == pytest.approx([4e12] * 4)


def test_a_block_runs_on_all_units_of_a_group() -> None:
    """A dual subslice of Xe-LP has 16 execution units of 8 lanes, at 1 GHz."""
    facts = {"boost_clock_mhz": 1000.0, "core_count": 96, "dram_bw_gbps": 50.0}
    lanes = {"xe-lp": 128e9, "xe-hpg": 128e9, "gen-9": 64e9}
    rates = rates_of([make_target(facts, architecture=name) for name in lanes])
    assert rates.unit == pytest.approx(list(lanes.values()))


def test_halves_are_never_slower_than_fp32() -> None:
    """A GP102 states 1 / 64 of its FP32 rate; its libraries then compute in FP32."""
    facts = {"fp32_tflops": 11.0, "fp16_tflops": 0.17, "dram_bw_gbps": 480.0}
    assert rates_of([make_target(facts, precision=Precision.FP16)]).matrix == pytest.approx(
        [5.5e12]
    )


@pytest.mark.parametrize(
    ("facts", "family", "kept"),
    [
        # 8 TFLOP/s at 12 nm need 16 pJ an operation, 128 W.
        ({"tdp_w": 64.0, "process_nm": 12.0}, Family.GPU, 0.5**0.7),
        ({"tdp_w": 128.0, "process_nm": 12.0}, Family.GPU, 1.0),
        ({"tdp_w": 300.0, "process_nm": 12.0}, Family.GPU, 1.0),
        ({"tdp_w": 64.0, "process_nm": 6.0}, Family.GPU, 1.0),
        ({"tdp_w": 64.0}, Family.GPU, 1.0),
        ({"tdp_w": 6.0, "process_nm": 12.0}, Family.MOBILE_GPU, 1.0),
    ],
)
def test_a_card_of_little_power_keeps_a_part_of_its_fp32_rate(
    facts: dict[str, float], family: Family, kept: float
) -> None:
    metrics = {**GPU, **facts, "fp32_tflops": 8.0, "tf32_tflops": 64.0}
    rates = rates_of([make_target(metrics, family=family, runtime="pytorch")])

    assert rates.matrix == pytest.approx([kept * 4e12])
    assert rates.vector == pytest.approx([kept * 4e12])
    assert rates.convolution == pytest.approx([32e12])
    # One block alone is far from the rated power.
    assert rates.unit == pytest.approx(rates_of([make_target(GPU)]).unit, nan_ok=True)


@given(st.floats(5, 700), st.floats(3, 28), st.floats(0.2, 100), st.floats(1, 3))
def test_more_power_units_or_a_finer_process_never_lower_the_rate_of_a_card(
    watts: float, nm: float, tflops: float, factor: float
) -> None:
    def rate(**changed: float) -> float:
        facts = {"tdp_w": watts, "process_nm": nm, "fp32_tflops": tflops, **changed}
        return float(rates_of([make_target({**GPU, **facts})]).matrix[0])

    most = factor * rate() * (1 + 1e-12)
    for changed in ({"tdp_w": factor * watts}, {"process_nm": nm / factor}):
        assert rate() <= rate(**changed) * (1 + 1e-12) <= most * (1 + 1e-12)
    assert rate() <= rate(fp32_tflops=factor * tflops) * (1 + 1e-12) <= most * (1 + 1e-12)


def test_a_tenth_of_a_product_in_matrix_units_runs_beside_them() -> None:
    facts = {"fp32_tflops": 2.0, "fp16_tflops": 16.0, "dram_bw_gbps": 100.0}
    for family, narrow in ((Family.GPU, 1 / (0.1 / 1e12 + 0.9 / 8e12)), (Family.NPU, 8e12)):
        rates = rates_of([make_target(facts, family=family, precision=Precision.FP16)])
        assert rates.matrix == pytest.approx([narrow])


def cores(threads: int, *kinds: Cluster) -> Rates:
    """Return the rates of threads on kinds of cores."""
    return rates_of(
        [make_target({}, family=Family.CPU, runtime="ncnn", threads=threads, clusters=kinds)]
    )


def test_threads_fill_the_cores_that_are_fastest_in_the_run() -> None:
    """Two cores of 8 lanes at 1 GHz, four of 4 lanes at 1.5 GHz: 8e9 and 6e9 a second each."""
    wide, narrow = (
        Cluster(name="Wide", cores=2, clock_mhz=1000.0, fp32_au_per_core=8.0),
        Cluster(name="Narrow", cores=4, clock_mhz=1500.0, fp32_au_per_core=4.0),
    )

    for kinds in ((wide, narrow), (narrow, wide)):
        macs = [float(cores(threads, *kinds).matrix[0]) for threads in (1, 2, 3, 6, 9, 0)]
        rates = [8e9, 16e9, 22e9, 40e9, 40e9, 40e9]
        assert macs == pytest.approx([together(rate, 8e9) for rate in rates])
        assert cores(3, *kinds).unit == pytest.approx([8e9])
        # The fastest clock, whichever kinds the threads use.
        assert cores(1, *kinds).launch_s == pytest.approx([2000 / 1.5e9])


def test_cores_of_unknown_lanes_have_those_of_the_narrowest_beside_them() -> None:
    """One core of 8 lanes and one of 4 at 1 GHz, and two of which only 0.5 GHz is known."""
    kinds = (
        Cluster(name="Wide", cores=1, clock_mhz=1000.0, fp32_au_per_core=8.0),
        Cluster(name="Unknown", cores=2, clock_mhz=500.0),
        Cluster(name="Narrow", cores=1, clock_mhz=1000.0, fp32_au_per_core=4.0),
    )

    assert cores(0, *kinds).matrix == pytest.approx([together(8e9 + 4e9 + 2 * 2e9, 8e9)])
    assert np.isnan(cores(0, kinds[1]).matrix).all()


@pytest.mark.parametrize(
    ("runtime", "precision", "convolutions", "products"),
    [
        ("pytorch", Precision.FP32, 8.0, 2.0),
        ("tensorrt", Precision.FP32, 8.0, 8.0),
        ("onnxruntime", Precision.FP32, 8.0, 8.0),
        ("ncnn-vulkan", Precision.FP32, 2.0, 2.0),
        ("tensorrt", Precision.FP16, *[1 / (0.1 / 2 + 0.9 / 4)] * 2),
    ],
)
def test_tf32_counts_where_the_runtime_uses_it_unasked(
    runtime: str, precision: Precision, convolutions: float, products: float
) -> None:
    """Two operations are one multiply-accumulate: 8 TFLOP/s are 4e12 a second."""
    facts = {"fp32_tflops": 2.0, "fp16_tflops": 4.0, "tf32_tflops": 8.0, "dram_bw_gbps": 100.0}
    rates = rates_of([make_target(facts, runtime=runtime, precision=precision)])

    assert rates.convolution == pytest.approx([convolutions / 2 * 1e12])
    assert rates.matrix == pytest.approx([products / 2 * 1e12])


def test_a_convolution_and_a_product_of_equal_work_differ_where_only_one_runs_in_tf32() -> None:
    facts = {"fp32_tflops": 2.0, "tf32_tflops": 8.0, "dram_bw_gbps": 100.0}
    rates = rates_of([make_target(facts, runtime="pytorch")])
    product = Work.of(make_graph([Op(macs=10**9, columns=64)]))
    convolution = replace(
        product,
        convolution_macs=product.matrix_macs,
        matrix_macs=np.zeros_like(product.matrix_macs),
    )

    convolution_ms, product_ms = (
        float(term_times(work, rates)[0, 0, 0]) for work in (convolution, product)
    )

    assert (convolution_ms, product_ms) == pytest.approx((0.25, 1.0))


def test_a_gap_is_filled_by_the_typical_ratio_of_the_kind() -> None:
    known = make_target({**GPU, "fp32_au_per_core": 128})
    twice = make_target({**GPU, "fp32_tflops": 4.0})
    gap = make_target({"fp32_tflops": 8.0})
    targets = [known, twice, gap]
    whole = completed(targets, rates_of(targets))
    # 1e11 for 1e12, and 1e11 for 2e12: the middle, times 4e12.
    assert whole.bandwidth[2] == pytest.approx(4e12 * np.sqrt(0.1 * 0.05))
    assert not np.isnan([whole.matrix, whole.vector, whole.unit, whole.bandwidth]).any()


def test_a_gap_is_filled_by_what_has_the_same_chip_before_the_kind() -> None:
    """Of one chip in one number format 2e12, of the kind in all 2e12, 2e12, 8e12 and 16e12."""
    targets = [
        _of_chip(
            make_target({"fp32_tflops": tflops, "fp16_tflops": 4 * tflops}, precision=each), chip
        )
        for tflops, chip in ((4.0, "a"), (16.0, "b"))
        for each in (Precision.FP32, Precision.FP16)
    ]
    gaps = [
        _of_chip(make_target({}, precision=Precision.FP32), chip) for chip in ("a", "b", "c", "")
    ]
    rates = rates_of([*targets, *gaps])

    matrix = completed([*targets, *gaps], rates).matrix

    stated = np.exp(np.median(np.log(rates.matrix[:4])))
    assert matrix[4:] == pytest.approx([2e12, 8e12, stated, stated])


def _of_chip(target: Target, chip: str) -> Target:
    return replace(target, device=replace(target.device, chip=chip))


GROWING = ("fp32_tflops", "fp16_tflops", "bf16_tflops", "int8_tops", "dram_bw_gbps", "clock_mhz")
GROWING += ("boost_clock_mhz", "core_count", "fp32_au_per_core")


@given(graphs(), METRICS, st.sampled_from(GROWING), st.floats(1.0, 8.0), st.sampled_from(Family))
def test_a_rate_that_grows_never_raises_a_term_or_lowers_it_by_more(
    graph: OperatorGraph, metrics: dict[str, float], name: str, factor: float, family: Family
) -> None:
    assume(name in metrics)
    before = make_target(metrics, family=family)
    after = make_target({**metrics, name: metrics[name] * factor}, family=family)
    old, new = (term_times(Work.of(graph), rates_of([each])) for each in (before, after))
    known = ~np.isnan(old) & ~np.isnan(new)
    assert (new[known] <= old[known] * (1 + 1e-9)).all()
    assert (new[known] * factor >= old[known] * (1 - 1e-9)).all()


@given(graphs(), st.integers(2, 64))
def test_a_larger_batch_is_never_faster_and_no_other_kind(graph: OperatorGraph, batch: int) -> None:
    larger = at_batch(graph, batch)
    rates = rates_of([make_target(GPU)])
    old, new = (term_times(Work.of(each), rates)[..., [0, 2, 3]] for each in (graph, larger))
    assert (new.sum(axis=0) >= old.sum(axis=0) * (1 - 1e-9)).all()


def test_kinds_of_a_networks_operators() -> None:
    kinds = [KINDS[number] for number in kinds_of(make_graph([Op(read=8), Op(macs=8, weights=8)]))]
    assert kinds == ["other", "thin product"]


def test_rates_of_some_targets() -> None:
    both = rates_of([make_target(GPU), make_target({**GPU, "fp32_tflops": 4.0})])
    assert isinstance(both.take(np.array([1])), Rates)
    assert both.take(np.array([1])).matrix == pytest.approx([2e12])


@given(graphs())
def test_the_work_of_the_kinds_takes_as_long_as_that_of_the_operators(graph: OperatorGraph) -> None:
    rates = rates_of([make_target(GPU)])
    plain = np.ones((1, len(graph), len(TERMS)))
    of_kinds = Work.of(graph).by_kind(kinds_of(graph), len(KINDS), plain)
    whole = np.nansum(term_times(Work.of(graph), rates), axis=0)
    assert np.nansum(matched_times(of_kinds, rates)[0], axis=0) == pytest.approx(whole[0])


@given(graphs(), st.integers(0, 99))
def test_work_in_a_context_is_the_same_beside_others(graph: OperatorGraph, seed: int) -> None:
    factors = np.random.default_rng(seed).uniform(0.5, 2.0, (3, len(graph), len(TERMS)))
    kinds = kinds_of(graph)
    together = Work.of(graph).by_kind(kinds, len(KINDS), factors)

    alone = [Work.of(graph).by_kind(kinds, len(KINDS), factors[c : c + 1]) for c in range(3)]

    for name in ("convolution_macs", "reduction", "weight_bytes", "launches"):
        parts = [getattr(work, name) for work in alone]
        assert np.concatenate(parts).tobytes() == getattr(together, name).tobytes()
    assert together.launches[1] == pytest.approx(
        [
            (Work.of(graph).launches * factors[1, :, 3])[kinds == kind].sum()
            for kind in range(len(KINDS))
        ]
    )
