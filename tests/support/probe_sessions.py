"""Small plans of a board, and runners of them that follow a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from predictor.core.errors import CancelledError
from predictor.core.metrics import Family
from predictor.core.progress import CancelToken
from predictor.core.records import Device
from predictor.probing.choice import PlanRequest
from predictor.probing.measuring.interface import (
    Command,
    Drift,
    Failure,
    MeasuringPlan,
    NetworkDone,
    NetworkFailed,
    ProbeEvent,
    RunFinished,
    RunStarted,
)
from predictor.probing.networks.pool import load_pool
from predictor.probing.planning import PlannedProbe, ProbePlan
from predictor.probing.runner.medians import percentile, summary
from predictor.services.probing.plan import plan_probes, probe_target
from tests.support.probe_plans import QUICK

BOARD = Device(
    id="board",
    name="Board",
    vendor="maker",
    family=Family.CPU,
    metrics={"fp32_tflops": 0.1, "dram_bw_gbps": 10, "core_count": 4},
)


def small_plan(probes: int = 3) -> ProbePlan:
    """A plan of the smallest networks of the pool, measured in no time."""
    plan = plan_probes(
        PlanRequest(
            target=probe_target(BOARD, 1), probes=probes, selector="random", budget_s=60.0 * probes
        )
    )
    smallest = sorted(load_pool(), key=lambda network: network.macs + network.bytes_moved)
    chosen = [PlannedProbe(network, "small", 1.0) for network in smallest[: probes + 1]]
    return replace(plan, probes=tuple(chosen[1:]), sentinel=chosen[0], settings=QUICK)


def block(*samples_ns: int) -> dict[str, Any]:
    median_ns = percentile(sorted(samples_ns), 0.5)
    return {"samples_ns": list(samples_ns), "median_ns": median_ns, "contended": False}


class Script:
    """A runner that tells of each network what it is given, in the order of the plan.

    Args:
        outcomes: for each network its blocks' medians, or why it fails; None raises.
    """

    def __init__(self, *outcomes: Sequence[int] | Failure | None) -> None:
        self._outcomes = iter(outcomes)
        self.plans: list[MeasuringPlan] = []

    def run(self, plan: MeasuringPlan, cancel: CancelToken | None = None) -> Iterator[ProbeEvent]:
        assert cancel is None
        self.plans.append(plan)
        yield RunStarted({"processor": "A76", "temperature_c": None})
        for network in plan.networks:
            assert network.path.stat().st_size > 100
            outcome = next(self._outcomes)
            if outcome is None:
                raise CancelledError
            if isinstance(outcome, Failure):
                yield NetworkFailed(network.name, outcome, "the reason")
                continue
            blocks = [block(median, median, median) for median in outcome]
            identity = {"fingerprint": network.fingerprint, "sha256": network.sha256}
            entry = {"name": network.name, **identity, **summary(blocks, plan.settings)}
            yield NetworkDone(network.name, {**entry, "blocks": blocks})
        yield Drift((1.0, 1.1), 0.1)
        yield RunFinished()

    def send(self, command: Command) -> None:
        raise AssertionError(f"nobody sends {command}")
