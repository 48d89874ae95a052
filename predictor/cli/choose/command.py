"""The work of ``ctm choose``: options for a budget, as text and as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import asdict

from predictor.cli.catalogue import named_devices, open_catalogue
from predictor.cli.console import Console
from predictor.cli.measured import measured_of, stated_latencies
from predictor.cli.model_text import NAME_COLUMNS
from predictor.cli.predicting import BUDGET_MISSED, PredictionStore, read_models
from predictor.cli.tables import render_table
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Precision
from predictor.core.run_facts import MEDIAN
from predictor.core.text import plural, printable, shortened
from predictor.core.units import LatencyUnit
from predictor.graph.model import Model
from predictor.presentation.wording import interval_text, number, p50_number
from predictor.services.choose.choice import Choice, Option
from predictor.services.choose.choose import choose
from predictor.services.choose.options import BATCHES, Budget, Wanted, options_of
from predictor.services.report.request import labelled

_SCHEMA = "ctm-choice/1"  # scripts depend on it
_OF_LATENCY = ("latency_ms", "low80_ms", "high80_ms", "p90_ms", "p99_ms", "basis", "evidence")


def run(options: argparse.Namespace, console: Console, readings: Sequence[Future[Model]]) -> int:
    """Judge every option by the budget and print the best ones; nothing is stored."""
    budget = Budget(
        max_ms=options.max_ms,
        min_fps=options.min_fps,
        max_watts=options.max_watts,
        max_memory_mb=options.max_memory_mb,
        percentile=options.percentile,
        min_throughput=options.min_throughput,
    )
    catalogue = open_catalogue(options, console, networks=True)
    requested = named_devices(options.device, catalogue, console) or catalogue.devices
    choices = options_of(requested, _wanted(options), _batches(options))
    one_run = argparse.Namespace(
        measured=options.measured, runtime=None, precision=None, threads=None
    )
    latencies = stated_latencies(one_run, catalogue, len(readings))
    with closing(PredictionStore(options.store)) as store:
        models, code = read_models(readings, console)
        if code:  # a model that is not there would count as one that keeps the budget
            return code
        if not models:
            raise InputError("ctm choose", "no model was found", "name a model file")
        measured = store.signatures([*choices.targets, *(entry.target for entry in latencies)])
        measurements, devices = measured_of(options, store, models, latencies, measured)
        choice = choose(
            models,
            choices,
            budget,
            min_chance=options.chance,
            measurements=measurements,
            measured=measured,
            devices=devices,
        )
        names = [entry.label for entry in labelled(models)]
        places = choice.of_devices[: options.rows or None]
        if options.json:
            console.document(_document(choice, names, places))
        else:
            console.result(_text(choice, names, places))
        stored = store.exit_code(console, "your measurements were not used")
        return stored or (0 if choice.is_met else BUDGET_MISSED)


def _wanted(options: argparse.Namespace) -> Wanted:
    return Wanted(
        tuple(options.runtime),
        tuple(map(Precision, options.precision)),
        tuple(map(Family, options.family)),
        () if None in options.threads else tuple(options.threads) or (0,),
        tuple(options.mode),
    )


def _batches(options: argparse.Namespace) -> Sequence[int]:
    """Return multiples of the batch; 1 is first, which the others are compared with."""
    usual = (1,) if options.min_fps is None else BATCHES
    return (1, *sorted({*(options.times_batch or usual)} - {1}))


def _text(choice: Choice, names: Sequence[str], places: Sequence[int]) -> str:
    rows = [_row(option) for option in choice.options_at(places)]
    percentile = choice.budget.percentile
    tail = () if percentile == MEDIAN else (f"P{percentile} ms",)
    headers = ("Device", "Configuration", "Mode", "Chance", "P50 ms", "80 % interval", *tail)
    headers += (*(() if choice.budget.min_throughput is None else ("Items/s",)), "W", "MB", "")
    parts = [choice.sentence, render_table(headers, rows, "   " + "r" * (len(headers) - 4))]
    if choice.without_tail:
        parts.append(choice.without_tail)
    if len(names) > 1:
        parts.append("Latencies are those of the model that is least likely to keep the budget.")
    rest = len(choice.of_devices) - len(places)
    if rest:
        parts.append(f"{plural(rest, 'more device')}; --rows 0 lists all.")
    if choice.settling:
        parts.append(choice.settling.words(names))
    return "\n\n".join(parts)


def _row(option: Option) -> tuple[str, ...]:
    p, rate = option.prediction, option.rate
    return (
        shortened(option.target.device.name, NAME_COLUMNS),
        option.runs,
        "" if option.mode is None else printable(option.mode.name),
        option.chance_text,
        p50_number(p),
        interval_text(p, LatencyUnit.MS),
        *(() if option.percentile == MEDIAN else (number(option.tail_ms),)),
        *((number(None if rate is None else rate.per_s),) if option.rates else ()),
        number(option.watts),
        number(option.memory_mb),
        printable(option.remark),
    )


def _document(choice: Choice, names: Sequence[str], places: Sequence[int]) -> dict[str, object]:
    """Return the JSON document: every key is always there, null where there is no number."""
    settling = choice.settling
    return {
        "schema": _SCHEMA,
        "models": list(names),
        "budget": asdict(choice.budget),
        "least_chance": choice.min_chance,
        "met": choice.is_met,
        "sentence": choice.sentence,
        "considered": {"devices": len(choice.of_devices), "options": len(choice.order)},
        "meeting": choice.meeting,
        "options": [_option(option, names) for option in choice.options_at(places)],
        "front": [_option(option, names) for option in choice.options_at(sorted(choice.front))],
        "measure": settling
        and {
            "model": names[settling.model],
            "device": settling.target.device.id,
            "configuration": asdict(settling.target.configuration),
            "mode": settling.point and settling.point.name,
            "minutes": settling.minutes,
            "gain": settling.gain,
        },
    }


def _option(option: Option, names: Sequence[str]) -> dict[str, object]:
    rates = option.rates or [None] * len(names)
    return {
        "device": option.target.device.id,
        "configuration": asdict(option.prediction.configuration),
        "mode": option.mode and option.mode.name,
        "chance": option.chance,
        "judged_by": f"p{MEDIAN if option.tail_ms is None else option.percentile}",
        "watts": option.watts,
        "memory_mb": option.memory_mb,
        "on_front": option.on_front,
        "lower_limit": option.is_lower_limit,
        "needs_quantised_model": option.needs_quantising,
        "broken": list(option.broken),
        "decided_by": names[option.slowest],
        "latencies": [
            {
                "model": name,
                **{field: getattr(p, field) for field in _OF_LATENCY},
                "unsupported": list(p.unsupported.types) if p.unsupported else [],
                "throughput": rate and asdict(rate),
            }
            for name, p, rate in zip(names, option.predictions, rates, strict=True)
        ],
    }
