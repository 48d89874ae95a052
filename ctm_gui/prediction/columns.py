"""Predictions by column, so that no step of a view asks all rows; their targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ctm_gui.widgets.ordering import BoolArray, FloatArray, IndexArray, text_ranks
from predictor.core.prediction import Prediction
from predictor.core.records import Configuration, Precision
from predictor.core.units import LatencyUnit
from predictor.presentation.prediction_rows import (
    PredictionRow,
    TokenRates,
    configuration_words,
    run_text,
)
from predictor.presentation.wording import are_alike, basis_text, rest_text, shown


class ComparisonColumns:
    """N rows by column, each column read on first use.

    Args:
        rows: the comparison, those of a language model last.
        further: further configurations of its devices, each shown under its device.
    """

    def __init__(
        self, rows: Sequence[PredictionRow], further: Sequence[PredictionRow] = ()
    ) -> None:
        self.compared = len(rows)  # the rows before the further ones
        self.rows = (*rows, *further)
        self._predictions = [row.prediction for row in self.rows]
        self._configurations = [prediction.configuration for prediction in self._predictions]

    def __len__(self) -> int:
        return len(self.rows)

    def read(self) -> None:
        """Read every column now, off the window's thread: of 20 000 rows it takes 50 ms."""
        for name, column in vars(ComparisonColumns).items():
            if isinstance(column, cached_property):
                getattr(self, name)

    @cached_property
    def latency_ms(self) -> FloatArray:
        """P50 in ms, of a language model its first token, float64 [N]; NaN where there is none."""
        times = [p.latency_ms for p in self._predictions]
        for row in np.flatnonzero(self.is_tokens).tolist():
            times[row] = self.tokens(row).first_ms
        return np.array(times, dtype=np.float64)

    @cached_property
    def is_tokens(self) -> BoolArray:
        """True for rows of a language model, bool [N]."""
        return np.array([row.tokens is not None for row in self.rows], dtype=np.bool_)

    def tokens(self, row: int) -> TokenRates:
        """Return the rates of a row, without numbers where it is of no language model."""
        return self.rows[row].tokens or TokenRates(weights="")

    @cached_property
    def low80_ms(self) -> FloatArray:
        """Lower end of the 80 % interval in ms, float64 [N] with NaN, as of a lower limit."""
        low_ms = np.array([p.low80_ms for p in self._predictions], dtype=np.float64)
        for row in np.flatnonzero(self.is_tokens).tolist():
            low_ms[row] = self.tokens(row).first_low_ms
        return np.where(self.is_lower_limit, np.nan, low_ms)

    @cached_property
    def high80_ms(self) -> FloatArray:
        """Upper end of the 80 % interval in ms, float64 [N] with NaN, as of a lower limit."""
        high_ms = np.array([p.high80_ms for p in self._predictions], dtype=np.float64)
        for row in np.flatnonzero(self.is_tokens).tolist():
            high_ms[row] = self.tokens(row).first_high_ms
        return np.where(self.is_lower_limit, np.nan, high_ms)

    @cached_property
    def predicted_ms(self) -> FloatArray:
        """The engine's own P50 in ms where the latency was measured, float64 [N] with NaN."""
        return np.array([p.predicted_ms for p in self._predictions], dtype=np.float64)

    @cached_property
    def is_lower_limit(self) -> BoolArray:
        """True where operators of unknown cost make a latency a lower limit, bool [N]."""
        return np.array([p.is_lower_limit for p in self._predictions], dtype=np.bool_)

    @cached_property
    def badges(self) -> Mapping[str, tuple[str, str]]:
        """The basis of each device's numbers, a word and a sentence, by its id.

        A number wins over a missing one.
        """
        by_device: dict[str, Prediction] = {}
        for prediction in self._predictions:
            if prediction.basis is not None or prediction.device_id not in by_device:
                by_device[prediction.device_id] = prediction
        return {device_id: _badge(prediction) for device_id, prediction in by_device.items()}

    @cached_property
    def examples(self) -> list[PredictionRow]:
        """A few rows that have what any row has: tokens or none, an interval, a measurement."""
        facts = (
            self.is_tokens,
            ~self.is_tokens,
            *map(_is_number, (self.high80_ms, self.predicted_ms)),
        )
        return [self.rows[int(fact.argmax())] for fact in facts if fact.any()]

    @cached_property
    def is_alike(self) -> bool:
        """Whether all rows run under one runtime in one precision."""
        return are_alike(self._configurations)

    @cached_property
    def targets_of_device(self) -> Mapping[str, int]:
        """Number of targets by device id."""
        firsts = dict(zip(self.target.tolist(), self._predictions, strict=True))
        return Counter(prediction.device_id for prediction in firsts.values())

    @cached_property
    def basis(self) -> IndexArray:
        """Basis of each number as a code, rows of one basis alike, intp [N]."""
        return _codes([p.basis for p in self._predictions])[0]

    @cached_property
    def is_unstable(self) -> BoolArray:
        """True where a number rests on an unstable probing, bool [N]."""
        return np.array([bool(p.unstable) for p in self._predictions], dtype=np.bool_)

    @cached_property
    def batch(self) -> npt.NDArray[np.int64]:
        """Items that a rate counts, int64 [N]; a batch that is not resolved counts as one."""
        return np.maximum(np.array([c.batch for c in self._configurations], dtype=np.int64), 1)

    @cached_property
    def has_several_batches(self) -> bool:
        """Whether calls of different batches stand side by side: their times are not alike."""
        return bool(len(self)) and bool((self.batch != self.batch[0]).any())

    def ranked_ms(self, unit: LatencyUnit) -> FloatArray:
        """Return the times to rank by, float64 [N] with NaN: of a call, for a rate of one item."""
        return self.latency_ms / self.batch if unit is LatencyUnit.FPS else self.latency_ms

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models' labels in the order of their first rows."""
        return tuple(dict.fromkeys(row.model_label for row in self.rows))

    @cached_property
    def model(self) -> IndexArray:
        """Index into ``models``, intp [N]."""
        return _codes([row.model_label for row in self.rows])[0]

    @cached_property
    def targets(self) -> tuple[Hashable, ...]:
        """Device, runtime, precision, threads and batch of each target, as they first appear.

        The batch is the one that the target asks for: models' own may differ on one target.
        """
        return self._coded_targets[1]

    @cached_property
    def target(self) -> IndexArray:
        """Index into ``targets``, intp [N]."""
        return self._coded_targets[0]

    @cached_property
    def _coded_targets(self) -> tuple[IndexArray, tuple[Hashable, ...]]:
        # Each fact by itself: a tuple a row would be much slower. A precision is one object, whose
        # words take long to ask for.
        words = {id(precision): precision.value for precision in Precision}
        facts: list[list[Hashable]] = [
            [p.device_id for p in self._predictions],
            [c.runtime for c in self._configurations],
            [
                words[id(row.prediction.configuration.precision)]
                if row.tokens is None
                else row.tokens.weights
                for row in self.rows
            ],
            [c.threads for c in self._configurations],
            [row.batch for row in self.rows],
        ]
        codes, firsts = _joined([_codes(fact)[0] for fact in facts])
        return codes, tuple(tuple(fact[row] for fact in facts) for row in firsts.tolist())

    @cached_property
    def groups(self) -> TargetGroups:
        """All rows by target."""
        return _gathered(self, np.arange(len(self)))

    @cached_property
    def is_flagged(self) -> BoolArray:
        """True for rows with words of warning beside their number, bool [N]."""
        return np.array([_is_flagged(row) for row in self.rows], dtype=np.bool_)

    @cached_property
    def letters(self) -> IndexArray:
        """Letters of the device's name and of the configuration in words, intp [N]."""
        codes, texts = self._coded_configurations
        names = np.fromiter((len(row.device_name) for row in self.rows), np.intp, len(self))
        return names + np.array([len(text) for text in texts], dtype=np.intp)[codes]

    def configuration_text(self, row: int) -> str:
        """Return the configuration of a row in words."""
        codes, texts = self._coded_configurations
        return texts[int(codes[row])]

    @cached_property
    def _coded_configurations(self) -> tuple[IndexArray, list[str]]:
        """Index of each row's configuration, intp [N], and the configurations in words."""
        codes, firsts = _joined([self.target, self.batch])
        return codes, [configuration_words(self.rows[row]) for row in firsts.tolist()]

    def same_rows(self, other: ComparisonColumns) -> bool:
        """Return whether ``other`` has the same predictions, whatever their numbers."""
        return (
            len(self) == len(other)
            and self.models == other.models
            and self.targets == other.targets
            and np.array_equal(self.model, other.model)
            and np.array_equal(self.target, other.target)
            and np.array_equal(self.batch, other.batch)
        )

    def over(self, budget_ms: float | None) -> BoolArray:
        """Return a mask of the rows whose P50 is over the budget, bool [N]."""
        if budget_ms is None:
            return np.zeros(len(self), dtype=np.bool_)
        # NaN compares false: a row without a number is not over. A first token is no latency.
        over: BoolArray = (self.latency_ms > budget_ms) & ~self.is_tokens
        return over

    def in_unit(self, latency_ms: FloatArray, unit: LatencyUnit) -> FloatArray:
        """Return times (ms, float64 [N]) in ``unit``; NaN where there is no finite value."""
        if unit is LatencyUnit.FPS:
            # A subnormal latency overflows to inf, which the last line turns into NaN.
            with np.errstate(divide="ignore", over="ignore"):
                has_rate = (latency_ms > 0) & ~self.is_tokens
                values = np.where(has_rate, self.batch * 1e3 / latency_ms, np.nan)
        else:
            values = latency_ms * unit.from_ms(1.0)
        return np.where(np.isfinite(values), values, np.nan)

    def search_mask(self, search: str) -> BoolArray:
        """Return a mask of the rows that hold every word of ``search``, case aside, bool [N].

        A word holds no blank, so it lies within one fact, and rows share most of their facts.
        """
        mask = np.ones(len(self), dtype=np.bool_)
        for word in search.casefold().split():
            holds = np.zeros(len(self), dtype=np.bool_)
            for codes, texts in self._searched:
                holds |= np.array([word in text for text in texts], dtype=np.bool_)[codes]
            mask &= holds
        return mask

    @cached_property
    def _searched(self) -> list[tuple[IndexArray, list[str]]]:
        """Facts that the filter looks through: codes by row, and their case-folded texts."""
        words: list[list[str]] = [
            [row.model_label for row in self.rows],
            [row.device_name for row in self.rows],
            [row.vendor for row in self.rows],
            [row.family for row in self.rows],
            [p.problem for p in self._predictions],
        ]
        bases, firsts = _joined([self.basis, self.is_unstable])
        texts = [basis_text(self._predictions[row]) for row in firsts.tolist()]
        coded = [self._coded_configurations, (bases, texts), *(_codes(texts) for texts in words)]
        return [(codes, [shown(str(text)).casefold() for text in texts]) for codes, texts in coded]


def _badge(prediction: Prediction) -> tuple[str, str]:
    if prediction.basis is None:
        return "no number", prediction.problem
    words = prediction.basis.words
    return words, f"The numbers are {words} ({prediction.engine})."


def _is_number(values: FloatArray) -> BoolArray:
    numbers: BoolArray = ~np.isnan(values)
    return numbers


def _is_flagged(row: PredictionRow) -> bool:
    prediction = row.prediction
    return prediction.fits_memory is False or bool(prediction.out_of_distribution or row.notes)


def _codes(values: Sequence[Hashable]) -> tuple[IndexArray, tuple[Hashable, ...]]:
    """Return each value's index among the distinct ones, and these as they first appear."""
    distinct = tuple(dict.fromkeys(values))
    code_of = {value: code for code, value in enumerate(distinct)}
    return np.fromiter(map(code_of.__getitem__, values), np.intp, len(values)), distinct


def _joined(
    columns: Sequence[IndexArray | BoolArray | npt.NDArray[np.int64]],
) -> tuple[IndexArray, IndexArray]:
    """Return one code for each distinct combination of codes from 0 on, and its first row."""
    # Mixed radix, one int64 a combination: np.unique over rows (axis=0) is much slower.
    joined = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        joined = joined * (int(column.max(initial=0)) + 1) + column
    return _numbered(joined)


def _numbered(keys: npt.NDArray[np.int64]) -> tuple[IndexArray, IndexArray]:
    """Return each key's number in the order of their first rows, and these rows."""
    # np.unique numbers by value.
    _, firsts, codes = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty_like(firsts)
    rank[np.argsort(firsts)] = np.arange(firsts.size)
    return rank[codes], np.sort(firsts)


class GroupOrder(StrEnum):
    """Orders of the targets in the chart."""

    LATENCY = "Latency"
    NAME = "Name"
    FAMILY = "Family"


@dataclass(frozen=True, slots=True)
class TargetGroups:
    """The rows of G targets, one a model, target after target.

    Attributes:
        columns: all rows.
        rows: indices of the rows gathered, intp [M].
        starts: where each group starts in ``rows``, intp [G].
    """

    columns: ComparisonColumns
    rows: IndexArray
    starts: IndexArray

    def __len__(self) -> int:
        return self.starts.size

    @property
    def sizes(self) -> IndexArray:
        """Rows of each group, intp [G]."""
        return np.diff(self.starts, append=self.rows.size)

    def members(self, group: int) -> IndexArray:
        """Return the rows of a group, in the order of the models."""
        end = self.starts[group + 1] if group + 1 < len(self) else self.rows.size
        return self.rows[self.starts[group] : end]

    def name(self, group: int) -> str:
        """Return the device's name as shown; a mark for a further configuration under it."""
        row = int(self.rows[self.starts[group]])
        return "└" if row >= self.columns.compared else shown(self.columns.rows[row].device_name)

    def detail(self, group: int) -> str:
        """Return threads and batch in words; several where the models' own batches differ."""
        texts = (self._configuration(row) for row in self.members(group).tolist())
        return " / ".join(dict.fromkeys(filter(None, map(rest_text, texts))))

    def chip(self, group: int) -> str:
        """Return the runtime and the precision of a target."""
        return run_text(self.columns.rows[self.rows[self.starts[group]]])

    def _configuration(self, row: int) -> Configuration:
        return self.columns.rows[row].prediction.configuration

    def ordered(self, order: GroupOrder, unit: LatencyUnit = LatencyUnit.MS) -> TargetGroups:
        """Order the targets: by their fastest model, by name, or by family and then latency.

        Of a rate, the fastest has the least time an item.

        In the orders by latency, targets whose latencies are all lower limits come behind the
        others, and those without any number last.
        """
        if not len(self):
            return self
        firsts = [self.columns.rows[row] for row in self.rows[self.starts].tolist()]
        if order is GroupOrder.NAME:
            names = text_ranks([shown(first.device_name) for first in firsts])
            return self._permuted(np.argsort(names, kind="stable"))
        latency_ms = np.nan_to_num(self.columns.ranked_ms(unit)[self.rows], nan=np.inf)
        counted_ms = np.where(self.columns.is_lower_limit[self.rows], np.inf, latency_ms)
        # No group is empty; reduceat would give an empty one its neighbour's value.
        fastest = [np.minimum.reduceat(times, self.starts) for times in (latency_ms, counted_ms)]
        # lexsort takes its primary key last.
        if order is GroupOrder.LATENCY:
            return self._permuted(np.lexsort(fastest))
        ranks = {name: rank for rank, name in enumerate(sorted({f.family for f in firsts}))}
        families = np.array([ranks[first.family] for first in firsts])
        return self._permuted(np.lexsort((*fastest, families)))

    def _under_their_devices(self, order: IndexArray) -> IndexArray:
        """Put the further configurations of a device behind its last group of the comparison."""
        firsts = self.rows[self.starts[order]]
        if (firsts < self.columns.compared).all():
            return order
        ids = [self.columns.rows[row].prediction.device_id for row in firsts.tolist()]
        is_further = firsts >= self.columns.compared
        place = np.arange(len(order))
        last = {ids[index]: index for index in np.flatnonzero(~is_further).tolist()}
        for index in np.flatnonzero(is_further).tolist():
            place[index] = last.get(ids[index], index)
        return order[np.lexsort((is_further, place))]

    def _permuted(self, order: IndexArray) -> TargetGroups:
        order = self._under_their_devices(order)
        sizes = self.sizes[order]
        starts = np.cumsum(sizes) - sizes
        # intp [M]: each group moves as a run, by its old start less its new one.
        places = np.repeat(self.starts[order] - starts, sizes) + np.arange(self.rows.size)
        return TargetGroups(self.columns, self.rows[places], starts)


def target_groups(columns: ComparisonColumns, row_mask: BoolArray | None = None) -> TargetGroups:
    """Gather the rows of each target, in the order of each target's first row.

    Where a model appears twice on a target, its second row belongs to a second group.

    Args:
        columns: N rows.
        row_mask: bool [N], the rows to gather; None for all, which are gathered once.
    """
    if row_mask is None or row_mask.all():
        return columns.groups
    return _gathered(columns, np.flatnonzero(row_mask))


def _gathered(columns: ComparisonColumns, rows: IndexArray) -> TargetGroups:
    target = columns.target[rows]
    repeat = _repeats(target * max(len(columns.models), 1) + columns.model[rows])
    keys = target * (repeat.max(initial=0) + 1) + repeat
    groups, firsts = _numbered(keys)
    sizes = np.bincount(groups, minlength=firsts.size)
    return TargetGroups(columns, rows[np.argsort(groups, kind="stable")], np.cumsum(sizes) - sizes)


def _repeats(keys: IndexArray) -> IndexArray:
    """Return for each key the number of equal keys before it, intp [N]."""
    order = np.argsort(keys, kind="stable")
    place = np.arange(keys.size)
    starts = np.concatenate(([True], np.diff(keys[order]) != 0))[: keys.size]
    repeats = np.empty_like(place)
    # Place among the sorted keys less the place where the run of equal keys starts.
    repeats[order] = place - np.maximum.accumulate(np.where(starts, place, 0))
    return repeats
