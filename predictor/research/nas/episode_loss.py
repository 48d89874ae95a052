"""The loss of an episode: how well the posterior of some samples answers for the other graphs.

Reference:
    Harrison, Sharma and Pavone, Meta-learning priors for efficient online Bayesian regression,
    WAFR 2018; Patacchiola et al., Bayesian meta-learning for the few-shot setting via deep kernels,
    NeurIPS 2020.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from predictor.research.nas.episodes import Episode

_OFFSET_VARIANCE: Final = 0.1**2  # of log-latency around the mean of an episode's samples
_ERROR_WEIGHT: Final = 0.25  # of |error| / noise beside the likelihood


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
    own = torch.diag_embed((noise**2).expand(-1, k))  # [T, k, k]
    root = torch.linalg.cholesky(covariance[:k, :k] + own)
    crossed = covariance[:k, k:].expand(len(noise), -1, -1)  # [T, k, B - k]
    shared = torch.linalg.solve_triangular(root, crossed, upper=False)
    whitened = torch.linalg.solve_triangular(root, log_latency[:, :k, None], upper=False)
    error = log_latency[:, k:] - (shared * whitened).sum(dim=1)  # [T, B - k]
    variance = covariance.diagonal()[k:] - (shared**2).sum(dim=1) + noise**2
    variance = variance.clamp(min=1e-6)
    likelihood = 0.5 * (error**2 / variance + variance.log())
    loss: Tensor = likelihood.mean() + _ERROR_WEIGHT * (error.abs() / noise).mean()
    return loss
