from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAction, QFont, QUndoStack
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QMenu, QToolButton
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.models.shelf import ModelShelf
from ctm_gui.settings import Settings
from ctm_gui.targets.choice import TargetSelection
from ctm_gui.targets.panel import RowDelegate, TargetsPanel, target_menu
from ctm_gui.targets.ranking import ConfigurationRanking
from ctm_gui.targets.tree_model import FAMILY_NAMES, Column, TargetsTreeModel
from ctm_gui.targets.variant_dialog import VariantDialog
from ctm_gui.tasks.serial import SerialWorker
from ctm_gui.tasks.store_client import OwnMeasurements
from ctm_gui.window.session import remember_targets, restore_targets
from ctm_gui.window.workspace import Workspace
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision
from predictor.services.devices.catalogue import DEFAULT_DEVICE_IDS, Catalogue, load_catalogue
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.prediction.targets import resolve_targets

CHECK = Qt.ItemDataRole.CheckStateRole


def device(name: str, vendor: str, family: Family) -> Device:
    return Device(
        id=name.lower().replace(" ", "-"),
        name=f"{vendor} {name}",
        vendor=vendor,
        family=family,
        metrics={},
    )


@pytest.fixture
def few() -> Catalogue:
    return Catalogue(
        [
            device("RTX 1", "NVIDIA", Family.GPU),
            device("RTX 2", "NVIDIA", Family.GPU),
            device("Arc 1", "Intel", Family.GPU),
            device("Pi 5", "Raspberry", Family.CPU),
        ],
        products=tuple,
    )


@pytest.fixture
def shelf(qapp: QApplication, ingestion: IngestionWorker) -> Iterator[ModelShelf]:
    worker = SerialWorker("reader")
    yield ModelShelf(ingestion, worker, QUndoStack())
    worker.close()


@pytest.fixture
def ranking(qapp: QApplication, shelf: ModelShelf) -> Iterator[ConfigurationRanking]:
    worker = SerialWorker("predictor")
    # Without a store there is nothing that the user measured.
    own = OwnMeasurements(lambda *_, **__: None, shelf.readings)
    yield ConfigurationRanking(worker, shelf, own)
    worker.close()


@pytest.fixture
def panel(
    qtbot: QtBot, few: Catalogue, shelf: ModelShelf, ranking: ConfigurationRanking
) -> TargetsPanel:
    panel = TargetsPanel(TargetSelection(few, ["rtx-1"]), shelf, ranking)
    QAbstractItemModelTester(panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    qtbot.addWidget(panel)
    panel.show()
    return panel


def rows(model: TargetsTreeModel, parent: QModelIndex = QModelIndex()) -> Iterator[QModelIndex]:
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        yield index
        yield from rows(model, index)


def outline(model: TargetsTreeModel) -> list[str]:
    return [str(index.data()) for index in rows(model)]


def find(model: TargetsTreeModel, text: str) -> QModelIndex:
    return next(index for index in rows(model) if index.data() == text)


def row_of(model: TargetsTreeModel, device_id: str) -> QModelIndex:
    return next(i for i in rows(model) if (d := model.device(i)) and d.id == device_id)


def state(model: TargetsTreeModel, text: str) -> Qt.CheckState:
    return Qt.CheckState(find(model, text).data(CHECK))


def test_the_tree_of_a_start_reads_no_file_of_a_device_until_it_is_filled(
    qtbot: QtBot, shelf: ModelShelf, ranking: ConfigurationRanking
) -> None:
    catalogue = load_catalogue()
    panel = TargetsPanel(TargetSelection(catalogue, ["rpi5"]), shelf, ranking, is_late=True)
    qtbot.addWidget(panel)
    panel.show()
    assert panel.model.rowCount() == 0
    assert panel.heading.text() == f"Targets (1 of {len(catalogue.by_id)})"
    assert "devices" not in vars(catalogue)
    panel.tick(["rtx4090"])  # by whoever asks for it before
    assert panel.model.index_of("rtx4090").isValid()
    panel.fill()
    assert len(panel.model.visible_device_ids()) == len(catalogue.by_id)


def test_the_tree_goes_by_family_and_vendor(panel: TargetsPanel) -> None:
    assert outline(panel.model) == [
        *("GPUs", "Intel", "Arc 1", "NVIDIA", "RTX 1", "RTX 2"),
        *("CPUs", "Raspberry", "Pi 5"),
    ]


def test_groups_have_three_states(panel: TargetsPanel) -> None:
    model = panel.model
    assert state(model, "NVIDIA") is Qt.CheckState.PartiallyChecked
    assert state(model, "GPUs") is Qt.CheckState.PartiallyChecked
    assert state(model, "CPUs") is Qt.CheckState.Unchecked
    model.setData(find(model, "RTX 2"), Qt.CheckState.Checked.value, CHECK)
    assert state(model, "NVIDIA") is Qt.CheckState.Checked
    assert state(model, "GPUs") is Qt.CheckState.PartiallyChecked


def test_space_on_a_group_checks_all_below_it(qtbot: QtBot, panel: TargetsPanel) -> None:
    panel.tree.setFocus()
    panel.tree.setCurrentIndex(find(panel.model, "GPUs"))
    qtbot.keyClick(panel.tree, Qt.Key.Key_Space)
    assert panel.selection.selected_ids == ("arc-1", "rtx-1", "rtx-2")
    qtbot.keyClick(panel.tree, Qt.Key.Key_Space)
    assert panel.selection.selected_ids == ()


def test_search_finds_every_word_anywhere(qtbot: QtBot, panel: TargetsPanel) -> None:
    qtbot.keyClicks(panel.search_box, "nvidia 2")
    assert outline(panel.model) == ["GPUs", "NVIDIA", "RTX 2"]
    assert panel.tree.isExpanded(find(panel.model, "NVIDIA"))
    panel.search_box.setText("cpu")
    assert outline(panel.model) == ["CPUs", "Raspberry", "Pi 5"]
    panel.search_box.setText("nothing like it")
    assert outline(panel.model) == []
    assert panel.selection.selected_ids == ("rtx-1",)  # a search changes no check


def test_the_checked_devices_can_be_shown_alone(panel: TargetsPanel) -> None:
    panel.selection.select(["pi-5"], selected=True)
    panel.checked_only.click()
    assert outline(panel.model) == ["GPUs", "NVIDIA", "RTX 1", "CPUs", "Raspberry", "Pi 5"]
    assert panel.tree.isExpanded(find(panel.model, "NVIDIA"))
    panel.selection.select(["pi-5"], selected=False)
    assert state(panel.model, "Pi 5") is Qt.CheckState.Unchecked  # stays until asked again
    panel.checked_only.click()
    assert len(outline(panel.model)) == 9


def test_all_and_none_act_on_what_is_shown(panel: TargetsPanel) -> None:
    buttons = {button.text(): button for button in panel.findChildren(QToolButton)}
    panel.search_box.setText("raspberry")
    buttons["All"].click()
    assert panel.selection.selected_ids == ("pi-5", "rtx-1")
    panel.search_box.setText("")
    buttons["None"].click()
    assert panel.selection.selected_ids == ()


def test_the_heading_counts(panel: TargetsPanel) -> None:
    assert panel.heading.text() == "Targets (1 of 4)"
    panel.select_visible(selected=True)
    assert panel.heading.text() == "Targets (4 of 4)"


def test_hovering_tells_the_usual_configuration(qtbot: QtBot) -> None:
    usual = Configuration("tensorrt", Precision.FP16, threads=4)
    target = Device(
        id="d",
        name="D",
        vendor="V",
        family=Family.GPU,
        metrics={"dram_gb": 8.0},
        configurations=(usual,),
    )
    model = TargetsTreeModel(TargetSelection(Catalogue([target]), []))
    tip = find(model, "D").data(Qt.ItemDataRole.ToolTipRole)
    assert "tensorrt, fp16, 4 threads" in tip
    assert "1 hardware fact" in tip


def test_every_family_has_a_name() -> None:
    assert set(FAMILY_NAMES) == set(Family)


def test_the_whole_catalogue_is_in_the_tree(qtbot: QtBot, catalogue: Catalogue) -> None:
    model = TargetsTreeModel(TargetSelection(catalogue, None))
    assert sorted(model.visible_device_ids()) == sorted(catalogue.by_id)


def test_the_first_selection_is_the_default_comparison(catalogue: Catalogue) -> None:
    chosen = TargetSelection(catalogue).selected_ids
    assert set(chosen) == set(DEFAULT_DEVICE_IDS)  # each one is in the catalogue


def test_unknown_ids_of_an_older_session_are_ignored(few: Catalogue) -> None:
    assert TargetSelection(few, ["rtx-1", "gone"]).selected_ids == ("rtx-1",)


def test_badges_tell_the_basis_of_the_numbers(
    workspace: Workspace,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> None:
    model = TargetsTreeModel(workspace.selection)
    workspace.open_paths([str(make_model())])
    settle(workspace)
    chosen = workspace.selection.selected[0]
    index = row_of(model, chosen.id).siblingAtColumn(Column.BASIS)
    assert index.data() in {"from specs", "calibrated"}
    assert "closertome" in index.data(Qt.ItemDataRole.ToolTipRole)
    other = next(
        d for d in workspace.selection.devices if d.id not in workspace.selection.selected_ids
    )
    assert row_of(model, other.id).siblingAtColumn(Column.BASIS).data() == ""


def test_names_have_the_room_of_the_badges_until_there_are_any(panel: TargetsPanel) -> None:
    panel.resize(340, 600)
    assert panel.tree.isColumnHidden(Column.BASIS)
    panel.selection.set_badges({"rtx-1": ("analytic", "The numbers are analytic.")})
    assert not panel.tree.isColumnHidden(Column.BASIS)
    panel.selection.set_badges({})
    assert panel.tree.isColumnHidden(Column.BASIS)


def test_a_narrow_panel_leaves_its_room_to_the_names(panel: TargetsPanel) -> None:
    panel.show()
    panel.selection.set_badges({"rtx-1": ("analytic", "The numbers are analytic.")})
    panel.resize(230, 600)
    assert panel.tree.isColumnHidden(Column.BASIS)
    panel.resize(340, 600)
    assert not panel.tree.isColumnHidden(Column.BASIS)


def test_a_name_has_the_room_of_a_badge_that_is_not_there(panel: TargetsPanel) -> None:
    panel.tree.expandAll()
    delegate = panel.tree.itemDelegate()
    assert isinstance(delegate, RowDelegate)
    own = [panel.tree.visualRect(find(panel.model, name)).width() for name in ("RTX 1", "RTX 2")]
    assert [delegate.name_px(find(panel.model, name)) for name in ("RTX 1", "RTX 2")] == own
    panel.selection.set_badges({"rtx-1": ("analytic", "The numbers are analytic.")})
    panel.resize(340, 600)
    badge_px = panel.tree.columnWidth(Column.BASIS)
    assert badge_px > 0
    own = [panel.tree.visualRect(find(panel.model, name)).width() for name in ("RTX 1", "RTX 2")]
    assert delegate.name_px(find(panel.model, "RTX 1")) == own[0]
    assert delegate.name_px(find(panel.model, "RTX 2")) == own[1] + badge_px


def test_a_name_that_needs_the_room_of_its_badge_has_it(panel: TargetsPanel) -> None:
    panel.tree.expandAll()
    delegate = panel.tree.itemDelegate()
    assert isinstance(delegate, RowDelegate)
    panel.selection.set_badges({"rtx-1": ("analytic", "The numbers are analytic.")})
    panel.resize(340, 600)
    index = find(panel.model, "RTX 1")
    badge_px, own_px = panel.tree.columnWidth(Column.BASIS), panel.tree.visualRect(index).width()
    assert delegate.has_badge(index)
    panel.tree.setFont(QFont(panel.tree.font().family(), 60))
    assert not delegate.has_badge(index)
    assert delegate.name_px(index) == own_px + badge_px


TWO_WAYS = (Configuration("pytorch"), Configuration("tensorrt", Precision.FP16))


def star(panel: TargetsPanel, text: str) -> QModelIndex:
    return find(panel.model, text).siblingAtColumn(Column.STAR)


def test_a_click_on_the_star_puts_a_device_on_top_as_well(
    qtbot: QtBot, panel: TargetsPanel
) -> None:
    panel.tree.expandAll()
    place = panel.tree.visualRect(star(panel, "RTX 2")).center()
    qtbot.mouseClick(panel.tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert outline(panel.model)[:3] == ["Pinned", "NVIDIA RTX 2", "GPUs"]
    assert star(panel, "RTX 2").data() == "★"
    assert panel.selection.selected_ids == ("rtx-1",), "a favourite is not checked by that"
    panel.model.setData(find(panel.model, "NVIDIA RTX 2"), Qt.CheckState.Checked.value, CHECK)
    assert state(panel.model, "RTX 2") is Qt.CheckState.Checked, "both rows are one device"
    panel.selection.set_favourite("rtx-2", favourite=False)
    assert outline(panel.model)[0] == "GPUs"


def test_favourites_follow_the_search(panel: TargetsPanel) -> None:
    panel.selection.set_favourite("rtx-2", favourite=True)
    panel.search_box.setText("raspberry")
    assert outline(panel.model) == ["CPUs", "Raspberry", "Pi 5"]


def test_a_device_is_predicted_with_the_configuration_that_was_chosen(
    qtbot: QtBot, shelf: ModelShelf, ranking: ConfigurationRanking
) -> None:
    gpu = Device(
        id="gpu",
        name="Acme GPU",
        vendor="Acme",
        family=Family.GPU,
        metrics={},
        sources={},
        configurations=TWO_WAYS,
    )
    panel = TargetsPanel(TargetSelection(Catalogue([gpu]), ["gpu"]), shelf, ranking)
    qtbot.addWidget(panel)
    menu = target_menu(panel.selection, shelf, ranking, gpu, panel)
    choices = [action for action in menu.findChildren(QAction) if action.isCheckable()]
    assert [action.text() for action in choices] == ["pytorch, fp32 (default)", "tensorrt, fp16"]
    with qtbot.waitSignal(panel.selection.changed):
        choices[1].trigger()
    (target,) = resolve_targets(panel.selection.selected)
    assert target.configuration == TWO_WAYS[1]
    assert find(panel.model, "GPU · tensorrt, fp16").isValid()
    panel.selection.set_configuration(gpu, TWO_WAYS[0])
    assert panel.selection.selected == (gpu,)
    assert panel.selection.configurations == {}


def test_a_variant_is_predicted_beside_the_usual_configuration(
    qtbot: QtBot, shelf: ModelShelf, ranking: ConfigurationRanking
) -> None:
    gpu = Device(
        id="gpu",
        name="Acme GPU",
        vendor="Acme",
        family=Family.GPU,
        metrics={},
        sources={},
        configurations=TWO_WAYS,
    )
    stack = QUndoStack()
    selection = TargetSelection(Catalogue([gpu]), [], stack)
    panel = TargetsPanel(selection, shelf, ranking)
    qtbot.addWidget(panel)
    dialog = VariantDialog(selection, shelf, ranking, gpu, panel)
    dialog.show()
    add = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    assert not add.isEnabled()
    assert "predicted already" in dialog.problem.text()
    dialog.runtime_box.setCurrentText("tensorrt")
    dialog.precision_box.setCurrentText("fp16")
    with qtbot.waitSignal(selection.changed):
        qtbot.mouseClick(add, Qt.MouseButton.LeftButton)

    targets = resolve_targets(selection.selected)
    assert [target.configuration for target in targets] == list(TWO_WAYS)
    assert selection.selected_ids == ("gpu",)
    assert find(panel.model, "GPU · +1 variant").isValid()
    assert stack.undoText() == "Add Acme GPU: tensorrt, fp16"
    stack.undo()
    assert selection.selected == ()
    stack.redo()
    menu = target_menu(selection, shelf, ranking, gpu, panel)
    removing = next(m for m in menu.findChildren(QMenu) if m.title() == "Remove Variant")
    removing.actions()[0].trigger()
    assert selection.selected == (gpu,)
    stack.undo()
    assert len(selection.selected) == 2
    # The chosen configuration is not predicted twice.
    selection.set_configuration(gpu, TWO_WAYS[1])
    assert len(selection.selected) == 1


def test_favourites_and_configurations_come_back(tmp_path: Path) -> None:
    gpu = Device(
        id="gpu",
        name="Acme GPU",
        vendor="Acme",
        family=Family.GPU,
        metrics={},
        sources={},
        configurations=TWO_WAYS,
    )
    before, after = (TargetSelection(Catalogue([gpu]), []) for _ in range(2))
    before.set_favourite("gpu", favourite=True)
    before.set_configuration(gpu, TWO_WAYS[1])
    before.add_variant(gpu, TWO_WAYS[0])
    before.add_variant(gpu, replace(TWO_WAYS[0], batch=8))
    settings = Settings(tmp_path / "w.ini")
    remember_targets(before, settings)
    restore_targets(after, settings)
    assert after.favourites == {"gpu"}
    assert after.configuration_of(gpu) == TWO_WAYS[1]
    assert after.variants_of(gpu) == (TWO_WAYS[0], replace(TWO_WAYS[0], batch=8))


@pytest.mark.parametrize(
    "line", ["", "gpu/x/fp32/0/0", "gpu/pytorch/fp9/0/0", "a/b", "g/ncnn/fp32/-1/x"]
)
def test_a_spoilt_configuration_in_the_settings_is_passed_over(tmp_path: Path, line: str) -> None:
    gpu = Device(
        id="gpu",
        name="Acme GPU",
        vendor="Acme",
        family=Family.GPU,
        metrics={},
        sources={},
        configurations=TWO_WAYS,
    )
    settings = Settings(tmp_path / "w.ini")
    settings.set(table.CONFIGURATIONS, [line])
    settings.set(table.VARIANTS, [line])
    selection = TargetSelection(Catalogue([gpu]), [])
    restore_targets(selection, settings)
    assert selection.configuration_of(gpu) == TWO_WAYS[0]
    assert selection.variants_of(gpu) == ()
