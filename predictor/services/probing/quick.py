"""This PC in ten seconds: its two rates, and as many small reference networks as fit.

The networks are measured by the machinery of sessions in a store of their own, under all threads
and under one. The signatures enter the user's store in one transaction when they have passed their
checks: a program that is killed before leaves nothing behind. They are stored with the hardware
that they were measured on. A probing of the user's replaces them, and never the other way round.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

import psutil

from predictor.core.left_over import work_folder
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device, Measurement
from predictor.core.stored import StoredSignature
from predictor.probing.choice import INFORMATION, PlanRequest
from predictor.probing.measuring.interface import (
    Command,
    MeasuringPlan,
    NetworkDone,
    NetworkFailed,
    ProbeEvent,
    ProbeRunner,
    RunFinished,
)
from predictor.probing.networks.pool import load_pool
from predictor.probing.networks.quick import load_quick
from predictor.probing.planning import fixed_plan
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
from predictor.services.probing.other_load import LOOK_S, OtherPrograms
from predictor.services.probing.plan import probe_target
from predictor.services.probing.runners import local_runner
from predictor.services.signatures.quick import put_quick
from predictor.store.database import open_database, store_path

QUICK_S: Final = 10
"""Seconds that it takes in all, about."""
MIN_NETWORKS: Final = 3
"""Networks that are measured under each number of threads, however slow the machine is."""
PROTOCOL: Final = Settings(
    blocks=1,
    warm_up_runs=3,
    warm_up_s=0.05,
    warm_up_limit_s=1.0,
    settle_limit_s=0.1,
    least_runs=5,
    least_s=0.2,
    interval=0.02,
    cap_s=0.3,
    limit_s=5.0,
    load_limit_s=20.0,
    silence_limit_s=10.0,
    profile_warm_up_runs=1,
    profile_s=0.05,
    profile_limit_s=0.5,
)
"""Settings of its networks: one short block of each."""

_POLL_S: Final = 0.05  # how late a cancel is noticed
_VERDICT_S: Final = 0.5
_MEASURING: Final = "seconds of measuring this machine"


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
    """This machine was measured, and its signatures are in the store.

    Attributes:
        device: this machine with its rates.
        signature_ids: of the new signatures, one a number of threads.
        networks: number of reference networks under each of them, at most.
        seconds: that it took in all.
    """

    device: Device
    signature_ids: tuple[str, ...]
    networks: int
    seconds: float


def on_battery() -> Refusal | None:
    """Return the refusal of a machine that runs on its battery; None where it does not."""
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    if battery is None or battery.power_plugged is not False:
        return None
    words = "This machine runs on its battery, which makes it slower: plug it in."
    return Refusal(Obstacle.BATTERY, words)


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
        progress: gets the seconds that went by, of ``QUICK_S``; all of them at the end.
        runner: measures the networks; None for this machine.

    Raises:
        InputError: the store is not one, or a newer program's.
        HostError: the measurement or the store fails.
        CancelledError: it was cancelled.
    """
    refusal = on_battery()
    if refusal is not None:
        return refusal
    # Opened at once: a store that cannot be written fails before the ten seconds, not after them.
    with closing(open_database(store)):
        pass
    quick = _Quick(store, cancel or CancelToken(), progress, runner or local_runner())
    try:
        return quick.run()
    finally:
        progress(Progress(QUICK_S, QUICK_S, _MEASURING))  # a line on a terminal goes


@dataclass(frozen=True, slots=True)
class _Measured:
    """A signature that is about to be stored."""

    entry: StoredSignature
    measurements: Sequence[Measurement]
    reason: str


class _Quick:
    """One run of the ten seconds: rates, networks, their checks, the store."""

    def __init__(
        self,
        store: Path | None,
        cancel: CancelToken,
        progress: ProgressCallback,
        runner: ProbeRunner,
    ) -> None:
        self._store, self._cancel, self._runner = store, cancel, runner
        self._progress, self._seconds = progress, -1
        self._start_s = time.monotonic()
        self._other_programs = OtherPrograms()

    def run(self) -> QuickProbing | Refusal:
        """Measure and store."""
        self._tick()
        machine = describe_this_machine()
        device = self._with_rates(machine)
        refusal = self._other_load()
        if refusal is not None:
            return refusal
        with (
            _workplace(self._store) as folder,
            open_probing(folder / "store.sqlite") as probing,
        ):
            counts = list(dict.fromkeys((device.threads_in_use(0) or 1, 1)))
            measured = [
                of_count
                for place, threads in enumerate(counts)
                if (of_count := self._measured(probing, device, threads, len(counts) - place))
            ]
        believed = [of_count for of_count in measured if not of_count.reason]
        if not believed:
            reason = measured[0].reason if measured else "no network could be measured"
            return Refusal(Obstacle.UNSTEADY, f"This machine was not steady enough: {reason}.")
        self._cancel.check()
        self._put(believed, hardware_of(machine))
        return QuickProbing(
            device=device,
            signature_ids=tuple(of_count.entry.signature.id for of_count in believed),
            networks=max(len(of_count.measurements) for of_count in believed),
            seconds=self._elapsed_s,
        )

    @property
    def _elapsed_s(self) -> float:
        return time.monotonic() - self._start_s

    def _with_rates(self, machine: Device) -> Device:
        """Return this machine with its two rates, measured where none are stored."""
        if not lacks_rates(machine):
            return machine
        rates_file = MachineRates(self._store)
        rates = rates_file.of(machine) or measure_rates(
            machine, rates_file, lambda _: None, self._cancel, lambda _: self._tick()
        )
        return with_measured_rates(machine, rates)

    def _measured(
        self, probing: Probing, device: Device, threads: int, parts: int
    ) -> _Measured | None:
        """Measure networks in a part of the time that is left; None where none could be."""
        request = PlanRequest(target=probe_target(device, threads), selector=INFORMATION)
        request = replace(
            request, configuration=replace(request.configuration, threads=request.target.threads)
        )
        plan = fixed_plan(request, load_quick(), load_pool(), PROTOCOL)
        session = probing.sessions.start(plan)
        rest_s = QUICK_S - _VERDICT_S - self._elapsed_s
        runner = _InTime(self._runner, rest_s / parts)
        for _ in measure(probing.sessions, session.id, runner, self._cancel):
            self._tick()
        signatures = (s for s in probing.signatures.all() if s.session_id == session.id)
        entry = next(signatures, None)
        if entry is None:
            return None
        measurements = probing.signatures.measurements(entry.signature.id)
        return _Measured(entry, measurements, probing.signatures.reason_against(entry))

    def _other_load(self) -> Refusal | None:
        """Return the refusal of a machine that other programs have used since the start.

        They are observed before the networks alone. The system loses the processor time of blocks
        that are stopped with their runner, so it would look like that of other programs; and those
        that start later disturb blocks, which their own checks find.
        """
        while self._elapsed_s < LOOK_S:
            self._cancel.check()
            time.sleep(_POLL_S)
        load = self._other_programs.since()
        if not load.is_busy:
            return None
        words = f"{load.words} Measured now it would look slower than it is."
        return Refusal(Obstacle.LOAD, words)

    def _put(self, believed: Sequence[_Measured], hardware: str) -> None:
        with closing(open_database(self._store)) as database, database.transaction():
            for of_count in believed:
                facts = of_count.entry.facts.with_facts(hardware=hardware)
                put_quick(database, of_count.entry.signature, of_count.measurements, facts)

    def _tick(self) -> None:
        """Report each second once."""
        seconds = min(int(self._elapsed_s), QUICK_S - 1)
        if seconds > self._seconds:
            self._seconds = seconds
            self._progress(Progress(seconds, QUICK_S, _MEASURING))


@contextmanager
def _workplace(store: Path | None) -> Iterator[Path]:
    """Make a folder beside the store for the block; those of killed programs go."""
    path = store_path(store)
    parent = path.with_name(f"{path.name}.quick")
    try:
        with work_folder(parent) as folder:
            yield folder
    finally:
        with suppress(OSError):  # another program may be at work
            parent.rmdir()


class _InTime:
    """A runner without a sentinel that stops before a network that its time does not allow.

    Args:
        runner: measures.
        seconds: time, the building of the networks included.
    """

    def __init__(self, runner: ProbeRunner, seconds: float) -> None:
        self._runner = runner
        self._end_s = time.monotonic() + seconds

    def run(self, plan: MeasuringPlan, cancel: CancelToken | None = None) -> Iterator[ProbeEvent]:
        """Measure; see :class:`ProbeRunner`."""
        start_s, ended = time.monotonic(), 0
        for event in self._runner.run(replace(plan, sentinel=None), cancel):
            if isinstance(event, RunFinished):
                break
            yield event
            ended += isinstance(event, NetworkDone | NetworkFailed)
            now_s = time.monotonic()
            if ended >= MIN_NETWORKS and now_s + (now_s - start_s) / ended > self._end_s:
                break
        yield RunFinished()

    def send(self, command: Command) -> None:
        """Send a command to the run under way."""
        self._runner.send(command)
