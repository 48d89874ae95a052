"""Training on a small corpus: it learns, goes on where it stopped, is calibrated and written."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from predictor.calibration.deviation import DeviationPrior, Expectation
from predictor.core.errors import CancelledError, InputError
from predictor.core.progress import CancelToken, Progress
from predictor.core.records import Target
from predictor.engine.checkpoint import Widths
from predictor.engine.closertome import CloserToMeEngine
from predictor.research.corpus.corpus import Rows
from predictor.research.training.build import Trained, experience, train_network, write_checkpoint
from predictor.research.training.calibrate import fit_prior, fit_widths, held_targets
from predictor.research.training.loop import Recipe
from predictor.research.training.signatures import shipped_signatures
from tests.unit.research.corpus.small_corpus import catalogue, small_corpus

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
    corpus, network = small_corpus(), trained()
    expected = network.expected(corpus, rows())
    signatures = shipped_signatures(corpus, targets(), rows(), expected, PRIOR, 0)
    learned_from = experience(corpus, targets(), rows())
    widths = Widths((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))

    write_checkpoint(tmp_path, network, learned_from, PRIOR, widths, signatures, {"note": "small"})

    engine, m = CloserToMeEngine(tmp_path), corpus.measurements
    # A target of one measurement has no signature: its number is the network's own.
    row = next(
        row
        for row in rows().tolist()
        if not engine.has_signature(targets()[m.target[row]])
        and len(targets()[m.target[row]].device.metrics) > 3
    )
    graph = corpus.graphs.operator_graph(int(m.graph[row]))
    table = engine.predict([graph], [targets()[m.target[row]]], {})
    own = expected[int(m.graph[row]), int(m.target[row])].expected_ms
    assert table.latency_ms[0, 0] == pytest.approx(max(own, table.bound_ms[0, 0]), rel=1e-3)


def test_experience_counts_families_and_silicon() -> None:
    found = experience(small_corpus(), targets(), rows())

    assert found.operators["Conv"] > 1
    assert found.choices["runtime ncnn"] == 2  # no board that the catalogue lacks
    low, high = found.ranges["dram_bw_gbps"]
    assert low < high


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


def test_nothing_held_out_is_refused() -> None:
    with pytest.raises(InputError, match="nothing is held out"):
        fit_prior(small_corpus(), {}, [])
