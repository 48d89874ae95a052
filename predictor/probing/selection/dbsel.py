"""DBSel, the Device Behavior Signature Selector: Eq. 1, Eq. 2 and Algorithm 1.

C. Tang et al., "CloserToMe: A Unified Framework for Accurate and Transferable Latency Prediction
Across Heterogeneous Devices". The paper's open points are settled in docs/decisions/0004.

Latencies are divided by their device's mean over the pool before anything is computed from them,
so that a slow device does not outweigh the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from predictor.core.errors import InputError
from predictor.probing.selection.interface import (
    Floats,
    Measure,
    Pool,
    Selection,
    check_budget,
    measured,
)

EPSILON = 1e-8
"""Epsilon of Eq. 1 and of the coverage term: keeps a division by zero away."""

MIN_LIVE_BUDGET = 6
"""Below this budget nothing is spent on random probes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DBSel:
    """DBSel with its hyper-parameters.

    Attributes:
        probes: p, random probes among the k; None is max(3, k // 3). With a budget below 6, or
            without a live device, it is 0 and all training devices weigh the same.
        tau: temperature of the softmax in Eq. 1; a small one trusts the most similar device.
        alpha_sim: factor of the standardised similarity in Eq. 1.
        beta: share of the uniform prior in the device weights, from 0 to 1.
        alpha_cov: share of the coverage term against the distance, from 0 to 1.
        gamma: share of the diversity term in Eq. 2, from 0 to 1.
    """

    probes: int | None = None
    tau: float = 1.0
    alpha_sim: float = 1.0
    beta: float = 0.2
    alpha_cov: float = 0.3
    gamma: float = 0.5

    def __post_init__(self) -> None:
        for name in ("beta", "alpha_cov", "gamma"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise InputError(f"DBSel's {name}", f"it is {value}", "give a number from 0 to 1")
        if not (np.isfinite(self.tau) and self.tau > 0):
            raise InputError("DBSel's tau", f"it is {self.tau}", "give a number above 0")
        if not np.isfinite(self.alpha_sim):
            raise InputError("DBSel's alpha_sim", f"it is {self.alpha_sim}", "give a number")

    def select(
        self, pool: Pool, k: int, measure: Measure | None = None, seed: int = 0
    ) -> Selection:
        """Choose and measure; see :class:`Selector`.

        The random probes come first and belong to the signature: distances and ranges of the rest
        are taken from them too.
        """
        check_budget(pool, k)
        probes = self.first(len(pool), k, live=measure is not None, seed=seed)
        probe_latency_ms = measured(measure, probes) if measure else ()
        selection = self.rest(pool, k, probes, probe_latency_ms)
        rest = selection.indices[len(probes) :]
        return replace(
            selection, latency_ms=probe_latency_ms + measured(measure, rest) if measure else ()
        )

    def first(self, size: int, k: int, *, live: bool, seed: int = 0) -> tuple[int, ...]:
        """Return the random probes of a pool of ``size`` networks, the first to be measured.

        Args:
            size: of the pool.
            k: number of networks measured altogether.
            live: whether the rest is chosen when these are measured; there are none otherwise.
            seed: of the draw.

        Raises:
            InputError: ``probes`` does not fit the budget, or there is no live device.
        """
        count = self._probe_count(k, live=live)
        drawn = np.random.default_rng(seed).choice(size, count, replace=False)
        return tuple(drawn.tolist())

    def rest(
        self, pool: Pool, k: int, first: Sequence[int], latency_ms: Sequence[float], seed: int = 0
    ) -> Selection:
        """Choose what follows, say on the random probes; see :class:`Selector`."""
        del seed
        # The new device needs no scaling: cosine and Pearson do not depend on it.
        train_latency_ms = pool.needed_latency_ms("DBSel")
        scaled = train_latency_ms / train_latency_ms.mean(axis=0)
        latencies = np.asarray(latency_ms, np.float64)
        # Not strict: without a device latency_ms is empty.
        rows = [row for row, ms in zip(first, latencies, strict=False) if np.isfinite(ms)]
        weights = self._weights(scaled[rows], latencies[np.isfinite(latencies)])
        chosen = self._signature(scaled, weights, first, k)
        return Selection(tuple(chosen), (), tuple(weights.tolist()))

    def _probe_count(self, k: int, *, live: bool) -> int:
        if self.probes is None:
            return max(3, k // 3) if live and k >= MIN_LIVE_BUDGET else 0
        if not 0 <= self.probes <= k:
            raise InputError(
                "DBSel's random probes",
                f"p is {self.probes}, the budget k is {k}",
                f"choose from 0 to {k}",
            )
        if self.probes and not live:
            raise InputError(
                "DBSel's random probes",
                f"p is {self.probes}, but there is no live device",
                "leave p at 0 for a plan",
            )
        return self.probes

    def _weights(self, train_probes: Floats, test_probes: Floats) -> Floats:
        devices = train_probes.shape[1]
        if not len(test_probes):
            return np.full(devices, 1 / devices)
        similarity = hybrid_similarity(train_probes, test_probes)
        aligned = alignment_weights(similarity, self.tau, self.alpha_sim)
        weights: Floats = (1 - self.beta) * aligned + self.beta / devices
        return weights

    def _signature(
        self, scaled: Floats, weights: Floats, probes: Sequence[int], k: int
    ) -> list[int]:
        """Extend the probes to ``k`` networks by the second half of Algorithm 1."""
        chosen = list(probes)
        if not chosen:
            # Eq. 2 starts a signature only where no random probe does (docs/decisions/0004).
            score = diversity_coverage_score(scaled, weights, self.gamma)
            chosen.append(int(np.argmax(score)))
        distance = np.full(len(scaled), np.inf)
        for row in chosen:
            distance = np.minimum(distance, _weighted_distance(scaled, weights, row))
        while len(chosen) < k:
            objective = (1 - self.alpha_cov) * distance
            # t of Algorithm 1 is the place in the signature, random probes included.
            if len(chosen) + 1 > k / 2:
                objective += self.alpha_cov * coverage_gain(scaled, weights, chosen)
            objective[chosen] = -np.inf
            best = int(np.argmax(objective))
            chosen.append(best)
            distance = np.minimum(distance, _weighted_distance(scaled, weights, best))
        return chosen


def hybrid_similarity(train_probes: Floats, test_probes: Floats) -> Floats:
    """Return the mean of cosine similarity and Pearson correlation with each training device.

    Args:
        train_probes: float64 [p, D], latencies of the probes on the training devices.
        test_probes: float64 [p], latencies on the test device.

    Returns:
        float64 [D]. Latencies that do not vary have no correlation: it counts as 0.
    """
    cosine = _cosine(train_probes, test_probes)
    pearson = _cosine(_centred(train_probes), _centred(test_probes))
    mean: Floats = (cosine + pearson) / 2
    return mean


def _centred(latencies: Floats) -> Floats:
    """Subtract each column's mean; a constant column, of which rounding is left, becomes 0."""
    centred = latencies - latencies.mean(axis=0)
    varies = np.abs(centred).max(axis=0) > 1e-12 * np.abs(latencies).max(axis=0)
    result: Floats = centred * varies
    return result


def _cosine(columns: Floats, vector: Floats) -> Floats:
    norms = np.sqrt((columns**2).sum(axis=0) * (vector**2).sum())
    products = (columns * vector[:, None]).sum(axis=0)
    cosine: Floats = np.divide(products, norms, out=np.zeros_like(norms), where=norms > 0)
    return cosine


def alignment_weights(similarity: Floats, tau: float, alpha_sim: float) -> Floats:
    """Return W of Eq. 1 for one test device: a softmax of the standardised similarities.

    Args:
        similarity: float64 [D], S of each training device.
        tau: temperature.
        alpha_sim: factor of the standardised similarity.

    Returns:
        float64 [D], positive, sum 1.
    """
    z = (similarity - similarity.mean()) / (similarity.std() + EPSILON)
    exponent = alpha_sim * z / tau
    # The largest exponent cancels, and cannot overflow once it is 0.
    weights = np.exp(exponent - exponent.max())
    normalised: Floats = weights / weights.sum()
    return normalised


def diversity_coverage_score(scaled: Floats, weights: Floats, gamma: float) -> Floats:
    """Return the score of Eq. 2.

    Args:
        scaled: float64 [N, D], scaled latencies.
        weights: float64 [D], of the devices.
        gamma: share of the first term, the variance between devices.

    Returns:
        float64 [N].
    """
    mean = scaled.mean(axis=1)
    diversity = (weights * (scaled - mean[:, None]) ** 2).sum(axis=1)
    centrality = 1 / (1 + np.abs(mean - np.median(mean)))
    score: Floats = gamma * diversity + (1 - gamma) * centrality
    return score


def coverage_gain(scaled: Floats, weights: Floats, chosen: Sequence[int]) -> Floats:
    """Return c of Algorithm 1: each network's extension of the covered range.

    Args:
        scaled: float64 [N, D], scaled latencies.
        weights: float64 [D], of the devices.
        chosen: the networks that are selected already, at least one.

    Returns:
        float64 [N]; each device's extension is relative to its range over ``chosen``.
    """
    covered = scaled[list(chosen)]
    low, high = covered.min(axis=0), covered.max(axis=0)
    extension = np.maximum(scaled - high, 0) + np.maximum(low - scaled, 0)
    # The paper's "CurrentRange_{d+eps}" is read as CurrentRange_d + eps (0004).
    gain: Floats = (weights * extension / (high - low + EPSILON)).sum(axis=1)
    return gain


def _weighted_distance(scaled: Floats, weights: Floats, row: int) -> Floats:
    distance: Floats = (weights * np.abs(scaled - scaled[row])).sum(axis=1)
    return distance
