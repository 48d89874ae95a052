"""Deviation of a target from the network's expectations, inferred from its own measurements.

The network expects times of a graph's operators in arithmetic, traffic and launches. A target
deviates by a factor exp(b) of everything, and by exp(tilt) of a graph, where the tilt is the mean
of u . w over the parts of its operators by their shares of the time; u are the responses that the
network gives each part of each operator. Before anything is measured, b and w are normal around 0;
measurements of a few graphs change that by a Bayesian linear regression of ln(latency).

The tilts of a graph's parts are bounded: one operator far from the measured ones must not carry
the whole graph away.

Reference:
    C. Bishop, "Pattern Recognition and Machine Learning", 2006, sections 3.3 to 3.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Final

import numpy as np

from predictor.core.arrays import Floats
from predictor.core.errors import InputError

_SCALES: Final = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8)  # of b and w, times what is usual
_SCALE_SPREAD: Final = 0.5  # of the logarithm of the scale
_NOISES: Final = (0.25, 0.5, 0.71, 1.0, 1.41, 2.0, 4.0)  # of the noise, times what is usual
_NOISE_SPREAD: Final = 0.7
_MIN_MS: Final = 1e-300
# A guard and no more: decision 0012 compares 1.0, 1.5, 2.5 and 4.0.
_MAX_TILT: Final = 4.0  # of the tilt of a part from the median of its graph's


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """The network's expectation for one graph on one target.

    Attributes:
        parts_ms: float64 [R, 3], of each running operator: arithmetic, traffic, launches.
        responses: float64 [R, 3, F].
        run_ms: of every run, whatever the graph.
    """

    parts_ms: Floats
    responses: Floats
    run_ms: float

    def shares(self, weights: Floats) -> Floats:
        """Return the shares of the parts, [R, 3], where the target deviates by ``weights`` [F].

        They sum to 1; where no part takes any time they are uniform.
        """
        stretched = self.parts_ms * np.exp(part_tilts(self.responses, weights))
        total = float(stretched.sum())
        uniform = np.full(stretched.shape, 1 / max(1, stretched.size))
        shares: Floats = stretched / total if total > 0 else uniform
        return shares

    @property
    def expected_ms(self) -> float:
        """The latency where the target does not deviate."""
        return float(self.parts_ms.sum()) + self.run_ms

    def latency_ms(self, weights: Floats) -> float:
        """Return the latency at deviation ``weights`` [F], but for the factor exp(b)."""
        tilts = part_tilts(self.responses, weights)
        tilted = tilted_ms(self.parts_ms[..., None], np.array([self.run_ms]), tilts[..., None])
        return float(tilted[0])

    @property
    def response(self) -> Floats:
        """Derivative of ln(latency) by b and w, [1 + F]."""
        slope = np.tensordot(self.parts_ms, self.responses, axes=2) / self.expected_ms
        return np.concatenate([[1.0], slope])


def part_tilts(responses: Floats, weights: Floats) -> Floats:
    """Return u . w of the parts of one graph's operators, bounded, [R, 3] or [R, 3, T].

    Args:
        responses: [R, 3, F].
        weights: [F], or [F, T] for T targets.
    """
    tilts: Floats = responses @ weights
    usual = _median(tilts.reshape(-1, *tilts.shape[2:]))
    return np.clip(tilts, usual - _MAX_TILT, usual + _MAX_TILT)


def _median(values: Floats) -> Floats:
    """Return the median over the first axis. np.median loads numpy.ma, which takes 50 ms."""
    ordered = np.sort(values, axis=0)
    middle: Floats = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return middle


def tilted_ms(parts_ms: Floats, run_ms: Floats, tilts: Floats) -> Floats:
    """Return the latencies of one graph on T targets, float64 [T], its parts tilted.

    A sum of parts, times exp of the mean of their tilts by their shares, falls where a part grows
    that is tilted far below the others: a larger batch would be faster. So the latency is the
    highest of all that the graph's launches have with no more arithmetic and traffic than its own;
    that of a larger batch is the highest of more. In each part the latency falls first and rises
    then, so at its highest each part is complete or absent, and the complete ones are those with
    the largest tilts.

    Args:
        parts_ms: float64 [R, 3, T], arithmetic, traffic and launches of each operator.
        run_ms: float64 [T].
        tilts: float64 [R, 3, T].
    """
    amounts = parts_ms[:, :2].reshape(-1, len(run_ms))
    falling = tilts[:, :2].reshape(-1, len(run_ms))
    order = np.argsort(-falling, axis=0)
    amounts = np.take_along_axis(amounts, order, axis=0)
    tilted = amounts * np.take_along_axis(falling, order, axis=0)
    launches = parts_ms[:, 2].sum(axis=0) + run_ms
    cumulative = np.cumsum(np.concatenate([launches[None], amounts]), axis=0)
    weighted = np.cumsum(
        np.concatenate([(parts_ms[:, 2] * tilts[:, 2]).sum(axis=0)[None], tilted]), 0
    )
    highest: Floats = (cumulative * np.exp(weighted / np.maximum(cumulative, _MIN_MS))).max(axis=0)
    return highest


@dataclass(frozen=True, eq=False)
class Deviation:
    """Posterior of a target's deviation: normal.

    Attributes:
        mean: float64 [1 + F], of b and w.
        covariance: float64 [1 + F, 1 + F].
        noise: standard deviation of ln(latency) beside it.
    """

    mean: Floats
    covariance: Floats
    noise: float

    @property
    def weights(self) -> Floats:
        """Float64 [F], the mean of w."""
        return self.mean[1:]

    @property
    def factor(self) -> float:
        """exp(b) at the mean of b."""
        return float(np.exp(self.mean[0]))

    @cached_property
    def root(self) -> Floats:
        """A square root of the covariance, float64 [1 + F, 1 + F]: root @ root.T is it."""
        variances, directions = np.linalg.eigh(self.covariance)
        root: Floats = directions * np.sqrt(np.maximum(variances, 0.0))
        return root

    def variance(self, responses: Floats) -> Floats:
        """Return the variance of ln(latency), [n], of graphs with ``responses`` [n, 1 + F]."""
        spread: Floats = ((responses @ self.covariance) * responses).sum(axis=1)
        return np.maximum(spread, 0.0) + self.noise**2


@dataclass(frozen=True, slots=True)
class DeviationPrior:
    """Prior of a target's deviation; the scales are those of held-out targets.

    Attributes:
        shift: standard deviation of b.
        scale: standard deviation of each of w.
        noise: usual standard deviation of ln(latency) that no deviation explains.
    """

    shift: float
    scale: float
    noise: float

    def unmeasured(self, responses: int) -> Deviation:
        """Return the prior as a deviation, F = ``responses``."""
        variances = np.full(1 + responses, self.scale**2)
        variances[0] = self.shift**2
        return Deviation(np.zeros(1 + responses), np.diag(variances), self.noise)

    def measured(
        self, expected: Sequence[Expectation], log_latency: Floats, noise: Floats | None = None
    ) -> Deviation:
        """Return the posterior after k measurements.

        Args:
            expected: of the k graphs on the target.
            log_latency: float64 [k], ln of the measured latencies in ms.
            noise: float64 [k], standard deviation of each by its samples; 0 where None.

        Raises:
            InputError: there is no measurement, or one is not finite.
        """
        sample_noise = np.zeros(len(log_latency)) if noise is None else noise
        if not len(log_latency) or not (
            np.isfinite(log_latency).all() and np.isfinite(sample_noise).all()
        ):
            raise InputError(
                "measurements of a target",
                "there is none, or one is not finite",
                "measure latencies above 0",
            )
        rows = np.stack([expectation.response for expectation in expected])
        base = np.log([expectation.expected_ms for expectation in expected])
        regression = self._regression(rows, log_latency - base, sample_noise)
        # The regression is linear, the bounded latency is not, so its level is fitted anew.
        bounded = [expectation.latency_ms(regression.weights) for expectation in expected]
        off = log_latency - np.log(bounded)
        precision = 1 / (regression.noise**2 + sample_noise**2)
        shift = float(precision @ off / (precision.sum() + 1 / self.shift**2))
        return replace(regression, mean=np.concatenate([[shift], regression.weights]))

    def _regression(self, rows: Floats, off: Floats, sample_noise: Floats) -> Deviation:
        """Return the regression of ``off`` [k] on ``rows`` [k, 1 + F], averaged over the scales."""
        parts = [
            self._part(rows, off, sample_noise, scale, noise)
            for scale, noise in product(_SCALES, _NOISES)
        ]
        evidence = np.array([part[0] for part in parts])
        # Pairs of scales are averaged by their evidence: a few probes cannot settle on one.
        chances = np.exp(evidence - evidence.max())
        chances /= chances.sum()
        means = np.stack([part[1] for part in parts])
        mean = chances @ means
        offsets = means - mean
        # Law of total variance: spread between the pairs, then that within each.
        covariance = np.einsum("p,pf,pg->fg", chances, offsets, offsets)
        for chance, part in zip(chances, parts, strict=True):
            covariance += chance * part[2]
        noise = float(np.sqrt(chances @ np.array([part[3] for part in parts]) ** 2))
        return Deviation(mean, covariance, noise)

    def _part(
        self, rows: Floats, off: Floats, sample_noise: Floats, scale: float, noise: float
    ) -> tuple[float, Floats, Floats, float]:
        """Return log evidence with prior, mean, covariance and noise for one pair of scales."""
        prior = self.unmeasured(rows.shape[1] - 1).covariance * scale**2
        residual = self.noise * noise
        # In the k x k form: measurements are usually fewer than responses.
        crossed = rows @ prior
        total = crossed @ rows.T + np.diag(residual**2 + sample_noise**2)
        root = np.linalg.cholesky(total)
        white = np.linalg.solve(root, off)
        gain = np.linalg.solve(root, crossed)
        evidence = -0.5 * float(white @ white) - float(np.log(np.diag(root)).sum())
        evidence -= 0.5 * (np.log(scale) / _SCALE_SPREAD) ** 2
        evidence -= 0.5 * (np.log(noise) / _NOISE_SPREAD) ** 2
        return float(evidence), white @ gain, prior - gain.T @ gain, residual
