"""The shipped estimate keeps the laws of facts on each target of the catalogue.

The product's tests hold one device of each kind against them.
"""

from __future__ import annotations

from functools import cache

import pytest

from ctm_research.evaluation.judge.varied_facts import RATE, SIZE, UNUSED
from predictor.services.devices.catalogue import load_catalogue
from tests.support.estimates import every_target
from tests.support.laws import (
    OF_THE_BOUND,
    VariedTable,
    assert_bounded,
    assert_lawful_at_equal_evidence,
    assert_no_fact_breaks_a_law,
    assert_only_the_bound_moves,
    kind_of,
    varied_table,
)


@cache
def predicted() -> VariedTable:
    return varied_table(every_target())


def test_no_fact_of_any_listed_device_breaks_a_law() -> None:
    assert_no_fact_breaks_a_law(predicted())
    kinds = [kind_of(variant) for variant in predicted()[2]]
    assert min(kinds.count(kind) for kind in (RATE, SIZE, UNUSED)) > 4500


def test_nor_does_one_on_the_shipped_engine_at_equal_evidence() -> None:
    assert_lawful_at_equal_evidence(load_catalogue().devices, 8000)


@pytest.mark.parametrize("fact", OF_THE_BOUND)
def test_what_only_the_bound_reads_moves_only_the_bound(fact: str) -> None:
    assert_only_the_bound_moves(predicted(), fact, 200)


def test_nothing_is_faster_than_its_bound() -> None:
    assert_bounded(predicted()[0], 100_000)
