"""Trusted host keys: files in OpenSSH's form, ours and the user's own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from predictor.core.errors import HostError, InputError
from predictor.core.files import read_text, write_text

DEFAULT_PORT = 22
USER_FILE = Path("~/.ssh/known_hosts")
_remembering = threading.Lock()  # boards of a fleet are accepted by several threads


@dataclass(frozen=True, slots=True)
class HostKey:
    """A key that a host showed and that no file knows.

    Attributes:
        host: as the user named it.
        port: of its SSH server.
        algorithm: of the key, as ``ssh-ed25519``.
        fingerprint: ``SHA256:...``, as ``ssh-keygen -lf`` shows it on the board.
    """

    host: str
    port: int
    algorithm: str
    fingerprint: str


Decision = Callable[[HostKey], bool]
"""Asked once for each unknown host; True trusts the key from now on."""


def refuse_unknown(_: HostKey) -> bool:
    """Trust no key that is not in a file."""
    return False


class KnownHosts:
    """Trusted keys by host.

    Args:
        path: our file; keys that the user accepts are added to it.
        read_only: files that are only read; one that is not there is passed over.
    """

    def __init__(self, path: Path, read_only: Sequence[Path] = (USER_FILE,)) -> None:
        self._path = path
        self._read_only = tuple(read_only)

    def match(self, host: str, address: str, port: int | None) -> tuple[list[asyncssh.SSHKey], ...]:
        """Return the host's trusted keys, trusted authorities, and revoked keys.

        Raises:
            InputError: a file is not in OpenSSH's form or cannot be read.
        """
        trusted: list[asyncssh.SSHKey] = []
        authorities: list[asyncssh.SSHKey] = []
        revoked: list[asyncssh.SSHKey] = []
        for path in (self._path, *self._read_only):
            hosts = _read(path.expanduser())
            # Files of known hosts name a port only where it is not 22.
            stated_port = None if port == DEFAULT_PORT else port
            keys = hosts.match(host, address, stated_port)
            trusted += keys[0]
            authorities += keys[1]
            revoked += keys[2]
            if stated_port:
                # Where no key of host and port is trusted the library looks for the host alone,
                # and forgets the revoked keys of host and port (docs/decisions/0006).
                for name in (host, address):
                    revoked += hosts.match(f"[{name}]:{stated_port}", "", None)[2]
        return trusted, authorities, revoked

    def remember(self, host: str, port: int, key: asyncssh.SSHKey) -> None:
        """Trust a key from now on.

        Raises:
            HostError: our file cannot be written.
        """
        name = host if port == DEFAULT_PORT else f"[{host}]:{port}"
        line = f"{name} {key.export_public_key('openssh').decode().strip()}\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = f"it cannot be written ({error.strerror})"
            raise HostError(str(self._path), reason, "make the folder writable") from error
        with _remembering:
            write_text(self._path, _text(self._path) + line, "the accepted key")


def _read(path: Path) -> asyncssh.SSHKnownHosts:
    try:
        return asyncssh.import_known_hosts(_text(path))
    except ValueError as error:
        reason = f"it is no file of known hosts ({error})"
        raise InputError(str(path), reason, "correct or remove the line") from error


def _text(path: Path) -> str:
    """Return the lines of a file of known hosts; none where there is no file."""
    try:
        text = read_text(path)
    except InputError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        return ""
    return text if text.endswith("\n") or not text else f"{text}\n"
