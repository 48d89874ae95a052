"""Errors of the network on silicon that it has not seen: scales of deviations and intervals.

The scales that training finds are of targets that the network knows. Those that ship are of
held-out targets, and intervals are widened to their nominal coverage there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.corpus import Corpus, Rows
from ctm_research.corpus.episodes import few_shot
from ctm_research.sources import neusight
from predictor.calibration.deviation import Deviation, DeviationPrior, Expectation
from predictor.core.errors import InputError
from predictor.core.percentiles import Z80, Z95
from predictor.engine.checkpoint import Widths

Expected = dict[tuple[int, int], Expectation]

_SHIFTS: Final = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
_SCALES: Final = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
_NOISES: Final = (0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2)
_MOST: Final = 24  # measurements of a target that its likelihood reads
_FARTHEST: Final = 1.5  # of ln(latency): one target that is far off must not decide for all
_PROBES: Final = (3, 8, 16)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Measurements of one source on one held-out target.

    Attributes:
        rows: int64 [n], one a graph.
        silicon: key.
    """

    rows: Rows
    silicon: str


def whole_networks(corpus: Corpus, rows: Rows) -> Rows:
    """Return those of the measurements ``rows`` that are not of single operators."""
    names = np.array(corpus.sources)
    kept: Rows = rows[names[corpus.measurements.source[rows]] != neusight.OPERATORS]
    return kept


def held_targets(corpus: Corpus, rows: Rows) -> list[Held]:
    """Return the held-out measurements by source and target, one a graph."""
    m = corpus.measurements
    kept = whole_networks(corpus, rows)
    keys = np.stack([m.source[kept], m.target[kept], m.graph[kept]], axis=1).astype(np.int64)
    distinct, first = np.unique(keys, axis=0, return_index=True)
    # Sorted by source, then target: a group starts where either changes.
    groups = np.flatnonzero(np.r_[True, (np.diff(distinct[:, :2], axis=0) != 0).any(axis=1)])
    return [
        Held(kept[part], corpus.silicon[int(m.target[part[0]])])
        for part in np.split(first, groups[1:])
    ]


def fit_prior(corpus: Corpus, expected: Expected, held: list[Held]) -> DeviationPrior:
    """Return the scales under which the held-out measurements are most likely.

    Each silicon counts the same.

    Raises:
        InputError: nothing is held out.
    """
    if not held:
        raise InputError("calibration", "nothing is held out", "hold out some silicon")
    sets = [_likelihood_set(corpus, expected, one) for one in held]
    names, counts = np.unique([one.silicon for one in held], return_counts=True)
    weight = dict(zip(names.tolist(), (1 / counts).tolist(), strict=True))
    weights = np.array([weight[one.silicon] / len(one.rows[:_MOST]) for one in held])
    best = max(
        product(_SHIFTS, _SCALES, _NOISES),
        key=lambda scales: float(
            weights @ np.array([_log_likelihood(off, rows, *scales) for off, rows in sets])
        ),
    )
    return DeviationPrior(*best)


def fit_widths(
    corpus: Corpus,
    expected: Expected,
    held: list[Held],
    prior: DeviationPrior,
    published: tuple[float, float],
    seed: int,
) -> Widths:
    """Return the factors that give intervals their nominal coverage on held-out targets."""
    alone = standardised(corpus, expected, held, prior, (0,), seed)
    probed = standardised(corpus, expected, held, prior, _PROBES, seed)
    return Widths(_factors(alone), _factors(probed), published)


def fit_published(
    corpus: Corpus,
    expected: Expected,
    published: Mapping[int, Rows],
    asked: Rows,
    prior: DeviationPrior,
) -> tuple[float, float]:
    """Return the factors for known targets whose other families of networks are asked about.

    Args:
        corpus: measurements.
        expected: of all rows that follow.
        published: measurements that are read, by target.
        asked: measurements of unseen families; each silicon among their targets counts the same.
        prior: of deviations.
    """
    m = corpus.measurements
    of_target = {int(t): rows for t in published if len(rows := asked[m.target[asked] == t])}
    if not of_target:
        return (1.0, 1.0)
    silicon = [corpus.silicon[target] for target in of_target]
    factors = []
    for target, rows in of_target.items():
        calibrated = posterior(corpus, expected, published[target], prior)
        off, deviation = errors(
            [expected[int(m.graph[row]), target] for row in rows],
            np.log(m.latency_ms[rows]),
            calibrated,
        )
        # One silicon has one vote, whatever number of its targets and networks was measured.
        share = np.full(len(off), 1 / silicon.count(corpus.silicon[target]) / len(off))
        factors.append(np.stack([np.abs(off) / deviation, share]))
    return _factors(np.concatenate(factors, axis=1))


def posterior(corpus: Corpus, expected: Expected, rows: Rows, prior: DeviationPrior) -> Deviation:
    """Return the posterior of a target's deviation after its measurements ``rows``."""
    m = corpus.measurements
    return prior.measured(
        [expected[int(m.graph[row]), int(m.target[row])] for row in rows],
        np.log(m.latency_ms[rows]),
        m.noise[rows].astype(np.float64),
    )


def standardised(
    corpus: Corpus,
    expected: Expected,
    held: list[Held],
    prior: DeviationPrior,
    probes: tuple[int, ...],
    seed: int,
) -> NDArray[np.float64]:
    """Return [2, n]: |error of ln(latency)| / its standard deviation, and its weight."""
    names, counts = np.unique([one.silicon for one in held], return_counts=True)
    weight = dict(zip(names.tolist(), (1 / counts).tolist(), strict=True))
    parts: list[NDArray[np.float64]] = []
    for one in held:
        for off, deviation, _ in few_shot_errors(corpus, expected, one.rows, prior, probes, seed):
            share = np.full(len(off), weight[one.silicon] / len(off))
            parts.append(np.stack([np.abs(off) / deviation, share]))
    return np.concatenate(parts, axis=1)


def few_shot_errors(
    corpus: Corpus,
    expected: Expected,
    rows: Rows,
    prior: DeviationPrior,
    probes: tuple[int, ...],
    seed: int,
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], Rows]]:
    """Yield errors of ln(latency), their standard deviations and rows, for each k and target."""
    m = corpus.measurements
    responses = next(iter(expected.values())).responses.shape[-1]
    for k in probes:
        for support, query in few_shot(corpus, rows, k, seed):
            calibrated = prior.unmeasured(responses)
            if k:
                calibrated = posterior(corpus, expected, support, prior)
            asked = [expected[int(m.graph[row]), int(m.target[row])] for row in query]
            off, deviation = errors(asked, np.log(m.latency_ms[query]), calibrated)
            yield off, deviation, query


def errors(
    asked: list[Expectation], log_latency: NDArray[np.float64], deviation: Deviation
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the errors of ln(latency) [n], measured less predicted, and standard deviations."""
    predicted = np.log([each.latency_ms(deviation.weights) for each in asked]) + deviation.mean[0]
    rows = np.stack([each.response for each in asked])
    return log_latency - predicted, np.sqrt(deviation.variance(rows))


def _factors(standardised: NDArray[np.float64]) -> tuple[float, float]:
    values, weights = standardised
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    # Over the quantile of a normal deviate: 1 where errors are as normal as the model takes them.
    at = [values[order][np.searchsorted(reached, share)] for share in (0.80, 0.95)]
    return float(at[0] / Z80), float(at[1] / Z95)


def _likelihood_set(
    corpus: Corpus, expected: Expected, held: Held
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    m = corpus.measurements
    rows = held.rows[:: max(1, len(held.rows) // _MOST)][:_MOST]
    asked = [expected[int(m.graph[row]), int(m.target[row])] for row in rows]
    base = np.log([each.expected_ms for each in asked])
    off = np.clip(np.log(m.latency_ms[rows]) - base, -_FARTHEST, _FARTHEST)
    return off, np.stack([each.response for each in asked])


def _log_likelihood(
    off: NDArray[np.float64], rows: NDArray[np.float64], shift: float, scale: float, noise: float
) -> float:
    # Column 0 is the response to the shift, which has a scale of its own.
    covariance = scale**2 * (rows[:, 1:] @ rows[:, 1:].T) + shift**2
    root = np.linalg.cholesky(covariance + noise**2 * np.eye(len(off)))
    white = np.linalg.solve(root, off)
    return -0.5 * float(white @ white) - float(np.log(np.diag(root)).sum())
