"""Runners of this machine and of boards; the library of SSH is loaded with the first board."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from predictor.core.errors import HostError
from predictor.core.progress import ProgressCallback, no_progress
from predictor.probing.measuring.interface import ProbeRunner
from predictor.probing.measuring.local import LocalRunner
from predictor.store.database import store_path

if TYPE_CHECKING:
    from predictor.probing.ssh.host_keys import HostKey


def known_hosts_file(store: Path | None = None) -> Path:
    """Return the file of host keys that the user accepted: beside the store."""
    return store_path(store).with_name("known_hosts")


def local_runner() -> ProbeRunner:
    """Return a runner of this machine."""
    return LocalRunner()


def board_runner(
    address: str,
    store: Path | None = None,
    keys: Sequence[Path] = (),
    accept: Callable[[HostKey], bool] | None = None,
    progress: ProgressCallback = no_progress,
    python: str = "python3",
) -> ProbeRunner:
    """Return the runner of a board.

    Args:
        address: ``user@host:port``; user and port may be left out.
        store: the store's file, beside which accepted host keys are stored.
        keys: files of private keys; empty for the agent and the usual files.
        accept: decides on an unknown host key; None accepts none.
        progress: of the copying.
        python: program that runs Python 3 there, with numpy and onnxruntime.

    Raises:
        InputError: the address is of another form.
        HostError: the SSH library is not installed.
    """
    if importlib.util.find_spec("asyncssh") is None:
        raise HostError("SSH", "asyncssh is not installed", "run pip install asyncssh")
    # Imported here: asyncssh may not be installed, and only boards need it.
    from predictor.probing.ssh.host_keys import KnownHosts, refuse_unknown  # noqa: PLC0415
    from predictor.probing.ssh.runner import SshRunner  # noqa: PLC0415
    from predictor.probing.ssh.target import SshTarget  # noqa: PLC0415

    target = replace(SshTarget.parse(address), keys=tuple(keys), python=python)
    known_hosts = KnownHosts(known_hosts_file(store))
    return SshRunner(
        target=target, known_hosts=known_hosts, decide=accept or refuse_unknown, progress=progress
    )
