"""Processors as /proc/cpuinfo describes them, cut to the fields and flags that detection reads."""

from __future__ import annotations

SSE = "fpu sse sse2 ssse3 sse4_1 sse4_2"
AVX = f"{SSE} avx"
AVX2 = f"{AVX} fma avx2 f16c"
AVX512 = f"{AVX2} avx512f avx512dq avx512cd avx512bw avx512vl"
VNNI = f"{AVX512} avx512_vnni"
AMX = f"{VNNI} avx_vnni avx512_bf16 avx512_fp16 amx_bf16 amx_tile amx_int8"


def intel(model: int, flags: str, name: str = "", family: int = 6) -> dict[str, str]:
    return _x86("GenuineIntel", family, model, flags, name)


def amd(family: int, model: int, flags: str, name: str = "") -> dict[str, str]:
    return _x86("AuthenticAMD", family, model, flags, name)


def arm(implementer: str, part: str, features: str = "fp asimd") -> dict[str, str]:
    return {"CPU implementer": implementer, "CPU part": part, "Features": features}


def text_of(*processors: dict[str, str]) -> str:
    """Write /proc/cpuinfo, one block a processor."""
    blocks = []
    for number, fields in enumerate(processors):
        lines = {"processor": str(number), **fields}.items()
        blocks.append("\n".join(f"{name}\t: {value}" for name, value in lines))
    return "\n\n".join(blocks)


def _x86(vendor: str, family: int, model: int, flags: str, name: str) -> dict[str, str]:
    return {
        "vendor_id": vendor,
        "cpu family": str(family),
        "model": str(model),
        "model name": name,
        "flags": flags,
    }


A76 = "fp asimd asimdhp asimddp"
ARMV8_6 = f"{A76} i8mm bf16"

# Fields, architecture, instruction sets, lanes.
KNOWN: dict[str, tuple[dict[str, str], str, str, float | None]] = {
    "Core 2": (intel(23, SSE), "penryn", "sse4", 4),
    "i7-2600": (intel(42, AVX), "sandy-bridge", "sse4 avx", 8),
    "i5-4590": (intel(60, AVX2), "haswell", "sse4 avx avx2", 16),
    "i7-7700K": (intel(158, AVX2), "skylake-client", "sse4 avx avx2", 16),
    "Xeon Gold 6148": (
        intel(85, AVX512, "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz"),
        "skylake-server",
        "sse4 avx avx2 avx512",
        32,
    ),
    "Xeon Silver 4210 has one unit": (
        intel(85, VNNI, "Intel(R) Xeon(R) Silver 4210 CPU @ 2.20GHz"),
        "skylake-server",
        "sse4 avx avx2 avx512 avx512-vnni",
        16,
    ),
    "a Skylake that a hypervisor hides the name of": (
        intel(85, AVX512, "Intel Xeon Processor (Skylake, IBRS)"),
        "skylake-server",
        "sse4 avx avx2 avx512",
        16,
    ),
    "i7-1165G7": (intel(140, VNNI), "sunny-cove", "sse4 avx avx2 avx512 avx512-vnni", 16),
    "Xeon Platinum 8358": (
        intel(106, VNNI),
        "sunny-cove-server",
        "sse4 avx avx2 avx512 avx512-vnni",
        32,
    ),
    "Ice Lake server with AVX-512 turned off": (
        intel(106, AVX2),
        "sunny-cove-server",
        "sse4 avx avx2",
        16,
    ),
    "Xeon Platinum 8480": (
        intel(143, AMX),
        "golden-cove-server",
        "sse4 avx avx2 avx512 avx-vnni avx512-vnni avx512-bf16 avx512-fp16 amx-int8 amx-bf16",
        32,
    ),
    "Intel N100": (
        intel(190, f"{AVX2} avx_vnni"),
        "gracemont",
        "sse4 avx avx2 avx-vnni",
        8,
    ),
    "Atom x5-Z8350": (intel(76, SSE), "silvermont", "sse4", 2),
    "EPYC 7551": (amd(23, 1, AVX2), "zen", "sse4 avx avx2", 8),
    "EPYC 7742": (amd(23, 49, AVX2), "zen-2", "sse4 avx avx2", 16),
    "EPYC without a number in its name": (
        amd(25, 1, AVX2, "AMD EPYC Processor"),
        "zen-3",
        "sse4 avx avx2",
        16,
    ),
    "EPYC 9654": (
        amd(25, 17, f"{VNNI} avx512_bf16"),
        "zen-4",
        "sse4 avx avx2 avx512 avx512-vnni avx512-bf16",
        16,
    ),
    "Ryzen 9 9950X": (
        amd(26, 68, f"{VNNI} avx512_bf16 avx_vnni"),
        "zen-5",
        "sse4 avx avx2 avx512 avx-vnni avx512-vnni avx512-bf16",
        32,
    ),
    "Cortex-A53": (arm("0x41", "0xd03"), "cortex-a53", "neon", 4),
    "Cortex-A7, 32 bits": (arm("0x41", "0xc07", "half thumb neon vfpv4"), "cortex-a7", "neon", 1),
    "Cortex-A76": (arm("0x41", "0xd0b", A76), "cortex-a76", "neon fp16 dotprod", 8),
    "Kryo 385 Gold": (arm("0x51", "0x802", A76), "cortex-a75", "neon fp16 dotprod", 4),
    "Graviton 4": (
        arm("0x41", "0xd4f", f"{ARMV8_6} sve sve2"),
        "neoverse-v2",
        "neon fp16 dotprod i8mm bf16 sve sve2",
        16,
    ),
    "M1 under Linux": (arm("0x61", "0x023", A76), "apple-firestorm", "neon fp16 dotprod", 16),
    "Kunpeng 920": (arm("0x48", "0xd01", A76), "taishan-v110", "neon fp16 dotprod", 8),
}

# Fields, instruction sets, and the lanes that every core with them has.
UNKNOWN: dict[str, tuple[dict[str, str], str, float | None]] = {
    "a hypervisor that shows Rocket Lake on a machine with AMX": (
        intel(167, AMX, "Intel(R) Xeon(R) Processor"),
        "sse4 avx avx2 avx512 avx-vnni avx512-vnni avx512-bf16 avx512-fp16 amx-int8 amx-bf16",
        32,
    ),
    "a hypervisor that shows Haswell on a machine with AVX-512": (
        intel(60, AVX512),
        "sse4 avx avx2 avx512",
        16,
    ),
    "an Intel model of tomorrow": (intel(250, AVX2), "sse4 avx avx2", 8),
    "an AMD family of tomorrow": (amd(27, 1, VNNI), "sse4 avx avx2 avx512 avx512-vnni", 16),
    "Jaguar": (amd(22, 0, AVX), "sse4 avx", 4),
    "AVX2 without FMA": (intel(250, f"{AVX} avx2"), "sse4 avx", 4),
    "no AVX": (intel(250, SSE), "sse4", None),
    "an Arm core of another maker": (arm("0x62", "0xd0b", A76), "neon fp16 dotprod", 4),
    "an old Arm core of another maker": (arm("0x62", "0x001"), "neon", None),
    "nonsense": ({"CPU implementer": "0x41", "CPU part": "big"}, "", None),
    "nothing": ({}, "", None),
    "RISC-V with vectors": ({"isa": "rv64imafdcv_zicsr_zifencei"}, "rvv", None),
    "RISC-V without": ({"isa": "rv64imafdc_zicsr_zihpm_svpbmt"}, "none", None),
    "LoongArch with LASX": ({"Features": "cpucfg lam ual fpu lsx lasx"}, "lsx lasx", None),
    "LoongArch without": ({"Features": "cpucfg lam ual fpu"}, "none", None),
    "MIPS with MSA": ({"ASEs implemented": "vz msa"}, "msa", None),
    "MIPS without": ({"ASEs implemented": "dsp"}, "none", None),
}
