"""The report's dialog: sections, paper, preview, saving and printing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QCloseEvent, QKeySequence, QPageLayout, QPageSize, QPainter
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QGridLayout,
    QGroupBox,
    QProgressBar,
    QPushButton,
    QWidget,
)

from ctm_gui.report.marks import UNITS_PER_INCH, Pages, PageSize, register_fonts
from ctm_gui.report.painting import QT_SIZES, paint_page
from ctm_gui.report.presenter import ReportPresenter, ReportSubject
from ctm_gui.report.preview import PagePreview
from ctm_gui.tasks.serial import TaskContext
from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import (
    STRETCH,
    button,
    combo_box,
    fill,
    hbox,
    label,
    named,
    scrolled,
    vbox,
)
from ctm_gui.widgets.fields import line_edit
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.errors import HostError
from predictor.core.progress import Progress
from predictor.presentation.report import APPENDICES, USUAL_SECTIONS, SectionId

SECTION_WORDS: dict[SectionId, str] = {
    SectionId.SUMMARY: "Ans&wer",
    SectionId.WHY: "Where the time &goes",
    SectionId.COMPARISON: "&Comparison",
    SectionId.LANGUAGE: "La&nguage models",
    SectionId.LOAD: "&Load",
    SectionId.MODELS: "&Models",
    SectionId.OPERATORS: "&Operators",
    SectionId.ATTENTION: "&Attention",
    SectionId.ROOFLINE: "&Rooflines",
    SectionId.TIMELINE: "Timeline&s",
    SectionId.GRAPH: "Grap&hs",
    SectionId.MATRIX: "Matri&x",
    SectionId.DEVICES: "&Devices",
    SectionId.PROBING: "Pro&bing",
    SectionId.SETTINGS: "What-&ifs",
    SectionId.METHODS: "Me&thods and limits",
    SectionId.VERSIONS: "&Versions",
}
_KINDS = "PDF (*.pdf);;Markdown (*.md);;JSON (*.json)"
_SIZE = (1080, 820)
_TYPING_MS = 400
_LEFT_PX = 220


class ReportDialog(BaseDialog):
    """Shows the report of the window's comparison; saves and prints it.

    Args:
        options: the theme.
        presenter: makes the report.
        folder: in which a file is proposed.
        parent: the main window.
    """

    def __init__(
        self,
        options: ViewOptions,
        presenter: ReportPresenter,
        folder: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("Report", parent, _SIZE, is_retained=True)
        self.presenter = presenter
        self._folder = folder
        register_fonts()
        self.preview = PagePreview(options)
        self._make_choices()
        self._make_foot()
        self._arrange()
        presenter.changed.connect(self._show_state)
        presenter.progressed.connect(self._show_progress)
        presenter.done.connect(self._show_result)
        presenter.failed.connect(lambda error: self._show_result(str(error), "bad"))
        for made in (self.save_button, self.print_button):
            made.setEnabled(False)  # until there is a report

    def show_subject(self, subject: ReportSubject) -> None:
        """Make the report of the window's present comparison."""
        self._show_result("")
        self.presenter.start(subject)

    def stop(self) -> None:
        """Stop all work, before the program ends."""
        self.preview.images.close()
        self.presenter.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.presenter.cancel()
        super().closeEvent(event)

    def save(self) -> None:
        """Ask for a file and write it."""
        name = str(Path(self._folder) / "report.pdf")
        chosen, kind = QFileDialog.getSaveFileName(self, "Save report", name, _KINDS)
        if not chosen:
            return
        path = Path(chosen)
        if not path.suffix:
            ending = kind[kind.index(".") : kind.index(")")]
            path = path.with_name(f"{path.name}{ending}")
        self._folder = str(path.parent)
        self._show_result("")
        self.presenter.save(path)

    def print(self) -> None:
        """Ask for a printer and print."""
        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setPageSize(QPageSize(QT_SIZES[self.presenter.choice.size]))
        printer.setPageOrientation(QPageLayout.Orientation.Portrait)
        printer.setFullPage(True)
        dialog = QPrintDialog(printer, self)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self._show_result("")
            self.presenter.print_pages(lambda pages, context: print_pages(printer, pages, context))

    def _make_choices(self) -> None:
        self.section_boxes: dict[SectionId, QCheckBox] = {}
        for section, words in SECTION_WORDS.items():
            box = QCheckBox(words)
            box.setChecked(section in USUAL_SECTIONS)
            box.toggled.connect(self._choose)
            self.section_boxes[section] = box
        self.size_box = combo_box("Page size")
        for size in PageSize:
            self.size_box.addItem(size.label, size)
        self.size_box.currentIndexChanged.connect(self._choose)
        self.title_box = line_edit("Title", placeholderText="automatic", maxLength=200)
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self._choose)
        self.title_box.textChanged.connect(lambda _: self._typing.start())

    def _make_foot(self) -> None:
        self.words = label(name="Result")
        self.page_words = label(role="muted", wraps=False)
        self.bar = QProgressBar()
        self.bar.setAccessibleName("Progress")
        self.bar.setTextVisible(False)
        keys = QKeySequence.StandardKey
        self.cancel_button = button("Cancel", act=self.presenter.cancel)
        self.save_button = button("Sav&e…", act=self.save, keys=keys.Save)
        self.print_button = button("&Print…", act=self.print, keys=keys.Print)
        self.close_button = button("Close", act=self.close)
        view = self.preview
        self.zoom_out_button = button("−", act=view.zoom_out, name="Zoom out", keys=keys.ZoomOut)
        self.zoom_in_button = button("+", act=view.zoom_in, name="Zoom in", keys=keys.ZoomIn)
        self.fit_button = button("&Fit Width", act=view.fit, keys="Ctrl+0")
        self.preview.page_changed.connect(self._show_page)

    def _arrange(self) -> None:
        sections, appendices = QGroupBox("Sections"), QGroupBox("Appendices")
        paper = QGroupBox("Paper")
        for group, members in ((sections, USUAL_SECTIONS), (appendices, APPENDICES)):
            vbox(*(self.section_boxes[section] for section in members), of=group)
        grid = QGridLayout(paper)
        for row, (words, field) in enumerate(
            (("Si&ze:", self.size_box), ("Title:", self.title_box))
        ):
            grid.addWidget(named(words, field), row, 0)
            grid.addWidget(field, row, 1)
        self.words.setMinimumWidth(_LEFT_PX)
        choices = QWidget()
        vbox(sections, appendices, paper, STRETCH, self.words, of=choices, margins=0)
        left = scrolled(choices, "Choices")
        bar_px = left.verticalScrollBar().sizeHint().width()
        left.setFixedWidth(choices.minimumSizeHint().width() + bar_px)
        zooming = (self.zoom_out_button, self.zoom_in_button, self.fit_button)
        right = vbox((self.preview, 1), hbox((self.page_words, 1), *zooming))
        closing = (self.save_button, self.print_button, self.close_button)
        foot = hbox((self.bar, 1), self.cancel_button)
        foot.addStretch()
        fill(foot, *closing)
        vbox((hbox(left, (right, 1)), 1), foot, of=self)
        for made in self.findChildren(QPushButton):
            made.setAutoDefault(False)  # Enter in the title saves nothing
        self.save_button.setDefault(True)

    def _choose(self, *_: object) -> None:
        self._show_result("")
        chosen = frozenset(s for s, box in self.section_boxes.items() if box.isChecked())
        self.presenter.choose(
            replace(
                self.presenter.choice,
                sections=chosen,
                size=self.size_box.currentData(),
                title=self.title_box.text(),
            )
        )

    def _show_state(self) -> None:
        draft, busy = self.presenter.draft, self.presenter.busy
        for widget in (self.bar, self.cancel_button):
            widget.setVisible(busy)
        for made in (self.save_button, self.print_button):
            made.setEnabled(draft is not None and not busy)
        if not busy:
            self.preview.show_pages(None if draft is None else draft.pages)
            self._show_available()
            self._show_page(self.preview.page)

    def _show_available(self) -> None:
        """Let only those sections be chosen that have something to say."""
        draft = self.presenter.draft
        there = {section.id for section in draft.report.sections} if draft else set()
        for section, box in self.section_boxes.items():
            box.setEnabled(section in there)
            box.setToolTip("" if section in there else "There is nothing to say of it here.")

    def _show_page(self, number: int) -> None:
        count = self.preview.count
        self.page_words.setText(f"Page {number} of {count}" if count else "")

    def _show_progress(self, progress: Progress) -> None:
        self.bar.setRange(0, max(progress.total, 1))
        self.bar.setValue(progress.done)
        self.bar.setAccessibleDescription(progress.message)

    def _show_result(self, words: str, role: str = "muted") -> None:
        self.words.setProperty("role", role)
        # Qt evaluates the style sheet once: a changed property needs a new polish.
        self.words.style().polish(self.words)
        self.words.setText(words)


def print_pages(printer: QPrinter, pages: Pages, context: TaskContext) -> None:
    """Paint pages onto a printer that takes whole sheets.

    Raises:
        HostError: the printer does not take them.
        CancelledError: it was cancelled; the pages so far are printed.
    """
    painter = QPainter()
    if not painter.begin(printer):
        raise HostError("the printer", "it takes no pages", "choose another printer or save as PDF")
    # Marks are in 1/720 of an inch; a printer has its own dots.
    scale = printer.resolution() / UNITS_PER_INCH
    try:
        painter.scale(scale, scale)
        for place, page in enumerate(pages.pages):
            context.token.check()
            context.report(Progress(place, len(pages.pages), "Printing"))
            if place:
                printer.newPage()
            paint_page(painter, page)
    finally:
        painter.end()
