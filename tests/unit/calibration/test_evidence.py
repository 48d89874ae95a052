"""What measured targets tell about others, with posteriors worked by hand."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.calibration import evidence as evidence_module
from predictor.calibration.evidence import (
    NEARNESS,
    Deviations,
    Evidence,
    Keys,
    RememberedEvidence,
    Scales,
    threads_key,
)
from predictor.calibration.target_fit import PARTS
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target

unhurried = settings(deadline=None, max_examples=60)

# Variances 0.16, 0.09, 0.04, 0.01 and 0.01, 0.31 in all.
SCALES = Scales(0.4, 0.3, 0.2, 0.1, 0.1)
LEVEL = 0.31
ONE = 0.25  # variance of a level that one network tells

Row = tuple[str, str, str, str]  # silicon, device, runtime, precision and threads
ASKED: Row = ("a76", "board", "ncnn", "fp32/t4")


def keys_of(*rows: Row) -> Keys:
    words = [(*names, *run.split("/t")) for *names, run in rows]
    return Keys(*np.array(words, np.str_).reshape(-1, 5).T)


def evidence_of(*rows: tuple[Row, float, int]) -> Evidence:
    """Return evidence of measured targets, each with its level and number of networks.

    The shape of the first is 1 in all parts, that of the second 2, and so on.
    """
    networks = np.array([count for _, _, count in rows], np.int64)
    return Evidence(
        keys=keys_of(*(row for row, _, _ in rows)),
        level=np.array([level for _, level, _ in rows]),
        variance=ONE / networks,
        shape=np.outer(np.arange(1.0, 1 + len(rows)), np.ones(PARTS)),
        networks=networks,
        scales=SCALES,
    )


def board(device: str = "board", **changes: object) -> Target:
    """Return a target of the silicon and the configuration of ``ASKED``."""
    of_device = Device(
        id=device,
        name=device,
        vendor="",
        family=Family.MOBILE_CPU,
        metrics={},
        architecture="cortex-a76",
    )
    run = Configuration("ncnn", threads=4)
    return Target(of_device, replace(run, **changes))  # type: ignore[arg-type]


def near(known: Deviations) -> list[str]:
    return [NEARNESS[number] for number in known.nearness.tolist()]


def test_nothing_measured_leaves_the_prior() -> None:
    known = evidence_of().about(keys_of(ASKED, ASKED))

    assert known.mean.tolist() == [0.0, 0.0]
    assert known.variance == pytest.approx([LEVEL, LEVEL])
    assert known.shape.tolist() == [[0.0] * PARTS] * 2
    assert known.shape_variance.tolist() == [1.0, 1.0]
    assert near(known) == ["", ""]
    assert known.nearest.tolist() == [-1, -1]
    assert SCALES.level == pytest.approx(np.sqrt(LEVEL))


def test_evidence_of_nothing_can_be_asked_and_joined() -> None:
    nothing = Evidence.nothing(SCALES)

    known = nothing.about(keys_of(ASKED))
    assert (known.mean[0], known.nearness[0], known.nearest[0]) == (0.0, 0, -1)
    assert known.variance == pytest.approx([LEVEL])
    assert nothing.twins(keys_of(ASKED)).tolist() == [-1]
    assert nothing.without(Keys.of([board()])).keys.device.tolist() == []
    assert nothing.joined(evidence_of((ASKED, 0.5, 3))).level.tolist() == [0.5]


def test_nothing_asked_is_nothing_answered() -> None:
    known = evidence_of((ASKED, 0.5, 3)).about(keys_of())

    assert (len(known.mean), len(known.variance), len(known.nearness)) == (0, 0, 0)
    assert (known.shape.shape, known.shape_variance.shape) == ((0, PARTS), (0,))


@pytest.mark.parametrize(
    ("measured", "covariance", "nearness"),
    [
        (("a76", "other", "tflite", "fp32/t4"), 0.16, "chip"),
        (("a76", "other", "ncnn", "fp32/t4"), 0.25, "chip"),
        (("a76", "board", "tflite", "fp32/t4"), 0.20, "device"),
        # Half of the effect of the target itself, 0.01: exp(-ln(4) / 2) is a half too.
        (("a76", "board", "ncnn", "int8/t4"), 0.305, "device"),
        (("a76", "board", "ncnn", "fp32/t1"), 0.305, "device"),
        (("a76", "board", "ncnn", "int8/t1"), 0.3025, "device"),
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


def test_the_nearest_goes_before_the_runtime_and_the_runtime_before_the_most_measured() -> None:
    rows: list[tuple[Row, float, int]] = [
        (("a76", "other", "tflite", "fp32/t4"), 0.0, 900),
        (("a76", "other", "ncnn", "fp32/t4"), 0.0, 60),
        (("a76", "board", "tflite", "fp32/t4"), 0.0, 30),
        (("a76", "board", "tflite", "int8/t4"), 0.0, 40),
        (("a76", "board", "ncnn", "int8/t4"), 0.0, 5),
        (ASKED, 0.0, 1),
    ]

    nearest = [
        evidence_of(*rows[:count]).about(keys_of(ASKED)) for count in range(1, 1 + len(rows))
    ]

    assert [name for known in nearest for name in near(known)] == (
        ["chip"] * 2 + ["device"] * 3 + ["target"]
    )
    # Of two as near under one runtime, the one of more networks is named.
    assert [int(known.nearest[0]) for known in nearest] == [0, 1, 2, 3, 4, 5]


# --- Shapes ---


@pytest.mark.parametrize(
    ("measured", "shared", "unknown"),
    [
        # 0.7 of 1, but no more than a factor of two.
        (("a76", "other", "ncnn", "fp32/t4"), np.log(2), 0.6),
        (("a76", "other", "ncnn", "int8/t1"), np.log(2), 0.6),
        (("a76", "board", "ncnn", "int8/t4"), 0.8, 0.5),
        (ASKED, 1.0, 0.3),
        # Another runtime has other kernels, on whatever device.
        (("a76", "board", "tflite", "fp32/t4"), 0.0, 1.0),
        (("a76", "other", "tflite", "fp32/t4"), 0.0, 1.0),
        (("a53", "board", "ncnn", "fp32/t4"), 0.0, 1.0),
    ],
)
def test_a_shape_is_that_of_a_neighbour_under_the_runtime(
    measured: Row, shared: float, unknown: float
) -> None:
    known = evidence_of((measured, 0.9, 5)).about(keys_of(ASKED))

    assert known.shape == pytest.approx(np.full((1, PARTS), shared))
    assert known.shape_variance.tolist() == [unknown]


def test_the_nearest_level_and_the_nearest_shape_may_be_of_two_targets() -> None:
    evidence = evidence_of(
        (("a76", "board", "tflite", "fp32/t4"), 0.0, 900),
        (("a76", "few", "ncnn", "fp32/t4"), 0.0, 3),
        (("a76", "many", "ncnn", "fp32/t4"), 0.0, 8),
    )

    known = evidence.about(keys_of(ASKED))

    assert near(known) == ["device"]
    assert known.nearest.tolist() == [0]
    # Of two devices with the chip, that of more networks: the third, whose shape is 3, cut at ln 2.
    assert known.shape == pytest.approx(np.full((1, PARTS), np.log(2)))
    assert known.shape_variance.tolist() == [0.6]


def test_a_small_shape_of_another_device_is_shared_in_part() -> None:
    evidence = evidence_of((("a76", "other", "ncnn", "fp32/t4"), 0.9, 5))
    small = replace(evidence, shape=evidence.shape * 0.5)

    assert small.about(keys_of(ASKED)).shape == pytest.approx(np.full((1, PARTS), 0.35))


@pytest.mark.parametrize("nearer", ["fp32/t2", "int8/t4", "fp32/t8"])
def test_a_shape_is_that_of_the_likest_run(nearer: str) -> None:
    """Of one device under one runtime, precision and threads go before the most networks."""
    evidence = evidence_of(
        (("a76", "board", "ncnn", "int8/t1"), 0.0, 900), (("a76", "board", "ncnn", nearer), 0.0, 3)
    )

    known = evidence.about(keys_of(ASKED))

    assert known.shape == pytest.approx(np.full((1, PARTS), 0.8 * 2))
    assert known.shape_variance.tolist() == [0.5]


def test_two_threads_are_between_one_and_four() -> None:
    evidence = evidence_of(
        (("a76", "board", "ncnn", "fp32/t1"), 0.0, 50),
        (("a76", "board", "ncnn", "fp32/t4"), 1.0, 50),
    )

    one, two, four = evidence.about(
        keys_of(*(("a76", "board", "ncnn", f"fp32/t{threads}") for threads in (1, 2, 4)))
    ).mean.tolist()

    assert one < two < four
    assert two == pytest.approx((one + four) / 2, abs=0.01)


def test_each_asked_target_has_its_own_shape() -> None:
    evidence = evidence_of(
        (("a53", "x", "ncnn", "fp32/t4"), 1.0, 5), (("a76", "y", "ncnn", "fp32/t4"), -1.0, 5)
    )
    asked = keys_of(
        ("a76", "y", "ncnn", "fp32/t4"),
        ("a53", "z", "ncnn", "fp32/t4"),
        ("a7", "z", "ncnn", "fp32/t4"),
    )

    known = evidence.about(asked)

    assert known.shape[:, 0] == pytest.approx([2.0, np.log(2), 0.0])
    assert known.shape_variance.tolist() == [0.3, 0.6, 1.0]


def test_many_networks_of_the_target_leave_nothing_open() -> None:
    known = evidence_of((ASKED, 0.7, 10**9)).about(keys_of(ASKED))

    assert known.mean == pytest.approx([0.7])
    assert known.variance == pytest.approx([0.0], abs=1e-9)
    assert known.variance[0] >= 0


def test_a_target_with_other_facts_of_the_same_name_is_the_target() -> None:
    device, run = board().device, board().configuration
    faster = replace(device, name="Board 2", metrics={"clock_mhz": 3000.0})
    keys = Keys.of([board()])
    evidence = replace(evidence_of((ASKED, 0.5, 5)), keys=keys)
    others = [
        Target(faster, run),
        Target(faster, replace(run, precision=Precision.INT8)),
        Target(replace(faster, id="another"), run),
        Target(replace(faster, id="another", architecture="cortex-a53"), run),
    ]

    assert near(evidence.about(Keys.of(others))) == ["target", "device", "chip", ""]
    assert (keys.precision.tolist(), keys.threads.tolist()) == (["fp32"], ["4"])


def test_evidence_can_be_joined_and_the_parts_stay() -> None:
    one, two = evidence_of((ASKED, 0.5, 3)), evidence_of((("a53", "x", "mnn", "fp32/t4"), 0.1, 7))

    both = one.joined(two)

    assert both.level.tolist() == [0.5, 0.1]
    assert both.variance.tolist() == [ONE / 3, ONE / 7]
    assert both.shape.tolist() == [[1.0] * PARTS] * 2
    assert both.networks.tolist() == [3, 7]
    assert both.keys.device.tolist() == ["board", "x"]
    assert len(one.level) == 1


def test_evidence_without_a_target_is_that_of_the_others() -> None:
    evidence = evidence_of(
        (("a76", "board", "tflite", "fp32/t4"), 0.1, 1),
        (ASKED, 0.2, 2),
        (("a76", "other", "ncnn", "fp32/t4"), 0.3, 3),
        (("a76", "board", "ncnn", "int8/t4"), 0.4, 4),
        (("a76", "board", "ncnn", "fp32/t1"), 0.5, 5),
    )

    kept = evidence.without(Keys.of([board()]))

    assert kept.level.tolist() == [0.1, 0.3, 0.4, 0.5]
    assert kept.networks.tolist() == [1, 3, 4, 5]
    assert kept.variance.tolist() == [ONE, ONE / 3, ONE / 4, ONE / 5]
    assert kept.shape[:, 0].tolist() == [1.0, 3.0, 4.0, 5.0]
    assert kept.keys.device.tolist() == ["board", "other", "board", "board"]
    assert len(kept.level) == 4
    assert near(kept.about(keys_of(ASKED))) == ["device"]
    assert len(evidence.level) == 5


@pytest.mark.parametrize(
    "missing",
    [
        board("another"),
        board(runtime="tflite"),
        board(precision=Precision.INT8),
        board(threads=1),
    ],
)
def test_evidence_without_what_it_has_not_is_the_same(missing: Target) -> None:
    evidence = evidence_of((ASKED, 0.2, 2))

    assert evidence.without(Keys.of([missing])) is evidence


@pytest.mark.parametrize(
    ("asked", "twin"),
    [
        (("a76", "another", "ncnn", "fp32/t4"), 1),
        (("a76", "another", "mnn", "fp32/t4"), -1),
        (("a76", "another", "ncnn", "fp32/t1"), -1),
        (("a53", "another", "ncnn", "fp32/t4"), -1),
    ],
)
def test_a_twin_has_the_chip_and_the_run(asked: Row, twin: int) -> None:
    evidence = evidence_of((("a76", "few", "ncnn", "fp32/t4"), 0.1, 3), (ASKED, 0.2, 8))

    assert evidence.twins(keys_of(asked)).tolist() == [twin]
    assert evidence_of().twins(keys_of(asked)).tolist() == [-1]


def test_a_target_that_was_measured_itself_has_no_twin() -> None:
    evidence = evidence_of((("a76", "few", "ncnn", "fp32/t4"), 0.1, 30), (ASKED, 0.2, 8))

    asked = keys_of(ASKED, ("a76", "third", "ncnn", "fp32/t4"))

    assert evidence.twins(asked).tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("cores", "threads", "key"),
    [(4, 4, "all"), (8, 4, "4"), (8, 0, "all"), (1, 1, "all")],
)
def test_one_thread_a_core_is_the_same_run_on_any_number_of_cores(
    cores: int, threads: int, key: str
) -> None:
    metrics = {"core_count": float(cores), "clock_mhz": 1000.0}
    device = Device(id="board", name="Board", vendor="", family=Family.MOBILE_CPU, metrics=metrics)

    assert threads_key(Target(device, Configuration("ncnn", threads=threads))) == key


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
    under = {(row[0], row[2]) for row, _, _ in measured}
    has_shape = np.array([(row[0], row[2]) in under for row in asked])
    assert ((known.shape_variance < 1) == has_shape).all()
    assert ((known.shape > 0).all(axis=1) == has_shape).all()


@pytest.mark.slow
@unhurried
@given(MEASURED, ASKED_ROWS, st.integers(0, 7), st.integers(2, 100))
def test_more_networks_or_targets_never_widen(
    measured: list[tuple[Row, float, int]], asked: list[Row], place: int, factor: int
) -> None:
    place %= len(measured)
    row, level, count = measured[place]
    more = [*measured[:place], (row, level, count * factor), *measured[place + 1 :]]
    fewer = measured[:place] + measured[place + 1 :]

    least, middle, most = (
        evidence_of(*each).about(keys_of(*asked)).variance for each in (more, measured, fewer)
    )

    assert (least <= middle + 1e-9).all()
    assert (middle <= most + 1e-9).all()


@pytest.mark.slow
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


def test_remembered_answers_are_those_of_the_evidence_and_asked_for_once() -> None:
    evidence = evidence_of(
        (("a76", "x", "ncnn", "fp32/t4"), 0.9, 5), (("a76", "y", "mnn", "fp32/t1"), 0.2, 2)
    )
    asked = keys_of(
        ("a76", "x", "ncnn", "fp32/t4"),
        ("a76", "new", "ncnn", "fp32/t4"),
        ("a76", "newer", "ncnn", "fp32/t4"),
        ("a76", "y", "ncnn", "fp16/t2"),
        ("a53", "new", "ncnn", "fp32/t4"),
    )
    remembered = RememberedEvidence(evidence)

    for _ in range(2):
        answers, expected = remembered.about(asked), evidence.about(asked)
        for field in fields(expected):
            np.testing.assert_allclose(
                getattr(answers, field.name), getattr(expected, field.name), rtol=1e-12
            )
        assert remembered.twins(asked).tolist() == evidence.twins(asked).tolist()
    # The devices that were not measured are one.
    assert len(remembered._answers.places) == 4


def test_no_more_than_some_answers_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_module, "_REMEMBERED", 3)
    evidence = evidence_of((ASKED, 0.9, 5))
    remembered = RememberedEvidence(evidence)
    for runtime in ("ncnn", "mnn", "tnn", "tflite"):
        keys = keys_of((ASKED[0], ASKED[1], runtime, "fp32/t4"))
        assert remembered.about(keys).mean == pytest.approx(evidence.about(keys).mean)
    assert len(remembered._answers.places) <= 3


def test_a_target_is_the_same_to_the_last_bit_beside_others() -> None:
    """So rows of a worker that was asked about others before are the bytes of a new process."""
    draw = np.random.default_rng(0)
    measured = [
        (("a76", f"d{place % 5}", f"r{place % 3}", f"fp32/t{place}"), float(draw.normal()), 3)
        for place in range(17)
    ]
    evidence = evidence_of(*measured)
    asked: list[Row] = [("a76", f"d{place % 7}", f"r{place % 4}", "fp32/t2") for place in range(9)]

    together = evidence.about(keys_of(*asked))

    for place, row in enumerate(asked):
        alone = evidence.about(keys_of(row))
        assert alone.mean[0] == together.mean[place]
        assert alone.variance[0] == together.variance[place]
