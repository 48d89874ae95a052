"""Products by the name on the box, in the tree of targets and in the palette."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from ctm_gui.targets.choice import TargetSelection
from ctm_gui.targets.products import MAX_PRODUCTS
from ctm_gui.targets.tree_model import PRODUCTS, TargetsTreeModel
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.services.devices.catalogue import Catalogue
from predictor.services.devices.products import Product, ProductKind, Unit

CHECK = Qt.ItemDataRole.CheckStateRole
WAIT_MS = 30_000


def device(name: str, family: Family) -> Device:
    return Device(id=name, name=f"Chips {name}", vendor="Chips", family=family, metrics={})


def product(name: str, year: int, chip: str, region: str = "", **units: str) -> Product:
    return Product(
        name=name,
        aliases=(),
        maker="Maker",
        kind=ProductKind.PHONE,
        year=year,
        chip=chip,
        region=region,
        source="its box",
        device_ids={Unit(name.upper()): identity for name, identity in units.items()},
    )


NEW = product("Sky 9", 2025, "C9", cpu="c9", gpu="c9-gpu", npu="c9-npu")
HERE = product("Sky 8", 2024, "C8", "Europe", cpu="c8", gpu="")
THERE = product("Sky 8", 2024, "C9", "Asia", cpu="c9", gpu="c9-gpu")
LACKING = product("Sky 1", 2019, "C1", cpu="")


@pytest.fixture
def phones() -> Catalogue:
    families = {"c8": Family.MOBILE_CPU, "c9": Family.MOBILE_CPU, "c9-gpu": Family.MOBILE_GPU}
    devices = [device(name, family) for name, family in families.items()]
    devices.append(device("c9-npu", Family.NPU))
    return Catalogue(devices, products=lambda: (NEW, HERE, THERE, LACKING))


@pytest.fixture
def model(qtbot: QtBot, phones: Catalogue) -> TargetsTreeModel:
    made = TargetsTreeModel(TargetSelection(phones, []))
    QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)
    return made


def below(model: TargetsTreeModel, parent: QModelIndex = QModelIndex()) -> Iterator[QModelIndex]:
    return (model.index(row, 0, parent) for row in range(model.rowCount(parent)))


def texts(model: TargetsTreeModel, parent: QModelIndex = QModelIndex()) -> list[str]:
    return [str(index.data()) for index in below(model, parent)]


def test_products_are_there_once_something_is_typed(model: TargetsTreeModel) -> None:
    assert PRODUCTS not in texts(model)
    model.set_filter("phone", checked_only=False)
    assert texts(model)[0] == PRODUCTS
    assert texts(model, model.index(0, 0)) == [
        "Sky 9 (C9)",
        "Sky 8 (C8, Europe)",
        "Sky 8 (C9, Asia)",
        "Sky 1 (C1) · not in the catalogue",
    ]


def test_ticking_a_product_ticks_its_units(model: TargetsTreeModel) -> None:
    model.set_filter("sky 9", checked_only=False)
    (row,) = model.product_indexes()
    assert texts(model, row) == ["CPU: c9", "GPU: c9-gpu", "NPU: c9-npu"]
    assert model.setData(row, Qt.CheckState.Checked.value, CHECK)
    assert model.visible_device_ids() == ["c9", "c9-gpu", "c9-npu"]
    assert [Qt.CheckState(i.data(CHECK)) for i in below(model, row)] == [Qt.CheckState.Checked] * 3
    model.set_filter("sky 9", checked_only=True)
    assert len(model.product_indexes()) == 1


def test_a_product_without_devices_says_so_and_has_no_box(model: TargetsTreeModel) -> None:
    model.set_filter("sky 1", checked_only=False)
    (row,) = model.product_indexes()
    assert row.data(CHECK) is None
    assert not row.flags() & Qt.ItemFlag.ItemIsUserCheckable
    assert "does not have the C1" in row.data(Qt.ItemDataRole.ToolTipRole)
    model.set_filter("sky 1", checked_only=True)
    assert texts(model) == []


def test_what_is_lacking_stands_in_the_tip(model: TargetsTreeModel) -> None:
    model.set_filter("europe", checked_only=False)
    (row,) = model.product_indexes()
    tip = row.data(Qt.ItemDataRole.ToolTipRole)
    assert "does not have its GPU" in tip
    assert "Maker, 2024" in tip


def test_of_many_products_the_newest_are_shown_and_the_rest_counted(qtbot: QtBot) -> None:
    many = [replace(NEW, name=f"Sky {n}") for n in range(MAX_PRODUCTS + 3)]
    catalogue = Catalogue([device("c9", Family.CPU)], products=lambda: many)
    model = TargetsTreeModel(TargetSelection(catalogue, []))
    model.set_filter("phone", checked_only=False)
    rows = texts(model, model.index(0, 0))
    assert len(rows) == MAX_PRODUCTS + 1
    assert rows[-1] == "3 more: type another word"


def test_the_shipped_products_are_found_in_the_panel(qtbot: QtBot, window: MainWindow) -> None:
    panel = window.targets_panel
    qtbot.keyClicks(panel.search_box, "galaxy s23")
    rows = panel.model.product_indexes()
    assert str(rows[0].data()) == "Galaxy S23 (Snapdragon 8 Gen 2 for Galaxy)"
    assert panel.tree.isExpanded(rows[0])
    assert texts(panel.model, rows[0])[0] == "CPU: Snapdragon 8 Gen 2", "not CPU twice"
    panel.search_box.setText("phone")
    rows = panel.model.product_indexes()
    assert len(rows) == MAX_PRODUCTS + 1
    assert not any(map(panel.tree.isExpanded, rows)), "names are what is looked for"


@pytest.mark.usefixtures("themed")
def test_the_palette_ticks_a_product(
    qtbot: QtBot, window: MainWindow, workspace: Workspace
) -> None:
    expected = workspace.selection.catalogue.products("galaxy s24 exynos")[0].devices
    palette = window.assistance.show_palette()
    width_px = palette.width()
    qtbot.keyClicks(palette.edit, "galaxy s21 fe")
    assert "the catalogue does not have its NPU" in palette.tip.text()
    assert palette.minimumSizeHint().width() <= width_px, "a long tip goes on in a second line"
    palette.edit.clear()
    qtbot.keyClicks(palette.edit, "galaxy s24 exynos 2400")
    item = palette.list.topLevelItem(0)
    assert item is not None
    assert item.text(0).startswith("Targets: Galaxy S24 (Exynos 2400")
    qtbot.keyClick(palette.edit, Qt.Key.Key_Return)
    ids = {device.id for device in expected}
    qtbot.waitUntil(lambda: ids <= set(workspace.selection.selected_ids), timeout=WAIT_MS)


def announced(model: TargetsTreeModel) -> list[tuple[str, int, int]]:
    """Return a list that grows by the text of each row that is announced, and its column."""
    changes: list[tuple[str, int, int]] = []

    def note(first: QModelIndex, last: QModelIndex) -> None:
        for row in range(first.row(), last.row() + 1):
            text = str(first.siblingAtColumn(0).siblingAtRow(row).data())
            changes.append((text, first.column(), last.column()))

    model.dataChanged.connect(note)
    return changes


def test_a_tick_announces_its_row_and_the_groups_around_it(
    qtbot: QtBot, catalogue: Catalogue
) -> None:
    selection = TargetSelection(catalogue, [])
    model = TargetsTreeModel(selection)
    changes = announced(model)
    device = catalogue.by_id["rtx4090"]
    selection.select([device.id], selected=True)
    assert [text for text, *_ in changes] == ["GPUs", device.vendor, "GeForce RTX 4090"]


def test_badges_of_all_devices_are_announced_in_turns(qtbot: QtBot, catalogue: Catalogue) -> None:
    selection = TargetSelection(catalogue, [])
    model = TargetsTreeModel(selection)
    changes = announced(model)
    selection.set_badges(dict.fromkeys(catalogue.by_id, ("from specs", "")))
    assert len(changes) < len(catalogue.by_id)
    qtbot.waitUntil(lambda: not model.findChildren(QTimer, "turns"))
    assert len(changes) > len(catalogue.by_id)
    changes.clear()
    selection.set_badges({})
    model.set_filter("4090", checked_only=False)  # other rows, which nothing is to announce
    qtbot.waitUntil(lambda: not model.findChildren(QTimer, "turns"))
    assert not changes
