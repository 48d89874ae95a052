"""Collect the window's texts for translators, and make what the program loads of their work.

    python packaging/texts.py de [--no-obsolete]

Brings ``packaging/translations/closertome_de.ts`` up to date with the source: new texts are added,
translations stay. Then ``resources/translations/closertome_de.qm`` is made of the texts that are
translated in it. A ``.ts`` file is edited with Qt Linguist (``pyside6-linguist``).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import PySide6
from contents import ROOT

if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from ctm_gui.actions import ACTIONS, MENUS
from ctm_gui.translation import NAME
from ctm_gui.views.compare_tabs import PAGES
from ctm_gui.views.settings_dialog import asked
from ctm_gui.views.tab_places import TITLES

SOURCES = ROOT / "ctm_gui"
TEXTS, TRANSLATIONS = ROOT / "packaging" / "translations", ROOT / "resources" / "translations"


def main(argv: list[str] | None = None) -> int:
    """Bring the file of a language up to date and make its translation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("locale", help="such as de or pt_BR")
    parser.add_argument("--no-obsolete", action="store_true", help="drop texts that are gone")
    options = parser.parse_args(argv)
    texts = TEXTS / f"{NAME}_{options.locale}.ts"
    collect(texts, keep_obsolete=not options.no_obsolete)
    release(texts, TRANSLATIONS / f"{NAME}_{options.locale}.qm")
    return 0


def collect(texts: Path, *, keep_obsolete: bool = True) -> None:
    """Bring a ``.ts`` file up to date with the source; it is made where there is none."""
    texts.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables.py"
        tables.write_text("".join(f"QT_TR_NOOP({text!r})\n" for text in texts_of_tables()))
        sources = [str(path) for path in sorted(SOURCES.rglob("*.py"))]
        extra = [] if keep_obsolete else ["-no-obsolete"]
        # Places in the source would change the file with each line that moves.
        options = ["-silent", "-locations", "none", *extra, "-ts", str(texts)]
        _run("lupdate", *sources, str(tables), *options)


def release(texts: Path, translation: Path) -> None:
    """Make the ``.qm`` file that Qt loads of the translated texts of a ``.ts`` file."""
    translation.parent.mkdir(parents=True, exist_ok=True)
    _run("lrelease", str(texts), "-silent", "-qm", str(translation))


def texts_of_tables() -> Iterator[str]:
    """Yield the texts that stand in tables, and go through ``tr`` when they are shown."""
    yield from MENUS
    yield from TITLES
    for title, tip in PAGES:
        yield from (title, tip)
    for spec in ACTIONS:
        yield from filter(None, (spec.text, spec.tip))
    for setting in asked():
        yield from filter(None, (setting.label, setting.help, setting.none))
        yield from (words for _, words in setting.choices)


def _run(tool: str, *arguments: str) -> None:
    # The package's own scripts only pass their arguments on to these.
    program = Path(PySide6.__file__).parent / tool
    subprocess.run([str(program), *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main())
