"""What a latency measured on one device tells of the same graph on others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.calibration.graph_deviation import (
    DEVICE_VARIANCE,
    GRAPH_VARIANCE,
    OF_CLASS,
    REPEAT_VARIANCE,
    corrections,
    covariance,
    parts,
)
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target

pytestmark = pytest.mark.slow

RUNTIMES = ("onnxruntime", "openvino", "ncnn", "qnn")


def target(
    device: str = "a",
    chip: str = "",
    runtime: str = "ncnn",
    precision: str = "fp32",
    threads: int = 1,
    family: Family = Family.CPU,
) -> Target:
    chip = chip or f"chip-{device}"
    # Of instruction sets a processor's kind is read.
    own = Device(
        id=device,
        name=device,
        vendor="maker",
        family=family,
        metrics={},
        chip=chip,
        instruction_sets=("avx2",),
    )
    return Target(own, Configuration(runtime, Precision(precision), threads))


def corrected(
    targets: list[Target], deviation: list[float], measured: list[int], apart: list[float]
) -> tuple[list[float], list[float]]:
    shift, width, _ = corrections(
        targets, np.array(deviation), np.array(measured, np.intp), np.array(apart)
    )
    return shift.tolist(), width.tolist()


def test_other_threads_of_an_unknown_device_by_hand() -> None:
    # 0.64 = 0.09 of the graph, 0.19 of the device, 0.36 of the silicon.
    shared = 0.70 * 0.09 + 0.37 * 0.19 + 0.85 * 0.36
    variance = 0.64 + REPEAT_VARIANCE

    shift, width = corrected([target(), target(threads=4)], [0.8, 0.8], [0], [0.5])

    assert shift[1] == pytest.approx(0.5 * shared / variance)
    assert shift[1] == pytest.approx(0.343, abs=1e-3)
    assert width[1] == pytest.approx(math.sqrt(1 - shared**2 / variance / 0.64))
    assert width[1] == pytest.approx(0.727, abs=1e-3)


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        (target(precision="int8"), 0.45 * 0.09 + 0.37 * 0.19 + 0.65 * 0.36),
        (target(runtime="onnxruntime"), 0.35 * 0.09 + 0.37 * 0.19 + 0.35 * 0.36),
        (target("b", "chip-a"), 0.70 * 0.09 + 0.85 * 0.36),
        (target("b", "chip-a", threads=4), 0.70 * 0.09 + 0.85 * 0.36),
    ],
)
def test_what_two_targets_have_in_common(other: Target, shared: float) -> None:
    shift, _ = corrected([target(), other], [0.8, 0.8], [0], [1.0])
    assert shift[1] == pytest.approx(shared / (0.64 + REPEAT_VARIANCE))


@pytest.mark.parametrize(
    "other",
    [
        target("b"),
        target("b", runtime="openvino"),
        target("b", "chip-a", precision="int8"),
        target("b", "chip-a", runtime="openvino"),
    ],
)
def test_what_did_not_help_on_left_out_silicon_moves_nothing(other: Target) -> None:
    assert corrected([target(), other], [0.8, 0.8], [0], [1.0]) == (
        [pytest.approx(1.0, abs=1e-3), 0.0],
        [pytest.approx(0.0, abs=0.03), 1.0],
    )


def test_a_class_in_which_it_helps_moves_other_silicon_by_the_graphs_own_part() -> None:
    rho = OF_CLASS["npu", "qnn"]
    both = [target(name, runtime="qnn", family=Family.NPU) for name in ("a", "b")]

    shift, width = corrected(both, [0.2, 0.8], [0], [0.3])

    assert shift[1] == pytest.approx(0.3 * rho * 0.04 / (0.04 + REPEAT_VARIANCE))
    assert 0.98 < width[1] < 1.0
    other = [both[0], target("b", runtime="qnn", precision="int8", family=Family.NPU)]
    assert corrected(other, [0.2, 0.8], [0], [0.3])[0][1] == 0.0


def test_several_are_conditioned_on_together() -> None:
    targets = [target(threads=1), target(threads=2), target(threads=4)]
    one = 0.70 * 0.09 + 0.37 * 0.19 + 0.85 * 0.36
    apart = np.array([0.2, 0.6])
    among = np.array([[0.64 + REPEAT_VARIANCE, one], [one, 0.64 + REPEAT_VARIANCE]])
    gain = np.array([one, one]) @ np.linalg.inv(among)

    shift, width = corrected(targets, [0.8] * 3, [0, 1], apart.tolist())

    assert shift[2] == pytest.approx(float(gain @ apart))
    assert width[2] == pytest.approx(math.sqrt(1 - float(gain.sum() * one) / 0.64))
    # One that tells nothing of a target does not move it beside one that does.
    far = [targets[0], target("b", runtime="onnxruntime"), targets[2]]
    assert corrected(far, [0.8] * 3, [0, 1], [0.2, 5.0])[0][2] == pytest.approx(
        corrected(far, [0.8] * 3, [0], [0.2])[0][2]
    )


def test_the_variance_of_an_interval_is_shared_out_from_the_nearest_part() -> None:
    graph, device, silicon = parts(np.array([0.1, 0.4, 1.0]))
    assert graph.tolist() == pytest.approx([0.01, GRAPH_VARIANCE, GRAPH_VARIANCE])
    assert device.tolist() == pytest.approx([0.0, 0.07, DEVICE_VARIANCE])
    assert silicon.tolist() == pytest.approx([0.0, 0.0, 0.72])


def test_without_an_interval_nothing_is_told() -> None:
    both = [target(), target(threads=4)]
    assert corrected(both, [math.nan, 0.8], [0], [0.5]) == ([0.0, 0.0], [1.0, 1.0])
    assert corrected(both, [0.8, math.nan], [0], [0.5])[0][1] == 0.0


TARGETS = st.lists(
    st.builds(
        target,
        st.sampled_from("abc"),
        st.sampled_from(["", "one", "two"]),
        st.sampled_from(RUNTIMES),
        st.sampled_from(["fp32", "int8"]),
        st.integers(1, 4),
    ),
    min_size=2,
    max_size=7,
)
DEVIATIONS = st.floats(0.01, 3.0)


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[Target], list[float], list[int], list[float]]:
    targets = draw(TARGETS)
    count = len(targets)
    deviation = draw(st.lists(DEVIATIONS, min_size=count, max_size=count))
    places = draw(st.lists(st.sampled_from(range(count)), min_size=1, unique=True))
    apart = draw(st.lists(st.floats(-5, 5), min_size=len(places), max_size=len(places)))
    return targets, deviation, places, apart


@given(questions())
def test_intervals_never_widen_and_a_right_prediction_only_narrows(
    question: tuple[list[Target], list[float], list[int], list[float]],
) -> None:
    targets, deviation, places, apart = question
    shift, width = corrected(targets, deviation, places, [0.0] * len(apart))
    assert shift == [0.0] * len(targets)
    assert all(0 <= each <= 1 for each in width)
    # Nor do they depend on what was measured.
    assert corrected(targets, deviation, places, apart)[1] == width


@given(questions(), st.floats(-5, 5))
def test_the_gain_of_one_measurement_is_between_none_and_all(
    question: tuple[list[Target], list[float], list[int], list[float]], apart: float
) -> None:
    targets, deviation, places, _ = question
    shift, _ = corrected(targets, deviation, places[:1], [apart])
    assert all(abs(each) <= abs(apart) and each * apart >= 0 for each in shift)


@given(questions())
def test_the_order_of_measurements_does_not_matter(
    question: tuple[list[Target], list[float], list[int], list[float]],
) -> None:
    targets, deviation, places, apart = question
    shift, width = corrected(targets, deviation, places, apart)
    turned = corrected(targets, deviation, places[::-1], apart[::-1])
    assert turned[0] == pytest.approx(shift, abs=1e-6)
    assert turned[1] == pytest.approx(width, abs=1e-6)


@given(questions())
def test_the_covariance_is_one(
    question: tuple[list[Target], list[float], list[int], list[float]],
) -> None:
    targets, deviation, _, _ = question
    shared, tells = covariance(targets, np.array(deviation), np.arange(len(targets)))
    assert np.allclose(shared, shared.T)
    assert (tells == tells.T).all()
    assert np.linalg.eigvalsh(shared).min() > -1e-9 * shared.max()
    assert shared.diagonal() == pytest.approx(np.square(deviation))
