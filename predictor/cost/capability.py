"""Peaks of a target's configuration, which roofline and bound read: rates, memories, launches.

A fact that is not known is derived from others (:mod:`predictor.cost.rates`) or named as missing;
none is ever assumed. The reasons and sources of each figure are in
docs/decisions/0001-roofline-choices.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from predictor.core.errors import InputError
from predictor.core.metrics import RATE_METRIC, Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.core.runtimes import CPUS, UNKNOWN, runtime_of
from predictor.core.text import printable
from predictor.cost.rates.cores import core_kinds, thread_share
from predictor.cost.rates.facts import (
    MissingMetricError,
    bandwidth,
    derived_fp32_macs_per_s,
    fp32_macs_per_s,
    has_matrix_units,
    is_fp32_measured,
    is_streaming,
    missing,
    on_chip_bytes,
    stated_macs_per_s,
)
from predictor.cost.rates.runs import (
    ACTIVATION_BYTES,
    WEIGHT_BYTES,
    as_cast,
    runs_by_casts,
)
from predictor.presentation.wording import runs_text

NOT_SUPPORTED: Final = "not supported"
"""Begins the problem of a configuration that a device does not run."""


def check_supported(device: Device, configuration: Configuration) -> None:
    """Refuse a configuration that ``device`` cannot run.

    A precision is a matter of the hardware: one of the device's configurations must list it, or the
    runtime run it in FP32 between casts. A
    runtime must be listed or portable to the family; ``unknown``, asked for or listed, fits any.

    Raises:
        InputError: it cannot; the reason lists what it can, the best deployable first.
    """
    precision, runtimes = configuration.precision, (configuration.runtime, UNKNOWN)
    is_stated = any(stated.precision is precision for stated in device.configurations)
    if not is_stated and not runs_by_casts(device, configuration):
        raise not_supported(device, precision)
    is_stated = any(stated.runtime in runtimes for stated in device.configurations)
    if not is_stated and device.family not in runtime_of(configuration.runtime).portable:
        raise not_supported(device, configuration.runtime)


def not_supported(device: Device, name: str) -> InputError:
    """Return the error of a runtime or a precision that a device cannot run, or that is none."""
    runs = runs_text(device.configurations) or "nothing"
    return InputError(
        device.id,
        f"{NOT_SUPPORTED}: {printable(device.name)} does not run {printable(name)}; "
        f"it runs, best first: {runs}",
        "choose one of these or another device",
    )


# Microseconds for one operator, whatever the runtime.
_BY_FAMILY: dict[Family, float] = {
    # The floor of an empty timing on server GPUs (measurements of NeuSight, ASPLOS 2025).
    Family.GPU: 6.0,
    # No measured floor is at hand; commands take at least the path that they take on a GPU.
    Family.MOBILE_GPU: 6.0,
    # An empty operator of a graph executor on one thread: benchmarks/launch_overhead.py.
    Family.CPU: 0.2,
    Family.MOBILE_CPU: 0.2,
    # Their compilers turn a graph into one program: nothing is started operator by operator.
    Family.NPU: 0.0,
    Family.FPGA: 0.0,
    Family.ASIC: 0.0,
    # Generated code calls its kernels directly.
    Family.MCU: 0.0,
}


def launch_us(family: Family, runtime: str) -> float:
    """Return the overhead of starting one operator, in microseconds."""
    of_runtime = runtime_of(runtime).cpu_launch_us if family in CPUS else None
    return _BY_FAMILY[family] if of_runtime is None else of_runtime


_HALF_WIDTH = 2

# What is measured on a machine is the rate of a general matrix product. Kernels that are made for
# one operator can be nearer to the peak, so the bound takes the measured rate for this part of the
# highest one. The margin was chosen; where a measurement is under the bound still, that gives way.
_MEASURED_HEADROOM = 1 / 0.6
# Of a format over another one; the most of the catalogue is 60.4, of a B200's INT8 over FP32.
_MAX_OVER_STATED = 64.0
_MAX_LANES = 64.0  # FP32 multiply-accumulates a clock of a core; AVX-512 with two units has 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """Rates and memories of a target; NaN where a fact that only bound or fit needs is not known.

    Attributes:
        matrix_macs_per_s: rate of matrix products in the configuration's precision.
        vector_macs_per_s: rate of every other multiplication.
        integer_macs_per_s: rate of operators that multiply integers in any precision.
        bandwidth_bytes_per_s: peak bandwidth of the memory; of the host link where it streams.
        streams: the device has no memory beyond the chip: the rest comes from the host.
        launch_ms: overhead of starting one operator.
        weight_bytes: bytes of an element of a float weight in the run.
        activation_bytes: the same of a float activation.
        bound_float_macs_per_s: highest rate that the run may reach on float tensors.
        bound_half_macs_per_s: the same on tensors that the file keeps in half precision.
        bound_integer_macs_per_s: the same on operators that multiply integers.
        bound_float_bytes: fewest bytes of a float element that the run may use.
        on_chip_bytes: caches and on-chip memory of the whole device.
        dram_bytes: memory that the device can use.
    """

    matrix_macs_per_s: float
    vector_macs_per_s: float
    integer_macs_per_s: float
    bandwidth_bytes_per_s: float
    streams: bool
    launch_ms: float
    weight_bytes: int
    activation_bytes: int
    bound_float_macs_per_s: float
    bound_half_macs_per_s: float
    bound_integer_macs_per_s: float
    bound_float_bytes: int
    on_chip_bytes: float
    dram_bytes: float


def capability(target: Target) -> Capability:
    """Return the rates and memories that ``target`` can use.

    Raises:
        InputError: the device does not support the configuration, or a metric is missing.
    """
    stated, gap = stated_capability(target)
    if gap is not None:
        raise gap
    return stated


def stated_capability(target: Target) -> tuple[Capability, MissingMetricError | None]:
    """Return the rates and memories that the facts of ``target`` state, and the first that lacks.

    A rate that is not known is NaN: either alone still bounds a run. Where the share of the threads
    does not follow from the facts, the rates of all cores bound them.

    Raises:
        InputError: the device does not support the configuration.
    """
    device, configuration = target.device, target.configuration
    check_supported(device, configuration)
    configuration = as_cast(target).configuration
    gap: MissingMetricError | None = None
    try:
        share = thread_share(device, configuration.threads)
    except MissingMetricError as error:
        # Without its frames, which hold it: they and the arrays of callers would stay for long.
        share, gap = math.nan, error.with_traceback(None)
    peaks = _Peaks.of(device, 1.0 if math.isnan(share) else share)
    try:
        matrix = peaks.matrix(device, configuration.precision)
        vector = peaks.vector(device, configuration.precision, matrix)
    except MissingMetricError as error:
        matrix, vector, gap = math.nan, math.nan, gap or error.with_traceback(None)
    bytes_per_s = bandwidth(device)
    if math.isnan(bytes_per_s):
        gap = gap or missing(device, "dram_bw_gbps")
    runtime = runtime_of(configuration.runtime)
    may_halve = runtime.may_halve or configuration.precision is not Precision.FP32
    bound_float = peaks.highest_float(matrix, may_halve=may_halve)
    activation_bytes = ACTIVATION_BYTES[configuration.precision]
    of_threads = math.nan if math.isnan(share) else 1.0
    result = Capability(
        matrix_macs_per_s=matrix * of_threads,
        vector_macs_per_s=vector * of_threads,
        integer_macs_per_s=peaks.rates.get("int8", matrix) * of_threads,
        bandwidth_bytes_per_s=bytes_per_s,
        streams=is_streaming(device),
        launch_ms=launch_us(device.family, configuration.runtime) * 1e-3,
        weight_bytes=WEIGHT_BYTES[configuration.precision],
        activation_bytes=activation_bytes,
        bound_float_macs_per_s=bound_float,
        bound_half_macs_per_s=peaks.highest_float(matrix, may_halve=True),
        bound_integer_macs_per_s=peaks.highest_integer(bound_float),
        bound_float_bytes=min(activation_bytes, _HALF_WIDTH) if may_halve else activation_bytes,
        on_chip_bytes=on_chip_bytes(device),
        dram_bytes=math.nan if device.memory_bytes is None else device.memory_bytes,
    )
    return result, gap


@dataclass(frozen=True, slots=True)
class _Peaks:
    """Peaks of the threads in use.

    Attributes:
        rates: by number format, MACs a second; of those formats that have one.
        headroom: highest rate over the stated one, at least 1; for the bound only.
        conceivable: rate that no format exceeds; NaN where no fact bounds it.
    """

    rates: Mapping[str, float]
    headroom: float
    conceivable: float

    @classmethod
    def of(cls, device: Device, share: float) -> _Peaks:
        """Return the peaks of a share of a device's cores."""
        fp32, highest = fp32_macs_per_s(device), derived_fp32_macs_per_s(device)
        headroom = 1.0 if fp32 is None or highest is None else max(1.0, highest / fp32)
        if is_fp32_measured(device):
            headroom = max(headroom, _MEASURED_HEADROOM)
        names = ("fp32_matrix", "tf32", "fp16", "bf16", "int8")
        stated = {"fp32": fp32, **{name: stated_macs_per_s(device, name) for name in names}}
        rates = {name: rate * share for name, rate in stated.items() if rate is not None}
        if not rates:
            return cls(rates, headroom, _max_of_cores(device))
        return cls(rates, headroom, max(rates.values()) * headroom * _MAX_OVER_STATED)

    def of_formats(self, *number_formats: str) -> list[float]:
        """Return the rates of those of some formats that have one."""
        return [self.rates[name] for name in number_formats if name in self.rates]

    def matrix(self, device: Device, precision: Precision) -> float:
        """Return the rate of matrix products in ``precision``."""
        name = precision.number_format
        rates = self.of_formats(*(("fp32_matrix", "fp32") if name == "fp32" else (name,)))
        if not rates:
            raise missing(device, RATE_METRIC[name])
        return rates[0]

    def vector(self, device: Device, precision: Precision, matrix: float) -> float:
        """Return the rate of multiplications that are no matrix product.

        The rates of narrow formats are those of the matrix units where a device has any: other
        operators then run at the vector rate, FP32's.
        """
        is_mixed = WEIGHT_BYTES[precision] != ACTIVATION_BYTES[precision]
        if is_mixed and "fp32" not in self.rates:
            raise missing(device, RATE_METRIC["fp32"])
        return self.rates.get("fp32", matrix) if is_mixed or has_matrix_units(device) else matrix

    def highest_float(self, matrix: float, *, may_halve: bool) -> float:
        """Return the highest rate that a run on float tensors may reach.

        TF32 counts always: several runtimes use it for FP32 networks by default. Where a run may
        use half precision and its rate is not known, twice the FP32 rate counts, since a vector
        register holds twice as many halves. Where the rate of products itself is not known, it may
        be above those of wider formats, but not by any factor. NaN where FP32's is not either.
        """
        if math.isnan(matrix):
            return self.conceivable
        rates = [matrix, *self.of_formats("fp32", "fp32_matrix", "tf32")]
        if may_halve:
            rates += self.of_formats("fp16", "bf16") or [2 * r for r in self.of_formats("fp32")]
        return max(rates) * self.headroom

    def highest_integer(self, highest_float: float) -> float:
        """Return the highest rate on integers; NaN where no fact gives it."""
        if "int8" not in self.rates:
            return self.conceivable
        return max(self.rates["int8"] * self.headroom, highest_float)


def _max_of_cores(device: Device) -> float:
    """Return the most that the cores of a device could reach in any format; NaN where not known."""
    core_mhz = sum(kind.cores * kind.clocks.boost_mhz for kind in core_kinds(device))
    return core_mhz * 1e6 * _MAX_LANES * _MAX_OVER_STATED or math.nan
