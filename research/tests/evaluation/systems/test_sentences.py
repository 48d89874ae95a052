"""The sentence encoder with its published weights."""

from __future__ import annotations

import numpy as np
import pytest

from ctm_research.evaluation.systems.sentences import embeddings


def test_the_trained_encoder_knows_that_meals_are_food_and_the_random_one_does_not() -> None:
    texts = ["a man is eating food", "someone eats a meal", "the stock market fell"]

    eating, meal, market = embeddings(texts)
    assert eating @ meal == pytest.approx(0.75, abs=0.01)
    assert abs(eating @ market) < 0.1

    first, second, _ = embeddings(texts, random_seed=0)
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-5)
    assert not np.allclose(first @ second, eating @ meal, atol=0.05)
