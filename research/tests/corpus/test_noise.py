"""Noise floors by hand: repeats, and the steps in which values were printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctm_research.corpus import Measurements, noise_floors
from ctm_research.corpus.noise import (
    measurement_noise,
    repeat_differences,
    rounding_deviations,
)
from ctm_research.corpus.spreads import statistic_spreads
from research.tests.corpus.small_corpus import small_corpus
from research.tests.data_folder import write_table


def test_another_statistic_is_told_over_the_one_that_is_taken(tmp_path: Path) -> None:
    rows = [{"min_ms": 10, "avg_ms": 10 + n, "other": ""} for n in range(11)]
    write_table(tmp_path / "ncnn/latencies.csv", *rows)

    (spread,) = statistic_spreads(tmp_path)

    assert (spread.source, spread.taken, spread.other, spread.runs) == (
        *("ncnn", "min_ms", "avg_ms"),
        11,
    )
    assert (spread.median_percent, spread.worst_percent) == pytest.approx((50.0, 90.0))


def measurements(latency_ms: list[float], graph: list[int], source: list[int]) -> Measurements:
    count = len(latency_ms)
    return Measurements(
        graph=np.array(graph, np.int32),
        target=np.array(source, np.int32),
        source=np.array(source, np.int8),
        statistic=np.zeros(count, np.int8),
        provenance=np.zeros(count, np.int32),
        latency_ms=np.array(latency_ms),
        noise=np.zeros(count, np.float32),
    )


def test_repeats_are_the_same_graph_target_and_statistic() -> None:
    m = measurements([1.0, 2.0, 4.0, 3.0, 8.0], [0, 0, 0, 1, 2], [0] * 5)
    other_statistic = replace(m, statistic=np.array([0, 0, 1, 0, 0], np.int8))
    other_target = replace(m, target=np.array([0, 1, 0, 0, 0], np.int32))
    rows = np.arange(5)

    np.testing.assert_allclose(repeat_differences(m, rows), np.log([2.0, 2.0]))
    np.testing.assert_allclose(repeat_differences(other_statistic, rows), np.log([2.0]))
    np.testing.assert_allclose(repeat_differences(other_target, rows), np.log([4.0]))
    assert len(repeat_differences(m, rows[3:])) == 0
    assert len(repeat_differences(m, rows[:0])) == 0


def test_values_in_whole_milliseconds_deviate_by_the_root_of_a_twelfth() -> None:
    whole = [float(n) for n in range(10, 20)]
    m = measurements([*whole, *(n + 0.123457 for n in whole)], [*range(20)], [0] * 10 + [1] * 10)

    deviations = rounding_deviations(m)

    np.testing.assert_allclose(deviations[:10], 1 / np.sqrt(12) / np.array(whole))
    assert deviations[10:].tolist() == [0.0] * 10


@pytest.mark.parametrize(("step", "decimals"), [(0.01, 2), (0.5, 1), (0.001, 3)])
def test_the_step_is_the_largest_that_all_values_share(step: float, decimals: int) -> None:
    values = [round(3 + n * step, decimals) for n in range(11)]
    stored = np.array(values, np.float32).astype(np.float64).tolist()

    for latency_ms in (values, stored):
        deviations = rounding_deviations(measurements(latency_ms, [*range(11)], [0] * 11))
        assert deviations[0] == pytest.approx(step / np.sqrt(12) / 3, rel=1e-6)


def test_few_values_tell_no_step() -> None:
    assert rounding_deviations(measurements([1.0] * 9, [*range(9)], [0] * 9)).max() == 0


def test_the_deviation_of_repeats_is_found_again() -> None:
    generator = np.random.default_rng(5)
    graphs = np.repeat(np.arange(2000), 2)
    true_ms = np.exp(generator.uniform(0, 3, 2000))[graphs]
    latency_ms = true_ms * np.exp(0.05 * generator.standard_normal(4000))
    once = np.exp(generator.uniform(0, 3, 50))
    m = measurements(
        [*latency_ms.tolist(), *once.tolist()],
        [*graphs.tolist(), *range(5000, 5050)],
        [0] * 4000 + [1] * 50,
    )

    noise = measurement_noise(m, 2)

    assert noise[0] == pytest.approx(0.05, rel=0.06)
    assert set(noise.tolist()) == {noise[0]}  # a source without repeats has that of the others


def test_without_any_repeat_rounding_alone_is_left() -> None:
    m = measurements([float(n) for n in range(10, 20)], [*range(10)], [0] * 10)

    np.testing.assert_allclose(measurement_noise(m, 1), rounding_deviations(m), rtol=1e-6)


def test_each_source_has_a_floor_or_says_that_it_has_none() -> None:
    floors = {floor.source: floor for floor in noise_floors(small_corpus())}

    assert set(floors) == set(small_corpus().sources)
    assert floors["ncnn"].pairs == 2  # two boards with the same chip, two networks
    assert np.isnan(floors["ncnn"].deviation)
