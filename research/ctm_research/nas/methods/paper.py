"""The method ``closertome-paper``: Eq. (1) to (9) as written, FiLM fine-tuning, no posterior.

The signature is a vector of the latencies of k reference networks, so each budget has a network of
its own, trained when it is first asked for, and the references are measured. The signature
must mean the same on every device, so the references cannot depend on the test device: they are a
plan, chosen from the train devices alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.method import Predicted, Probes
from ctm_research.nas.methods.paper_network import (
    AdaptedPaperNetwork,
    Design,
    PaperRecipe,
    TrainedPaperNetwork,
    train_paper_network,
)
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView
from predictor.probing.selection.dbsel import DBSel
from predictor.probing.selection.interface import Measure, Pool, Selection, check_budget
from predictor.probing.selection.random import RandomSelector

RECIPE: Final = PaperRecipe()
_POOL: Final = 1000


class References(StrEnum):
    """Policy by which the reference networks are chosen.

    DBSEL: with equal device weights, as for every plan that is made before anything is measured.
    HOMOGENEOUS: those of most equal latency, the paper's example of an unrepresentative choice.
    """

    DBSEL = "dbsel"
    RANDOM = "random"
    HOMOGENEOUS = "homogeneous"


def choose_references(view: TrainView, policy: References, k: int, seed: int) -> NDArray[np.int64]:
    """Return k train architectures, int64 [k], of a random pool of 1000.

    Raises:
        InputError: k is not between 1 and the size of the pool.
    """
    rng = np.random.default_rng(seed)
    place = rng.choice(len(view.rows), min(_POOL, len(view.rows)), replace=False)
    pool = Pool(train_latency_ms=view.latency_ms[place])
    if policy is References.HOMOGENEOUS:
        chosen = most_homogeneous(pool, k)
    else:
        selector = DBSel() if policy is References.DBSEL else RandomSelector()
        chosen = selector.select(pool, k, seed=seed).indices
    return view.rows[place[list(chosen)]]


def most_homogeneous(pool: Pool, k: int) -> tuple[int, ...]:
    """Return the k networks whose mean latencies are closest together; the fastest of equals.

    Each device's latencies count relative to their mean.

    Raises:
        InputError: k is not between 1 and the size of the pool, or it has no latencies.
    """
    check_budget(pool, k)
    latency_ms = pool.needed_latency_ms("of equal latencies")
    mean = (latency_ms / latency_ms.mean(axis=0)).mean(axis=1)
    order = np.argsort(mean, kind="stable")
    # Sorted by mean, the k closest networks are neighbours: the narrowest window of k.
    width = mean[order[k - 1 :]] - mean[order[: len(order) - k + 1]]
    first = int(np.argmin(width))
    return tuple(order[first : first + k].tolist())


@dataclass(frozen=True, slots=True)
class PaperMethod:
    """The method ``closertome-paper``."""

    name: str = "closertome-paper"
    recipe: PaperRecipe = field(default_factory=lambda: RECIPE)

    def train(self, view: TrainView, seed: int) -> TrainedPaper:
        """Wait for a budget: the network depends on it."""
        return TrainedPaper(view, seed, self.recipe, References.DBSEL)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedPaper:
    """Networks with a signature, one for each budget.

    Attributes:
        view: training data.
        seed: of references and trainings.
        recipe: of the trainings.
        policy: that chooses the references.
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
