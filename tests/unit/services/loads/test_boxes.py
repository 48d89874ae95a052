"""Boxes of a load: by id, by file, by devices, by a table; their facts follow from the devices."""

from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.loads.box_files import is_box_file
from predictor.services.loads.boxes import (
    all_boxes,
    box_of_devices,
    box_of_load,
    budget_watts,
    named_box,
)
from predictor.services.loads.load_file import read_load
from predictor.services.loads.records import Load

_CATALOGUE = load_catalogue()
_STREAM = '\n[[stream]]\nname = "a"\nrate = 1\n[[stream.stage]]\nmodel = "m.onnx"\n'


def _load(folder: Path, box: str) -> Load:
    path = folder / "load.toml"
    path.write_text(box + _STREAM, encoding="utf-8")
    return read_load(path)


def test_all_boxes_have_their_devices() -> None:
    boxes = {box.id: box for box in all_boxes(_CATALOGUE)}
    orin = boxes["jetson-agx-orin"]
    assert (orin.memory_bytes, orin.cores) == (64 * 2**30, 12)
    assert orin.bandwidth_bytes_per_s == 204.8e9
    pc = boxes["pc-rtx3060"]
    assert [unit.name for unit in pc.shared] == ["cpu"]  # the card has its own memory
    assert boxes["rpi5-hailo-8"].memory_bytes is None  # the board is sold with several


def test_a_mode_sets_the_budget(tmp_path: Path) -> None:
    box = box_of_load(_load(tmp_path, '[box]\nid = "jetson-orin-nx-16gb"\n'), _CATALOGUE)
    assert budget_watts(box) == 25.0
    table = '[box]\nid = "jetson-orin-nx-16gb"\nmode = "10w"\n'
    assert budget_watts(box_of_load(_load(tmp_path, table), _CATALOGUE)) == 10.0
    # What the load states of itself counts before the mode.
    assert budget_watts(box_of_load(_load(tmp_path, table + "power_w = 8\n"), _CATALOGUE)) == 8.0
    with pytest.raises(
        InputError, match=r"line 3, mode: no unit of .* has a mode 5W; there is MAXN"
    ):
        box_of_load(_load(tmp_path, table.replace("10w", "5W")), _CATALOGUE)


def test_a_table_of_units_and_stated_facts(tmp_path: Path) -> None:
    table = (
        "[box]\nmemory_gb = 4\nhost_cores = 2\npower_w = 30\n"
        'units = { gpu = "rtx 3060", cpu = { device = "rpi5", count = 2 } }\n'
    )
    box = box_of_load(_load(tmp_path, table), _CATALOGUE)
    assert (box.units["gpu"].device.id, box.units["cpu"].count) == ("rtx3060", 2)
    assert (box.memory_bytes, box.cores, budget_watts(box)) == (4 * 2**30, 2, 30.0)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", "it names no box"),
        ("[box]\nmemory_gb = 4\n", "line 1, box: it needs one of id, file and units"),
        ('[box]\nid = "toaster"\n', "line 2, id: toaster: is no box"),
        ('[box]\nunits = { gpu = "rtx3" }\n', "line 2, units: rtx3: "),
        ("[box]\nunits = { gpu = 3 }\n", "line 2, units: it is not a table of units"),
        ('[box]\nfile = "none.json"\n', "line 2, file: "),
        ('[box]\nid = "rk3588"\npower_w = 0\n', "line 3, power_w: it is not a number"),
        ('[box]\nid = "rk3588"\ncolour = "red"\n', "line 3, colour: no such key"),
    ],
)
def test_a_wrong_box_is_said_with_its_line(tmp_path: Path, table: str, words: str) -> None:
    with pytest.raises(InputError) as refused:
        box_of_load(_load(tmp_path, table), _CATALOGUE)
    assert words in str(refused.value)


def test_devices_are_a_box_by_their_families() -> None:
    devices = [_CATALOGUE.by_id[name] for name in ("rk3588-npu", "rk3588-cpu", "rtx3060")]
    assert list(box_of_devices(devices).units) == ["npu", "cpu", "gpu"]
    cards = [_CATALOGUE.by_id[name] for name in ("rtx3060", "rtx4090")]
    assert list(box_of_devices(cards).units) == ["rtx3060", "rtx4090"]


def test_an_id_that_is_none_names_those_that_are() -> None:
    with pytest.raises(InputError, match="choose one of apple-m2, "):
        named_box("toaster", _CATALOGUE)


@pytest.mark.parametrize(
    ("content", "is_one"),
    [
        ('{"schema": "ctm-box/1"}', True),
        ('{"schema": "ctm-box/9", "units": 3}', True),
        ('{"schema": "ctm-hcv/1"}', False),
        ('{"schema": 3}', False),
        ('{"schema": "ctm-box/1"', False),
        ("[]", False),
    ],
)
def test_a_file_of_a_box_says_so_in_its_schema(tmp_path: Path, content: str, is_one: bool) -> None:
    path = tmp_path / "file.json"
    path.write_text(content, encoding="utf-8")
    assert is_box_file(str(path)) == is_one
    assert not is_box_file(str(tmp_path / "none.json"))
