"""Lanes of a processor's core that the kernels of a runtime use.

A core reaches the rate of its lanes only under kernels that are written for its instruction sets.
Where a runtime has none for them its plain C++ runs, one number at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from predictor.core.instruction_sets import INSTRUCTION_SETS, InstructionSet
from predictor.core.records import Cluster, Device, Precision
from predictor.core.runtimes import Runtime
from predictor.devices.architectures import architecture_of, instruction_sets

_SCALAR_BITS: Final = 32
# A unit of 512 bits, alone in its core, is two of 256 bits that are joined: Intel, Optimization
# Reference Manual, ports 0 and 1 of Ice Lake.
_JOINED_BITS: Final = 256

_SCALAR: Final = INSTRUCTION_SETS["none"]
# Automatic mixed precision multiplies in the half format.
_FORMAT: Final[Mapping[Precision, str]] = {
    Precision.FP32: "fp32",
    Precision.FP16: "fp16",
    Precision.BF16: "bf16",
    Precision.INT8: "int8",
    Precision.AMP_FP16: "fp16",
    Precision.AMP_BF16: "bf16",
}


@dataclass(frozen=True, slots=True)
class Core:
    """One core of a processor, as its architecture and its device describe it.

    Attributes:
        fp32_lanes: FP32 multiply-adds a clock with its best vectors, over 0.
        vector_bits: width of one of its vector units; None for that of its widest instruction set.
        instruction_sets: that it has; empty where they are not known.
        best_lanes: multiply-adds a clock by number format (``fp16``, ``bf16``, ``int8``) with the
            best of its instruction sets, vector or matrix; a format that is not known is absent.
    """

    fp32_lanes: float
    vector_bits: float | None = None
    instruction_sets: frozenset[str] = frozenset()
    best_lanes: Mapping[str, float] = field(default_factory=dict)


def core_of(device: Device, cluster: Cluster | None = None) -> Core | None:
    """Return one core of a processor, or of one of its clusters; None where no lanes are known.

    What the device or the cluster states goes before the facts of its architecture.
    """
    design = architecture_of(cluster or device) or architecture_of(device)
    facts = {} if design is None else design.numbers
    stated = device.metric("fp32_au_per_core") if cluster is None else cluster.fp32_au_per_core
    lanes = stated or facts.get("fp32_lanes")
    if lanes is None:
        return None
    best = {
        name: max(lanes * facts.get(f"{name}_factor", 0), facts.get(f"matrix_{name}_macs", 0))
        for name in ("fp16", "bf16", "int8")
    }
    return Core(
        fp32_lanes=lanes,
        vector_bits=facts.get("vector_bits"),
        instruction_sets=frozenset(instruction_sets(device, cluster)),
        best_lanes={name: value for name, value in best.items() if value},
    )


def kernel_lanes(runtime: Runtime, precision: Precision, core: Core) -> float:
    """Return the multiply-adds a clock that a runtime's kernels issue on one core.

    Vectors narrower than the core's units use a part of them, and sets that multiply and add apart
    half of a unit that fuses the two. Where the core's instruction sets, or those that the runtime
    has kernels for, are not known, the kernels are taken to fit.

    Args:
        runtime: its ``kernels`` count.
        precision: of the run; one that the kernels have no arithmetic for runs at the FP32 rate.
        core: the core.

    Returns:
        Lanes, over 0. For FP32 at most ``core.fp32_lanes``.
    """
    number_format = _FORMAT[precision]
    own = [INSTRUCTION_SETS[name] for name in sorted(core.instruction_sets)]
    usable = [row for row in own if not runtime.kernels or row.name in runtime.kernels]
    best = _lanes(own, number_format, core)
    stated = core.best_lanes.get(number_format, best)
    if not own or usable == own:
        return stated
    # What the design states counts by as much as the kernels use of its instruction sets.
    return stated * _lanes(usable, number_format, core) / best


def _lanes(sets: Iterable[InstructionSet], number_format: str, core: Core) -> float:
    """Return the most lanes that one of ``sets``, or plain code, gives in a number format."""
    return max(_lanes_of(row, core) * _factor(row, number_format) for row in (_SCALAR, *sets))


def _factor(row: InstructionSet, number_format: str) -> float:
    factor: float | None = getattr(row, number_format, None)
    return 1.0 if factor is None else factor


def _lanes_of(row: InstructionSet, core: Core) -> float:
    """Return the FP32 multiply-adds a clock of a core that runs one instruction set."""
    own = [INSTRUCTION_SETS[name] for name in core.instruction_sets]
    widest = max((other.vector_bits or _SCALAR_BITS for other in own), default=_SCALAR_BITS)
    unit_bits = core.vector_bits or widest
    bits = min(row.vector_bits or unit_bits, unit_bits)
    # A scalar unit of a core without vectors may be wider than a float.
    units = max(1.0, core.fp32_lanes * _SCALAR_BITS / unit_bits)
    if bits > _SCALAR_BITS:
        units = max(units, unit_bits // _JOINED_BITS)
    lanes = units * bits / _SCALAR_BITS
    if not row.fused and any(other.fused for other in own):
        lanes /= 2
    return min(lanes, core.fp32_lanes)
