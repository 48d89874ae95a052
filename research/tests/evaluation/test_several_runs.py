"""What several runs at once bring: fits of drawn pairs, and the reading of published tables."""

from __future__ import annotations

import csv
import gzip
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctm_research.evaluation.throughput.check import MOST_ERROR, judged_class, shipped
from ctm_research.evaluation.throughput.forms import (
    columns_of,
    fitted,
    gains_of,
    left_out,
    predicted,
    quantile,
    scale_of,
    weights_of,
)
from ctm_research.evaluation.throughput.page import throughput_page
from ctm_research.evaluation.throughput.pairs import QUERIES, Pair, cells_of, mlperf_pairs
from ctm_research.evaluation.throughput.turns import turn_figures
from predictor.calibration.throughput import STEADY
from predictor.core.records import Precision

_PAIR = Pair(
    source="Offline",
    runtime="tensorrt",
    kind="gpu",
    device="it",
    silicon="it",
    network="net",
    graph=None,
    precision=Precision.INT8,
    latency_ms=2.0,
    per_s=500.0,
)


def drawn(devices: int, each: int = 12, seed: int = 1) -> list[Pair]:
    """Return pairs whose gain is e^0.2 x batches^1.5, off by 0.1 in ln."""
    random = np.random.default_rng(seed)
    pairs = []
    for device in range(devices):
        for _ in range(each):
            batch_gain = math.exp(random.uniform(0, 2))
            gain = math.exp(0.2 + 0.1 * random.standard_normal()) * batch_gain**1.5
            name = f"device-{device}"
            pairs.append(
                replace(_PAIR, device=name, silicon=name, batch_gain=batch_gain, per_s=500 * gain)
            )
    return pairs


def test_the_shares_of_drawn_pairs_are_recovered() -> None:
    pairs = drawn(8)
    columns = columns_of(pairs, "a constant and batches")
    shares = fitted(columns, gains_of(pairs), weights_of(pairs))
    assert shares == pytest.approx([0.2, 1.5], abs=0.05)


def test_an_odd_pair_does_not_move_the_shares() -> None:
    pairs = drawn(8)
    columns = columns_of(pairs, "a constant and batches")
    odd = gains_of(pairs)
    odd[3] += 5.0
    shares = fitted(columns, odd, weights_of(pairs))
    assert shares == pytest.approx([0.2, 1.5], abs=0.05)


def test_a_device_is_stated_by_the_others() -> None:
    pairs = drawn(6)
    fast = [replace(p, per_s=10 * p.per_s) if p.device == "device-0" else p for p in pairs]
    parts = np.array([pair.silicon for pair in pairs])
    columns = columns_of(fast, "a constant")
    stated = left_out(columns, gains_of(fast), weights_of(fast), parts)
    others = left_out(columns[12:], gains_of(fast)[12:], weights_of(fast)[12:], parts[12:])
    of_rest = fitted(columns[12:], gains_of(fast)[12:], weights_of(fast)[12:])
    assert stated[:12] == pytest.approx(predicted(columns[:12], of_rest))
    assert others.max() < math.log(10) + gains_of(pairs).max()


def test_eighty_percent_are_within_the_scale_and_devices_count_the_same() -> None:
    gains, stated = np.linspace(0, 1, 11), np.full(11, 0.5)
    scale = scale_of(gains, stated, np.ones(11))
    assert np.mean(np.abs(gains - stated) <= scale * (STEADY + stated) + 1e-12) == pytest.approx(
        9 / 11
    )
    assert quantile(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 8.0]), 0.5) == 3.0
    assert weights_of([_PAIR, _PAIR, replace(_PAIR, device="other")]).tolist() == [0.5, 0.5, 1.0]


def test_the_best_form_ships_unless_it_is_far_off() -> None:
    entry = judged_class(("tensorrt", "gpu"), drawn(6))
    assert entry["best"] == "a constant and batches"
    best = entry["forms"][entry["best"]]
    assert best["error"] < 0.12
    assert 0.7 <= best["inside"] <= 0.9
    figures = {
        "pairs": 72,
        "devices": 6,
        "classes": [entry],
        "too_few": [],
        "batches": [],
        "server": [],
        "turns": [],
    }
    (row,) = shipped(figures)["classes"]
    assert row["batches"] == pytest.approx(1.5, abs=0.05)
    assert row["chips"] == 6
    assert "| tensorrt | gpu | Offline | 6 |" in throughput_page(figures, "Written by hand.")
    best["error"] = MOST_ERROR + 0.01
    assert shipped(figures)["classes"] == []
    assert f"no: over {MOST_ERROR:.0%}" in throughput_page(figures, "Written by hand.")


def test_few_systems_are_not_judged() -> None:
    entry = judged_class(("tensorrt", "gpu"), drawn(3))
    assert entry["systems"] == 3
    assert entry["forms"] == {}


def table(folder: Path) -> None:
    """Write a table of one system: two runs one by one, the whole server, and queries of 8."""
    common = {
        "source": "a@1:log", "device": "34127abc9663",
        "unit": "gpu", "runtime": "tensorrt", "runtime_version": "8", "provider_or_delegate": "",
        "precision": "int8", "threads": "", "model": "resnet50_v1.5", "input_shape": "",
        "streams_or_instances": "1", "note": "", "system_id": "s", "valid": "VALID",
        "accelerators": "2",
    }  # fmt: skip
    rows = [
        {"scenario": "SingleStream", "batch": "1", "metric": "latency_median_ms", "value": "0.4"},
        {"scenario": "SingleStream", "batch": "1", "metric": "latency_median_ms", "value": "0.6"},
        {"scenario": "Offline", "batch": "", "metric": "throughput_ips", "value": "60000"},
        {"scenario": "MultiStream", "batch": "8", "metric": "latency_median_ms", "value": "1.0"},
    ]
    folder.mkdir(parents=True)
    with gzip.open(folder / "latencies.csv.gz", "wt", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*common, "scenario", "batch", "metric", "value"])
        writer.writeheader()
        writer.writerows({**common, **row} for row in rows)


def test_rates_of_mlperf_are_of_one_accelerator(tmp_path: Path) -> None:
    table(tmp_path / "published" / "mlperf")
    cells = list(cells_of(tmp_path, "mlperf"))
    assert [cell.sample.device_id for cell in cells] == 4 * ["h100-sxm"]
    offline, queries = mlperf_pairs(cells)
    assert offline.latency_ms == pytest.approx(0.5)
    assert offline.per_s == 30_000
    assert offline.gain == pytest.approx(15)
    assert queries.source == QUERIES
    assert queries.gain == pytest.approx(4)


def test_tasks_are_held_against_the_cores(tmp_path: Path) -> None:
    (tmp_path / "harvest").mkdir()
    rows = [
        ("1", "0.08"),
        ("2", "0.04"),
        ("4", "0.025"),
        ("8", "0.02"),
        ("1", "0.1"),
        ("4", "0.05"),
    ]
    with gzip.open(tmp_path / "harvest" / "x86_small_tables.csv.gz", "wt") as file:
        file.write("device,model,precision,metric,value,note\n")
        for tasks, value in rows:
            file.write(f"X,net,fp32,rtf,{value},C++; with {tasks} concurrent tasks; 4core\n")
        file.write("X,net,fp32,rtf,1,python; with 4 concurrent tasks; 4core\n")
    whole, more, half = turn_figures(tmp_path)
    assert (whole["tasks"], whole["rows"]) == ("all cores", 2)
    assert (whole["low"], whole["high"]) == pytest.approx((0.5, 0.8))
    assert (half["tasks"], half["median"]) == ("up to half of the cores", pytest.approx(1.0))
    assert (more["tasks"], more["median"]) == ("more than cores", pytest.approx(1.0))
