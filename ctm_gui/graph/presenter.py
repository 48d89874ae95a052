"""The graph without widgets: groups that are open, the picture of them, what was searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from PySide6.QtCore import QObject, Signal

from ctm_gui.graph.facts import NodeFacts
from ctm_gui.operators.rows import OperatorSummary
from ctm_gui.tasks.serial import SerialWorker, Task
from ctm_gui.widgets.grid import search_mask
from ctm_gui.widgets.ordering import BoolArray, IndexArray
from predictor.core.errors import HostError
from predictor.core.progress import CancelToken
from predictor.services.graph.grouping import GroupTree, group_operators
from predictor.services.graph.layout import Level, by_depth, lay_out
from predictor.services.graph.placement import (
    EMPTY,
    Picture,
    first_opened,
    picture_of,
    visible_box_count,
    visible_groups,
)
from predictor.services.prediction.explain import OperatorTable

MAX_BOXES = 300
_FIRST_BOXES = 60  # of a model that was opened just now: as many as a screen shows
_MAX_AHEAD = 20_000  # members of groups that are laid out before they are seen: about a second

WORKING = "Laying out the graph…"
_PLAIN = "Boxes stand by their depth alone, for {}."


@dataclass(frozen=True, eq=False)
class _Drawn:
    """One model's groups, the layers of those laid out so far, and why they are plain."""

    names: tuple[str, ...]
    tree: GroupTree
    search_texts: list[str]
    levels: Mapping[int, Level] = field(default_factory=dict)
    problem: str = ""


_NOTHING = _Drawn((), group_operators((), (), np.zeros((2, 0), dtype=np.int32)), [])


class GraphPresenter(QObject):
    """Groups the operators of a table, lays them out and opens and closes groups.

    ``picture_changed`` is emitted with the node that is to stay where it is, or None for a new
    model; ``facts_changed`` when times do, with the same boxes.

    Args:
        worker: the thread that waits for the layout's child process.
        parent: owner.
        command: command line of the layout's child process; its own if None.
    """

    picture_changed = Signal(object)
    facts_changed = Signal()

    def __init__(
        self,
        worker: SerialWorker,
        parent: QObject | None = None,
        command: Sequence[str] | None = None,
    ) -> None:
        super().__init__(parent)
        self._worker = worker
        self._command = command
        self._task: Task | None = None
        # Apart: of 100 000 operators their sums would keep the window's thread for 80 ms.
        self._facts_task: Task | None = None
        self._drawn = _NOTHING
        # In the order in which the user opened them.
        self._opened: dict[int, None] = {}
        self.facts: NodeFacts | None = None
        self.picture: Picture = EMPTY
        self.matches: IndexArray = np.zeros(0, dtype=np.intp)

    @property
    def problem(self) -> str:
        """Why the boxes stand in a plain order; empty where they do not."""
        return self._drawn.problem

    @property
    def settled(self) -> bool:
        """Whether nothing is being worked out."""
        return self._task is None and self._facts_task is None

    def show_operators(
        self, operators: OperatorSummary | None, interval: tuple[float, float] | None = None
    ) -> None:
        """Show other operators; boxes stay where they are of the same graph."""
        table = None if operators is None else operators.table
        if self._facts_task is not None:
            self._facts_task.cancel()
            self._facts_task = None
        if table is not None and _is_same_graph(self._drawn, table):
            facts = NodeFacts(self._drawn.tree, table, interval)
            self._facts_task = self._worker.submit(
                lambda _: facts.prepare(),
                on_result=lambda _: self._show_facts(facts),
                on_error=lambda _: None,  # sums raise no error of ours
            )
            return
        if self._task is not None:
            self._task.cancel()
            self._task = None
        # Boxes of another graph must not be clicked for this one.
        self._drawn, self.facts = _NOTHING, None
        self._opened, self.picture = {}, EMPTY
        self.matches = np.zeros(0, dtype=np.intp)
        if operators is not None:
            self._task = self._worker.submit(
                lambda context: _drawn(operators, interval, self._command, context.token),
                on_result=self._show,
                on_error=lambda _: None,  # a layout that fails is a plain one
            )

    def _show_facts(self, facts: NodeFacts) -> None:
        self._facts_task, self.facts = None, facts
        self.facts_changed.emit()

    def toggle(self, node: int) -> None:
        """Open a closed group, close an open one; an operator stays as it is."""
        if self.facts is None or not self._drawn.tree.is_group(node):
            return
        if node in self._opened:
            self._close(node)
        else:
            self._open([node])
        self._draw(node)

    def reveal(self, operator: int) -> bool:
        """Open the groups around an operator; return whether that changes the picture."""
        if self.facts is None:
            return False
        around = [*reversed(self._drawn.tree.ancestors(operator))][1:]
        if all(group in self._opened for group in around):
            return False
        self._open(around)
        self._draw(operator)
        return True

    def search(self, text: str) -> None:
        """Match the operators whose name and type hold all words of ``text``; none for none."""
        texts = self._drawn.search_texts if text.strip() else []
        self.matches = np.flatnonzero(search_mask(texts, text))

    def box_of(self, node: int) -> int | None:
        """Return the box in which a node is seen: its own, or that of a closed group around it."""
        if not self.picture.nodes.size:
            return None
        for candidate in (node, *self._drawn.tree.ancestors(node)):
            box = self.picture.box_of(candidate)
            if box is not None:
                return box
        return None

    def boxes_of(self, operators: IndexArray) -> BoolArray:
        """Return the boxes that hold any of some operators, bool [B]."""
        holds = np.zeros(self.picture.nodes.size, dtype=np.bool_)
        if self.picture.nodes.size and operators.size:
            tree = self._drawn.tree
            chosen = np.zeros(tree.operators)
            chosen[operators] = 1.0
            holds = tree.sums(chosen)[self.picture.nodes] > 0
        return holds

    def next_to(self, node: int, across: int, down: int) -> int | None:
        """Return the node of the box that an arrow key goes to from another one.

        Up and down follow edges, left and right go to the nearest box in the same row.
        """
        here = self.box_of(node)
        if here is None:
            return None
        node = int(self.picture.nodes[here])
        if across:
            return self._neighbour_in_row(here, across)
        if self.picture.is_open[here] and down > 0:
            return self._drawn.tree.members_of(node)[0]
        of_operator = self._leaf_boxes()
        producer, consumer = of_operator[self._drawn.tree.edges]
        if down < 0:
            producer, consumer = consumer, producer
        inside = np.isin(producer, of_operator[self._drawn.tree.operators_of(node)])
        neighbours = np.unique(consumer[inside & (consumer != here)])
        nearest = [
            int(self.picture.nodes[box]) for box in self._by_distance(here, neighbours, down)
        ]
        return nearest[0] if nearest else None

    def _neighbour_in_row(self, here: int, across: int) -> int | None:
        left, top, width, height = self.picture.rects.T
        middle = left + width / 2
        same_row = (top < top[here] + height[here]) & (top + height > top[here])
        ahead = (middle - middle[here]) * across > width[here] / 2
        neighbours = np.flatnonzero(same_row & ahead & ~self.picture.is_open)
        if not neighbours.size:
            return None
        return int(
            self.picture.nodes[neighbours[np.argmin(np.abs(middle[neighbours] - middle[here]))]]
        )

    def _by_distance(self, here: int, neighbours: IndexArray, down: int) -> list[int]:
        """Return boxes in the way of a key, those in the next row first, then the nearest."""
        left, top, width, _ = self.picture.rects.T
        ahead = neighbours[(top[neighbours] - top[here]) * down > 0]
        far = np.abs((left + width / 2)[ahead] - (left + width / 2)[here])
        order = np.lexsort((far, np.abs(top[ahead] - top[here])))
        return [int(ahead[index]) for index in order]

    def _leaf_boxes(self) -> IndexArray:
        """Return the closed box in which each operator is seen, intp [N]."""
        tree = self._drawn.tree
        boxes = np.zeros(tree.operators, dtype=np.intp)
        for box in np.flatnonzero(~self.picture.is_open).tolist():
            boxes[tree.operators_of(int(self.picture.nodes[box]))] = box
        return boxes

    def _show(self, result: tuple[_Drawn, NodeFacts]) -> None:
        drawn, self.facts = result
        self._drawn = drawn
        self._opened = dict.fromkeys(first_opened(drawn.tree, _FIRST_BOXES))
        self._draw(None)

    def _draw(self, anchor: int | None) -> None:
        drawn, opened = self._drawn, frozenset(self._opened)
        if self._task is not None:
            self._task.drop()

        def work(token: CancelToken) -> tuple[_Drawn, Picture]:
            laid_out = _laid_out(drawn, visible_groups(drawn.tree, opened), self._command, token)
            return laid_out, picture_of(laid_out.tree, laid_out.levels, opened)

        def show(result: tuple[_Drawn, Picture]) -> None:
            self._task = None
            self._drawn, self.picture = result
            self.picture_changed.emit(anchor)

        self._task = self._worker.submit(
            lambda context: work(context.token), on_result=show, on_error=lambda _: None
        )

    def _open(self, groups: Sequence[int]) -> None:
        """Open groups, the outermost first, and close those that were opened longest ago for them.

        Where groups around groups alone are too many boxes, the innermost stay closed.
        """
        tree = self._drawn.tree
        for group in groups:
            self._opened.pop(group, None)
            self._opened[group] = None
            needed = {group, *tree.ancestors(group)}
            for oldest in list(self._opened):
                if visible_box_count(tree, self._opened.keys()) <= MAX_BOXES:
                    break
                if oldest not in needed and oldest in self._opened:
                    self._close(oldest)
            if visible_box_count(tree, self._opened.keys()) > MAX_BOXES:
                del self._opened[group]
                return

    def _close(self, group: int) -> None:
        """Close a group and those in it: opened again, it begins closed inside."""
        ancestors = self._drawn.tree.ancestors
        for other in [
            group_id
            for group_id in self._opened
            if group_id == group or group in ancestors(group_id)
        ]:
            del self._opened[other]


def _is_same_graph(drawn: _Drawn, table: OperatorTable) -> bool:
    """Return whether a table is of the graph that is drawn: on another target, at another batch."""
    return drawn.names == table.names and np.array_equal(drawn.tree.edges, table.edges)


def _drawn(
    operators: OperatorSummary,
    interval: tuple[float, float] | None,
    command: Sequence[str] | None,
    token: CancelToken,
) -> tuple[_Drawn, NodeFacts]:
    table = operators.table
    tree = group_operators(table.names, table.op_types, table.edges)
    facts = NodeFacts(tree, table, interval)
    facts.prepare()
    drawn = _Drawn(table.names, tree, operators.search_texts)
    return _laid_out(drawn, [tree.root], command, token), facts


def _laid_out(
    drawn: _Drawn, groups: Sequence[int], command: Sequence[str] | None, token: CancelToken
) -> _Drawn:
    """Return the layers of some groups too, and of others with them as one child is started."""
    tree = drawn.tree
    missing = [group for group in groups if group not in drawn.levels]
    if not missing:
        return drawn
    groups_of_tree = {*range(tree.operators, tree.operators + len(tree.members))}
    ahead = sorted(groups_of_tree - drawn.levels.keys() - set(missing))
    members = np.cumsum([len(tree.members_of(group)) for group in ahead])
    requested = [*missing, *ahead[: int(np.searchsorted(members, _MAX_AHEAD))]]
    problem = drawn.problem
    levels: dict[int, Level] = {}
    if not problem:
        try:
            levels = lay_out(tree, requested, token, command)
        except HostError as error:
            problem = _PLAIN.format(f"{error.subject} failed: {error.reason}")
    if problem:
        levels = {group: by_depth(tree, group) for group in missing}
    return replace(drawn, levels={**drawn.levels, **levels}, problem=problem)
