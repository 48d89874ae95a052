"""Level and shape of a target after its own measurements, with posteriors worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.calibration.target_fit import PARTS, SHAPE, TargetFit
from predictor.cost.operator_kinds import KINDS
from predictor.cost.physics import TERMS

pytestmark = pytest.mark.slow

unhurried = settings(deadline=None, max_examples=40)

KNOWN_SHAPE = 1e-9  # part of the variance of a shape: none is left
OF_A_PART = 3 * 0.3**2  # term, kind and pair


def part(kind: int, term: int) -> int:
    return kind * len(TERMS) + term


def times(*parts: dict[int, float]) -> np.ndarray:
    """Return the times of graphs in ms, by part."""
    rows = np.zeros((len(parts), PARTS))
    for row, of_parts in zip(rows, parts, strict=True):
        row[list(of_parts)] = list(of_parts.values())
    return rows


def deviations(fit: TargetFit) -> np.ndarray:
    return np.sqrt(np.diag(fit.covariance))


# --- Before anything is measured ---


def test_the_parts_of_a_shape_share_what_their_terms_and_kinds_share() -> None:
    covariance = SHAPE.covariance()

    assert len(KINDS) * len(TERMS) == PARTS
    assert (SHAPE.term, SHAPE.kind, SHAPE.pair, SHAPE.network) == (0.3, 0.3, 0.3, 0.15)
    assert covariance.shape == (PARTS, PARTS)
    one = covariance[part(2, 1)]
    assert one[part(2, 1)] == pytest.approx(0.27)
    assert one[part(2, 3)] == pytest.approx(0.09)  # of its kind
    assert one[part(5, 1)] == pytest.approx(0.09)  # of its term
    assert one[part(5, 3)] == 0.0


def test_of_an_unknown_target_the_level_is_wide_and_the_shape_none() -> None:
    prior = TargetFit.prior()

    assert prior.mean.tolist() == [0.0] * (1 + PARTS)
    assert prior.covariance[0, 0] == 9.0
    assert (prior.covariance[0, 1:] == 0).all()
    assert prior.covariance[1:, 1:] == pytest.approx(SHAPE.covariance())


def test_a_prior_has_what_is_known_of_a_target() -> None:
    shape = np.linspace(-1.0, 1.0, PARTS)

    prior = TargetFit.prior(0.5, 0.2, shape, 0.3)

    assert prior.mean[0] == 0.5
    assert prior.mean[1:].tolist() == shape.tolist()
    assert prior.covariance[0, 0] == 0.2
    assert prior.covariance[1:, 1:] == pytest.approx(0.3 * SHAPE.covariance())
    assert prior.root @ prior.root.T == pytest.approx(prior.covariance)


def test_a_prediction_is_the_sum_of_the_shifted_parts() -> None:
    """Of 1 and 3 ms, by exp(0.5) times 2 and 4: shares 2 and 12 of 14.

    The parts share neither kind nor term.
    """
    shape = np.zeros(PARTS)
    shape[[part(0, 0), part(1, 1)]] = np.log([2.0, 4.0])
    prior = TargetFit.prior(0.5, 0.2, shape, 0.5)

    logs, variance = prior.predicted(times({part(0, 0): 1.0, part(1, 1): 3.0}))

    assert np.exp(logs) == pytest.approx([np.exp(0.5) * (2.0 + 12.0)])
    assert variance == pytest.approx([0.2 + 0.5 * OF_A_PART * (2**2 + 12**2) / 14**2])


def test_parts_of_one_term_are_sure_together_less_than_apart() -> None:
    """Two halves of a time: 2 x 0.27 / 4 in all, and 2 x 0.09 / 4 more where they share a term."""
    prior = TargetFit.prior(0.0, 0.2)

    _, apart = prior.predicted(times({part(0, 0): 1.0, part(1, 1): 1.0}))
    _, together = prior.predicted(times({part(0, 0): 1.0, part(1, 0): 1.0}))

    assert apart == pytest.approx([0.2 + 0.135])
    assert together == pytest.approx([0.2 + 0.135 + 0.045])


def test_a_graph_of_no_time_has_a_finite_prediction() -> None:
    logs, variance = TargetFit.prior().predicted(times({}))

    assert np.isfinite(logs).all()
    assert variance == pytest.approx([9.0])


# --- After measurements ---


def test_without_measurements_the_prior_stays() -> None:
    prior = TargetFit.prior(0.5, 0.2, np.linspace(-1.0, 1.0, PARTS), 0.3)

    same = prior.measured(np.empty((0, PARTS)), np.empty(0))

    assert same.mean == pytest.approx(prior.mean)
    assert same.covariance == pytest.approx(prior.covariance)


def test_one_network_as_predicted_moves_nothing_and_makes_sure() -> None:
    """Its weight is (4 + 1) / (4 x 0.15^2) = 500 / 9, and 1 / (1 / 9 + 500 / 9) is 9 / 501."""
    prior = TargetFit.prior(shape_variance=KNOWN_SHAPE)

    after = prior.measured(times({part(3, 2): 7.0}), np.array([7.0]))

    assert after.mean == pytest.approx(np.zeros(1 + PARTS), abs=1e-9)
    assert after.covariance[0, 0] == pytest.approx(9 / 501, rel=1e-6)


def test_one_network_moves_the_level_to_it() -> None:
    """At 0.4 it is 0.1 off, and weighs 5 / (4 x 0.15^2 + 0.1^2) = 50.

    Of a variance of 0.08 that is a gain of 4 / 5: 0.4 of 0.5, with 0.08 / 5 left.
    """
    prior = TargetFit.prior(0.0, 0.08, shape_variance=KNOWN_SHAPE)

    after = prior.measured(times({0: 2.0}), np.array([2.0 * np.exp(0.5)]))

    assert after.mean[0] == pytest.approx(0.4, rel=5e-3)
    assert after.covariance[0, 0] == pytest.approx(0.08 / 5, rel=2e-2)
    assert after.mean[1:] == pytest.approx(np.zeros(PARTS), abs=1e-6)


def test_many_networks_leave_the_level_at_their_mean() -> None:
    prior = TargetFit.prior(shape_variance=KNOWN_SHAPE)
    logs = np.tile([0.25, 0.35], 500)

    after = prior.measured(np.tile(times({0: 1.0}), (1000, 1)), np.exp(logs))

    assert after.mean[0] == pytest.approx(0.3, abs=1e-4)
    assert after.covariance[0, 0] < 3e-5


def test_two_networks_of_different_parts_tell_the_shape() -> None:
    """One is slower than predicted and one faster by as much, so the level stays.

    The difference of two parts of variance 0.27 that share nothing: at 0.025 off, each weighs
    5 / (0.09 + 0.025^2) = 55.172, and 0.27 x 55.172 = 14.897 of 15.897 is learned.
    """
    seen = 0.025 * 15.8966
    first, second = part(0, 0), part(1, 1)
    prior = TargetFit.prior(0.0, 0.2)

    after = prior.measured(times({first: 5.0}, {second: 0.1}), [5.0, 0.1] * np.exp([seen, -seen]))

    level, shape = after.mean[0], after.mean[1:]
    assert level == pytest.approx(0.0, abs=1e-9)
    learned = seen * 14.8966 / 15.8966
    assert shape[[first, second]] == pytest.approx([learned, -learned], rel=1e-3)
    # A third of it is shared by the parts of the term, and by those of the kind.
    third = learned / 3
    assert shape[[part(7, 0), part(0, 2)]] == pytest.approx([third, third], rel=1e-3)
    assert shape[[part(7, 1), part(1, 3)]] == pytest.approx([-third, -third], rel=1e-3)
    # Of the kind of the one and the term of the other, or of neither.
    assert shape[[part(0, 1), part(1, 0), part(7, 2)]] == pytest.approx(np.zeros(3), abs=1e-9)
    # What was learned is of those that share something.
    unknown = deviations(prior)[1:] - deviations(after)[1:]
    assert unknown[first] > unknown[part(0, 2)] > unknown[part(7, 2)] >= -1e-12


def test_a_network_far_off_counts_little_and_less_the_further_it_is() -> None:
    prior = TargetFit.prior(shape_variance=KNOWN_SHAPE)
    parts = np.tile(times({0: 1.0}), (6, 1))

    moved = [
        prior.measured(parts, np.exp([0.0, 0.0, 0.0, 0.0, 0.0, off])).mean[0]
        for off in (0.3, 1.0, 5.0)
    ]

    # Counted the same, a sixth of it: 0.05, 0.17 and 0.83.
    assert 0.02 < moved[0] < 0.05
    assert 0 < moved[2] < moved[1] < moved[0]
    assert moved[2] < 0.01


# --- Laws ---

MS = st.floats(1e-4, 1e4)
GRAPHS = st.dictionaries(st.integers(0, PARTS - 1), MS, min_size=1, max_size=6)
MEASURED = st.lists(st.tuples(GRAPHS, st.floats(0.1, 10.0)), min_size=1, max_size=8)
PRIORS = st.builds(
    TargetFit.prior,
    st.floats(-1, 1),
    st.floats(0.01, 9.0),
    st.lists(st.floats(-1, 1), min_size=PARTS, max_size=PARTS).map(np.array),
    st.floats(0.1, 1.0),
)


def read(measured: list[tuple[dict[int, float], float]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the parts of measured graphs and their latencies, as many times the parts' sum."""
    parts = times(*(graph for graph, _ in measured))
    return parts, parts.sum(axis=1) * [factor for _, factor in measured]


@unhurried
@given(PRIORS, MEASURED, MEASURED)
def test_more_measurements_never_widen(prior: TargetFit, first: list, more: list) -> None:
    one = prior.measured(*read(first))
    both = one.measured(*read(more))

    for before, after in ((prior, one), (one, both)):
        narrowed = before.covariance - after.covariance
        assert np.linalg.eigvalsh(narrowed).min() >= -1e-6 * np.abs(before.covariance).max()
        assert np.trace(after.covariance) < np.trace(before.covariance)
        assert after.root @ after.root.T == pytest.approx(after.covariance, abs=1e-9)


@unhurried
@given(PRIORS, MEASURED, st.randoms(use_true_random=False))
def test_the_order_of_measurements_is_no_matter(
    prior: TargetFit, measured: list, random: object
) -> None:
    shuffled = list(measured)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    one, other = (prior.measured(*read(each)) for each in (measured, shuffled))

    assert other.mean == pytest.approx(one.mean, abs=1e-6)
    assert other.covariance == pytest.approx(one.covariance, abs=1e-6)


@unhurried
@given(MEASURED, st.floats(0.01, 100.0))
def test_a_target_slower_in_all_has_another_level_alone(measured: list, factor: float) -> None:
    parts, latency_ms = read(measured)

    plain = TargetFit.prior(0.1, 0.2).measured(parts, latency_ms)
    slower = TargetFit.prior(0.1 + np.log(factor), 0.2).measured(parts, latency_ms * factor)

    assert slower.mean[0] == pytest.approx(plain.mean[0] + np.log(factor), abs=1e-6)
    assert slower.mean[1:] == pytest.approx(plain.mean[1:], abs=1e-6)
    assert slower.covariance == pytest.approx(plain.covariance, abs=1e-6)


@unhurried
@given(PRIORS, GRAPHS, st.floats(0.1, 10.0))
def test_a_measured_graph_is_predicted_nearer_to_it(
    prior: TargetFit, graph: dict[int, float], factor: float
) -> None:
    parts, latency_ms = read([(graph, factor)])

    after = prior.measured(parts, latency_ms)

    apart = [np.abs(fit.predicted(parts)[0] - np.log(latency_ms)) for fit in (prior, after)]
    assert apart[1] <= apart[0] + 1e-9
