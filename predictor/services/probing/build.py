"""Files of reference networks, built in a child process so that no thread here is held up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from predictor.core.errors import HostError, error_from_dict
from predictor.core.progress import CancelToken
from predictor.core.text import shortened
from predictor.probing.measuring.interface import MeasuringPlan, NetworkFile
from predictor.probing.runner.messages import parse_line
from predictor.services.probing.session_plan import PlannedNetwork, SessionPlan

BUILDER_FLAG = "--network-builder"
"""First argument of a frozen program that is to build networks."""

_ROOT = Path(__file__).resolve().parents[3]
_POLL_S = 0.05
_TIME_LIMIT_S = 120.0


def build_plan(
    session_id: str,
    plan: SessionPlan,
    names: Iterable[str],
    folder: Path,
    cancel: CancelToken | None = None,
) -> MeasuringPlan:
    """Build networks of a session and return what a runner takes.

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
    sha256 = _answer({"folder": str(folder), "networks": entries}, cancel or CancelToken())
    return tuple(
        NetworkFile(n.name, folder / f"{n.name}.onnx", sha256[n.name], n.fingerprint, n.expected_ms)
        for n in networks
    )


def _answer(job: Mapping[str, object], cancel: CancelToken) -> dict[str, str]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        _command(), stdin=pipe, stdout=pipe, stderr=pipe, cwd=_ROOT, env=_environment()
    ) as child:
        try:
            output, noise = _output(child, json.dumps(job).encode("ascii") + b"\n", cancel)
        finally:
            child.kill()
    messages = [message for line in output.splitlines() if (message := parse_line(line))]
    if not messages:
        words = shortened(noise.decode("utf-8", "replace").strip().rpartition("\n")[2], 200)
        raise _failed(f"it ended with code {child.returncode}{': ' if words else ''}{words}")
    if messages[-1]["kind"] == "error":
        raise error_from_dict(messages[-1]["payload"])
    return dict(messages[-1]["payload"])


def _output(child: subprocess.Popen[bytes], job: bytes, cancel: CancelToken) -> tuple[bytes, bytes]:
    """Hand over the job and wait for the answer, looking at ``cancel`` meanwhile."""
    given: bytes | None = job
    for _ in range(int(_TIME_LIMIT_S / _POLL_S)):
        cancel.check()
        try:
            return child.communicate(given, timeout=_POLL_S)
        except subprocess.TimeoutExpired:
            given = None  # it is on its way
    raise _failed(f"it took over {_TIME_LIMIT_S:.0f} s")


def _failed(reason: str) -> HostError:
    return HostError("the builder of reference networks", reason, "try again")


def _command() -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, BUILDER_FLAG]
    return [sys.executable, "-P", "-X", "utf8", "-m", "predictor.probing.networks.build"]


def _environment() -> dict[str, str]:
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(_ROOT), *([inherited] if inherited else [])])
    return {**os.environ, "PYTHONPATH": path}
