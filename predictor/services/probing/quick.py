"""This PC in ten seconds: its two rates, and as many small reference networks as fit.

The networks are measured by the machinery of sessions in a store of their own, and the signature
enters the user's store in one transaction when it has passed its checks: a program that is killed
before leaves nothing behind. It is stored with the hardware that it was measured on, once a machine.
A probing of the user's replaces it, and never the other way round.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

import psutil

from predictor.core.errors import HostError, InputError
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.core.text import plural
from predictor.probing.choice import PlanRequest
from predictor.probing.measuring.interface import (
    Command,
    MeasuringPlan,
    NetworkDone,
    NetworkFailed,
    ProbeEvent,
    ProbeRunner,
    RunFinished,
)
from predictor.probing.runner.settings import Settings
from predictor.services.devices.this_machine import (
    MachineRates,
    describe_this_machine,
    hardware_of,
    lacks_rates,
    measure_rates,
    with_measured_rates,
)
from predictor.services.probing.measure import measure
from predictor.services.probing.open import Probing, open_probing
from predictor.services.probing.other_load import OtherLoad, OtherPrograms
from predictor.services.probing.plan import plan_probes, probe_target
from predictor.services.probing.runners import local_runner
from predictor.services.signatures.quick import HARDWARE, put_quick
from predictor.store.database import open_database

QUICK_S: Final = 10
"""Seconds that it takes in all, about."""

_LOOK_S: Final = 1.0  # over which other programs are observed, at least
_NETWORKS_S: Final = 6.0
_NETWORKS: Final = 8
_ENOUGH: Final = 3
_MEASURING: Final = "seconds of measuring this machine"
PROTOCOL: Final = Settings(
    blocks=1,
    warm_up_runs=3,
    warm_up_s=0.05,
    warm_up_limit_s=0.5,
    settle_limit_s=0.1,
    least_runs=5,
    least_s=0.2,
    interval=0.02,
    cap_s=0.3,
    limit_s=2.0,
    load_limit_s=10.0,
    silence_limit_s=5.0,
    profile_warm_up_runs=1,
    profile_runs=3,
    profile_s=0.05,
    profile_limit_s=0.5,
)
"""Settings of its networks: one short block of each."""


class Obstacle(StrEnum):
    """Reason not to measure this machine now."""

    BATTERY = "battery"
    LOAD = "load"
    UNSTEADY = "unsteady"


@dataclass(frozen=True, slots=True)
class Refusal:
    """This machine was not measured.

    Attributes:
        obstacle: the reason.
        words: the same in a sentence.
    """

    obstacle: Obstacle
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickProbing:
    """This machine was measured, and its signature is in the store.

    Attributes:
        device: this machine with its rates.
        signature_id: of the new signature.
        networks: number of reference networks that were measured.
        seconds: that it took in all.
    """

    device: Device
    signature_id: str
    networks: int
    seconds: float


def on_battery() -> Refusal | None:
    """Return the refusal of a machine that runs on its battery; None where it does not."""
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    if battery is None or battery.power_plugged is not False:
        return None
    return Refusal(
        Obstacle.BATTERY, "This machine runs on its battery, which makes it slower: plug it in."
    )


def probe_quickly(
    store: Path | None = None,
    cancel: CancelToken | None = None,
    progress: ProgressCallback = no_progress,
    runner: ProbeRunner | None = None,
) -> QuickProbing | Refusal:
    """Measure this machine in about ten seconds, and store what came of it.

    Args:
        store: the store's file; None for that of CTM_STORE, else the one in the user's folder.
        cancel: ends it within 0.2 s; nothing is stored then but rates that were measured.
        progress: gets the seconds that went by, of ``QUICK_S``.
        runner: measures the networks; None for this machine.

    Raises:
        InputError: the store is not one, or a newer program's.
        HostError: the measurement or the store fails.
        CancelledError: it was cancelled.
    """
    refusal = on_battery()
    if refusal is not None:
        return refusal
    return _Quick(store, cancel or CancelToken(), progress, runner or local_runner()).run()


class _Quick:
    """One run of it."""

    def __init__(
        self,
        store: Path | None,
        cancel: CancelToken,
        progress: ProgressCallback,
        runner: ProbeRunner,
    ) -> None:
        self._store, self._cancel, self._runner = store, cancel, runner
        self._report = progress
        self._start_s = time.monotonic()
        self._seconds = -1

    def run(self) -> QuickProbing | Refusal:
        """Measure and store."""
        self._tick()
        others, machine = OtherPrograms(), describe_this_machine()
        device = self._with_rates(machine)
        rest_s = _LOOK_S - (time.monotonic() - self._start_s)
        if rest_s > 0:
            time.sleep(rest_s)
        load = others.since()
        if load.is_busy:
            return Refusal(Obstacle.LOAD, _busy(load))
        with tempfile.TemporaryDirectory(prefix="ctm-quick-") as folder:
            with open_probing(Path(folder) / "store.sqlite") as probing:
                return self._measured(probing, machine, device)

    def _measured(
        self, probing: Probing, machine: Device, device: Device
    ) -> QuickProbing | Refusal:
        probing.devices.keep(device)
        plan = plan_probes(
            PlanRequest(
                target=probe_target(device, 1),
                probes=_NETWORKS,
                budget_s=_NETWORKS * 1.7,
                protocol=PROTOCOL,
            )
        )
        session = probing.sessions.start(plan)
        runner = _InTime(self._runner, self._tick)
        for _ in measure(probing.sessions, session.id, runner, self._cancel):
            self._tick()
        stored = probing.signatures.all()
        reason = probing.signatures.reason_against(stored[0]) if stored else "nothing was measured"
        if reason:
            return Refusal(Obstacle.UNSTEADY, f"What was measured is not believed: {reason}.")
        (entry,) = stored
        measurements = probing.signatures.measurements(entry.signature.id)
        self._cancel.check()
        facts = entry.facts.with_facts(**{HARDWARE: hardware_of(machine)})
        with closing(open_database(self._store)) as database:
            put_quick(database, entry.signature, measurements, facts)
        return QuickProbing(
            device=device,
            signature_id=entry.signature.id,
            networks=len(measurements),
            seconds=time.monotonic() - self._start_s,
        )

    def _with_rates(self, machine: Device) -> Device:
        """Return this machine with its two rates, measured where none are stored."""
        if not lacks_rates(machine):
            return machine
        rates_file = MachineRates(self._store)
        rates = rates_file.of(machine) or measure_rates(
            machine, rates_file, lambda _: None, self._cancel, lambda _: self._tick()
        )
        return with_measured_rates(machine, rates)

    def _tick(self) -> None:
        """Report each second once."""
        seconds = min(int(time.monotonic() - self._start_s), QUICK_S - 1)
        if seconds > self._seconds:
            self._seconds = seconds
            self._report(Progress(seconds, QUICK_S, _MEASURING))


class _InTime:
    """A runner that stops before a network that would not fit into the time.

    Args:
        runner: measures.
        tick: called with each event.
        clock: in seconds.
    """

    def __init__(
        self,
        runner: ProbeRunner,
        tick: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._runner, self._tick, self._clock = runner, tick, clock

    def run(self, plan: MeasuringPlan, cancel: CancelToken | None = None) -> Iterator[ProbeEvent]:
        """Measure; see :class:`ProbeRunner`."""
        start_s, ended = self._clock(), 0
        events = self._runner.run(replace(plan, sentinel=None), cancel)
        with closing(events):  # type: ignore[type-var]
            for event in events:
                self._tick()
                yield event
                ended += isinstance(event, NetworkDone | NetworkFailed)
                spent_s = self._clock() - start_s
                if ended and spent_s + spent_s / ended > _NETWORKS_S:
                    break
        if not isinstance(event, RunFinished):
            yield RunFinished()

    def send(self, command: Command) -> None:
        """Send a command to the run under way."""
        self._runner.send(command)


def _busy(load: OtherLoad) -> str:
    return f"{load.words} Measured now it would look slower than it is."
