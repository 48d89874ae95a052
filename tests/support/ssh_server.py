"""A real OpenSSH server on the loopback interface, with keys of its own in a temporary folder."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from getpass import getuser
from pathlib import Path

import asyncssh
import psutil

PROGRAM = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")


class Server:
    """An sshd that lets this user in with one key.

    Args:
        folder: for keys and settings; empty.
        limit_bytes: no file may grow larger in its sessions, as on a full disk.
    """

    def __init__(self, folder: Path, limit_bytes: int | None = None) -> None:
        assert PROGRAM is not None
        self.folder = folder
        self.user = getuser()
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self.client_key = folder / "client"
        client = asyncssh.generate_private_key("ssh-ed25519")
        client.write_private_key(self.client_key)
        client.write_public_key(folder / "authorized_keys")
        self.host_key.write_private_key(folder / "host")
        (folder / "host").chmod(0o600)
        self.port = free_port()
        settings = {
            "Port": self.port,
            "ListenAddress": "127.0.0.1",
            "HostKey": folder / "host",
            "AuthorizedKeysFile": folder / "authorized_keys",
            "PidFile": "none",
            "StrictModes": "no",
            "UsePAM": "no",
            "PasswordAuthentication": "no",
            "KbdInteractiveAuthentication": "no",
            "PermitRootLogin": "yes",
            "LogLevel": "ERROR",
            "PermitUserRC": "no",
            "SetEnv": f"HOME={folder}",  # nothing of this user's own files is read
        }
        text = "".join(f"{key} {value}\n" for key, value in settings.items())
        (folder / "sshd_config").write_text(text, encoding="utf-8")
        self._limit: Callable[[], None] | None = None
        if limit_bytes is not None:
            limits = (limit_bytes, limit_bytes)
            self._limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, and return when it answers."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # sshd of root will not start without it
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(PROGRAM), "-D", "-e", "-f", str(self.folder / "sshd_config")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=self._limit,  # noqa: PLW1509  # no other thread forks here
            )
        while True:
            assert self._process.poll() is None, (self.folder / "log").read_text()
            with (
                suppress(ConnectionRefusedError),
                socket.create_connection(("127.0.0.1", self.port)) as probe,
            ):
                assert probe.recv(4) == b"SSH-"
                return

    def cut(self) -> None:
        """Kill what serves the open connections, as if the link broke."""
        assert self._process is not None
        for child in psutil.Process(self._process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if child.name().startswith("sshd"):
                    child.send_signal(signal.SIGKILL)

    def stop(self) -> None:
        """End the server and its connections."""
        assert self._process is not None
        self.cut()
        self._process.kill()
        self._process.wait()

    def known_line(self, key: asyncssh.SSHKey | None = None) -> str:
        """Return the line of a file of known hosts."""
        shown = (key or self.host_key).export_public_key("openssh").decode().strip()
        return f"[127.0.0.1]:{self.port} {shown}\n"


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
