"""The method ``closertome-paper``: Eq. (1) to (9) as written, FiLM fine-tuning, no posterior.

The signature is a vector of the latencies of k reference networks, so each budget has a network of
its own, trained when it is first asked for, and the references are what is measured.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.probing.selection.interface import Measure, Pool, Selection
from predictor.probing.selection.random import RandomSelector
from predictor.research.nas.method import Predicted, Probes
from predictor.research.nas.paper_network import (
    AdaptedPaperNetwork,
    Design,
    PaperRecipe,
    TrainedPaperNetwork,
    train_paper_network,
)
from predictor.research.nas.paper_references import References, choose_references
from predictor.research.nas.space import DeviceFacts
from predictor.research.nas.view import TrainView

RECIPE: Final = PaperRecipe()


@dataclass(frozen=True, slots=True)
class PaperMethod:
    """The method ``closertome-paper``."""

    name: str = "closertome-paper"
    recipe: PaperRecipe = field(default_factory=lambda: RECIPE)

    def train(self, view: TrainView, seed: int) -> TrainedPaper:
        """Wait for a budget: only then is known what there is to train."""
        return TrainedPaper(view, seed, self.recipe, References.DBSEL)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedPaper:
    """Networks with a signature, one for each budget.

    Attributes:
        view: what is trained on.
        seed: of references and trainings.
        recipe: of the trainings.
        policy: how references are chosen.
    """

    view: TrainView
    seed: int
    recipe: PaperRecipe
    policy: References
    _networks: dict[int, TrainedPaperNetwork] = field(default_factory=dict)

    def plan(self, k: int) -> NDArray[np.int64]:
        """Return the k reference networks."""
        return choose_references(self.view, self.policy, k, self.seed)

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedPaper:
        """Train the network of this budget where there is none yet, then fine-tune FiLM.

        Raises:
            InputError: the probes are not the reference networks.
        """
        del seed
        k = len(probes)
        if k not in self._networks:
            self._networks[k] = train_paper_network(
                self.view, self.plan(k), Design(), self.recipe, self.seed
            )
        return AdaptedPaper(self._networks[k].adapt(device, probes))


@dataclass(frozen=True, slots=True, eq=False)
class TrainedWithoutSignature:
    """One network for all budgets; its probes are random, and serve fine-tuning alone."""

    network: TrainedPaperNetwork

    def choose(
        self, candidates: NDArray[np.int64], k: int, measure: Measure, seed: int
    ) -> Selection:
        """Choose at random."""
        pool = Pool(features=candidates[:, None].astype(np.float64))
        return RandomSelector().select(pool, k, measure, seed)

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedPaper:
        """Fine-tune."""
        del seed
        return AdaptedPaper(self.network.adapt(device, probes))


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedPaper:
    """A fine-tuned network."""

    network: AdaptedPaperNetwork

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Return latencies; the paper's method has no intervals."""
        return Predicted(np.exp(self.network.log_latency(architectures)))
