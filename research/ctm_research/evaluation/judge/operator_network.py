"""Training of the network behind the factors of single operators.

The loss is that of a target's networks about their common deviation, which evidence tells in use,
and of that deviation itself, which nothing tells on unseen silicon.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ctm_research.evaluation.judge.asked import by_target
from ctm_research.evaluation.judge.groups import Floats, Numbers, numbered
from ctm_research.evaluation.judge.judged import Judged, Rows
from ctm_research.evaluation.judge.term_times import DistinctOperators
from predictor.calibration.efficiencies import groups_of
from predictor.core.records import Target
from predictor.cost.columns import S_TO_MS, WIDTHS
from predictor.cost.operator_kinds import KINDS
from predictor.cost.overlap import runs_ahead
from predictor.cost.physics import BLOCK, TERMS, Work, leaving_share
from predictor.cost.rates.typical import Rates
from predictor.engine.operator_factors import BOUND, GROUPS, OperatorFactors
from predictor.graph.operators import OPERATORS
from predictor.network.features import scale_free

_HIDDEN: Final = 64
_OF_TARGET: Final = 24
_OF_NAME: Final = 16  # width of the embeddings of operator types and kinds
_STEPS: Final = 900
_LEAST_STEPS: Final = 5
_ROWS_OF_STEP: Final = 20  # of few measurements fewer steps are made
_TARGETS: Final = 16  # of a step
_NETWORKS: Final = 24  # of each of them
_LEAST_NETWORKS: Final = 4
_MOST_NETWORKS: Final = 200  # more of a target do not make it likelier to be drawn
_RATE: Final = 3e-3
_DECAY: Final = 1e-3
_ONE_NETWORK: Final = 0.15  # standard deviation about its target in ln
_ONE_TARGET: Final = 0.5
_TAILS: Final = 4.0  # degrees of freedom of Student's t
_WEIGHT_OF_TARGETS: Final = 0.3  # of a target's deviation beside one network's
_WEIGHT_OF_FACTORS: Final = 0.05
_LEAST_MS: Final = 1e-9
_START: Final = TERMS.index("launch")


class _Network(nn.Module):
    """The network of :class:`predictor.engine.operator_factors.OperatorFactors`."""

    def __init__(self, features: int, sizes: Sequence[int]) -> None:
        super().__init__()
        self.groups = nn.ModuleList([_names(size, _OF_TARGET, 0.05) for size in sizes])
        self.level = _names(sizes[GROUPS.index("class")], 1, 0.0)
        self.code, self.kind = _names(len(OPERATORS), _OF_NAME), _names(len(KINDS), _OF_NAME)
        self.first = nn.Linear(features + 2 * _OF_NAME, _HIDDEN)
        self.second, self.operator = nn.Linear(_HIDDEN, _HIDDEN), nn.Linear(_HIDDEN, _HIDDEN)
        self.target = nn.Linear(_OF_TARGET, _HIDDEN, bias=False)
        self.terms = nn.Linear(_HIDDEN, len(TERMS))
        # Before training every factor is 1.
        nn.init.zeros_(self.terms.weight)
        nn.init.zeros_(self.terms.bias)

    def forward(
        self,
        read: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
        groups: torch.Tensor,
        operator: torch.Tensor,
        target: torch.Tensor,
    ) -> torch.Tensor:
        """Return ln of the factors of E pairs of operator and target, [E, len(TERMS)].

        Args:
            read: features, types and kinds of U operators.
            groups: [T, len(GROUPS)], of T targets.
            operator: [E], place among the U.
            target: [E], place among the T.
        """
        features, code, kind = read
        state = torch.cat([features, self.code(code), self.kind(kind)], dim=1)
        state = self.operator(torch.relu(self.second(torch.relu(self.first(state)))))
        context = sum(names(groups[:, place]) for place, names in enumerate(self.groups))
        met = torch.relu(state[operator] + self.target(context)[target])
        limit = float(np.log(BOUND))
        logs: torch.Tensor = limit * torch.tanh(self.terms(met) / limit)
        return logs

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return the weights by the names of the product."""
        named: dict[str, torch.Tensor] = {
            "code": self.code.weight,
            "kind": self.kind.weight,
            "target": self.target.weight,
        }
        for name, names in zip(GROUPS, self.groups, strict=True):
            named[f"group.{name}"] = names.get_parameter("weight")
        layers = {
            "first": self.first,
            "second": self.second,
            "operator": self.operator,
            "terms": self.terms,
        }
        for name, layer in layers.items():
            named |= {name: layer.weight, f"{name}.bias": layer.bias}
        return {name: each.detach().numpy().astype(np.float32) for name, each in named.items()}


def _names(count: int, width: int, scale: float = 0.1) -> nn.Embedding:
    """Return an embedding that starts near nothing, so that the unseen is as the average."""
    embedding = nn.Embedding(count, width)
    nn.init.normal_(embedding.weight, 0.0, scale)
    return embedding


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """R measurements of some targets, and the E pairs of them and their distinct operators.

    Attributes:
        target: int64 [R].
        logs: [R], ln(measured latency in ms).
        drawn: int64 [R], place of each target among those drawn.
        operator: int64 [E], among the corpus's.
        count: [E], how often it is in the graph.
        leaving: [R], part of the weights that do not stay on the chip.
        row: int64 [E].
    """

    target: torch.Tensor
    logs: torch.Tensor
    drawn: torch.Tensor
    operator: torch.Tensor
    count: torch.Tensor
    leaving: torch.Tensor
    row: torch.Tensor


class OperatorTraining:
    """The corpus as training reads it; trained anew for each part of the measurements."""

    def __init__(
        self,
        judged: Judged,
        targets: Sequence[Target],
        rates: Rates,
        operators: DistinctOperators,
        kinds: Numbers,
    ) -> None:
        """Read the U distinct operators and the T targets.

        Args:
            judged: the corpus.
            targets: its T targets.
            rates: of them, without gaps.
            operators: the U.
            kinds: [U].
        """
        self._judged, self._targets = judged, targets
        packed = judged.corpus.graphs.packed
        features = scale_free(packed.features.astype(np.float64))
        self._mean, self._scale = features.mean(axis=0), features.std(axis=0) + 1e-3
        self._features = torch.tensor((features - self._mean) / self._scale)
        self._code = torch.tensor(packed.op_code.astype(np.int64))
        self._kinds = torch.tensor(kinds)
        self._work = {
            name: _tensor(array)
            for name, array in _columns(operators.work(np.zeros(WIDTHS))).items()
        }
        self._rates = {name: _tensor(array) for name, array in _columns(rates).items()}
        self._ahead = torch.from_numpy(runs_ahead(targets))
        self._numbers = rates
        self._groups = [groups_of(target) for target in targets]
        self._graphs: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def fit(self, train: Rows, efficient: Floats, seed: int = 0) -> OperatorFactors:
        """Return the factors that measurements tell beyond the efficiencies of kinds.

        Args:
            train: measurements.
            efficient: [T, len(KINDS), len(TERMS)], factors of kinds.
            seed: of the draws and the first weights.
        """
        torch.set_num_threads(1)  # the tensors are small: two threads wait for each other
        torch.manual_seed(seed)
        names, groups = self._group_numbers(train)
        network = _Network(self._features.shape[1], [len(names[group]) + 1 for group in GROUPS])
        adam = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=_DECAY)
        steps = min(_STEPS, max(_LEAST_STEPS, len(train) // _ROWS_OF_STEP))
        schedule = torch.optim.lr_scheduler.OneCycleLR(adam, _RATE, total_steps=steps)
        factors = _tensor(efficient)
        for batch in self._batches(train, seed, steps):
            loss = self._loss(network, groups, factors, batch)
            adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch states no types here
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            adam.step()
            schedule.step()
        scaling = {"mean": self._mean, "scale": self._scale}
        return OperatorFactors(names, {**scaling, **network.arrays()})

    def _group_numbers(self, train: Rows) -> tuple[Mapping[str, Sequence[str]], torch.Tensor]:
        """Return the groups in training, and their numbers of all T targets; 0 is any other."""
        seen = np.unique(self._judged.target[train]).tolist()
        names = {
            group: sorted({self._groups[target][group] for target in seen} - {""})
            for group in GROUPS
        }
        places = {
            group: {name: number for number, name in enumerate(each, start=1)}
            for group, each in names.items()
        }
        rows = [[places[group].get(of[group], 0) for group in GROUPS] for of in self._groups]
        return names, torch.tensor(rows)

    def _batches(self, train: Rows, seed: int, steps: int) -> Iterator[_Batch]:
        """Yield some networks of some targets; each silicon of a class is drawn about as often."""
        judged, rng = self._judged, np.random.default_rng(seed)
        train = train[np.isin(train, judged.rows)]
        first, _ = numbered(judged.target[train], judged.network[train])
        of_target = by_target(judged, train[first])
        rows = [each for each in of_target.values() if len(each) >= _LEAST_NETWORKS]
        if not rows:
            return  # nothing tells operators apart, so all factors stay 1
        sizes = np.array([len(each) for each in rows])
        target = np.array([judged.target[each[0]] for each in rows])
        pairs = np.stack([judged.silicon[target], judged.klass[target]], axis=1)
        _, pair, alike = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
        weight = np.sqrt(np.minimum(sizes, _MOST_NETWORKS)) / alike[pair.reshape(-1)] ** 0.7
        for _ in range(steps):
            drawn = [
                rng.choice(rows[place], min(_NETWORKS, len(rows[place])), replace=False)
                for place in rng.choice(len(rows), _TARGETS, p=weight / weight.sum()).tolist()
            ]
            yield self._batch(np.concatenate(drawn), np.repeat(range(_TARGETS), [*map(len, drawn)]))

    def _batch(self, rows: Rows, drawn: Numbers) -> _Batch:
        judged = self._judged
        graphs = [self._graph(number) for number in judged.graph[rows].tolist()]
        row = np.repeat(np.arange(len(rows)), [len(operators) for operators, _ in graphs])
        return _Batch(
            torch.tensor(judged.target[rows]),
            _tensor(judged.log_latency[rows]),
            torch.tensor(drawn),
            torch.tensor(np.concatenate([operators for operators, _ in graphs])),
            _tensor(np.concatenate([counts for _, counts in graphs])),
            _tensor(self._leaving(rows)),
            torch.tensor(row),
        )

    def _leaving(self, rows: Rows) -> Floats:
        judged = self._judged
        rates = self._numbers.take(judged.target[rows])
        weights = judged.corpus.graphs.costs.weights_by_width[judged.graph[rows]]
        return leaving_share((rates.weight_ratio * weights).sum(axis=1), rates.held_bytes)

    def _graph(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the distinct operators of a graph and how often each is in it."""
        if number not in self._graphs:
            packed = self._judged.corpus.graphs.packed
            start, stop = packed.node_offsets[number : number + 2]
            distinct, counts = np.unique(packed.kind[start:stop], return_counts=True)
            self._graphs[number] = distinct.astype(np.int64), counts
        return self._graphs[number]

    def _loss(
        self, network: _Network, groups: torch.Tensor, efficient: torch.Tensor, batch: _Batch
    ) -> torch.Tensor:
        operators, operator = torch.unique(batch.operator, return_inverse=True)
        targets, target = torch.unique(batch.target, return_inverse=True)
        read = self._features[operators], self._code[operators], self._kinds[operators]
        logs = network(read, groups[targets], operator, target[batch.row])
        times = self._times(batch) * torch.exp(logs)
        times = times * efficient[batch.target[batch.row], self._kinds[batch.operator]]
        terms = torch.zeros(len(batch.target), len(TERMS)).index_add(0, batch.row, times)
        starts = terms[:, _START].clamp_min(_LEAST_MS)
        work = (terms.sum(dim=1) - starts).clamp_min(_LEAST_MS)
        whole = torch.where(self._ahead[batch.target], torch.hypot(work, starts), work + starts)
        level = network.level(groups[batch.target, GROUPS.index("class")])[:, 0]
        apart = batch.logs - torch.log(whole.clamp_min(_LEAST_MS)) - level
        sums = torch.zeros(2, _TARGETS).index_add(
            1, batch.drawn, torch.stack([apart, torch.ones_like(apart)])
        )
        # The normal posterior of a target's deviation: between its networks' mean and none.
        common = sums[0] / (sums[1] + (_ONE_NETWORK / _ONE_TARGET) ** 2)
        loss: torch.Tensor = (
            _unlikely(apart - common[batch.drawn], _ONE_NETWORK)
            + _WEIGHT_OF_TARGETS * _unlikely(common, _ONE_TARGET)
            + _WEIGHT_OF_FACTORS * (logs**2).mean()
        )
        return loss

    def _times(self, batch: _Batch) -> torch.Tensor:
        """Return the terms of all pairs in ms, as often as they are in the graph, [E, TERMS]."""
        work = {name: each[batch.operator] for name, each in self._work.items()}
        rates = {name: each[batch.target[batch.row]] for name, each in self._rates.items()}
        moved = (work["activation_bytes"] * rates["activation_ratio"]).sum(dim=1)
        moved = moved * (rates["held_bytes"] == 0)
        weights = (work["weight_bytes"] * rates["weight_ratio"]).sum(dim=1)
        moved = moved + weights * batch.leaving[batch.row]
        times = torch.stack(
            [
                work["convolution_macs"] / rates["convolution"]
                + work["matrix_macs"] / rates["matrix"]
                + work["vector_macs"] / rates["vector"],
                work["reduction"] * BLOCK / rates["unit"],
                moved / rates["bandwidth"],
                work["launches"] * rates["launch_s"],
            ],
            dim=1,
        )
        return times * (S_TO_MS * batch.count[:, None])


def _unlikely(apart: torch.Tensor, deviation: float) -> torch.Tensor:
    """Return the mean of minus the logarithm of Student's t, but for a constant."""
    tails = torch.log1p((apart / deviation) ** 2 / _TAILS)
    return (_TAILS + 1) / 2 * tails.mean()


def _columns(record: Work | Rates) -> dict[str, Floats]:
    names = (field.name for field in fields(record) if field.name != "weight_totals")
    return {name: getattr(record, name) for name in names}


def _tensor(array: NDArray[np.generic]) -> torch.Tensor:
    return torch.tensor(array, dtype=torch.float32)
