"""The design of a processor's cores, from the facts that a system states about it.

``resources/processors/processors.json`` lists the architecture of a core by maker, family and
model (x86), by implementer and part (Arm), or by Apple's family of processors. Where a model is not
in it, the instruction sets still give a number of FMA lanes that the core has at least.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from predictor.core.files import read_bytes
from predictor.core.instruction_sets import INSTRUCTION_SETS
from predictor.core.resources import resources_dir
from predictor.devices.architectures import Architecture, architectures
from predictor.devices.strict_json import parse_object

SCHEMA: Final = "ctm-processors/1"

# Value of the field "features" where a system reports some instruction sets only, as Windows.
PARTIAL: Final = "partial"
_REPORTED_BY_WINDOWS: Final = frozenset(
    {"sse4", "avx", "avx2", "avx512", "neon", "fp16", "dotprod", "i8mm", "bf16"}
    | {"sve", "sve2", "sme"}
)

# Words of /proc/cpuinfo, all of which an instruction set needs. Those of Arm are the kernel's
# HWCAP names: "neon" on 32-bit kernels, "asimd" on 64-bit ones.
_WORDS: Final[Mapping[str, tuple[frozenset[str], ...]]] = {
    name: tuple(frozenset(words.split()) for words in alternatives)
    for name, alternatives in {
        "sse4": ("sse4_1",),
        "avx": ("avx",),
        "avx2": ("avx2 fma",),
        "avx512": ("avx512f avx512cd avx512bw avx512dq avx512vl",),
        "avx-vnni": ("avx_vnni",),
        "avx512-vnni": ("avx512_vnni",),
        "avx512-bf16": ("avx512_bf16",),
        "avx512-fp16": ("avx512_fp16",),
        "amx-int8": ("amx_tile amx_int8",),
        "amx-bf16": ("amx_tile amx_bf16",),
        "neon": ("neon", "asimd"),
        "fp16": ("asimdhp",),
        "dotprod": ("asimddp",),
        "i8mm": ("i8mm",),
        "bf16": ("bf16",),
        "sve": ("sve",),
        "sve2": ("sve2",),
        "sme": ("sme",),
        "lsx": ("lsx",),
        "lasx": ("lasx",),
        "msa": ("msa",),
    }.items()
}
# Fields of /proc/cpuinfo with such words: x86; Arm and LoongArch; MIPS.
_WORD_FIELDS: Final = ("flags", "Features", "ASEs implemented")
# Base letters of a RISC-V core up to the first extension of several letters: rv64imafdcv_zicsr.
_RISCV_VECTORS: Final = re.compile(r"rv\d+[a-y]*v|_v_|_v$|_zve\d")

# A core that shows one of these and whose model does not has another model than its system says:
# a hypervisor can show an older one.
_TELLTALES: Final = ("amx-int8", "avx512", "avx2", "avx")
# FP32 FMA lanes that every core with an instruction set has, the widest set first: each core with
# AMX has two units of 512 bits, each with AVX-512 one, or two of 256; Zen and Gracemont have two
# of 128 bits for AVX2, Jaguar one of 128 for each of the two operations of AVX; Cortex-A55 has two
# of 64 bits.
_MIN_LANES: Final = (("amx-int8", 32), ("avx512", 16), ("avx2", 8), ("avx", 4), ("dotprod", 4))
# Most that x86 code reaches whose widest set is this one: two units of its width, and half of that
# where a multiplication and an addition are two instructions.
_MAX_LANES: Final = (("avx512", 32), ("avx2", 16), ("avx", 8), ("sse4", 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreDesign:
    """The design of a core.

    Attributes:
        architecture: id of its row in the table of architectures; empty where it is not known.
        title, vendor: of that row.
        instruction_sets: that the system states, else those of the architecture; empty where
            neither is known.
        lanes: FP32 FMA lanes x units, or at least so many; None where it is not known.
        source: of the lanes; empty without.
        is_certain: whether the lanes are the core's own, no lower limit.
    """

    architecture: str
    title: str
    vendor: str
    instruction_sets: tuple[str, ...]
    lanes: float | None
    source: str
    is_certain: bool


def design_of(fields: Mapping[str, str], *, small: bool = False) -> CoreDesign:
    """Return the design of the core that ``fields`` describe.

    Args:
        fields: of one processor, by their names in /proc/cpuinfo; those of other systems are
            translated to these (``host_fields``).
        small: whether it is one of the efficient cores of a processor with two kinds.
    """
    stated = instruction_sets_of(fields)
    row = _row(fields)
    design = architectures().get(_core_name(row, small=small))
    if design is not None and any(
        name in stated and name not in design.instruction_sets for name in _TELLTALES
    ):
        design = None
    if design is None:
        return _unknown_design(stated)
    sets = _complete(stated, design) if fields.get("features") == PARTIAL else stated
    lanes = design.numbers.get("fp32_lanes")
    two_units = row.get("two_units")
    if lanes is not None and two_units and not re.search(two_units, fields.get("model name", "")):
        lanes /= 2
    return CoreDesign(
        architecture=design.id,
        title=design.title,
        vendor=design.vendor,
        instruction_sets=sets or design.instruction_sets,
        lanes=None if lanes is None else _reached(lanes, sets),
        source="" if lanes is None else design.title,
        is_certain=lanes is not None,
    )


def small_core_clock_mhz(fields: Mapping[str, str]) -> float | None:
    """Return the highest clock of the efficient cores where the table states it; else None."""
    clock = _row(fields).get("small_mhz")
    return None if clock is None else float(clock)


def may_have_small_cores(fields: Mapping[str, str]) -> bool:
    """Return whether processors of this model are sold with two kinds of cores."""
    return "small" in _row(fields)


def instruction_sets_of(fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the instruction sets that the fields of a processor state, in the table's order.

    ``none`` where they show that there are no vectors; empty where they state none.
    """
    words = frozenset(" ".join(fields.get(name, "") for name in _WORD_FIELDS).split())
    isa = fields.get("isa", "")
    names = {name for name, word_sets in _WORDS.items() if any(way <= words for way in word_sets)}
    if _RISCV_VECTORS.search(isa):
        names.add("rvv")
    # Vectors are optional on RISC-V, LoongArch ("cpucfg") and MIPS, and their lists are complete.
    if not names and (isa.startswith("rv") or "cpucfg" in words or "ASEs implemented" in fields):
        names.add("none")
    return tuple(name for name in INSTRUCTION_SETS if name in names)


def _unknown_design(stated: tuple[str, ...]) -> CoreDesign:
    """Return the design of a core of unknown model: what its instruction sets imply."""
    for name, lanes in _MIN_LANES:
        if name in stated:
            title = INSTRUCTION_SETS[name].title
            source = f"at least: every core with {title} has so many"
            return CoreDesign(
                architecture="",
                title="",
                vendor="",
                instruction_sets=stated,
                lanes=lanes,
                source=source,
                is_certain=False,
            )
    return CoreDesign(
        architecture="",
        title="",
        vendor="",
        instruction_sets=stated,
        lanes=None,
        source="",
        is_certain=False,
    )


def _complete(stated: tuple[str, ...], design: Architecture) -> tuple[str, ...]:
    """Add the sets of the design that the system cannot report, as wide as those it reports."""
    widest = max((INSTRUCTION_SETS[name].vector_bits or 0 for name in stated), default=0)
    hidden = {
        name
        for name in design.instruction_sets
        if name not in _REPORTED_BY_WINDOWS and (INSTRUCTION_SETS[name].vector_bits or 0) <= widest
    }
    return tuple(name for name in INSTRUCTION_SETS if name in stated or name in hidden)


def _reached(lanes: float, sets: Iterable[str]) -> float:
    """Return the lanes that the instruction sets of an x86 core reach: some can be turned off."""
    limits = [limit for name, limit in _MAX_LANES if name in sets]
    return min(lanes, *limits[:1]) if limits else lanes


def _core_name(row: Mapping[str, Any], *, small: bool) -> str:
    name = row.get("small" if small else "core", "")
    return str(name)


def _row(fields: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the row of a processor in the table, empty where it is not there."""
    table = _table()
    row: Mapping[str, Any]
    if "cpufamily" in fields:
        row = table["apple"].get(fields["cpufamily"], {})
    elif "CPU implementer" in fields:
        parts = table["arm"].get(_hexadecimal(fields["CPU implementer"], 2), {})
        row = {"core": parts.get(_hexadecimal(fields.get("CPU part", ""), 3), "")}
    else:
        families = table["x86"].get(fields.get("vendor_id", ""), {})
        rows = families.get(fields.get("cpu family", ""), ())
        model = _integer(fields.get("model", ""))
        row = next((row for row in rows if _has_model(row["models"], model)), {})
    return row


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    """Return the table by kind of processor; ``test_processors`` checks what ships."""
    path = resources_dir() / "processors" / "processors.json"
    return parse_object(read_bytes(path, 1 << 20, "install the program again"), str(path))


def _has_model(models: Iterable[str], model: int) -> bool:
    """Whether ``model`` is one of "0x55" or within one of "0x60-0x7f"."""
    for text in models:
        first, _, last = text.partition("-")
        if int(first, 16) <= model <= int(last or first, 16):
            return True
    return False


def _hexadecimal(text: str, digits: int) -> str:
    """Write a number as the table does, 0xd03; empty where ``text`` is none."""
    number = _integer(text)
    return "" if number < 0 else f"0x{number:0{digits}x}"


def _integer(text: str) -> int:
    """Return the number in ``text``, decimal or 0x, and -1 where there is none."""
    try:
        return int(text, 0)
    except ValueError:
        return -1
