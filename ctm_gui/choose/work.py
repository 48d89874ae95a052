"""Computing a choice on the thread of predictions; predictions are kept for the next budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctm_gui.choose.limits import Limits
from ctm_gui.tasks.serial import TaskContext
from predictor.core.progress import Progress
from predictor.core.records import Device, Measurement
from predictor.core.text import plural
from predictor.graph.model import Model
from predictor.services.choose.choice import Choice, Option
from predictor.services.choose.choose import choose
from predictor.services.choose.options import BATCHES, Budget, Options, Wanted, options_of
from predictor.services.choose.rows import Row, row_of, steps_of
from predictor.services.signatures.user_signatures import UserSignatures

_PARTS = 100  # of a bar


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A choice as the view shows it.

    Attributes:
        choice: of all options.
        options: the best one of each device, the best first.
        names: of the models.
    """

    choice: Choice
    options: tuple[Option, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChoiceRequest:
    """The input of a choice.

    Attributes:
        models: M models, each of which has to keep the budget.
        names: of the models, M.
        devices: of the library; all are judged.
        budget: from ``limits``.
        limits: as typed; they restrict devices and configurations too.
        measurements, signatures: the user's.
    """

    models: Sequence[Model]
    names: tuple[str, ...]
    devices: Sequence[Device]
    budget: Budget
    limits: Limits
    measurements: Sequence[Measurement]
    signatures: UserSignatures


class ChoiceWork:
    """Computes one choice after the other.

    Predictions of a model on all options are kept while models, options and measurements are the
    same: they do not depend on the budget.
    """

    def __init__(self) -> None:
        self._options: tuple[Sequence[Device], Wanted, Sequence[int], Options] | None = None
        self._measured: tuple[object, object] = (None, None)
        self._rows: list[tuple[Model, Row]] = []

    def run(self, request: ChoiceRequest, context: TaskContext) -> Chosen:
        """Predict what is not predicted yet, and judge all options by the budget.

        Raises:
            InputError: nothing can be chosen.
            CancelledError: the user does not want it any more.
        """
        options = self._options_of(request)
        now = request.measurements, request.signatures
        if any(new is not before for new, before in zip(now, self._measured, strict=True)):
            self._rows, self._measured = [], now
        self._rows = [pair for pair in self._rows if any(pair[0] is m for m in request.models)]
        count = len(request.models)
        rows = []
        for place, model in enumerate(request.models):
            words = f"{place} of {plural(count, 'model')} judged"
            rows.append(self._row(request, model, options, _Steps(context, place, count, words)))
        context.report(Progress(1, 1, "Ranking the devices"))
        choice = choose(
            request.models,
            options,
            request.budget,
            min_chance=request.limits.chance,
            rows=rows,
        )
        context.token.check()
        return Chosen(choice, tuple(choice.options_at(choice.of_devices)), request.names)

    def _options_of(self, request: ChoiceRequest) -> Options:
        batches = (1,) if request.limits.min_fps is None else BATCHES
        basis = request.devices, request.limits.wanted, batches
        if self._options is None or self._options[:3] != basis:
            self._options = *basis, options_of(*basis)
            self._rows = []
        return self._options[3]

    def _row(self, request: ChoiceRequest, model: Model, options: Options, steps: _Steps) -> Row:
        for before, row in self._rows:
            if before is model:
                return row
        measured = request.signatures.of(options.targets)
        devices = {device.id: device for device in request.devices}
        steps.count = steps_of(options)
        row = row_of(model, options, request.measurements, measured, devices, steps.step)
        self._rows.append((model, row))
        return row


class _Steps:
    """Counts the steps of one model, and reports them as progress over all models."""

    def __init__(self, context: TaskContext, place: int, models: int, words: str) -> None:
        self._context, self._place, self._models, self._words = context, place, models, words
        self.count, self._done, self._reported = 1, 0, -1

    def step(self) -> None:
        """Report one step more.

        Raises:
            CancelledError: the work is to stop.
        """
        self._context.token.check()
        self._done += 1
        parts = _PARTS * self._done // self.count
        if parts != self._reported:
            self._reported = parts
            done = _PARTS * self._place + parts
            self._context.report(Progress(done, _PARTS * self._models, self._words))
