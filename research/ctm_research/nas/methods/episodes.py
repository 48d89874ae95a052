"""Episodes that a network practises on: a few devices each, with samples and questions.

Reference:
    Harrison, Sharma and Pavone, Meta-learning priors for efficient online Bayesian regression,
    WAFR 2018; Patacchiola et al., Bayesian meta-learning for the few-shot setting via deep kernels,
    NeurIPS 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ctm_research.nas.additive import measurement_noise
from ctm_research.nas.methods.analytic_devices import analytic_log_latency
from ctm_research.nas.spaces.view import TrainView

_ANALYTIC: Final = 800  # devices drawn for a training
_DEVICES: Final = 24  # of an episode, half of them analytic
_SAMPLES: Final = (4, 28)  # probes of an episode
_NOISE: Final = (0.005, 0.08)  # of measurements on analytic devices, in log-latency
_CONCENTRATION: Final = 0.3  # of the Dirichlet weights: mostly one or two train devices
_LEAST_NOISE: Final = 0.005
_OFFSET_VARIANCE: Final = 0.1**2  # of log-latency around the mean of an episode's samples
_ERROR_WEIGHT: Final = 0.25  # of |error| / noise beside the likelihood

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """T devices on the same B architectures, the first ``samples`` of which were measured.

    Attributes:
        architectures: int64 [B], into the space.
        log_latency: float32 [B, T], with measurement noise.
        noise: float32 [T], its standard deviation.
        samples: k.
    """

    architectures: NDArray[np.int64]
    log_latency: Floats
    noise: Floats
    samples: int


class EpisodeSource:
    """Draws episodes from train devices on train architectures, and from analytic devices.

    Half of the devices of an episode are analytic. The others are random mixtures of train
    devices, half of these with a share of an analytic one: latencies add, so a mixture is a device
    that does some of its work like one and some like another.

    Args:
        view: devices and architectures that may be seen.
        batch: B.
        rng: random numbers; the source draws all its own from it.
        launch_bound: share of the analytic devices that are bound by launches.
    """

    def __init__(
        self, view: TrainView, batch: int, rng: np.random.Generator, launch_bound: float = 0.0
    ) -> None:
        self._rows = view.rows
        self._batch = min(batch, len(view.rows))
        self._rng = rng
        log_latency = view.log_latency()
        self._train = np.exp(log_latency - log_latency.mean(axis=0))  # [T, D]
        kernels = view.architectures.kernels
        self._analytic = analytic_log_latency(kernels, _ANALYTIC, rng, launch_bound)[view.rows]
        self._noise = measurement_noise(view)

    def draw(self) -> Episode:
        """Return an episode."""
        rng = self._rng
        place = rng.choice(len(self._rows), self._batch, replace=False)
        half = _DEVICES // 2
        drawn = rng.integers(self._analytic.shape[1], size=half)
        noise = np.exp(rng.uniform(np.log(_NOISE[0]), np.log(_NOISE[1]), half))
        exact = self._analytic[np.ix_(place, drawn)]
        noisy = exact + noise * rng.normal(size=exact.shape)
        mixed = [self._mixture(place) for _ in range(_DEVICES - half)]
        log_latency = np.column_stack([noisy, *(column for column, _ in mixed)])
        samples = min(int(rng.integers(*_SAMPLES)), self._batch - 1)
        return Episode(
            self._rows[place],
            log_latency.astype(np.float32),
            np.array([*noise, *(spread for _, spread in mixed)], np.float32),
            samples,
        )

    def _mixture(self, place: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
        """Return log-latencies [B] of a mixture, and the noise that they carry."""
        rng = self._rng
        weights = rng.dirichlet(np.full(self._train.shape[1], _CONCENTRATION))
        latency = self._train[place] @ weights
        noise = math.sqrt(float(((weights * self._noise) ** 2).sum()))
        if rng.random() < 0.5:
            share = rng.uniform(0, 0.5)
            column = self._analytic[place, rng.integers(self._analytic.shape[1])]
            analytic = np.exp(column.astype(np.float64))
            latency = (1 - share) * latency / latency.mean() + share * analytic / analytic.mean()
            noise *= 1 - share
        return np.log(latency), max(noise, _LEAST_NOISE)


def episode_loss(features: Tensor, episode: Episode) -> Tensor:
    """Return the mean loss of the posterior's answers over the questions of all T devices.

    Args:
        features: [B, F], not centred.
        episode: B architectures on T devices; its first k rows are the samples.
    """
    k = episode.samples
    centred = features - features.mean(dim=0)
    covariance = centred @ centred.T + _OFFSET_VARIANCE  # [B, B]
    log_latency = torch.from_numpy(episode.log_latency)
    log_latency = (log_latency - log_latency[:k].mean(dim=0)).T  # [T, B]
    noise = torch.from_numpy(episode.noise)[:, None]  # [T, 1]
    # The noise differs by device, so each has a root of its own; the prior is shared.
    own = torch.diag_embed((noise**2).expand(-1, k))  # [T, k, k]
    root = torch.linalg.cholesky(covariance[:k, :k] + own)
    crossed = covariance[:k, k:].expand(len(noise), -1, -1)  # [T, k, B - k]
    shared = torch.linalg.solve_triangular(root, crossed, upper=False)
    whitened = torch.linalg.solve_triangular(root, log_latency[:, :k, None], upper=False)
    error = log_latency[:, k:] - (shared * whitened).sum(dim=1)  # [T, B - k]
    variance = covariance.diagonal()[k:] - (shared**2).sum(dim=1) + noise**2
    # Rounding in float32 can leave a variance below 0.
    variance = variance.clamp(min=1e-6)
    likelihood = 0.5 * (error**2 / variance + variance.log())
    loss: Tensor = likelihood.mean() + _ERROR_WEIGHT * (error.abs() / noise).mean()
    return loss
