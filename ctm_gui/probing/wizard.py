"""The wizard's window: steps above, one page at a time, buttons below."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QLabel, QStackedWidget, QWidget

from ctm_gui.probing.choice import Source, TargetChoice, Unfinished, Way
from ctm_gui.probing.dialogs import HostKeyDialog
from ctm_gui.probing.imports import Imported, ReadFile
from ctm_gui.probing.measure_page import MeasurePage
from ctm_gui.probing.page_parts import MARGIN_PX, box, button, column, label, show_words
from ctm_gui.probing.plan_page import NamesPage, PlanPage
from ctm_gui.probing.plots import CoveragePlot, SamplesPlot
from ctm_gui.probing.presenter import ProbingPresenter, resumed_choice
from ctm_gui.probing.result_page import ResultPage
from ctm_gui.probing.run import Phase
from ctm_gui.probing.target_page import TargetPage
from ctm_gui.tasks.turns import in_turns
from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import STRETCH, busy_bar, hbox, holder, scrolled
from ctm_gui.widgets.focus import first_focusable
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.errors import CtmError

TARGET, PLAN, NAMES, MEASURE, RESULT = range(5)
_STEPS = (
    (TARGET, "1 Target"),
    (PLAN, "2 Plan"),
    (MEASURE, "3 Measure"),
    (RESULT, "4 Result"),
)
_IMPORT_STEPS = (
    (TARGET, "1 Target"),
    (NAMES, "2 Names"),
    (RESULT, "3 Result"),
)
_KIT_STEPS = (
    (TARGET, "1 Target"),
    (PLAN, "2 Plan and kit"),
    (RESULT, "3 Result"),
)
_END_TIP = "Measure nothing more; what was measured becomes the signature"
_SIZE = (980, 760)
_READING = "Reading and checking the results…"
_BAR_PX = 6


class ProbingWizard(BaseDialog):
    """Guides from a device to its signature. Closing it stops measuring; the session stays.

    ``built`` is emitted once all pages exist.

    Args:
        options: the theme.
        presenter: plans, measures and keeps.
        parent: the main window.
    """

    built = Signal()

    def __init__(
        self, options: ViewOptions, presenter: ProbingPresenter, parent: QWidget | None = None
    ) -> None:
        super().__init__("Probe a Device", parent, _SIZE, is_retained=True)
        self._options, self.presenter = options, presenter
        self._choice = TargetChoice()
        self.is_built = False
        self.steps = QLabel()
        self.steps.setAccessibleName("Steps")
        self.problem = label(role="bad")
        self.problem.hide()
        # A kit's results are checked as a probing is: seconds in which nothing else moves.
        words = label(_READING, "muted")
        words.setWordWrap(False)  # it stands in a row of buttons
        self.reading = holder(words, busy_bar("Reading results", _BAR_PX))
        self.reading.hide()
        self.stored_button = button("Stored Sig&natures", act=self._show_stored)
        self.back_button = button("&Back", act=self.back)
        self.next_button = button("&Next", act=self.next)
        self.next_button.setDefault(True)
        # Apart from the button that leads to the result: a second click on that begins no target.
        self.again_button = button("&Probe Another", act=self._begin_again)
        self.close_button = button("Close", act=self.close)
        # Until the pages are there.
        self.next_button.setEnabled(False)
        self.stored_button.setEnabled(False)
        self.back_button.hide()
        self.again_button.hide()
        self.pages = QStackedWidget()
        self._arrange()
        in_turns(self._build(), self)

    def show_page(self, page: int) -> None:
        """Show a page."""
        self.problem.hide()
        self.pages.setCurrentIndex(page)

    def next(self) -> None:
        """Leave the page forwards: plan, measure, take over or show."""
        if not self.next_button.isEnabled() or self.next_button.isHidden():
            return
        {
            TARGET: self._leave_target,
            PLAN: self._leave_plan,
            NAMES: self._take_names,
            MEASURE: self._leave_measuring,
        }[self.pages.currentIndex()]()

    def back(self) -> None:
        """Go to the page before."""
        page = self.pages.currentIndex()
        self.show_page(PLAN if page == MEASURE and self.presenter.planner.planned else TARGET)

    def showEvent(self, event: QShowEvent) -> None:
        """Read unfinished sessions and signatures again."""
        super().showEvent(event)
        if not self.is_built:
            return
        self.presenter.shelf.refresh()
        if not self.presenter.run.active and self.pages.currentIndex() == MEASURE:
            self.show_page(TARGET)
        self.target_page.begin()
        self.plan_page.follow_load(is_open=self.pages.currentIndex() == PLAN)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop measuring; samples so far are stored, and the session can be resumed."""
        self._leave()
        super().closeEvent(event)

    def reject(self) -> None:
        """Close by the Escape key as the button does."""
        self._leave()
        super().reject()

    def _leave(self) -> None:
        self.presenter.run.stop()
        self.presenter.planner.forget()
        self.presenter.watch.stop()

    def _build(self) -> Iterator[None]:
        """Make the pages one by one: all at once would stall the window."""
        self.target_page = TargetPage(self.presenter)
        yield from self._add(self.target_page, "Target")
        coverage = CoveragePlot(self._options)
        yield
        self.plan_page = PlanPage(self.presenter.planner, coverage, self.presenter.watch)
        yield from self._add(self.plan_page, "Plan")
        self.names_page = NamesPage()
        yield from self._add(self.names_page, "Names")
        samples = SamplesPlot(self._options)
        yield
        self.measure_page = MeasurePage(self.presenter.run, samples)
        yield from self._add(self.measure_page, "Measurement")
        self.result_page = ResultPage(self.presenter.shelf, self.presenter.tuning)
        yield from self._add(self.result_page, "Result")
        self._connect()
        self.is_built = True
        self._on_page()
        self.target_page.begin()
        self.built.emit()

    def _add(self, page: QWidget, name: str) -> Iterator[None]:
        """Add a page, which scrolls on a screen that is smaller than it needs."""
        yield
        area = scrolled(page, name)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.pages.addWidget(area)
        yield

    def _arrange(self) -> None:
        edges = (MARGIN_PX, MARGIN_PX, MARGIN_PX, 0)
        head = box(self.steps, self.problem, margins=edges, spacing=-1)  # as the style has it
        line = QFrame(frameShape=QFrame.Shape.HLine)
        line.setFrameShadow(QFrame.Shadow.Plain)
        # A plain frame is drawn in the foreground role, which is the text's black by default.
        line.setForegroundRole(self.palette().ColorRole.Mid)
        buttons = hbox(
            self.stored_button,
            self.again_button,
            self.reading,
            STRETCH,
            self.back_button,
            self.next_button,
            self.close_button,
        )
        buttons.setContentsMargins(MARGIN_PX, 8, MARGIN_PX, 8)
        buttons.setSpacing(8)
        column(self, head, (self.pages, 1), line, buttons, margins=0, spacing=0)

    def _connect(self) -> None:
        presenter = self.presenter
        self.pages.currentChanged.connect(lambda _: self._on_page())
        for page in (self.target_page, self.plan_page, self.names_page):
            page.changed.connect(self._show_buttons)
        self.target_page.resumed.connect(self._resume)
        self.target_page.left.connect(presenter.shelf.leave)
        self.target_page.ticked.row_activated.connect(self.next)
        self.plan_page.idle.connect(self.next)
        self.measure_page.go_on_requested.connect(
            lambda: presenter.run.go_on(presenter.run.session_id, self._choice)
        )
        self.result_page.repeat_requested.connect(self._repeat)
        presenter.run.changed.connect(self._show_buttons)
        presenter.run.ended.connect(self._on_ended)
        presenter.run.host_key_requested.connect(
            lambda question: HostKeyDialog(question, self).open()
        )
        presenter.imports.read.connect(self._on_read)
        presenter.imports.imported.connect(self._on_imported)
        presenter.imports.changed.connect(self._show_buttons)
        presenter.imports.failed.connect(self._show_problem)
        presenter.shelf.failed.connect(self._show_problem)
        presenter.shelf.result_changed.connect(lambda _: self._show_buttons())
        presenter.shelf.sessions_changed.connect(self._show_buttons)
        for keys, call in (
            (QKeySequence.StandardKey.Undo, presenter.undo_stack.undo),
            (QKeySequence.StandardKey.Redo, presenter.undo_stack.redo),
        ):
            QShortcut(keys, self, call)

    def _on_page(self) -> None:
        page = self.pages.currentIndex()
        if page == TARGET:
            self.presenter.shelf.refresh()
        steps = _steps(self._choice)
        marked = [f"<b>{name}</b>" if step == page else name for step, name in steps]
        self.steps.setText("&nbsp; › &nbsp;".join(marked))
        self.steps.setAccessibleDescription(
            next((f"Step {name}" for step, name in steps if step == page), "")
        )
        self.plan_page.follow_load(is_open=page == PLAN)
        self._show_buttons()
        # A button that hides or waits would hand the focus to *Close*, which Space presses.
        current = self.pages.currentWidget()
        entry = current and first_focusable(current)
        if entry:
            entry.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_buttons(self) -> None:
        page, run = self.pages.currentIndex(), self.presenter.run
        kit = self._choice.way is Way.KIT
        stopped = run.phase is Phase.STOPPED and bool(run.session_id)
        text, ready = {
            TARGET: (_target_next(self.target_page.choice), self.target_page.ready),
            PLAN: ("Write &Kit…" if kit else "Start &Measuring", self._can_start()),
            NAMES: ("&Import", self.names_page.ready),
            MEASURE: (
                "&End and Show Result" if stopped else "Sho&w Result",
                stopped or run.phase is Phase.ENDED,
            ),
            RESULT: ("Sho&w Result", False),
        }[page]
        self.again_button.setText("&Probe Next" if self._has_next else "&Probe Another")
        self.again_button.setVisible(page == RESULT)
        self.next_button.setVisible(page != RESULT)
        self.next_button.setToolTip(_END_TIP if stopped and page == MEASURE else "")
        self.next_button.setText(text)
        is_reading = self.presenter.imports.busy
        self.reading.setVisible(is_reading)
        self.next_button.setEnabled(ready and not is_reading)
        self.back_button.setVisible(page != TARGET)
        self.back_button.setEnabled(not (page == MEASURE and run.active))
        self.stored_button.setVisible(page == TARGET)
        self.stored_button.setEnabled(bool(self.presenter.shelf.signatures))
        self.close_button.setText("Stop and Close" if page == MEASURE and run.active else "Close")

    @property
    def _has_next(self) -> bool:
        """Whether another ticked target waits, where a ticked one was probed."""
        return self.target_page.is_of_ticked and bool(self.target_page.waiting)

    def _can_start(self) -> bool:
        return self.presenter.planner.planned is not None and not self.presenter.run.active

    def _leave_target(self) -> None:
        self._choice = self.target_page.choice
        if self._choice.way is Way.IMPORT:
            self.problem.hide()
            self.presenter.imports.begin(self._choice, self.presenter.models())
            return
        self.plan_page.open(self._choice)
        self.show_page(PLAN)

    def _leave_plan(self) -> None:
        planned = self.presenter.planner.planned
        if planned is None:
            return
        if self._choice.way is not Way.KIT:
            self.presenter.start(planned.plan, self._choice)
            self.show_page(MEASURE)
            return
        name = f"kit-{planned.plan.target.device.id}.zip"
        path, _ = QFileDialog.getSaveFileName(self, "Write the kit", name, "Kits (*.zip)")
        if path:
            self.presenter.write_kit(planned.plan, path)
            self.presenter.planner.forget()
            self.show_page(RESULT)

    def _take_names(self) -> None:
        read = self.names_page.read
        if read is not None:
            models = self.presenter.models()
            self.presenter.imports.take(self._choice, read.file, models, self.names_page.meant)

    def _begin_again(self) -> None:
        if self._has_next:
            self.target_page.choose_waiting()
        self.show_page(TARGET)

    def _leave_measuring(self) -> None:
        """Show the result; a stopped session ends first, with what was measured."""
        if self.presenter.run.phase is Phase.STOPPED:
            self.presenter.run.give_up()
        else:
            self._show_result()

    def _show_result(self) -> None:
        self.presenter.shelf.show_session(self.presenter.run.session_id)
        self.show_page(RESULT)

    def _show_stored(self) -> None:
        self.show_page(RESULT)
        self.result_page.open()

    def _resume(self, left: Unfinished, choice: TargetChoice) -> None:
        self._choice = choice
        self.presenter.run.go_on(left.session.id, choice)
        self.show_page(MEASURE)

    def _repeat(self, session_id: str, way: Way | None, names: tuple[str, ...]) -> None:
        """Measure networks of a session again, as it was measured before."""
        choice = resumed_choice(self.target_page.choice, way)
        if session_id == self.presenter.run.session_id:
            choice = self.presenter.run.choice
        elif choice.way not in {Way.THIS, Way.SSH} or choice.problem:
            words = "Say on the first page how its machine is reached, with the address of a board."
            show_words(self.problem, words, "bad")
            return
        self._choice = choice
        self.presenter.run.go_on(session_id, choice, names)
        self.show_page(MEASURE)

    def _on_ended(self, _: str) -> None:
        if self.isVisible() and self.pages.currentIndex() == MEASURE:
            self._show_result()

    def _on_read(self, read: ReadFile) -> None:
        self.names_page.show_file(read)
        self.show_page(NAMES)

    def _on_imported(self, imported: Imported) -> None:
        if imported.session_id:
            self.presenter.shelf.show_session(imported.session_id)
        else:
            self.presenter.shelf.show_signature(imported.signature_id)
        self.show_page(RESULT)
        show_words(self.problem, " ".join(imported.notes), "warn")

    def _show_problem(self, error: CtmError) -> None:
        show_words(self.problem, str(error), "bad")


def _target_next(choice: TargetChoice) -> str:
    if choice.way is not Way.IMPORT:
        return "&Plan"
    return "&Import" if choice.source is Source.KIT else "&Read"


def _steps(choice: TargetChoice) -> tuple[tuple[int, str], ...]:
    if choice.way is Way.IMPORT:
        return _IMPORT_STEPS
    return _KIT_STEPS if choice.way is Way.KIT else _STEPS
