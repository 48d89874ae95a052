"""Project files in the window: the menu that writes and reads them, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QToolButton,
    QWidget,
)

from ctm_gui.presenters.projects import ProjectExchange
from predictor.core.progress import Progress
from predictor.core.wording import shown

_SUFFIX = ".ctmproject"
_BAR_PX = 10


class ProjectButton(QToolButton):
    """A menu: export everything, export what has a tag, import.

    Args:
        projects: does it.
        tag: returns the tag that is chosen in the filter, empty for none.
        parent: owner.
    """

    def __init__(
        self, projects: ProjectExchange, tag: Callable[[], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._projects, self._tag = projects, tag
        self.setText("Project")
        self.setToolTip("Give predictions, signatures and devices to a colleague as one file")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        menu.addAction("Export All…", self.export_all)
        self.export_action = menu.addAction("", self.export_tagged)
        menu.addAction("Import…", self.import_file)
        menu.aboutToShow.connect(self._name_tag)
        self.setMenu(menu)
        projects.busy_changed.connect(lambda: self.setEnabled(not projects.busy))

    def export_all(self) -> None:
        """Ask for a file and write everything."""
        self._export("")

    def export_tagged(self) -> None:
        """Ask for a file and write what has the chosen tag."""
        self._export(self._tag())

    def import_file(self) -> None:
        """Ask for a project and take it over."""
        path, _ = QFileDialog.getOpenFileName(self, "Import project", "", _files())
        if path:
            self._projects.open(path)

    def _export(self, tag: str) -> None:
        name = f"{tag or 'project'}{_SUFFIX}"
        path, _ = QFileDialog.getSaveFileName(self, "Export project", name, _files())
        if path:
            whole = path if Path(path).suffix else f"{path}{_SUFFIX}"
            self._projects.export(whole, [tag] if tag else [])

    def _name_tag(self) -> None:
        tag = self._tag()
        self.export_action.setEnabled(bool(tag))
        self.export_action.setText(
            f"Export Those with the Tag {shown(tag).replace('&', '&&')}…"
            if tag
            else "Export Those with a Tag… (choose it above)"
        )


class ProjectProgress(QWidget):
    """How far a project is written or read, with Cancel; hidden while there is none."""

    def __init__(self, projects: ProjectExchange, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._projects = projects
        self._text = QLabel()
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setMaximumHeight(_BAR_PX)
        self._bar.setAccessibleName("Project")
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.setAccessibleName("Stop writing or reading the project")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._text)
        row.addWidget(self._bar, 1)
        row.addWidget(self.cancel_button)
        self.hide()
        self.cancel_button.clicked.connect(projects.cancel)
        projects.busy_changed.connect(self._show_busy)
        projects.progressed.connect(self._show_progress)

    def _show_busy(self) -> None:
        self.setVisible(self._projects.busy)
        self._bar.setRange(0, 0)
        self._text.setText("")

    def _show_progress(self, progress: Progress) -> None:
        self._bar.setRange(0, progress.total)
        self._bar.setValue(progress.done)
        self._text.setText(progress.message.capitalize())


def _files() -> str:
    return f"CloserToMe projects (*{_SUFFIX});;All (*)"
