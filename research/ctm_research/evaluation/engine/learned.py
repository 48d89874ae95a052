"""The learned engine's answers for measurements that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ctm_research.corpus import Corpus
from ctm_research.evaluation.engine.validation import Floats, Rows
from ctm_research.training.calibrate import (
    Expected,
    fit_prior,
    fit_published,
    fit_widths,
    held_targets,
    posterior,
)
from predictor.calibration.deviation import DeviationPrior
from predictor.core.percentiles import Z80, Z95
from predictor.engine.checkpoint import Widths


@dataclass(frozen=True, slots=True)
class Calibration:
    """Scales of deviations and factors of intervals."""

    prior: DeviationPrior
    widths: Widths


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Held-out measurements that a calibration is fitted on.

    Attributes:
        strange: measurements of silicon that was held out.
        published: measurements of known targets that a prediction reads, by target.
        other: measurements of known targets whose families of networks were held out.
    """

    strange: Rows
    published: Mapping[int, Rows]
    other: Rows

    def of(self, corpus: Corpus, silicon: set[str]) -> HeldOut:
        """Return the part that is of some silicon."""

        def kept(rows: Rows) -> Rows:
            targets = corpus.measurements.target[rows].tolist()
            return rows[np.array([corpus.silicon[t] in silicon for t in targets], np.bool_)]

        published = {t: r for t, r in self.published.items() if corpus.silicon[t] in silicon}
        return HeldOut(kept(self.strange), published, kept(self.other))


def calibrate(corpus: Corpus, expected: Expected, held_out: HeldOut, seed: int) -> Calibration:
    """Calibrate on all that was held out: the calibration that ships."""
    held = held_targets(corpus, held_out.strange)
    prior = fit_prior(corpus, expected, held)
    published = fit_published(corpus, expected, held_out.published, held_out.other, prior)
    return Calibration(prior, fit_widths(corpus, expected, held, prior, published, seed))


def calibrate_by_half(
    corpus: Corpus, expected: Expected, held_out: HeldOut, seed: int
) -> Mapping[str, Calibration]:
    """Return the calibration for each silicon, fitted on the half that it is not in.

    So the coverage that a validation reports is of silicon that the calibration has not seen, and
    training neither where all of it was held out.
    """
    targets = corpus.measurements.target
    rng = np.random.default_rng(seed)
    halves: tuple[set[str], set[str]] = (set(), set())
    for rows in (held_out.strange, held_out.other):
        keys = sorted({corpus.silicon[t] for t in np.unique(targets[rows]).tolist()})
        for place, key in enumerate(rng.permutation(keys).tolist()):
            halves[place % 2].add(key)
    calibrations: dict[str, Calibration] = {}
    for own, other in (halves, halves[::-1]):
        fitted = calibrate(corpus, expected, held_out.of(corpus, other), seed)
        calibrations.update(dict.fromkeys(own, fitted))
    return calibrations


class LearnedEngine:
    """Answers for graphs of a corpus, from the expectations of a network."""

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
        """See :data:`ctm_research.evaluation.engine.validation.EnginePredict`."""
        calibration = self._calibrations.get(self._corpus.silicon[target], self._usual)
        asked = [self._expected[graph, target] for graph in graphs.tolist()]
        read = self._published.get(target, support[:0])
        widths = calibration.widths.published if len(read) else calibration.widths.zero_shot
        if len(support):
            widths = calibration.widths.probed
        read = np.concatenate([read, support])
        calibrated = usual = calibration.prior.unmeasured(asked[0].responses.shape[-1])
        if len(read):
            calibrated = posterior(self._corpus, self._expected, read, calibration.prior)
        p50 = np.array([each.latency_ms(calibrated.weights) for each in asked]) * calibrated.factor
        rows = np.stack([each.response for each in asked])
        # As the engine has it: what was measured never makes an interval wider.
        deviation, most = np.sqrt(calibrated.variance(rows)), np.sqrt(usual.variance(rows))
        zero = calibration.widths.zero_shot
        apart80 = np.exp(Z80 * np.minimum(widths[0] * deviation, zero[0] * most))
        apart95 = np.exp(Z95 * np.minimum(widths[1] * deviation, zero[1] * most))
        return p50, p50 / apart80, p50 * apart80, p50 / apart95, p50 * apart95
