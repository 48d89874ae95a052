from __future__ import annotations

import pytest

from predictor.core.metrics import METRIC_BY_NAME, METRICS, Family, Metric
from predictor.presentation.metric_labels import METRIC_HELP

# Checkpoints and device files depend on this order: new names are appended, here too.
SHIPPED = [
    "clock_mhz", "boost_clock_mhz", "core_count", "fp32_au_per_core", "matrix_units", "dsp_count",
    "fp32_tflops", "tf32_tflops", "fp16_tflops", "bf16_tflops", "int8_tops", "int4_tops",
    "l1_kb_per_core", "l2_kb", "llc_kb", "onchip_sram_kb", "dram_gb", "dram_bw_gbps", "l2_bw_gbps",
    "host_link_gbps", "tdp_w", "process_nm", "fp32_matrix_tflops",
    "flash_kb", "host_clock_ghz",
]  # fmt: skip

UNIT_OF_SUFFIX = {
    "_mhz": "MHz", "_ghz": "GHz", "_tflops": "TFLOP/s", "_tops": "TOP/s", "_kb": "KiB",
    "_kb_per_core": "KiB",
    "_gb": "GiB", "_gbps": "GB/s", "_w": "W", "_nm": "nm",
}  # fmt: skip


def test_the_order_is_part_of_the_format() -> None:
    assert [metric.name for metric in METRICS] == SHIPPED


def test_a_metric_is_found_by_its_name() -> None:
    assert len(METRIC_BY_NAME) == len(METRICS)
    assert all(METRIC_BY_NAME[metric.name] is metric for metric in METRICS)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_says_what_it_is(metric: Metric) -> None:
    assert 0 < metric.low < metric.high
    assert metric.label
    assert METRIC_HELP[metric.name].endswith(".")
    suffixes = [unit for end, unit in UNIT_OF_SUFFIX.items() if metric.name.endswith(end)]
    assert [metric.unit] == (suffixes or [""])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # NVIDIA H100 SXM data sheet; Raspberry Pi 5 product brief; STM32F4 at 168 MHz.
        ("dram_bw_gbps", 3350.0),
        ("fp16_tflops", 989.0),
        ("clock_mhz", 2400.0),
        ("clock_mhz", 168.0),
        ("tdp_w", 700.0),
        ("process_nm", 28.0),
    ],
)
def test_real_values_are_in_range(name: str, value: float) -> None:
    metric = METRIC_BY_NAME[name]
    assert metric.low <= value <= metric.high


def test_families_are_the_words_of_device_files() -> None:
    assert list(Family) == [
        "gpu", "cpu", "mobile_cpu", "mobile_gpu", "npu", "fpga", "asic", "mcu",
    ]  # fmt: skip
