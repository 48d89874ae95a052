"""FiLM fine-tuning: a trained network adapted to one target by its k measured graphs."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from ctm_research.network.batch import TargetBatch, check_finite, check_shape
from ctm_research.network.encoder import Encoding
from ctm_research.paper.network import PaperNetwork
from predictor.core.errors import InputError

_BETAS: Final = (0.9, 0.99)  # the second is short: there are some ten steps, not thousands


@dataclass(frozen=True, slots=True)
class FilmTuning:
    """Settings of a fine-tuning.

    Attributes:
        steps: of Adam, all samples in each; 0 leaves the weights as they are.
        rate: learning rate.
        slope_ridge: weight of the slope's prior value of 1, as a number of samples that lie one
            standard deviation of the training latencies from their mean.
    """

    steps: int = 30
    rate: float = 1e-3
    slope_ridge: float = 1.0

    def __post_init__(self) -> None:
        for name in ("steps", "rate", "slope_ridge"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise InputError(
                    f"FiLM fine-tuning, {name}", f"it is {getattr(self, name)}", "give 0 or more"
                )


@dataclass(frozen=True, slots=True, eq=False)
class TunedNetwork:
    """A network for one target: log-latency = level + slope * (network - centre).

    Attributes:
        network: fine-tuned copy, in evaluation state.
        centre: mean prediction for the samples, ln of ms.
        level: mean of the measurements, ln of ms.
        slope: of measured against predicted.
    """

    network: PaperNetwork
    centre: float
    level: float
    slope: float

    def log_latency(self, encoding: Encoding, targets: TargetBatch) -> Tensor:
        """Return ln of the latencies in ms, [G]; arguments as of :func:`tune_film`.

        Raises:
            InputError: shapes or values do not fit the network.
        """
        with torch.inference_mode():
            predicted = self.network.predict(encoding, targets).log_latency[:, 0]
            return self.level + self.slope * (predicted - self.centre)


def tune_film(
    network: PaperNetwork,
    encoding: Encoding,
    targets: TargetBatch,
    log_latency: Tensor,
    tuning: FilmTuning | None = None,
) -> TunedNetwork:
    """Fit the FiLM MLPs, an offset and a slope to a target's samples; the rest stays as it is.

    Offset and slope are solved for in each step, so that the MLPs spend nothing on them. Dropout
    is off and each step takes all samples: equal arguments give equal results. A network with
    identifiers has no FiLM: the target's identifier vector is fitted instead.

    Args:
        network: is not changed.
        encoding: of the k graphs that were measured, by this network.
        targets: the one target.
        log_latency: float32 [k], ln of the measured latencies in ms.
        tuning: settings; the defaults where None.

    Raises:
        InputError: there is no sample, not one target, or shapes or values do not fit.

    Reference:
        CloserToMe, Eq. (6): "a few target-device samples suffice to fine-tune gamma and beta".
    """
    _check(encoding, targets, log_latency)
    tuning = tuning or FilmTuning()
    tuned = copy.deepcopy(network).requires_grad_(False).eval()
    fitted = film_parameters(tuned)
    for parameter in fitted:
        parameter.requires_grad = True
    scale, ridge = network.config.log_std, tuning.slope_ridge
    optimiser = torch.optim.Adam(fitted, tuning.rate, _BETAS)
    # The graph layers are frozen, so the graphs are encoded once for all steps.
    fixed = _without_gradient(encoding)
    for _ in range(tuning.steps):
        predicted = tuned.predict(fixed, targets).log_latency[:, 0]
        centre, level, slope = _line(predicted.detach(), log_latency, ridge * scale**2)
        loss = ((log_latency - level - slope * (predicted - centre)) / scale).square().mean()
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
    for parameter in fitted:
        parameter.requires_grad = False
    predicted = tuned.predict(fixed, targets).log_latency[:, 0]
    return TunedNetwork(tuned, *_line(predicted, log_latency, ridge * scale**2))


def film_parameters(network: PaperNetwork) -> list[torch.nn.Parameter]:
    """Return the weights that are fitted: gamma and beta of FiLM, or else the identifiers."""
    film_hodm, identifier = network.head.film_hodm, network.head.target.identifier
    if film_hodm is not None:
        return list(film_hodm.film.parameters())
    return [] if identifier is None else list(identifier.parameters())


def _line(predicted: Tensor, measured: Tensor, ridge: float) -> tuple[float, float, float]:
    """Return centre, level and slope; a ridge draws the slope to 1."""
    centre, level = predicted.mean(), measured.mean()
    around = predicted - centre
    gain = around @ (measured - level - around)
    # One sample, or samples that all look alike, tell no slope.
    spread = (around @ around + ridge).clamp(min=torch.finfo(predicted.dtype).tiny)
    return float(centre), float(level), 1 + float(gain / spread)


def _without_gradient(encoding: Encoding) -> Encoding:
    return Encoding(
        encoding.states.detach(),
        encoding.graph,
        encoding.node_counts,
        encoding.total.detach(),
        encoding.mean.detach(),
    )


def _check(encoding: Encoding, targets: TargetBatch, log_latency: Tensor) -> None:
    count = int(encoding.node_counts.shape[0])
    if not count:
        raise InputError("FiLM fine-tuning", "there are no samples", "measure at least one graph")
    if len(targets) != 1:
        raise InputError(
            "FiLM fine-tuning", f"there are {len(targets)} targets", "tune for one at a time"
        )
    check_shape("measured latencies", log_latency, (count,))
    check_finite("measured latencies", log_latency)
