"""The laws of varied facts, held against predictions on targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ctm_research.evaluation.judge.laws import usual_targets
from ctm_research.evaluation.judge.varied_facts import RATE, UNUSED, Variant, variants
from predictor.core.records import Device, Target
from predictor.core.runtimes import runtime_of
from predictor.cost.engine import Engine, PredictionTable
from predictor.services.devices.catalogue import load_catalogue
from tests.support.estimates import blind_engine, samples, shipped_engine

EXACT = 1e-9
OF_THE_BOUND = ("tf32_tflops", "l1_kb_per_core", "l2_kb", "llc_kb", "dram_gb")
_FLOATS = ("fp32_tflops", "fp16_tflops", "bf16_tflops")

VariedTable = tuple[PredictionTable, np.ndarray, list[Variant]]
"""Predictions on targets and then on their variants, the place of each variant's target, and the
variants."""


def one_of_each_kind() -> list[Device]:
    """Return of the catalogue one device of each family, set of known facts and configurations."""
    devices = {
        (
            device.family,
            device.vendor == "NVIDIA",
            bool(device.clusters),
            bool(device.architecture),
            frozenset(device.metrics),
            frozenset((each.runtime, each.precision) for each in device.configurations),
        ): device
        for device in load_catalogue().devices
    }
    return list(devices.values())


def kind_of(variant: Variant) -> str:
    """Return the kind of a fact; a rate in another format counts where it alone is known."""
    metrics = variant.target.device.metrics
    if variant.fact == "int8_tops" and not any(name in metrics for name in _FLOATS):
        return RATE
    return variant.kind


def assert_lawful(ratio: np.ndarray, varied: list[Variant]) -> None:
    """Check latencies with a larger fact over those without, [G, V]."""
    kinds = np.array([kind_of(variant) for variant in varied])
    factors = np.array([variant.factor for variant in varied])
    slower = ratio > 1 + EXACT
    leaps = (kinds == RATE) & (ratio * factors < 1 - EXACT)
    moved = (kinds == UNUSED) & (np.abs(ratio - 1) > EXACT)
    for what, wrong in (("slower", slower), ("leaps", leaps), ("moved", moved)):
        assert not wrong.any(), [
            f"{what}: {varied[column].target.id}, {varied[column].fact}: {ratio[row, column]}"
            for row, column in np.argwhere(wrong)[:5].tolist()
        ]


def varied_table(targets: Sequence[Target], engine: Engine | None = None) -> VariedTable:
    """Return the sample networks on targets, and on each with each fact half as large again.

    Args:
        targets: the targets.
        engine: that predicts; None for one without evidence of them.
    """
    varied = [(place, each) for place, target in enumerate(targets) for each in variants(target)]
    every = [*targets, *(each.target for _, each in varied)]
    table = (engine or blind_engine()).predict(list(samples().values()), every, {})
    return table, np.array([place for place, _ in varied]), [each for _, each in varied]


def assert_no_fact_breaks_a_law(predicted: VariedTable) -> None:
    """Check each variant against its target."""
    table, places, varied = predicted
    count = table.latency_ms.shape[1] - len(varied)
    plain, changed = table.latency_ms[:, :count][:, places], table.latency_ms[:, count:]
    known = np.isfinite(plain[0])
    assert np.isfinite(changed[:, known]).all()  # a larger fact costs no target its number
    assert_lawful(
        (changed / plain)[:, known],
        [each for each, is_known in zip(varied, known, strict=True) if is_known],
    )


def assert_lawful_at_equal_evidence(devices: Sequence[Device], least: int) -> None:
    """Check so many variants or more on the shipped engine, which has the same evidence of them."""
    targets = [target for device in devices for target in usual_targets(device)]
    table, places, varied = varied_table(targets, shipped_engine())
    count = len(targets)
    words = np.array(table.facts["evidence"][0])
    # More cores on all threads are another configuration, of which less may have been measured.
    checked = words[:count][places] == words[count:]
    checked &= np.isfinite(table.latency_ms[0, :count][places])

    ratio = table.latency_ms[:, count:] / table.latency_ms[:, :count][:, places]

    assert checked.sum() > least
    assert_lawful(
        ratio[:, checked],
        [each for each, is_checked in zip(varied, checked, strict=True) if is_checked],
    )


def assert_only_the_bound_moves(predicted: VariedTable, fact: str, least: int) -> None:
    """Check that a fact moves no latency above its bound, of so many or more."""
    table, places, varied = predicted
    count = table.latency_ms.shape[1] - len(varied)
    columns = np.array(
        [
            place
            for place, variant in enumerate(varied)
            if variant.fact == fact
            and not (
                fact == "tf32_tflops" and runtime_of(variant.target.configuration.runtime).tf32
            )
        ]
    )
    plain = table.latency_ms[:, :count][:, places[columns]]
    bound = table.bound_ms[:, :count][:, places[columns]]
    changed = table.latency_ms[:, count + columns]
    above = plain > bound
    assert above.sum() > least
    assert np.array_equal(plain[above], changed[above])


def assert_bounded(table: PredictionTable, least: int) -> None:
    """Check that nothing is faster than its bound, of so many predictions or more."""
    bounded = np.isfinite(table.bound_ms) & np.isfinite(table.latency_ms)
    assert bounded.sum() > least
    for edge in (table.low95_ms, table.low80_ms, table.latency_ms):
        assert (edge >= table.bound_ms)[bounded].all()
