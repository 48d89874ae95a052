"""The views as tabs, and the panels at the left, which give way where the window is narrow."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QScrollArea, QSplitter, QTabWidget, QWidget

from ctm_gui.tasks.turns import NextTurn
from ctm_gui.window.pages import Page

# Under it a form or a long table beside the panels would be cut off; both need less than this.
_NARROW_PX = 1300
# Under it the names of targets and their number are cut.
_MIN_PANELS_PX = 270
# What the window has beside and around its views: places, menus, strip, status.
_FRAME_PX = (84, 132)
# A window may be as narrow, whatever its view needs.
_MIN_WINDOW_PX = 900


class Panels(QSplitter):
    """The panels one above another; they give way, so they have no say in the least width."""

    def __init__(self, *panels: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical)
        for panel in panels:
            self.addWidget(panel)
        self.setChildrenCollapsible(False)

    @property
    def needed_px(self) -> int:
        """The width under which their contents are cut."""
        return max(super().minimumSizeHint().width(), _MIN_PANELS_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())


class Views(QTabWidget):
    """The views; only the one that is shown has a say in the least width of the window."""

    def __init__(self) -> None:
        super().__init__()
        self.setDocumentMode(True)
        self.setAccessibleName("Views")
        self.tabBar().hide()  # the strips of places and pages choose
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it would hand the focus to the hidden bar
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        current = self.currentWidget()
        if current is None:
            return super().minimumSizeHint()
        # Qt's own is that of the widest view, shown or not.
        return current.minimumSizeHint()


def narrow_room(widget: QWidget) -> QSize:
    """Return what the screen of a widget has for a view, in a window of at most 900 pixels."""
    screen = widget.screen().availableSize()
    width = min(screen.width(), _MIN_WINDOW_PX)
    return QSize(width - _FRAME_PX[0], screen.height() - _FRAME_PX[1])


class ViewsRoom(QScrollArea):
    """Room for the views, which scrolls them where the screen is smaller than they need.

    Args:
        views: what is shown.
    """

    def __init__(self, views: Views) -> None:
        super().__init__()
        self._views = views
        self.setWidget(views)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Room of the views")
        self.viewport().setAutoFillBackground(False)
        views.setAutoFillBackground(False)
        views.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        """Return what the view needs, at most what the screen has, or a window of 900 pixels."""
        # The style sheet's border takes a pixel at each side.
        return (self._views.minimumSizeHint() + QSize(2, 2)).boundedTo(narrow_room(self))

    def sizeHint(self) -> QSize:
        """Return what the views would like."""
        return self._views.sizeHint()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what the view needs."""
        if event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


class SidePanels:
    """Shows the panels, or hides them; the user's choice goes before the window's width.

    Args:
        panels: at the left of the window.
        tabs: beside them.
        places: the tabs under their strip.
        pages: in the tabs.
        action: of the View menu; its tick says whether they are shown.
    """

    def __init__(
        self,
        panels: Panels,
        tabs: QTabWidget,
        places: QWidget,
        pages: Sequence[Page],
        action: QAction,
    ) -> None:
        self._panels, self._tabs, self._action = panels, tabs, action
        self._places = places
        self._pages = pages
        self._choice: bool | None = None
        tabs.currentChanged.connect(self.fit)
        # Once the layouts know the least width of the page.
        self._later = NextTurn(self.fit, tabs)
        tabs.currentChanged.connect(self.fit_soon)
        action.setChecked(True)

    def fit_soon(self) -> None:
        """Follow another least width of the view, once the layouts know it."""
        self._later.start()

    def toggle(self) -> None:
        """Show the panels where they are hidden, and hide them where they are shown."""
        self._choice = self._panels.isHidden()
        self.fit()

    def fit(self, *_: object) -> None:
        """Follow the width of the window and the view that is looked at."""
        window = self._panels.window()
        needs = self._pages[self._tabs.currentIndex()].needs_panels
        fits = window.width() >= _NARROW_PX or needs
        # The panels have no part in the least width, whether they are shown or not.
        views = (self._tabs, self._places)
        view_px = max(view.minimumSizeHint().width() for view in views) + _FRAME_PX[0]
        needed_px = view_px + self._panels.needed_px
        fits = fits and window.width() >= needed_px
        visible = fits if self._choice is None else self._choice
        self._panels.setVisible(visible)
        self._action.setChecked(visible)
