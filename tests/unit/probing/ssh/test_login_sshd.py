from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from predictor.core.errors import HostError, InputError
from predictor.probing.ssh.connection import connect
from predictor.probing.ssh.host_keys import HostKey, KnownHosts
from predictor.probing.ssh.runner import SshRunner
from predictor.probing.ssh.target import SshTarget
from tests.support.ssh_scripts import FINISHED, STARTED, Script, plan
from tests.support.ssh_server import PROGRAM, Server, free_port

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs sshd (openssh-server)")

WORDS = "open sesame"


class Asked:
    """A user who is asked about a host key."""

    def __init__(self, answer: bool) -> None:
        self.keys: list[HostKey] = []
        self.threads: set[int] = set()
        self._answer = answer

    def __call__(self, key: HostKey) -> bool:
        self.keys.append(key)
        self.threads.add(threading.get_ident())
        return self._answer


def log_in(target: SshTarget, known: KnownHosts, asked: Asked | None = None) -> None:
    async def ask(key: HostKey) -> bool:
        return (asked or Asked(answer=False))(key)

    async def work() -> None:
        async with await connect(target, known, ask):
            pass

    asyncio.run(work())


def said_by_a_run(target: SshTarget, known: KnownHosts) -> str:
    with pytest.raises((InputError, HostError)) as caught:
        list(
            SshRunner(target=target, known_hosts=known, files=Script(STARTED, FINISHED)).run(plan())
        )
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def empty(tmp_path: Path) -> KnownHosts:
    return KnownHosts(tmp_path / "own" / "known_hosts", read_only=())


def test_a_known_host_is_not_asked_about(target: SshTarget, known: KnownHosts) -> None:
    asked = Asked(answer=False)

    log_in(target, known, asked)

    assert asked.keys == []


def test_a_new_host_is_shown_and_remembered_when_accepted(
    target: SshTarget, server: Server, tmp_path: Path
) -> None:
    known, asked = empty(tmp_path), Asked(answer=True)

    log_in(target, known, asked)
    log_in(target, known, asked)

    (key,) = asked.keys
    assert key.fingerprint == server.host_key.get_fingerprint()
    assert key.fingerprint.startswith("SHA256:")
    assert (key.host, key.port, key.algorithm) == ("127.0.0.1", server.port, "ssh-ed25519")
    assert (tmp_path / "own" / "known_hosts").read_text() == server.known_line()


def test_an_accepted_key_comes_after_those_of_other_hosts(tmp_path: Path) -> None:
    path, key = tmp_path / "known", asyncssh.generate_private_key("ssh-ed25519")
    other = f"other {key.export_public_key('openssh').decode().strip()}"
    path.write_text(other, encoding="utf-8")  # somebody's editor has left out the line feed

    KnownHosts(path, read_only=()).remember("board", 22, key)

    assert path.read_text().splitlines() == [other, other.replace("other ", "board ")]


def test_a_file_of_known_hosts_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    known, key = (
        KnownHosts(tmp_path / "pipe", read_only=()),
        asyncssh.generate_private_key("ssh-ed25519"),
    )
    for use in (lambda: known.match("a", "", 22), lambda: known.remember("a", 22, key)):
        with pytest.raises(InputError, match="it is a pipe"):
            use()


def test_the_fingerprint_is_what_ssh_keygen_shows(server: Server) -> None:
    program = shutil.which("ssh-keygen")
    assert program is not None
    server.host_key.write_public_key(server.folder / "host.pub")
    command = [program, "-lf", str(server.folder / "host.pub")]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert server.host_key.get_fingerprint() in shown


def test_the_question_comes_in_the_thread_that_iterates(target: SshTarget, tmp_path: Path) -> None:
    asked = Asked(answer=True)
    runner = SshRunner(
        target=target, known_hosts=empty(tmp_path), decide=asked, files=Script(STARTED, FINISHED)
    )

    assert len(list(runner.run(plan()))) == 2
    assert asked.threads == {threading.get_ident()}


def test_a_new_host_is_never_trusted_silently(
    target: SshTarget, server: Server, tmp_path: Path
) -> None:
    known = empty(tmp_path)
    sentence = said_by_a_run(target, known)

    assert server.host_key.get_fingerprint() in sentence
    assert "was not accepted" in sentence
    assert not (tmp_path / "own").exists()


def test_another_key_than_the_known_one_is_refused_without_a_question(
    target: SshTarget, server: Server, tmp_path: Path
) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519")
    path = tmp_path / "known"
    path.write_text(server.known_line(other), encoding="utf-8")
    asked = Asked(answer=True)

    with pytest.raises(InputError) as caught:
        log_in(target, KnownHosts(path, read_only=()), asked)

    assert other.get_fingerprint() in str(caught.value)
    assert server.host_key.get_fingerprint() in str(caught.value)
    assert asked.keys == []
    assert path.read_text() == server.known_line(other)


def test_a_revoked_key_is_refused(target: SshTarget, server: Server, tmp_path: Path) -> None:
    path = tmp_path / "known"
    path.write_text("@revoked " + server.known_line(), encoding="utf-8")

    with pytest.raises(InputError, match="revoked"):
        log_in(target, KnownHosts(path, read_only=()), Asked(answer=True))


def test_the_users_own_file_is_read_and_never_written(
    target: SshTarget, server: Server, tmp_path: Path
) -> None:
    users = tmp_path / "users"
    users.write_text(server.known_line(), encoding="utf-8")
    program = shutil.which("ssh-keygen")
    assert program is not None
    subprocess.run([program, "-q", "-H", "-f", str(users)], check=True, capture_output=True)
    hashed = users.read_text()
    assert hashed.startswith("|1|")

    log_in(target, KnownHosts(tmp_path / "own", read_only=(users,)))

    assert users.read_text() == hashed
    assert not (tmp_path / "own").exists()


def test_a_damaged_file_of_known_hosts(target: SshTarget, tmp_path: Path) -> None:
    path = tmp_path / "known"
    path.write_bytes(b"\xff\xfe\n")

    assert "line 1 is not text in UTF-8" in said_by_a_run(target, KnownHosts(path, read_only=()))


def test_a_file_of_known_hosts_that_cannot_be_written(target: SshTarget, tmp_path: Path) -> None:
    (tmp_path / "own").touch()

    with pytest.raises(InputError, match="there is no such file"):
        log_in(target, empty(tmp_path), Asked(answer=True))


def test_a_wrong_user(target: SshTarget, known: KnownHosts) -> None:
    sentence = said_by_a_run(replace(target, user="nobody-here"), known)

    assert "does not let nobody-here in with these keys" in sentence
    assert "authorized_keys" in sentence


def test_a_wrong_key(target: SshTarget, known: KnownHosts, tmp_path: Path) -> None:
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(tmp_path / "other")

    assert "does not let" in said_by_a_run(replace(target, keys=(tmp_path / "other",)), known)


def test_keys_that_cannot_be_read(target: SshTarget, known: KnownHosts, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no key", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")

    for name, said in (
        ("none", "there is no such file"),
        ("text", "a private key cannot be read"),
        ("pipe", "it is a pipe"),
    ):
        assert said in said_by_a_run(replace(target, keys=(tmp_path / name,)), known)


def test_a_key_with_a_passphrase(
    target: SshTarget, server: Server, known: KnownHosts, tmp_path: Path
) -> None:
    key = asyncssh.read_private_key(server.client_key)
    key.write_private_key(tmp_path / "locked", "pkcs8-pem", passphrase=WORDS)
    locked = replace(target, keys=(tmp_path / "locked",), passphrase=WORDS)

    log_in(locked, known)

    assert WORDS not in repr(locked)
    assert "and the given one is wrong" in said_by_a_run(
        replace(locked, passphrase=WORDS[1:]), known
    )
    said = said_by_a_run(replace(locked, passphrase=None), known)
    assert "locked is locked with a passphrase" in said
    assert "ssh-add" in said


def test_nothing_listens(target: SshTarget, known: KnownHosts) -> None:
    port = free_port()

    assert f"nothing listens on port {port}" in said_by_a_run(replace(target, port=port), known)


def test_no_such_host(
    target: SshTarget, known: KnownHosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    assert "no host has this name" in said_by_a_run(replace(target, host="no.where"), known)


@contextmanager
def listener(answer: bytes | None) -> Iterator[int]:
    """Something else on a port: it says nothing at all, or a few bytes and closes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    if answer is None:
                        held.append(connection)
                        continue
                    with connection:
                        connection.sendall(answer)

        held: list[socket.socket] = []
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
        for connection in held:
            connection.close()


def test_a_host_that_never_answers(target: SshTarget, known: KnownHosts) -> None:
    with listener(None) as port:
        silent = replace(target, port=port, timeout_s=0.3)

        assert "does not answer within 0.3 s" in said_by_a_run(silent, known)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_something_else_on_the_port(target: SshTarget, known: KnownHosts, answer: bytes) -> None:
    with listener(answer) as port:
        sentence = said_by_a_run(replace(target, port=port), known)

    assert "connection" in sentence
    assert "check the address" in sentence


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return folder


def test_a_host_of_the_users_own_settings(server: Server, known: KnownHosts, home: Path) -> None:
    (home / ".ssh" / "config").write_text(
        f"Host board\n HostName 127.0.0.1\n Port {server.port}\n User {server.user}\n"
        f" IdentityFile {server.client_key}\n",
        encoding="utf-8",
    )

    log_in(SshTarget(host="board"), known)


def test_a_key_in_the_agent(
    server: Server, known: KnownHosts, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, add = shutil.which("ssh-agent"), shutil.which("ssh-add")
    assert agent is not None
    assert add is not None
    socket_path = home / "agent"
    process = subprocess.Popen([agent, "-D", "-a", str(socket_path)], stdout=subprocess.DEVNULL)
    try:
        while not socket_path.exists():
            assert process.poll() is None
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket_path))
        server.client_key.chmod(0o600)
        subprocess.run([add, "-q", str(server.client_key)], check=True, env=os.environ)

        log_in(SshTarget(host="127.0.0.1", user=server.user, port=server.port), known)
    finally:
        process.kill()
        process.wait()
