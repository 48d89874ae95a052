"""Files of reference networks, built in a child process so that no thread here is held up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from predictor.core.child_process import ChildProcess, result_of
from predictor.core.child_start import child_command
from predictor.core.progress import CancelToken
from predictor.probing.measuring.interface import MeasuringPlan, NetworkFile
from predictor.services.probing.session_plan import PlannedNetwork, SessionPlan

_TIME_LIMIT_S = 120.0


def build_plan(
    session_id: str,
    plan: SessionPlan,
    names: Iterable[str],
    folder: Path,
    cancel: CancelToken | None = None,
) -> MeasuringPlan:
    """Build networks of a session and return the runner's plan.

    Args:
        session_id: of the session.
        plan: of the session.
        names: of the networks to measure, in any order.
        folder: where their files are written.
        cancel: ends the building within a tenth of a second.

    Raises:
        HostError: the disk is full or the folder cannot be written.
        CancelledError: it was cancelled.
    """
    wanted = set(names)
    probes = [probe for probe in plan.probes if probe.name in wanted]
    # The sentinel is a file of every run: its drift is that of the machine.
    *networks, sentinel = build_files([*probes, plan.sentinel], folder, cancel)
    return MeasuringPlan(session_id, tuple(networks), sentinel, plan.configuration, plan.protocol)


def build_files(
    networks: Sequence[PlannedNetwork], folder: Path, cancel: CancelToken | None = None
) -> tuple[NetworkFile, ...]:
    """Build networks into a folder.

    Args:
        networks: that are wanted.
        folder: made where it is missing.
        cancel: ends the work within a tenth of a second.

    Raises:
        HostError: the disk is full, the folder cannot be written, or the child fails.
        InputError: there is no such space, or a code is wrong.
        CancelledError: it was cancelled.
    """
    entries = [{"name": n.name, "space": n.space, "code": n.code} for n in networks]
    child = ChildProcess(child_command("--network-builder"), "the builder of reference networks")
    job = {"folder": str(folder), "networks": entries}
    sha256 = result_of(child, job, cancel, limit_s=_TIME_LIMIT_S)
    return tuple(
        NetworkFile(
            name=n.name,
            path=folder / f"{n.name}.onnx",
            sha256=sha256[n.name],
            fingerprint=n.fingerprint,
            expected_ms=n.expected_ms,
        )
        for n in networks
    )
