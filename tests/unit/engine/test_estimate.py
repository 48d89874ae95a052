"""The estimate of hardware of which little or nothing was measured."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.cost.engine import TargetMeasurements
from predictor.cost.physics import TERMS
from predictor.engine.checkpoint import ESTIMATE, read_checkpoint
from predictor.engine.closertome import CloserToMeEngine
from predictor.engine.estimate import RATES, Estimate, read_estimate, write_estimate
from predictor.graph.operator_graph import OperatorGraph
from predictor.research.training.files import write_card
from tests.unit.cost.graphs import VIEW, Op, make_graph, make_target
from tests.unit.cost.test_roofline_invariants import graphs
from tests.unit.engine.estimates import (
    NEAR,
    SHIPPED,
    blind_engine,
    every_target,
    evidence_of,
    is_estimated,
    other_device,
    samples,
    shipped_card,
    shipped_engine,
    small_estimate,
    without_estimate,
)

unhurried = settings(deadline=None, max_examples=25)
# 10^12 multiply-accumulates and 10^11 bytes a second: a millisecond of each, one of a launch in us.
GRAPH = make_graph([Op(macs=10**9, read=10**8), Op(read=10**7, written=10**7), Op(flags=VIEW)])
TARGET = make_target()


def at(target: Target, **changes: object) -> Target:
    return replace(target, configuration=replace(target.configuration, **changes))  # type: ignore[arg-type]


# --- Times ---


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
    assert estimate.latency_ms(GRAPH, estimates) == pytest.approx([5.608 + block])
    assert estimates.deviation == pytest.approx([np.sqrt(0.31 + 0.25)])
    assert estimates.shared == pytest.approx([0.31 / 0.56])


def test_a_deviation_shifts_all_terms_alike() -> None:
    """The measured target is the asked one: a gain of 0.31 / (0.31 + 0.25 / 5) = 0.31 / 0.36."""
    plain = small_estimate()
    estimate = small_estimate(evidence_of([TARGET], [0.9], [5]))

    before, after = (each.operator_ms(GRAPH, each.of([TARGET])) for each in (plain, estimate))

    assert after == pytest.approx(before * np.exp(0.9 * 0.31 / 0.36))
    assert estimate.of([TARGET]).deviation == pytest.approx([np.sqrt(0.31 - 0.31**2 / 0.36 + 0.25)])


@unhurried
@given(graphs())
def test_the_latency_is_the_sum_of_the_times_of_the_operators(graph: OperatorGraph) -> None:
    estimate = small_estimate()
    targets = [TARGET, at(TARGET, precision=Precision.INT8)]
    estimates = estimate.of(targets)

    for place, target in enumerate(targets):
        parts = estimate.operator_ms(graph, estimate.of([target]))
        assert parts.sum() == pytest.approx(estimate.latency_ms(graph, estimates)[place], rel=1e-9)
        assert parts.shape == (len(graph), len(TERMS))


@unhurried
@given(graphs(), st.data())
def test_shares_are_parts_of_the_latency(graph: OperatorGraph, data: st.DataObject) -> None:
    estimate = small_estimate()
    estimates = estimate.of([TARGET])
    parts = estimate.operator_ms(graph, estimates).sum(axis=1)
    assume(parts.sum() > 1e-9)
    places = st.lists(st.integers(0, len(graph) - 1), unique=True)
    chosen = np.array(data.draw(places), np.int64)

    shares = estimate.shares(graph, estimates, chosen)

    assert shares.shape == (len(chosen), 1)
    assert shares[:, 0] == pytest.approx(parts[chosen] / parts.sum(), rel=1e-6)
    every = estimate.shares(graph, estimates, np.arange(len(graph)))
    assert every.sum() == pytest.approx(1.0)


def test_targets_are_estimated_alone_as_together() -> None:
    targets = every_target()[:: len(every_target()) // 40]
    graph = samples()["yolov3-tiny-416"]

    together = blind_engine().predict([graph], targets, {})
    alone = [blind_engine().predict([graph], [target], {}) for target in targets]

    for name in ("latency_ms", "low95_ms", "high80_ms"):
        ours = np.concatenate([getattr(each, name)[0] for each in alone])
        assert ours == pytest.approx(getattr(together, name)[0], rel=1e-9, nan_ok=True)


# --- Explanations ---


@pytest.mark.parametrize("bound_ms", [np.nan, 0.0, 1.0, 50.0])
def test_an_explanation_sums_to_the_latency_or_the_bound(bound_ms: float) -> None:
    estimate = small_estimate()
    estimates = estimate.of([TARGET])

    explained = estimate.explanation(GRAPH, estimates, bound_ms)

    latency_ms = float(estimate.latency_ms(GRAPH, estimates)[0])
    assert explained.latency_ms.sum() == pytest.approx(np.fmax(latency_ms, bound_ms))
    parts = explained.compute_ms + explained.memory_ms + explained.launch_ms
    assert explained.latency_ms == pytest.approx(parts)
    assert explained.bound_type.tolist() == [2, 2, 0]  # memory, memory, and a view of no time


@pytest.mark.parametrize("ops", [[Op(flags=VIEW)], [Op(flags=VIEW)] * 3])
def test_views_alone_take_a_little_time_and_are_explained(ops: list[Op]) -> None:
    estimate = small_estimate()
    graph, known = make_graph(ops), estimate.of([TARGET])

    explained = estimate.explanation(graph, known, 0.0)

    assert explained.latency_ms.sum() == pytest.approx(estimate.latency_ms(graph, known)[0])
    assert explained.latency_ms[0] > 0
    assert explained.latency_ms[1:].tolist() == [0.0] * (len(ops) - 1)
    assert explained.attention is not None
    launch = RATES.index("launch")
    assert explained.attention.operator_to_metric[0, launch] == 1.0
    assert (explained.attention.operator_to_metric[1:] == 1 / len(RATES)).all()


@unhurried
@given(graphs())
def test_attention_sums_to_one_both_ways(graph: OperatorGraph) -> None:
    estimate = small_estimate()

    attention = estimate.explanation(graph, estimate.of([TARGET]), np.nan).attention

    assert attention is not None
    assert attention.metrics == RATES
    assert attention.operator_to_metric.shape == (len(graph), len(RATES))
    assert attention.metric_to_operator.shape == (len(RATES), len(graph))
    for part in (attention.operator_to_metric, attention.metric_to_operator):
        assert part.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
        assert (part >= 0).all()


CHANGED = {
    "matrix_rate": ("matrix", "vector"),  # both are rates of arithmetic
    "unit_rate": ("unit",),
    "bandwidth": ("bandwidth",),
    "launch": ("launch_s",),
}


@pytest.mark.parametrize("name", RATES)
def test_attention_is_minus_the_elasticity_of_the_time_to_the_rate(name: str) -> None:
    estimate, graph = small_estimate(), samples()["mobilenetv2-1.0-224"]
    estimates = estimate.of([TARGET])
    attention = estimate.explanation(graph, estimates, np.nan).attention
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

    before, after = (shipped_engine().explain(graph, each) for each in (target, faster))

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
    for place in np.flatnonzero(is_estimated(table) & np.isfinite(table.latency_ms[0])).tolist():
        explained = shipped_engine().explain(graph, targets[place])
        assert explained.latency_ms.sum() == pytest.approx(table.latency_ms[0, place], rel=1e-9)
        checked += 1
    assert checked > 40


# --- Evidence and doubts in words ---

TWINS = [
    (Family.NPU, 1.0, True),
    (Family.NPU, 1.5, False),
    (Family.MOBILE_GPU, 1.0, False),
]


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        (
            other_device("twin", at(TARGET, runtime="ncnn"), "cortex-a76"),
            (
                "from twin, which has the same chip or cores (ncnn fp32; 1 network); "
                "checked on 1 chip of any kind: median error 10 %"
            ),
        ),
        (
            other_device("made-up", at(TARGET, precision=Precision.INT8), "cortex-a76"),
            (
                "from this device under pytorch int8 (1 network); "
                "checked on 1 chip of any kind: median error 10 %"
            ),
        ),
        (
            other_device("made-up", TARGET, "cortex-a76"),
            (
                "from 1 network measured on this device; "
                "checked on 1 chip of any kind: median error 10 %"
            ),
        ),
        (
            other_device("twin", TARGET, "cortex-a53"),
            "not measured here; checked on 12 chips of this kind: median error 21.4 %",
        ),
    ],
)
def test_words_of_evidence(measured: Target, words: str) -> None:
    asked = other_device("made-up", TARGET, "cortex-a76")
    estimate = small_estimate(evidence_of([measured], [0.1], [1]))

    assert estimate.of([asked]).evidence == [words]


@pytest.mark.parametrize(("threads", "words"), [(1, "1 thread"), (4, "4 threads")])
def test_words_of_evidence_count_threads_and_networks(threads: int, words: str) -> None:
    board = make_target(
        {"core_count": 4.0, "clock_mhz": 1000.0}, family=Family.CPU, runtime="ncnn", threads=2
    )
    estimate = small_estimate(evidence_of([at(board, threads=threads)], [0.1], [7]))

    [text] = estimate.of([board]).evidence

    assert text.startswith(f"from this device under ncnn fp32, {words} (7 networks); ")


def test_a_group_without_a_record_of_its_own_has_that_of_a_coarser_one() -> None:
    estimate = small_estimate()
    runs = [TARGET, at(TARGET, runtime="ncnn")]

    tracks = [estimate.track(target, is_near=False) for target in runs]

    assert [(level, track.silicon) for level, track in tracks] == [("class", 12), ("all", 40)]
    assert estimate.track(TARGET, is_near=True) == ("all", NEAR)


@pytest.mark.parametrize(
    ("runtime", "is_near", "doubt"),
    [
        ("pytorch", False, ""),
        ("ncnn", False, "hardly any hardware of this kind was measured under ncnn"),
        ("ncnn", True, ""),
        ("new-one", False, "no run on new-one is among what it has learned from"),
        ("new-one", True, "no run on new-one is among what it has learned from"),
    ],
)
def test_doubts(runtime: str, is_near: bool, doubt: str) -> None:
    target = at(TARGET, runtime=runtime)
    measured = [at(target, precision=Precision.INT8)] if is_near else []
    estimate = small_estimate(evidence_of(measured, [0.1] * is_near, [5] * is_near))

    assert estimate.of([target]).doubts == [doubt]


@pytest.mark.parametrize(("family", "rate", "is_twin"), TWINS)
def test_only_an_accelerator_of_the_rate_has_a_twin(
    family: Family, rate: float, is_twin: bool
) -> None:
    measured, asked = (
        Target(
            replace(other_device(name, TARGET, "hexagon-v75").device, family=family),
            TARGET.configuration,
        )
        for name in ("measured", "asked")
    )
    estimate = small_estimate(evidence_of([measured], [0.1], [9]))
    asked = replace(asked, device=replace(asked.device, metrics={"fp32_tflops": 2.0 * rate}))

    assert estimate.twins([asked]) == [measured.id if is_twin else None]


# --- Intervals ---


def test_intervals_are_the_factors_of_the_record_times_the_deviation() -> None:
    """Of the unseen class 1.25 and 2.0, of near silicon 1.0 and 1.75 standard deviations."""
    unseen = small_estimate().of([TARGET])
    near = small_estimate(evidence_of([TARGET], [0.0], [5])).of([TARGET])

    assert unseen.apart == pytest.approx(np.array([[1.25], [2.0]]) * np.sqrt(0.56))
    assert near.apart == pytest.approx(np.array([[1.0], [1.75]]) * near.deviation)
    assert near.deviation < unseen.deviation


def test_intervals_are_ordered_and_not_under_the_bound_over_the_whole_catalogue() -> None:
    table = shipped_engine().predict(list(samples().values()), every_target(), {})
    known = np.isfinite(table.latency_ms) & is_estimated(table)
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
    assert one @ one == pytest.approx(one @ other)
    assert (one[1:] == 0).all()


# --- The user's own measurements ---


def board(name: str, architecture: str = "cortex-a76") -> Target:
    metrics = {"core_count": 4.0, "clock_mhz": 2000.0, "dram_bw_gbps": 10.0}
    device = Device(
        name,
        name,
        "",
        Family.MOBILE_CPU,
        metrics,
        configurations=tuple(Configuration(runtime) for runtime in ("tflite", "ncnn")),
        architecture=architecture,
    )
    return Target(device, Configuration("tflite", threads=4))


def measurements(target: Target, factor: float) -> TargetMeasurements:
    others = list(samples().values())[:2]
    plain = blind_engine().predict(others, [target], {}).latency_ms[:, 0]
    return TargetMeasurements("own", others, plain * factor, np.full(2, 0.01))


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_own_measurements_move_what_shares_the_silicon(factor: float) -> None:
    mine = board("mine")
    other_runtime = at(mine, runtime="ncnn")
    targets = [mine, other_runtime, board("same-cores"), board("other-cores", "cortex-a53")]
    graph = samples()["yolov3-tiny-416"]
    own = {mine.id: measurements(mine, factor)}

    before = blind_engine().predict([graph], targets, {})
    after = blind_engine().predict([graph], targets, own)

    moved = np.log(after.latency_ms / before.latency_ms)[0] / np.log(factor)
    assert 0.05 < moved[2] < 1  # another device of the cores
    assert 0.05 < moved[1] < 1  # another runtime on the device
    assert moved[3] == 0.0
    narrower = np.log(after.high80_ms / before.high80_ms)[0] - np.log(factor) * moved
    assert (narrower[1:3] < 0).all()
    words = after.facts["evidence"][0]
    assert words[0] == "from 2 networks that you measured"
    assert words[1].startswith("from this device under tflite fp32, 4 threads (2 networks); ")
    assert words[2].startswith("from mine, which has the same chip or cores (tflite fp32, 4 thr")
    assert words[3].startswith("not measured here; ")


def test_own_measurements_leave_the_shipped_estimate_as_it_was() -> None:
    mine, other = board("mine"), at(board("mine"), runtime="ncnn")
    graph = samples()["yolov3-tiny-416"]
    before = blind_engine().predict([graph], [mine, other], {})

    blind_engine().predict([graph], [mine, other], {mine.id: measurements(mine, 3.0)})

    after = blind_engine().predict([graph], [mine, other], {})
    assert np.array_equal(after.latency_ms, before.latency_ms)
    assert after.facts == before.facts


def test_the_deviation_of_own_measurements_is_the_median_over_the_networks() -> None:
    estimate, graph_list = small_estimate(), [GRAPH] * 3
    plain = float(estimate.latency_ms(GRAPH, estimate.of([TARGET]))[0])

    told = estimate.with_measured(TARGET, graph_list, plain * np.exp([0.1, 0.4, 9.0]))

    assert told.evidence.deviation == pytest.approx([0.4])
    assert told.evidence.networks.tolist() == [3]
    assert len(estimate.evidence.deviation) == 0
    # Beside shipped evidence of the target, deviations are still those from the class alone.
    again = told.with_measured(TARGET, [GRAPH], np.array([plain * np.exp(0.2)]))
    assert again.evidence.deviation == pytest.approx([0.4, 0.2])


# --- Files ---


def assert_same(one: Estimate, other: Estimate, tolerance: float = 1e-6) -> None:
    targets = every_target()[::100]
    graph = samples()["distilbert-base"]
    first, second = one.of(targets), other.of(targets)
    for each, estimate in ((first, one), (second, other)):
        assert np.isfinite(estimate.latency_ms(graph, each)).sum() > 30
    assert one.latency_ms(graph, first) == pytest.approx(
        other.latency_ms(graph, second), rel=tolerance, nan_ok=True
    )
    assert first.apart == pytest.approx(second.apart, rel=tolerance)
    assert (first.evidence, first.doubts) == (second.evidence, second.doubts)


def test_an_estimate_comes_back_as_it_was_written(tmp_path: Path) -> None:
    shipped = read_estimate(SHIPPED / ESTIMATE)

    write_estimate(tmp_path / "a.npz", shipped)
    again = read_estimate(tmp_path / "a.npz")

    assert again.tracks == shipped.tracks
    assert again.efficiencies.level == shipped.efficiencies.level
    assert again.efficiencies.typical == shipped.efficiencies.typical
    assert again.evidence.scales == shipped.evidence.scales
    assert again.evidence.networks.tolist() == shipped.evidence.networks.tolist()
    assert_same(shipped, again, tolerance=1e-12)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_small_estimate_comes_back_too(tmp_path: Path, count: int) -> None:
    targets = [other_device(f"d{place}") for place in range(count)]
    estimate = small_estimate(evidence_of(targets, [0.5] * count, [4] * count))

    write_estimate(tmp_path / "a.npz", estimate)
    again = read_estimate(tmp_path / "a.npz")

    assert again.evidence.keys.device.tolist() == [target.device.id for target in targets]
    asked = [*targets, TARGET]
    ours, theirs = estimate.of(asked), again.of(asked)
    assert theirs.factors == pytest.approx(ours.factors)
    assert theirs.evidence == ours.evidence


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _no_archive(path: Path) -> None:
    path.write_bytes(b"no archive at all")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _arrays(change: Callable[[dict[str, np.ndarray]], object]) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        with np.load(path) as file:
            arrays = dict(file)
        change(arrays)
        np.savez_compressed(path, **arrays)

    return harm


def _words(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    def of_arrays(arrays: dict[str, np.ndarray]) -> None:
        words = json.loads(arrays["words"].tobytes())
        change(words)
        arrays["words"] = np.frombuffer(json.dumps(words).encode(), np.uint8)

    return _arrays(of_arrays)


HARMS = {
    "truncated": _truncated,
    "no archive": _no_archive,
    "empty": _empty,
    "a later format": _words(lambda words: words.update(format="ctm-estimate/99")),
    "no format": _words(lambda words: words.pop("format")),
    "no tracks": _words(lambda words: words.pop("tracks")),
    "a track of other fields": _words(
        lambda words: words.update(tracks={"unseen": {"all": {"error": 1}}, "near": {}})
    ),
    "no scales": _words(lambda words: words.update(scales={})),
    "no words": _arrays(lambda arrays: arrays.pop("words")),
    "words that are no JSON": _arrays(
        lambda arrays: arrays.update(words=np.frombuffer(b"{", np.uint8))
    ),
    "no mean": _arrays(lambda arrays: arrays.pop("mean")),
    "a mean of another width": _arrays(lambda arrays: arrays.update(mean=arrays["mean"][:-1])),
    "effects of another width": _arrays(
        lambda arrays: arrays.update(effects=arrays["effects"][:, 1:])
    ),
    "fewer effects than names": _arrays(
        lambda arrays: arrays.update(effects=arrays["effects"][:-1])
    ),
    "more effects than names": _arrays(
        lambda arrays: arrays.update(effects=np.tile(arrays["effects"], (2, 1)))
    ),
    "fewer deviations than keys": _arrays(
        lambda arrays: arrays.update(deviation=arrays["deviation"][1:])
    ),
    "fewer networks than keys": _arrays(
        lambda arrays: arrays.update(networks=arrays["networks"][1:])
    ),
    "fewer rates than keys": _arrays(lambda arrays: arrays.update(rate=arrays["rate"][1:])),
    "rates below nothing": _arrays(lambda arrays: arrays.update(rate=-arrays["rate"])),
    "no rates": _arrays(lambda arrays: arrays.pop("rate")),
    "no networks at all": _arrays(lambda arrays: arrays.update(networks=0 * arrays["networks"])),
    "a level of too few groups": _words(lambda words: words["level"].pop("kind")),  # type: ignore[attr-defined]
    "effects of an unknown group": _words(
        lambda words: words["effects"].update(colour={})  # type: ignore[attr-defined]
    ),
    "no number": _arrays(lambda arrays: arrays.update(deviation=np.nan + arrays["deviation"])),
    "an endless mean": _arrays(lambda arrays: arrays.update(mean=np.inf + arrays["mean"])),
    "tracks without one of all": _words(
        lambda words: words.update(tracks={"unseen": {}, "near": {}})
    ),
    "no near tracks": _words(lambda words: words["tracks"].pop("near")),  # type: ignore[attr-defined]
    "keys of other lengths": _words(
        lambda words: words["keys"].update(device=["a"])  # type: ignore[attr-defined]
    ),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_damaged_estimate_is_refused_in_one_sentence(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    folder = Path(shutil.copytree(without_estimate(), tmp_path / "checkpoint"))
    targets = [other_device("a"), other_device("b")]
    write_estimate(folder / ESTIMATE, small_estimate(evidence_of(targets, [0.1, 0.2], [3, 4])))
    harm(folder / ESTIMATE)
    write_card(folder, shipped_card())  # a checksum that fits: the content alone is wrong

    with pytest.raises(InputError) as refused:
        read_checkpoint(folder)

    text = str(refused.value)
    assert text.startswith(f"{folder}: it is no whole checkpoint (")
    assert text.endswith("; install the program again, or predict with --engine roofline.")
    assert "\n" not in text


def test_an_estimate_that_its_card_does_not_count_is_refused_or_left_out(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(without_estimate(), tmp_path / "checkpoint"))
    write_estimate(folder / ESTIMATE, small_estimate())
    assert read_checkpoint(folder).estimate is None

    write_card(folder, shipped_card())
    assert read_checkpoint(folder).estimate is not None

    write_estimate(folder / ESTIMATE, small_estimate(evidence_of([TARGET], [0.1], [3])))
    with pytest.raises(InputError, match=r"estimate\.npz is not the file that belongs to it"):
        read_checkpoint(folder)

    (folder / ESTIMATE).unlink()
    with pytest.raises(InputError, match="it cannot be read"):
        read_checkpoint(folder)


# --- Beside the network ---


@pytest.fixture(scope="module")
def plain() -> CloserToMeEngine:
    """Return the engine of a checkpoint without an estimate."""
    return CloserToMeEngine(without_estimate())


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> CloserToMeEngine:
    """Return the engine of the same checkpoint with a small estimate beside it."""
    folder = Path(shutil.copytree(without_estimate(), tmp_path_factory.mktemp("e") / "checkpoint"))
    write_estimate(folder / ESTIMATE, small_estimate())
    write_card(folder, shipped_card())
    return CloserToMeEngine(folder)


def of_device(name: str, runtime: str) -> Target:
    wanted = (
        t
        for t in every_target()
        if (t.device.id, t.configuration.runtime) == (name, runtime)
        and t.configuration.precision is Precision.FP32
    )
    return next(wanted)


PROBED = of_device("a100-pcie-40gb", "pytorch")
UNKNOWN = make_target({"fp32_tflops": 8.0, "dram_bw_gbps": 300.0, "clock_mhz": 1500.0})
TARGETS = [TARGET, PROBED, UNKNOWN]


def test_a_checkpoint_without_an_estimate_predicts_with_its_network(
    plain: CloserToMeEngine,
) -> None:
    assert read_checkpoint(without_estimate()).estimate is None

    table = plain.predict([GRAPH], TARGETS, {})

    assert not is_estimated(table).any()
    assert np.isfinite(table.latency_ms).all()
    attention = plain.explain(GRAPH, TARGET).attention
    assert attention is not None
    assert {"runtime", "family", "precision"} <= set(attention.metrics)  # read by the network


def test_what_was_measured_stays_with_the_network(
    plain: CloserToMeEngine, both: CloserToMeEngine
) -> None:
    network = plain.predict([GRAPH, GRAPH], TARGETS, {})

    table = both.predict([GRAPH, GRAPH], TARGETS, {})

    assert is_estimated(table).tolist() == [True, False, True]
    assert table.facts["evidence"][0][1] == "from published measurements of this configuration"
    for name in ("latency_ms", "low95_ms", "low80_ms", "high80_ms", "high95_ms"):
        ours, theirs = (getattr(each, name)[:, 1] for each in (table, network))
        assert ours == pytest.approx(theirs)
    assert table.bound_ms == pytest.approx(network.bound_ms)
    assert table.shared_error is not None
    assert network.shared_error is not None
    assert table.shared_error[:, 1] == pytest.approx(network.shared_error[:, 1])
    assert table.basis == network.basis
    small = small_estimate()
    expected = small.latency_ms(GRAPH, small.of([TARGET, UNKNOWN]))
    ours = table.latency_ms[:, [0, 2]]
    assert ours == pytest.approx(np.fmax(expected, table.bound_ms[:, [0, 2]]))


def test_own_measurements_of_the_target_go_to_the_network(
    plain: CloserToMeEngine, both: CloserToMeEngine
) -> None:
    own = {TARGET.id: TargetMeasurements("own", [GRAPH], np.array([7.0]), np.array([0.01]))}
    network = plain.predict([GRAPH], [TARGET], own)

    table = both.predict([GRAPH], [TARGET], own)

    assert table.latency_ms == pytest.approx(network.latency_ms)
    assert table.facts["evidence"] == [["from 1 network that you measured"]]
    explained = both.explain(GRAPH, TARGET, own)
    assert explained.latency_ms.sum() == pytest.approx(table.latency_ms[0, 0], rel=1e-5)


def test_measurements_of_another_configuration_count_whatever_is_asked_beside(
    both: CloserToMeEngine,
) -> None:
    configuration = replace(TARGET.configuration, runtime="openvino")
    other = Target(TARGET.device, configuration)
    plain = both.predict([GRAPH], [TARGET], {}).latency_ms[0, 0]
    slow = TargetMeasurements("own", [GRAPH] * 3, np.full(3, 50 * plain), np.full(3, 0.01))

    alone = both.predict([GRAPH], [TARGET], {other.id: slow})
    beside = both.predict([GRAPH], [TARGET, other], {other.id: slow})

    assert alone.latency_ms[0, 0] == beside.latency_ms[0, 0] > 1.2 * plain
    explained = both.explain(GRAPH, TARGET, {other.id: slow})
    assert explained.latency_ms.sum() == pytest.approx(alone.latency_ms[0, 0], rel=1e-5)


@pytest.mark.parametrize(("rows", "columns"), [(0, 2), (1, 0), (0, 0)])
def test_no_graphs_or_no_targets(both: CloserToMeEngine, rows: int, columns: int) -> None:
    table = both.predict([GRAPH] * rows, TARGETS[:columns], {})

    assert table.latency_ms.shape == (rows, columns)


def test_views_alone_have_an_interval_on_hardware_that_nobody_measured() -> None:
    graph = make_graph([Op(flags=VIEW)])
    table = blind_engine().predict([graph], [make_target()], {})
    assert 0 < table.low80_ms[0, 0] < table.latency_ms[0, 0] < table.high80_ms[0, 0]
