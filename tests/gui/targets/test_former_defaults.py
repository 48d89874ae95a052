"""Targets of a session from before the defaults changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ctm_gui import settings as table
from ctm_gui.settings import Settings
from ctm_gui.targets.choice import TargetSelection
from ctm_gui.window.session import remember_targets, restore_targets
from predictor.core.records import Configuration, Precision, Target
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.devices.former_defaults import DEFAULTS_VERSION, former_defaults
from predictor.services.prediction.targets import supports

EAGER = Configuration("pytorch", Precision.FP32)
COMPILED = Configuration("tensorrt", Precision.FP16)
DEVICES = load_catalogue().by_id


def opened(settings: Settings) -> tuple[TargetSelection, str]:
    chosen = settings.get(table.TARGETS_CHOSEN)
    selection = TargetSelection(load_catalogue(), settings.get(table.TARGETS) if chosen else None)
    return selection, restore_targets(selection, settings)


def runs(selection: TargetSelection) -> dict[str, list[Configuration]]:
    listed: dict[str, list[Configuration]] = {}
    for device in selection.selected:
        listed.setdefault(device.id, []).append(device.configurations[0])
    return listed


def session_of_before(path: Path) -> Settings:
    """Return the settings that a version without the table left."""
    settings = Settings(path / "window.ini")
    settings.set(table.TARGETS, ["rpi5", "rtx4090", "rtx3060", "gone", "snapdragon-8-gen-3"])
    settings.set(table.TARGETS_CHOSEN, True)
    settings.set(table.CONFIGURATIONS, ["rtx3060/onnxruntime/fp16/0/0"])
    settings.set(table.VARIANTS, ["rtx4090/tensorrt/fp16/0/0"])
    return settings


def test_a_session_of_before_keeps_its_targets_and_says_once_that_defaults_changed(
    tmp_path: Path,
) -> None:
    settings = session_of_before(tmp_path)
    selection, words = opened(settings)

    assert words == (
        "Default configurations changed to what owners deploy; 2 targets of your last session keep "
        "their former ones: see the target's menu."
    )
    kept_as_they_were = {
        "rpi5": [Configuration("ncnn", Precision.FP16)],
        "rtx4090": [EAGER, COMPILED],
        "rtx3060": [Configuration("onnxruntime", Precision.FP16)],
        "snapdragon-8-gen-3": [Configuration("tflite")],
    }
    assert runs(selection) == kept_as_they_were

    # As it was is what the next session has too, after a crash or not.
    again, words = opened(settings)
    assert (runs(again), words) == (kept_as_they_were, "")
    remember_targets(again, settings)
    last, words = opened(settings)
    assert (runs(last), words) == (kept_as_they_were, "")


def test_a_device_that_is_ticked_later_has_the_new_default(tmp_path: Path) -> None:
    selection, _ = opened(session_of_before(tmp_path))
    selection.select(["a100-pcie-40gb"], selected=True)

    assert runs(selection)["a100-pcie-40gb"] == [COMPILED]


def test_the_menu_gives_a_former_target_the_new_default(tmp_path: Path) -> None:
    settings = session_of_before(tmp_path)
    selection, _ = opened(settings)
    selection.set_configuration(DEVICES["rtx4090"], COMPILED)
    remember_targets(selection, settings)

    assert runs(opened(settings)[0])["rtx4090"] == [COMPILED]


def test_a_first_start_and_a_session_of_this_version_say_nothing(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "window.ini")
    selection, words = opened(settings)
    assert not words
    assert runs(selection)["rtx4090"] == [COMPILED]
    remember_targets(selection, settings)
    assert settings.get(table.DEFAULTS) == DEFAULTS_VERSION

    again, words = opened(settings)
    assert not words
    assert runs(again) == runs(selection)


def test_every_former_default_is_of_a_device_that_has_another_one_and_still_runs_it() -> None:
    assert former_defaults()
    for device_id, former in former_defaults().items():
        device = DEVICES[device_id]
        assert supports(device, former), device_id
        usual = replace(device.configurations[0], batch=0)
        assert Target(device, former).run_id != Target(device, usual).run_id
