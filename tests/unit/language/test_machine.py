from __future__ import annotations

import dataclasses
import math

import pytest

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device, MeasuredRate
from predictor.devices.catalogue import shipped_devices
from predictor.language.cards import Cards
from predictor.language.machine import machine_of, shared, with_float8
from predictor.language.runtimes import runtime_for
from tests.support.decoder_architectures import gpu

SHIPPED = shipped_devices()
CATALOGUE = {device.id: device for device in SHIPPED}


def test_a_card_has_its_stated_rates():
    machine = machine_of(gpu(boost_clock_mhz=2000, int8_tops=160))
    assert machine.bandwidth == machine.stated_bandwidth == 500e9
    assert (machine.vector, machine.matrix, machine.peak) == (20e12, 80e12, 160e12)
    assert (machine.clock, machine.threads) == (2, 1)


def test_large_dies_start_two_thread_blocks_in_a_cycle():
    one = machine_of(gpu(boost_clock_mhz=2000))
    two = machine_of(dataclasses.replace(gpu(boost_clock_mhz=2000), architecture="hopper"))
    assert (one.block_rate, two.block_rate) == (2, 4)


def test_a_card_of_two_dies_is_two_devices_to_software():
    dies = {d.id: machine_of(d).dies for d in SHIPPED if d.id in {"mi210", "mi250", "mi300x"}}
    assert dies == {"mi210": 1, "mi250": 2, "mi300x": 1}
    mi250 = next(d for d in SHIPPED if d.id == "mi250")
    assert shared(machine_of(mi250), Cards(2), None).dies == 4


def test_floats_of_8_bits_are_multiplied_at_the_rate_of_bytes_where_the_units_can():
    of = {d.id: d for d in SHIPPED}
    h100, a100 = of["h100-sxm"], of["a100-sxm4-80gb"]
    assert with_float8(machine_of(h100), h100).matrix == pytest.approx(
        2 * machine_of(h100).matrix, rel=0.01
    )
    assert with_float8(machine_of(a100), a100) == machine_of(a100)


def test_the_threads_of_a_processor_meet():
    facts = {"dram_bw_gbps": 50.0, "fp32_tflops": 1.0, "core_count": 12}
    machine = machine_of(Device(id="p", name="P", vendor="Intel", family=Family.CPU, metrics=facts))
    assert machine.threads == 12


def test_half_of_what_was_measured_counts():
    device = dataclasses.replace(gpu(), measured={"dram_bw_gbps": MeasuredRate(205.0, "stencil")})
    assert machine_of(device).bandwidth == pytest.approx(500e9 * math.sqrt(0.41 / 0.82))
    assert machine_of(device).stated_bandwidth == 500e9


def test_a_processor_multiplies_with_its_vectors():
    facts = {"dram_bw_gbps": 50.0, "fp32_tflops": 1.0, "fp16_tflops": 2.0}
    machine = machine_of(Device(id="p", name="P", vendor="Intel", family=Family.CPU, metrics=facts))
    assert (machine.vector, machine.matrix, machine.peak) == (1e12, 1e12, 2e12)
    assert machine.stated_bandwidth == 50e9
    assert machine.bandwidth == 50e9


def test_all_cores_of_a_processor_are_slower_than_one_and_wide_lanes_count_half():
    facts = {"dram_bw_gbps": 50.0, "core_count": 10, "fp32_au_per_core": 16}
    facts |= {"clock_mhz": 2000, "boost_clock_mhz": 4500, "fp32_tflops": 1.44}
    machine = machine_of(Device(id="p", name="P", vendor="Intel", family=Family.CPU, metrics=facts))
    assert machine.vector == 1.44e12
    assert machine.matrix == pytest.approx(2 * 16 * 10 * 3e9)
    wide = machine_of(
        Device(
            id="p",
            name="P",
            vendor="Intel",
            family=Family.CPU,
            metrics=facts | {"fp32_au_per_core": 32},
        )
    )
    assert wide.matrix == pytest.approx(1.5 * machine.matrix)
    # What is stated is not exceeded, say where a mode turns cores off.
    less = machine_of(
        Device(
            id="p",
            name="P",
            vendor="Intel",
            family=Family.CPU,
            metrics=facts | {"fp32_tflops": 0.5},
        )
    )
    assert less.matrix == 0.5e12


def test_cards_state_what_their_units_multiply():
    a10g = machine_of(CATALOGUE["a10g"])
    # 80 SMs of 256 FP16 products a clock, 1.71 GHz.
    assert a10g.stated_matrix == pytest.approx(70.04e12, rel=1e-3)
    for device in SHIPPED:
        if device.metric("matrix_units") and device.metric("fp32_tflops"):
            assert device.metric("fp16_tflops") or device.metric("bf16_tflops"), device.id
        if device.architecture == "pascal-gp10x":
            # DP4A multiplies bytes four at once; a kernel of halves' rate is half of it.
            machine = machine_of(device)
            assert machine.stated_matrix == pytest.approx(2 * machine.vector, rel=0.05), device.id


def test_rates_are_derived_from_lanes():
    facts = {"dram_bw_gbps": 50.0, "fp32_au_per_core": 16, "core_count": 4, "clock_mhz": 2500}
    machine = machine_of(Device(id="p", name="P", vendor="Intel", family=Family.CPU, metrics=facts))
    assert machine.vector == pytest.approx(2 * 16 * 4 * 2.5e9)


@pytest.mark.parametrize("lacking", ["dram_bw_gbps", "fp32_tflops"])
def test_a_device_without_its_facts_is_refused(lacking):
    facts = {"dram_bw_gbps": 50.0, "fp32_tflops": 1.0}
    del facts[lacking]
    with pytest.raises(InputError, match=lacking):
        machine_of(Device(id="p", name="P", vendor="Intel", family=Family.CPU, metrics=facts))


@pytest.mark.parametrize(
    ("vendor", "family", "architecture", "name", "runtime", "backend"),
    [
        ("NVIDIA", Family.GPU, "ada", "", "llama.cpp", "cuda"),
        ("Apple", Family.GPU, "", "", "llama.cpp", "metal"),
        ("AMD", Family.GPU, "rdna-3", "", "llama.cpp", "vulkan"),
        ("AMD", Family.GPU, "cdna-3", "", "llama.cpp", "rocm"),
        ("AMD", Family.GPU, "rdna-3", "llama.cpp-rocm", "llama.cpp-rocm", "rocm"),
        ("NVIDIA", Family.GPU, "", "llama.cpp-vulkan", "llama.cpp-vulkan", "vulkan"),
        ("Qualcomm", Family.MOBILE_GPU, "", "", "llama.cpp", "vulkan"),
        ("Broadcom", Family.MOBILE_CPU, "", "", "llama.cpp", "cpu"),
        ("Qualcomm", Family.NPU, "hexagon-v79", "", "genie", "genie"),
        ("NVIDIA", Family.GPU, "", "vllm", "vllm", "vllm"),
        (
            "Intel",
            Family.CPU,
            "",
            "onnxruntime-genai",
            "onnxruntime-genai",
            "onnxruntime-genai-cpu",
        ),
    ],
)
def test_the_runtime_of_a_device(vendor, family, architecture, name, runtime, backend):
    device = Device(
        id="d", name="D", vendor=vendor, family=family, metrics={}, architecture=architecture
    )
    chosen, of = runtime_for(device, name)
    assert (chosen.name, of) == (runtime, backend)


@pytest.mark.parametrize(
    ("vendor", "family", "name", "words"),
    [
        ("Qualcomm", Family.NPU, "", "no runtime of language models"),
        ("Hailo", Family.NPU, "", "no runtime of language models is known for D"),
        ("Apple", Family.GPU, "llama.cpp-vulkan", "does not run on D, where llama.cpp, mlc can"),
        ("Intel", Family.CPU, "vllm", "does not run on D"),
        ("STMicroelectronics", Family.MCU, "", "no runtime of language models"),
    ],
)
def test_what_does_not_run_is_refused(vendor, family, name, words):
    with pytest.raises(InputError, match=words):
        runtime_for(Device(id="d", name="D", vendor=vendor, family=family, metrics={}), name)


def test_power_bounds_the_rate_of_products_on_large_cards() -> None:
    metrics = {"dram_bw_gbps": 900.0, "fp32_tflops": 90.0, "fp16_tflops": 360.0}
    rates = [
        machine_of(
            Device(
                id="d", name="d", vendor="NVIDIA", family=Family.GPU, metrics={**metrics, **power}
            )
        ).matrix
        / 1e12
        for power in ({}, {"tdp_w": 600.0}, {"tdp_w": 400.0}, {"tdp_w": 288.0})
    ]
    # 360 TFLOP/s at 1.6 pJ need 576 W.
    assert rates == pytest.approx([360, 360, 360 * (400 / 576) ** 0.7, 360 * 0.5**0.7])
    phone = Device(
        id="p", name="p", vendor="Arm", family=Family.MOBILE_GPU, metrics={**metrics, "tdp_w": 5.0}
    )
    assert machine_of(phone).matrix == machine_of(phone).stated_matrix == 360e12
