"""The variants of the paper's ablation, each without and with a Bayesian posterior.

Baseline: graph layers and an identifier for each device, no HCV, no dialogue, no DBS.
A: HCV, FiLM and HODM; no DBS. B, C and Ours: A with a DBS of random networks, of networks of equal
latency, and of those that DBSel chooses. Each is fine-tuned on its k samples, which are its DBS
where it has one, and random ones where it has none.

Reference:
    CloserToMe, Table 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.bayesian_regression import BayesianRegression, ScalePrior
from ctm_research.nas.method import Predicted, Probes
from ctm_research.nas.methods.paper import (
    RECIPE,
    AdaptedPaper,
    References,
    TrainedPaper,
    TrainedWithoutSignature,
)
from ctm_research.nas.methods.paper_network import (
    AdaptedPaperNetwork,
    Design,
    PaperRecipe,
    train_paper_network,
)
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView
from predictor.core.percentiles import Z80
from predictor.probing.selection.interface import Measure, Selection

# Of what the fine-tuned network gets wrong: from half a percent to far more than is usual.
_REGRESSION: Final = BayesianRegression(
    scale=ScalePrior((0.005, 0.01, 0.02, 0.04, 0.08, 0.16), usual=0.03, spread=1.0),
    noise=ScalePrior((0.005, 0.01, 0.02, 0.03, 0.045, 0.07, 0.1, 0.15), usual=0.03, spread=0.7),
    intercept_variance=0.1**2,
)
_USUAL: Final = 250  # train architectures that tell how much a feature varies
_LEAST_SPREAD: Final = 1e-6

Trained = TrainedPaper | TrainedWithoutSignature


@dataclass(frozen=True, slots=True)
class Variant:
    """Parts of a variant.

    Attributes:
        hcv: HCV with FiLM and HODM, else identifiers.
        references: policy that chooses the DBS; None leaves it out.
    """

    hcv: bool
    references: References | None = None


@dataclass(frozen=True, slots=True)
class AblationMethod:
    """A variant as a method.

    Attributes:
        name: of the method.
        variant: of the network.
        posterior: whether a posterior on the network's pooled features is added.
        recipe: of the trainings.
    """

    name: str
    variant: Variant
    posterior: bool = False
    recipe: PaperRecipe = field(default_factory=lambda: RECIPE)

    def train(self, view: TrainView, seed: int) -> Trained | TrainedPlanned | TrainedChoosing:
        """Train, or take over the training of the other column's method."""
        trained = trained_once(view, seed, self.variant, self.recipe)
        if not self.posterior:
            return trained
        if isinstance(trained, TrainedPaper):
            return TrainedPlanned(trained)
        return TrainedChoosing(trained)


@lru_cache(maxsize=1)
def trained_once(view: TrainView, seed: int, variant: Variant, recipe: PaperRecipe) -> Trained:
    """Return the networks of a variant: both of its columns share them."""
    if variant.references is not None:
        return TrainedPaper(view, seed, recipe, variant.references)
    design = Design(hcv=variant.hcv, signature=False)
    return TrainedWithoutSignature(
        train_paper_network(view, np.zeros(0, np.int64), design, recipe, seed)
    )


@dataclass(frozen=True, slots=True, eq=False)
class TrainedPlanned:
    """Networks with a signature, and a posterior."""

    trained: TrainedPaper

    def plan(self, k: int) -> NDArray[np.int64]:
        """Return the k reference networks."""
        return self.trained.plan(k)

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedPosterior:
        """Fine-tune, then regress the residuals."""
        return AdaptedPosterior(self.trained.adapt(device, probes, seed), probes)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedChoosing:
    """A network without a signature, and a posterior."""

    trained: TrainedWithoutSignature

    def choose(
        self, candidates: NDArray[np.int64], k: int, measure: Measure, seed: int
    ) -> Selection:
        """Choose as without a posterior."""
        return self.trained.choose(candidates, k, measure, seed)

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedPosterior:
        """Fine-tune, then regress the residuals."""
        return AdaptedPosterior(self.trained.adapt(device, probes, seed), probes)


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedPosterior:
    """A fine-tuned network, and the samples."""

    adapted: AdaptedPaper
    probes: Probes

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Return median and 80 % interval."""
        network = self.adapted.network
        seen, asked = _features(network, self.probes.architectures, architectures)
        said = network.log_latency(architectures)
        missing = self.probes.log_latency() - network.log_latency(self.probes.architectures)
        left = _REGRESSION.predict(seen, missing, asked)
        reach = Z80 * np.sqrt(left.variance)
        median = said + left.mean
        return Predicted(np.exp(median), np.exp(median - reach), np.exp(median + reach))


def _features(
    network: AdaptedPaperNetwork, *architectures: NDArray[np.int64]
) -> tuple[NDArray[np.float64], ...]:
    """Return features [n, d] of each set, of variance 1 / d over some train architectures."""
    rows = network.trained.view.rows
    usual = network.features(rows[:: max(1, len(rows) // _USUAL)])
    centre, spread = usual.mean(axis=0), usual.std(axis=0)
    varies = spread > _LEAST_SPREAD
    # 1 / d each, so that the prior variance x^T x is about 1 at any width.
    scale = spread[varies] * np.sqrt(max(1, varies.sum()))
    parts = (network.features(part) for part in architectures)
    return tuple((part[:, varies] - centre[varies]) / scale for part in parts)


_BASELINE: Final = Variant(hcv=False)
_A: Final = Variant(hcv=True)
_B: Final = Variant(hcv=True, references=References.RANDOM)
_C: Final = Variant(hcv=True, references=References.HOMOGENEOUS)
_OURS: Final = Variant(hcv=True, references=References.DBSEL)

BASELINE: Final = partial(AblationMethod, "ablation-baseline", _BASELINE)
BASELINE_POSTERIOR: Final = partial(
    AblationMethod, "ablation-baseline-posterior", _BASELINE, posterior=True
)
A: Final = partial(AblationMethod, "ablation-a", _A)
A_POSTERIOR: Final = partial(AblationMethod, "ablation-a-posterior", _A, posterior=True)
B: Final = partial(AblationMethod, "ablation-b", _B)
B_POSTERIOR: Final = partial(AblationMethod, "ablation-b-posterior", _B, posterior=True)
C: Final = partial(AblationMethod, "ablation-c", _C)
C_POSTERIOR: Final = partial(AblationMethod, "ablation-c-posterior", _C, posterior=True)
OURS: Final = partial(AblationMethod, "ablation-ours", _OURS)
OURS_POSTERIOR: Final = partial(AblationMethod, "ablation-ours-posterior", _OURS, posterior=True)
