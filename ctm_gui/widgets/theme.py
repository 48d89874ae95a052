"""Colours of the window: a light and a dark theme, following the system or the user's choice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from string import Template

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette

from predictor.core.resources import resources_dir

CELL_PADDING_PX = 6  # at both sides of the text in a table's cell
THEME_PROPERTY = "theme"  # of windows without a parent: the name of their theme


class ThemeChoice(StrEnum):
    """Choices of the View menu."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """Colours as ``#rrggbb``.

    Attributes:
        name: ``light`` or ``dark``.
        background: of the window.
        surface: of tables, trees, fields and plots.
        text: of everything that is read.
        muted: of secondary text; still readable (4.5:1).
        accent: of selections, links and focus.
        on_accent: of text on the accent.
        grid: of separators and grid lines.
        outline: of fields and check boxes (3:1).
        good, warn, bad: of verdicts; readable as text on background and surface.
        series: of plot series, distinguishable without colour vision.
        heat: of maps, from the least to the most: ever further from the surface in lightness.
        change: of maps, from what is saved over nothing to what is added.
    """

    name: str
    background: str
    surface: str
    text: str
    muted: str
    accent: str
    on_accent: str
    grid: str
    outline: str
    good: str
    warn: str
    bad: str
    series: tuple[str, ...]
    heat: tuple[str, ...]
    change: tuple[str, ...]


# Series after Okabe and Ito, "Color Universal Design" (2008), wine after Tol (2021); darkened on
# light and lightened on dark until each has 3:1 on its surface.
LIGHT = Theme(
    name="light",
    background="#f4f5f7",
    surface="#ffffff",
    text="#1b1f24",
    muted="#57606a",
    accent="#0b63b5",
    on_accent="#ffffff",
    grid="#d5d9df",
    outline="#848c96",
    good="#17702f",
    warn="#8a5300",
    bad="#b3261e",
    series=(
        "#0072b2",
        "#d55e00",
        "#009e73",
        "#cc79a7",
        "#b8860b",
        "#882255",
        "#5e3c99",
        "#6e7781",
    ),
    heat=("#f5f7fa", "#cfe1f2", "#8fbfe0", "#3f8fc5", "#1560a0", "#08305f"),
    change=("#08519c", "#6baed6", "#f5f7fa", "#f0a35e", "#9c3a03"),
)
DARK = Theme(
    name="dark",
    background="#1e2127",
    surface="#16181d",
    text="#e6e8eb",
    muted="#a3abb6",
    accent="#5aa9f0",
    on_accent="#0c0e12",
    grid="#3a3f49",
    outline="#717a86",
    good="#5fc97c",
    warn="#e3a93c",
    bad="#ff8a80",
    series=(
        "#4aa8e0",
        "#f08a3c",
        "#2fc79b",
        "#e29bc4",
        "#e6c229",
        "#8ed0f5",
        "#a98ae0",
        "#9aa3ad",
    ),
    heat=("#1d2129", "#1f3a57", "#23608f", "#3f93c4", "#8cc9e8", "#e8f6ff"),
    change=("#a8d8f5", "#2f73a8", "#1d2129", "#a85a1f", "#ffc48f"),
)


def theme_named(name: str) -> Theme:
    """Return the dark theme for ``dark``, else the light one."""
    return DARK if name == DARK.name else LIGHT


def system_theme(app: QGuiApplication) -> Theme:
    """Return the theme that the desktop asks for; light where it states none."""
    scheme = app.styleHints().colorScheme()
    return DARK if scheme is Qt.ColorScheme.Dark else LIGHT


def chosen_theme(app: QGuiApplication, choice: ThemeChoice) -> Theme:
    """Return the theme of the user's choice, the desktop's for ``SYSTEM``."""
    return system_theme(app) if choice is ThemeChoice.SYSTEM else theme_named(choice.value)


def palette_of(theme: Theme) -> QPalette:
    """Return the Qt palette that draws ``theme``."""
    roles = QPalette.ColorRole
    palette = QPalette()
    for role, colour in (
        (roles.Window, theme.background),
        (roles.WindowText, theme.text),
        (roles.Base, theme.surface),
        (roles.AlternateBase, theme.background),
        (roles.Text, theme.text),
        (roles.PlaceholderText, theme.muted),
        (roles.Button, theme.background),
        (roles.ButtonText, theme.text),
        (roles.BrightText, theme.bad),
        (roles.ToolTipBase, theme.surface),
        (roles.ToolTipText, theme.text),
        (roles.Highlight, theme.accent),
        (roles.HighlightedText, theme.on_accent),
        (roles.Link, theme.accent),
        (roles.LinkVisited, theme.warn),
        (roles.Accent, theme.accent),
        (roles.Light, theme.grid),
        (roles.Mid, theme.grid),
        (roles.Midlight, theme.grid),
        (roles.Dark, theme.grid),
        (roles.Shadow, theme.outline),
    ):
        palette.setColor(role, QColor(colour))
    # The loop above sets all groups, the disabled one too, which would look enabled.
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(theme.muted))
    palette.setColor(QPalette.ColorGroup.Disabled, roles.Highlight, QColor(theme.grid))
    palette.setColor(QPalette.ColorGroup.Disabled, roles.HighlightedText, QColor(theme.text))
    return palette


def style_sheet() -> str:
    """Return the short style sheet of both themes."""
    sheet = (resources_dir() / "styles" / "window.qss").read_text(encoding="utf-8")
    # Qt wants forward slashes on every system.
    icons = (resources_dir() / "icons").as_posix()
    return Template(sheet).substitute(icons=icons, cell_padding_px=CELL_PADDING_PX)
