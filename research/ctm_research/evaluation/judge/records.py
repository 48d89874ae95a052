"""Track records of the estimate, from what it said of silicon, devices and sources left out.

Intervals are as wide as they had to be there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.figures import OfSilicon, of_silicon
from ctm_research.evaluation.judge.folds import silicon_parts
from ctm_research.evaluation.judge.groups import Floats, Numbers, medians, numbered
from ctm_research.evaluation.judge.judged import NO_CLASS, Judged
from predictor.calibration.efficiencies import groups_of
from predictor.engine.track import PRECISION, RECORD_LEVELS, UNSEEN, Track

_LEAST_SILICON: Final = 3
_LEAST_OF_PRECISION: Final = 4
_ENOUGH_SILICON: Final = 8  # of them a class has half of its own widths, half of a coarser group's
_LEAST_FACTOR: Final = 0.3
_LEAST_SPREAD: Final = 1e-3
_COVERAGE_PARTS: Final = 5

Groups = Mapping[str, NDArray[np.str_]]
Records = dict[str, dict[str, Track]]


def records(
    judged: Judged, answers: Mapping[str, Answers], other_sources: Mapping[str, Answers], seed: int
) -> Records:
    """Return the records of all cases by group; measurements never widen an interval.

    Args:
        judged: the corpus.
        answers: by case, of silicon or devices that were left out.
        other_sources: by case, where those who published the measurements were left out too.
        seed: of the parts of silicon that coverage is asked of.
    """
    groups = _groups(judged)
    tracks = {case: _CaseRecord.of(judged, groups, each).tracks() for case, each in answers.items()}
    unseen = tracks[UNSEEN]
    for case, each in answers.items():
        # Where no two devices share silicon, and the like, the record is that of unseen silicon.
        with_all = {"all": unseen["all"], **tracks[case]}
        narrowed = {
            group: _no_wider(track, unseen.get(group, unseen["all"]))
            for group, track in with_all.items()
        }
        covered = _coverage(judged, groups, each, seed)
        errors = _errors(judged, groups, other_sources.get(case))
        tracks[case] = {
            group: replace(track, covered=covered.get(group), other_sources=errors.get(group))
            for group, track in narrowed.items()
        }
    return tracks


def _groups(judged: Judged) -> Groups:
    """Return the group of each target at each level, str [T]."""
    of_targets = [groups_of(target) for target in judged.targets]
    return {level: np.array([of[level] for of in of_targets]) for level in RECORD_LEVELS}


@dataclass(frozen=True, slots=True, eq=False)
class _CaseRecord:
    """Errors of a case, one for each of N pairs of target and network.

    Attributes:
        judged: the corpus.
        groups: of its targets.
        target: int64 [N].
        apart: float64 [N], error in ln over its standard deviation.
        spread: float64 [N], the standard deviation.
        error: median relative error by group.
    """

    judged: Judged
    groups: Groups
    target: Numbers
    apart: Floats
    spread: Floats
    error: Mapping[str, float]

    @classmethod
    def of(cls, judged: Judged, groups: Groups, answers: Answers) -> _CaseRecord:
        """Reduce answers to pairs."""
        first, cell = numbered(judged.target[answers.rows], judged.network[answers.rows])
        apart = np.abs(answers.log_ms - judged.log_latency[answers.rows]) / answers.deviation
        return cls(
            judged,
            groups,
            judged.target[answers.rows[first]],
            medians(cell, apart, len(first)),
            medians(cell, answers.deviation, len(first)),
            _errors(judged, groups, answers),
        )

    def of_silicon(self, chosen: NDArray[np.bool_]) -> _CaseRecord:
        """Return the errors on some silicon, [S]."""
        pairs = chosen[self.judged.silicon[self.target]]
        return replace(
            self, target=self.target[pairs], apart=self.apart[pairs], spread=self.spread[pairs]
        )

    def tracks(self) -> dict[str, Track]:
        """Return the records of groups that were checked on enough silicon."""
        tracks: dict[str, Track] = {}
        for level, group, pairs in self._by_group():
            silicon = self.judged.silicon[self.target[pairs]]
            count = len(np.unique(silicon))
            least = _LEAST_OF_PRECISION if level == PRECISION else _LEAST_SILICON
            if count < least and level != "all":
                continue
            wide = np.array([_factor(self.apart[pairs], silicon, part) for part in (0.8, 0.95)])
            if level != "all":
                # A few chips say little of how wide an interval has to be.
                coarser = self._coarser(tracks, level, pairs)
                weight = count / (count + _ENOUGH_SILICON)
                wide = wide**weight * np.array([coarser.wide80, coarser.wide95]) ** (1 - weight)
            tracks[group] = Track(
                silicon=count,
                devices=len(np.unique(self.judged.device[self.target[pairs]])),
                error=round(self.error.get(group, np.nan), 4),
                spread=round(float(np.median(self.spread[pairs])), 4),
                wide80=round(float(wide[0]), 4),
                wide95=round(float(wide.max()), 4),
            )
        return tracks

    def _by_group(self) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
        """Yield level, name and pairs of each group, from coarse to fine."""
        for level in RECORD_LEVELS:
            of_pairs = self.groups[level][self.target]
            for group in np.unique(of_pairs).tolist():
                yield level, group, np.flatnonzero(of_pairs == group)

    def _coarser(self, tracks: Mapping[str, Track], level: str, pairs: NDArray[np.int64]) -> Track:
        """Return the record that the widths of a group lean to."""
        leaning = {PRECISION: ("class", "kind"), "class": ("kind",)}.get(level, ())
        target = self.target[pairs[0]]
        names = [str(self.groups[each][target]) for each in leaning]
        return next((tracks[name] for name in names if name in tracks), tracks["all"])

    def covered(self, tracks: Mapping[str, Track]) -> NDArray[np.bool_]:
        """Return which pairs lie in their 80 % interval, bool [N]."""
        names = np.column_stack([self.groups[level] for level in reversed(RECORD_LEVELS)])
        wide = np.array(
            [next((tracks[n].wide80 for n in row if n in tracks), np.nan) for row in names.tolist()]
        )
        inside: NDArray[np.bool_] = self.apart <= wide[self.target]
        return inside


def _coverage(judged: Judged, groups: Groups, answers: Answers, seed: int) -> dict[str, float]:
    """Return the part of the measurements in intervals whose widths come from other silicon."""
    whole = _CaseRecord.of(judged, groups, answers)
    if not len(whole.target):
        return {}
    part = silicon_parts(judged, judged.rows, seed, _COVERAGE_PARTS)
    inside = np.zeros(len(whole.target))
    for number in range(_COVERAGE_PARTS):
        others = whole.of_silicon(part != number)
        if len(others.target):
            asked = part[judged.silicon[whole.target]] == number
            inside[asked] = whole.covered(others.tracks())[asked]
    return {
        group: round(_each_silicon(inside[pairs], judged.silicon[whole.target[pairs]]), 4)
        for _, group, pairs in whole._by_group()  # noqa: SLF001  # of this module
    }


def _each_silicon(values: Floats, silicon: Numbers) -> float:
    """Return the mean in which each silicon counts the same."""
    _, member, sizes = np.unique(silicon, return_inverse=True, return_counts=True)
    return float(np.mean(np.bincount(member, values) / sizes))


def _errors(judged: Judged, groups: Groups, answers: Answers | None) -> dict[str, float]:
    """Return the median relative error of each group over its pairs of class and silicon."""
    if answers is None or not len(answers.rows):
        return {}
    errors: dict[str, float] = {}
    by_class = of_silicon(judged, answers)
    for level in RECORD_LEVELS:
        if level == PRECISION:
            names, number = np.unique(groups[level], return_inverse=True)
            klass = np.where(judged.klass == NO_CLASS, NO_CLASS, number)
            table = of_silicon(replace(judged, klass=klass), answers)
            of_table = names[table.klass]
        else:
            table, of_table = by_class, _of_classes(judged, groups[level])[by_class.klass]
        errors |= _medians(table, of_table)
    return errors


def _of_classes(judged: Judged, of_targets: NDArray[np.str_]) -> NDArray[np.str_]:
    """Return the group of each class, str [C]."""
    classes, first = np.unique(judged.klass, return_index=True)
    of_classes = np.full(len(judged.classes), "", of_targets.dtype)
    listed = classes != NO_CLASS
    of_classes[classes[listed]] = of_targets[first[listed]]
    return of_classes


def _medians(table: OfSilicon, group: NDArray[np.str_]) -> dict[str, float]:
    """Return the median error of each group of a table's rows."""
    answered = ~np.isnan(table.error)
    return {
        name: round(float(np.median(table.error[answered & (group == name)])), 4)
        for name in np.unique(group[answered]).tolist()
    }


def _no_wider(track: Track, unseen: Track) -> Track:
    """Return a record whose intervals are those of unseen silicon at most."""
    more = unseen.spread / max(track.spread, _LEAST_SPREAD)
    return replace(
        track,
        wide80=min(track.wide80, round(unseen.wide80 * more, 4)),
        wide95=min(track.wide95, round(unseen.wide95 * more, 4)),
    )


def _factor(apart: Floats, silicon: Numbers, share: float) -> float:
    """Return the quantile of standardised errors in which each silicon counts the same.

    With n kinds of silicon it is that of share (n + 1) / n: a new one is one more draw. Where that
    would be the largest error of all, it is the plain quantile.
    """
    _, member, sizes = np.unique(silicon, return_inverse=True, return_counts=True)
    order = np.argsort(apart)
    reached = np.cumsum(1 / (sizes[member][order] * len(sizes)))
    wanted = share * (len(sizes) + 1) / len(sizes)
    place = min(int(np.searchsorted(reached, share if wanted >= 1 else wanted)), len(order) - 1)
    return max(float(apart[order[place]]), _LEAST_FACTOR)
