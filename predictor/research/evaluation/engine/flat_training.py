"""FLAT trained on one source of a corpus, and fine-tuned on the measurements of a new target."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from predictor.network.repeatable import repeatable
from predictor.research.corpus import Corpus
from predictor.research.evaluation.engine.flat_measured import Floats, Measured, Rows
from predictor.research.evaluation.engine.flat_network import FlatGraphs, FlatNetwork

_CALIBRATION_RIDGE: Final = 1.0
_Z_LIMIT: Final = 8.0  # standard deviations; keeps a diverged fine-tuning finite
_LEAST_CORRELATED: Final = 3  # fewer measurements have no correlation to go by
_REHEARSED: Final = 4  # training targets that are played as new ones
_REHEARSAL_SUPPORT: Final = 8
_JUDGED: Final = 50
_CHUNK: Final = 64  # graphs

Tuning = tuple[int, float]
"""Steps and learning rate of fine-tuning."""


@dataclass(frozen=True, slots=True)
class FlatRecipe:
    """Settings of the training and fine-tuning of FLAT.

    Attributes:
        steps: blocks of graphs on targets.
        cells: graphs times targets of a block.
        targets: most of a block.
        rate: learning rate at the start; it falls along a half cosine.
        tunings: of fine-tuning, to choose from; every step takes all measurements.
    """

    steps: int = 400
    cells: int = 32
    targets: int = 4
    rate: float = 3e-3
    tunings: tuple[Tuning, ...] = ((0, 1e-3), (20, 1e-3), (40, 3e-3))


@dataclass(frozen=True, slots=True, eq=False)
class TrainedFlat:
    """FLAT after training on one source; its weights stay as they are.

    Attributes:
        network: knows the D targets by their places in ``measured``.
        inputs: graphs as it reads them.
        measured: the measurements it was trained on.
        centre, spread: of log-latency on each target, float64 [D].
        tuning: settings of the fine-tuning.
        guessed: ln(latency in ms) on the D targets that it predicts, by graph, as far as asked.
    """

    network: FlatNetwork
    inputs: FlatGraphs
    measured: Measured
    centre: Floats
    spread: Floats
    tuning: Tuning
    guessed: dict[int, Floats] = field(default_factory=dict)

    def predict(
        self, graphs: Rows, support: Rows, log_latency: Floats, tuning: Tuning | None = None
    ) -> Floats:
        """Predict a new target.

        It starts as the nearest target of training, is fine-tuned, and slope and offset are
        fitted on its measurements once more.

        Args:
            graphs: int64 [Q].
            support: int64 [k], the measured graphs, k above 0.
            log_latency: float64 [k], ln of their latencies in ms.
            tuning: another one than that which was chosen.

        Returns:
            ln(latency in ms) of ``graphs``, float64 [Q].
        """
        nearest = nearest_target(self._known(support), log_latency)
        network = copy.deepcopy(self.network)
        network.start_new(nearest)
        spread = float(self.spread[nearest])
        centre = float((log_latency - spread * self._output(network, support)).mean())
        wanted = (log_latency - centre) / spread
        self._tune(network, support, wanted, tuning or self.tuning)
        seen = self._output(network, support)
        apart, residual = seen - seen.mean(), wanted - wanted.mean()
        slope = 1 + float(apart @ (residual - apart)) / (float(apart @ apart) + _CALIBRATION_RIDGE)
        predicted = wanted.mean() + slope * (self._output(network, graphs) - seen.mean())
        bounded: Floats = np.clip(predicted, -_Z_LIMIT, _Z_LIMIT)
        return centre + spread * bounded

    def on_training_targets(self, graph: int) -> Floats:
        """Return ln of the predicted latency in ms of a graph on each target of training, [D]."""
        if graph not in self.guessed:
            targets = torch.arange(len(self.measured.targets))
            with torch.inference_mode():
                output = self.network(*self.inputs.batch(np.array([graph])), targets)[0]
            self.guessed[graph] = self.centre + self.spread * output.double().numpy()
        return self.guessed[graph]

    def _known(self, graphs: Rows) -> Floats:
        """Return ln(latency) [k, D], predicted where a target of training was not measured."""
        places = {graph: place for place, graph in enumerate(self.measured.graphs.tolist())}
        nothing = np.full(len(self.measured.targets), np.nan)
        log_latency = np.stack(
            [
                self.measured.log_latency[places[g]] if g in places else nothing
                for g in graphs.tolist()
            ]
        )
        for row in np.flatnonzero(np.isnan(log_latency).any(axis=1)).tolist():
            guessed = self.on_training_targets(int(graphs[row]))
            log_latency[row] = np.where(np.isnan(log_latency[row]), guessed, log_latency[row])
        return log_latency

    def _output(self, network: FlatNetwork, graphs: Rows) -> Floats:
        parts = np.split(graphs, range(_CHUNK, len(graphs), _CHUNK))
        new = torch.tensor([network.new])
        with torch.inference_mode():
            outputs = [network(*self.inputs.batch(part), new)[:, 0] for part in parts]
        output: Floats = torch.cat(outputs).double().numpy()
        return output

    def _tune(self, network: FlatNetwork, support: Rows, wanted: Floats, tuning: Tuning) -> None:
        steps, rate = tuning
        graphs, amounts = self.inputs.batch(support)
        new, target = torch.tensor([network.new]), torch.from_numpy(wanted).float()
        optimiser = torch.optim.Adam(network.parameters(), rate)
        for _ in range(steps):
            loss = nn.functional.mse_loss(network(graphs, amounts, new)[:, 0], target)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()


def nearest_target(on_targets: Floats, log_latency: Floats) -> int:
    """Return the target of training that is most like a new one.

    Args:
        on_targets: float64 [k, D], ln(latency) of k graphs on the targets of training.
        log_latency: float64 [k], on the new one.

    Returns:
        The column that is most correlated; of fewer than three graphs that of the nearest level.
    """
    if len(log_latency) < _LEAST_CORRELATED:
        return int(np.abs((on_targets - log_latency[:, None]).mean(axis=0)).argmin())
    centred = on_targets - on_targets.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    measured = log_latency - log_latency.mean()
    return int(np.argmax(measured @ centred / np.where(length > 0, length, np.inf)))


def train_flat(
    corpus: Corpus, measured: Measured, seed: int, recipe: FlatRecipe | None = None
) -> TrainedFlat:
    """Train on the measurements of one source.

    The fine-tuning is chosen on targets of training whose silicon a shorter training is kept
    from; where all are of one silicon it is the middle choice.

    Args:
        corpus: the graphs, and the silicon of the targets.
        measured: all that may be seen.
        seed: of weights and draws.
        recipe: of the training.
    """
    recipe = recipe or FlatRecipe()
    return _train(
        corpus, measured, _best_tuning(corpus, measured, seed, recipe), recipe.steps, seed, recipe
    )


def _best_tuning(corpus: Corpus, measured: Measured, seed: int, recipe: FlatRecipe) -> Tuning:
    rng = np.random.default_rng(seed)
    silicon = np.array([corpus.silicon[target] for target in measured.targets.tolist()])
    keys = rng.permutation(np.unique(silicon))
    played = np.isin(silicon, keys[: max(1, len(keys) // 4)])
    usual = recipe.tunings[len(recipe.tunings) // 2]
    if played.all() or len(recipe.tunings) == 1:
        return usual
    trained = _train(corpus, measured.on(~played), usual, recipe.steps // 3, seed, recipe)
    rest = measured.on(played)
    errors = []
    for column in rng.permutation(rest.log_latency.T)[:_REHEARSED]:
        rows = rng.permutation(np.flatnonzero(~np.isnan(column)))
        k = min(_REHEARSAL_SUPPORT, len(rows) // 2)
        support, judged = rows[:k], rows[k : k + _JUDGED]
        if k:
            errors.append(
                [
                    _log_error(trained, rest.graphs, column, support, judged, tuning)
                    for tuning in recipe.tunings
                ]
            )
    return recipe.tunings[int(np.argmin(np.mean(errors, axis=0)))] if errors else usual


def _log_error(
    trained: TrainedFlat, graphs: Rows, column: Floats, support: Rows, judged: Rows, tuning: Tuning
) -> float:
    """Return the log of the mean relative error on a target that is played as a new one."""
    predicted = trained.predict(graphs[judged], graphs[support], column[support], tuning)
    # Without the addend, a target that is predicted exactly would be -inf and decide alone.
    return float(np.log(np.abs(np.expm1(predicted - column[judged])).mean() + 1e-9))


def _train(
    corpus: Corpus, measured: Measured, tuning: Tuning, steps: int, seed: int, recipe: FlatRecipe
) -> TrainedFlat:
    rng = np.random.default_rng(seed)
    centre, spread = measured.levels()
    standardised = (measured.log_latency - centre) / spread
    inputs = FlatGraphs(corpus, measured.graphs)
    with repeatable(seed):
        network = FlatNetwork(inputs.features, len(measured.targets))
        optimiser = torch.optim.Adam(network.parameters(), recipe.rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, max(1, steps))
        for _ in range(steps):
            graphs, targets = _block(standardised, recipe, rng)
            output = network(*inputs.batch(measured.graphs[graphs]), torch.from_numpy(targets))
            loss = _mean_square(output, standardised[np.ix_(graphs, targets)])
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    return TrainedFlat(network.eval(), inputs, measured, centre, spread, tuning)


def _block(
    standardised: Floats, recipe: FlatRecipe, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw targets, and graphs that one of them was measured on."""
    targets = rng.permutation(standardised.shape[1])[: recipe.targets]
    measured = np.flatnonzero(~np.isnan(standardised[:, targets]).all(axis=1))
    # Cells and not graphs are limited: the cost of a block is graphs times targets.
    return rng.permutation(measured)[: recipe.cells // len(targets)], targets


def _mean_square(output: Tensor, wanted: Floats) -> Tensor:
    """Return the mean over the cells that were measured."""
    target = torch.from_numpy(wanted).float()
    measured = ~torch.isnan(target)
    return nn.functional.mse_loss(output[measured], target[measured])
