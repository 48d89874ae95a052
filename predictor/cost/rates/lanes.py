"""Lanes of a processor's core that the kernels of a runtime use.

A core reaches the rate of its lanes only under kernels that are written for its instruction sets.
Where a runtime has none for them its plain C++ runs, one number at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from predictor.core.instruction_sets import INSTRUCTION_SETS, InstructionSet
from predictor.core.records import Cluster, Device, Precision
from predictor.core.runtimes import Runtime
from predictor.devices.architectures import (
    Architecture,
    architecture_of,
    architectures,
    instruction_sets,
)
from predictor.devices.peaks import stated_lanes

_SCALAR_BITS: Final = 32
# A unit of 512 bits, alone in its core, is two of 256 bits that are joined: Intel, Optimization
# Reference Manual, ports 0 and 1 of Ice Lake.
_JOINED_BITS: Final = 256

_SCALAR: Final = INSTRUCTION_SETS["none"]
_NARROW: Final = ("fp16", "bf16", "int8")


@dataclass(frozen=True, slots=True)
class Core:
    """One core of a processor, as its architecture and its device describe it.

    Attributes:
        fp32_lanes: FP32 multiply-adds a clock with its best vectors, over 0.
        vector_bits: width of one of its vector units; None for that of its widest instruction set.
        instruction_sets: that it has; empty where they are not known.
        vector_lanes: multiply-adds a clock of its vectors by number format (``fp16``, ``bf16``,
            ``int8``) with the best of its instruction sets; one that is not known is absent.
        matrix_lanes: the same of its matrix unit.
    """

    fp32_lanes: float
    vector_bits: float | None = None
    instruction_sets: frozenset[str] = frozenset()
    vector_lanes: Mapping[str, float] = field(default_factory=dict)
    matrix_lanes: Mapping[str, float] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.fp32_lanes, self.vector_bits, self.instruction_sets))


def core_of(device: Device, cluster: Cluster | None = None) -> Core | None:
    """Return one core of a processor, or of one of its clusters; None where no lanes are known.

    What the device or the cluster states goes before the facts of its architecture. A cluster whose
    lanes neither gives has those that its device states. A core whose lanes nobody states is taken
    to have those of the design that it came from, else one unit of its widest instruction set;
    without vectors one lane: no runtime uses more of it.
    """
    design = architecture_of(cluster or device) or architecture_of(device)
    facts = {} if design is None else design.numbers
    sets = frozenset(instruction_sets(device, cluster))
    stated = stated_lanes(device) if cluster is None else cluster.fp32_au_per_core
    lanes = stated or _lanes_of_design(design) or stated_lanes(device) or _lanes_of_one_unit(sets)
    if not lanes:
        return None
    factors = {name: facts.get(f"{name}_factor") for name in _NARROW}
    macs = {name: facts.get(f"matrix_{name}_macs") for name in _NARROW}
    return Core(
        fp32_lanes=lanes,
        vector_bits=facts.get("vector_bits"),
        instruction_sets=sets,
        vector_lanes={name: lanes * factor for name, factor in factors.items() if factor},
        matrix_lanes={name: value for name, value in macs.items() if value},
    )


def _lanes_of_design(design: Architecture | None) -> float:
    """Return the FP32 lanes of a design, else of the nearest that it came from; 0 if unknown."""
    while design is not None:
        if "fp32_lanes" in design.numbers:
            return design.numbers["fp32_lanes"]
        design = architectures().get(design.follows)
    return 0.0


def _lanes_of_one_unit(sets: frozenset[str]) -> float:
    """Return the FP32 lanes of one unit of the widest of instruction sets, 0 if none is known."""
    if sets == {_SCALAR.name}:
        return 1.0
    return max((INSTRUCTION_SETS[name].vector_bits or 0 for name in sets), default=0) / _SCALAR_BITS


@lru_cache(maxsize=1 << 12)  # designs are few beside devices
def kernel_lanes(runtime: Runtime, precision: Precision, core: Core) -> float:
    """Return the multiply-adds a clock that a runtime's kernels issue on one core.

    Vectors narrower than the core's units use a part of them, and sets that multiply and add apart
    half of a unit that fuses the two. Where the core's instruction sets, or those that the runtime
    has kernels for, are not known, the kernels are taken to fit.

    Args:
        runtime: its ``kernels`` count.
        precision: of the run; one that the kernels have no arithmetic for, or a slower one, runs at
            the FP32 rate: the numbers are converted.
        core: the core.

    Returns:
        Lanes, over 0. For FP32 at most ``core.fp32_lanes``.
    """
    name = precision.number_format
    rows = [INSTRUCTION_SETS[row] for row in sorted(core.instruction_sets)]
    usable = [row for row in rows if not runtime.kernels or row.name in runtime.kernels]
    vectors = _vector_lanes(rows, usable, name, core)
    fp32 = vectors if name == "fp32" else _vector_lanes(rows, usable, "fp32", core)
    # SME's rate is no number of instructions: it counts where the design states it.
    units = (row for row in usable if row.matrix and (_factor(row, name) > 1 or row.name == "sme"))
    matrix = (
        core.matrix_lanes.get(name, _lanes_of(row, core) * _factor(row, name)) for row in units
    )
    return max(fp32, vectors, *matrix)


def _vector_lanes(
    rows: Iterable[InstructionSet], usable: Iterable[InstructionSet], name: str, core: Core
) -> float:
    """Return the lanes of a core's vectors in a number format, of what ``usable`` sets reach.

    What the design states counts by as much as they use of its sets. More than twice what its sets
    explain is of instructions that are in no table, and that no runtime here has kernels for.
    """
    best = max(_issued(row, name, core) for row in (_SCALAR, *rows))
    stated = core.vector_lanes.get(name, best)
    if not core.instruction_sets:
        return core.vector_lanes.get(name, core.fp32_lanes)
    reached = max(_issued(row, name, core) for row in (_SCALAR, *usable))
    return min(stated, 2 * best) * reached / best


def _issued(row: InstructionSet, name: str, core: Core) -> float:
    """Return the lanes that one instruction set gives by the number of its instructions."""
    return 0.0 if row.matrix else _lanes_of(row, core) * _factor(row, name)


def _factor(row: InstructionSet, name: str) -> float:
    factor: float | None = getattr(row, name, None)
    return 1.0 if factor is None else factor


def _lanes_of(row: InstructionSet, core: Core) -> float:
    """Return the FP32 multiply-adds a clock of a core that runs one instruction set."""
    rows = [INSTRUCTION_SETS[name] for name in core.instruction_sets]
    widest = max((other.vector_bits or _SCALAR_BITS for other in rows), default=_SCALAR_BITS)
    unit_bits = core.vector_bits or widest
    bits = min(row.vector_bits or unit_bits, unit_bits)
    # A scalar unit of a core without vectors may be wider than a float.
    units = max(1.0, core.fp32_lanes * _SCALAR_BITS / unit_bits)
    if bits > _SCALAR_BITS:
        units = max(units, unit_bits // _JOINED_BITS)
    lanes = units * bits / _SCALAR_BITS
    if not row.fused and any(other.fused for other in rows):
        lanes /= 2
    return min(lanes, core.fp32_lanes)
