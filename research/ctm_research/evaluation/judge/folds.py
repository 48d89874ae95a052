"""Folds of a judgement: parts of the measurements that training does not see, drawn by seed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.evaluation.judge.groups import Numbers, numbered
from ctm_research.evaluation.judge.judged import NO_CLASS, Judged, Rows

COUNT: Final = 10
_FAMILY_PARTS: Final = 3
_PUBLISHER_PARTS: Final = 5
_PUBLISHER_END: Final = re.compile(r"[@,]")  # of a provenance: then come version and table


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """One training and what it is asked for.

    Attributes:
        train: measurements that may be learned from.
        rows: measurements that are predicted.
    """

    train: Rows
    rows: Rows


def silicon_folds(judged: Judged, seed: int, count: int = COUNT) -> list[Fold]:
    """Return folds that each leave out some silicon; each silicon is left out once."""
    part = silicon_parts(judged, np.arange(len(judged.target)), seed, count)[judged.silicon]
    return [_left_out(judged, part[judged.target] == number) for number in range(count)]


def device_folds(judged: Judged, seed: int, count: int = COUNT) -> list[Fold]:
    """Return folds that each leave out some devices whose silicon stays.

    The devices of one silicon are dealt to different folds. Predicted are measurements of classes
    that another device of the silicon was measured in.
    """
    rng = np.random.default_rng(seed)
    first, _ = numbered(judged.silicon, judged.device)
    order = first[rng.permutation(len(first))]
    order = order[np.argsort(judged.silicon[order], kind="stable")]
    part = np.empty(int(judged.device.max()) + 1, np.int64)
    # Neighbours in this order share silicon, and folds are dealt in turn.
    part[judged.device[order]] = np.arange(len(order)) % count
    held = part[judged.device][judged.target]
    folds = [_left_out(judged, held == number) for number in range(count)]
    return [Fold(fold.train, fold.rows[is_silicon_known(judged, fold)]) for fold in folds]


def publisher_folds(judged: Judged, seed: int, count: int = _PUBLISHER_PARTS) -> list[Fold]:
    """Return folds that each leave out all measurements of some publishers.

    A publisher is a repository, whatever its tables and versions. The folds have about as many
    measurements each.
    """
    names = [_PUBLISHER_END.split(each, maxsplit=1)[0] for each in judged.corpus.provenances]
    _, publisher = np.unique(np.array(names, np.str_), return_inverse=True)
    of_rows = publisher[judged.corpus.measurements.provenance]
    sizes = np.bincount(of_rows, minlength=int(publisher.max(initial=-1)) + 1)
    shuffled = np.random.default_rng(seed).permutation(len(sizes))
    part, filled = np.zeros(len(sizes), np.int64), np.zeros(count)
    for number in shuffled[np.argsort(-sizes[shuffled], kind="stable")].tolist():
        part[number] = filled.argmin()
        filled[part[number]] += sizes[number]
    folds = [_left_out(judged, part[of_rows] == number) for number in range(count)]
    return [fold for fold in folds if len(fold.train) and len(fold.rows)]


def family_folds(judged: Judged, seed: int, count: int = COUNT) -> list[Fold]:
    """Return silicon folds that also leave out a third of the families of networks.

    Each silicon is asked for the networks of one third, so that there is one training a fold.
    """
    rng = np.random.default_rng(seed)
    families = len(judged.corpus.families)
    third = rng.permutation(np.arange(families) % _FAMILY_PARTS)[judged.family]
    return [
        Fold(
            fold.train[third[fold.train] != number % _FAMILY_PARTS],
            fold.rows[third[fold.rows] == number % _FAMILY_PARTS],
        )
        for number, fold in enumerate(silicon_folds(judged, seed, count))
    ]


def inner_folds(judged: Judged, train: Rows, seed: int, count: int = 5) -> Iterator[Fold]:
    """Yield folds over the silicon of a training part: every choice is made in these.

    Args:
        judged: the corpus.
        train: measurements of an outer fold's training.
        seed: of the draw.
        count: of the folds.
    """
    part = silicon_parts(judged, train, seed, count)[judged.silicon_of(train)]
    can_be_judged = np.isin(train, judged.rows)
    for number in range(count):
        held = part == number
        yield Fold(train[~held], train[held & can_be_judged])


def silicon_parts(judged: Judged, rows: Rows, seed: int, count: int) -> Numbers:
    """Deal the silicon of some measurements to parts, so that each class is spread evenly.

    Returns:
        Number of the part of each silicon, int64 [S].
    """
    first, _ = numbered(judged.silicon_of(rows), judged.class_of(rows) - NO_CLASS)
    silicon, klass = judged.silicon_of(rows[first]), judged.class_of(rows[first])
    sizes = np.bincount(klass - NO_CLASS, minlength=len(judged.classes) + 1)
    held = np.zeros((len(sizes), count))
    part = np.zeros(len(judged.silicon_names), np.int64)
    dealt = np.zeros(count)
    shuffled = np.random.default_rng(seed).permutation(np.unique(silicon))
    # Silicon of several classes first: what is of one class alone then fills the gaps.
    several = np.bincount(silicon, minlength=len(part))[shuffled]
    for number in shuffled[np.argsort(-several, kind="stable")].tolist():
        classes = klass[silicon == number] - NO_CLASS
        # A class of few silicon counts more: there one more in a part is a larger share.
        crowded = (held[classes] / sizes[classes, None]).sum(axis=0)
        chosen = int(np.lexsort((dealt, crowded))[0])
        part[number] = chosen
        held[classes, chosen] += 1
        dealt[chosen] += 1
    return part


def _left_out(judged: Judged, held: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Fold:
    return Fold(np.flatnonzero(~held), judged.rows[held[judged.rows]])


def is_silicon_known(judged: Judged, fold: Fold) -> NDArray[np.bool_]:
    """Return whether training has the silicon of each predicted row in the same class."""
    size = len(judged.silicon_names)

    def pairs(rows: Rows) -> Rows:
        numbers: Rows = judged.class_of(rows) * size + judged.silicon_of(rows)
        return numbers

    return np.isin(pairs(fold.rows), pairs(fold.train))
