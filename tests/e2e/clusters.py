"""A Dask cluster of real processes on the loopback interface, over TLS."""

from __future__ import annotations

import datetime as dt
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ROOT = Path(__file__).resolve().parents[2]

WORKER = """
import sys
from distributed.cli.dask_worker import main
{}
sys.exit(main(sys.argv[1:], standalone_mode=False))
"""


class TlsCluster:
    """A scheduler and its workers.

    Args:
        folder: for certificates and logs.

    Attributes:
        scheduler: its process.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cert, self.key = certificate(folder)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.address = f"tls://127.0.0.1:{self.port}"
        self._processes: list[subprocess.Popen[bytes]] = []
        self.start_scheduler()

    def start_scheduler(self) -> None:
        """Start the scheduler, again on its port, and return once it listens."""
        command = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
        self.scheduler = self._start("scheduler", *command, "--port", str(self.port))
        while True:
            with suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            time.sleep(0.05)

    def options(self) -> list[str]:
        """Return the options by which ``ctm`` reaches it."""
        certificates = ["--cluster-ca", str(self.cert), "--cluster-cert", str(self.cert)]
        return ["--cluster", self.address, *certificates, "--cluster-key", str(self.key)]

    def worker(
        self, change: str = "", host: Sequence[str] = ("--host", "127.0.0.1")
    ) -> subprocess.Popen[bytes]:
        """Start a worker of one thread, and return it once it is registered.

        Args:
            change: Python that it runs first.
            host: options of where it listens.
        """
        name = f"worker{len(self._processes)}"
        started = self._start(
            *(name, "-c", WORKER.format(change), self.address),
            *("--nthreads", "1", "--no-nanny", *host),
        )
        log = self.folder / f"{name}.log"
        while "Registered to" not in log.read_text(encoding="utf-8"):
            assert started.poll() is None, log.read_text(encoding="utf-8")
            time.sleep(0.05)
        return started

    def _start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        tls = ["--tls-ca-file", self.cert, "--tls-cert", self.cert, "--tls-key", self.key]
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, *command, *map(str, tls), "--no-dashboard"],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
                stdout=log,
                stderr=log,
            )
        self._processes.append(process)
        return process

    def stop(self) -> None:
        """End all processes."""
        for process in reversed(self._processes):
            process.kill()
            process.wait()


def certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate that vouches for itself, and its key; return the two files."""
    cert, private = folder / "cert.pem", folder / "key.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "cluster")])
    now, day = dt.datetime.now(dt.UTC), dt.timedelta(days=1)
    content = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert.write_bytes(content.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return cert, private
