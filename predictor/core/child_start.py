"""The start of a child process. A command waits for this module, which imports little."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

TYPE_CHECKING = False  # that of typing, which takes a tenth of the time that a command's start may
if TYPE_CHECKING:
    from typing import Any

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120

CHILDREN = {
    "--graph-layout": "predictor.services.graph.layout_worker",
    "--ingestion-worker": "predictor.formats.worker",
    "--network-builder": "predictor.probing.networks.build",
    "--probe-runner": "predictor.probing.runner.command",
    "--rows-worker": "predictor.services.rows.worker",
    "--self-test": "predictor.probing.sustained_rates",
}
"""Modules that run as child processes, by the argument with which a frozen program, which has no
interpreter to run a module, starts itself as one of them."""


def child_command(flag: str, *arguments: str) -> list[str]:
    """Return the command line of one of :data:`CHILDREN`, also in a frozen program."""
    if getattr(sys, "frozen", False):
        return [sys.executable, flag, *arguments]
    # -P: a module in the current folder cannot stand in for one of ours.
    return [sys.executable, "-P", "-X", "utf8", "-m", CHILDREN[flag], *arguments]


def started(command: Sequence[str], *, foreign: bool = False) -> subprocess.Popen[bytes]:
    """Start a child whose three streams are pipes.

    Args:
        command: its command line.
        foreign: a program of its own, which keeps the folder and the environment of this process.

    Raises:
        OSError: the command cannot be run.
    """
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=None if foreign else _ROOT,
        env=None if foreign else child_environment(),
        **_detached(),
    )


def child_environment() -> dict[str, str]:
    """Return the environment in which a child finds this copy of the program."""
    inherited = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        "ORT_DISABLE_TELEMETRY": "1",
        # Threads that ingestion does not use would count against the limit on its address space.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        # A checkout need not be installed, and the child must import the same copy.
        "PYTHONPATH": os.pathsep.join([_ROOT, *([inherited] if inherited else [])]),
    }


def _detached() -> dict[str, Any]:
    """Keep Ctrl+C, which is for the parent, from the child; open no console window."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}
