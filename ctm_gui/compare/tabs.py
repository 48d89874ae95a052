"""The pages of Answer: a chart, sweeps, and those that hold several models against one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import is_
from typing import TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ctm_gui.compare.difference import DifferencePresenter
from ctm_gui.compare.difference_view import DifferenceView
from ctm_gui.compare.further import FurtherConfigurations
from ctm_gui.compare.matrix import VariantsPresenter
from ctm_gui.compare.matrix_view import MatrixView
from ctm_gui.compare.pareto_view import ParetoView
from ctm_gui.compare.scores import Scores
from ctm_gui.compare.sweep import SweepPresenter
from ctm_gui.compare.sweep_view import SweepView
from ctm_gui.compare.tokens import TokensAnswer, tokens_answer
from ctm_gui.compare.view import CompareView
from ctm_gui.language.state import LanguageResults
from ctm_gui.prediction.comparison import Comparison
from ctm_gui.widgets.basic import CurrentPages
from ctm_gui.widgets.drop_overlay import refuse_drops
from ctm_gui.widgets.view_options import ViewOptions

CHART_PAGE, MATRIX_PAGE, PARETO_PAGE, DIFFERENCE_PAGE, SWEEP_PAGE = range(5)
PAGES = ("chart", "matrix", "pareto", "changes", "sweep")  # ids of their actions
_OF_SEVERAL = (MATRIX_PAGE, PARETO_PAGE, DIFFERENCE_PAGE)  # pages that need two models

Page = CompareView | MatrixView | ParetoView | DifferenceView | SweepView
P = TypeVar("P", bound=QWidget)


class CompareTabs(QWidget):
    """The chart and its further pages, each built when first shown; some need several models.

    Signals:
        page_changed: the user turned to another page: its index.
        offered_changed: other pages have something to say, or another one is shown.

    Args:
        options: unit, budget and theme.
        chart: the first page.
        variants: of the matrix and of Pareto.
        difference: of two models.
        sweep: of one pair.
        scores: of the models.
        further: further configurations of the devices, beside the chart.
    """

    page_changed = Signal(int)
    offered_changed = Signal()

    def __init__(
        self,
        options: ViewOptions,
        chart: CompareView,
        variants: VariantsPresenter,
        difference: DifferencePresenter,
        sweep: SweepPresenter,
        scores: Scores,
        further: FurtherConfigurations,
    ) -> None:
        super().__init__()
        self._options = options
        self._variants, self._difference, self._scores = variants, difference, scores
        self._sweep, self._further = sweep, further
        self._comparison = Comparison()
        self._language: Sequence[LanguageResults] = ()
        self._tokens = TokensAnswer()
        self._looked_at = False
        self._requested_page = CHART_PAGE
        self.chart = chart
        self.pages = CurrentPages()
        self.pages.addWidget(chart)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.pages, 1)
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
        return pages[self.index]()

    @property
    def index(self) -> int:
        """The index of the page that is shown: the requested one where there are models for it."""
        page, count = self._requested_page, len(self._comparison.models)
        return page if count > (page in _OF_SEVERAL) else CHART_PAGE

    @property
    def name(self) -> str:
        """The id of the action of the page that is shown."""
        return PAGES[self.index]

    @property
    def offered(self) -> tuple[str, ...]:
        """The pages that say something, and the one that is shown, by the ids of their actions."""
        models = self._comparison.models
        several = len(models) > 1
        says = {
            CHART_PAGE: True,
            MATRIX_PAGE: several,
            PARETO_PAGE: several and any(s is not None for s in self._scores.of_all(models)),
            DIFFERENCE_PAGE: self._difference.variants is not None,
            SWEEP_PAGE: bool(self._comparison.rows),
        }
        return tuple(name for page, name in enumerate(PAGES) if says[page] or page == self.index)

    @property
    def settled(self) -> bool:
        """Whether the current page is up to date with the comparison."""
        followers = (self._variants, self._difference, self._sweep, self._further)
        return all(follower.settled for follower in followers)

    def show_comparison(self, comparison: Comparison, *, looked_at: bool) -> None:
        """Show another comparison; a hidden page is computed when it becomes visible."""
        self._comparison, self._looked_at = comparison, looked_at
        self.chart.show_missing(comparison.missing)
        self._sweep.set_comparison(comparison)
        self._variants.set_comparison(comparison)
        self._difference.set_comparison(comparison)
        self._further.set_comparison(comparison)
        self._show_page()

    def show_tokens(self, models: Sequence[LanguageResults]) -> None:
        """Show language models on their devices beside the comparison."""
        is_same = len(models) == len(self._language) and all(map(is_, models, self._language))
        if not is_same:
            self._language, self._tokens = models, tokens_answer(models)
            self._show_page()

    def show_page(self, index: int) -> None:
        """Turn to a page; what needs two models is the chart until they are there."""
        page = index if 0 <= index < len(PAGES) else CHART_PAGE
        if page != self._requested_page:
            self._requested_page = page
            self._show_page()
            self.page_changed.emit(page)

    def focus_search(self) -> None:
        """Put the cursor into the search box of the page."""
        self.page.focus_search()

    def _adopt(self, page: P) -> P:
        self.pages.addWidget(page)
        refuse_drops(page)
        return page

    def _connect(self) -> None:
        self._scores.changed.connect(self.offered_changed)
        self._further.changed.connect(self._show_page)
        self._variants.matrix_changed.connect(self._show_matrix)
        self._difference.choices_changed.connect(self._show_choices)
        self._difference.difference_changed.connect(self._show_difference)

    def _show_page(self) -> None:
        page = self.page
        self.pages.setCurrentWidget(page)
        self.offered_changed.emit()
        for presenter, kinds in (
            (self._variants, MatrixView | ParetoView),
            (self._difference, DifferenceView),
            (self._sweep, SweepView),
            (self._further, CompareView),
        ):
            presenter.set_active(active=self._looked_at and isinstance(page, kinds))
        if not self._looked_at or isinstance(page, SweepView):
            return
        if isinstance(page, CompareView):
            opened, devices = self._further.opened, self._comparison.targets
            ids = dict.fromkeys(target.device.id for target in devices)
            more = {key: key in opened for key in ids if self._further.has_any(key)}
            columns = self._comparison.columns
            page.show_predictions(columns, self._further.rows, more, self._tokens)
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

    def _on_pair(self, model: int, target: int) -> None:
        """Show the difference of a model from the baseline on a target."""
        baseline = self._variants.baseline
        if model != baseline:
            self.difference.choose_target(self._comparison.targets[target].run_id)
            self._difference.choose(baseline, model)
            self.show_page(DIFFERENCE_PAGE)
