"""Every system on a small field: it learns, and reads no latency of silicon that is left out."""

from __future__ import annotations

import numpy as np
import pytest

from ctm_research.evaluation.judge.asked import by_target
from ctm_research.evaluation.systems import pairs, registry
from ctm_research.evaluation.systems.registry import SYSTEMS, system_named
from predictor.core.errors import InputError
from research.tests.evaluation.systems.small_field import small_field

FAST = ("roofline", "class-roofline", "pm2lat", "habitat", "nn-meter", "litepred")
NETWORKS = ("nnlp", "nnlp-facts")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train for few steps: these tests ask what is read, not how well it is learned."""
    monkeypatch.setattr(pairs.PairSystem, "steps", 4)


@pytest.mark.parametrize("name", ["class-roofline", "pm2lat"])
def test_arithmetic_finds_the_efficiency_of_the_class(name: str) -> None:
    field = small_field()
    fold = field.folds[0]

    predicted = system_named(name).fit(field, fold.train, 0).predict(fold.rows, {})

    apart = predicted.log_ms - field.judged.log_latency[fold.rows]
    assert np.abs(np.median(np.expm1(apart))) < 0.3


@pytest.mark.parametrize("name", [*FAST, "trees", *NETWORKS])
def test_no_latency_of_left_out_silicon_is_read(name: str) -> None:
    both = []
    for factor in (1.0, 5.0):
        field = small_field(factor=factor)
        fold = field.folds[0]
        both.append(system_named(name).fit(field, fold.train, 0).predict(fold.rows, {}).log_ms)

    assert np.array_equal(*both, equal_nan=True)


@pytest.mark.parametrize("name", [each for each in FAST if each != "class-roofline"])
def test_measured_networks_bring_the_level(name: str) -> None:
    field = small_field(factor=5.0)
    fold = field.folds[0]
    read, asked = fold.rows[:4], fold.rows[4:]
    fitted = system_named(name).fit(field, fold.train, 0)

    before, after = (
        np.abs(fitted.predict(asked, measured).log_ms - field.judged.log_latency[asked]).mean()
        for measured in ({}, by_target(field.judged, read))
    )

    assert after < before / 2


def test_a_sequence_keeps_links_through_operators_that_were_left_out() -> None:
    field = small_field()
    known = pairs.sequences(field)

    # Network 2 is a chain of three products and one that moves memory.
    assert len(known.operators[2]) == 4
    assert known.links[2].T.tolist() == [[0, 1], [1, 2], [2, 3]]


def test_every_entry_is_told_in_full_and_every_factory_is_there() -> None:
    for entry in SYSTEMS.values():
        assert entry.needs
        assert entry.differs
        assert entry.module.startswith(registry.__name__.rpartition(".")[0])


def test_an_unknown_system_is_refused() -> None:
    with pytest.raises(InputError, match="oracle"):
        system_named("oracle")
