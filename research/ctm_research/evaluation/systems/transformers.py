"""NeuSight's own field: whole transformers in FP32, from operators timed on cards."""

from __future__ import annotations

import hashlib
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctm_research.evaluation.judge.groups import Floats
from ctm_research.evaluation.systems.arithmetic import wave_scale
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.kernel_tables import KernelTables
from ctm_research.evaluation.systems.operator_data import (
    FOLDER,
    Card,
    NeuSightData,
    Operators,
    read_data,
)
from ctm_research.evaluation.systems.registry import PRODUCT, SYSTEMS
from ctm_research.evaluation.systems.run import Finished, kept_document
from ctm_research.evaluation.systems.utilisation import NeuSight
from ctm_research.sources.aliases import read_aliases
from ctm_research.sources.tables import read_rows
from predictor.core.files import MAX_TEXT_BYTES, read_bytes

Entry = dict[str, Any]
_SEED: Final = 0
_HELD_SHARE: Final = 0.1  # of a card's operators, that its tables are tested on
_S_TO_MS: Final = 1e3
_ROOM: Final = Path(__file__).parent
_CODE: Final = ("operator_data", "utilisation")
_CALLS: Final = 20  # that are timed together, and how often
_PRINTED: Final = {
    "neusight": "NeuSight as printed, card in its training",
    "habitat": "Habitat as printed there",
    "roofline": "Roofline as printed there",
    "li_et_al": "Li et al. as printed there",
}


def transformer_entry(
    data: Path, field: Field, finished: Sequence[Finished], work: Path, *, may_train: bool
) -> Entry:
    """Return the errors of all systems on the transformers.

    Args:
        data: folder with one folder a source.
        field: the measurements that the systems were asked on.
        finished: their answers.
        work: folder of what is finished.
        may_train: whether there is time left to train NeuSight's form.

    Raises:
        InputError: a table is missing or damaged, or a kept result is.
        HostError: the result cannot be kept.
    """
    tables = read_data(data)
    own = own_field(tables, _kept(data, tables, work, may_train=may_train))
    systems = [*asked_errors(field, finished, own["cards"]), *own["systems"]]
    product = next((each for each in systems if each["name"] == PRODUCT), None)
    printed = next(each for each in systems if each["name"] == "printed-neusight")
    better = [
        card
        for card in own["cards"]
        if product is not None
        and product["cards"].get(card) is not None
        and product["cards"][card] < printed["cards"][card]
    ]
    amd = printed_of_amd(data)
    return {
        "count": own["count"],
        "cards": own["cards"],
        "systems": systems,
        "product_under_printed": better,
        "amd": {
            "cards": list(amd),
            "systems": [
                *asked_errors(field, finished, list(amd)),
                _entry("printed-neusight", _PRINTED["neusight"], amd),
            ],
        },
    }


def asked_errors(field: Field, finished: Sequence[Finished], cards: Sequence[str]) -> list[Entry]:
    """Return the mean error of the corpus' systems on each card, nothing measured."""
    judged = field.judged
    corpus = judged.corpus
    aliases = read_aliases(FOLDER)
    own = corpus.rows_of(FOLDER) if FOLDER in corpus.sources else field.rows[:0]
    devices = np.array([target.device.id for target in judged.targets])[judged.target]
    runtimes = np.array([each.configuration.runtime for each in judged.targets])[judged.target]
    result = []
    for name in SYSTEMS:
        first = [each for each in finished if each.unit.system == name and not each.unit.seed]
        if len(first) < len(field.folds) or SYSTEMS[name].is_variant:
            continue
        rows = np.concatenate([each.answers[0].rows for each in first])
        log_ms = np.concatenate([each.answers[0].log_ms for each in first])
        error = 100 * np.abs(np.expm1(log_ms - judged.log_latency[rows]))
        plain = np.isin(rows, own) & (runtimes[rows] == "pytorch")
        of_card = {
            card: _mean(error[plain & (devices[rows] == aliases.find(card).device_id)])
            for card in cards
        }
        entry = SYSTEMS[name]
        label = f"{entry.label}: silicon left out"
        result.append(_entry(name, label, of_card, predict_ms=None))
    return [each for each in result if each["mean"] is not None]


def _mean(errors: Floats) -> float | None:
    known = errors[np.isfinite(errors)]
    return float(known.mean()) if len(known) == len(errors) and len(known) else None


def _entry(name: str, label: str, cards: Mapping[str, float | None], **more: float | None) -> Entry:
    known = [value for value in cards.values() if value is not None]
    mean = float(np.mean(known)) if len(known) == len(cards) else None
    return {"name": name, "label": label, "cards": dict(cards), "mean": mean, **more}


def _kept(data: Path, tables: NeuSightData, work: Path, *, may_train: bool) -> list[Entry]:
    """Return the errors of NeuSight's form, kept or trained now; nothing without time left."""
    digest = hashlib.sha256(read_bytes(data / FOLDER / "models.csv", MAX_TEXT_BYTES))
    for name in _CODE:
        digest.update((_ROOM / f"{name}.py").read_bytes())
    path = work / f"neusight-{digest.hexdigest()[:12]}.json"

    def trained() -> list[Entry]:
        return [_left_out(tables), _in_training(tables)]

    return kept_document(path, trained if may_train else None) or []


def printed_of_amd(data: Path) -> dict[str, float | None]:
    """Return the mean error in percent that NeuSight's authors print for AMD's cards in training.

    Raises:
        InputError: a table is missing or damaged.
    """
    folder = data / FOLDER
    cards = [
        row["device_id"]
        for row in read_rows(folder / "gpus.csv", ("device_id", "vendor", "split"))
        if row["vendor"] == "AMD" and row["split"] == "train"
    ]
    errors: dict[str, list[float]] = {card: [] for card in cards}
    for row in read_rows(folder / "peers.csv", ("device_id", "method", "mode", "abs_pct_err")):
        if row["device_id"] in errors and (row["method"], row["mode"]) == ("neusight", "inf"):
            errors[row["device_id"]].append(row.positive("abs_pct_err"))
    return {card: float(np.mean(own)) for card, own in errors.items()}


def own_field(data: NeuSightData, trained: Sequence[Entry]) -> Entry:
    """Return the errors of PM2Lat's form, of trained ones, Habitat's and the printed ones."""
    systems = [_profiled(data), *trained, _scaled(data), _roofline(data)]
    for method, label in _PRINTED.items():
        errors = {
            card: float(
                np.mean([e for key, e in data.printed.items() if key[:2] == (method, card)])
            )
            for card in data.cards
        }
        systems.append(_entry(f"printed-{method}", label, errors))
    return {"cards": list(data.cards), "count": len(data.transformers), "systems": systems}


def _profiled(data: NeuSightData) -> Entry:
    begun = time.monotonic()
    tables = {card: KernelTables.fit(timed) for card, timed in data.timed.items()}
    seconds = (time.monotonic() - begun) / len(tables)
    errors = {card: _card_error(data, card, tables[card].predict) for card in data.cards}
    held_errors, predict_ms = [], []
    for timed in data.timed.values():
        held = np.random.default_rng(_SEED).random(len(timed)) < _HELD_SHARE
        part = timed.take(held)
        fitted = KernelTables.fit(timed.take(~held))
        held_errors.append(_operator_error(part, fitted.predict(part)))
        # One operator at a time, as PM2Lat's authors count: a product, whose kernel is looked up.
        one = part.take(np.flatnonzero(part.is_product)[:1])
        # The least: other work on the machine only adds to times by the clock.
        seconds_of = timeit.repeat(partial(fitted.predict, one), number=_CALLS, repeat=_CALLS)
        predict_ms.append(min(seconds_of) / _CALLS * _S_TO_MS)
    return _entry(
        "pm2lat-profiled",
        "PM2Lat's form: card profiled",
        errors,
        operators=float(np.mean(held_errors)),
        fit_seconds=seconds,
        predict_ms=float(np.mean(predict_ms)),
    )


def _left_out(data: NeuSightData) -> Entry:
    errors, of_operators, seconds, each_ms = {}, [], [], []
    for card, timed in data.timed.items():
        begun = time.monotonic()
        others = {name: each for name, each in data.timed.items() if name != card}
        fitted = NeuSight.fit(others, data.cards, _SEED)
        trained = time.monotonic()
        predicted = fitted.predict(timed, data.cards[card])
        each_ms.append((time.monotonic() - trained) / len(timed) * _S_TO_MS)
        seconds.append(trained - begun)
        of_operators.append(_operator_error(timed, predicted))
        errors[card] = _neusight_error(data, card, fitted)
    return _entry(
        "neusight-left-out",
        "NeuSight's form: card left out",
        errors,
        operators=float(np.mean(of_operators)),
        fit_seconds=float(np.mean(seconds)),
        predict_ms=float(np.mean(each_ms)),
    )


def _in_training(data: NeuSightData) -> Entry:
    begun = time.monotonic()
    fitted = NeuSight.fit(data.timed, data.cards, _SEED)
    seconds = time.monotonic() - begun
    return _entry(
        "neusight-own-split",
        "NeuSight's form: card in training",
        {card: _neusight_error(data, card, fitted) for card in data.cards},
        fit_seconds=seconds,
    )


def _neusight_error(data: NeuSightData, card: str, fitted: NeuSight) -> float:
    return _card_error(data, card, lambda operators: fitted.predict(operators, data.cards[card]))


def _scaled(data: NeuSightData) -> Entry:
    """Scale each network from every other card that ran it; the median counts."""
    errors: dict[str, float | None] = {}
    for card in data.cards:
        apart = []
        for run in data.transformers:
            scaled = [
                each.ms * habitat_scale(data, run.name, each.card, card)
                for each in data.transformers
                if run.card == card and each.name == run.name and each.card != card
            ]
            if scaled:  # the largest ran on one card alone
                apart.append(100 * abs(float(np.median(scaled)) / run.ms - 1))
        errors[card] = float(np.mean(apart))
    return _entry("habitat-scaled", "Habitat's scaling: from the other cards", errors)


def habitat_scale(data: NeuSightData, network: str, origin: str, target: str) -> float:
    """Return the time of a network on a card over that on another."""
    operators, counts, _ = data.graphs[network]
    resources = np.zeros((len(operators), 4))
    resources[:, 1], resources[:, 2] = counts * operators.flops, counts * operators.bytes
    sides = [
        np.array([[data.cards[name].flops, data.cards[name].bandwidth]])
        for name in (origin, target)
    ]
    return float(wave_scale(resources, sides[0], sides[1])[0, 0])


def _roofline(data: NeuSightData) -> Entry:
    errors = {card: _card_error(data, card, at_peak(peak)) for card, peak in data.cards.items()}
    return _entry("roofline-operators", "Roofline of each operator", errors)


def at_peak(card: Card) -> Callable[[Operators], Floats]:
    """Return what gives ms of operators at the peaks of a card."""
    return lambda operators: (
        _S_TO_MS * np.maximum(operators.flops / card.flops, operators.bytes / card.bandwidth)
    )


def card_errors(
    data: NeuSightData, card: str, predict: Callable[[Operators], Floats]
) -> list[float]:
    """Return the error in percent of each run of a network on a card, as the sum of operators."""
    errors = []
    for run in data.transformers:
        if run.card == card:
            operators, counts, moved = data.graphs[run.name]
            whole = float(counts @ predict(operators))
            whole += _S_TO_MS * moved / data.cards[card].bandwidth
            errors.append(100 * abs(whole / run.ms - 1))
    return errors


def _card_error(data: NeuSightData, card: str, predict: Callable[[Operators], Floats]) -> float:
    """Return the mean error in percent over the networks of a card."""
    return float(np.mean(card_errors(data, card, predict)))


def _operator_error(operators: Operators, predicted: Floats) -> float:
    return float(100 * np.median(np.abs(predicted / operators.ms - 1)))
