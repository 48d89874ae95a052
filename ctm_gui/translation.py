"""The window's texts in the user's language: Qt's own translation, English where there is none.

A text that the window shows is written ``tr("…")``; one that stands in a table is marked there with
``QT_TR_NOOP`` and goes through ``tr`` when it is shown. ``packaging/texts.py`` collects both.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

from PySide6 import QtCore
from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from predictor.core.resources import resources_dir

NAME = "closertome"
# Qt's own, by whose name lupdate knows it; its stub says nothing of the type.
QT_TR_NOOP = cast("Callable[[str], str]", QtCore.QT_TR_NOOP)


def tr(text: str, one: str | None = None, count: int = -1) -> str:
    """Return a text of the window in the user's language.

    Values are put in afterwards: ``tr("{count} of {size}").format(count=3, size=8)``. A noun that
    changes with its count has English forms for many and for one, and ``%n`` for the count:
    ``tr("%n models", "%n model", count)``; a translation has as many forms as its language.

    Args:
        text: in English; with a count, the form for many.
        one: the English form for one.
        count: what ``%n`` stands for.
    """
    found = QCoreApplication.translate("", text, one, count)
    if one is not None and count == 1 and found == text.replace("%n", "1"):
        return one.replace("%n", "1")  # nobody has translated it
    return found


def install_translations(
    app: QCoreApplication, folder: Path | None = None, locale: QLocale | None = None
) -> list[QTranslator]:
    """Translate what is made from now on, where a translation for the locale is there.

    Args:
        app: gets the translators and owns them.
        folder: with ``closertome_<locale>.qm``; None for what ships.
        locale: None for the user's own.

    Returns:
        The translators of the window's texts and of Qt's own (buttons of its dialogs); none where
        the window's are not there: half a dialog in another language is worse.
    """
    found: list[QTranslator] = []
    places = (
        (NAME, str(folder or resources_dir() / "translations")),
        ("qtbase", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)),
    )
    for name, place in places:
        translator = QTranslator(app)
        if translator.load(locale or QLocale(), name, "_", place):
            app.installTranslator(translator)
            found.append(translator)
        elif not found:
            break
    return found
