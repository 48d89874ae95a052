"""FLAT as a comparator on the corpus: one network a source, fine-tuned on each new target."""

from __future__ import annotations

import numpy as np

from predictor.core.errors import InputError
from predictor.research.corpus import Corpus
from predictor.research.evaluation.engine.flat_measured import Floats, Measured, Rows
from predictor.research.evaluation.engine.flat_training import FlatRecipe, TrainedFlat, train_flat
from predictor.research.training.examples import Examples


class Flat:
    """Answers for graphs of a corpus, from the measured latencies of a few others.

    A source is trained when it is first asked for.
    """

    def __init__(
        self, corpus: Corpus, rows: Rows, seed: int, recipe: FlatRecipe | None = None
    ) -> None:
        """Prepare.

        Args:
            corpus: measurements.
            rows: those of training; of no others but the probes is a latency read.
            seed: of weights and draws.
            recipe: of the training.
        """
        self._corpus, self._seed, self._recipe = corpus, seed, recipe
        self._examples = Examples.of(corpus, rows)
        self._trained: dict[int, TrainedFlat | None] = {}

    def __call__(
        self, graphs: Rows, target: int, support: Rows
    ) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """See :data:`predictor.research.evaluation.engine.validation.EnginePredict`.

        There are no intervals, and no number in a source without training measurements.

        Raises:
            InputError: there is no probe; a target is known by its measurements alone.
        """
        if not len(support):
            raise InputError(
                "FLAT",
                f"no network was measured on target {target}, and it knows targets by that alone",
                "ask with k above 0",
            )
        m, nothing = self._corpus.measurements, np.full(len(graphs), np.nan)
        trained = self.of_source(int(m.source[support[0]]))
        if trained is None:
            return nothing, nothing, nothing, nothing, nothing
        measured = np.log(m.latency_ms[support])
        log_latency = trained.predict(graphs, m.graph[support].astype(np.int64), measured)
        return np.exp(log_latency), nothing, nothing, nothing, nothing

    def of_source(self, source: int) -> TrainedFlat | None:
        """Return the network of a source, by its number; None where training has nothing of it."""
        if source not in self._trained:
            has_any = bool((self._examples.source == source).any())
            self._trained[source] = (
                train_flat(
                    self._corpus,
                    Measured.of(self._examples, source),
                    self._seed,
                    self._recipe,
                )
                if has_any
                else None
            )
        return self._trained[source]
