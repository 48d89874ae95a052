"""The ten seconds of this machine without measuring: rates that are stored, a scripted runner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from predictor.core.progress import CancelToken
from predictor.core.records import SustainedRates
from predictor.probing.measuring.interface import (
    Command,
    MeasuringPlan,
    NetworkDone,
    ProbeEvent,
    RunFinished,
    RunStarted,
)
from predictor.probing.runner.medians import summary
from predictor.services.devices.this_machine import MachineRates, describe_this_machine
from tests.support.probe_sessions import block

RATES = SustainedRates(20.0, 0.05, 0.08, "2026-01-31")


def store_rates(store: Path) -> None:
    """Store rates of this machine, so that none are measured."""
    MachineRates(store).keep(describe_this_machine(), RATES)


class OneBlock:
    """A runner that measures every network in one block of a millisecond.

    Args:
        react: called before each network with its place in the plan.
        contended: whether other programs disturb the blocks.
    """

    def __init__(
        self, react: Callable[[int], object] = lambda _: None, *, contended: bool = False
    ) -> None:
        self._react, self._contended = react, contended
        self.plans: list[MeasuringPlan] = []

    def run(self, plan: MeasuringPlan, cancel: CancelToken | None = None) -> Iterator[ProbeEvent]:
        self.plans.append(plan)
        yield RunStarted({})
        for place, network in enumerate(plan.networks):
            self._react(place)
            if cancel is not None:
                cancel.check()
            blocks = [block(10**6) | {"contended": self._contended}]
            identity = {"fingerprint": network.fingerprint, "sha256": network.sha256}
            entry = {"name": network.name, **identity, **summary(blocks, plan.settings)}
            yield NetworkDone(network.name, {**entry, "blocks": blocks})
        yield RunFinished()

    def send(self, command: Command) -> None:
        raise AssertionError(f"{command} is sent")
