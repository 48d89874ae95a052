"""The material of a report: predictions, their explanations and measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from predictor.core.prediction import Prediction
from predictor.core.records import Measurement, Precision, RunId, Target
from predictor.core.stored import StoredSignature
from predictor.core.units import LatencyUnit
from predictor.graph.model import Model
from predictor.presentation.wording import are_alike, runtime_text, target_text
from predictor.services.models.names import unique_names
from predictor.services.prediction.assumptions import needs_quantising
from predictor.services.prediction.explain import OperatorTable
from predictor.services.prediction.fastest import is_rankable, rank
from predictor.services.prediction.sensitivity import Sensitivity
from predictor.services.report.words import brief

if TYPE_CHECKING:  # a command without language models and loads starts without them
    from predictor.services.loads.answers import Answer
    from predictor.services.serving.records import LanguageRun

MAX_OPERATORS = 15


@dataclass(frozen=True, slots=True, eq=False)
class ReportedModel:
    """A model and its name in the report, unique among the models.

    ``batches`` is the model as read at further batches of targets, by batch.
    """

    label: str
    model: Model
    batches: Mapping[int, Model] = field(default_factory=dict)

    def at(self, batch: int) -> ReportedModel:
        """Return it at the batch of a target; unchanged where it was not read so."""
        return replace(self, model=self.batches.get(batch, self.model), batches={})


def labelled(models: Sequence[Model]) -> tuple[ReportedModel, ...]:
    """Name models by their files, see ``unique_names``."""
    return tuple(map(ReportedModel, unique_names(models), models))


@dataclass(frozen=True, slots=True)
class RequestedSettings:
    """Requested settings; None stands for the usual one."""

    runtime: str | None = None
    precision: Precision | None = None
    threads: int | None = None
    batch: int | None = None


@dataclass(frozen=True, slots=True)
class MeasuredSignature:
    """A signature in the store with its measurements, the oldest first."""

    stored: StoredSignature
    measurements: tuple[Measurement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """One model on one target, as it is read at the target's batch."""

    model: ReportedModel
    target: Target
    prediction: Prediction


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReportRequest:
    """The subject of a report.

    Attributes:
        models: at least one.
        targets: at least one.
        predictions: one a pair, all targets of the first model first.
        explain: returns the operator table of one model on one target.
        created: now, with its zone.
        budget_ms: the latency that the user allows, None without one.
        unit: of the latencies in tables and charts; a budget is always in ms.
        requested: the what-ifs.
        signatures: those of the targets' devices in the store.
        commands: command lines that make this report again.
        title: the user's own, empty for one made of models and targets.
        operators: number of each pair's slowest operators in its table.
        sensitivity: returns that of one model's prediction on one target; None leaves it out.
        language: runs of language models.
        chosen: label of a model and run of a target that the report explains; None for the fastest
            target of the model that takes longest.
        loads: answers on loads.
    """

    models: tuple[ReportedModel, ...]
    targets: tuple[Target, ...]
    predictions: tuple[Prediction, ...]
    explain: Callable[[Model, Target], OperatorTable]
    created: datetime
    budget_ms: float | None = None
    unit: LatencyUnit = LatencyUnit.MS
    requested: RequestedSettings = RequestedSettings()
    signatures: tuple[MeasuredSignature, ...] = ()
    commands: tuple[str, ...] = ()
    title: str = ""
    operators: int = MAX_OPERATORS
    sensitivity: Callable[[Model, Target], Sensitivity] | None = None
    language: tuple[LanguageRun, ...] = ()
    chosen: tuple[str, RunId] | None = None
    loads: tuple[Answer, ...] = ()

    def is_chosen(self, pair: Pair) -> bool:
        """Whether the user looks at a pair."""
        return (pair.model.label, pair.target.run_id) == self.chosen

    def target_name(self, target: Target) -> str:
        """Return the name of a target's device as it stands in a sentence.

        Its configuration follows where several targets are on devices of that name; else its
        runtime and precision, where those of the targets differ.
        """
        name, configuration = brief(target.device.name), target.configuration
        if sum(other.device.name == target.device.name for other in self.targets) > 1:
            return f"{name}, {target_text(configuration)}"
        return name if self.is_alike else f"{name} · {runtime_text(configuration)}"

    @property
    def is_alike(self) -> bool:
        """Whether all targets have one runtime and one precision."""
        return are_alike(target.configuration for target in self.targets)

    def pairs(self) -> Iterator[Pair]:
        """Yield every pair, all targets of the first model first."""
        # They are in this very order, so no look-up is needed.
        predictions = iter(self.predictions)
        for model in self.models:
            for target in self.targets:
                yield Pair(model.at(target.configuration.batch), target, next(predictions))

    def pairs_of(self, model: ReportedModel) -> list[Pair]:
        """Return the pairs of one model, the fastest first, those without a number last."""
        pairs = [pair for pair in self.pairs() if pair.model.label == model.label]
        return sorted(pairs, key=lambda pair: rank(pair.prediction))


def leading(numbers: Sequence[Pair]) -> Pair:
    """Return the pair that is named the fastest: one that runs the file as it is goes first.

    One of a class that was checked on few chips is named only where there is no other.

    Args:
        numbers: pairs of one model with a number, the fastest first.
    """
    rankable = [pair for pair in numbers if is_rankable(pair.prediction)] or [*numbers]
    as_is = (p for p in rankable if not needs_quantising(p.model.model, p.prediction))
    return next(as_is, rankable[0])
