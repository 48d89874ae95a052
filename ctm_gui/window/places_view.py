"""The views under their strips: the pages of a place, the unit, and the what-ifs that are set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QToolButton, QWidget

from ctm_gui.targets.choice import TargetSelection
from ctm_gui.targets.what_if_strip import WhatIfStrip
from ctm_gui.widgets.basic import combo_box, hbox, named, vbox
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.pages import PLACES, Page, index_of, parts_of
from ctm_gui.window.place_strip import PageStrip, PlaceStrip
from ctm_gui.window.side_panels import Views, ViewsRoom
from predictor.core.units import LatencyUnit

_UNIT_TIP = "Unit of every latency; FPS is batch / latency"
_UNIT = (
    "The unit of every latency in the window, in what is copied and in reports. FPS, frames a "
    "second, is batch divided by latency."
)


class PlacesView(QWidget):
    """The page that is looked at, and what chooses it.

    Attributes:
        tabs: the pages, one of which is shown.
        place_strip: the places; the window puts it at its left.

    Args:
        options: the unit.
        selection: has the what-ifs.
        pages: in their order.
        actions: by id.
        first: shown as the first page until the views are made.
    """

    def __init__(
        self,
        options: ViewOptions,
        selection: TargetSelection,
        pages: Sequence[Page],
        actions: Mapping[str, QAction],
        first: QWidget,
    ) -> None:
        super().__init__()
        self._pages = pages
        self._last_pages = {page.place: page.id for page in reversed(pages)}  # by place
        self._answer: Callable[[], tuple[Sequence[str], str]] = lambda: ((), "")
        self.tabs = Views()
        for index, page in enumerate(pages):
            self.tabs.addTab(QWidget() if index else first, page.title)
        self.place_strip = PlaceStrip(PLACES, actions)
        self.page_strip = PageStrip(actions)
        self.unit_box = _unit_box(options)
        unit = named("Unit", self.unit_box)
        strip = QWidget()
        strip.setMinimumHeight(self.page_strip.sizeHint().height())
        vbox(self.page_strip, of=strip, margins=0)
        self.report_button = QToolButton()
        self.report_button.setDefaultAction(actions["report"])
        parts = ((strip, 1), self.report_button, unit, self.unit_box)
        head = hbox(*parts, margins=(8, 6, 8, 0), spacing=6)
        vbox(head, WhatIfStrip(selection), (ViewsRoom(self.tabs), 1), of=self, margins=0, spacing=0)
        self.tabs.currentChanged.connect(self.follow)
        self.page_strip.chosen.connect(lambda name: actions[name].trigger())
        self.follow()

    @property
    def page(self) -> Page:
        """The page that is looked at."""
        return self._pages[self.tabs.currentIndex()]

    def show_page(self, page_id: str) -> None:
        """Show a page.

        Raises:
            KeyError: there is no page of this id.
        """
        place = index_of(self._pages, page_id)
        if place is None:
            raise KeyError(page_id)
        self.tabs.setCurrentIndex(place)

    def show_place(self, place_id: str) -> None:
        """Show a place, at the page of it that was looked at last."""
        if self.page.place != place_id:
            self.show_page(self._last_pages[place_id])

    def set_answer(self, parts: Callable[[], tuple[Sequence[str], str]]) -> None:
        """Give what returns the parts of the first page that are offered, and the current one."""
        self._answer = parts
        self.follow()

    def follow(self, *_: object) -> None:
        """Mark the place and the page that are looked at."""
        page = self.page
        self._last_pages[page.place] = page.id
        self.place_strip.show_place(page.place)
        place = next(place for place in PLACES if place.id == page.place)
        ids: Sequence[str] = parts_of(place, self._pages)
        current = page.id
        if place.parts:
            ids, part = self._answer()
            if page is self._pages[0]:
                current = part
        self.page_strip.show_pages(ids, current)


def _unit_box(options: ViewOptions) -> QComboBox:
    box = combo_box("Unit", [unit.value for unit in LatencyUnit])
    box.setToolTip(_UNIT_TIP)
    box.setWhatsThis(_UNIT)

    def show() -> None:
        box.setCurrentIndex(list(LatencyUnit).index(options.unit))

    show()
    box.currentIndexChanged.connect(lambda index: options.set_unit(list(LatencyUnit)[index]))
    options.unit_changed.connect(show)
    return box
