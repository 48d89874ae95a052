"""``ctm predict --throughput`` as a process: text and JSON."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from predictor.core.resources import resources_dir

Run = Callable[..., subprocess.CompletedProcess[str]]
_MODEL = resources_dir() / "samples" / "mobilenetv2-1.0-224.onnx"
_OPTIONS = ("--device", "rtx3060", "--device", "rk3588-npu", "--throughput")


def test_rates_stand_under_the_latencies(ctm: Run) -> None:
    done = ctm("predict", _MODEL, *_OPTIONS)
    assert done.returncode == 0, done.stderr
    assert "One at a time" in done.stdout
    assert "One run after the other: nothing shows what several at once bring: Rockchip" in (
        done.stdout
    )


def test_the_document_has_a_rate_beside_each_latency(ctm: Run) -> None:
    card, npu = json.loads(ctm("predict", _MODEL, *_OPTIONS, "--json").stdout)["predictions"]
    rate = card["throughput"]
    assert rate["alone_per_s"] == pytest.approx(1000 / card["latency_ms"])
    assert rate["per_s"] == pytest.approx(rate["gain"] * rate["alone_per_s"])
    assert rate["low80_per_s"] < rate["per_s"] < rate["high80_per_s"]
    assert npu["throughput"]["gain"] == 1.0


def test_rows_have_no_rates(ctm: Run, tmp_path: object) -> None:
    done = ctm("predict", _MODEL, *_OPTIONS, "--rows", f"{tmp_path}/rows.csv")
    assert done.returncode == 2
    assert "--throughput: it does not go with --rows" in done.stderr


def test_energy_stands_beside_what_states_its_power(ctm: Run) -> None:
    options = ("--device", "rtx3060", "--device", "rk3588-npu", "--energy")
    text = ctm("predict", _MODEL, *options).stdout
    assert "mJ a run" in text
    assert "Of the 170 W that the card states" in text
    card, npu = json.loads(ctm("predict", _MODEL, *options, "--json").stdout)["predictions"]
    assert card["energy"]["mj"] == pytest.approx(card["energy"]["watts"] * card["latency_ms"])
    assert npu["energy"] is None
    assert "throughput" not in card
