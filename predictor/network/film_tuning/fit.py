"""FiLM fine-tuning of the shipped network to one target: gamma and beta."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from predictor.cost.engine import FilmBiases
from predictor.network.film_tuning.onnx_in_torch import TorchGraph
from predictor.network.term_runtime import FILM_BETA, FILM_GAMMA

_BETAS: Final = (0.9, 0.99)  # the second is short: there are some thirty steps, not thousands
_SLOPE_RIDGE: Final = 1.0  # of ln(latency): how much the slope's prior value of 1 counts for

Inputs = Mapping[str, NDArray[np.generic]]
"""Inputs of the head for one graph on the target, by name."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps of the fit of gamma and beta.

    Attributes:
        count: of steps of Adam, all samples in each.
        rate: learning rate.
    """

    count: int = 30
    rate: float = 1e-2


class FilmOfTarget:
    """Fits gamma and beta of FiLM to what was measured on a target; all else stays as it ships.

    Level and slope are solved for in each step, so that FiLM spends nothing on what the posterior
    tells better. Equal arguments give equal results.

    Args:
        head: ONNX file of the network's second half.
        inputs: of the k graphs that were measured.
        log_latency: float [k], ln of the measured latencies in ms.
        steps: how.

    Reference:
        CloserToMe, Eq. (6): "a few target-device samples suffice to fine-tune gamma and beta".
    """

    def __init__(
        self,
        head: Path,
        inputs: Sequence[Inputs],
        log_latency: NDArray[np.float64],
        steps: Steps | None = None,
    ) -> None:
        self._graph = TorchGraph(head)
        self._inputs = [
            {name: torch.from_numpy(np.array(value)) for name, value in each.items()}
            for each in inputs
        ]
        self._log_latency = torch.from_numpy(log_latency).to(torch.float32)
        self._steps = steps or Steps()

    def biases(self, left_out: int | None = None) -> FilmBiases:
        """Fit to all samples but one, or to all."""
        kept = [place for place in range(len(self._inputs)) if place != left_out]
        weights = self._graph.initializers
        shifts = {
            name: torch.zeros_like(weights[name], requires_grad=True)
            for name in (FILM_GAMMA, FILM_BETA)
        }
        optimiser = torch.optim.Adam(list(shifts.values()), self._steps.rate, _BETAS)
        for _ in range(self._steps.count):
            replaced = {name: weights[name] + shift for name, shift in shifts.items()}
            loss = _misfit(self._said(kept, replaced), self._log_latency[kept])
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
        gamma, beta = (
            (weights[name] + shifts[name]).detach().numpy() for name in (FILM_GAMMA, FILM_BETA)
        )
        return FilmBiases(gamma, beta)

    def every(self) -> Iterator[FilmBiases]:
        """Yield the fit to all samples, and then that without each of them."""
        yield self.biases()
        for place in range(len(self._inputs)):
            yield self.biases(place)

    def _said(self, kept: Sequence[int], replaced: Mapping[str, Tensor]) -> Tensor:
        """Return ln of what the network expects of the kept samples, [k]."""
        outputs = (self._graph.run(self._inputs[place], replaced) for place in kept)
        return torch.stack([torch.log(o["parts_ms"].sum() + o["run_ms"][0]) for o in outputs])


def _misfit(said: Tensor, measured: Tensor) -> Tensor:
    """Return the mean square of what no line through the samples explains."""
    around = said - said.mean()
    off = measured - measured.mean() - around
    fixed = around.detach()
    slope = 1 + float(fixed @ off.detach() / (fixed @ fixed + _SLOPE_RIDGE))
    return (measured - measured.mean() - slope * around).square().mean()
