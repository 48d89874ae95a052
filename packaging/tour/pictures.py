"""Drives the real application through every view with real models and saves pictures of it.

``python3 run.py tour DIR`` runs it. Each scene is taken in the light and the dark theme and in
three sizes, so that a person can look at what the program shows before it ships. With ``--store``
the scenes are those of a store with a signature of this machine, of which a copy is used. With
``--help-pages`` they are those of the README and the pages of help, in one size; with ``--sheet`` a
sheet of small pictures a size and theme takes the place of the pictures.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from help_scenes import HELP_SCENES
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QApplication, QWidget
from scenes import SCENES, Scene
from sheet import Picture, write_sheets
from signature_scenes import SIGNATURE_SCENES
from waiting import REPAINT_MS, settle, turn, wait

from ctm_gui.application import Application
from ctm_gui.widgets.theme import ThemeChoice
from predictor.core.errors import HostError

# Width and height of the window, and pixels of the picture to one of them: the last is 4K.
SIZES = ((1024, 700, 1), (1280, 800, 1), (1920, 1080, 2))
_ONE_SIZE = SIZES[1:2]
_NEAREST = Qt.ImageConversionFlag.ThresholdDither
_KIND = 0xF0F0F0
_SHEETS = "window-pictures"
THEMES = (ThemeChoice.LIGHT, ThemeChoice.DARK)


def take(directory: Path, scenes: Sequence[Scene], kept: Path | None = None) -> list[Picture]:
    """Play every scene and save its pictures.

    Args:
        directory: where the PNG files go; made if missing.
        scenes: played in their order.
        kept: a store that the scenes are played on a copy of; None for an empty one.

    Returns:
        The pictures, in the order of the scenes.

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
        app.workspace.machine.is_automatic = False  # it would disturb
        app.start()
        wait(lambda: app.window.central.is_built)
        try:
            return [taken for scene in scenes for taken in _pictures(app, scene, folder, directory)]
        finally:
            app.window.close()
            app.close()


def _pictures(app: Application, scene: Scene, folder: Path, directory: Path) -> list[Picture]:
    scene.play(app, folder)
    settle(app, scene.name)
    pictures = []
    for theme in THEMES:
        app.use_theme(theme)
        for width, height, scale in SIZES if scene.sized and not scene.in_help else _ONE_SIZE:
            shown = _window_of(app, scene)
            if scene.sized:
                # The panels at the left give way to the first, and the second has their room.
                for _ in range(2):
                    shown.resize(width, height)
                    turn(REPAINT_MS)
            turn(REPAINT_MS)
            picture = _grabbed(shown, scale)
            size = "" if scene.in_help else f"-{picture.width()}x{picture.height()}"
            path = directory / f"{scene.name}-{theme.value}{size}.png"
            _save(picture, path, is_small=scene.in_help)
            of = f"{scale * width}x{scale * height}"
            pictures.append(Picture(scene.name, theme.value, of, path))
    return pictures


def _grabbed(shown: QWidget, scale: int) -> QImage:
    pixmap = QPixmap(shown.size() * scale)
    pixmap.setDevicePixelRatio(scale)
    shown.render(pixmap)
    return pixmap.toImage()


def _save(image: QImage, path: Path, *, is_small: bool) -> None:
    if is_small:
        image = _with_palette(image)
    if not image.save(str(path)):
        raise HostError(str(path), "the picture cannot be written", "choose another folder")


def _with_palette(image: QImage) -> QImage:
    """Return a picture in 256 colours, a third of the bytes: frequent ones, and one of each kind.

    A kind has the same four upper bits of red, green and blue: a few green rings stay green.
    """
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    colours, counts = np.unique(np.frombuffer(image.constBits(), np.uint32), return_counts=True)
    colours = colours[np.argsort(-counts, kind="stable")]
    _, firsts = np.unique(colours & _KIND, return_index=True)
    kinds = colours[np.sort(firsts)]
    palette = dict.fromkeys([*colours[:128].tolist(), *kinds.tolist(), *colours.tolist()])
    indexed = QImage.Format.Format_Indexed8
    return image.convertToFormat(indexed, list(palette)[:256], _NEAREST)


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
    made.add_argument(
        "--help-pages", action="store_true", help="the pictures of README and help, in one size"
    )
    made.add_argument(
        "--sheet", action="store_true", help="contact sheets and a page of them, no pictures"
    )
    return made


def _take(options: argparse.Namespace, scenes: Sequence[Scene]) -> int:
    """Take the pictures, or sheets of them, and return how many files there are."""
    if not options.sheet:
        return len(take(options.folder, scenes, options.store))
    with tempfile.TemporaryDirectory(prefix="ctm-sheet-") as name:
        pictures = take(Path(name), scenes, options.store)
        return len(write_sheets(pictures, options.folder, _SHEETS))


def main(argv: Sequence[str] | None = None) -> int:
    """Take the tour; without a display Qt draws offscreen."""
    options = _parser().parse_args(argv)
    scenes: Sequence[Scene] = SCENES if options.store is None else SIGNATURE_SCENES
    scenes = HELP_SCENES if options.help_pages else scenes
    if sys.platform == "linux" and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    try:
        count = _take(options, scenes)
    except HostError as error:
        print(f"tour: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{count} pictures in {options.folder}")
    QApplication.quit()
    return 0
