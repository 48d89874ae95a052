"""Plans as the window and the command line see them."""

from __future__ import annotations

import numpy as np

from predictor.probing.choice import PlanRequest
from predictor.probing.networks.pool import load_pool
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.probing.plan import coverage, plan_probes, probe_target

BOARD = load_catalogue().by_id["rpi5"]


def test_all_cores_become_a_count() -> None:
    assert probe_target(BOARD, 0).configuration.threads == 4
    assert probe_target(BOARD, 2).configuration.threads == 2
    assert probe_target(BOARD, 99).configuration.threads == 4


def test_the_coverage_marks_what_is_chosen_among_all() -> None:
    plan = plan_probes(PlanRequest(target=probe_target(BOARD, 1), probes=6))
    found = coverage(plan)
    assert len(found.names) == len(load_pool())
    marked = {name for name, chosen in zip(found.names, found.chosen, strict=True) if chosen}
    assert marked == {probe.network.name for probe in plan.probes}
    assert (found.low_ms <= found.middle_ms).all()
    assert (found.middle_ms <= found.high_ms).all()
    for probe in plan.probes:
        assert found.expected_ms[found.names.index(probe.network.name)] == probe.expected_ms
    assert np.isfinite(found.expected_ms).all()


def test_a_plan_covers_the_range_of_the_pool() -> None:
    """The chosen span a good part of what known devices would take."""
    found = coverage(plan_probes(PlanRequest(target=probe_target(BOARD, 1), probes=12)))
    chosen = np.log(found.middle_ms[found.chosen])
    every = np.log(found.middle_ms)
    assert np.ptp(chosen) > 0.4 * np.ptp(every)
