"""The architectures of processors, GPUs and accelerators: facts that devices of one design share.

They ship as ``resources/architectures/*.json``, a file for each kind of design. A device names its
architecture by id, or each of its clusters does; see docs/devices.md for the fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from predictor.core.files import read_bytes
from predictor.core.instruction_sets import INSTRUCTION_SETS
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device
from predictor.core.resources import resources_dir
from predictor.core.runtimes import CPUS
from predictor.devices import fields
from predictor.devices.strict_json import parse_object

SCHEMA = "ctm-architectures/1"

CPU_KINDS: Final = ("x86", "arm", "riscv", "loongarch", "mips", "sw")
GPU_KINDS: Final = ("nvidia", "amd-gpu", "intel-gpu", "apple-gpu", "mobile-gpu")
KINDS: Final = (*CPU_KINDS, *GPU_KINDS, "npu", "fpga", "mcu")

CPU_FACTS: Final = (
    *("decode_width", "vector_bits", "fma_pipes", "fp32_lanes"),
    *("fp16_factor", "bf16_factor", "int8_factor", "matrix_int8_macs", "matrix_bf16_macs"),
)
GPU_FACTS: Final = (
    *("fp32_lanes", "fp16_factor", "warp", "max_threads_per_sm", "max_blocks_per_sm"),
    *("shared_kb", "registers_k", "group_units", "issue_lanes", "die_units"),
)
NPU_FACTS: Final = ("int8_macs_per_core", "fp16_factor", "cores")
_NUMBERS: Final = frozenset({*CPU_FACTS, *GPU_FACTS, *NPU_FACTS})
_MATRIX_TYPES: Final = ("fp16", "bf16", "tf32", "int8", "fp8")
_REQUIRED: Final = ("title", "vendor", "isa")
_OPTIONAL: Final = ("follows", "facts", "instruction_sets", "sources")

# Boards with such a GPU are cut from a few dies; the other GPUs are parts of a chip, and each chip
# has the same design in another size.
_SOLD_BY_DIE: Final = frozenset({"nvidia", "amd-gpu"})
_GPU_KIND_OF_VENDOR: Final = {
    "nvidia": "nvidia",
    "amd": "amd-gpu",
    "intel": "intel-gpu",
    "apple": "apple-gpu",
}
_KIND_OF_FAMILY: Final = {
    Family.MOBILE_CPU: "arm",
    Family.MOBILE_GPU: "mobile-gpu",
    Family.NPU: "npu",
    Family.ASIC: "npu",
    Family.FPGA: "fpga",
    Family.MCU: "mcu",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A design that cores, GPUs or accelerators of many devices have.

    Attributes:
        id: short lower-case slug, for example ``cortex-a76``.
        title: name for people.
        vendor: who designed it.
        isa: one of ``KINDS``.
        follows: id of the design that it came from; empty where there is none.
        numbers: facts by name; one that is not known is absent.
        in_order: whether a core executes in program order; None where it is not known or means
            nothing.
        matrix_lanes: dense FMAs an SM or compute unit a clock with its matrix units, by type.
        instruction_sets: that every device of the design has, unless it states its own.
        sources: of each fact, by its name.
    """

    id: str
    title: str
    vendor: str
    isa: str
    follows: str
    numbers: Mapping[str, float]
    in_order: bool | None
    matrix_lanes: Mapping[str, float]
    instruction_sets: tuple[str, ...]
    sources: Mapping[str, str]


def architectures_dir() -> Path:
    """Return the folder of the shipped tables."""
    return resources_dir() / "architectures"


@lru_cache(maxsize=1)
def architectures() -> Mapping[str, Architecture]:
    """Return the shipped architectures by id; the files are read at the first call.

    Raises:
        InputError: a file is damaged.
    """
    return load_architectures(architectures_dir())


def load_architectures(folder: Path) -> Mapping[str, Architecture]:
    """Read every table of a folder, sorted by id.

    Raises:
        InputError: a file or a field of it is wrong, or two rows have one id.
    """
    rows: dict[str, Architecture] = {}
    for path in sorted(folder.glob("*.json")):
        place = fields.Place(str(path))
        content = parse_object(read_bytes(path, 1 << 22, "install the program again"), str(path))
        if content.get("schema") != SCHEMA:
            raise place.at("schema").wrong(f'is not "{SCHEMA}"', "install the program again")
        table = fields.check_object(content.get("architectures"), place.at("architectures"))
        for identity, row in table.items():
            at = place.at(identity)
            if identity in rows:
                raise at.wrong("is in two tables", "remove one of the two")
            rows[fields.check_id(identity, at)] = _architecture(
                identity, fields.check_object(row, at), at
            )
    return MappingProxyType(dict(sorted(rows.items())))


def architecture_of(part: Device | Cluster) -> Architecture | None:
    """Return the design of a device, its fastest cluster's, or of one cluster; None if unknown."""
    return architectures().get(architecture_id(part))


def architecture_id(part: Device | Cluster) -> str:
    """Return the id that a device, its fastest cluster, or one cluster states; else nothing."""
    if not part.architecture and isinstance(part, Device) and part.clusters:
        return part.clusters[0].architecture
    return part.architecture


def instruction_sets(device: Device, cluster: Cluster | None = None) -> tuple[str, ...]:
    """Return the instruction sets of a device, or of one of its clusters; empty if unknown.

    What the cluster or the device states goes before the sets of its architecture.
    """
    part = cluster or (device.clusters[0] if device.clusters else device)
    stated = part.instruction_sets or device.instruction_sets
    design = architecture_of(part) or architecture_of(device)
    return stated or (design.instruction_sets if design is not None else ())


def kind(device: Device) -> str:
    """Return the kind of a device, one of ``KINDS``, or ``cpu`` or ``gpu`` where it is unknown."""
    by_family = _KIND_OF_FAMILY.get(device.family, device.family.value)
    kinds = GPU_KINDS if device.family in {Family.GPU, Family.MOBILE_GPU} else CPU_KINDS
    design = architecture_of(device)
    if design is not None and design.isa in kinds and by_family not in {"npu", "fpga", "mcu"}:
        return design.isa
    if device.family in CPUS:
        # Of an unknown design the instruction sets still show the family of processors.
        families = (INSTRUCTION_SETS[name].isa for name in instruction_sets(device))
        return next((isa for isa in families if isa), by_family)
    if device.family is Family.GPU:
        return _GPU_KIND_OF_VENDOR.get(device.vendor.casefold(), by_family)
    return by_family


def silicon(device: Device) -> str:
    """Return the silicon of a device; measurements of one device hold for all of equal silicon.

    A processor is known by its fastest cores, a GPU by its die, or by its design where it is part
    of a chip, an accelerator by chip and design, what is built in programmable logic by its design.
    """
    design, chip = architecture_id(device), device.chip
    unit = kind(device)
    if unit in _SOLD_BY_DIE:
        return chip or design or device.id
    if unit == "npu" and design and chip:
        # Designs come in many sizes, and the GPU of a chip bears its name.
        return f"{chip} {design}"
    return design or chip or device.id


def _architecture(identity: str, row: dict[str, object], place: fields.Place) -> Architecture:
    for name in _REQUIRED:
        if name not in row:
            raise place.at(name).wrong("is missing", "add the field")
    for name in row:
        if name not in {*_REQUIRED, *_OPTIONAL}:
            raise place.at(name).wrong("is no field of an architecture", "remove it")
    facts = fields.check_object(row.get("facts", {}), place.at("facts"))
    sources = fields.check_object(row.get("sources", {}), place.at("sources"))
    isa = fields.check_text(row["isa"], place.at("isa"), fields.MAX_NAME)
    if isa not in KINDS:
        raise place.at("isa").wrong(f'is "{isa}"', f"use one of {', '.join(KINDS)}")
    in_order = facts.pop("in_order", None)
    if not isinstance(in_order, bool | None):
        raise place.at("facts.in_order").wrong("is neither true nor false")
    matrix = fields.check_object(facts.pop("matrix_lanes", {}), place.at("facts.matrix_lanes"))
    sets = row.get("instruction_sets")
    return Architecture(
        id=identity,
        title=fields.check_text(row["title"], place.at("title"), fields.MAX_NAME),
        vendor=fields.check_text(row["vendor"], place.at("vendor"), fields.MAX_NAME),
        isa=isa,
        follows=fields.check_id(row["follows"], place.at("follows")) if "follows" in row else "",
        numbers=_numbers(facts, _NUMBERS, place.at("facts")),
        in_order=in_order,
        matrix_lanes=_numbers(matrix, frozenset(_MATRIX_TYPES), place.at("facts.matrix_lanes")),
        instruction_sets=()
        if sets is None
        else fields.check_instruction_sets(sets, place.at("instruction_sets")),
        sources=MappingProxyType(
            {
                n: fields.check_text(s, place.at(f"sources.{n}"), fields.MAX_SOURCE)
                for n, s in sources.items()
            }
        ),
    )


def _numbers(
    facts: Mapping[str, object], names: frozenset[str], place: fields.Place
) -> Mapping[str, float]:
    numbers: dict[str, float] = {}
    for name, value in facts.items():
        if name not in names:
            raise place.at(name).wrong("is no fact of an architecture", "remove it")
        numbers[name] = fields.check_number(value, place.at(name))
        if numbers[name] <= 0:
            raise place.at(name).wrong("is not above 0")
    return MappingProxyType(numbers)
