"""The table of default configurations: what each kind of device runs without being told how."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision
from predictor.core.resources import resources_dir
from predictor.core.runtimes import RUNTIMES
from predictor.devices.catalogue import shipped_devices
from predictor.devices.configurations import implied_configurations
from predictor.devices.default_configurations import (
    best_first,
    deployment,
    deployments,
    has_fast_halves,
    ranking,
    usual_configuration,
    usual_threads,
)
from predictor.services.prediction.engines import measured_configurations

FP32, FP16, INT8 = Precision.FP32, Precision.FP16, Precision.INT8
DEVICES = {device.id: device for device in shipped_devices()}


def runs(*names: str) -> tuple[Configuration, ...]:
    parts = (name.split("/") for name in names)
    return tuple(Configuration(r, Precision(p), int(*t or [0])) for r, p, *t in parts)


# As an engineer who owns the device would deploy, written down by hand.
USUAL = {
    "rtx4090": "tensorrt/fp16",
    "rtx5090": "tensorrt/fp16",
    "a100-pcie-40gb": "tensorrt/fp16",
    "tesla-t4": "tensorrt/fp16",
    "tesla-v100": "tensorrt/fp16",  # its file states no rates
    "tesla-p100-pcie-16gb": "tensorrt/fp16",  # GP100 has twice the rate in halves
    "gtx1660": "tensorrt/fp16",
    "gtx1080": "tensorrt/fp32",
    "tesla-p4": "tensorrt/fp32",
    "gtx980": "tensorrt/fp32",
    "tesla-k80": "tensorrt/fp32",
    "jetson-nano-gpu": "tensorrt/fp16",
    "jetson-orin-nano-gpu": "tensorrt/fp16",
    "arc-a770": "openvino/fp16",
    "uhd-630-i9-10900te": "openvino/fp16",
    "apple-m1-gpu": "coreml/fp16",
    "apple-m2-gpu": "coreml/fp16",
    "apple-m3-gpu": "coreml/fp16",
    "apple-m4-gpu": "coreml/fp16",
    "macbook-air-13-m3-gpu": "coreml/fp16",
    "apple-a10-gpu": "coreml/fp16",
    "apple-a12-gpu": "coreml/fp16",
    "apple-a15-npu": "coreml/fp16",
    "mi300x": "onnxruntime/fp32",
    "rx6900-xt": "onnxruntime/fp32",
    "core-i7-1165g7": "onnxruntime/fp32",
    "epyc-9654": "onnxruntime/fp32",
    "rpi5": "ncnn/fp16",
    "rpi4": "ncnn/fp32",
    "rk3588-cpu": "ncnn/fp16",
    "ampere-altra-q80-30": "onnxruntime/fp32",
    "snapdragon-8-gen-3": "tflite/fp32/4",
    "apple-a16-cpu": "tflite/fp32/2",
    "kirin-810": "tflite/fp32/2",
    "snapdragon-410": "tflite/fp32",  # four cores in all
    "qrb2210-cpu": "ncnn/fp32",  # a board with a chip of a maker of phones
    "esp32-s3": "tflite-micro/int8/1",
    "stm32f746": "tflite-micro/int8",
    "snapdragon-8-gen-3-npu": "qnn/int8",
    "hailo-10h": "hailort/int8",
    "rk3588-npu": "rknn/int8",
    "npu-4-ultra-7-258v": "openvino/int8",
    "exynos-2400-npu": "enn/int8",
    "am62a-c7x": "tidl/int8",
    "coral-usb-accelerator": "tflite/int8",
    "ascend-310p": "cann/fp16",
    "jetson-agx-orin-dla": "tensorrt/int8",
    "xdna2-hx-370": "onnxruntime/int8",
    "apple-m4-npu": "coreml/fp16",
    "apple-a18-gpu": "coreml/fp16",
    "snapdragon-8-elite": "tflite/fp32/4",
    "tensor-g4-mali": "ncnn-vulkan/fp16",
    "rp2350": "tflite-micro/int8/1",
}


def test_a_device_runs_by_default_what_its_owners_deploy() -> None:
    assert {name: DEVICES[name].configurations[0] for name in USUAL} == {
        name: runs(run)[0] for name, run in USUAL.items()
    }


@pytest.mark.slow
def test_the_shipped_files_are_in_the_order_of_the_table() -> None:
    for device in DEVICES.values():
        listed = device.configurations
        assert best_first(device, listed)[0] == listed[0], device.id
        # What was measured of the device follows, then the rest by the table.
        place, measured = ranking(device), set(measured_configurations(device)) - {listed[0]}
        rest = [each for each in listed[1:] if each not in measured]
        assert set(listed[1 : 1 + len(measured)]) == measured, device.id
        assert rest == sorted(rest, key=place), device.id


def test_what_needs_a_quantised_model_is_no_default_but_of_units_made_for_it() -> None:
    made_for_it = {Family.NPU, Family.FPGA, Family.ASIC, Family.MCU}
    others = [device for device in DEVICES.values() if device.family not in made_for_it]
    assert others
    assert not [device.id for device in others if device.configurations[0].precision is INT8]


def test_the_rows_name_runtimes_of_the_registry_and_each_has_a_reason() -> None:
    for row in deployments().values():
        assert set(row.runtimes) <= set(RUNTIMES)
        assert row.reason.endswith(".")
    table = json.loads((resources_dir() / "deployments.json").read_bytes())
    named = {*table["follow"], *(name for names in table["makers"].values() for name in names)}
    assert named <= set(RUNTIMES)
    assert {deployment(device).title for device in DEVICES.values()} == {
        row.title for row in deployments().values()
    }


@pytest.mark.parametrize(
    ("metrics", "architecture", "is_fast"),
    [
        ({"fp32_tflops": 10, "fp16_tflops": 14.9}, "", False),
        ({"fp32_tflops": 10, "fp16_tflops": 15}, "", True),
        ({"fp32_tflops": 10, "fp16_tflops": 10}, "", False),
        # The rate of vectors alone, on a design with matrix units.
        ({"fp32_tflops": 10, "fp16_tflops": 10}, "ampere-ga10x", True),
        ({"fp32_tflops": 10, "fp16_tflops": 10, "matrix_units": 80}, "", True),
        ({}, "volta", True),
        ({}, "pascal-gp10x", False),
        ({}, "kepler-gk210", False),
        ({}, "", False),
    ],
)
def test_fast_halves(metrics: dict[str, float], architecture: str, is_fast: bool) -> None:
    card = Device(
        id="c",
        name="C",
        vendor="NVIDIA",
        family=Family.GPU,
        metrics=metrics,
        architecture=architecture,
    )

    assert has_fast_halves(card) is is_fast
    listed = runs("pytorch/fp32", "tensorrt/fp32", "tensorrt/fp16", "tensorrt/int8")
    first = best_first(card, listed)[0]
    assert first == Configuration("tensorrt", FP16 if is_fast else FP32)


def phone(*clusters: tuple[str, int, float], vendor: str = "Qualcomm", chip: str = "") -> Device:
    cores = tuple(
        Cluster(name=name, cores=n, clock_mhz=mhz, architecture=name) for name, n, mhz in clusters
    )
    family = Family.MOBILE_CPU
    return Device(
        id="p", name="P", vendor=vendor, family=family, metrics={}, clusters=cores, chip=chip
    )


@pytest.mark.parametrize(
    ("device", "threads"),
    [
        (phone(("cortex-x4", 1, 3300), ("cortex-a720", 5, 3000), ("cortex-a520", 2, 2300)), 4),
        (phone(("cortex-a76", 2, 2000), ("cortex-a55", 6, 2000)), 2),  # in order: slow
        (phone(("", 2, 3460), ("", 4, 2020)), 2),  # 58 % of the clock
        (phone(("", 2, 2150), ("", 2, 1600)), 0),  # all four are fast
        (phone(("cortex-a53", 4, 2300), ("cortex-a53", 4, 1800)), 4),
        (phone(("cortex-a53", 2, 2300)), 0),
        (phone(("cortex-a53", 8, 2300), vendor="Rockchip"), 0),
        (phone(("cortex-a53", 8, 2300), chip="qrb5165"), 0),
    ],
)
def test_phones_run_on_their_fast_cores_four_at_most(device: Device, threads: int) -> None:
    assert usual_threads(device, "tflite") == threads
    assert usual_threads(device, "ncnn") == 0


def test_threads_that_a_configuration_states_stay() -> None:
    device = phone(("cortex-a76", 2, 2000), ("cortex-a55", 6, 2000))

    ordered = best_first(device, runs("tflite/fp32/6", "tflite/fp32"))

    assert set(ordered) == set(runs("tflite/fp32/6", "tflite/fp32/2"))


CARD = Device(
    id="card",
    name="Card",
    vendor="NVIDIA",
    family=Family.GPU,
    metrics={"fp32_tflops": 10, "fp16_tflops": 40},
    configurations=best_first(
        Device(
            id="card",
            name="Card",
            vendor="NVIDIA",
            family=Family.GPU,
            metrics={"fp32_tflops": 10, "fp16_tflops": 40},
        ),
        runs(
            "pytorch/fp32",
            "pytorch/amp_fp16",
            "ncnn-vulkan/fp16",
            "onnxruntime/fp32",
            "onnxruntime/fp16",
            "tensorrt/fp32",
            "tensorrt/int8",
            "tensorrt/fp16",
        ),
        measured=runs("pytorch/fp32"),
    ),
)


def test_the_order_of_a_card() -> None:
    assert CARD.configurations == runs(
        "tensorrt/fp16",
        "pytorch/fp32",  # measured
        "tensorrt/fp32",
        "onnxruntime/fp32",
        "onnxruntime/fp16",
        "pytorch/amp_fp16",
        "ncnn-vulkan/fp16",
        "tensorrt/int8",
    )


@pytest.mark.parametrize(
    ("runtime", "precision", "usual"),
    [
        (None, None, "tensorrt/fp16"),
        (None, FP16, "tensorrt/fp16"),
        (None, FP32, "tensorrt/fp32"),  # not what is second because it was measured
        (None, INT8, "tensorrt/int8"),
        (None, Precision.AMP_FP16, "pytorch/amp_fp16"),
        ("tensorrt", None, "tensorrt/fp16"),
        ("onnxruntime", None, "onnxruntime/fp32"),
        ("ncnn-vulkan", None, "ncnn-vulkan/fp16"),
        ("pytorch", FP32, "pytorch/fp32"),
        ("pytorch-compiled", None, "pytorch-compiled/fp32"),  # not listed, can be installed
        ("opencv", FP16, "opencv/fp16"),
    ],
)
def test_a_runtime_or_a_precision_alone_follows_the_table(
    runtime: str | None, precision: Precision | None, usual: str
) -> None:
    assert usual_configuration(CARD, runtime, precision) == runs(usual)[0]


@pytest.mark.parametrize(
    ("device_id", "runtime", "precision", "usual"),
    [
        ("gtx1080", "tensorrt", None, "tensorrt/fp32"),
        ("rpi5", None, FP32, "ncnn/fp32"),
        ("rpi5", "onnxruntime", None, "onnxruntime/fp32"),
        ("arc-a770", None, FP32, "openvino/fp32"),
        ("core-i7-1165g7", "openvino", None, "openvino/fp32"),
        ("snapdragon-8-gen-3", None, INT8, "tflite/int8/4"),
        ("snapdragon-8-gen-3", "ncnn", None, "ncnn/fp16"),
        ("snapdragon-8-gen-3", "pytorch", None, "pytorch/fp32"),  # on all cores
        ("snapdragon-8-gen-3-npu", "qnn", None, "qnn/int8"),
        ("snapdragon-8-gen-3-npu", None, FP16, "qnn/fp16"),
        ("apple-m1-gpu", None, FP32, "coreml/fp32"),
    ],
)
def test_shipped_devices_follow_it_too(
    device_id: str, runtime: str | None, precision: Precision | None, usual: str
) -> None:
    assert usual_configuration(DEVICES[device_id], runtime, precision) == runs(usual)[0]


def test_a_choice_in_place_of_the_default_keeps_its_runtime_at_another_precision() -> None:
    chosen = replace(CARD, configurations=runs("pytorch/fp32", "tensorrt/fp16", "pytorch/fp16"))

    assert usual_configuration(chosen, precision=FP16) == Configuration("pytorch", FP16)


@given(st.permutations(CARD.configurations), st.sampled_from(sorted(DEVICES)))
def test_the_first_is_the_same_in_whatever_order_they_are_listed(
    listed: list[Configuration], device_id: str
) -> None:
    device = DEVICES[device_id]
    if deployments()["nvidia"] is deployment(device):
        first, *_ = best_first(device, listed)
        assert first == best_first(device, CARD.configurations)[0]


@given(st.sampled_from(sorted(DEVICES)))
def test_ordering_twice_changes_nothing_and_loses_nothing(device_id: str) -> None:
    device = DEVICES[device_id]
    once = best_first(device, device.configurations, device.configurations[1:2])

    again = best_first(replace(device, configurations=once), once, device.configurations[1:2])
    assert again == once
    assert set(once) == set(device.configurations)


@pytest.mark.parametrize(
    ("device", "usual"),
    [
        (
            Device(
                id="d",
                name="D",
                vendor="NVIDIA",
                family=Family.GPU,
                metrics={"fp32_tflops": 10, "fp16_tflops": 40},
            ),
            "tensorrt/fp16",
        ),
        (
            Device(
                id="d", name="D", vendor="NVIDIA", family=Family.GPU, metrics={"fp32_tflops": 10}
            ),
            "tensorrt/fp32",
        ),
        (
            Device(
                id="d",
                name="D",
                vendor="Intel",
                family=Family.GPU,
                metrics={"fp32_tflops": 2, "fp16_tflops": 4},
            ),
            "openvino/fp16",
        ),
        (
            Device(id="d", name="D", vendor="AMD", family=Family.GPU, metrics={"fp32_tflops": 2}),
            "onnxruntime/fp32",
        ),
        (
            Device(
                id="d",
                name="D",
                vendor="Apple",
                family=Family.GPU,
                metrics={"fp32_tflops": 2, "fp16_tflops": 2},
            ),
            "coreml/fp16",
        ),
        (
            Device(id="d", name="D", vendor="Hailo", family=Family.NPU, metrics={"int8_tops": 26}),
            "hailort/int8",
        ),
        (
            Device(id="d", name="D", vendor="Nobody", family=Family.NPU, metrics={"int8_tops": 26}),
            "unknown/int8",
        ),
        (
            Device(id="d", name="D", vendor="ST", family=Family.MCU, metrics={"core_count": 2}),
            "tflite-micro/int8/1",
        ),
        (
            Device(
                id="d",
                name="D",
                vendor="MediaTek",
                family=Family.MOBILE_CPU,
                metrics={"core_count": 8},
            ),
            "tflite/fp32/4",
        ),
        (
            Device(
                id="d",
                name="D",
                vendor="Broadcom",
                family=Family.MOBILE_CPU,
                metrics={"core_count": 4},
            ),
            "onnxruntime/fp32",
        ),
    ],
)
def test_a_device_that_states_nothing_has_the_default_of_its_kind(
    device: Device, usual: str
) -> None:
    assert implied_configurations(device)[0] == runs(usual)[0]


def test_the_page_shows_the_table() -> None:
    page = (Path(__file__).parents[3] / "docs" / "defaults.md").read_text(encoding="utf-8")

    for row in deployments().values():
        runtimes = ", ".join(f"`{name}`" for name in row.runtimes) or "-"
        cells = (row.title, runtimes, row.precision or "-", row.threads or "-", row.reason)
        assert f"| {' | '.join(cells)} |" in page
