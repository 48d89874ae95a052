"""``ctm predict --cluster``: a real Dask cluster over TLS, with a worker that is killed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.e2e.clusters import TlsCluster, certificate

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., "subprocess.Popen[str]"]

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="workers are killed")
FILES = 12
BLIND = """
from predictor.services.rows import cluster
cluster._stated = lambda path: None  # as on a machine that has not these files
"""
OLD = "import predictor; predictor.__version__ = '0.0.9'"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[TlsCluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    running = TlsCluster(folder)
    yield running
    running.stop()


@pytest.fixture
def folder(tmp_path: Path, fixed_model: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    for number in range(FILES):
        shutil.copy(fixed_model, folder / f"m{number}.onnx")
    (folder / "broken.onnx").write_bytes(b"\x08\x07no model")
    return folder


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@needs_signals
def test_a_killed_worker_loses_nothing_and_nothing_goes_elsewhere(
    cluster: TlsCluster, start_ctm: Start, ctm: Run, folder: Path, tmp_path: Path
) -> None:
    blind, out, here = cluster.worker(BLIND), tmp_path / "out.jsonl", tmp_path / "here.jsonl"
    arguments = ["predict", folder, "--device", "rpi5", "--device", "rtx3060", "--rows"]
    running = start_ctm(*arguments, out, *cluster.options())
    process = psutil.Process(running.pid)
    while not (out.exists() and len(rows(out)) > 4):
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)
    reached = [each for each in process.net_connections("inet") if each.status != "CLOSE_WAIT"]
    blind.kill()
    blind.wait()
    assert len(rows(out)) < 2 * FILES
    cluster.worker()
    _, err = running.communicate(timeout=200)

    assert {each.raddr.port for each in reached if each.raddr} == {cluster.port}
    assert not [each for each in reached if each.status == psutil.CONN_LISTEN]
    assert (running.returncode, err) == (2, "")  # of the broken file
    assert ctm(*arguments, here).returncode == 2
    every = sorted(out.read_bytes().splitlines())
    assert every == sorted(here.read_bytes().splitlines())
    assert len(every) == 2 * FILES + 1


@needs_signals
def test_a_killed_scheduler_costs_no_row_and_parquet_goes_on_behind_them(
    cluster: TlsCluster, start_ctm: Start, ctm: Run, folder: Path, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for number in range(FILES, 6 * FILES):
        shutil.copy(folder / "m0.onnx", folder / f"m{number}.onnx")
    out, here = tmp_path / "out.parquet", tmp_path / "here.jsonl"
    journal = tmp_path / "out.parquet.part"
    arguments = ["predict", folder, "--device", "rpi5", "--device", "rtx3060", "--rows"]
    worker = cluster.worker()
    running = start_ctm(*arguments, out, *cluster.options())
    while not (journal.exists() and len(rows(journal)) > 4):
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)
    cluster.scheduler.kill()
    _, err = running.communicate(timeout=200)
    worker.kill()
    assert running.returncode == 3
    assert "the connection to the scheduler is lost" in err
    assert err.count("\n") == 1
    before = {str(row["model"]) for row in rows(journal)}
    assert 2 < len(before) < 6 * FILES
    assert not out.exists()

    cluster.start_scheduler()
    cluster.worker()
    assert ctm(*arguments, out, *cluster.options(), "--resume").returncode == 2
    assert ctm(*arguments, here).returncode == 2  # of the broken file
    table = parquet.read_table(out)
    assert not journal.exists()
    expected = sorted(rows(here), key=lambda row: (row["model"], row["device"] or ""))
    read = sorted(table.to_pylist(), key=lambda row: (row["model"], row["device"] or ""))
    assert read == expected
    assert str(table.schema.field("latency_ms").type) == "double"
    assert str(table.schema.field("threads").type) == "int64"


@needs_signals
def test_a_worker_that_listens_on_all_interfaces_is_refused(
    cluster: TlsCluster, ctm: Run, folder: Path, tmp_path: Path
) -> None:
    cluster.worker(host=())  # as Dask starts it where nothing is said
    out = tmp_path / "out.jsonl"
    refused = ctm("predict", folder, "--device", "rpi5", "--rows", out, *cluster.options())
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert "it runs what it is sent, and listens on all interfaces" in refused.stderr
    assert out.read_bytes() == b""


@needs_signals
def test_a_worker_of_another_version_and_wrong_certificates_are_refused(
    cluster: TlsCluster, ctm: Run, folder: Path, tmp_path: Path
) -> None:
    cluster.worker(OLD)
    command = ["predict", folder, "--device", "rpi5", "--rows", tmp_path / "out.jsonl"]
    refused = ctm(*command, *cluster.options())
    assert refused.returncode == 2
    assert "it has CloserToMe 0.0.9 (closertome/" in refused.stderr
    assert refused.stderr.count("\n") == 1

    foreign = tmp_path / "foreign"
    foreign.mkdir()
    cert, key = certificate(foreign)
    named = ["--cluster", cluster.address]
    theirs = ["--cluster-ca", cert, "--cluster-cert", cert, "--cluster-key", key]
    for given, words, code in (
        ([*named, *theirs], "no scheduler answers there over TLS", 3),
        (named, "no certificates are named", 2),
        ([*named, *theirs, "--cluster-key", foreign / "none.pem"], "cannot be read", 2),
    ):
        wrong = ctm(*command, *given)
        assert (wrong.returncode, wrong.stderr.count("\n")) == (code, 1), wrong.stderr
        assert words in wrong.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--cluster", "tls://a:1"), "--cluster: it needs --rows"),
        (("--rows", "o.csv", "--cluster", "tcp://a:1"), "sent to it in the clear"),
        (("--rows", "o.csv", "--cluster", "a:1"), "give tls://host:port"),
        (("--rows", "o.csv", "--cluster", "tls://a:1", "--jobs", "2"), "--jobs: it does not go"),
        (("--rows", "o.csv", "--cluster-ca", "ca.pem"), "--cluster-ca: it needs --cluster"),
    ],
)
def test_wrong_input_is_one_sentence(
    ctm: Run, fixed_model: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = ctm("predict", fixed_model, "--device", "rpi5", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
