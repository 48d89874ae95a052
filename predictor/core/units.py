"""Units: conversion, and the program's one way of writing numbers for people."""

from __future__ import annotations

import math
from enum import StrEnum


class LatencyUnit(StrEnum):
    """Display unit of latencies; everything is stored in milliseconds."""

    MS = "ms"
    US = "µs"
    FPS = "FPS"

    def from_ms(self, latency_ms: float, batch: int = 1) -> float:
        """Convert a latency of one run over ``batch`` samples; FPS = batch / latency."""
        if self is LatencyUnit.MS:
            return latency_ms
        if self is LatencyUnit.US:
            return latency_ms * 1e3
        return batch * 1e3 / latency_ms if latency_ms > 0 else float("inf")


GIB = 2**30
"""Bytes of the gigabyte in which memory is sold and ``dram_gb`` is stated."""

_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def format_count(value: float) -> str:
    """Write a count with three significant digits and a decimal prefix: ``4.09 G``."""
    if not math.isfinite(value):
        return significant(value)
    for scale, prefix in _SCALES:
        # 0.9995 so that 999.6 M reads 1 G and never 1000 M.
        if abs(value) >= 0.9995 * scale:
            return f"{significant(value / scale)} {prefix}"
    return significant(value)


def format_bytes(value: float) -> str:
    """Write a number of bytes with a decimal prefix (1 GB is 1e9 bytes): ``97.5 MB``."""
    text = format_count(value)
    return f"{text}B" if text[-1] in "kMGT" else f"{text} B"


def significant(value: float, digits: int = 3) -> str:
    """Write ``value`` with ``digits`` significant digits, without an exponent."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "∞" if value > 0 else "-∞"
    # Rounded first: 9.996 has one digit more before the point after rounding than before.
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - int(f"{rounded:e}".split("e")[1]))
    text = f"{rounded:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
