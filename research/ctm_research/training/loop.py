"""The training loop: blocks of measurements, some targets made unreliable, a fixed time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from ctm_research.corpus.corpus import Corpus
from ctm_research.network.choices import OF_KIND
from ctm_research.network.config import Attention, NetworkConfig
from ctm_research.network.term_network import TargetInput, TermNetwork
from ctm_research.sources import SOURCES
from ctm_research.training.examples import Block, BlockSampler, Examples
from ctm_research.training.inputs import CorpusInputs, Statistics
from ctm_research.training.loss import Deviations, block_loss
from predictor.core.errors import InputError
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.network.work_terms import KINDS

SHARES: Final = {name: share for s in SOURCES.values() for name, share in s.shares.items()}
_KEEP_EVERY_S: Final = 60.0
_WARM_UP: Final = 30  # steps
_LAST_RATE: Final = 0.01  # of the learning rate
_TYPICAL_NODES: Final = 100.0


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings of a training; they were compared on held-out silicon and families.

    Attributes:
        steps: blocks that are learned from.
        width: d.
        layers: graph layers.
        responses: that are learned, beside those of kinds of operators.
        summary: numbers that describe a target.
        blur: of these, standard deviation while learning.
        rate: highest learning rate.
        decay: of weights.
        dropout: of states before the readout.
        metric_dropout: part of a target's metrics that are hidden in a step.
        metric_noise: standard deviation of the noise added to standardised metrics.
        misstated: part of the targets whose reference rates are made wrong in a step.
        misstatement: standard deviation of ln(rate) of these.
        memory: of the running mean of the weights, the result of the training.
        seed: of weights and draws.
    """

    steps: int = 5000
    width: int = 48
    layers: int = 2
    responses: int = 32
    summary: int = 8
    blur: float = 0.2
    rate: float = 3e-3
    decay: float = 0.02
    dropout: float = 0.1
    metric_dropout: float = 0.4
    metric_noise: float = 0.5
    misstated: float = 0.6
    misstatement: float = 0.4
    memory: float = 0.998
    seed: int = 0


@dataclass(slots=True)
class Training:
    """A network while it learns.

    Attributes:
        network: the network.
        deviations: scales of the deviations of unseen targets.
        done: steps that are done.
        losses: mean loss of the last steps, by source.
    """

    network: TermNetwork
    deviations: Deviations
    done: int = 0
    losses: dict[str, float] = field(default_factory=dict)


def new_training(recipe: Recipe, statistics: Statistics, sources: int) -> Training:
    """Return a network that has learned nothing."""
    config = NetworkConfig(
        metrics=statistics.facts.names,
        width=recipe.width,
        layers=recipe.layers,
        attention=Attention.SOFTMAX,
        dropout=recipe.dropout,
        typical_nodes=_TYPICAL_NODES,
        features=len(statistics.features.names),
        seed=recipe.seed,
    )
    network = TermNetwork(
        config,
        OF_KIND,
        recipe.responses,
        statistics.features,
        summary=recipe.summary,
        blur=recipe.blur,
    )
    return Training(network, Deviations(sources))


class Trainer:
    """Trains one network on examples of a corpus.

    A run that was stopped goes on where it was: state is kept in ``folder`` every minute.
    """

    def __init__(
        self,
        corpus: Corpus,
        examples: Examples,
        inputs: CorpusInputs,
        statistics: Statistics,
        recipe: Recipe,
        state: Path | None = None,
    ) -> None:
        """Prepare.

        Args:
            corpus: sources and silicon.
            examples: to learn from.
            inputs: graphs and targets as tensors.
            statistics: fitted on the same examples.
            recipe: settings of the training.
            state: file that keeps the finished steps, None to keep nothing.
        """
        self._corpus, self._inputs, self._recipe, self._state = corpus, inputs, recipe, state
        self._sources = corpus.sources
        self._training = new_training(recipe, statistics, len(self._sources))
        self._parameters = [
            *self._training.network.parameters(),
            *self._training.deviations.parameters(),
        ]
        self._optimizer = torch.optim.AdamW(
            self._parameters, lr=recipe.rate, weight_decay=recipe.decay
        )
        self._plan = {
            place: SHARES[name] for place, name in enumerate(self._sources) if name in SHARES
        }
        self._examples = examples
        self._averages = [parameter.detach().clone() for parameter in self._parameters]
        self._resume()

    def run(
        self, progress: ProgressCallback = no_progress, cancel: CancelToken | None = None
    ) -> Training:
        """Train to the end.

        Raises:
            CancelledError: ``cancel`` was set; finished steps are kept.
        """
        training, total = self._training, self._recipe.steps
        kept = time.monotonic()
        training.network.train()
        while training.done < total:
            if cancel is not None and cancel.cancelled:
                self._keep()
                cancel.check()
            self._step(training.done)
            training.done += 1
            self._average()
            progress(Progress(training.done, total, self._words()))
            if time.monotonic() - kept > _KEEP_EVERY_S:
                self._keep()
                kept = time.monotonic()
        self._keep()
        with torch.no_grad():
            for parameter, average in zip(self._parameters, self._averages, strict=True):
                parameter.copy_(average)
        training.network.eval()
        return training

    def _average(self) -> None:
        """Move the running means to the weights, fast in the first steps."""
        done = self._training.done
        # A constant memory would keep the random initial weights in the mean for hundreds of steps.
        memory = min(self._recipe.memory, (1 + done) / (10 + done))
        with torch.no_grad():
            for average, parameter in zip(self._averages, self._parameters, strict=True):
                average.lerp_(parameter, 1 - memory)

    def _step(self, number: int) -> None:
        # Seeded by the step, so that a resumed training draws the blocks that it would have drawn.
        rng = np.random.default_rng([self._recipe.seed, number])
        torch.manual_seed(int(rng.integers(1 << 62)))
        block = BlockSampler(self._examples, self._corpus.silicon, self._plan, rng).draw()
        for group in self._optimizer.param_groups:
            group["lr"] = self._recipe.rate * self._schedule(number)
        loss = self._loss(block, rng)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self._optimizer.step()
        name = self._sources[block.source]
        before = self._training.losses.get(name, loss.item())
        self._training.losses[name] = 0.95 * before + 0.05 * loss.item()

    def _loss(self, block: Block, rng: np.random.Generator) -> Tensor:
        graphs, running, operators = self._inputs.graphs(block.graphs)
        graph = graphs.graph[running]
        terms = self._inputs.terms(operators, graph, block.graphs, block.targets)
        terms, true = self._misstate(terms, rng)
        targets = self._disturb(self._inputs.targets(block.targets), rng)
        network = self._training.network
        encoded = network.encode(graphs, running)
        expected, responses = network(encoded, targets, terms).latency(encoded)
        # Kinds of operators are left to the deviation: with them in the loss, less is learned.
        learned = responses[..., : network.learned_responses]
        return block_loss(
            self._training.deviations,
            block.source,
            expected,
            learned,
            torch.from_numpy(block.log_latency).float(),
            torch.from_numpy(block.variance).float(),
            true,
        )

    def _misstate(self, terms: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Make the rates of some targets wrong: only their measurements then tell the truth."""
        recipe, count = self._recipe, terms.shape[1]
        wrong = rng.random(count) < recipe.misstated
        # One factor a kind of rate, which all terms of that kind share.
        logs = rng.normal(0, recipe.misstatement, (count, max(KINDS) + 1)) * wrong[:, None]
        factors = torch.from_numpy(np.exp(logs[:, list(KINDS)]).astype(np.float32))
        return terms * factors, torch.from_numpy((~wrong).astype(np.float32))

    def _disturb(self, targets: TargetInput, rng: np.random.Generator) -> TargetInput:
        """Hide some metrics and shift the others a little: no target is known by its values."""
        shape = tuple(targets.available.shape)
        hidden = torch.from_numpy(rng.random(shape) < self._recipe.metric_dropout)
        shift = torch.from_numpy(rng.normal(0, self._recipe.metric_noise, shape).astype(np.float32))
        available = targets.available & ~hidden
        values = torch.where(available, targets.values + shift, 0.0)
        return TargetInput(values, available, targets.choices)

    def _schedule(self, number: int) -> float:
        wave = 0.5 * (1 + math.cos(math.pi * number / self._recipe.steps))
        return min(1.0, (number + 1) / _WARM_UP) * max(wave, _LAST_RATE)

    def _words(self) -> str:
        parts = (f"{name} {value:.2f}" for name, value in sorted(self._training.losses.items()))
        return "loss " + ", ".join(parts)

    def _modules(self) -> Iterator[tuple[str, nn.Module]]:
        yield "network", self._training.network
        yield "deviations", self._training.deviations

    def _keep(self) -> None:
        if self._state is None:
            return
        tensors = {
            f"{part}.{name}": tensor.detach().clone()
            for part, module in self._modules()
            for name, tensor in module.state_dict().items()
        }
        for index, parameter in enumerate(self._parameters):
            tensors[f"average.{index}"] = self._averages[index].clone()
            moments = self._optimizer.state.get(parameter, {})
            for name, value in moments.items():
                tensors[f"moment.{index}.{name}"] = torch.as_tensor(value).clone()
        # Written beside and renamed: a kill while writing must not cost the state before.
        partial = self._state.with_name(f"{self._state.name}.partial")
        save_file(
            tensors, partial, {"done": str(self._training.done), "recipe": repr(self._recipe)}
        )
        partial.replace(self._state)

    def _resume(self) -> None:
        if self._state is None or not self._state.exists():
            return
        try:
            with safe_open(self._state, "pt") as file:
                facts = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except SafetensorError as error:
            raise InputError(
                str(self._state), f"it is no state of a training ({error})", "delete it"
            ) from error
        # Weights of another width would not load, those of another schedule would load unnoticed.
        if facts.get("recipe") != repr(self._recipe):
            raise InputError(
                str(self._state), "it is of another recipe", "delete it, or choose another folder"
            )
        for part, module in self._modules():
            module.load_state_dict(
                {
                    name.removeprefix(f"{part}."): tensor
                    for name, tensor in tensors.items()
                    if name.startswith(f"{part}.")
                }
            )
        for index, parameter in enumerate(self._parameters):
            self._averages[index].copy_(tensors[f"average.{index}"])
            moments = {
                name.rpartition(".")[2]: tensor
                for name, tensor in tensors.items()
                if name.startswith(f"moment.{index}.")
            }
            if moments:
                self._optimizer.state[parameter] = moments
        self._training.done = int(facts["done"])
