"""Pairs of targets of one architecture, one at least as good as the other in every fact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from predictor.core.records import Device, Target
from predictor.devices.architectures import architecture_id, instruction_sets
from predictor.devices.variation import NO_RESOURCES


def better_pairs(targets: Sequence[Target]) -> Iterator[tuple[int, int]]:
    """Yield pairs of indices: the first target is at least as good as the second.

    Both have one architecture, the same configuration, instruction sets and stated facts.
    """
    groups: dict[object, list[int]] = {}
    for place, target in enumerate(targets):
        device = target.device
        if architecture_id(device):
            groups.setdefault(
                (
                    architecture_id(device),
                    tuple(_facts(device)),
                    instruction_sets(device),
                    target.configuration,
                ),
                [],
            ).append(place)
    for members in groups.values():
        facts = np.array([list(_facts(targets[place].device).values()) for place in members])
        better = (facts[:, None] >= facts[None, :]).all(axis=2)
        for one, other in np.argwhere(better).tolist():
            if one != other:
                yield members[one], members[other]


def _facts(device: Device) -> dict[str, float]:
    """Return the stated facts by name, in the order of their names; more is better in each."""
    facts = {name: value for name, value in device.metrics.items() if name not in NO_RESOURCES}
    if (process := device.metric("process_nm")) is not None:
        facts["process"] = -process
    facts |= {f"measured {name}": rate.value for name, rate in device.measured.items()}
    facts.pop("measured launch_us", None)
    for place, cluster in enumerate(device.clusters):
        facts[f"cores {place}"] = cluster.cores
        facts[f"clock {place}"] = cluster.clock_mhz
        if cluster.fp32_au_per_core is not None:
            facts[f"lanes {place}"] = cluster.fp32_au_per_core
    return dict(sorted(facts.items()))
