"""The Compare tab: a chart, sweeps, and the pages that hold several models against one another."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QStackedWidget, QTabBar, QVBoxLayout, QWidget

from ctm_gui.compare.difference import DifferencePresenter
from ctm_gui.compare.difference_view import DifferenceView
from ctm_gui.compare.matrix import VariantsPresenter
from ctm_gui.compare.matrix_view import MatrixView
from ctm_gui.compare.pareto_view import ParetoView
from ctm_gui.compare.scores import Scores
from ctm_gui.compare.sweep import SweepPresenter
from ctm_gui.compare.sweep_view import SweepView
from ctm_gui.compare.view import CompareView
from ctm_gui.prediction.comparison import Comparison
from ctm_gui.widgets.drop_overlay import refuse_drops
from ctm_gui.widgets.view_options import ViewOptions

CHART_PAGE, MATRIX_PAGE, PARETO_PAGE, DIFFERENCE_PAGE, SWEEP_PAGE = range(5)
PAGES = (
    ("Chart", "Latency of every model on every target"),
    ("Matrix", "Models by targets, against a baseline"),
    ("Pareto", "Latency against a score of yours"),
    ("What changed", "Operators of two models side by side, and the time moved"),
    ("Sweep", "Latency of one pair over its batch and its threads"),
)

_OF_SEVERAL = (MATRIX_PAGE, PARETO_PAGE, DIFFERENCE_PAGE)  # pages that need two models


Page = CompareView | MatrixView | ParetoView | DifferenceView | SweepView
P = TypeVar("P", bound=QWidget)


class CompareTabs(QWidget):
    """The chart under a bar of pages, each built when first shown; some need several models.

    Signals:
        page_changed: the user turned to another page: its index.

    Args:
        options: unit, budget and theme.
        chart: the first page.
        variants: of the matrix and of Pareto.
        difference: of two models.
        sweep: of one pair.
        scores: of the models.
    """

    page_changed = Signal(int)

    def __init__(
        self,
        options: ViewOptions,
        chart: CompareView,
        variants: VariantsPresenter,
        difference: DifferencePresenter,
        sweep: SweepPresenter,
        scores: Scores,
    ) -> None:
        super().__init__()
        self._options = options
        self._variants, self._difference, self._scores = variants, difference, scores
        self._sweep = sweep
        self._comparison = Comparison()
        self._looked_at = False
        self._requested_page = CHART_PAGE
        self.chart = chart
        self.bar = QTabBar()
        self.bar.setAccessibleName("Pages of Compare")
        self.bar.setDrawBase(False)
        self.bar.setExpanding(False)
        for index, (title, tip) in enumerate(PAGES):
            self.bar.addTab(title)
            self.bar.setTabToolTip(index, f"{tip} (Alt+{index + 1})")
        self.pages = QStackedWidget()
        self.pages.addWidget(chart)
        layout = QVBoxLayout(self)
        layout.addWidget(self.bar)
        layout.addWidget(self.pages, 1)
        self._offer_pages()
        self._connect()

    @cached_property
    def matrix(self) -> MatrixView:
        """The page of models by targets."""
        page = self._adopt(MatrixView(self._options, self._variants))
        page.pair_activated.connect(self._on_pair)
        return page

    @cached_property
    def pareto(self) -> ParetoView:
        """The page of latency against a score."""
        return self._adopt(ParetoView(self._options, self._variants, self._scores))

    @cached_property
    def difference(self) -> DifferenceView:
        """The page of two models' operators."""
        return self._adopt(DifferenceView(self._options, self._difference))

    @cached_property
    def sweep(self) -> SweepView:
        """The page of one pair over batch and threads."""
        return self._adopt(SweepView(self._options, self._sweep))

    @property
    def page(self) -> Page:
        """The page that is shown, or will be once there are models enough for it."""
        pages: tuple[Callable[[], Page], ...] = (
            lambda: self.chart,
            lambda: self.matrix,
            lambda: self.pareto,
            lambda: self.difference,
            lambda: self.sweep,
        )
        return pages[self.bar.currentIndex() if self._comparison.models else CHART_PAGE]()

    @property
    def settled(self) -> bool:
        """Whether the current page is up to date with the comparison."""
        return self._variants.settled and self._difference.settled and self._sweep.settled

    def show_comparison(self, comparison: Comparison, *, looked_at: bool) -> None:
        """Show another comparison; a hidden page is computed when it becomes visible."""
        self._comparison, self._looked_at = comparison, looked_at
        self._offer_pages()
        self.chart.show_missing(comparison.missing)
        self._sweep.set_comparison(comparison)
        self._variants.set_comparison(comparison)
        self._difference.set_comparison(comparison)
        self._show_page()

    def show_page(self, index: int) -> None:
        """Turn to a page; what needs two models is the chart until they are there."""
        self._requested_page = index if 0 <= index < len(PAGES) else CHART_PAGE
        if self.bar.isTabVisible(self._requested_page):
            self.bar.setCurrentIndex(self._requested_page)

    def focus_search(self) -> None:
        """Put the cursor into the search box of the page."""
        self.page.focus_search()

    def _offer_pages(self) -> None:
        """Offer the pages that there are models for; the requested one comes back."""
        count = len(self._comparison.models)
        # Hiding the current tab would turn the page, and the turn would be remembered.
        with QSignalBlocker(self.bar):
            for index in _OF_SEVERAL:
                self.bar.setTabVisible(index, count > 1)
            is_there = self.bar.isTabVisible(self._requested_page)
            self.bar.setCurrentIndex(self._requested_page if is_there else CHART_PAGE)
        self.bar.setVisible(count > 0)

    def _adopt(self, page: P) -> P:
        self.pages.addWidget(page)
        refuse_drops(page)
        return page

    def _connect(self) -> None:
        self.bar.currentChanged.connect(self._on_page)
        self._variants.matrix_changed.connect(self._show_matrix)
        self._difference.choices_changed.connect(self._show_choices)
        self._difference.difference_changed.connect(self._show_difference)

    def _show_page(self) -> None:
        page = self.page
        self.pages.setCurrentWidget(page)
        for presenter, kinds in (
            (self._variants, MatrixView | ParetoView),
            (self._difference, DifferenceView),
            (self._sweep, SweepView),
        ):
            presenter.set_active(active=self._looked_at and isinstance(page, kinds))
        if not self._looked_at or isinstance(page, SweepView):
            return
        if isinstance(page, CompareView):
            page.show_predictions(self._comparison.rows)
        else:
            page.follow()

    def _show_matrix(self) -> None:
        for page in map(self.pages.widget, range(self.pages.count())):
            # A matrix that is gone is let go of by the hidden pages too.
            is_needed = page is self.page or self._variants.matrix is None
            if isinstance(page, MatrixView | ParetoView) and is_needed:
                page.follow()

    def _show_choices(self) -> None:
        if isinstance(self.page, DifferenceView):
            self.page.follow()

    def _show_difference(self) -> None:
        for page in map(self.pages.widget, range(self.pages.count())):
            is_needed = page is self.page or self._difference.difference is None
            if isinstance(page, DifferenceView) and is_needed:
                page.show_difference()

    def _on_page(self, index: int) -> None:
        self._requested_page = index
        self._show_page()
        self.page_changed.emit(index)

    def _on_pair(self, model: int, target: int) -> None:
        """Show the difference of a model from the baseline on a target."""
        baseline = self._variants.baseline
        if model != baseline:
            self.difference.choose_target(self._comparison.targets[target].run_id)
            self._difference.choose(baseline, model)
            self.show_page(DIFFERENCE_PAGE)
