"""A first start where something is missing: it works, or says one sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "samples" / "mobilenetv2-1.0-224.onnx"


def ctm(
    *words: str | Path, root: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command of a checkout."""
    return subprocess.run(
        [sys.executable, "-m", "predictor.cli", *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(root), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def latency_of(done: subprocess.CompletedProcess[str]) -> float:
    """Return the latency that a command printed."""
    return float(json.loads(done.stdout)["predictions"][0]["latency_ms"])


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_checkout_and_a_model_lie_in_folders_with_spaces_and_umlauts(tmp_path: Path) -> None:
    folder = tmp_path / "Prüfung mit Lücken"
    folder.mkdir()
    (folder / "Quelle öffnen").symlink_to(ROOT)
    shutil.copy(SAMPLE, folder / "größer 1.onnx")

    done = ctm(
        *("predict", folder / "größer 1.onnx", "--device", "rpi5", "--json"),
        root=folder / "Quelle öffnen",
        CTM_STORE=str(folder / "Ablage ä" / "store.db"),
    )

    assert done.returncode == 0, done.stderr
    assert latency_of(done) > 0


def test_without_a_network_it_predicts(tmp_path: Path) -> None:
    """A proxy that is not there would be the first thing that a request meets."""
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")

    done = ctm(
        *("predict", SAMPLE, "--device", "rpi5", "--json"),
        CTM_STORE=str(tmp_path / "s.db"),
        **proxies,
    )

    assert (done.returncode, latency_of(done) > 0) == (0, True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is /dev/full")
def test_a_full_disk_is_one_sentence_and_the_numbers_are_printed() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "predictor.cli", "predict", str(SAMPLE), "--device", "rpi5"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )

    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_store_that_cannot_be_made_is_one_sentence_and_the_numbers_are_printed(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("no folder")

    done = ctm(
        *("predict", SAMPLE, "--device", "rpi5", "--json"),
        CTM_STORE=str(tmp_path / "file" / "store.db"),
    )

    assert done.returncode == 3
    assert latency_of(done) > 0
    assert [line.startswith("ctm: ") for line in done.stderr.splitlines()].count(True) == 1
    assert "Traceback" not in done.stderr


def test_nothing_is_written_into_the_checkout(tmp_path: Path) -> None:
    """So a read-only one does; root, who writes everywhere, tests the same."""
    copy = tmp_path / "checkout"
    for name in ("predictor", "resources"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    before = files_of(copy)

    done = ctm(
        *("predict", SAMPLE, "--device", "rpi5", "--json"), root=copy, PYTHONDONTWRITEBYTECODE="1"
    )

    assert (done.returncode, latency_of(done) > 0) == (0, True)
    assert files_of(copy) == before


def files_of(folder: Path) -> dict[str, int]:
    """Return the files of a folder with the time of their last change."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}
