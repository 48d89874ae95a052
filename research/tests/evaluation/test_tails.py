"""The fit of tails, on runs drawn from tails that are known, and its reading of MLPerf's tables."""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from ctm_research.evaluation.tails import (
    Run,
    fit,
    read_runs,
    shipped,
    tails_check,
    tails_page,
)
from predictor.core.errors import InputError

CPU, GPU = ("tflite", "cpu"), ("tensorrt", "gpu")


def drawn(group: tuple[str, str], chips: int, mean: float, seed: int, each: int = 20) -> list[Run]:
    """Return runs of chips that differ by 0.5 and runs that differ by 0.3, in ln."""
    random = np.random.default_rng(seed)
    own = mean + 0.5 * random.standard_normal(chips)
    return [
        Run(group, f"{group[0]}-{chip}", (value, value + 1.0))
        for chip, centre in enumerate(own)
        for value in (centre + 0.3 * random.standard_normal(each)).tolist()
    ]


def test_a_group_of_many_chips_keeps_its_own_mean_and_deviation() -> None:
    runs = drawn(CPU, 200, -3.0, 1) + drawn(GPU, 200, -4.0, 2)
    tails = fit(runs, 0)
    assert tails[CPU].mean == pytest.approx(-3.0, abs=0.1)
    assert tails[GPU].mean == pytest.approx(-4.0, abs=0.1)
    assert tails[CPU].deviation == pytest.approx(math.hypot(0.5, 0.3), rel=0.1)
    assert fit(runs, 1)[CPU].mean == pytest.approx(-2.0, abs=0.1)


def test_a_group_of_few_chips_is_drawn_to_its_kind_and_of_two_is_none() -> None:
    others = [
        run for seed, name in enumerate("abcd") for run in drawn((name, "cpu"), 30, -3.0, seed)
    ]
    odd = drawn(("odd", "cpu"), 3, -1.0, 7)
    own = np.mean([run.spread[0] for run in odd])
    alone, few = fit(others + odd, 0)["odd", "cpu"].mean, drawn(("few", "cpu"), 2, -1.0, 8)
    assert -3.0 < alone < own
    assert ("few", "cpu") not in fit(others + few, 0)


def test_chips_count_the_same_whatever_their_runs() -> None:
    runs = [
        Run(CPU, chip, (value, value))
        for chip, value in zip("abc", (-4.0, -3.0, -2.0), strict=True)
    ]
    assert fit([*runs, *[runs[0]] * 99], 0)[CPU].mean == pytest.approx(-3.0)


def write_tables(folder: Path, runs: list[Run]) -> None:
    folder = folder / "published" / "mlperf"
    folder.mkdir(parents=True)
    with (folder / "devices.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["system_id", "chip"])
        table.writerows({(run.chip, f" {run.chip.upper()} ") for run in runs})
    with gzip.open(folder / "latencies.csv.gz", "wt", newline="") as file:
        table = csv.writer(file)
        table.writerow(
            ["source", "device", "unit", "runtime", "provider_or_delegate", "model", "system_id",
             "scenario", "valid", "p50_ms", "p90_ms", "p99_ms"]
        )  # fmt: skip
        for run in runs:
            tails = [2.0 * math.exp(math.exp(spread)) for spread in run.spread]
            common = ["log", run.chip, run.group[1], run.group[0], ""]
            table.writerow([*common, "net", run.chip, "SingleStream", "VALID", 2.0, *tails])
            table.writerow(
                [*common, "bert_large", run.chip, "SingleStream", "VALID", 2.0, 9.0, 9.0]
            )
            table.writerow([*common, "net", run.chip, "MultiStream", "VALID", 2.0, 9.0, 9.0])
            table.writerow([*common, "net", run.chip, "SingleStream", "INVALID", 2.0, 9.0, 9.0])


def test_runs_are_read_and_judged_on_chips_left_out(tmp_path: Path) -> None:
    runs = (
        drawn(CPU, 12, -3.0, 1, 5) + drawn(GPU, 12, -4.0, 2, 5) + drawn(("own", "npu"), 3, -4.0, 3)
    )
    write_tables(tmp_path, runs)
    read = read_runs(tmp_path)
    assert len(read) == len(runs)
    assert {run.chip for run in read} == {run.chip for run in runs}
    assert read[0].spread == pytest.approx(runs[0].spread)

    figures = tails_check(tmp_path)
    judged = figures["all"]["p90"]
    assert judged["left_out_chips"] == 24, "three chips leave none to check on"
    assert 0.6 < judged["inside"] < 0.95
    assert judged["error"] < judged["none_error"]
    assert [group["runtime"] for group in shipped(figures)["groups"]] == ["tensorrt", "tflite"]
    page = tails_page(figures, "Written now.")
    assert "| own | npu | 3 |" in page
    assert page.count("| - |") >= 2


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    write_tables(tmp_path, [])
    with pytest.raises(InputError, match="it has no single-stream run"):
        read_runs(tmp_path)
