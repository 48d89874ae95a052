"""Page 1: the device, the way to it, and unfinished sessions."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QWidget

from ctm_gui.probing.choice import TargetChoice, Ticked, Unfinished, Way, configuration_of
from ctm_gui.probing.grids import sessions_grid, ticked_grid
from ctm_gui.probing.page_parts import Table, box, column, label, show_words
from ctm_gui.probing.presenter import ProbingPresenter, resumed_choice
from ctm_gui.probing.target_fields import TargetForm
from ctm_gui.widgets import basic
from ctm_gui.widgets.basic import STRETCH, hbox

_WAY_WORDS = {
    Way.THIS: ("&This PC", "Networks are measured here, in processes of their own."),
    Way.SSH: (
        "A board over &SSH",
        "A Linux board with python3, numpy and onnxruntime; files are copied and removed again.",
    ),
    Way.KIT: (
        "A &kit for a machine that cannot be reached",
        "An archive with networks and runner; its results are imported when they are back.",
    ),
    Way.IMPORT: (
        "I&mport results, or type medians",
        "Results of a kit, files of other benchmark tools, or one latency a line.",
    ),
}
_SESSIONS_HEIGHT_PX = 110
_TICKED_HEIGHT_PX = 150


class TargetPage(QWidget):
    """The first page.

    ``changed`` is emitted when the choice differs; ``resumed`` gives an Unfinished and a
    TargetChoice to go on with, ``left`` the id of a session to end.
    """

    changed = Signal()
    resumed = Signal(object, object)
    left = Signal(str)

    def __init__(self, presenter: ProbingPresenter) -> None:
        super().__init__()
        self._presenter = presenter
        self._sessions: tuple[Unfinished, ...] = ()
        self._ticked: tuple[Ticked, ...] = ()
        self._filling = False
        self.form = TargetForm()
        self.buttons = {way: QRadioButton(text) for way, (text, _) in _WAY_WORDS.items()}
        self.sessions = Table("Unfinished sessions")
        self.sessions.setFixedHeight(_SESSIONS_HEIGHT_PX)
        self.go_on_button = basic.button(
            "&Go On", "Measure what the selected session is still waiting for", self._go_on
        )
        self.end_button = basic.button(
            "&End It", "Measure nothing more; what was measured becomes a signature", self._end
        )
        self._unfinished = self._build_sessions()
        self.ticked = Table("Ticked targets")
        self.ticked.setFixedHeight(_TICKED_HEIGHT_PX)
        self._ticked_words = label(role="muted")
        # Its own least height is that of the text in a narrow column, and the page would scroll.
        self._ticked_words.setMinimumHeight(2 * self._ticked_words.fontMetrics().lineSpacing())
        heading = label("Ticked targets: select the one to probe", "heading")
        self._of_ticked = box(heading, self.ticked, self._ticked_words)
        self._problem = label()
        self._problem.setMinimumHeight(self._problem.fontMetrics().lineSpacing())
        question = label("How is the device reached?", "heading")
        way_buttons = self._build_way_buttons()
        fields = (question, way_buttons, self.form, self._problem)
        column(self, self._unfinished, self._of_ticked, *fields, STRETCH)
        self._connect()
        self._show_sessions()
        self._show_ticked()

    @property
    def choice(self) -> TargetChoice:
        """The choice that the page makes."""
        return self.form.choice(self._presenter.user_machine())

    @property
    def ready(self) -> bool:
        """Whether the choice is complete."""
        return not self.form.problem

    def choose(self, way: Way) -> None:
        """Choose the way to the target."""
        self.buttons[way].setChecked(True)

    @property
    def waiting(self) -> list[int]:
        """Rows of the ticked targets that can be probed from here and were not yet."""
        return [row for row, entry in enumerate(self._ticked) if entry.waits]

    @property
    def is_of_ticked(self) -> bool:
        """Whether a ticked target is selected."""
        return self._current_ticked() is not None

    def choose_waiting(self) -> None:
        """Select the first ticked target that can be probed from here and was not yet."""
        if self.waiting:
            self.ticked.select_rows(self.waiting[:1], self.waiting[0])

    def begin(self) -> None:
        """Offer what the user ticked; this machine where the ticks are those of the first start."""
        if not (self.is_of_ticked or self._presenter.is_first_selection):
            self.choose_waiting()

    def _build_sessions(self) -> QWidget:
        self._session_words = label(role="muted")
        buttons = hbox(self.go_on_button, self.end_button, (self._session_words, 1))
        return box(label("Unfinished sessions", "heading"), self.sessions, buttons)

    def _build_way_buttons(self) -> QWidget:
        self._group = QButtonGroup(self)
        widest = max(button.sizeHint().width() for button in self.buttons.values())
        rows = []
        for way, (_, words) in _WAY_WORDS.items():
            button = self.buttons[way]
            button.setAccessibleDescription(words)
            button.setMinimumWidth(widest)
            self._group.addButton(button)
            description = label(words, "muted")
            description.setMinimumHeight(description.fontMetrics().lineSpacing())
            rows.append(hbox(button, (description, 1)))
            rows[-1].setSpacing(12)
        self.buttons[Way.THIS].setChecked(True)
        return box(*rows, spacing=4)

    def _connect(self) -> None:
        for way, button in self.buttons.items():
            button.toggled.connect(
                lambda checked, way=way: self.form.show_way(way) if checked else None
            )
        self.form.changed.connect(self._on_form)
        self._presenter.library.changed.connect(self._show_devices)
        self._presenter.shelf.sessions_changed.connect(self._show_sessions)
        self._presenter.ticked_changed.connect(self._show_ticked)
        self.ticked.rows_selected.connect(lambda _rows, _current: self._on_ticked())
        self.sessions.rows_selected.connect(lambda _rows, _current: self._show_state())
        self.sessions.row_activated.connect(lambda _: self._go_on())
        self._show_devices()

    def _show_devices(self) -> None:
        self.form.show_devices(self._presenter.library.entries)

    def _show_sessions(self) -> None:
        busy = self._presenter.run.session_id if self._presenter.run.active else ""
        self._sessions = tuple(s for s in self._presenter.shelf.sessions if s.session.id != busy)
        self.sessions.show_grid(sessions_grid(self._sessions, self._presenter.shelf.device_name))
        self._unfinished.setVisible(bool(self._sessions))
        if self._sessions and self._current() is None:
            self.sessions.select_rows([0], 0)
        self._show_state()

    def _show_ticked(self) -> None:
        """Show the ticked targets; the selected one stays, and so do the fields."""
        current = self._current_ticked()
        self._ticked = self._presenter.ticked
        places = [
            row
            for row, entry in enumerate(self._ticked)
            if current is not None and entry.target.device.id == current.target.device.id
        ]
        self.ticked.blockSignals(True)
        self.ticked.show_grid(ticked_grid(self._ticked))
        self.ticked.select_rows(places, places[0] if places else None)
        self.ticked.blockSignals(False)
        self._of_ticked.setVisible(bool(self._ticked))
        self._show_ticked_words()
        self.changed.emit()

    def _current_ticked(self) -> Ticked | None:
        rows = self.ticked.selected_rows()
        return self._ticked[int(rows[0])] if rows.size else None

    def _on_ticked(self) -> None:
        """Fill in the selected target, reached as it can be."""
        current = self._current_ticked()
        if current is not None:
            self._filling = True
            self.choose(current.way)
            self.form.fill(current.target.device, configuration_of(current))
            self._filling = False
        self._show_ticked_words()
        self.changed.emit()

    def _show_ticked_words(self) -> None:
        current = self._current_ticked()
        show_words(self._ticked_words, "" if current is None else current.words, "muted")

    def _current(self) -> Unfinished | None:
        rows = self.sessions.selected_rows()
        return self._sessions[int(rows[0])] if rows.size else None

    def _show_state(self) -> None:
        current = self._current()
        words = "" if current is None else _words_of(current, self.form)
        self._session_words.setText(words)
        self.go_on_button.setEnabled(current is not None and not words)
        self.end_button.setEnabled(current is not None)

    def _on_form(self) -> None:
        current, device = self._current_ticked(), self.choice.device
        is_other = current is not None and (device is None or device.id != current.target.device.id)
        if is_other and not self._filling:
            # The fields say what is probed, so no other target may seem to be.
            self.ticked.clearSelection()
        problem = self.form.problem
        show_words(self._problem, problem, "muted")
        self._show_state()
        self.changed.emit()

    def _go_on(self) -> None:
        current = self._current()
        if current is not None and self.go_on_button.isEnabled():
            self.resumed.emit(current, resumed_choice(self.choice, current.way))

    def _end(self) -> None:
        current = self._current()
        if current is not None:
            self.left.emit(current.session.id)


def _words_of(current: Unfinished, form: TargetForm) -> str:
    """Words on the needs of a session before it can go on; empty where it can."""
    address = form.choice(None).address
    if current.way is Way.KIT:
        return "It waits for the results of its kit: import them below."
    if current.way is Way.SSH and not address:
        return "Choose A board over SSH below and give its address; then go on."
    if current.way is None and form.way not in {Way.THIS, Way.SSH}:
        return "Say below how its machine is reached; then go on."
    if current.way is None and form.way is Way.SSH and not address:
        return "Give the address of the board below; then go on."
    return ""
