"""Networks that read a graph once and predict it on many targets, and their training.

Graphs are sequences of the operators that start something, at most the 96 of most work, in their
order; a link passes through operators that were left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from ctm_research.evaluation.judge.engines import FittedEngine
from ctm_research.evaluation.judge.groups import Floats, members
from ctm_research.evaluation.judge.judged import Judged, Rows
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.system import Levelled, in_rows
from ctm_research.network.repeatable import repeatable

WIDTH: Final = 64
MOST_OPERATORS: Final = 96
_GRAPHS: Final = 24  # of a step
_PAIRS: Final = 16  # targets of a graph in a step
_RATE: Final = 2e-3


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """B graphs of at most L operators.

    Attributes:
        features: float32 [B, L, F], inputs of the operators.
        present: bool [B, L].
        links: float32 [B, L, L], 1 from a producer (last axis) to its consumer.
        statics: float32 [B, S], of the whole graphs.
    """

    features: Tensor
    present: Tensor
    links: Tensor
    statics: Tensor


class Encoder(nn.Module, ABC):
    """Turns graphs into vectors."""

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Return [B, WIDTH]."""


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Operators and links of the graphs of a field.

    Attributes:
        graphs: int64 [G'], ascending.
        operators: of each, places among the distinct operators.
        links: of each, int64 [2, E], producer and consumer.
    """

    graphs: Rows
    operators: list[Rows]
    links: list[Rows]


@lru_cache(maxsize=1)
def sequences(field: Field) -> Sequences:
    """Return the sequences of all graphs of a field, some seconds for some thousands."""
    graphs = np.unique(field.judged.graph[field.rows])
    pairs = [_sequence(field, graph) for graph in graphs.tolist()]
    return Sequences(graphs, [each[0] for each in pairs], [each[1] for each in pairs])


def _sequence(field: Field, graph: int) -> tuple[Rows, Rows]:
    packed = field.judged.corpus.graphs.packed
    start, stop = packed.node_offsets[graph : graph + 2]
    mine = packed.kind[start:stop].astype(np.int64)
    operators = field.operators
    moved = operators.activation_bytes[mine] + operators.weight_bytes[mine]
    # A byte costs about as much as ten MACs on most hardware.
    work = np.where(operators.launches[mine] > 0, 1 + operators.macs[mine] + 10 * moved, -1.0)
    chosen = np.argsort(-work, kind="stable")[:MOST_OPERATORS]
    chosen = np.sort(chosen[work[chosen] > 0]) if (work > 0).any() else chosen[:1]
    place = np.full(len(mine), -1)
    place[chosen] = np.arange(len(chosen))
    first, last = packed.edge_offsets[graph : graph + 2]
    reach: list[frozenset[int]] = [frozenset()] * len(mine)
    links: set[tuple[int, int]] = set()
    before: list[list[int]] = [[] for _ in range(len(mine))]
    for producer, consumer in packed.edges[:, first:last].T.tolist():
        before[consumer].append(producer)
    for node, producers in enumerate(before):  # in topological order
        sources = frozenset[int]().union(*(reach[each] for each in producers))
        if place[node] >= 0:
            links |= {(each, int(place[node])) for each in sources}
            sources = frozenset([int(place[node])])
        reach[node] = sources
    return mine[chosen], np.array(sorted(links), np.int64).reshape(-1, 2).T


def operator_features(field: Field) -> Tensor:
    """Return inputs of the distinct operators, float32 [U, F]: features and kind, standardised."""
    features = field.judged.corpus.graphs.packed.features.astype(np.float64)
    scaled = (features - features.mean(axis=0)) / np.maximum(features.std(axis=0), 1e-3)
    one_hot = np.eye(int(field.kinds.max()) + 1)[field.kinds]
    return torch.from_numpy(np.column_stack([scaled, one_hot])).float()


class PlatformHeads(nn.Module):
    """A head for each class with a level for each target; a new one has its class's mean level."""

    def __init__(self, field: Field, train: Rows) -> None:
        super().__init__()
        judged = field.judged
        self.klass: Tensor
        self.register_buffer("klass", torch.from_numpy(judged.klass + 1))
        self.heads = nn.Embedding(len(judged.classes) + 1, WIDTH)
        self.levels = nn.Embedding(len(judged.targets), 1)
        self.seen = np.unique(judged.target[train])
        nn.init.normal_(self.heads.weight, std=0.1)
        nn.init.zeros_(self.levels.weight)

    def forward(self, graphs: Tensor, targets: Tensor) -> Tensor:
        """Return standardised ln(latency) [P] from vectors of graphs [P, WIDTH], targets [P]."""
        output: Tensor = (self.heads(self.klass[targets]) * graphs).sum(dim=1)
        level: Tensor = self.levels(targets)[:, 0]
        return output + level

    def finish(self) -> None:
        """Give every target that was not seen the median level of its class, or of all."""
        with torch.no_grad():
            levels = self.levels.weight[:, 0]
            unseen = np.setdiff1d(np.arange(len(levels)), self.seen)
            classes = self.klass.numpy()
            for klass in np.unique(classes[unseen]).tolist():
                like = self.seen[classes[self.seen] == klass]
                mean = levels[like if len(like) else self.seen].median()
                levels[unseen[classes[unseen] == klass]] = mean


class FactHead(nn.Module):
    """A perceptron on the vectors of graph and target."""

    def __init__(self, facts: Tensor) -> None:
        super().__init__()
        self.facts: Tensor
        self.register_buffer("facts", facts)
        self.layers = nn.Sequential(
            nn.Linear(WIDTH + facts.shape[1], 2 * WIDTH),
            nn.ReLU(),
            nn.Linear(2 * WIDTH, WIDTH),
            nn.ReLU(),
            nn.Linear(WIDTH, 1),
        )

    def forward(self, graphs: Tensor, targets: Tensor) -> Tensor:
        """Return standardised ln(latency) [P] from vectors of graphs [P, WIDTH], targets [P]."""
        output: Tensor = self.layers(torch.cat([graphs, self.facts[targets]], dim=1))[:, 0]
        return output

    def finish(self) -> None:
        """Do nothing: facts are known of every target."""


Head = PlatformHeads | FactHead


class PairSystem(ABC):
    """A system that is a network on pairs of graph and target.

    Attributes:
        steps: of its training.
    """

    steps = 1000

    @abstractmethod
    def build(self, field: Field, rows: Rows) -> tuple[Encoder, Head, Tensor]:
        """Return encoder, head and inputs of the distinct operators for training rows."""

    def fit(self, field: Field, train: Rows, seed: int) -> FittedEngine:
        """Train on the drawn rows among some measurements; predict all drawn rows."""
        judged, rows = field.judged, field.train_rows(train)
        logs = judged.log_latency[rows]
        centre, spread = float(logs.mean()), float(logs.std())
        wanted = torch.from_numpy((judged.log_latency - centre) / spread).float()
        torch.set_num_threads(1)  # the tensors are small: two threads wait for each other
        with repeatable(seed):
            encoder, head, inputs = self.build(field, rows)
            modules = nn.ModuleList([encoder, head])
            modules.train()
            optimiser = torch.optim.AdamW(modules.parameters(), _RATE, weight_decay=1e-4)
            schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, self.steps)
            for picked in _drawn(judged, rows, self.steps, seed):
                graphs = [int(judged.graph[mine[0]]) for mine in picked]
                of_row = np.repeat(np.arange(len(picked)), [len(mine) for mine in picked])
                asked = np.concatenate(picked)
                vectors = encoder(batch_of(field, graphs, inputs))
                output = head(
                    vectors[torch.from_numpy(of_row)], torch.from_numpy(judged.target[asked])
                )
                loss = nn.functional.huber_loss(output, wanted[torch.from_numpy(asked)], delta=0.5)
                optimiser.zero_grad()
                torch.autograd.backward(loss)
                nn.utils.clip_grad_norm_(modules.parameters(), 1.0)
                optimiser.step()
                schedule.step()
            head.finish()
            modules.eval()
            with torch.inference_mode():
                log_ms = centre + spread * _predicted(field, encoder, head, inputs)
        return Levelled(judged, in_rows(judged, field.rows, log_ms))


def _drawn(judged: Judged, rows: Rows, steps: int, seed: int) -> Iterator[list[Rows]]:
    """Yield the rows of each step, apart by graph."""
    rng = np.random.default_rng(seed)
    by_graph = [rows[places] for _, places in members(judged.graph[rows])]
    # A network on many targets is drawn more often, but not as much more.
    weight = np.sqrt([len(mine) for mine in by_graph])
    count = min(_GRAPHS, len(by_graph))
    for _ in range(steps):
        chosen = rng.choice(len(by_graph), count, replace=False, p=weight / weight.sum())
        yield [
            rng.choice(by_graph[each], min(_PAIRS, len(by_graph[each])), replace=False)
            for each in chosen
        ]


def _predicted(field: Field, encoder: Encoder, head: Head, inputs: Tensor) -> Floats:
    """Return the outputs for all drawn rows, float64 [R]."""
    judged, graphs = field.judged, sequences(field).graphs
    # Graphs of like length together: less padding.
    order = np.argsort([len(each) for each in sequences(field).operators], kind="stable")
    vectors = torch.empty(len(graphs), WIDTH)
    for start in range(0, len(order), 2 * _GRAPHS):
        part = order[start : start + 2 * _GRAPHS]
        vectors[torch.from_numpy(part)] = encoder(batch_of(field, graphs[part].tolist(), inputs))
    place = torch.from_numpy(np.searchsorted(graphs, judged.graph[field.rows]))
    outputs = head(vectors[place], torch.from_numpy(judged.target[field.rows]))
    values: Floats = outputs.double().numpy()
    return values


def batch_of(field: Field, graphs: list[int], inputs: Tensor) -> Batch:
    """Return some graphs as one padded batch."""
    known = sequences(field)
    places = np.searchsorted(known.graphs, graphs).tolist()
    longest = max(len(known.operators[place]) for place in places)
    operators = torch.zeros(len(places), longest, dtype=torch.int64)
    present = torch.zeros(len(places), longest, dtype=torch.bool)
    links = torch.zeros(len(places), longest, longest)
    for row, place in enumerate(places):
        mine = known.operators[place]
        operators[row, : len(mine)] = torch.from_numpy(mine)
        present[row, : len(mine)] = True
        producer, consumer = torch.from_numpy(known.links[place])
        links[row, consumer, producer] = 1.0
    statics = torch.from_numpy(field.statics[graphs]).float()
    return Batch(inputs[operators] * present[..., None], present, links, statics)


def standardised(values: Floats) -> Tensor:
    """Return columns of mean 0 and deviation 1 as float32."""
    scaled = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-3)
    return torch.from_numpy(scaled).float()
