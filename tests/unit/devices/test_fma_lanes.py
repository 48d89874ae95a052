import pytest

from predictor.devices.system_files import fma_lanes


def intel(model: int, flags: str = "avx2 fma") -> dict[str, str]:
    return {"vendor_id": "GenuineIntel", "cpu family": "6", "model": str(model), "flags": flags}


def amd(family: int, model: int = 1) -> dict[str, str]:
    fields = {"cpu family": str(family), "model": str(model), "flags": "avx2 fma"}
    return {"vendor_id": "AuthenticAMD", **fields}


def arm(part: str, implementer: str = "0x41") -> dict[str, str]:
    return {"CPU implementer": implementer, "CPU part": part}


KNOWN = {
    "Haswell": (intel(60), 16),
    "Kaby Lake": (intel(158), 16),
    "Tiger Lake": (intel(140, "avx2 fma avx512f"), 16),
    "Ice Lake server": (intel(106, "avx2 fma avx512f"), 32),
    "Sapphire Rapids": (intel(143, "avx2 fma avx512f amx_tile"), 32),
    "Zen": (amd(23, 1), 8),
    "Zen 2": (amd(23, 49), 16),
    "Zen 3": (amd(25), 16),
    "Cortex-A53": (arm("0xd03"), 4),
    "Cortex-A76": (arm("0xd0b"), 8),
    "Neoverse V1": (arm("0xd40"), 16),
}
UNKNOWN = {
    "Skylake-X and Cascade Lake have one or two units": intel(85, "avx2 fma avx512f"),
    "a hypervisor that shows Rocket Lake on a machine with AMX": intel(
        167, "avx2 fma avx512f amx_tile"
    ),
    "a hypervisor that shows Haswell on a machine with AVX-512": intel(60, "avx2 fma avx512f"),
    "Ice Lake server with AVX-512 turned off": intel(106),
    "no FMA": intel(60, "avx2"),
    "no AVX2": intel(60, "avx fma"),
    "an Intel model of tomorrow": intel(250),
    "Zen 5 has 256 or 512 bit": amd(26),
    "an Arm core of another maker": arm("0xd0b", "0x61"),
    "an Arm core that is not listed": arm("0xd4e"),
    "nonsense": {"CPU implementer": "0x41", "CPU part": "big"},
    "nothing": {},
}


@pytest.mark.parametrize(("fields", "lanes"), KNOWN.values(), ids=KNOWN.keys())
def test_a_core_of_known_design_has_its_lanes(fields: dict[str, str], lanes: int):
    assert fma_lanes(fields) == lanes


@pytest.mark.parametrize("fields", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_a_core_that_is_not_certain_has_none(fields: dict[str, str]):
    assert fma_lanes(fields) is None
