"""What measured targets tell about others, with posteriors worked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.calibration.evidence import NEARNESS, Evidence, Keys, Known, Scales
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target

unhurried = settings(deadline=None, max_examples=60)

# Variances 0.16, 0.09, 0.04, 0.01 and 0.01, 0.31 in all; 0.25 of one network.
SCALES = Scales(0.4, 0.3, 0.2, 0.1, 0.1, 0.5)
LEVEL = 0.31

Row = tuple[str, str, str, str]  # silicon, device, runtime, configuration
ASKED: Row = ("a76", "board", "ncnn", "fp32/t4")


def keys_of(*rows: Row) -> Keys:
    return Keys(*np.array(rows, np.str_).reshape(-1, 4).T)


def evidence_of(*rows: tuple[Row, float, int]) -> Evidence:
    """Return evidence of measured targets, each with its deviation and number of networks."""
    return Evidence(
        keys_of(*(row for row, _, _ in rows)),
        np.array([deviation for _, deviation, _ in rows]),
        np.array([count for _, _, count in rows], np.int64),
        np.full(len(rows), 1e9),
        SCALES,
    )


def near(known: Known) -> list[str]:
    return [NEARNESS[number] for number in known.nearness.tolist()]


def test_nothing_measured_leaves_the_prior() -> None:
    known = evidence_of().about(keys_of(ASKED, ASKED))

    assert known.mean.tolist() == [0.0, 0.0]
    assert known.variance == pytest.approx([LEVEL, LEVEL])
    assert near(known) == ["", ""]
    assert known.nearest.tolist() == [-1, -1]
    assert SCALES.level == pytest.approx(np.sqrt(LEVEL))


def test_nothing_asked_is_nothing_answered() -> None:
    known = evidence_of((ASKED, 0.5, 3)).about(keys_of())

    assert (len(known.mean), len(known.variance), len(known.nearness)) == (0, 0, 0)


@pytest.mark.parametrize(
    ("measured", "covariance", "nearness"),
    [
        (("a76", "other", "tflite", "fp32/t4"), 0.16, "chip"),
        (("a76", "other", "ncnn", "fp32/t4"), 0.25, "chip"),
        (("a76", "board", "tflite", "fp32/t4"), 0.20, "device"),
        (("a76", "board", "ncnn", "int8/t4"), 0.30, "device"),
        (("a76", "board", "ncnn", "fp32/t1"), 0.30, "device"),
        (ASKED, 0.31, "target"),
    ],
)
def test_one_neighbour(measured: Row, covariance: float, nearness: str) -> None:
    """Five networks add 0.25 / 5 to the variance of their mean: 0.36 in all."""
    known = evidence_of((measured, 0.9, 5)).about(keys_of(ASKED))

    assert known.mean == pytest.approx([covariance / 0.36 * 0.9])
    assert known.variance == pytest.approx([LEVEL - covariance**2 / 0.36])
    assert near(known) == [nearness]
    assert known.nearest.tolist() == [0]


def test_two_neighbours() -> None:
    """The covariance of both is 0.16, of each with the asked 0.20 and 0.25, of each alone 0.36.

    The inverse of ((0.36, 0.16), (0.16, 0.36)) is ((0.36, -0.16), (-0.16, 0.36)) / 0.104, so that
    the gains are (0.36 x 0.20 - 0.16 x 0.25) / 0.104 = 0.032 / 0.104 and
    (0.36 x 0.25 - 0.16 x 0.20) / 0.104 = 0.058 / 0.104.
    """
    evidence = evidence_of(
        (("a76", "board", "tflite", "fp32/t4"), 0.4, 5),
        (("a76", "other", "ncnn", "fp32/t4"), -0.2, 5),
    )

    known = evidence.about(keys_of(ASKED))

    assert known.mean == pytest.approx([(0.032 * 0.4 - 0.058 * 0.2) / 0.104])
    assert known.variance == pytest.approx([LEVEL - (0.032 * 0.20 + 0.058 * 0.25) / 0.104])
    assert near(known) == ["device"]


def test_other_silicon_tells_nothing() -> None:
    evidence = evidence_of((("a53", "board", "ncnn", "fp32/t4"), 1.0, 50))

    known = evidence.about(keys_of(ASKED))

    assert (known.mean[0], known.variance[0]) == (0.0, pytest.approx(LEVEL))
    assert near(known) == [""]
    assert known.nearest.tolist() == [-1]


def test_each_asked_target_has_its_own_silicon() -> None:
    evidence = evidence_of(
        (("a53", "x", "ncnn", "fp32/t4"), 1.0, 5), (("a76", "y", "ncnn", "fp32/t4"), -1.0, 5)
    )

    known = evidence.about(keys_of(("a76", "y", "ncnn", "fp32/t4"), ("a53", "x", "mnn", "fp32/t4")))

    assert known.mean == pytest.approx([-0.31 / 0.36, 0.20 / 0.36])
    assert near(known) == ["target", "device"]
    assert known.nearest.tolist() == [1, 0]


def test_the_nearest_goes_before_the_most_measured() -> None:
    rows: list[tuple[Row, float, int]] = [
        (("a76", "other", "ncnn", "fp32/t4"), 0.0, 900),
        (("a76", "board", "tflite", "fp32/t4"), 0.0, 30),
        (("a76", "board", "ncnn", "int8/t4"), 0.0, 40),
        (ASKED, 0.0, 1),
    ]

    nearest = [evidence_of(*rows[:count]).about(keys_of(ASKED)) for count in (1, 2, 3, 4)]

    assert [near(known) for known in nearest] == [["chip"], ["device"], ["device"], ["target"]]
    # Of two as near, the one of more networks is named.
    assert [int(known.nearest[0]) for known in nearest] == [0, 1, 2, 3]


def test_many_networks_of_the_target_leave_nothing_open() -> None:
    known = evidence_of((ASKED, 0.7, 10**9)).about(keys_of(ASKED))

    assert known.mean == pytest.approx([0.7])
    assert known.variance == pytest.approx([0.0], abs=1e-9)
    assert known.variance[0] >= 0


def test_a_target_with_other_facts_of_the_same_name_is_the_target() -> None:
    device = Device("board", "Board", "", Family.MOBILE_CPU, {}, architecture="cortex-a76")
    faster = replace(device, name="Board 2", metrics={"clock_mhz": 3000.0})
    run = Configuration("ncnn", threads=4)
    keys = Keys.of([Target(device, run)])
    evidence = Evidence(keys, np.array([0.5]), np.array([5]), np.array([1e9]), SCALES)
    others = [
        Target(faster, run),
        Target(faster, replace(run, precision=Precision.INT8)),
        Target(replace(faster, id="another"), run),
        Target(replace(faster, id="another", architecture="cortex-a53"), run),
    ]

    assert near(evidence.about(Keys.of(others))) == ["target", "device", "chip", ""]
    assert keys.configuration.tolist() == ["fp32/t4"]


def test_evidence_can_be_joined_and_the_parts_stay() -> None:
    one, two = evidence_of((ASKED, 0.5, 3)), evidence_of((("a53", "x", "mnn", "fp32/t4"), 0.1, 7))

    both = one.joined(two)

    assert both.deviation.tolist() == [0.5, 0.1]
    assert both.networks.tolist() == [3, 7]
    assert both.keys.device.tolist() == ["board", "x"]
    assert both.rate.tolist() == [1e9, 1e9]
    assert len(one.deviation) == 1


@pytest.mark.parametrize(
    ("asked", "rate", "twin"),
    [
        (("a76", "another", "ncnn", "fp32/t4"), 1e9, 1),
        (("a76", "another", "ncnn", "fp32/t4"), 1.09e9, 1),
        (("a76", "another", "ncnn", "fp32/t4"), 1.2e9, -1),
        (("a76", "another", "mnn", "fp32/t4"), 1e9, -1),
        (("a76", "another", "ncnn", "fp32/t1"), 1e9, -1),
        (("a53", "another", "ncnn", "fp32/t4"), 1e9, -1),
    ],
)
def test_a_twin_has_the_chip_the_run_and_the_rate(asked: Row, rate: float, twin: int) -> None:
    evidence = evidence_of((("a76", "few", "ncnn", "fp32/t4"), 0.1, 3), (ASKED, 0.2, 8))

    assert evidence.twins(keys_of(asked), np.array([rate])).tolist() == [twin]
    assert evidence_of().twins(keys_of(asked), np.array([rate])).tolist() == [-1]


SILICON = ("a53", "a76", "a78")


@st.composite
def rows(draw: st.DrawFn) -> Row:
    chip = draw(st.sampled_from(SILICON))
    return (
        chip,
        f"{chip} {draw(st.sampled_from('xyz'))}",
        draw(st.sampled_from(["ncnn", "tflite"])),
        draw(st.sampled_from(["fp32/t1", "fp32/t4", "int8/t4"])),
    )


MEASURED = st.lists(
    st.tuples(rows(), st.floats(-3, 3), st.integers(1, 10**4)), min_size=1, max_size=8
)
ASKED_ROWS = st.lists(rows(), min_size=1, max_size=5)


@unhurried
@given(MEASURED, ASKED_ROWS)
def test_variance_is_between_nothing_and_the_prior(
    measured: list[tuple[Row, float, int]], asked: list[Row]
) -> None:
    known = evidence_of(*measured).about(keys_of(*asked))

    assert np.isfinite(known.mean).all()
    assert (known.variance >= 0).all()
    assert (known.variance <= LEVEL + 1e-9).all()
    is_known = np.array([row[0] in {each[0][0] for each in measured} for row in asked])
    assert ((known.nearness > 0) == is_known).all()
    assert ((known.variance < LEVEL - 1e-9) == is_known).all()


@unhurried
@given(MEASURED, ASKED_ROWS, st.integers(0, 7), st.integers(2, 100))
def test_more_networks_or_targets_never_widen(
    measured: list[tuple[Row, float, int]], asked: list[Row], place: int, factor: int
) -> None:
    place %= len(measured)
    row, deviation, count = measured[place]
    more = [*measured[:place], (row, deviation, count * factor), *measured[place + 1 :]]
    fewer = measured[:place] + measured[place + 1 :]

    least, middle, most = (
        evidence_of(*each).about(keys_of(*asked)).variance for each in (more, measured, fewer)
    )

    assert (least <= middle + 1e-9).all()
    assert (middle <= most + 1e-9).all()


@unhurried
@given(MEASURED, ASKED_ROWS, st.randoms(use_true_random=False))
def test_the_order_of_evidence_and_of_questions_is_no_matter(
    measured: list[tuple[Row, float, int]], asked: list[Row], random: object
) -> None:
    before = evidence_of(*measured).about(keys_of(*asked))
    shuffled, order = list(measured), list(range(len(asked)))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    random.shuffle(order)  # type: ignore[attr-defined]

    after = evidence_of(*shuffled).about(keys_of(*(asked[place] for place in order)))

    assert after.mean == pytest.approx(before.mean[order], abs=1e-6)
    assert after.variance == pytest.approx(before.variance[order], abs=1e-8)
    assert after.nearness.tolist() == before.nearness[order].tolist()
