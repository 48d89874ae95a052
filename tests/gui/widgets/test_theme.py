from __future__ import annotations

import re

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication

from ctm_gui.widgets.theme import (
    DARK,
    LIGHT,
    Theme,
    ThemeChoice,
    chosen_theme,
    palette_of,
    style_sheet,
)
from ctm_gui.widgets.theme_change import apply_theme
from predictor.core.resources import resources_dir
from tests.support.accessible import contrast


def test_the_formula_knows_black_on_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("role", ["text", "muted", "accent", "good", "warn", "bad"])
def test_text_is_readable_on_window_and_surface(theme: Theme, role: str) -> None:
    for ground in (theme.background, theme.surface):
        assert contrast(getattr(theme, role), ground) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_what_is_not_text_shows(theme: Theme) -> None:
    assert contrast(theme.on_accent, theme.accent) >= 4.5
    assert contrast(theme.outline, theme.surface) >= 3.0
    assert len(set(theme.series)) >= 8
    assert min(contrast(colour, theme.surface) for colour in theme.series) >= 3.0


# Each text of the palette with each ground that Qt draws it on.
_PAIRS = (
    ("WindowText", "Window"),
    ("Text", "Base"),
    ("Text", "AlternateBase"),
    ("ButtonText", "Button"),
    ("HighlightedText", "Highlight"),
    ("ToolTipText", "ToolTipBase"),
    ("PlaceholderText", "Base"),
    ("Link", "Base"),
    ("Link", "Window"),
    ("LinkVisited", "Base"),
    ("BrightText", "Window"),
)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("pair", _PAIRS, ids=" on ".join)
def test_every_text_of_the_palette_is_readable_also_where_it_is_disabled(
    theme: Theme, pair: tuple[str, str]
) -> None:
    palette = palette_of(theme)
    text, ground = (getattr(QPalette.ColorRole, name) for name in pair)
    for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
        assert contrast(*(palette.color(group, role).name() for role in (text, ground))) >= 4.5
    disabled = QPalette.ColorGroup.Disabled
    assert contrast(*(palette.color(disabled, role).name() for role in (text, ground))) >= 3.0


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_theme_reaches_palette_sheet_and_icons(qapp: QApplication, theme: Theme) -> None:
    apply_theme(qapp, theme)
    assert qapp.palette().color(QPalette.ColorRole.Base).name() == theme.surface
    assert qapp.styleSheet() == style_sheet()
    for icon in ("up", "down", "check", "partial"):
        assert (resources_dir() / "icons" / f"{icon}-{theme.name}.svg").is_file()


def test_the_sheet_has_no_colour_of_its_own() -> None:
    assert not re.search(r"#[0-9a-f]{3}|rgb", style_sheet())


def test_the_users_choice_wins_over_the_system(qapp: QApplication) -> None:
    assert chosen_theme(qapp, ThemeChoice.DARK) is DARK
    assert chosen_theme(qapp, ThemeChoice.LIGHT) is LIGHT
    assert chosen_theme(qapp, ThemeChoice.SYSTEM) in {LIGHT, DARK}
