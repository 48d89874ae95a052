from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.units import LatencyUnit, format_bytes, format_count, significant


@pytest.mark.parametrize(
    ("unit", "value"), [(LatencyUnit.MS, 4.0), (LatencyUnit.US, 4000.0), (LatencyUnit.FPS, 2000.0)]
)
def test_a_latency_of_4_ms_for_8_samples(unit: LatencyUnit, value: float) -> None:
    assert unit.from_ms(4.0, batch=8) == value


def test_no_time_is_endlessly_fast() -> None:
    assert LatencyUnit.FPS.from_ms(0.0) == math.inf


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0001234, "0.000123"),
        (0.9996, "1"),
        (1.005, "1"),
        (12.345, "12.3"),
        (999.4, "999"),
        (1234, "1230"),
        (-4.0912, "-4.09"),
        (math.inf, "∞"),
        (-math.inf, "-∞"),
        (math.nan, "nan"),
    ],
)
def test_three_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (999, "999"),
        (999.6, "1 k"),
        (25_557_032, "25.6 M"),
        (999_600_000, "1 G"),
        (4_089_184_256, "4.09 G"),
        (1.5e15, "1500 T"),
        (-2_000, "-2 k"),
        (math.inf, "∞"),
    ],
)
def test_counts(value: float, text: str) -> None:
    assert format_count(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 B"), (12, "12 B"), (97_490_000, "97.5 MB"), (1e12, "1 TB")]
)
def test_bytes(value: float, text: str) -> None:
    assert format_bytes(value) == text


# Above 2**53 a float's own decimal digits are not round any more.
@given(st.floats(min_value=1e-200, max_value=9e15), st.integers(1, 9))
def test_a_written_number_is_within_half_a_unit_of_its_last_digit(
    value: float, digits: int
) -> None:
    text = significant(value, digits)
    assert float(text) == pytest.approx(value, rel=0.5001 * 10 ** (1 - digits))
    assert "e" not in text
    assert len(text.replace(".", "").strip("0")) <= digits


@given(st.floats(min_value=1e-3, max_value=9.99e14))
def test_a_count_never_reads_1000(value: float) -> None:
    mantissa, _, prefix = format_count(value).partition(" ")
    scale = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[prefix]
    assert float(mantissa) < 1000
    assert float(mantissa) * scale == pytest.approx(value, rel=0.0051)
