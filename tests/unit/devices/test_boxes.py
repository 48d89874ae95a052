"""Boxes that ship, and the reader of box files."""

import json
from pathlib import Path
from typing import Any

import pytest

from predictor.core.errors import InputError
from predictor.devices.boxes import UnitEntry, boxes_dir, read_box, shipped_boxes
from predictor.devices.catalogue import shipped_devices

_BOX: dict[str, Any] = {
    "schema": "ctm-box/1",
    "id": "mine",
    "name": "Mine",
    "units": {"gpu": {"device": "rtx3060"}, "dla": {"device": "jetson-agx-orin-dla", "count": 2}},
    "power_w": 30,
    "host_cores": 8,
    "sources": {"power_w": "the label"},
}


def _write(folder: Path, **changes: object) -> Path:
    path = folder / "box.json"
    path.write_text(json.dumps({**_BOX, **changes}), encoding="utf-8")
    return path


def test_at_least_twelve_ship_and_their_units_exist() -> None:
    boxes = shipped_boxes()
    assert len(boxes) >= 12
    devices = {device.id for device in shipped_devices()}
    for box in boxes:
        assert {unit.device for unit in box.units.values()} <= devices, box.id
        assert (boxes_dir() / f"{box.id}.json").is_file()
        assert box.sources["units"]
        assert box.power_w is None or box.sources["power_w"]


def test_units_of_one_box_are_of_one_system_or_said_to_be_combined() -> None:
    systems = {device.id: device.system for device in shipped_devices()}
    for box in shipped_boxes():
        distinct = {systems[unit.device] for unit in box.units.values()}
        assert len(distinct) == 1 or "no product" in box.sources["units"], box.id


def test_a_file_is_read(tmp_path: Path) -> None:
    box = read_box(_write(tmp_path))
    assert box.units == {"gpu": UnitEntry("rtx3060"), "dla": UnitEntry("jetson-agx-orin-dla", 2)}
    assert (box.power_w, box.host_cores, box.mode) == (30.0, 8, "")
    assert read_box(_write(tmp_path, mode="")) == box


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"schema": "ctm-hcv/1"}, "schema"),
        ({"id": "Not A Slug"}, "id"),
        ({"name": ""}, "name"),
        ({"units": {}}, "units"),
        ({"units": {"GPU 1": {"device": "rtx3060"}}}, "units.GPU 1"),
        ({"units": {"gpu": "rtx3060"}}, "units.gpu"),
        ({"units": {"gpu": {"device": ""}}}, "units.gpu.device"),
        ({"units": {"gpu": {"device": "rtx3060", "count": 0}}}, "units.gpu.count"),
        ({"units": {"gpu": {"device": "rtx3060", "count": True}}}, "units.gpu.count"),
        ({"units": {"gpu": {"device": "rtx3060", "cores": 1}}}, "units.gpu.cores"),
        ({"power_w": -1}, "power_w"),
        ({"host_cores": "8"}, "host_cores"),
        ({"sources": {"units": 1}}, "sources"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, changes: dict[str, object], place: str) -> None:
    with pytest.raises(InputError) as refused:
        read_box(_write(tmp_path, **changes))
    assert refused.value.subject.endswith(f"box.json, {place}")
