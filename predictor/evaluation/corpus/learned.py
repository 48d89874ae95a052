"""The learned engine on what it has not seen: its answers for the corpus's validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from predictor.calibration.deviation import DeviationPrior
from predictor.calibration.posterior import Z80, Z95
from predictor.engine.checkpoint import Widths
from predictor.evaluation.corpus.validation import Floats, Rows
from predictor.training.corpus import Corpus
from predictor.training.engine.calibrate import (
    Expected,
    Held,
    fit_prior,
    fit_widths,
    held_targets,
)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Scales of deviations and factors of intervals."""

    prior: DeviationPrior
    widths: Widths


def calibrate(corpus: Corpus, expected: Expected, rows: Rows, seed: int) -> Calibration:
    """Calibrate on held-out silicon: what ships."""
    return _fitted(corpus, expected, held_targets(corpus, rows), seed)


def calibrate_by_half(
    corpus: Corpus, expected: Expected, rows: Rows, seed: int
) -> Mapping[str, Calibration]:
    """Return the calibration for each held-out silicon, fitted on the half that it is not in.

    So the coverage that a validation reports is of silicon that neither training nor calibration
    has seen.
    """
    held = held_targets(corpus, rows)
    keys = np.unique([one.silicon for one in held])
    shuffled = np.random.default_rng(seed).permutation(keys).tolist()
    halves = set(shuffled[::2]), set(shuffled[1::2])
    found: dict[str, Calibration] = {}
    for own, other in (halves, halves[::-1]):
        fitted = _fitted(corpus, expected, [o for o in held if o.silicon in other], seed)
        found.update(dict.fromkeys(own, fitted))
    return found


def _fitted(corpus: Corpus, expected: Expected, held: list[Held], seed: int) -> Calibration:
    prior = fit_prior(corpus, expected, held)
    return Calibration(prior, fit_widths(corpus, expected, held, prior, seed))


class LearnedEngine:
    """Answers for graphs of a corpus, from what a network expects of them."""

    def __init__(
        self,
        corpus: Corpus,
        expected: Expected,
        calibrations: Mapping[str, Calibration],
        usual: Calibration,
        published: Mapping[int, Rows] | None = None,
    ) -> None:
        """Prepare.

        Args:
            corpus: measurements.
            expected: of all pairs that will be asked or read.
            calibrations: by silicon.
            usual: of silicon that has none of its own.
            published: measurements of known targets that are read beside the probes, by target.
        """
        self._published = {} if published is None else published
        self._corpus, self._expected = corpus, expected
        self._calibrations, self._usual = calibrations, usual

    def __call__(
        self, graphs: Rows, target: int, support: Rows
    ) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Answer as :data:`predictor.evaluation.corpus.validation.EnginePredict` says."""
        calibration = self._calibrations.get(self._corpus.silicon[target], self._usual)
        asked = [self._expected[graph, target] for graph in graphs.tolist()]
        m = self._corpus.measurements
        support = np.concatenate([self._published.get(target, support[:0]), support])
        known = calibration.prior.unmeasured(asked[0].responses.shape[-1])
        if len(support):
            known = calibration.prior.measured(
                [self._expected[graph, target] for graph in m.graph[support].tolist()],
                np.log(m.latency_ms[support]),
                m.noise[support].astype(np.float64),
            )
        p50 = np.array([each.latency_ms(known.weights) for each in asked]) * known.factor
        rows = np.stack([each.response for each in asked])
        deviation = np.sqrt(known.variance(rows))
        widths = calibration.widths.probed if len(support) else calibration.widths.zero_shot
        apart80 = np.exp(Z80 * widths[0] * deviation)
        apart95 = np.exp(Z95 * widths[1] * deviation)
        return p50, p50 / apart80, p50 * apart80, p50 / apart95, p50 * apart95
