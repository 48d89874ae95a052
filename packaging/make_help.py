"""Write the pages of help that come from tables: settings and keys.

    python packaging/make_help.py [FOLDER]

Their tables are ``ctm_gui.settings.TABLE`` and ``ctm_gui.window.actions.ACTIONS``. The other pages
of ``docs/help`` are written by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from destination import destination
from PySide6.QtGui import QGuiApplication, QKeySequence

from ctm_gui.settings import SETTINGS_VARIABLE, TABLE, AnySetting
from ctm_gui.window.actions import ACTIONS, MENUS, ActionSpec
from predictor.core.resources import help_dir

_SETTINGS = f"""# Settings

*Edit, Settings* (Ctrl+,). A change takes effect at once. They are kept in `window.ini` in the
configuration folder of the user, or in the file that `{SETTINGS_VARIABLE}` names.
"""
_REMEMBERED = """
## Remembered by the window

These follow what you do; the dialog does not ask for them.
"""
_KEYS = """# Keys

Every command has a place in the menus, which open by Alt and the underlined letter. Ctrl+Shift+P
finds a command by a few letters. Tab and Shift+Tab go from control to control, F6 and Shift+F6 from
one part of the window to the next: into the search of the targets, into the table of a page. Enter
on a row of Answer leads to the slowest operator in Why. The menu key opens the context menu of what
has the focus.
"""


def settings_page() -> str:
    """Return the page of settings."""
    asked = ((row.label, _default_words(row), row.help) for row in TABLE if row.in_dialog)
    remembered = ((setting.label, setting.help) for setting in TABLE if not setting.in_dialog)
    return (
        _SETTINGS
        + _table(("setting", "default", "what it does"), asked)
        + _REMEMBERED
        + _table(("what", "how"), remembered)
    )


def keys_page() -> str:
    """Return the page of keys."""
    parts = [_KEYS]
    for menu in MENUS:
        rows = [_key_row(spec) for spec in ACTIONS if spec.menu == menu]
        parts += [f"\n## {_plain(menu)}\n", _table(("command", "keys", "what it does"), rows)]
    return "".join(parts)


def _default_words(setting: AnySetting) -> str:
    if setting.choices:
        return dict(setting.choices)[str(setting.default)]
    if isinstance(setting.default, bool):
        return "on" if setting.default else "off"
    return f"{setting.default:g} {setting.unit}".strip()


def _key_row(spec: ActionSpec) -> tuple[str, str, str]:
    portable = QKeySequence.SequenceFormat.PortableText
    keys = ", ".join(each.toString(portable) for each in spec.keys)
    return _plain(spec.text), keys, spec.tip


def _plain(text: str) -> str:
    return text.replace("&", "").removesuffix("…")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    cells = (" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines)
    return "\n" + "\n".join(f"| {line} |" for line in cells) + "\n"


PAGES = {"settings": settings_page, "keys": keys_page}


def main(folder: Path) -> None:
    """Write the pages into ``folder``."""
    app = QGuiApplication.instance() or QGuiApplication([])  # standard keys are its platform's
    for name, page in PAGES.items():
        (folder / f"{name}.md").write_text(page(), encoding="utf-8")
    del app


if __name__ == "__main__":
    main(destination(__doc__, help_dir()))
