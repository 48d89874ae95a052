import json
from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Precision
from predictor.devices import catalogue
from predictor.devices.architectures import architecture_of, kind
from predictor.devices.catalogue import devices_dir, load_device_files, shipped_devices
from predictor.devices.schema import device_to_json, read_device

SHIPPED = load_device_files()
GUESS_WORDS = ("guess", "assum", "probably", "approx", "estimate", "unknown", "todo", "?")
# What the published measurements were taken on, and what issues, papers and guides name.
EXPECTED = {
    "gtx1080-ti",
    "rtx2080-ti",
    "titan-rtx",
    "titan-x-pascal",
    "titan-xp",
    "gtx-titan-x",
    "tesla-v100-pcie-32gb",
    "eyeriss",
    "zc706",
    "rpi4",
    "pixel-2",
    "pixel-3",
    "essential-ph-1",
    "samsung-a50",
    "samsung-s7",
    "xeon-silver-4114",
    "xeon-silver-4210r",
    "xeon-gold-6226",
    "xeon-gold-6240",
    "tesla-p4",
    "tesla-p100-pcie-16gb",
    "tesla-t4",
    "a100-pcie-40gb",
    "a100-sxm4-40gb",
    "a100-pcie-80gb",
    "h100-sxm",
    "l4",
    "mi100",
    "mi210",
    "mi250",
    "rtx3090",
    "rtx5090",
    "rtx-pro-6000-max-q",
    "core-i9-10940x",
    "rpi3b",
    "rpi3b-plus",
    "rpi5",
    "jetson-orin-nano-gpu",
    "jetson-orin-nano-cpu",
    "core-i7-1165g7",
    # What owners have on the desk and in the pocket.
    "ryzen-7-3700x",
    "ryzen-5-5600x",
    "core-i7-8700",
    "core-i5-12400",
    "celeron-j4125",
    "intel-n150",
    "snapdragon-870",
    "snapdragon-778g-gpu",
    "snapdragon-8-elite",
    "exynos-2400",
    "tensor-g4",
    "dimensity-9000",
    "apple-m4-cpu",
    "apple-m4-npu",
    "apple-a18-gpu",
    "apple-a18-npu",
    "xdna-7840u",
    "npu-5-ultra-x7-358h",
    "jetson-agx-orin-dla",
    "memryx-mx3",
    "steam-deck-gpu",
    "esp32",
    "nrf52840",
    "rp2350",
}


def test_no_shipped_device_gives_a_warning():
    assert {e.device.id: e.warnings for e in SHIPPED if e.warnings} == {}


def test_every_metric_has_a_source_that_names_a_document():
    for entry in SHIPPED:
        device = entry.device
        assert device.sources.keys() == device.metrics.keys(), device.id
        for name, source in device.sources.items():
            assert len(source) > 12, (device.id, name)
            found = [word for word in GUESS_WORDS if word in source.casefold()]
            assert not found, (device.id, name)


def test_a_computed_value_names_its_parts():
    marks = (" x ", " + ", " / ", "half", "PCIe", "USB", "VNNI")
    for entry in SHIPPED:
        for name, source in entry.device.sources.items():
            if source.startswith("computed"):
                assert source.startswith("computed: "), (entry.device.id, name)
                assert any(mark in source for mark in marks), (entry.device.id, name)


def test_tensorrt_multiplies_bytes_on_the_cards_whose_rate_is_known():
    by_bytes = Configuration("tensorrt", Precision.INT8)
    for entry in SHIPPED:
        device = entry.device
        # Published times of an unnamed V100 are in INT8.
        if kind(device) != "nvidia" or device.id == "tesla-v100":
            continue
        design = architecture_of(device)
        has_matrix_rate = design is not None and "int8" in design.matrix_lanes
        is_rated = device.metric("int8_tops") is not None or has_matrix_rate
        assert (by_bytes in device.configurations) == is_rated, device.id


def test_configurations_are_stated_and_their_runtime_known_where_there_is_one():
    accelerators = {Family.ASIC, Family.FPGA, Family.NPU}
    for entry in SHIPPED:
        device = entry.device
        assert device.configurations != (Configuration(),), device.id
        known = device.configurations[0].runtime != "unknown"
        assert known or device.family in accelerators, device.id


def test_an_accelerator_for_integers_does_not_claim_fp32():
    for entry in SHIPPED:
        if entry.device.family in {Family.NPU, Family.FPGA, Family.ASIC}:
            precisions = {c.precision for c in entry.device.configurations}
            computed = {Precision.INT8, Precision.FP16}
            if "fp32_tflops" in entry.device.metrics:
                computed.add(Precision.FP32)
            assert precisions <= computed, entry.device.id


def test_clusters_stand_fastest_first():
    for entry in SHIPPED:
        clocks = [cluster.clock_mhz for cluster in entry.device.clusters]
        assert clocks == sorted(clocks, reverse=True), entry.device.id


def test_the_files_are_written_as_the_program_writes_them():
    for entry in SHIPPED:
        text = (devices_dir() / f"{entry.device.id}.json").read_text(encoding="utf-8")
        assert text == device_to_json(entry.device), entry.device.id


def test_devices_are_many_sorted_by_id_and_unique():
    ids = [entry.device.id for entry in SHIPPED]
    assert len(ids) >= 150
    assert ids == sorted(set(ids))
    assert len({entry.device.name for entry in SHIPPED}) == len(ids)
    assert "this" not in ids


def test_what_published_measurements_were_taken_on_is_there():
    assert not EXPECTED - {entry.device.id for entry in SHIPPED}


def test_gpus_know_twelve_metrics_on_average_and_cpus_nine():
    for family, least in ((Family.GPU, 12), (Family.CPU, 9)):
        counts = [len(e.device.metrics) for e in SHIPPED if e.device.family is family]
        assert sum(counts) / len(counts) >= least


def test_units_of_one_system_share_its_name():
    systems = {entry.device.system for entry in SHIPPED if entry.device.id.startswith("rk3588-")}
    assert systems == {"rk3588"}


def _copy_of(name: str, folder: Path, id_: str) -> Path:
    content = json.loads((devices_dir() / f"{name}.json").read_text(encoding="utf-8"))
    path = folder / f"{id_}.json"
    path.write_text(json.dumps({**content, "id": id_}), encoding="utf-8")
    return path


def test_a_folder_is_read_in_the_order_of_ids_and_other_files_are_left_alone(tmp_path: Path):
    _copy_of("rpi5", tmp_path, "b")
    _copy_of("rpi4", tmp_path, "a")
    (tmp_path / "notes.txt").write_text("not a device", encoding="utf-8")
    assert [entry.device.id for entry in load_device_files(tmp_path)] == ["a", "b"]


def test_a_file_named_after_another_device_is_refused(tmp_path: Path):
    _copy_of("rpi5", tmp_path, "a").rename(tmp_path / "b.json")
    with pytest.raises(InputError, match='describes the device "a"; name the file after'):
        load_device_files(tmp_path)


def test_a_damaged_file_is_named(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_device_files(tmp_path)
    assert caught.value.subject == str(path)


def test_a_missing_folder_is_an_error_of_the_user(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be read"):
        load_device_files(tmp_path / "none")
    with pytest.raises(InputError, match="cannot be read"):
        shipped_devices(tmp_path / "none")


def test_shipped_devices_are_read_as_the_checks_read_them_and_without_them(
    monkeypatch: pytest.MonkeyPatch,
):
    def checked(path: str, *, as_stated: bool) -> None:
        pytest.fail(f"{path}, {as_stated=}, is no usual file: each start would check it")

    monkeypatch.setattr(catalogue, "read_device", checked)
    devices = shipped_devices()
    assert devices == tuple(entry.device for entry in SHIPPED)
    # Equal numbers may still be written in two ways: 8 and 8.0.
    assert [repr(device) for device in devices] == [repr(entry.device) for entry in SHIPPED]


@pytest.mark.parametrize(
    "change",
    [
        {"configurations": [{"runtime": "onnxruntime", "threads": 2}]},
        {"metrics": {"clock_mhz": 2400, "new": 1}, "sources": {}},
        {"later": [1, 2]},
    ],
    ids=["threads", "unknown metric", "unknown field"],
)
def test_a_file_that_is_unusual_is_read_as_the_checks_read_it(
    tmp_path: Path, change: dict[str, object]
):
    path = _copy_of("rpi5", tmp_path, "a")
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | change), encoding="utf-8")
    assert shipped_devices(tmp_path) == (read_device(path, as_stated=True).device,)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "is not JSON"),
        ("[]", "holds a list"),
        ('{"schema": "ctm-hcv/1"}', "id is missing"),
        ((devices_dir() / "rpi5.json").read_text(encoding="utf-8"), 'describes the device "rpi5"'),
    ],
    ids=["cut", "no object", "no fields", "another device"],
)
def test_a_damaged_shipped_file_is_named(tmp_path: Path, content: str, reason: str):
    path = tmp_path / "a.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=reason) as caught:
        shipped_devices(tmp_path)
    assert caught.value.subject == str(path)


def test_the_shipped_gtx_1080_ti_has_the_published_facts():
    # 28 SMs x 128 lanes x 2 x 1.582 GHz = 11.34 TFLOP/s; 352 bit of GDDR5X at 11 GT/s.
    device = read_device(devices_dir() / "gtx1080-ti.json").device
    assert device.metric("fp32_tflops") == pytest.approx(11.34, rel=1e-3)
    assert device.metric("dram_bw_gbps") == pytest.approx(484, rel=1e-3)
    assert device.metric("fp16_tflops") is None
