import os
from pathlib import Path

import psutil
import pytest

from predictor.core.records import Cluster
from predictor.devices.consistency import consistency_warnings, derived_fp32_tflops
from predictor.devices.detection import detect_this_machine
from predictor.devices.schema import device_to_json
from tests.unit.devices.device_files import parse_device
from tests.unit.devices.machines import board, laptop, write


def test_a_laptop_is_described_by_its_system(tmp_path: Path):
    laptop(tmp_path)
    device = detect_this_machine(tmp_path)
    facts = dict(device.metrics)
    assert facts.pop("dram_gb") == round(psutil.virtual_memory().total / 1e9, 3)
    assert facts == {
        "core_count": 4,
        "clock_mhz": 4200,
        "boost_clock_mhz": 4500,
        "fp32_au_per_core": 16,
        "l1_kb_per_core": 32,
        "l2_kb": 1024,
        "llc_kb": 8192,
    }
    assert device.id == "this-machine"
    assert device.vendor == "Intel"
    assert "i7-7700K" in device.name
    assert device.clusters == ()
    # 4 cores x 16 lanes x 2 x 4.5 GHz.
    assert derived_fp32_tflops(device) == pytest.approx(0.576)


def test_every_detected_metric_has_a_source_and_the_file_reads_back(tmp_path: Path):
    laptop(tmp_path)
    device = detect_this_machine(tmp_path)
    assert consistency_warnings(device) == ()
    assert all(source.startswith("this machine: ") for source in device.sources.values())
    assert parse_device(device_to_json(device).encode(), "x").device == device


def test_big_and_little_cores_become_clusters_fastest_first(tmp_path: Path):
    board(tmp_path)
    device = detect_this_machine(tmp_path)
    assert device.clusters == (Cluster("0xd0b", 4, 2400, 8), Cluster("0xd05", 4, 1800, 4))
    assert device.metric("core_count") == 8
    assert device.metric("fp32_au_per_core") is None
    # 512 KiB x 4 + 128 KiB x 4, and one L3 for all.
    assert device.metric("l2_kb") == 2560
    assert device.metric("llc_kb") == 3072
    # 4 x 2.4 GHz x 8 x 2 + 4 x 1.8 GHz x 4 x 2 GFLOP/s.
    assert derived_fp32_tflops(device) == pytest.approx(0.2112)
    assert consistency_warnings(device) == ()


def test_bandwidth_is_never_made_up(tmp_path: Path):
    laptop(tmp_path)
    device = detect_this_machine(tmp_path)
    assert device.metric("dram_bw_gbps") is None
    assert device.metric("fp32_tflops") is None
    assert "measure it" in device.notes


@pytest.mark.parametrize(
    "files",
    [
        {"sys/fs/cgroup/cpu.max": "150000 100000"},
        {
            "proc/self/cgroup": "0::/job/step",
            "sys/fs/cgroup/job/cpu.max": "200000 100000",
            "sys/fs/cgroup/job/step/cpu.max": "max 100000",
        },
        {
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
        },
    ],
    ids=["version 2", "an outer group", "version 1"],
)
def test_a_control_group_limits_the_cores(tmp_path: Path, files: dict[str, str]):
    laptop(tmp_path)
    write(tmp_path, files)
    device = detect_this_machine(tmp_path)
    assert device.metric("core_count") == 2
    assert "allows 2 of 4 cores" in device.notes


def test_a_group_without_a_limit_changes_nothing(tmp_path: Path):
    laptop(tmp_path)
    write(
        tmp_path,
        {
            "sys/fs/cgroup/cpu.max": "max 100000",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory.max": "max",
        },
    )
    device = detect_this_machine(tmp_path)
    assert device.metric("core_count") == 4
    assert "control group" not in device.notes


def test_a_control_group_limits_the_memory(tmp_path: Path):
    laptop(tmp_path)
    write(tmp_path, {"sys/fs/cgroup/memory.max": "500000000"})
    device = detect_this_machine(tmp_path)
    assert device.metric("dram_gb") == pytest.approx(0.5)
    assert "control group" in device.sources["dram_gb"]


def test_hidden_cpu_facts_stay_absent(tmp_path: Path):
    """A container that shows processors without their topology, caches and clocks."""
    write(tmp_path, {"sys/devices/system/cpu/online": "0-1"})
    device = detect_this_machine(tmp_path)
    assert device.metric("core_count") == 2
    assert not device.metrics.keys() & {"l1_kb_per_core", "l2_kb", "llc_kb", "fp32_au_per_core"}


def test_a_system_without_proc_and_sys_still_gives_a_device(tmp_path: Path):
    device = detect_this_machine(tmp_path)
    assert device.id == "this-machine"
    assert device.metric("dram_gb") > 0


def test_hostile_text_in_cpuinfo_is_escaped(tmp_path: Path):
    laptop(tmp_path)
    path = tmp_path / "proc/cpuinfo"
    path.write_text(path.read_text().replace("i7-7700K", "i7\u202e\x1b"), encoding="utf-8")
    device = detect_this_machine(tmp_path)
    assert device.name.isprintable()
    assert parse_device(device_to_json(device).encode(), "x").device == device


def test_the_real_machine_is_described_and_its_file_reads_back():
    device = detect_this_machine()
    assert 1 <= device.metric("core_count") <= os.cpu_count()
    assert parse_device(device_to_json(device).encode(), "x").device == device
