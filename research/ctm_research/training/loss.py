"""The loss of training: likelihood of a target's measurements together, and of each alone.

The measurements of a target that the network has not seen differ from its expectation, and do so
together: ln(latency) = expectation + b + response . w + noise, with b and w normal. The likelihood
of all measurements of a target under this is the product of the likelihoods of each after 0, 1, 2
and more others are known. So one network learns to predict from any number of probes. The
expectation alone remains without a probe; its error stands beside the likelihood.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

_CLIP = 2.0  # of a deviation in the likelihood: one that far is a mistake of the source
_BEND = 0.3  # where the error of the expectation turns from square to absolute


class Deviations(nn.Module):
    """Scales of the deviations: of b, and of the noise of each source.

    Args:
        sources: their number.
    """

    def __init__(self, sources: int) -> None:
        super().__init__()
        self.log_shift = nn.Parameter(torch.tensor(-1.0))
        self.log_noise = nn.Parameter(torch.full((sources,), -2.5))


def block_loss(
    deviations: Deviations,
    source: int,
    expected: Tensor,
    responses: Tensor,
    measured: Tensor,
    variance: Tensor,
    trust: Tensor,
) -> Tensor:
    """Return the mean loss of the targets of a block.

    Args:
        deviations: scales.
        source: of the block.
        expected: ln(latency in ms) [G, T].
        responses: [G, T, F].
        measured: ln(latency in ms) [G, T], NaN where there is none.
        variance: [G, T], of the measurements.
        trust: [T], weight of the error of the expectation, 0 to 1.
    """
    present = ~measured.isnan().T  # [T, G]
    off = torch.where(present, torch.nan_to_num(measured).T - expected.T, 0.0)
    count = present.sum(dim=1).clamp(min=1)
    shift = torch.exp(2 * deviations.log_shift)
    noise = torch.exp(2 * deviations.log_noise[source]) + variance.T
    # Masked pairs get the rows of an identity matrix below: they add nothing to either sum.
    rows = responses.transpose(0, 1) * present.unsqueeze(-1)  # [T, G, F]
    both = present.unsqueeze(1) & present.unsqueeze(2)
    covariance = rows @ rows.transpose(1, 2) + shift * both
    covariance = covariance + torch.diag_embed(torch.where(present, noise, torch.ones_like(noise)))
    root = torch.linalg.cholesky(covariance)
    # Smooth, unlike clamp, so that a far measurement keeps a gradient.
    clipped = _CLIP * torch.tanh(off / _CLIP)
    white = torch.linalg.solve_triangular(root, clipped.unsqueeze(-1), upper=False).squeeze(-1)
    determinant = torch.log(torch.diagonal(root, dim1=1, dim2=2)).sum(dim=1)
    likelihood = (0.5 * (white**2).sum(dim=1) + determinant) / count
    error = nn.functional.huber_loss(off, torch.zeros_like(off), reduction="none", delta=_BEND)
    # Huber grows by its delta: divided by it, far errors count by their size.
    alone = error.sum(dim=1) / count / _BEND * trust
    loss: Tensor = (likelihood + alone).mean()
    return loss
