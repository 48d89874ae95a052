"""Reference networks built in a real child process."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from predictor.core.errors import CancelledError, HostError, InputError
from predictor.core.progress import CancelToken
from predictor.graph.ingest import ingest
from predictor.probing.networks.pool import load_pool
from predictor.probing.planning import PlannedProbe
from predictor.services.probing import build as probing_build
from predictor.services.probing.build import build_files
from predictor.services.probing.session_plan import PlannedNetwork

pytestmark = pytest.mark.fresh_children

SMALL = sorted(load_pool(), key=lambda network: network.macs + network.bytes_moved)[:2]


def job() -> list[PlannedNetwork]:
    return [PlannedNetwork.of(PlannedProbe(network, "small", 1.5)) for network in SMALL]


def test_each_network_is_built_as_it_was_planned(tmp_path: Path) -> None:
    files = build_files(job(), tmp_path / "new" / "folder")
    assert [file.name for file in files] == [network.name for network in SMALL]
    for file, network in zip(files, SMALL, strict=True):
        assert file.sha256 == hashlib.sha256(file.path.read_bytes()).hexdigest()
        assert ingest(file.path).graph.former_fingerprint == network.fingerprint == file.fingerprint
        assert file.expected_ms == 1.5


def test_what_is_wrong_comes_back_as_the_error_it_was(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="search space nowhere: there is no such space"):
        build_files([replace(job()[0], space="nowhere")], tmp_path)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(HostError, match="it cannot be written"):
        build_files(job(), tmp_path / "file" / "folder")


def test_a_child_that_dies_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dying = [sys.executable, "-c", "import sys; sys.exit('the last words')"]
    monkeypatch.setattr(probing_build, "child_command", lambda _: dying)
    with pytest.raises(HostError, match="exit code 1: the last words; try again"):
        build_files(job(), tmp_path)


def test_building_is_cancelled(tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        build_files(job(), tmp_path, cancel)
