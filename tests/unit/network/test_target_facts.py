"""What the shipped network reads of a target."""

from __future__ import annotations

import numpy as np

from ctm_research.network.choices import CHOICES
from ctm_research.network.scaling import identity_scaling
from predictor.core.metrics import Family
from predictor.core.records import Precision, Target
from predictor.network.reference_rates import ReferenceRates, Typical
from predictor.network.target_facts import TargetFacts, target_facts
from tests.support.graphs import make_target

TYPICAL = Typical({"any": 8.0}, {"any": 1e12}, {"any": (np.log(1e11), 0.0)})
KNOWN = make_target({"fp32_tflops": 2.0, "dram_bw_gbps": 100.0, "l2_kb": 1000.0})
BARE = make_target({"fp32_tflops": 4.0}, runtime="unheard", precision=Precision.INT8)


def facts_of(*targets: Target, names: tuple[str, ...] = ("dram_bw_gbps", "l2_kb")) -> TargetFacts:
    rates = ReferenceRates.of(targets, TYPICAL)
    return target_facts(targets, rates, identity_scaling(names), CHOICES)


def test_values_are_logs_limited_and_what_is_missing_is_marked() -> None:
    facts = facts_of(KNOWN, BARE)

    assert facts.available.tolist() == [[True, True], [False, False]]
    np.testing.assert_allclose(facts.values, [[4.0, 4.0], [0.0, 0.0]])  # ln 100 is above 4


def test_rates_in_use_stand_beside_the_metrics() -> None:
    facts = facts_of(KNOWN, names=("on_chip_bytes", "threads_in_use"))

    assert facts.available.all()
    assert facts.values[0, 0] == 4.0


def test_choices_are_marked_and_unknown_runtimes_are_none() -> None:
    facts = facts_of(KNOWN, BARE)

    chosen = [[CHOICES[place] for place in np.flatnonzero(row)] for row in facts.choices]
    assert chosen == [
        ["runtime pytorch", "precision fp32", f"family {Family.GPU}"],
        ["precision int8", f"family {Family.GPU}"],
    ]


def test_no_targets() -> None:
    facts = facts_of()

    assert facts.values.shape == (0, 2)
    assert facts.choices.shape == (0, len(CHOICES))
