"""What a target's own measurements say of it: its deviation, and FiLM fine-tuned to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from predictor.calibration.deviation import Deviation, DeviationPrior, Expectation
from predictor.cost.engine import TargetMeasurements
from predictor.cost.film import FilmBiases
from predictor.graph.operator_graph import OperatorGraph

Films = Mapping[int, FilmBiases]
"""FiLM as it was fine-tuned to targets, by their places."""


def films_of(measured: Mapping[int, TargetMeasurements], network: str) -> dict[int, FilmBiases]:
    """Return FiLM as it was fine-tuned to measurements; what is of another network is left out."""
    return {
        place: each.film.biases
        for place, each in measured.items()
        if each.film is not None and each.film.network == network
    }


def own_deviation(
    expect: Callable[[OperatorGraph, Films], Expectation],
    prior: DeviationPrior,
    measured: TargetMeasurements,
    network: str,
) -> Deviation:
    """Return what is believed of a target after its measurements.

    FiLM that was fine-tuned to them leaves less of them to explain than of other graphs, so how
    sure one is stays what the network as it ships says.

    Args:
        expect: returns what the network expects of a graph on the target, at place 0.
        prior: of deviations.
        measured: of the target.
        network: that predicts, as of :class:`predictor.cost.film.FilmTuning`.
    """
    plain = _deviation(expect, prior, measured, {})
    films = films_of({0: measured}, network)
    if not films:
        return plain
    tuned = _deviation(expect, prior, measured, films)
    return replace(tuned, covariance=plain.covariance, noise=plain.noise)


def _deviation(
    expect: Callable[[OperatorGraph, Films], Expectation],
    prior: DeviationPrior,
    measured: TargetMeasurements,
    films: Films,
) -> Deviation:
    expected = [expect(graph, films) for graph in measured.graphs]
    return prior.measured(
        expected, np.log(measured.latency_ms), np.asarray(measured.noise, np.float64)
    )
