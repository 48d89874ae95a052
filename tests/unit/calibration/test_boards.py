"""Watts of boards: by hand from the table."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from predictor.calibration.boards import OTHER_LOADS, RUN_WIDTH, board_watts, run_watts
from predictor.core.percentiles import Z80
from predictor.core.resources import resources_dir
from predictor.services.devices.catalogue import load_catalogue

CATALOGUE = load_catalogue()


def test_one_board_has_the_spread_of_other_loads() -> None:
    watts = board_watts(CATALOGUE.find("rpi5"))
    assert watts is not None
    assert watts.boards == 1
    usual, low, high = OTHER_LOADS
    assert watts[:3] == pytest.approx((9.7 * usual, 9.7 * low, 9.7 * high))


def test_boards_that_differ_widen_the_interval() -> None:
    watts = board_watts(CATALOGUE.find("intel-n100"))
    assert watts is not None
    usual, low, high = OTHER_LOADS
    spread = Z80 * float(np.std(np.log([22.1, 18.5]), ddof=1))
    assert watts.median == pytest.approx(usual * 20.3)
    assert watts.high == pytest.approx(
        watts.median * np.exp(np.hypot(np.log(high / usual), spread))
    )
    assert watts.low < watts.median * low / usual


def test_nothing_is_known_of_a_board_that_nobody_measured() -> None:
    assert board_watts(CATALOGUE.find("core-i5-12400")) is None


def test_each_row_is_of_a_processor_of_the_catalogue_and_draws_more_than_idle() -> None:
    with (resources_dir() / "power" / "boards.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert CATALOGUE.find(row["device"]).family.value in {"cpu", "mobile_cpu"}
        assert float(row["idle_w"]) < float(row["load_w"])
        assert row["source"].startswith("https://")


def test_a_box_has_the_median_of_its_measured_runs() -> None:
    watts = run_watts(CATALOGUE.find("cloud-ai-100-dm2"))
    assert watts is not None
    assert watts.boards == 1
    median = (14.47 + 14.96) / 2
    ends = median, median / np.exp(RUN_WIDTH), median * np.exp(RUN_WIDTH)
    assert watts[:3] == pytest.approx(ends)
    assert run_watts(CATALOGUE.find("rtx4090")) is None


def test_each_measured_run_is_of_a_device_without_another_rule() -> None:
    with (resources_dir() / "power" / "runs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert board_watts(CATALOGUE.find(row["device"])) is None
        assert float(row["watts"]) > 0
        assert row["source"].startswith("https://github.com/mlcommons/inference_results_v")
