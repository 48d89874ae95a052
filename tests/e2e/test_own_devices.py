"""Devices of the user's own on the command line: real processes on a real store."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device
from predictor.devices.schema import DeviceFile
from predictor.services.history.history import open_history

Run = Callable[..., CompletedProcess[str]]

BOARD = Device(
    id="my-board",
    name="My Board",
    vendor="Acme",
    family=Family.CPU,
    metrics={"fp32_tflops": 0.1, "dram_bw_gbps": 10.0, "core_count": 4.0, "dram_gb": 4.0},
    configurations=(Configuration("onnxruntime"),),
)


@pytest.fixture
def stored_board(own_store: Path) -> Path:
    with open_history(own_store) as history:
        history.devices.save(DeviceFile(BOARD))
    return own_store


def test_own_devices_are_found_by_name_and_listed(ctm_process: Run, stored_board: Path) -> None:
    shown = json.loads(ctm_process("devices", "show", "My Board", "--json").stdout)
    listed = json.loads(ctm_process("devices", "--json").stdout)["devices"]

    assert shown["id"] == "my-board"
    assert shown["metrics"]["fp32_tflops"] == 0.1
    assert "my-board" in [entry["id"] for entry in listed]


def test_predict_takes_own_devices_by_name_and_all_means_the_shipped(
    ctm: Run, stored_board: Path, mobilenet: Path
) -> None:
    one = json.loads(ctm("predict", mobilenet, "--device", "my-board", "--json").stdout)
    everything = ctm("predict", mobilenet, "--all", "--json")

    (prediction,) = one["predictions"]
    assert prediction["device"] == "my-board"
    assert prediction["latency_ms"] > 0
    assert everything.returncode == 0
    assert "my-board" not in everything.stdout


def test_a_store_that_cannot_be_read_leaves_shipped_devices(ctm: Run, own_store: Path) -> None:
    own_store.parent.mkdir(parents=True, exist_ok=True)
    own_store.write_text("not a store, but text that is long enough to be one, " * 10)

    shown = ctm("devices", "show", "tesla t4")
    listed = ctm("devices")
    unknown = ctm("devices", "show", "my-board")

    assert shown.returncode == 0
    assert listed.returncode == 0
    assert "tesla-t4" in listed.stdout
    assert f"Your own devices are left out: {own_store}" in listed.stderr
    assert unknown.returncode in {2, 3}
    assert str(own_store) in unknown.stderr
    assert "Traceback" not in unknown.stderr


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"[" * 100_000,
        b" " * 1_000_001,
        b'{"schema": "ctm-hcv/1", "id": "../x"}',
        b'{"schema": "ctm-hcv/2"}',
        b'{"Device": "x", "Num_Sm": NaN, "Mem_Bw": 1}',
        b'{"Device": "x", "Num_Sm": "many", "Mem_Bw": 1}',
    ],
)
def test_a_hostile_device_file_is_one_sentence(ctm: Run, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "hostile.json"
    path.write_bytes(content)

    done = ctm("devices", "check", path)

    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert str(path) in done.stderr
