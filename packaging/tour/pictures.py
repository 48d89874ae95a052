"""Drives the real application through every view with real models and saves pictures of it.

``python3 run.py tour DIR`` runs it. Each scene is taken in the light and the dark theme and in two
sizes, so that a person can look at what the program shows before it ships. With ``--store FILE``
the scenes are those of a store with a signature of this machine, of which a copy is used.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget
from scenes import SCENES, Scene
from signature_scenes import SIGNATURE_SCENES
from waiting import REPAINT_MS, settle, turn, wait

from ctm_gui.application import Application
from ctm_gui.widgets.theme import ThemeChoice
from predictor.core.errors import HostError

SIZES = ((1280, 800), (1920, 1080))
THEMES = (ThemeChoice.LIGHT, ThemeChoice.DARK)


def take(directory: Path, kept: Path | None = None) -> list[Path]:
    """Play every scene and save its pictures.

    Args:
        directory: where the PNG files go; made if missing.
        kept: a store with a signature of this machine, whose scenes are played on a copy of it;
            None for those of an empty one.

    Returns:
        The files, in the order of the scenes.

    Raises:
        HostError: the application did not settle, or a picture cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ctm-tour-") as name:
        folder = Path(name)
        store = folder / "store.sqlite"
        if kept is not None:
            shutil.copyfile(kept, store)
        app = Application(store, folder / "settings.ini")
        app.start()
        wait(lambda: app.window.central.is_built)
        try:
            scenes = SCENES if kept is None else SIGNATURE_SCENES
            return [path for scene in scenes for path in _pictures(app, scene, folder, directory)]
        finally:
            app.window.close()
            app.close()


def _pictures(app: Application, scene: Scene, folder: Path, directory: Path) -> list[Path]:
    scene.play(app, folder)
    settle(app, scene.name)
    files = []
    for theme in THEMES:
        app.use_theme(theme)
        for width, height in SIZES if scene.sized else SIZES[:1]:
            shown = _window_of(app, scene)
            if scene.sized:
                shown.resize(width, height)
            turn(REPAINT_MS)
            path = directory / f"{scene.name}-{theme.value}-{shown.width()}x{shown.height()}.png"
            if not shown.grab().save(str(path)):
                raise HostError(str(path), "the picture cannot be written", "choose another folder")
            files.append(path)
    return files


def _window_of(app: Application, scene: Scene) -> QWidget:
    """Return the last window of a scene's class that is open."""
    open_ones = [part for part in app.window.findChildren(scene.of) if part.isVisible()]
    return open_ones[-1] if open_ones else app.window


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="tour", description="Save pictures of every view.")
    made.add_argument("folder", metavar="DIR", type=Path, help="where the pictures go")
    made.add_argument(
        "--store", type=Path, metavar="FILE", help="one with a signature of this machine; copied"
    )
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Take the tour; without a display Qt draws offscreen."""
    options = _parser().parse_args(argv)
    if sys.platform == "linux" and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    try:
        files = take(options.folder, options.store)
    except HostError as error:
        print(f"tour: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{len(files)} pictures in {options.folder}")
    QApplication.quit()
    return 0
