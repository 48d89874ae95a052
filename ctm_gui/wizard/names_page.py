"""Page 2 of an import: which network each name in the file means."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from ctm_gui.presenters.probing.grids import names_grid
from ctm_gui.presenters.probing.imports import ReadFile
from ctm_gui.views.widgets import hbox, named
from ctm_gui.wizard.parts import Table, column, label
from predictor.core.text import plural
from predictor.core.wording import shown

LEFT_OUT = "(leave out)"


class NamesPage(QWidget):
    """The mapping of names; ``changed`` says that it is another."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._read: ReadFile | None = None
        self.meant: dict[str, str | None] = {}
        self._summary = label()
        self.table = Table("Names in the file")
        self.box = QComboBox()
        self.box.setAccessibleName("What the selected name means")
        heading = label("Which network does each name mean?", "heading")
        meaning = hbox(named("The selected name &means", self.box), (self.box, 1))
        column(self, heading, self._summary, (self.table, 1), meaning)
        self.table.rows_selected.connect(lambda _rows, current: self._on_row(current))
        self.box.activated.connect(self._on_meaning)

    @property
    def read(self) -> ReadFile | None:
        """The file that is shown."""
        return self._read

    @property
    def ready(self) -> bool:
        """Whether any name means something."""
        return any(choice is not None for choice in self.meant.values())

    def show_file(self, read: ReadFile) -> None:
        """Show the names of a file; exact ones are chosen already."""
        self._read, self.meant = read, read.proposed()
        file = read.file
        latencies = plural(len(file.latencies), "latency", "latencies")
        sentences = (
            f"{shown(file.name)}: {file.format}, {latencies}.",
            "Names of the window's models and of reference networks are recognised.",
            *map(shown, file.notes),
        )
        self._summary.setText(" ".join(sentences))
        self._show_table()
        unclear = [row for row, match in enumerate(read.names) if match.exact is None]
        first = unclear[0] if unclear else 0
        self.table.select_rows([first], first)
        self.changed.emit()

    def choose(self, name: str, meaning: str | None) -> None:
        """Give a name a meaning; None leaves it out."""
        self.meant[name] = meaning
        self._show_table()
        self.changed.emit()

    def _show_table(self) -> None:
        if self._read is not None:
            self.table.show_grid(names_grid(self._read, self.meant, LEFT_OUT))

    def _on_row(self, row: int | None) -> None:
        """Offer what the current name may mean, the likeliest first."""
        self.box.clear()
        if self._read is None or row is None:
            return
        match = self._read.names[row]
        likely = [proposal.candidate for proposal in match.proposals]
        rest = [name for name in self._read.candidates if name not in likely]
        self.box.addItems([LEFT_OUT, *likely, *rest])
        self.box.setCurrentText(self.meant[match.name] or LEFT_OUT)

    def _on_meaning(self, place: int) -> None:
        row = self.table.current_row()
        if self._read is not None and row is not None:
            name = self._read.names[row].name
            self.choose(name, None if place == 0 else self.box.itemText(place))
