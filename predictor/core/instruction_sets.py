"""Instruction sets that a processor may have, as device files and runtimes name them."""

from __future__ import annotations

from typing import Final

# By family of processors, each from the oldest on. "avx2" includes FMA, "fp16" is the half
# arithmetic of Armv8.2, "none" a processor without vectors.
INSTRUCTION_SETS: Final = (
    *("sse4", "avx", "avx2", "avx512", "avx-vnni", "avx512-vnni", "avx512-bf16", "avx512-fp16"),
    *("amx-int8", "amx-bf16"),
    *("neon", "fp16", "dotprod", "i8mm", "bf16", "sve", "sve2", "sme"),
    *("rvv", "lsx", "lasx", "msa"),
    "none",
)
