"""The analytic engines, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ctm_research.evaluation.judge.engines import ClassEstimate, Roofline
from predictor.core.percentiles import Z80
from research.tests.evaluation.judge.hand_made import Row, judged

# Three kinds of silicon that take 2, 4 and 8 times the estimate.
TRAINED = [Row(s, n, factor) for s, factor in (("a", 2.0), ("b", 4.0), ("c", 8.0)) for n in (0, 1)]


def test_the_roofline_is_the_estimate_where_all_rates_are_stated() -> None:
    corpus = judged([Row("a", 0, 5.0, 3.0), Row("b", 0, 5.0, 7.0)], unrated=["b"])

    told = Roofline().fit(corpus, corpus.rows[:0]).predict(corpus.rows, {})

    assert math.exp(told.log_ms[0]) == pytest.approx(3.0)
    assert np.isnan([told.log_ms[1], *told.deviation]).all()


def test_a_class_has_the_median_efficiency_of_its_silicon() -> None:
    # Ten more measurements of one network weigh nothing.
    corpus = judged([*TRAINED, *(Row("c", 0, 8.0) for _ in range(10)), Row("new", 0, 1.0, 10.0)])
    rows = corpus.rows

    told = ClassEstimate().fit(corpus, rows[:-1]).predict(rows[-1:], {})

    assert math.exp(told.log_ms[0]) == pytest.approx(40.0)
    # 80 % of the silicon within ln 2: the quantile between ln 2 and ln 2; nothing within.
    spread = math.log(2) / Z80
    assert told.deviation[0] == pytest.approx(math.hypot(spread, 0.05))


def test_no_latency_of_another_row_is_read() -> None:
    plain = judged([*TRAINED, Row("new", 0, 1.0)])
    other = judged([*TRAINED, Row("new", 0, 99.0)])

    levels = [
        ClassEstimate().fit(c, c.rows[:-1]).predict(c.rows[-1:], {}).log_ms[0]
        for c in (plain, other)
    ]

    assert levels[0] == levels[1]


@pytest.mark.parametrize(
    ("runtime", "kind", "factor"),
    [
        ("ncnn", "arm", 4.0),
        ("ncnn", "x86", 4.0),  # the runtime
        ("tflite", "arm", 4.0),  # the kind: one row of tflite is no class
        ("tflite", "npu", 4.0),  # all
    ],
)
def test_few_silicon_fall_back_on_the_next_group(runtime: str, kind: str, factor: float) -> None:
    rows = [*TRAINED, Row("x", 0, 4.0, runtime="tflite"), Row("y", 0, 1.0, 1.0, "", runtime, kind)]
    corpus = judged(rows)
    place = corpus.rows[-1:]

    told = ClassEstimate().fit(corpus, corpus.rows[:-1]).predict(place, {})

    assert math.exp(told.log_ms[0]) == pytest.approx(factor)


def test_measured_networks_move_the_level_towards_them() -> None:
    corpus = judged([*TRAINED, *(Row("new", n, 16.0) for n in range(9))])
    rows = corpus.rows
    fitted = ClassEstimate().fit(corpus, rows[: len(TRAINED)])
    target = int(corpus.target[rows[-1]])

    zero, one, eight = (
        fitted.predict(rows[-1:], {target: rows[-1 - k : -1]} if k else {}) for k in (0, 1, 8)
    )

    assert zero.log_ms[0] == pytest.approx(math.log(4))
    assert math.log(4) < one.log_ms[0] < eight.log_ms[0] < math.log(16)
    assert zero.deviation[0] > one.deviation[0] > eight.deviation[0]
    between, within = math.log(2) / Z80, 0.05
    weight = between**2 / (between**2 + within**2)
    assert one.log_ms[0] == pytest.approx(math.log(4) + weight * math.log(4))


def test_a_target_reads_its_own_measurements_only() -> None:
    corpus = judged([*TRAINED, *(Row(s, n, 16.0) for s in ("new", "other") for n in range(4))])
    rows = corpus.rows
    fitted = ClassEstimate().fit(corpus, rows[: len(TRAINED)])
    new, other = rows[6:10], rows[10:]
    measured = {int(corpus.target[part[0]]): part[:3] for part in (new, other)}

    together = fitted.predict(np.array([new[3], other[3]]), measured)
    alone = fitted.predict(new[3:], {int(corpus.target[new[0]]): new[:3]})

    assert together.log_ms[0] == alone.log_ms[0]
