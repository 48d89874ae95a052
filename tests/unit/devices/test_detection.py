import os
from pathlib import Path

import psutil
import pytest

from predictor.core.metrics import Family
from predictor.core.records import Cluster
from predictor.devices import detection, host_fields
from predictor.devices.consistency import consistency_warnings
from predictor.devices.detection import detect_this_machine
from predictor.devices.peaks import derived_fp32_tflops
from predictor.devices.schema import device_to_json
from tests.unit.devices.device_files import parse_device
from tests.unit.devices.host_texts import KABY_LAKE, M1
from tests.unit.devices.machines import add_cpu, board, laptop, write
from tests.unit.devices.processor_texts import AMX, AVX2, intel, text_of


def test_a_laptop_is_described_by_its_system(tmp_path: Path):
    laptop(tmp_path)
    device = detect_this_machine(tmp_path)
    facts = dict(device.metrics)
    assert facts.pop("dram_gb") == round(psutil.virtual_memory().total / 2**30, 3)
    assert facts == {
        "core_count": 4,
        "clock_mhz": 4200,
        "boost_clock_mhz": 4500,
        "fp32_au_per_core": 16,
        "fp32_tflops": 0.576,
        "l1_kb_per_core": 32,
        "l2_kb": 1024,
        "llc_kb": 8192,
    }
    assert device.id == "this-machine"
    assert device.vendor == "Intel"
    assert "i7-7700K" in device.name
    assert device.clusters == ()
    assert device.architecture == "skylake-client"
    assert device.instruction_sets == ("avx2",)
    # 4 cores x 16 lanes x 2 x 4.5 GHz.
    assert derived_fp32_tflops(device) == pytest.approx(0.576)
    assert device.sources["fp32_tflops"] == "this machine: computed: clock x cores x lanes x 2"


def test_every_detected_metric_has_a_source_and_the_file_reads_back(tmp_path: Path):
    laptop(tmp_path)
    device = detect_this_machine(tmp_path)
    assert consistency_warnings(device) == ()
    assert all(source.startswith("this machine: ") for source in device.sources.values())
    assert parse_device(device_to_json(device).encode(), "x").device == device


def test_big_and_little_cores_become_clusters_fastest_first(tmp_path: Path):
    board(tmp_path)
    device = detect_this_machine(tmp_path)
    assert device.clusters == (
        Cluster(
            name="Arm Cortex-A76",
            cores=4,
            clock_mhz=2400,
            fp32_au_per_core=8,
            architecture="cortex-a76",
            instruction_sets=("neon", "fp16", "dotprod"),
        ),
        Cluster(
            name="Arm Cortex-A55",
            cores=4,
            clock_mhz=1800,
            fp32_au_per_core=4,
            architecture="cortex-a55",
            instruction_sets=("neon", "fp16", "dotprod"),
        ),
    )
    assert device.family is Family.MOBILE_CPU
    assert device.vendor == "Arm"
    assert device.architecture == ""  # each cluster has its own
    assert device.metric("core_count") == 8
    assert device.metric("fp32_au_per_core") is None
    # 512 KiB x 4 + 128 KiB x 4, and one L3 for all.
    assert device.metric("l2_kb") == 2560
    assert device.metric("llc_kb") == 3072
    # 4 x 2.4 GHz x 8 x 2 + 4 x 1.8 GHz x 4 x 2 GFLOP/s.
    assert device.metric("fp32_tflops") == pytest.approx(0.2112)
    assert consistency_warnings(device) == ()


def alder_lake(root: Path, *, counters: bool = True) -> None:
    """A Core i5-12600K: 6 Golden Cove of two threads at 4.9 GHz, 4 Gracemont at 3.6 GHz."""
    for number in range(16):
        is_large = number < 12
        first = number - number % 2
        add_cpu(
            root,
            number,
            siblings=f"{first}-{first + 1}" if is_large else "",
            max_khz=4_900_000 if is_large else 3_600_000,
        )
    fields = intel(151, f"{AVX2} avx_vnni", "12th Gen Intel(R) Core(TM) i5-12600K")
    write(
        root,
        {"sys/devices/system/cpu/online": "0-15", "proc/cpuinfo": text_of(*[fields] * 16)}
        | ({"sys/devices/cpu_atom/cpus": "12-15"} if counters else {}),
    )


def test_the_two_kinds_of_cores_of_an_intel_processor_become_clusters(tmp_path: Path):
    alder_lake(tmp_path)
    device = detect_this_machine(tmp_path)
    large, small = device.clusters
    assert (large.architecture, large.cores, large.clock_mhz) == ("golden-cove", 6, 4900)
    assert (small.architecture, small.cores, small.clock_mhz) == ("gracemont", 4, 3600)
    assert (large.fp32_au_per_core, small.fp32_au_per_core) == (16, 8)
    # 6 x 4.9 GHz x 16 x 2 + 4 x 3.6 GHz x 8 x 2 GFLOP/s.
    assert device.metric("fp32_tflops") == pytest.approx(1.171, abs=1e-3)
    assert parse_device(device_to_json(device).encode(), "x").device == device


def test_a_quota_leaves_no_clusters_and_no_rate(tmp_path: Path):
    alder_lake(tmp_path)
    write(tmp_path, {"sys/fs/cgroup/cpu.max": "200000 100000"})
    device = detect_this_machine(tmp_path)
    assert device.clusters == ()
    assert not device.metrics.keys() & {"fp32_au_per_core", "fp32_tflops"}


def test_a_virtual_machine_of_hidden_model_has_the_lanes_that_its_flags_imply(tmp_path: Path):
    add_cpu(tmp_path, 0)
    fields = {**intel(167, AMX, "Intel(R) Xeon(R) Processor"), "cpu MHz": "2600"}
    write(tmp_path, {"sys/devices/system/cpu/online": "0", "proc/cpuinfo": text_of(fields)})
    device = detect_this_machine(tmp_path)
    assert device.architecture == ""
    assert "amx-int8" in device.instruction_sets
    assert device.metric("fp32_au_per_core") == 32
    assert device.sources["fp32_au_per_core"].startswith("this machine: at least: every core with")
    assert "not known for this processor model" in device.notes
    assert parse_device(device_to_json(device).encode(), "x").device == device


class _Frequency:
    max = 3204.0
    current = 600.0


def as_another_system(
    monkeypatch: pytest.MonkeyPatch, cores: tuple[host_fields.HostCores, ...], count: int
) -> None:
    monkeypatch.setattr(detection, "host_cores", lambda: cores)
    monkeypatch.setattr(detection.psutil, "cpu_freq", _Frequency)
    monkeypatch.setattr(detection.psutil, "cpu_count", lambda **_: count)


def test_a_mac_has_both_clusters_with_their_clocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    as_another_system(monkeypatch, host_fields.mac_cores(M1), 8)
    device = detect_this_machine(tmp_path)
    assert [(c.architecture, c.cores, c.clock_mhz) for c in device.clusters] == [
        ("apple-firestorm", 4, 3204),
        ("apple-icestorm", 4, 2064),
    ]
    assert (device.vendor, device.name) == ("Apple", "This PC (Apple M1)")
    assert device.family is Family.CPU
    assert device.metric("l1_kb_per_core") == 128
    assert device.metric("l2_kb") == 16384
    assert parse_device(device_to_json(device).encode(), "x").device == device


def test_windows_gives_a_device_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cores = host_fields.windows_cores(KABY_LAKE, lambda feature: feature in {37, 39, 40})
    as_another_system(monkeypatch, cores, 4)
    device = detect_this_machine(tmp_path)
    assert device.architecture == "skylake-client"
    assert device.metric("fp32_au_per_core") == 16
    assert "i7-7700K" in device.name


def test_windows_does_not_tell_small_cores_apart_so_the_fewest_lanes_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    values = {**KABY_LAKE, "Identifier": "Intel64 Family 6 Model 151 Stepping 2"}
    cores = host_fields.windows_cores(values, lambda feature: feature in {37, 39, 40})
    as_another_system(monkeypatch, cores, 10)
    device = detect_this_machine(tmp_path)
    assert device.architecture == "golden-cove"
    assert device.clusters == ()
    assert device.metric("fp32_au_per_core") == 8


def test_bandwidth_is_never_made_up(tmp_path: Path):
    laptop(tmp_path)
    device = detect_this_machine(tmp_path)
    assert device.metric("dram_bw_gbps") is None
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
    write(tmp_path, {"sys/fs/cgroup/memory.max": "536870912"})
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
