"""Rows of many models by the workers of a Dask cluster: each reads and predicts files.

Nothing is sent but to the scheduler that the user names, over TLS: what the predictions need, and
of each model its path or, where a worker does not see that very file, its content.
"""

from __future__ import annotations

import logging
import os
import pickle
import ssl
import time
import uuid
import zlib
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from predictor import __version__
from predictor.core.errors import HostError, InputError
from predictor.core.files import read_bytes
from predictor.core.libraries import settle_libraries
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.prediction.engines import open_engine
from predictor.services.rows.request import Answer, ModelRows, RowsRequest, read, rows_of

if TYPE_CHECKING:
    from distributed import Client, Future

_SCHEME: Final = "tls://"
_EVERYWHERE: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  # what is refused
_TIMEOUT_S: Final = 10.0  # of connecting
_LONGEST_WAIT_S: Final = 60.0  # for a worker, where none is left
_POLL_S: Final = 2.0
_AHEAD: Final = 3  # files that wait for a thread of the workers
_RETRIES: Final = 2  # where a worker fails; one that dies is another matter, and Dask's own
_LARGEST_SENT: Final = 512 * 2**20


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster, and the files by which both sides prove who they are.

    Attributes:
        address: ``tls://host:port`` of its scheduler.
        ca: certificate of the authority; None for that of Dask's configuration.
        cert: certificate of this side; as ``ca``.
        key: of that certificate; as ``ca``.

    Raises:
        InputError: the address is not of TLS.
    """

    address: str
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        if not self.address.startswith(_SCHEME):
            reason = "models would be sent to it in the clear, unlike over TLS"
            raise InputError(f"--cluster {self.address}", reason, "give tls://host:port")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file as it is sent: path, size and time of change, and the content where that is needed."""

    path: str
    size: int
    modified_ns: int
    content: bytes | None = None


def rows_by_cluster(
    cluster: Cluster, request: RowsRequest, paths: Sequence[str]
) -> Generator[tuple[str, Answer]]:
    """Yield each file's rows as they come, or why it has none.

    Dask gives the files of a worker that dies to others.

    Args:
        cluster: that has workers with this very version of the program.
        request: of every file.
        paths: of the model files.

    Raises:
        InputError: a certificate is wrong, a worker has another version, or a worker or the
            scheduler listens on all interfaces.
        HostError: ``distributed`` is not installed, the scheduler cannot be reached or is lost, or
            no worker is left.
    """
    request = replace(request, version=program_version(request.engine))
    with _connected(cluster) as client:
        try:
            _check_workers(client, cluster, request)
            yield from _Queue(client, cluster, request).run(paths)
        except (OSError, CancelledError) as error:
            reason = f"the connection to the scheduler is lost ({_short(error)})"
            raise HostError(
                f"--cluster {cluster.address}", reason, "start it, then go on"
            ) from error


def program_version(engine: str) -> str:
    """Version of the program and of its engine, which each worker must have."""
    settle_libraries()
    return f"{__version__} ({open_engine(engine).name})"


_idle: SimpleQueue[IngestionWorker] = SimpleQueue()
_predicting = Lock()  # threads of one worker gain nothing from predicting at once


def file_rows(request: RowsRequest, file: ModelFile, name: str) -> Answer | None:
    """Read and predict one file; runs in a worker.

    Args:
        request: of every file.
        file: the file.
        name: of it in its rows.

    Returns:
        Its rows, their text compressed; why it cannot be read; None where this worker does not see
        the file.

    Raises:
        InputError: this is another version of the program.
    """
    version = program_version(request.engine)
    if version != request.version:
        raise _other_version("a worker", version, request.version)
    try:
        with _path_of(file) as path:
            return None if path is None else _predicted(request, path, name)
    except InputError as error:
        return error


@contextmanager
def _path_of(file: ModelFile) -> Iterator[str | None]:
    """Give the path of a file here; None where there is no such file or another one."""
    if file.content is None:
        yield file.path if _stated(file.path) == file else None
        return
    with TemporaryDirectory(prefix="ctm-") as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(file.content)
        yield str(path)


def _predicted(request: RowsRequest, path: str, name: str) -> ModelRows:
    try:
        reader = _idle.get_nowait()
    except Empty:
        reader = IngestionWorker()
    try:
        model = read(request, reader, path)
    finally:
        _idle.put(reader)
    with _predicting:
        rows = rows_of(request, name, model)
    # A fifth of the bytes: each crosses the scheduler, which encrypts it twice.
    return replace(rows, text=zlib.compress(rows.text, level=1))


def _stated(path: str) -> ModelFile | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - Path.stat raises the same
    except (OSError, ValueError):
        return None
    return ModelFile(path, status.st_size, status.st_mtime_ns)


@contextmanager
def _connected(cluster: Cluster) -> Iterator[Client]:
    """Give a client of the cluster; its files are given up at the end.

    Raises:
        InputError: a certificate is wrong.
        HostError: ``distributed`` is not installed, or the scheduler cannot be reached.
    """
    try:
        # Imported here: only clusters need it, and it takes half a second.
        from distributed import Client  # noqa: PLC0415
    except ImportError as error:
        action = "run pip install 'closertome[cluster]'"
        raise HostError("--cluster", "distributed is not installed", action) from error
    # What it would log is said in our own sentences.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(
            cluster.address,
            timeout=_TIMEOUT_S,
            security=_security(cluster),
            direct_to_workers=False,
        )
    except (OSError, ValueError, TypeError) as error:
        reason = f"no scheduler answers there over TLS ({_short(error)})"
        action = "check the address, the certificates, and that the scheduler runs"
        raise HostError(f"--cluster {cluster.address}", reason, action) from error
    try:
        yield client
    finally:
        client.close(timeout=_POLL_S)


def _security(cluster: Cluster) -> Any:
    """Return the certificates as Dask takes them; what is not named is of its configuration."""
    from distributed.security import Security  # noqa: PLC0415

    files = {
        "tls_ca_file": cluster.ca,
        "tls_client_cert": cluster.cert,
        "tls_client_key": cluster.key,
    }
    named = {name: str(path) for name, path in files.items() if path is not None}
    action = "name --cluster-ca, --cluster-cert and --cluster-key, or set them in Dask's files"
    try:
        security = Security(require_encryption=True, **named)
        context = security.get_connection_args("client")["ssl_context"]
    except (OSError, ssl.SSLError, ValueError) as error:
        reason = f"a certificate or its key cannot be read ({_short(error)})"
        raise InputError("--cluster", reason, action) from error
    if context is None:
        raise InputError("--cluster", "no certificates are named", action)
    return security


def _check_workers(client: Client, cluster: Cluster, request: RowsRequest) -> None:
    """Refuse workers that would predict otherwise than this program.

    Raises:
        InputError: a worker has another version or none, or one or the scheduler can be reached
            from all networks.
        HostError: there is no worker.
    """
    try:
        client.wait_for_workers(1, timeout=_LONGEST_WAIT_S)
    except TimeoutError as error:
        raise _no_worker(cluster) from error
    answers = client.run(program_version, request.engine, on_error="return")
    for address, answer in sorted(answers.items()):
        if isinstance(answer, BaseException):
            reason = f"it cannot run CloserToMe ({_short(answer)})"
            raise InputError(f"worker {address}", reason, "install this version there")
        if answer != request.version:
            raise _other_version(f"worker {address}", answer, request.version)
    _check_reach("the scheduler", client.run_on_scheduler(_addresses))
    for address, bound in sorted(client.run(_addresses).items()):
        _check_reach(f"worker {address}", bound)


def _addresses(dask_worker: Any = None, dask_scheduler: Any = None) -> list[str]:
    """Return the addresses on which this side of the cluster listens."""
    side = dask_worker or dask_scheduler
    return [str(listener.listen_address) for listener in side.listeners]


def _check_reach(side: str, addresses: Sequence[str]) -> None:
    """Refuse a side that listens on all interfaces, as Dask does where nothing is said.

    Raises:
        InputError: it does.
    """
    hosts = {urlsplit(address).hostname or "" for address in addresses}
    if hosts & _EVERYWHERE:
        reason = "it runs what it is sent, and listens on all interfaces"
        raise InputError(side, reason, "start it with --host and an address of the cluster")


def _other_version(worker: str, its: str, ours: str) -> InputError:
    return InputError(worker, f"it has CloserToMe {its}, this is {ours}", "install the same one")


def _no_worker(cluster: Cluster) -> HostError:
    reason = f"it has had no worker for {_LONGEST_WAIT_S:g} s"
    return HostError(f"--cluster {cluster.address}", reason, "start workers, then go on")


class _Queue:
    """Files on their way through the cluster, so many at once that no worker waits for one.

    Args:
        client: connected.
        cluster: that it is connected to.
        request: of every file.
    """

    def __init__(self, client: Client, cluster: Cluster, request: RowsRequest) -> None:
        self._client, self._cluster = client, cluster
        # A task and no scattered data, which would be lost with the workers that hold it.
        content, name = pickle.dumps(request), f"ctm-request-{uuid.uuid4().hex}"
        self._request = client.submit(pickle.loads, content, key=name)
        self._waiting: dict[Future[Answer | None], str] = {}  # and the path as it was given
        self._sends = False  # a worker did not see a file: others are sent at once
        self._last_worker_s = time.monotonic()

    def run(self, paths: Sequence[str]) -> Iterator[tuple[str, Answer]]:
        """Yield the answer of each file as it comes; see ``rows_by_cluster``."""
        left = iter(paths)
        while True:
            threads = sum(self._client.nthreads().values())
            for path in islice(left, max(1, _AHEAD * threads - len(self._waiting))):
                if (problem := self._submit(path)) is not None:
                    yield path, problem
            if not self._waiting:
                return
            for future in self._done(threads):
                path = self._waiting.pop(future)
                if (answer := self._answer(future, path)) is not None:
                    yield path, answer

    def _submit(self, path: str) -> InputError | None:
        """Send a file, or return why that cannot be."""
        # A worker runs in another folder.
        file = _stated(os.path.abspath(path))  # noqa: PTH100 - Path.absolute keeps ``..``
        if file is None:
            return InputError(path, "there is no such file", "check the path")
        try:
            content = read_bytes(path, _LARGEST_SENT) if self._sends else None
        except InputError as error:
            return error
        future = self._client.submit(
            file_rows,
            self._request,
            replace(file, content=content),
            path,
            key=f"ctm-{uuid.uuid4().hex}",  # one of a hash would be of the whole content
            retries=_RETRIES,
        )
        self._waiting[future] = path
        return None

    def _done(self, threads: int) -> list[Future[Answer | None]]:
        """Wait for a while; return the futures that have ended."""
        from distributed import wait  # noqa: PLC0415

        if threads:
            self._last_worker_s = time.monotonic()
        elif time.monotonic() - self._last_worker_s > _LONGEST_WAIT_S:
            raise _no_worker(self._cluster)
        try:
            return list(wait(list(self._waiting), _POLL_S, "FIRST_COMPLETED").done)
        except TimeoutError:
            return []

    def _answer(self, future: Future[Answer | None], path: str) -> Answer | None:
        """Return the answer of a file; None where it has to be sent."""
        error = future.exception() if future.status == "error" else None
        if isinstance(error, InputError):
            raise error
        if error is not None:
            reason = f"the workers that had it failed ({_short(error)})"
            return HostError(path, reason, "see their logs")
        answer: Answer | None = future.result()
        if answer is None:
            self._sends = True
            return self._submit(path)
        if isinstance(answer, ModelRows):
            return replace(answer, text=zlib.decompress(answer.text))
        return answer


def _short(error: BaseException) -> str:
    words = str(error).strip().split("\n", 1)[0]
    return words or type(error).__name__
