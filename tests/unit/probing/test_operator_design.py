"""Probes by what their operators tell: against plain Gaussian conditioning, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from predictor.calibration.operator_fit import FactorPrior, RatedOperators
from predictor.probing.selection.operator_design import OperatorDesign

CONVOLUTION, PRODUCT, NORM = range(3)
PRIOR = FactorPrior()


def work(*operators: tuple[float, int]) -> RatedOperators:
    """Operators of one part each, as (ms, kind); a kind is a type, and its number a trait."""
    kind = np.array([kind for _, kind in operators])
    parts_ms = np.array([[ms] for ms, _ in operators])
    return RatedOperators(parts_ms, 10.0 * kind[:, None], kind, kind)


CONVOLUTIONS, PRODUCTS = work((5.0, CONVOLUTION)), work((5.0, PRODUCT))
MIXED = work((3.0, CONVOLUTION), (3.0, PRODUCT))


def test_a_probe_with_two_kinds_of_operators_tells_more_than_one_with_either() -> None:
    asked = [work((1.0, CONVOLUTION)), work((1.0, PRODUCT))]

    design = OperatorDesign([CONVOLUTIONS, PRODUCTS, MIXED], asked)

    assert design.choose(1) == (2,)


def test_what_is_asked_about_decides() -> None:
    candidates = [CONVOLUTIONS, PRODUCTS, work((1.0, NORM))]

    for place, asked in enumerate(candidates):
        assert OperatorDesign(candidates, [asked]).choose(1) == (place,)


def test_what_was_measured_is_not_asked_again() -> None:
    candidates = [CONVOLUTIONS, work((4.0, CONVOLUTION)), work((1.0, NORM))]

    design = OperatorDesign(candidates)

    assert design.choose(1) in {(0,), (1,)}
    assert design.choose(1, first=[0]) == (2,)
    assert design.choose(9, first=[0]) == (2, 1)  # no more than there are


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.floats(0.1, 20), st.integers(0, 2)), min_size=1, max_size=4),
        min_size=2,
        max_size=5,
    )
)
def test_choices_are_those_of_plain_gaussian_conditioning(
    networks: list[list[tuple[float, int]]],
) -> None:
    works = [work(*operators) for operators in networks]

    found = OperatorDesign(works).choose(len(works))

    left = [variance_left(works, list(found[: count + 1])) for count in range(len(found))]
    for count, best in enumerate(left):
        others = set(range(len(works))) - set(found[:count])
        least = min(variance_left(works, [*found[:count], place]) for place in others)
        assert best == pytest.approx(least, rel=1e-6)


def variance_left(works: list[RatedOperators], chosen: list[int]) -> float:
    """Mean variance of ln(latency) over networks after some were measured, from its definition."""
    every = [(each, row) for each in works for row in range(len(each))]
    kind = np.array([each.kind[row] for each, row in every])
    apart = 10.0 * (kind[:, None] - kind[None])
    same = kind[:, None] == kind[None]
    near = PRIOR.similarity**2 * np.exp(-(apart**2) / (2 * PRIOR.length**2))
    covariance = PRIOR.shift**2 + PRIOR.part**2 + (PRIOR.kind**2 + PRIOR.code**2 + near) * same
    starts = np.cumsum([0, *map(len, works)])
    sums = np.zeros((len(works), len(every)))
    for place, each in enumerate(works):
        sums[place, starts[place] : starts[place + 1]] = each.parts_ms[:, 0] / each.parts_ms.sum()
    rows: list[NDArray[np.float64]] = []
    noise: list[float] = []
    network: list[int] = []
    for place in chosen:
        # What differs in nothing is one operator, and timed once.
        _, first = np.unique(
            [
                (round(float(np.log(ms)), 3), k)
                for ms, k in zip(
                    works[place].parts_ms[:, 0].tolist(), works[place].kind.tolist(), strict=True
                )
            ],
            axis=0,
            return_index=True,
        )
        rows += [np.eye(len(every))[starts[place] + row] for row in first] + [sums[place]]
        noise += [PRIOR.entry] * len(first) + [PRIOR.network]
        network += [place] * (len(first) + 1)
    seen = np.array(rows)
    common = np.array(network)[:, None] == np.array(network)[None]
    observed = seen @ covariance @ seen.T + PRIOR.state**2 * common + np.diag(np.square(noise))
    crossed = sums @ covariance @ seen.T
    gained = crossed @ np.linalg.solve(observed, crossed.T)
    return float(np.trace(sums @ covariance @ sums.T - gained)) / len(works)
