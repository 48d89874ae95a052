"""From a corpus to a trained network, and from a trained network to a checkpoint that ships."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from ctm_research.corpus.corpus import Corpus, Rows
from ctm_research.network.choices import CHOICES
from ctm_research.network.term_network import TermNetwork
from ctm_research.training.calibrate import Expected
from ctm_research.training.examples import Examples
from ctm_research.training.expectations import expectations
from ctm_research.training.export import export_terms
from ctm_research.training.files import write_card
from ctm_research.training.inputs import CorpusInputs, Statistics
from ctm_research.training.loop import Recipe, Trainer
from predictor.calibration.deviation import DeviationPrior
from predictor.core.progress import CancelToken, ProgressCallback, no_progress
from predictor.core.records import Target
from predictor.engine.checkpoint import (
    ENCODER,
    HEAD,
    EngineCard,
    Widths,
)
from predictor.graph.operators import OPERATORS

ENGINE_NAME: Final = "closertome/1"


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A network, the statistics of its inputs, and the rows that it has seen."""

    network: TermNetwork
    statistics: Statistics
    inputs: CorpusInputs
    rows: Rows

    def expected(self, corpus: Corpus, rows: Rows) -> Expected:
        """Return its expectations for the measurements ``rows``."""
        return expectations(self.network, corpus, self.inputs, rows)


def train_network(
    corpus: Corpus,
    targets: list[Target],
    rows: Rows,
    recipe: Recipe,
    state: Path | None = None,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> Trained:
    """Train on the measurements ``rows``; goes on where ``state`` stopped.

    Raises:
        InputError: the state is of another recipe, or damaged.
        CancelledError: a stop was asked for; finished steps are kept.
    """
    examples = Examples.of(corpus, rows)
    statistics = Statistics.fit(corpus, targets, examples.graph, examples.target)
    inputs = CorpusInputs(corpus, targets, statistics)
    trainer = Trainer(corpus, examples, inputs, statistics, recipe, state)
    network = trainer.run(progress, cancel).network
    return Trained(network, statistics, inputs, rows)


def families_by_operator(corpus: Corpus, rows: Rows) -> dict[str, int]:
    """Return how many families of architectures in the measurements ``rows`` have each operator."""
    packed, family = corpus.graphs.packed, corpus.graphs.family
    families: dict[str, set[int]] = {}
    for graph in np.unique(corpus.measurements.graph[rows]).tolist():
        kinds = packed.kind[packed.node_offsets[graph] : packed.node_offsets[graph + 1]]
        for code in np.unique(packed.op_code[kinds]).tolist():
            families.setdefault(OPERATORS[code], set()).add(int(family[graph]))
    return {name: len(members) for name, members in sorted(families.items())}


def write_checkpoint(
    folder: Path,
    trained: Trained,
    families: Mapping[str, int],
    prior: DeviationPrior,
    widths: Widths,
    notes: Mapping[str, object],
) -> None:
    """Write everything that predictions need into ``folder``.

    Raises:
        OSError: a file cannot be written.
    """
    network = trained.network
    folder.mkdir(parents=True, exist_ok=True)
    export_terms(network, folder / ENCODER, folder / HEAD)
    hodm = network.conversation.hodm
    engine = EngineCard(
        name=ENGINE_NAME,
        responses=network.response_count,
        operators=network.config.operators,
        choices=CHOICES,
        facts=trained.statistics.facts,
        typical=trained.statistics.typical,
        prior=prior,
        widths=widths,
        families=families,
        blend=float(hodm.blend_logit.detach().sigmoid()),
        residual=float(hodm.residual.detach()),
        notes=notes,
    )
    write_card(folder, engine)
