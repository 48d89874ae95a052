"""The scenes of the tour, in their order: each goes on from where the one before it ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtWidgets import QDialog, QMainWindow, QWidget
from waiting import REPAINT_MS, SETTLE_MS, turn, wait

from ctm_gui.application import Application
from ctm_gui.compare.pareto import SCORE
from ctm_gui.compare.tabs import DIFFERENCE_PAGE, MATRIX_PAGE, PARETO_PAGE, SWEEP_PAGE
from ctm_gui.devices.view import COMPARISON_PAGE, FORM_PAGE, PROFILE_PAGE
from ctm_gui.language.curves import Along
from ctm_gui.language.view import LanguageView
from ctm_gui.probing.choice import Way
from ctm_gui.probing.run import Phase
from ctm_gui.probing.wizard import NAMES, RESULT, TARGET
from ctm_gui.targets.what_ifs import WhatIf
from predictor.core.records import Precision
from predictor.core.resources import resources_dir
from predictor.core.units import LatencyUnit
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.services.history.past_predictions import NewTruth
from predictor.services.serving.records import Limits

_LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": True,
}
_BATCHED = "jetson-orin-nano-gpu"
# Typed for the fastest predictions, as a user would who has measured them.
_MEASURED_PARTS = (0.9, 1.1, 1.3, 0.95, 1.02, 1.6)


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture: what is done to the application before it is taken, and of which window.

    Attributes:
        name: begins the names of the files.
        play: does it.
        of: the class of the window that is shown; the main window where there is none such.
        sized: whether the picture is taken in all sizes; a dialog keeps its own.
        in_help: whether it stands in the pages of help: in one size, its file small.
    """

    name: str
    play: Callable[[Application, Path], None]
    of: type[QWidget] = QMainWindow
    sized: bool = True
    in_help: bool = False


def _nothing(_: Application, __: Path) -> None:
    """Leave the window as it starts."""


def _one_model(app: Application, _: Path) -> None:
    app.window.open_paths([str(sample_models()[0])])


def _all_models(app: Application, _: Path) -> None:
    app.window.open_paths([str(path) for path in sample_models()])


def _budget(app: Application, _: Path) -> None:
    app.window.central.compare_view.budget_box.budget_edited.emit(5.0)


def show_report(app: Application, _: Path) -> None:
    """Open the report's dialog, its pages painted."""
    dialog = app.open_report()
    dialog.resize(1080, 820)  # as on a usual screen
    wait(lambda: dialog.presenter.draft is not None and not dialog.presenter.busy)
    wait(lambda: dialog.preview.images.settled)


def _history(app: Application, _: Path) -> None:
    close_dialogs(app)
    app.window.show_page("history")
    view = app.window.central.history_view
    wait(lambda: view.is_built and len(view.presenter.data) > 0 and not view.presenter.busy)


def _truth(app: Application, _: Path) -> None:
    presenter = app.window.central.history_view.presenter
    for row, part in zip(presenter.data.rows, _MEASURED_PARTS, strict=False):
        measured_ms = (row.stored.prediction.latency_ms or 1.0) * part
        presenter.add_truth(row.stored, NewTruth(f"{measured_ms:.3g}"))
    wait(lambda: len(presenter.data.pairs) >= len(_MEASURED_PARTS) and not presenter.busy)


def _record(app: Application, _: Path) -> None:
    view = app.window.central.history_view
    view.table.select_rows([0], 0)
    dialog = view.record()
    if dialog is not None:
        dialog.value_box.setText("12.5")


def _about(app: Application, _: Path) -> None:
    close_dialogs(app)
    app.window.assistance.show_about()


def _batch_variant(app: Application, _: Path) -> None:
    close_dialogs(app)
    app.window.show_page("compare")
    selection = app.workspace.selection
    device = next(each for each in selection.devices if each.id == _BATCHED)
    selection.add_variant(device, replace(selection.configuration_of(device), batch=8))
    # Both of its batches in view, whatever lies between them.
    app.window.central.compare_view.table.search_box.setText(device.name)


def _frames_per_second(app: Application, _: Path) -> None:
    app.window.central.compare_view.table.search_box.setText("")
    app.options.set_unit(LatencyUnit.FPS)


def _every_target(app: Application, _: Path) -> None:
    app.options.set_unit(LatencyUnit.MS)
    selection = app.workspace.selection
    for device in selection.devices:
        for variant in selection.variants_of(device):
            selection.remove_variant(device, variant)
    selection.select([device.id for device in selection.devices], selected=True)


def _operators(app: Application, _: Path) -> None:
    app.window.show_page("operators")


def show_graph(app: Application, _: Path) -> None:
    """Show the operators as boxes, laid out."""
    app.window.show_page("graph")
    presenter = app.window.central.graph_view.presenter
    wait(lambda: presenter.settled and bool(presenter.picture.nodes.size))


def _roofline(app: Application, _: Path) -> None:
    app.window.show_page("roofline")
    wait(lambda: app.window.central.explanation.settled)


def _timeline(app: Application, _: Path) -> None:
    app.window.show_page("timeline")
    view = app.window.central.timeline_view
    view.plot.setFocus()


def _attention(app: Application, _: Path) -> None:
    app.window.show_page("attention")
    wait(lambda: app.window.central.explanation.settled)


def show_learned(app: Application) -> None:
    """Show the maps of what was learned of the operators."""
    app.window.show_page("attention")
    app.window.central.attention_view.maps_box.setCurrentIndex(1)


def _attention_learned(app: Application, _: Path) -> None:
    show_learned(app)


def _attention_of_types(app: Application, _: Path) -> None:
    view = app.window.central.attention_view
    view.maps_box.setCurrentIndex(0)
    view.group_box.setChecked(True)
    view.table.setFocus()


def _choose(app: Application, _: Path) -> None:
    app.window.show_page("choose")
    view = app.window.central.choose_view
    view.latency_box.show_budget(40.0)
    view.power_box.setValue(15.0)
    wait(lambda: app.window.central.choice.settled)


def show_load(app: Application, _: Path) -> None:
    """Open the load of four cameras that ships, on its page."""
    app.window.open_paths([str(resources_dir() / "loads" / "four-cameras.toml")])
    load = app.window.central.load
    wait(lambda: load.answer is not None and load.settled)
    turn(2 * REPAINT_MS)


def _what_if(app: Application, _: Path) -> None:
    app.window.show_page("compare")
    selection = app.workspace.selection
    device = next(device for device in selection.devices if device.id == _BATCHED)
    selection.set_what_if(device, WhatIf(batch=8, precision=Precision.INT8))


def _matrix(app: Application, _: Path) -> None:
    app.workspace.selection.reset_what_ifs()
    _show_page(app, MATRIX_PAGE)


def _pareto(app: Application, _: Path) -> None:
    _show_page(app, PARETO_PAGE)
    table = app.window.central.compare_tabs.pareto.table
    for row, score in enumerate((81.3, 72.1, 70.4)[: len(app.workspace.comparison.models)]):
        table.model().setData(table.model().index(row, table.column(SCORE)), str(score))


def _what_changed(app: Application, _: Path) -> None:
    _show_page(app, DIFFERENCE_PAGE)


def _show_page(app: Application, page: int) -> None:
    wait(lambda: app.workspace.settled)
    app.window.central.compare_tabs.show_page(page)
    wait(lambda: app.window.central.compare_tabs.settled)


def _clocks(app: Application, _: Path) -> None:
    explanation = app.window.central.explanation
    app.window.show_page("operators")
    explanation.choose_device("jetson-tx2-gpu")
    wait(lambda: explanation.settled)
    app.window.show_page("clocks")
    wait(lambda: app.window.central.clocks.settled)


def _sweep(app: Application, _: Path) -> None:
    app.window.show_page("compare")
    _show_page(app, SWEEP_PAGE)
    wait(lambda: app.window.central.compare_tabs.settled)


def _language_model(app: Application, folder: Path) -> None:
    """Open what Llama 3.2 1B publishes of itself."""
    path = folder / "llama-3.2-1b" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(_LLAMA), encoding="utf-8")
    app.window.open_paths([str(path)])
    language = app.workspace.language
    wait(lambda: language.entry is not None and language.settled)
    turn(2 * REPAINT_MS)


def _load(app: Application, _: Path) -> None:
    """Put eight users a second on the language model, within limits."""
    language = app.workspace.language
    language.ask_load(8.0, Limits(first_ms=500.0, token_ms=40.0), "Load")
    (view,) = app.window.findChildren(LanguageView)
    view.along_box.setCurrentText(Along.RATE.value)
    wait(lambda: language.settled)
    turn(2 * REPAINT_MS)


def _broken_file(app: Application, folder: Path) -> None:
    close_dialogs(app)
    broken = folder / "not-a-model.onnx"
    broken.write_text("this is text, not a model\n")
    app.window.open_paths([str(broken)])
    app.window.toggle_messages()


def _shipped_device(app: Application, _: Path) -> None:
    if app.window.message_list.isVisible():
        app.window.toggle_messages()
    view = app.window.central.devices_view
    app.window.show_page("devices")
    wait(lambda: view.is_built)
    view.show_device("a100-sxm4-40gb")


def _own_device(app: Application, _: Path) -> None:
    view = app.window.central.devices_view
    view.show_device("rk3588-cpu")
    turn(REPAINT_MS)
    view.header.duplicate_button.click()
    wait(lambda: view.form.editable)
    app.workspace.selection.set_favourite(view.form.fields.id, favourite=True)
    view.form.set_text("name", "My RK3588 board")
    view.form.set_value("fp32_tflops", "2.1")
    view.form.set_value("core_count", "6")
    view.form.set_value("tdp_w", "ten")


def _lower_form(app: Application, _: Path) -> None:
    turn(2 * REPAINT_MS)
    bar = app.window.central.devices_view.form_view.verticalScrollBar()
    bar.setValue(bar.maximum())


def _profile(app: Application, _: Path) -> None:
    app.window.central.devices_view.pages.setCurrentIndex(PROFILE_PAGE)


def _device_comparison(app: Application, _: Path) -> None:
    view = app.window.central.devices_view
    view.pages.setCurrentIndex(COMPARISON_PAGE)
    view.show_device("rtx3090")
    view.comparison.choose("rtx4090")


def this_machine(app: Application, _: Path) -> None:
    """Show the form of this machine, with what is detected of it."""
    view = app.window.central.devices_view
    app.window.show_page("devices")
    wait(lambda: view.is_built)
    view.pages.setCurrentIndex(FORM_PAGE)
    wait(lambda: app.workspace.library.machine is not None)
    view.show_device(THIS_MACHINE_ID)
    wait(lambda: view.form.fields.id == THIS_MACHINE_ID)


def _probe_target(app: Application, _: Path) -> None:
    close_dialogs(app)
    wizard = app.open_wizard()
    wait(lambda: wizard.is_built)
    wizard.target_page.choose(Way.SSH)
    wizard.target_page.form.device_box.choose("rpi5")


def _probe_plan(app: Application, _: Path) -> None:
    wizard = app.open_wizard()
    wizard.target_page.choose(Way.THIS)
    wizard.target_page.form.device_box.choose("rpi5")
    wizard.next()
    wait(lambda: wizard.presenter.planner.planned is not None)


def _probe_measure(app: Application, _: Path) -> None:
    wizard = app.open_wizard()
    wizard.plan_page.minutes_box.setValue(1)
    wizard.plan_page.probes_box.setValue(1)
    wait(lambda: wizard.presenter.planner.planned is not None)
    wizard.next()
    wait(lambda: wizard.presenter.run.progress is not None)


def _probe_result(app: Application, _: Path) -> None:
    run = app.open_wizard().presenter.run
    wait(lambda: run.phase is Phase.ENDED, limit_ms=5 * SETTLE_MS)


def _probe_kit(app: Application, folder: Path) -> None:
    wizard = app.open_wizard()
    wizard.show_page(TARGET)
    wizard.target_page.choose(Way.KIT)
    wizard.target_page.form.device_box.choose("rpi5")
    wizard.next()
    wait(lambda: wizard.presenter.planner.planned is not None)
    planned = wizard.presenter.planner.planned
    if planned is not None:
        wizard.presenter.write_kit(planned.plan, str(folder / "kit.zip"))
    wizard.show_page(RESULT)
    wait((folder / "kit.zip").is_file)
    turn(2 * REPAINT_MS)


def _probe_names(app: Application, _: Path) -> None:
    wizard = app.open_wizard()
    wizard.show_page(TARGET)
    wizard.target_page.choose(Way.IMPORT)
    form = wizard.target_page.form
    form.source_box.setCurrentText("Medians typed by hand")
    form.device_box.choose("rpi5")
    form.typed_edit.setPlainText("mobilenetv2-1.0-224 23.4 ms\nmobile net v3 11.8 ms\n")
    wizard.next()
    wait(lambda: wizard.pages.currentIndex() == NAMES)


def _settings(app: Application, _: Path) -> None:
    app.window.assistance.show_settings()


def _palette(app: Application, _: Path) -> None:
    close_dialogs(app)
    palette = app.window.assistance.show_palette()
    palette.edit.setText("o")


def _help(app: Application, _: Path) -> None:
    close_dialogs(app)
    app.window.assistance.show_help("compare")


def close_dialogs(app: Application) -> None:
    """Close every dialog of the window."""
    for dialog in app.window.findChildren(QDialog):
        dialog.close()


SCENES = (
    Scene("1-empty", _nothing),
    Scene("2-one-model", _one_model),
    Scene("3-compare", _all_models),
    Scene("4-budget", _budget),
    Scene("4b-report", show_report, of=QDialog, sized=False),
    Scene("4c-history", _history),
    Scene("4d-truth", _truth),
    Scene("4e-record", _record, of=QDialog, sized=False),
    Scene("4f-about", _about, of=QDialog, sized=False),
    Scene("4g-batch-variant", _batch_variant),
    Scene("5-fps", _frames_per_second),
    Scene("6-every-target", _every_target),
    Scene("7-operators", _operators),
    Scene("7b-graph", show_graph),
    Scene("7c-roofline", _roofline),
    Scene("7d-timeline", _timeline),
    Scene("8-attention", _attention),
    Scene("8b-attention-learned", _attention_learned),
    Scene("9-attention-of-types", _attention_of_types),
    Scene("10-what-if", _what_if),
    Scene("10b-matrix", _matrix),
    Scene("10c-pareto", _pareto),
    Scene("10d-what-changed", _what_changed),
    Scene("10e-choose", _choose),
    Scene("10j-box-load", show_load),
    Scene("10f-clocks", _clocks),
    Scene("10g-sweep", _sweep),
    Scene("10h-language-model", _language_model),
    Scene("10i-load", _load),
    Scene("11-broken-file", _broken_file),
    Scene("12-shipped-device", _shipped_device),
    Scene("13-own-device", _own_device),
    Scene("14-lower-form", _lower_form),
    Scene("15-profile", _profile),
    Scene("16-device-comparison", _device_comparison),
    Scene("17-this-machine", this_machine),
    Scene("17b-settings", _settings, of=QDialog, sized=False),
    Scene("17c-palette", _palette, of=QDialog, sized=False),
    Scene("17d-help", _help, of=QDialog, sized=False),
    Scene("18-probe-target", _probe_target, of=QDialog),
    Scene("19-probe-plan", _probe_plan, of=QDialog),
    Scene("20-probe-measure", _probe_measure, of=QDialog),
    Scene("21-probe-result", _probe_result, of=QDialog),
    Scene("22-probe-kit", _probe_kit, of=QDialog),
    Scene("23-probe-names", _probe_names, of=QDialog),
)


def sample_models() -> list[Path]:
    """Return the bundled models."""
    return sorted((resources_dir() / "samples").glob("*.onnx"))
