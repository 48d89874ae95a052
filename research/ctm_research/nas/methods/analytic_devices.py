"""Analytic devices: the roofline with random strengths, devices to practise on.

A few train devices do not show what else there is: phones do not tell how a GPU is bound by
launches. So a network also learns from devices that are drawn, not measured. Each has its own
rates for every kind of kernel, a tilt of these rates with the kernel's size, a memory bandwidth and
a launch overhead; the time of a graph is the sum over its kernels. A share of the devices can be
bound by launches: there arithmetic hardly shows. Nothing of it comes from a measurement.

Reference:
    Williams, Waterman and Patterson, Roofline, CACM 52 (4), 2009.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.spaces.kernels import KernelTable
from predictor.graph.operators import OPERATOR_CODE

_RATE_SPREAD: Final = 0.5  # of the log-rate from kind to kind of kernel
_SIZE_SPREAD: Final = 0.4  # of the log-rate from size to size of one kind
_DEPTHWISE_PENALTY: Final = 20.0  # at most; depthwise kernels reuse little of what they load
_MEMORY_SHARE: Final = (0.02, 1.0)  # time of all traffic, in times of all arithmetic
_LAUNCH_SHARE: Final = (0.001, 30.0)  # time of all launches, likewise
_LAUNCH_SPREAD: Final = 0.3  # of the log-overhead from kind to kind
_BOUND_SHARE: Final = (0.001, 0.2)  # time of all arithmetic, in times of all launches
_BOUND_SPREAD: Final = 0.4  # at most; of the log-overhead from kind to kind, where launches bind
_OVERLAP: Final = (1.0, 4.0)  # exponent: 1 adds arithmetic and traffic, 4 nearly overlaps them

Floats = NDArray[np.float64]


def analytic_log_latency(
    kernels: KernelTable, devices: int, rng: np.random.Generator, launch_bound: float = 0.0
) -> NDArray[np.float32]:
    """Return ln(latency) of A graphs on random devices, up to a constant each, [A, devices].

    Args:
        kernels: of the graphs.
        devices: number of devices.
        rng: random numbers.
        launch_bound: share of the devices that are bound by launches, from 0 to 1.
    """
    drawer = _Drawer(kernels)
    times = [
        drawer.launch_bound(rng) if rng.random() < launch_bound else drawer.times(rng)
        for _ in range(devices)
    ]
    return np.log(kernels.total(np.column_stack(times))).astype(np.float32)


class _Drawer:
    """Draws the times of all kernels on a random device."""

    def __init__(self, kernels: KernelTable) -> None:
        self._kind, self._depthwise = _kinds(kernels)
        self._size = _sizes(kernels)
        self._kinds, self._sizes = int(self._kind.max()) + 1, int(self._size.max()) + 1
        traffic = sum(
            kernels.column(name) for name in ("bytes_read", "weight_bytes", "bytes_written")
        )
        # Shares of the mean graph: the devices' strengths are relative to it.
        self._macs = _share(kernels, kernels.column("macs").astype(np.float64))
        self._bytes = _share(kernels, np.asarray(traffic, np.float64))
        self._launch = _share(kernels, np.ones(len(self._kind)))

    def times(self, rng: np.random.Generator) -> Floats:
        """Return the time of each kernel, float64 [K], in units of the mean graph's arithmetic."""
        arithmetic = self._arithmetic(rng)
        bandwidth = np.exp(rng.normal(0, _SIZE_SPREAD, self._sizes))[self._size]
        memory = self._bytes * _log_uniform(rng, _MEMORY_SHARE) * bandwidth
        power = _log_uniform(rng, _OVERLAP) if rng.random() < 0.5 else 1.0
        # A p-norm: the sum at 1, close to the maximum of the roofline at 4.
        busy = (arithmetic**power + memory**power) ** (1 / power)
        overhead = _log_uniform(rng, _LAUNCH_SHARE) * self._launches(rng, _LAUNCH_SPREAD)
        hidden = rng.random() < 0.5  # launches run ahead of the device, or add to its time
        times: Floats = np.maximum(busy, overhead) if hidden else busy + overhead
        return times

    def launch_bound(self, rng: np.random.Generator) -> Floats:
        """Return the same, float64 [K], in units of the mean graph's launches."""
        arithmetic = _log_uniform(rng, _BOUND_SHARE) * self._arithmetic(rng)
        return self._launches(rng, rng.uniform(0, _BOUND_SPREAD)) + arithmetic

    def _arithmetic(self, rng: np.random.Generator) -> Floats:
        of_kind = rng.normal(0, _RATE_SPREAD, self._kinds)[self._kind]
        of_size = rng.normal(0, _SIZE_SPREAD, (self._kinds, self._sizes))[self._kind, self._size]
        penalty = self._depthwise * rng.uniform(0, np.log(_DEPTHWISE_PENALTY))
        times: Floats = self._macs * np.exp(of_kind + of_size + penalty)
        return times

    def _launches(self, rng: np.random.Generator, spread: float) -> Floats:
        times: Floats = self._launch * np.exp(rng.normal(0, spread, self._kinds))[self._kind]
        return times


def _kinds(kernels: KernelTable) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the kind of each kernel, int64 [K], and whether it is a depthwise convolution."""
    window, groups = kernels.column("window"), kernels.column("groups")
    convolution = kernels.column("op_code") == OPERATOR_CODE["Conv"]
    depthwise = convolution & (window > 1) & (groups > 1)
    rows = np.column_stack([kernels.column("op_code"), window * convolution, groups > 1, depthwise])
    _, kind = np.unique(rows, axis=0, return_inverse=True)
    return kind.ravel(), depthwise


def _sizes(kernels: KernelTable) -> NDArray[np.int64]:
    """Return the size class of each kernel, int64 [K]: the resolution of its output."""
    rows = kernels.column("rows")
    written = np.where(rows > 0, rows, kernels.column("bytes_written") / 128)
    step = np.round(np.log2(np.maximum(written, 1)) / 2).astype(np.int64)  # halves of an image side
    return np.unique(step, return_inverse=True)[1].ravel()


def _share(kernels: KernelTable, amount: Floats) -> Floats:
    """Return amounts as shares of the mean graph's."""
    return amount / max(float(kernels.total(amount).mean()), 1e-12)


def _log_uniform(rng: np.random.Generator, limits: tuple[float, float]) -> float:
    return float(np.exp(rng.uniform(*np.log(limits))))
