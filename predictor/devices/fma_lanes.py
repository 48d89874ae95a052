"""FP32 FMA lanes of a processor core, only where its design is known for certain.

Lanes x units: a core with two 256-bit FMA units has 16. Where the same model is sold with one or
two units (Skylake-X, Cascade Lake), or is not in these tables, the answer is None.

Sources: Intel 64 and IA-32 Architectures Optimization Reference Manual (248966) and the model
numbers of the Software Developer's Manual, volume 4, table 2-1; AMD Software Optimization Guides
for families 17h (55723), 19h (56665) and Zen 4 (57647); Arm software optimization guides of each
core.
"""

from __future__ import annotations

from collections.abc import Mapping

_INTEL_AVX2 = 16  # two units of 256 bit
_INTEL_AVX2_MODELS = frozenset(
    # Haswell, Broadwell, Skylake client, Kaby Lake to Comet Lake, Alder Lake and Raptor Lake P.
    {60, 63, 69, 70, 61, 71, 79, 86, 78, 94, 142, 158, 165, 166, 151, 154, 183, 186, 191}
)
# Ice Lake, Tiger Lake and Rocket Lake client: one 512-bit unit, as wide as two of 256 bit.
_INTEL_AVX512_ONE_UNIT = frozenset({125, 126, 140, 141, 167})
# Ice Lake server and Xeon D: two 512-bit units.
_INTEL_AVX512_TWO_UNITS = frozenset({106, 108})
# Sapphire, Emerald and Granite Rapids: two 512-bit units, and AMX.
_INTEL_AMX_TWO_UNITS = frozenset({143, 207, 173})

# Implementer 0x41 (Arm): CPU part -> lanes x units.
_ARM_PARTS: Mapping[int, int] = {
    0xD03: 4,  # Cortex-A53
    0xD05: 4,  # Cortex-A55
    0xD08: 4,  # Cortex-A72
    0xD0B: 8,  # Cortex-A76
    0xD0C: 8,  # Neoverse N1
    0xD41: 8,  # Cortex-A78
    0xD42: 8,  # Cortex-A78AE
    0xD49: 8,  # Neoverse N2
    0xD40: 16,  # Neoverse V1, two units of 256 bit
    0xD4F: 16,  # Neoverse V2, four units of 128 bit
}


def fma_lanes(fields: Mapping[str, str]) -> int | None:
    """Return FP32 FMA lanes x units of the core that /proc/cpuinfo describes, or None.

    Args:
        fields: the fields of one processor, by their names in /proc/cpuinfo.
    """
    if fields.get("CPU implementer") == "0x41":
        return _ARM_PARTS.get(_integer(fields.get("CPU part", "")))
    flags = frozenset(fields.get("flags", "").split())
    if not {"avx2", "fma"} <= flags:
        return None
    family, model = _integer(fields.get("cpu family", "")), _integer(fields.get("model", ""))
    if fields.get("vendor_id") == "GenuineIntel" and family == 6:
        return _intel_lanes(model, flags)
    if fields.get("vendor_id") == "AuthenticAMD":
        return _amd_lanes(family, model)
    return None


def _intel_lanes(model: int, flags: frozenset[str]) -> int | None:
    """Look a model up among those whose instruction sets agree with the flags.

    A hypervisor may show another model number than the processor's own; then they disagree.
    """
    if "amx_tile" in flags:
        return 32 if model in _INTEL_AMX_TWO_UNITS else None
    if "avx512f" in flags:
        if model in _INTEL_AVX512_TWO_UNITS:
            return 32
        return 16 if model in _INTEL_AVX512_ONE_UNIT else None
    return _INTEL_AVX2 if model in _INTEL_AVX2_MODELS else None


def _amd_lanes(family: int, model: int) -> int | None:
    if family == 23:  # Zen and Zen+ have 128-bit units, Zen 2 (models from 48 on) 256-bit ones
        return 16 if model >= 48 else 8
    # Zen 3 and Zen 4; Zen 5 (family 26) has 256 or 512 bit, depending on the product.
    return 16 if family == 25 else None


def _integer(text: str) -> int:
    """Return the number in ``text``, decimal or 0x, and -1 where there is none."""
    try:
        return int(text, 0)
    except ValueError:
        return -1
