"""Logging in on a board. Whatever goes wrong becomes one sentence."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import asyncssh

from predictor.core.errors import CtmError, InputError
from predictor.core.files import in_home, read_bytes
from predictor.probing.ssh.host_keys import DEFAULT_PORT, HostKey, KnownHosts
from predictor.probing.ssh.target import SshTarget

# A dead link is noticed after three of these.
_KEEP_ALIVE_S = 5
_KEEP_ALIVES = 3
_LARGEST_KEY = 2**20

Ask = Callable[[HostKey], Awaitable[bool]]


class LostError(Exception):
    """A connection that stood is gone, or cannot be had again just now; ``words`` say why."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


async def connect(
    target: SshTarget, known_hosts: KnownHosts, ask: Ask
) -> asyncssh.SSHClientConnection:
    """Log in.

    Args:
        target: where and as whom.
        known_hosts: whose keys are trusted.
        ask: asked about the key of a host that no file knows.

    Raises:
        InputError: address, user, key or host key are wrong.
        LostError: nothing answers at the address; the reason is in words.
    """
    # asyncssh asks for a verdict on the key at once, within the handshake, and a person takes
    # longer: note the key, ask, and log in again.
    client = _Client()
    try:
        return await _login(target, known_hosts, client)
    except asyncssh.HostKeyNotVerifiable as error:
        if client.offered is None:
            raise _distrusted(target, error) from error
    await _decide(target, known_hosts, client.offered, ask)
    try:
        return await _login(target, known_hosts, _Client())
    except asyncssh.HostKeyNotVerifiable as error:
        raise _distrusted(target, error) from error


class _Client(asyncssh.SSHClient):
    """Keeps the key that the host showed when no file trusts it."""

    def __init__(self) -> None:
        self.offered: tuple[str, str, int, asyncssh.SSHKey] | None = None

    def validate_host_public_key(
        self, host: str, addr: str, port: int, key: asyncssh.SSHKey
    ) -> bool:
        self.offered = (host, addr, port, key)
        return False


async def _decide(
    target: SshTarget,
    known_hosts: KnownHosts,
    offered: tuple[str, str, int, asyncssh.SSHKey],
    ask: Ask,
) -> None:
    host, address, port, key = offered
    trusted, _, _ = known_hosts.match(host, address, port)
    fingerprint = key.get_fingerprint()
    if trusted:
        expected = ", ".join(sorted({other.get_fingerprint() for other in trusted}))
        raise InputError(
            target.label,
            f"its host key {fingerprint} is not the known one ({expected}): this is another "
            "machine, a newly installed one, or somebody in between",
            "compare the key on the board, then remove the old line from the file of known hosts",
        )
    if not await ask(HostKey(host, port, key.get_algorithm(), fingerprint)):
        raise InputError(
            target.label,
            f"its host key {fingerprint} is not known and was not accepted",
            "compare it with the board's own (ssh-keygen -lf), then accept it",
        )
    known_hosts.remember(host, port, key)


async def _login(
    target: SshTarget, known_hosts: KnownHosts, client: _Client
) -> asyncssh.SSHClientConnection:
    options: dict[str, Any] = {
        "known_hosts": known_hosts.match,
        "client_factory": lambda: client,
        "preferred_auth": ("publickey",),
        "connect_timeout": target.timeout_s,
        "login_timeout": target.timeout_s,
        "keepalive_interval": _KEEP_ALIVE_S,
        "keepalive_count_max": _KEEP_ALIVES,
    }
    if target.user:
        options["username"] = target.user
    if target.port is not None:
        options["port"] = target.port
    if target.keys:
        keys = [in_home(path) for path in target.keys]
        for key in keys:
            # asyncssh reads what it is given to the end, and a pipe has none.
            read_bytes(key, _LARGEST_KEY, "name a private key that you can read")
        options["client_keys"] = list(map(str, keys))
        options["passphrase"] = target.passphrase
    if not target.use_ssh_config:
        # Left out, they would mean the user's ~/.ssh/config and agent.
        options |= {"config": None, "agent_path": None, "port": target.port or DEFAULT_PORT}
    try:
        return await asyncssh.connect(target.host, **options)
    except asyncssh.HostKeyNotVerifiable:
        raise
    except (asyncssh.Error, OSError, ValueError) as error:
        raise login_failure(target, error) from error


def login_failure(target: SshTarget, error: Exception) -> CtmError | LostError:
    """Translate an error of logging in."""
    if isinstance(error, asyncssh.PermissionDenied):
        user = target.user or "this user"
        return InputError(
            target.label,
            f"it does not let {user} in with these keys",
            "check the user name, and add your public key to authorized_keys there",
        )
    if isinstance(error, asyncssh.KeyImportError | asyncssh.KeyEncryptionError):
        return _key_failure(target, error)
    if isinstance(error, FileNotFoundError | PermissionError) and error.filename:
        reason = f"{error.filename} cannot be read ({error.strerror})"
        return InputError(target.label, reason, "name a private key that you can read")
    if isinstance(error, asyncssh.Error | OSError):
        return LostError(_lost_words(target, error))
    return _unknown_failure(target, error)


def _key_failure(target: SshTarget, error: Exception) -> InputError:
    """Translate an error of a private key; asyncssh states the kind in words only."""
    words = str(error).casefold()
    if not any(word in words for word in ("passphrase", "decrypt", "encrypted")):
        return InputError(target.label, f"a private key cannot be read ({error})", "check the key")
    files = ", ".join(str(path) for path in target.keys) or "the private key"
    reason = f"{files} is locked with a passphrase"
    if target.passphrase is not None:
        return InputError(target.label, f"{reason}, and the given one is wrong", "check it")
    return InputError(
        target.label,
        reason,
        "unlock it for the SSH agent (ssh-add FILE), and then leave the key file out here",
    )


def _lost_words(target: SshTarget, error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "no host has this name"
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens on port {target.port or DEFAULT_PORT}"
    if isinstance(error, TimeoutError | asyncio.TimeoutError | asyncssh.TimeoutError):
        return f"it does not answer within {target.timeout_s:g} s"
    if isinstance(error, asyncssh.ConnectionLost | ConnectionResetError):
        return "it closed the connection"
    words = getattr(error, "reason", "") or getattr(error, "strerror", "") or str(error)
    return f"the connection failed ({words})"


def _distrusted(target: SshTarget, error: asyncssh.HostKeyNotVerifiable) -> InputError:
    reason = f"its host key cannot be trusted ({error.reason})"
    return InputError(target.label, reason, "ask the owner of the board for its key")


def _unknown_failure(target: SshTarget, error: Exception) -> InputError:
    return InputError(target.label, f"logging in failed ({error})", "try ssh by hand")
