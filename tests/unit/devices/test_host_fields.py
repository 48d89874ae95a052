"""Processors as Windows and macOS describe them, translated to the words of Linux."""

from __future__ import annotations

import subprocess
import sys

import pytest

from predictor.devices import host_fields
from predictor.devices.host_fields import host_cores, mac_cores, windows_cores
from predictor.devices.processors import design_of
from tests.unit.devices.host_texts import KABY_LAKE, M1

RYZEN = {
    "Identifier": "AMD64 Family 25 Model 97 Stepping 2",
    "ProcessorNameString": "AMD Ryzen 9 7950X 16-Core Processor            ",
    "VendorIdentifier": "AuthenticAMD",
}
SNAPDRAGON_X = {
    "Identifier": "ARMv8 (64-bit) Family 8 Model 1 Revision 201",
    "ProcessorNameString": "Snapdragon(R) X Elite - X1E78100 - Qualcomm(R) Oryon(TM) CPU",
    "VendorIdentifier": "Qualcomm Technologies Inc",
    "CP 4000": 0x512F0011,
}
INTEL_MAC = """\
hw.cpufamily: 260141638
machdep.cpu.brand_string: Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz
machdep.cpu.vendor: GenuineIntel
machdep.cpu.family: 6
machdep.cpu.model: 158
machdep.cpu.features: FPU SSE SSE2 SSE3 SSE4.1 SSE4.2 FMA AVX1.0 F16C
machdep.cpu.leaf7_features: RDWRFSGS BMI1 AVX2 BMI2
"""


def test_windows_tells_of_an_intel_processor():
    (cores,) = windows_cores(KABY_LAKE, lambda feature: feature in {37, 38, 39, 40})
    design = design_of(cores.fields)
    assert design.architecture == "skylake-client"
    assert design.instruction_sets == ("sse4", "avx", "avx2")
    assert cores.fields["model name"].startswith("Intel(R) Core(TM) i7-7700K")


def test_windows_tells_of_avx_512_but_not_of_its_extensions():
    (cores,) = windows_cores(RYZEN, lambda feature: feature in {37, 39, 40, 41})
    design = design_of(cores.fields)
    assert design.architecture == "zen-4"
    assert {"avx512", "avx512-vnni", "avx512-bf16"} <= set(design.instruction_sets)
    assert cores.fields["model name"] == "AMD Ryzen 9 7950X 16-Core Processor"


def test_windows_tells_of_an_arm_processor():
    (cores,) = windows_cores(SNAPDRAGON_X, lambda feature: feature in {19, 43, 67})
    design = design_of(cores.fields)
    assert design.architecture == "oryon"
    assert {"neon", "fp16", "dotprod"} <= set(design.instruction_sets)


def test_a_registry_without_a_model_gives_nothing():
    assert windows_cores({"Identifier": "x86"}, lambda _: True) == ()
    assert windows_cores({}, lambda _: True) == ()


def test_a_mac_has_two_kinds_of_cores():
    large, small = mac_cores(M1)
    assert (large.cores, large.small, large.l1_kb, large.l2_kb) == (4, False, 128, 12288)
    assert (small.cores, small.small, small.l2_kb) == (4, True, 4096)
    design = design_of(large.fields)
    assert design.architecture == "apple-firestorm"
    assert design.instruction_sets == ("neon", "fp16", "dotprod")
    assert design_of(small.fields, small=True).architecture == "apple-icestorm"


def test_the_family_of_a_mac_is_read_with_or_without_its_sign():
    # 0xda33d83d is over the largest signed number of 32 bits.
    for text in ("3660830781", "-634136515"):
        (cores,) = mac_cores(f"hw.cpufamily: {text}\nhw.perflevel0.physicalcpu: 4\n")
        assert cores.fields["cpufamily"] == "0xda33d83d"


def test_an_intel_mac_is_described_as_linux_would():
    (cores,) = mac_cores(INTEL_MAC)
    design = design_of(cores.fields)
    assert design.architecture == "skylake-client"
    assert design.instruction_sets == ("sse4", "avx", "avx2")


def test_a_mac_that_says_nothing_has_no_cores():
    assert mac_cores("") == ()


def test_sysctl_is_asked_on_macos(monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, ...]] = []

    def run(command: tuple[str, ...], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 0, stdout=M1, stderr="")

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(host_fields.subprocess, "run", run)
    assert [cores.cores for cores in host_cores()] == [4, 4]
    assert asked == [("/usr/sbin/sysctl", "hw", "machdep.cpu")]


def test_a_mac_without_sysctl_has_no_cores(monkeypatch: pytest.MonkeyPatch):
    def run(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(host_fields.subprocess, "run", run)
    assert host_cores() == ()


def test_linux_is_read_from_its_files_instead(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "linux")
    assert host_cores() == ()
