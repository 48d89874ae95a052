import json

import pytest

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Precision
from predictor.devices.catalogue import devices_dir
from predictor.devices.schema import DeviceFile, read_device
from tests.unit.devices.device_files import parse_device

NVIDIA_EXAMPLE = {
    "Device": "Example GPU 40GB",
    "Dev_Mem": 40,
    "Mem_Bw": 1555,
    "Num_Sm": 108,
    "Core_Per_SM": 64,
    "Freq": 1410,
    "SingleFLOPs": 19492,
    "L2Cache": 40,
}


def imported(content: dict[str, object]) -> DeviceFile:
    return parse_device(json.dumps(content).encode(), "gpu.json")


def test_an_nvidia_gpu_is_imported_in_our_units_without_a_warning():
    result = imported(NVIDIA_EXAMPLE)
    device = result.device
    assert (device.id, device.name, device.vendor, device.family) == (
        "example-gpu-40gb",
        "Example GPU 40GB",
        "NVIDIA",
        Family.GPU,
    )
    assert dict(device.metrics) == {
        "dram_gb": 40,
        "dram_bw_gbps": 1555,
        "core_count": 108,
        "fp32_au_per_core": 64,
        "boost_clock_mhz": 1410,
        "fp32_tflops": pytest.approx(19.492),
        "l2_kb": 40960,
    }
    assert device.configurations == (Configuration("pytorch", Precision.FP32),)
    assert result.warnings == ()


def test_an_amd_gpu_counts_sixteen_lanes_a_simd_and_keeps_its_matrix_rate_apart():
    content = {
        "Device": "Example Accelerator",
        "Dev_Mem": 64,
        "Mem_Bw": 1640,
        "Num_Sm": 104,
        "Core_Per_SM": 4,
        "Freq": 1700,
        "SingleFLOPsMM": 45300,
        "SingleFLOPsVEC": 22600,
        "L2Cache": 16,
    }
    result = imported(content)
    assert result.device.vendor == "AMD"
    assert result.device.metric("fp32_au_per_core") == 64
    assert result.device.metric("fp32_tflops") == pytest.approx(22.6)
    assert dict(result.unknown_metrics) == {"SingleFLOPsMM": 45300}
    assert len(result.warnings) == 1
    assert "SingleFLOPsMM" in result.warnings[0]


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("Tesla P100-PCIE-16GB", "tesla-p100-pcie-16gb"),
        ("Tesla P4", "tesla-p4"),
        ("Tesla V100-PCIE-32GB", "tesla-v100-pcie-32gb"),
        ("Tesla T4", "tesla-t4"),
        ("NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"),
        ("NVIDIA L4", "l4"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("AMD Instinct MI100", "mi100"),
        ("AMD Instinct MI210", "mi210"),
        ("AMD Instinct MI250", "mi250"),
        ("Example A1000", None),
    ],
)
def test_chip_and_architecture_follow_from_a_known_name(name, identity):
    device = imported({**NVIDIA_EXAMPLE, "Device": name}).device
    chip, architecture = "", ""
    if identity is not None:
        shipped = read_device(devices_dir() / f"{identity}.json").device
        chip, architecture = shipped.chip, shipped.architecture
        assert chip
    assert (device.chip, device.architecture) == (chip, architecture)


def test_a_field_of_the_wrong_type_is_named_in_its_own_words():
    with pytest.raises(InputError, match=r"gpu\.json: Num_Sm is a text where a number"):
        imported({**NVIDIA_EXAMPLE, "Num_Sm": "many"})


def test_a_value_out_of_range_is_refused():
    with pytest.raises(InputError, match="dram_bw_gbps is 0, outside of"):
        imported({**NVIDIA_EXAMPLE, "Mem_Bw": 0})


def test_a_name_without_letters_still_gives_a_valid_id():
    assert imported({**NVIDIA_EXAMPLE, "Device": "+++"}).device.id == "gpu"
    assert len(imported({**NVIDIA_EXAMPLE, "Device": "ab " * 40}).device.id) <= 64
