"""The list of devices: mine first, products with their units, then the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctm_gui.devices.library import DeviceEntry
from ctm_gui.devices.list_rows import DevicesGrid
from predictor.devices.catalogue import shipped_devices
from predictor.devices.schema import DeviceFile

UNITS = ("snapdragon-8-gen-3", "snapdragon-8-gen-3-gpu", "snapdragon-8-gen-3-npu")


@pytest.fixture(scope="module")
def grid() -> DevicesGrid:
    shipped = [DeviceEntry(d.id, DeviceFile(d), is_user=False) for d in shipped_devices()]
    mine = replace(shipped[0].device, id="mine", name="My board")
    own = DeviceEntry("own-1", DeviceFile(mine), is_user=True, stored_id="mine")
    return DevicesGrid([own, *shipped], lambda _: False)


def texts(grid: DevicesGrid) -> list[str]:
    return [grid.columns[0].text(grid.source(place)) for place in range(len(grid.order))]


def test_own_devices_stand_first_and_every_device_has_a_row(grid: DevicesGrid) -> None:
    grid.show_only(grid.search(""))
    assert texts(grid)[0] == "My board · own"
    ids = {row.entry.device.id for row in grid.rows if not row.is_product}
    assert ids == {"mine", *(device.id for device in shipped_devices())}
    assert grid.counts == (len(ids), len(ids))  # a unit of two products counts once


def test_a_product_stands_over_its_units_and_is_found_by_each_of_its_names(
    grid: DevicesGrid,
) -> None:
    grid.show_only(grid.search("galaxy s24 ultra"))
    rows = [grid.rows[row] for row in grid.order]
    assert [row.is_product for row in rows] == [True, False, False, False]
    assert [row.entry.device.id for row in rows[1:]] == list(UNITS)
    assert texts(grid)[0].startswith("Galaxy S24 Ultra and ")
    assert texts(grid)[1:] == [
        "      CPU: Snapdragon 8 Gen 3",
        "      GPU: Snapdragon 8 Gen 3, Adreno 750",
        "      NPU: Snapdragon 8 Gen 3 (Hexagon NPU)",
    ]
    assert grid.counts[0] == 3
    assert grid.row_of(UNITS[0]) == int(grid.order[1])  # not that of the product


def test_devices_sorted_by_their_facts_stand_alone(grid: DevicesGrid) -> None:
    grid.show_only(grid.search("galaxy s24 ultra"))
    grid.sort(1, descending=True)
    facts = [int(grid.columns[1].text(row)) for row in grid.order]
    assert facts == sorted(facts, reverse=True)
    assert {grid.rows[row].entry.device.id for row in grid.order} == set(UNITS)
    assert "Qualcomm Snapdragon 8 Gen 3 (CPU)" in texts(grid)
    grid.sort(None)
    assert grid.rows[int(grid.order[0])].is_product


def test_a_unit_after_the_name_of_a_product_finds_it_alone(grid: DevicesGrid) -> None:
    grid.show_only(grid.search("galaxy s24 ultra npu"))
    assert [grid.rows[row].entry.device.id for row in grid.order][1:] == [UNITS[2]]
    grid.show_only(grid.search("raspberry 4"))  # no year, no other number that holds a 4
    assert {grid.rows[row].entry.device.id for row in grid.order} >= {"rpi4"}
    assert "rpi5" not in {grid.rows[row].entry.device.id for row in grid.order}


def test_a_product_without_a_unit_that_matches_is_not_shown(grid: DevicesGrid) -> None:
    grid.show_only(grid.search("galaxy s24 ultra nonsense"))
    assert not grid.order.size
