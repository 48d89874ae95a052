"""Options of hardware against a budget, by a catalogue that fits on a page."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.documents import Provenance
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.percentiles import Z80
from predictor.core.records import Basis, Configuration, Device, Measurement, Precision
from predictor.devices.operating import clocks_of
from predictor.graph.operator_graph import OperatorFlag
from predictor.services.choose.choice import Choice, Option
from predictor.services.choose.choose import choose
from predictor.services.choose.options import Budget, Wanted, options_of
from predictor.services.choose.rows import TIMES
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.clocks import at_clocks, clock_model
from predictor.services.prediction.predict import predict
from predictor.services.prediction.throughput import gains, throughputs
from tests.support.graphs import Op
from tests.support.models import make_model

pytestmark = pytest.mark.slow

FP32, FP16 = Precision.FP32, Precision.FP16
RUNS = (Configuration("onnxruntime", FP32), Configuration("tensorrt", FP16))
FACTS = {"fp32_tflops": 1.0, "fp16_tflops": 2.0, "dram_bw_gbps": 60.0, "dram_gb": 4.0}
SMALL = Device(
    id="small",
    name="Small",
    vendor="Me",
    family=Family.GPU,
    metrics=FACTS | {"tdp_w": 10.0},
    configurations=RUNS,
)
LARGE = Device(
    id="large",
    name="Large",
    vendor="Me",
    family=Family.GPU,
    metrics={name: 20 * value for name, value in FACTS.items()} | {"tdp_w": 200.0},
    configurations=RUNS,
)
SILENT = replace(SMALL, id="silent", name="Silent", metrics=FACTS)
DEVICES = (SMALL, LARGE, SILENT)
MODEL = make_model(Op(macs=2 * 10**9, weights=10**7, read=2 * 10**7))
_LIGHTER = make_model(Op(macs=10**9, weights=4 * 10**7, read=10**7), path="/models/other.onnx")
OTHER = replace(_LIGHTER, graph=replace(_LIGHTER.graph, fingerprint="e" * 64))
OPTIONS = options_of(DEVICES, Wanted())
TARGETS = OPTIONS.targets


def chosen(budget: Budget, *models: object, **options: object) -> Choice:
    batches = options.pop("batches", (1,))
    of = replace(OPTIONS, batches=batches)  # type: ignore[arg-type]
    return choose(models or (MODEL,), of, budget, **options)  # type: ignore[arg-type]


def chance_of(choice: Choice, device: str, runtime: str = "onnxruntime") -> float:
    (place,) = (
        index
        for index, target in enumerate(choice.options.targets)
        if target.id[:2] == (device, runtime)
    )
    return float(choice.chance[place])


def test_the_chance_is_that_of_the_predicted_log_normal() -> None:
    p = chosen(Budget(max_ms=5.0)).rows[0].prediction(0)
    assert p.latency_ms is not None
    assert p.high80_ms is not None
    at_p50 = chosen(Budget(max_ms=p.latency_ms))
    at_high = chosen(Budget(max_ms=p.high80_ms))
    sigma = math.log(p.high80_ms / p.latency_ms) / Z80
    at_two = chosen(Budget(max_ms=p.latency_ms * math.exp(2 * sigma)))
    assert chance_of(at_p50, "small") == pytest.approx(0.5, abs=1e-6)
    assert chance_of(at_high, "small") == pytest.approx(0.9, abs=1e-6)
    assert chance_of(at_two, "small") == pytest.approx(0.97725, abs=1e-5)


def test_a_limit_under_the_bound_has_no_chance() -> None:
    bound = chosen(Budget(max_ms=5.0)).rows[0].prediction(0).bound_ms
    assert bound
    assert chance_of(chosen(Budget(max_ms=bound * 0.99)), "small") == 0.0


@settings(max_examples=20, deadline=None)
@given(st.floats(0.05, 500.0), st.floats(1.0, 10.0))
def test_a_looser_budget_never_lowers_a_chance(limit: float, factor: float) -> None:
    tight = chosen(Budget(max_ms=limit), MODEL, OTHER)
    loose = chosen(Budget(max_ms=limit * factor), MODEL, OTHER)
    assert (loose.chance >= tight.chance).all()
    assert not tight.is_met or loose.is_met


def test_two_models_are_joint_and_equal_graphs_count_once() -> None:
    budget = Budget(max_ms=chosen(Budget(max_ms=5.0)).rows[0].prediction(0).latency_ms)
    alone, both = chosen(budget), chosen(budget, MODEL, OTHER)
    other = chosen(budget, OTHER)
    first, second = chance_of(alone, "small"), chance_of(other, "small")
    assert first * second < chance_of(both, "small") <= min(first, second)
    assert f": {both.best.prediction.model} P50 " in both.sentence
    twice = chosen(budget, MODEL, MODEL)
    assert chance_of(twice, "small") == chance_of(alone, "small")


def test_power_counts_only_where_it_is_stated() -> None:
    choice = chosen(Budget(max_ms=1e6, max_watts=20.0))
    assert choice.best.target.device is SMALL
    assert choice.best.chance > 0.99
    broken = {choice.option(place).target.device.id: choice.option(place) for place in choice.order}
    assert broken["large"].broken == ("draws over 20 W",)
    assert broken["silent"].broken == ("its power is not stated",)
    assert {broken["large"].chance, broken["silent"].chance} == {0.0}
    assert choice.meeting == 1
    assert "1 of 3 devices meet 1e+06 ms, 20 W" in choice.sentence


def test_equal_chances_go_by_power_and_then_by_time() -> None:
    assert _devices(chosen(Budget(max_ms=1e6))) == ["small", "large", "silent"], (
        "a device without stated power comes last"
    )


def test_a_least_chance_over_99_percent_goes_before_power() -> None:
    place = TARGETS.index(next(t for t in TARGETS if t.id[:2] == ("small", "tensorrt")))
    p = chosen(Budget(max_ms=5.0)).rows[0].prediction(place)
    assert p.latency_ms
    assert p.high80_ms
    # 2.4 standard deviations above the P50 of the best run of the small device: 99.2 %.
    budget = Budget(max_ms=p.latency_ms * (p.high80_ms / p.latency_ms) ** (2.4 / Z80))
    assert chosen(budget).best.target.device is SMALL
    strict = chosen(budget, min_chance=0.995)
    assert strict.best.target.device is LARGE
    assert strict.is_met


def _devices(choice: Choice) -> list[str]:
    return [choice.option(place).target.device.id for place in choice.of_devices]


def test_the_front_has_no_option_that_another_beats() -> None:
    choice = chosen(Budget(max_ms=1e6))
    front = [choice.option(place) for place in choice.front]
    assert {option.target.device.id for option in front} == {"small", "large"}
    for option in front:
        for other in front:
            mine = (option.prediction.latency_ms, option.watts, option.memory_mb)
            its = (other.prediction.latency_ms, other.watts, other.memory_mb)
            assert option is other or any(a < b for a, b in zip(mine, its, strict=True))  # type: ignore[operator]


def test_memory_is_that_of_weights_and_activations_in_the_precision() -> None:
    choice = chosen(Budget(max_memory_mb=1e6))
    in_fp32, in_fp16 = choice.memory_mb[:2]
    assert in_fp32 == pytest.approx(2 * in_fp16)
    limit = Budget(max_memory_mb=float(in_fp32 + in_fp16) / 2)
    assert chance_of(chosen(limit), "small") == 0.0
    assert chance_of(chosen(limit), "small", "tensorrt") == 1.0


def test_the_chance_of_a_rate_is_that_of_latency_and_gain_together() -> None:
    (place,) = (i for i, target in enumerate(TARGETS) if target.id[:2] == ("large", "tensorrt"))
    row = chosen(Budget(max_ms=5.0)).rows[0].prediction(place)
    (rate,) = throughputs(MODEL, [TARGETS[place]], [row])
    assert rate is not None
    assert rate.low80_per_s is not None
    assert rate.gain > 1
    at_rate = chosen(Budget(min_throughput=rate.per_s))
    (shown,) = at_rate.option(place).rates
    assert shown is not None
    assert (shown.per_s, shown.batch) == (pytest.approx(rate.per_s), rate.batch)
    assert chance_of(at_rate, "large", "tensorrt") == pytest.approx(0.5)
    at_low = chosen(Budget(min_throughput=rate.low80_per_s))
    assert chance_of(at_low, "large", "tensorrt") == pytest.approx(0.9)
    # Over the bound of a run in however large batches it is impossible.
    bound_ms = gains(MODEL, [TARGETS[place]], 1)[0].bound_ms
    over = chosen(Budget(min_throughput=1001 / bound_ms))
    assert chance_of(over, "large", "tensorrt") == 0.0
    assert "items" in over.sentence


def test_a_rate_of_one_run_after_the_other_is_said_to_be_that() -> None:
    phone = replace(
        SMALL, id="phone", family=Family.NPU, configurations=(Configuration("rknn", FP16),)
    )
    choice = choose([MODEL], options_of([phone], Wanted()), Budget(min_throughput=1e-3))
    option = choice.option(int(choice.order[0]))
    assert option.rate is not None
    assert option.prediction.latency_ms is not None
    assert option.rate.per_s == pytest.approx(1000 / option.prediction.latency_ms)
    assert "items/s of one run after the other" in option.remark


def test_a_rate_and_a_latency_are_kept_together() -> None:
    both = chosen(Budget(max_ms=5.0, min_throughput=100.0))
    for alone in (Budget(max_ms=5.0), Budget(min_throughput=100.0)):
        assert (both.chance <= chosen(alone).chance + 1e-12).all()


def test_larger_batches_reach_a_throughput_that_one_image_does_not() -> None:
    rate = 1e3 / chosen(Budget(max_ms=5.0)).rows[0].prediction(1).latency_ms  # type: ignore[operator]
    alone = chosen(Budget(min_fps=1.3 * rate))
    larger = chosen(Budget(min_fps=1.3 * rate), batches=(1, 4))
    assert larger.chance.shape == (2 * len(TARGETS),)
    assert larger.best.chance >= alone.best.chance
    four = larger.option(len(TARGETS))
    assert four.batch == 4
    assert four.prediction.latency_ms > larger.option(0).prediction.latency_ms  # type: ignore[operator]


def test_where_nothing_meets_it_the_nearest_is_named_with_the_reason() -> None:
    choice = chosen(Budget(max_ms=1e-6))
    assert not choice.is_met
    assert choice.sentence.startswith("Nothing of 6 options on 3 devices meets 1e-06 ms; Large (")
    assert "no run there can be under" in choice.sentence
    assert choice.settling is None, "no measurement helps against physics"


def test_the_measurement_is_one_that_may_turn_the_choice() -> None:
    # Near its P50 all is open, far above it nothing is.
    p50 = float(chosen(Budget(max_ms=5.0)).rows[0].times_ms[0].min())
    open_choice = chosen(Budget(max_ms=p50))
    settling = open_choice.settling
    assert settling is not None
    assert 0 < settling.gain <= 1 - open_choice.best.chance
    assert settling.minutes > 0
    words = settling.words(["net.onnx"])
    assert words.startswith(f"To settle it, measure net.onnx on {settling.target.device.name} (")
    assert "1 minute of runs" in words
    assert chosen(Budget(max_ms=1e6)).settling is None


def test_one_option_alone_is_measured_for_whether_to_take_it() -> None:
    targets = options_of([SMALL], Wanted(precisions=(FP32,)))
    p50 = choose([MODEL], targets, Budget(max_ms=5.0)).rows[0].prediction(0).latency_ms
    settling = choose([MODEL], targets, Budget(max_ms=p50)).settling
    assert settling is not None
    # Half the results leave a chance of nearly 1, the others one that is refused.
    assert settling.gain == pytest.approx(0.25, abs=0.02)


def test_making_the_measurement_settles_what_it_was_asked_for() -> None:
    p50 = float(chosen(Budget(max_ms=5.0)).rows[0].times_ms[0].min())
    settling = chosen(Budget(max_ms=p50)).settling
    assert settling is not None
    identity = settling.target.id
    fast, slow = (
        chosen(
            Budget(max_ms=p50),
            measurements=[_measured(settling.target.device.id, identity.configuration, ms)],
        )
        for ms in (p50 / 2, p50 * 2)
    )
    assert chance_of(fast, identity.device_id, identity.runtime) > 0.99
    assert chance_of(slow, identity.device_id, identity.runtime) < 0.01


def _measured(device: str, configuration: Configuration, value_ms: float) -> Measurement:
    return Measurement(
        id="1" * 32,
        fingerprint=MODEL.graph.fingerprint,
        device_id=device,
        configuration=replace(configuration, batch=1),
        samples_ns=(),
        value_ms=value_ms,
        statistic="median",
        protocol="typed-by-hand/1",
        provenance=Provenance({}),
    )


def test_options_are_what_devices_support_and_is_wanted() -> None:
    halves = options_of(DEVICES, Wanted(precisions=(FP16,)))
    assert {target.id[1:3] for target in halves.targets} == {("tensorrt", "fp16")}
    assert len(halves.targets) == 3
    cpu = Device(
        id="cpu",
        name="CPU",
        vendor="Me",
        family=Family.CPU,
        metrics={"core_count": 4},
        configurations=RUNS[:1],
    )
    counts = options_of([cpu, SMALL], Wanted(threads=(0, 1, 4)))
    assert [target.id.threads for target in counts.targets if target.device is cpu] == [4, 1]
    assert len([target for target in counts.targets if target.device is SMALL]) == 2
    with pytest.raises(InputError, match="none of 0 devices supports"):
        options_of(DEVICES, Wanted(families=(Family.NPU,)))


def test_a_budget_needs_a_limit_over_nothing() -> None:
    with pytest.raises(InputError, match="it has no limit"):
        Budget()
    for wrong in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="is not a number over 0"):
            Budget(max_ms=wrong)


BOARDS = [
    load_catalogue().find(name)
    for name in ("jetson-agx-xavier-gpu", "jetson-xavier-nx-gpu", "jetson-agx-orin-cpu", "rpi4")
]


def test_modes_are_options_with_the_times_and_the_power_of_predictions_in_them() -> None:
    options = options_of(BOARDS, Wanted(precisions=(FP32,)))
    choice = choose([MODEL], options, Budget(max_ms=50.0, max_watts=25.0))
    for place in choice.order.tolist():
        option, target = choice.option(place), options.target(place)
        (prediction,) = predict([MODEL], [target])
        watts = target.device.metric("tdp_w")
        if option.mode is not None:
            clocks, watts = clocks_of(target.device, option.mode), option.mode.power_w
            followed = clock_model(MODEL, target)
            prediction = at_clocks(prediction, followed, target, clocks, option.mode).prediction
        assert option.watts == watts
        assert (option.prediction.basis, option.prediction.evidence) == (
            prediction.basis,
            prediction.evidence,
        )
        times = [getattr(prediction, name) for name in TIMES]
        listed = [getattr(option.prediction, name) for name in TIMES]
        # To rounding of float32: products over many targets at once sum in another order.
        assert listed == pytest.approx(times, rel=1e-6)
        assert choice.rows[0].times_ms[:, place].tolist() == pytest.approx(listed, rel=1e-12)
    best = next(each for each in map(choice.option, choice.of_devices) if not each.broken)
    assert best.mode is not None
    assert f", {best.mode.name})" in best.name


def test_no_named_mode_is_faster_than_the_usual_clocks_or_likelier_to_keep_a_limit() -> None:
    options = options_of(load_catalogue().devices, Wanted())
    in_mode = np.arange(len(options.targets), options.block)
    usual = options.target_places[in_mode]
    assert len(in_mode) > 500
    for limit in (0.5, 5.0, 50.0):
        choice = choose([MODEL], options, Budget(max_ms=limit))
        p50, chance = choice.latency_ms, choice.chance
        assert not (p50[in_mode] < p50[usual] * (1 - 1e-12)).any()
        assert not (chance[in_mode] > chance[usual] + 1e-9).any()


def test_a_mode_asked_for_by_name_leaves_out_the_usual_clocks() -> None:
    options = options_of(BOARDS, Wanted(modes=("15w",)))
    choice = choose([MODEL], options, Budget(max_ms=1e6))
    listed = [choice.option(place) for place in choice.order.tolist()]
    assert {option.mode and option.mode.name for option in listed} == {"15W"}
    assert {option.watts for option in listed} == {15.0}
    with pytest.raises(InputError, match="none of the devices has a mode"):
        options_of(BOARDS, Wanted(modes=("16W",)))


def test_every_number_of_threads_is_one_up_to_the_cores() -> None:
    counts = options_of(BOARDS[-1:], Wanted(threads=(), runtimes=("ncnn",), precisions=(FP32,)))
    assert [target.threads for target in counts.targets] == [4, 1, 2, 3]


def test_a_tail_that_is_known_is_held_against_the_limit_and_another_is_said_not_to_be() -> None:
    untold = Configuration("openvino", FP16)  # too few GPUs in the logs
    devices = [SMALL, replace(SMALL, id="silent", name="Silent", configurations=(untold,))]
    options = options_of(devices, Wanted())
    p50 = float(choose([MODEL], options, Budget(max_ms=5.0)).rows[0].times_ms[0].max())
    by_median, by_90, by_99 = (
        choose([MODEL], options, Budget(max_ms=p50 * 1.05, percentile=each))
        for each in (50, 90, 99)
    )
    for place, target in enumerate(options.targets):
        chances = [float(each.chance[place]) for each in (by_median, by_90, by_99)]
        option = by_99.option(place)
        if target.configuration.runtime != "tensorrt":
            assert chances == [chances[0]] * 3
            assert option.tail_ms is None
            assert "P99 not known, judged by P50" in option.remark
        else:
            assert chances[0] > chances[1] > chances[2]
            p = option.prediction
            assert p.latency_ms is not None
            assert p.p90_ms is not None
            assert p.latency_ms < p.p90_ms < (option.tail_ms or 0.0)
    assert by_99.without_tail.startswith("P99 is not known of the best options of ")
    assert "ms at P99 " in f"{by_99.budget.words} "
    assert by_median.without_tail == ""


@settings(max_examples=20, deadline=None)
@given(st.floats(0.05, 500.0))
def test_a_tail_is_never_likelier_to_keep_a_limit_than_the_median(limit: float) -> None:
    median, p90, p99 = (chosen(Budget(max_ms=limit, percentile=each)) for each in (50, 90, 99))
    assert (p90.chance <= median.chance + 1e-12).all()
    assert (p99.chance <= p90.chance + 1e-6).all()


def test_a_larger_batch_has_no_tail() -> None:
    choice = chosen(Budget(max_ms=1e6, min_fps=1.0, percentile=90), batches=(1, 4))
    assert choice.option(1).tail_ms is not None
    assert choice.option(len(TARGETS) + 1).tail_ms is None


def test_a_percentile_needs_a_latency() -> None:
    with pytest.raises(InputError, match="there is no latency that it has to keep"):
        Budget(max_watts=10.0, percentile=90)


INT8_TOO = (*RUNS, Configuration("tensorrt", Precision.INT8))


def test_an_int8_option_says_that_it_needs_a_quantised_model() -> None:
    metrics = {**FACTS, "int8_tops": 4.0, "tdp_w": 10.0}
    device = replace(SMALL, metrics=metrics, configurations=INT8_TOO)
    choice = choose((MODEL,), options_of([device], Wanted()), Budget(max_ms=1e4))
    by_precision = {
        option.prediction.configuration.precision: option
        for option in map(choice.option, choice.order.tolist())
    }
    int8 = by_precision.pop(Precision.INT8)
    assert int8.needs_quantising
    assert int8.runs.endswith(", needs a quantised model")
    assert int8.name.endswith(", needs a quantised model)")
    assert not any(option.needs_quantising for option in by_precision.values())
    assert ("needs a quantised model" in choice.sentence) is choice.best.needs_quantising


def test_a_lower_limit_meets_no_budget_and_ranks_behind_what_was_measured() -> None:
    unknown = make_model(
        Op(macs=2 * 10**9, weights=10**7, read=2 * 10**7), Op(flags=OperatorFlag.UNKNOWN)
    )
    open_choice = choose((unknown,), OPTIONS, Budget(max_ms=1e6))
    assert not open_choice.is_met
    assert open_choice.meeting == 0
    assert open_choice.best.chance_text == "not known"
    assert "for certain" in open_choice.sentence
    assert "P50 ≥ " in open_choice.sentence
    assert "80 % interval" not in open_choice.sentence
    assert open_choice.settling is None

    target = next(t for t in TARGETS if t.device is SMALL)
    configuration = replace(target.configuration, threads=target.threads, batch=1)
    slow = Measurement(
        id="m" * 32,
        fingerprint=unknown.graph.fingerprint,
        device_id="small",
        configuration=configuration,
        samples_ns=(),
        value_ms=1e5,
        statistic="median",
        protocol="ctm-probe/1",
        provenance=Provenance({}),
    )
    choice = choose((unknown,), OPTIONS, Budget(max_ms=1e6), measurements=[slow])
    assert choice.is_met
    assert choice.best.prediction.latency_ms == 1e5
    assert choice.best.target.id == target.id
    assert choice.meeting == 1


def test_a_class_that_was_checked_on_few_chips_does_not_come_first_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choice = chosen(Budget(max_ms=1e6))
    first = choice.option(choice.of_devices[0]).target.device.id
    whole = choice.option

    def option(place: int) -> Option:
        made = whole(place)
        is_first = made.target.device.id == first
        chips = tuple(
            replace(p, basis=Basis.ZERO_SHOT, class_chips=4 if is_first else 5)
            for p in made.predictions
        )
        return replace(made, predictions=chips)

    monkeypatch.setattr(Choice, "option", lambda _, place: option(place))
    checked = replace(choice)
    names = [option(place).name for place in checked.of_devices[:2]]
    assert f"; {names[1]} comes first with a chance" in checked.sentence
    assert f"{names[0]} ranks before it, but few chips of its kind were checked." in (
        checked.sentence
    )
