"""Checks of a probing by its own networks, sentinel and blocks.

A probing that fails stays stored, and predictions use it only where the user says so. The effect of
the limits on probings under load and at rest is in docs/results/probe-checks.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

import numpy as np

from predictor.core.errors import HostError, InputError
from predictor.core.records import Device, Measurement, Target
from predictor.core.stored import ProbeState, SessionProbe, StoredSignature
from predictor.core.text import plural
from predictor.cost.engine import TargetMeasurements
from predictor.presentation.wording import UNSTABLE, percent
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.devices.user_devices import UserDevices
from predictor.services.signatures.assessment import left_out
from predictor.store import probe_sessions as session_records
from predictor.store import signatures as records
from predictor.store.database import Database


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a probing's checks; shares but for the first.

    Attributes:
        networks: minimum number with a number, or as many as were chosen where these are fewer.
        measured: minimum share with a number among those that were measured to the end.
        disturbed: maximum share that other programs disturbed.
        drift: maximum change of the sentinel's latency.
        error: maximum median error of the networks, each predicted from the others.
    """

    networks: int
    measured: float
    disturbed: float
    drift: float
    error: float


LIMITS: Final = Limits(networks=3, measured=0.7, disturbed=0.5, drift=0.2, error=0.5)

CHECKS: Final = "checks"
"""The fact of a signature with the figures of its checks."""
USED_ANYWAY: Final = "used_anyway"
"""The fact of a signature that the user lets predictions use it though it failed them."""

Measured = tuple[TargetMeasurements, tuple[Measurement, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbingChecks:
    """Figures of a probing by which it is judged.

    Attributes:
        chosen: networks that were to be measured; failed, skipped and excluded ones do not count.
        tried: those of them that were measured to the end, with a number or inconclusive.
        measured: those with a number.
        disturbed: share of ``tried`` that other programs disturbed.
        drift: of the sentinel, as a share; None where it was not measured twice.
        error: median error of the networks, each predicted from the others, as a share; None where
            they are fewer than two or the device is not known.
    """

    chosen: int
    tried: int
    measured: int
    disturbed: float
    drift: float | None
    error: float | None

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self | None:
        """Return what was noted; None where nothing was, or nothing of this form."""
        try:
            names = ("chosen", "tried", "measured", "disturbed")
            counted: dict[str, Any] = {name: content[name] for name in names}
            shares: dict[str, Any] = {name: content.get(name) for name in ("drift", "error")}
            numbers = [*counted.values(), *(v for v in shares.values() if v is not None)]
            return cls(**counted, **shares) if np.isfinite(numbers).all() else None
        except (KeyError, TypeError):
            return None

    def to_json(self) -> dict[str, Any]:
        """Return plain values; the store's facts keep no null."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def failures(self, limits: Limits = LIMITS) -> tuple[str, ...]:
        """Return the checks that it fails, in words; none where it is believed.

        Args:
            limits: of the checks.
        """
        failures = []
        few = self.measured < min(limits.networks, self.chosen)
        if few or self.measured < limits.measured * self.tried:
            of = max(self.tried, self.measured)
            failures.append(f"only {self.measured} of {plural(of, 'network')} gave a number")
        if self.disturbed > limits.disturbed:
            count = f"{round(self.disturbed * self.tried)} of {plural(self.tried, 'network')}"
            failures.append(f"other programs disturbed {count}")
        if self.drift is not None and self.drift > limits.drift:
            failures.append(f"the machine's speed changed by {percent(self.drift)}")
        if self.error is not None and self.error > limits.error:
            failures.append(f"its networks predict each other {percent(self.error)} off")
        return tuple(failures)

    @property
    def reason(self) -> str:
        """Why it is not believed, without a full stop; empty where it is."""
        failed = self.failures()
        if not failed:
            return ""
        return " and ".join(filter(None, (", ".join(failed[:-1]), failed[-1])))


def checks_of(
    database: Database, stored: StoredSignature, measured: Callable[[], Measured]
) -> ProbingChecks | None:
    """Return the figures of a stored probing; None for a signature without a probing.

    Probings of earlier versions, and signatures that lost a network or got one back, have nothing
    noted: then it is worked out, which takes up to some seconds, and noted.

    Args:
        database: of the signature.
        stored: the signature.
        measured: returns its measurements as engines take them, and those with a known graph.
    """
    if not stored.facts.protocol:
        return None  # imported from other tools' files, or typed
    noted = ProbingChecks.from_json(stored.facts.checks)
    if noted is not None:
        return noted
    probes: Sequence[SessionProbe] = ()
    if stored.session_id is not None:
        # A project file brings signatures without their sessions.
        with suppress(InputError):
            probes = session_records.get(database, stored.session_id).probes
    checks = work_out(database, stored, probes, *measured())
    with suppress(HostError):  # a store that cannot be written is worked out again
        records.note(database, stored.signature.id, {CHECKS: checks.to_json()})
    return checks


def reason_against(
    database: Database, stored: StoredSignature, measured: Callable[[], Measured]
) -> str:
    """Return why a signature failed its checks, without a full stop; empty where it passed.

    This decides for all: whether a new probing becomes active, whether a stored one that is
    active is used, and whether a number that rests on it is called unstable.
    """
    checks = checks_of(database, stored, measured)
    return "" if checks is None else checks.reason


def is_used(stored: StoredSignature, reason: str) -> bool:
    """Return whether predictions use a signature.

    Args:
        stored: the signature.
        reason: why it is not believed, as ``reason_against`` says it.
    """
    return stored.signature.active and (not reason or stored.facts.used_anyway)


def belief_words(stored: StoredSignature, reason: str) -> str:
    """Return in a sentence what failed checks mean for predictions; empty where none failed."""
    if not reason:
        return ""
    if is_used(stored, reason):
        return f"It is used anyway, and its numbers are marked {UNSTABLE}: {reason}."
    return f"It is kept, but predictions do not use it, as it failed its own checks: {reason}."


def work_out(
    database: Database,
    stored: StoredSignature,
    probes: Sequence[SessionProbe],
    measured: TargetMeasurements,
    measurements: Sequence[Measurement],
) -> ProbingChecks:
    """Compute the figures of a probing.

    Args:
        database: of its device.
        stored: the signature, in the store or about to be.
        probes: of its session; none where that is not known.
        measured: its measurements as engines take them.
        measurements: the same records.
    """
    signature = stored.signature
    without = [p for p in probes if p.measurement_id is None]
    inconclusive = [p for p in without if p.state is ProbeState.INCONCLUSIVE]
    waiting = [p for p in without if p.state is ProbeState.WAITING]
    count = len(signature.measurement_ids)
    tried = count + len(inconclusive)
    documents = [m.provenance.content for m in measurements]
    documents += [p.outcome.content for p in inconclusive]
    disturbed = sum(map(_is_disturbed, documents))
    device = _device(database, signature.device_id)
    error = None
    if device is not None:
        fits = left_out(Target(device, signature.configuration), measured, measurements)
        error = float(np.median([abs(fit.error) for fit in fits])) if fits else None
    return ProbingChecks(
        chosen=tried + len(waiting),
        tried=tried,
        measured=count,
        disturbed=disturbed / max(len(documents), 1),
        drift=stored.facts.drift,
        error=error,
    )


def _is_disturbed(document: Mapping[str, Any]) -> bool:
    """Return whether other programs disturbed most blocks of a network."""
    blocks = document.get("blocks")
    if not isinstance(blocks, list) or not blocks:
        return False
    contended = [isinstance(block, dict) and block.get("contended") is True for block in blocks]
    return 2 * sum(contended) >= len(blocks)


def _device(database: Database, device_id: str) -> Device | None:
    """Return a device of the user's or a shipped one; None where there is none any more."""
    described = (e.device for e in UserDevices(database).all() if e.device.id == device_id)
    return next(described, None) or load_catalogue().by_id.get(device_id)
