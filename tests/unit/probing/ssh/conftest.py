from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from predictor.probing.ssh.host_keys import KnownHosts
from predictor.probing.ssh.target import SshTarget
from tests.support.ssh_server import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("sshd"))
    yield running
    running.stop()


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """The folder that stands for the board's disk."""
    return tmp_path / "board" / "probe"


@pytest.fixture
def target(server: Server, board: Path) -> SshTarget:
    return target_of(server, board)


@pytest.fixture
def known(server: Server, tmp_path: Path) -> KnownHosts:
    own = tmp_path / "known_hosts"
    own.write_text(server.known_line(), encoding="utf-8")
    return KnownHosts(own, read_only=())


def target_of(server: Server, board: Path) -> SshTarget:
    return SshTarget(
        host="127.0.0.1",
        user=server.user,
        port=server.port,
        keys=(server.client_key,),
        python=sys.executable,
        folder=str(board),
        timeout_s=10.0,
        use_ssh_config=False,
    )


@pytest.fixture(autouse=True)
def no_remains(board: Path) -> Iterator[None]:
    yield
    shutil.rmtree(board.parent, ignore_errors=True)
