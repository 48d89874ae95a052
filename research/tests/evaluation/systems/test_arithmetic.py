"""Wave counts, Habitat's exponents, PM2Lat's tables and levels against numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ctm_research.evaluation.systems.arithmetic import pm2lat_parts, wave_scale
from ctm_research.evaluation.systems.kernel_tables import KernelTables, fitted_line
from ctm_research.evaluation.systems.kernels import fitted_factors, nearest
from ctm_research.evaluation.systems.operator_data import CLASSES, Card, Operators
from ctm_research.evaluation.systems.system import Levelled
from ctm_research.evaluation.systems.utilisation import waves_of
from predictor.cost.operator_kinds import KIND, KINDS
from predictor.cost.physics import TERMS
from research.tests.evaluation.judge.hand_made import Row, judged

V100 = Card(14.029e12, 900e9, 80, 32e9, 6e6)


def operators(*rows: tuple[str, list[float], list[float], float]) -> Operators:
    """Return operators of class, size, tile and kernel."""
    return Operators(
        np.array([CLASSES.index(each[0]) for each in rows]),
        np.array([each[1] for each in rows]),
        np.array([each[2] for each in rows]),
        np.array([each[3] for each in rows], np.int64),
        np.ones(len(rows)),
    )


def test_waves_of_a_product_that_neusight_timed_on_a_v100() -> None:
    # 1995 x 1298 by 1298 x 19994 in tiles of 64 x 128: the published grid is 157 x 32 blocks.
    product = operators(("linear", [1, 1995, 19994, 1298], [64, 128], 425))

    waves = waves_of(product, product.tile, V100)

    assert waves.waves[0] == 63  # 32 x 157 = 5024 blocks on 80 SMs
    # A wave is 80 x 2 x 64 x 128 x 1298 operations at the peak, as its intensity is far over 15.6.
    assert waves.wave_ms[0] == pytest.approx(1e3 * 80 * 2 * 64 * 128 * 1298 / 14.029e12)
    # The published time is 8.477899 ms: nine tenths of the peak, rounded up to tiles.
    assert 63 * waves.wave_ms[0] / 8.477899 == pytest.approx(0.901, abs=5e-4)


def test_waves_of_a_vector_operator_are_bound_by_memory() -> None:
    softmax = operators(("softmax", [1, 8192, 1024, 1], [1, 1024], 0))

    waves = waves_of(softmax, softmax.tile, V100)

    assert waves.waves[0] == 103  # 8192 rows on 80 SMs
    # Five operations an element and eight bytes: 0.625 a byte at 900 GB/s.
    assert waves.wave_ms[0] == pytest.approx(1e3 * 80 * 5 * 1024 / (0.625 * 900e9))


def test_a_kernel_that_computes_scales_with_the_peak_one_that_moves_with_the_bandwidth() -> None:
    computing, moving = np.zeros((2, 1, 4))
    computing[0] = [1, 100, 10, 0]
    moving[0] = [1, 0, 10, 0]
    origin, target = np.array([[4.0, 1.0]]), np.array([[8.0, 4.0]])

    # Ten MACs a byte are five times the target's ridge of 2: gamma is 0.5 / 5.
    assert wave_scale(computing, origin, target)[0, 0] == pytest.approx(0.25**0.1 * 0.5**0.9)
    assert wave_scale(moving, origin, target)[0, 0] == pytest.approx(0.25)


def test_kinds_count_by_their_share_of_the_origin() -> None:
    both = np.zeros((2, 4))
    both[0], both[1] = [1, 100, 10, 0], [1, 0, 25, 0]  # 25 seconds each at the origin
    origin, target = np.array([[4.0, 1.0]]), np.array([[8.0, 4.0]])

    expected = (0.25**0.1 * 0.5**0.9 + 0.25) / 2
    assert wave_scale(both, origin, target)[0, 0] == pytest.approx(expected)


def test_parts_of_pm2lat_have_products_by_kind_and_the_rest_as_one() -> None:
    terms = np.zeros((1, len(KINDS), len(TERMS)))
    terms[0, KIND["pointwise convolution"]] = [5, 1, 7, 2]
    terms[0, KIND["pooling"]] = [3, 0, 4, 2]

    parts = pm2lat_parts(terms)[0]

    assert parts[KIND["pointwise convolution"]] == 5
    assert parts[-2:].tolist() == [4, 4]  # bytes of what moves memory, starts of all
    assert parts.sum() == 5 + 1 + 4 + 4


def test_a_line_of_starts_operations_and_bytes_comes_back() -> None:
    columns = np.column_stack([np.ones(20), np.arange(20) * 1e6, np.arange(20)[::-1] ** 2 * 1e5])
    ms = columns @ [0.01, 2e-8, 3e-9]

    assert columns @ fitted_line(columns, ms) == pytest.approx(ms)


def test_a_product_has_the_throughput_of_the_kernel_of_its_nearest_sizes() -> None:
    timed = operators(
        ("linear", [1, 128, 128, 128], [64, 64], 1),
        ("linear", [1, 256, 128, 128], [64, 64], 1),
        ("linear", [1, 1024, 1024, 1024], [128, 128], 2),
        ("linear", [1, 2048, 1024, 1024], [128, 128], 2),
    )
    timed.ms[:] = timed.flops / [1e9, 1e9, 8e9, 8e9]  # kernel 2 is eight times as fast
    asked = operators(("linear", [1, 140, 128, 128], [np.nan, np.nan], 0))

    predicted = KernelTables({0: _table(timed)}, {}).predict(asked)

    assert predicted[0] == pytest.approx(asked.flops[0] / 1e9)


def _table(timed: Operators) -> object:
    whole = KernelTables.fit(
        Operators(
            *(
                np.concatenate([getattr(timed, name), getattr(_others(), name)])
                for name in ("klass", "size", "tile", "kernel", "ms")
            )
        )
    )
    return whole.throughput[0]


def _others() -> Operators:
    """Return operators of the other classes, which no test asks for."""
    names = [name for name in CLASSES if name != "linear" for _ in range(4)]
    return operators(*((name, [1, 8, 8, 1], [1, 8], 0) for name in names))


def test_the_level_of_measured_networks_is_their_median() -> None:
    corpus = judged([Row("a", n, 2.0 * (n + 1)) for n in range(4)])
    system = Levelled(corpus, np.log([1.0, 2.0, 3.0, 8.0]))

    predicted = system.predict(np.array([3]), {0: np.array([0, 1, 2])})

    assert np.exp(predicted.log_ms) == pytest.approx([16.0])  # twice, as the three are


def test_factors_of_kinds_are_those_that_made_the_measurements() -> None:
    parts = np.array([[1.0, 0.1], [0.2, 3.0], [2.0, 2.0], [5.0, 1.0]] * 10)
    latency_ms = parts @ [3.0, 1.0]

    factors = fitted_factors(parts, latency_ms, np.ones(2))

    assert factors == pytest.approx([3.0, 1.0], rel=0.05)


def test_the_nearest_of_a_pool_has_the_shape_of_the_measurements() -> None:
    parts = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    flat, steep = np.array([1.0, 1.0]), np.array([1.0, 9.0])

    assert nearest(parts, parts @ [20.0, 170.0], [flat, steep]) is steep
