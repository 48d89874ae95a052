"""The limits of a language model as fields."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from ctm_gui import settings as table
from ctm_gui.choose.language import LanguageLimits
from ctm_gui.settings import Settings
from ctm_gui.widgets.basic import STRETCH, hbox, holder, named, vbox
from ctm_gui.widgets.fields import BudgetBox

_LARGE_PX = 130
_IN_A_ROW = 3


class LanguageFields(QWidget):
    """Tokens a second, first token, joules, cost and the price an hour that it comes from.

    Args:
        settings: keep the limits.

    Signals:
        edited: the limits are others.
    """

    edited = Signal()

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.tokens = _box("tokens/s", "Least new tokens a second; zero for no limit")
        self.first = _box("ms", "Longest time to the first token; zero for no limit")
        self.joules = _box("J", "Most joules of a new token; zero for no limit")
        self.cost = _box("", "Highest cost of a million new tokens; zero for no limit")
        self.price = _box("an hour", "Price an hour of a card; zero for none")
        self.price.setSpecialValueText("not stated")
        self.price.setToolTip("Of one card of every device, in any currency; none is shipped.")
        boxes = {
            table.CHOOSE_TOKENS: ("Tokens/s at least", self.tokens),
            table.CHOOSE_FIRST: ("First to&ken at most", self.first),
            table.CHOOSE_JOULES: ("&Joules a token at most", self.joules),
            table.CHOOSE_COST: ("C&ost of 1e6 at most", self.cost),
            table.CHOOSE_PRICE: ("Price", self.price),
        }
        fields = []
        for setting, (text, box) in boxes.items():
            box.show_budget(settings.get(setting) or None)
            box.budget_edited.connect(lambda value, s=setting: settings.set(s, value or 0.0))
            box.budget_edited.connect(self.edited)
            field = holder(named(text, box), box)
            field.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Maximum)
            fields.append(field)
        # In two rows: five large fields are wider than a small window.
        rows = fields[:_IN_A_ROW], fields[_IN_A_ROW:]
        vbox(*(hbox(*row, STRETCH, spacing=14) for row in rows), of=self, margins=0)

    @property
    def limits(self) -> LanguageLimits:
        """The limits as they are typed."""
        boxes = (self.tokens, self.first, self.joules, self.cost, self.price)
        return LanguageLimits(*(box.value() or None for box in boxes))


def _box(unit: str, name: str) -> BudgetBox:
    made = BudgetBox(None, unit, name)
    made.setSpecialValueText("no limit")
    made.setProperty("role", "large")
    made.setMinimumWidth(_LARGE_PX)
    return made
