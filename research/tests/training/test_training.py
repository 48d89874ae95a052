"""Training on a small corpus: it learns, goes on where it stopped, is calibrated and written."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from ctm_research.corpus.corpus import Rows
from ctm_research.training.build import (
    Trained,
    families_by_operator,
    train_network,
    write_checkpoint,
)
from ctm_research.training.calibrate import fit_prior, fit_widths, held_targets
from ctm_research.training.files import write_card, write_estimate
from ctm_research.training.loop import Recipe
from ctm_research.training.signatures import published_rows
from predictor.calibration.deviation import DeviationPrior, Expectation
from predictor.core.errors import CancelledError, InputError
from predictor.core.progress import CancelToken, Progress
from predictor.core.records import Target
from predictor.cost.engine import FilmBiases, FilmTuning, TargetMeasurements
from predictor.engine.checkpoint import CARD, ENCODER, ESTIMATE, HEAD, Widths, read_card
from predictor.engine.closertome import CloserToMeEngine
from predictor.network.film_tuning.fit import TorchGraph
from predictor.network.term_runtime import FILM_BETA, FILM_GAMMA
from research.tests.corpus.small_corpus import catalogue, small_corpus
from tests.support.estimates import small_estimate

RECIPE = Recipe(steps=4, width=8, layers=1, responses=2, summary=3)
PRIOR = DeviationPrior(0.3, 1.0, 0.1)


def targets() -> list[Target]:
    return small_corpus().target_list(catalogue())


def rows() -> Rows:
    return np.arange(len(small_corpus().measurements.latency_ms))


def train(
    recipe: Recipe, state: Path | None = None, cancel: CancelToken | None = None, at: int = 0
) -> Trained:
    def watch(progress: Progress) -> None:
        if cancel is not None and progress.done == at:
            cancel.cancel()

    return train_network(small_corpus(), targets(), rows(), recipe, state, watch, cancel)


@cache
def trained() -> Trained:
    return train(RECIPE)


def error(found: Trained) -> float:
    expected, m = found.expected(small_corpus(), rows()), small_corpus().measurements
    off = [
        np.log(expected[graph, target].expected_ms / latency_ms)
        for graph, target, latency_ms in zip(
            m.graph.tolist(), m.target.tolist(), m.latency_ms.tolist(), strict=True
        )
    ]
    return float(np.abs(off).mean())


def test_it_learns() -> None:
    plain = replace(RECIPE, metric_noise=0.0, misstated=0.0, blur=0.0, dropout=0.0, rate=1e-2)

    untrained, done = (train(replace(plain, steps=steps)) for steps in (1, 60))

    assert error(done) < 0.8 * error(untrained)


def test_a_stopped_training_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    state = tmp_path / "state.safetensors"
    with pytest.raises(CancelledError):
        train(RECIPE, state, CancelToken(), at=2)

    resumed = train(RECIPE, state).network.state_dict()

    for name, tensor in trained().network.state_dict().items():
        torch.testing.assert_close(resumed[name], tensor, rtol=0, atol=0)


def test_a_state_of_another_recipe_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    state = tmp_path / "state.safetensors"
    train(replace(RECIPE, steps=1), state)

    with pytest.raises(InputError, match="it is of another recipe"):
        train(RECIPE, state)
    state.write_bytes(b"nothing")
    with pytest.raises(InputError, match="it is no state of a training"):
        train(RECIPE, state)


def test_what_is_written_predicts_what_was_trained(tmp_path: Path) -> None:
    """The written network has the latencies of the trained, and its FiLM fits a target to it."""
    corpus, network = small_corpus(), trained()
    expected = network.expected(corpus, rows())
    families = families_by_operator(corpus, rows())
    widths = Widths((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))

    write_checkpoint(tmp_path, network, families, PRIOR, widths, {"note": "small"})

    assert {path.name for path in tmp_path.iterdir()} == {CARD, ENCODER, HEAD}
    card = read_card(tmp_path)
    assert card.notes == {"note": "small"}
    with pytest.raises(InputError, match=r"no whole checkpoint"):
        CloserToMeEngine(tmp_path)  # it has no estimate yet
    write_estimate(tmp_path / ESTIMATE, small_estimate())
    write_card(tmp_path, card)
    engine = CloserToMeEngine(tmp_path)
    m = corpus.measurements
    row = next(r for r in rows().tolist() if len(targets()[m.target[r]].device.metrics) > 3)
    graph, target = corpus.graphs.operator_graph(int(m.graph[row])), targets()[m.target[row]]
    weights = TorchGraph(engine.network.head).initializers
    film = FilmTuning(
        engine.network.checksum, FilmBiases(weights[FILM_GAMMA].numpy(), weights[FILM_BETA].numpy())
    )
    own = expected[int(m.graph[row]), int(m.target[row])].expected_ms
    measured = TargetMeasurements(
        signature_id="own",
        graphs=[graph],
        latency_ms=np.array([own]),
        noise=np.array([0.01]),
        film=film,
    )

    table = engine.predict([graph], [target], {target.id: measured})

    assert table.facts["fine_tuned"] == [[True]]
    # What was measured is what the network expects: nothing deviates.
    assert table.latency_ms[0, 0] == pytest.approx(max(own, table.bound_ms[0, 0]), rel=1e-3)


def test_families_are_counted_by_operator() -> None:
    assert families_by_operator(small_corpus(), rows())["Conv"] > 1


def planted(scale: float) -> dict[tuple[int, int], Expectation]:
    """Return expectations off by a normal error of ``scale`` from each measurement."""
    m, rng = small_corpus().measurements, np.random.default_rng(0)
    found = {}
    for row in rows().tolist():
        off = np.exp(scale * rng.standard_normal())
        parts = np.array([[float(m.latency_ms[row]) * off, 0.0, 0.0]])
        found[int(m.graph[row]), int(m.target[row])] = Expectation(parts, np.zeros((1, 3, 2)), 0.0)
    return found


def test_scales_are_those_of_the_errors_that_were_planted() -> None:
    corpus, held = small_corpus(), held_targets(small_corpus(), rows())

    near, far = (fit_prior(corpus, planted(scale), held) for scale in (0.02, 0.6))

    assert near.shift + near.noise < far.shift + far.noise


def test_intervals_are_widened_by_as_much_as_they_are_too_narrow() -> None:
    corpus, held = small_corpus(), held_targets(small_corpus(), rows())
    expected = planted(0.3)

    narrow, wide = (
        fit_widths(corpus, expected, held, DeviationPrior(shift, 1.0, 1e-3), (1.0, 1.0), 0)
        for shift in (0.1, 0.4)
    )

    assert narrow.zero_shot[0] == pytest.approx(4 * wide.zero_shot[0], rel=1e-3)


def test_published_rows_are_those_of_targets_with_two_networks_or_more() -> None:
    corpus = small_corpus()

    of_targets = published_rows(corpus, targets(), rows(), 0)

    m, keys = corpus.measurements, [str(target.id) for target in targets()]
    assert of_targets
    for key, kept in of_targets.items():
        assert len(kept) >= 2
        assert {keys[target] for target in m.target[kept].tolist()} == {key}


def test_nothing_held_out_is_refused() -> None:
    with pytest.raises(InputError, match="nothing is held out"):
        fit_prior(small_corpus(), {}, [])
