"""``ctm choose`` of a language model: devices ranked by rates, joules and cost of tokens."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace

from predictor.cli.catalogue import named_devices, open_catalogue
from predictor.cli.console import Console
from predictor.cli.generate.command import UserRates, requested_run, user_rates
from predictor.cli.model_text import NAME_COLUMNS
from predictor.cli.predicting import BUDGET_MISSED
from predictor.cli.tables import render_table
from predictor.core.errors import InputError
from predictor.core.text import plural, printable, shortened
from predictor.presentation.verdict import likelihood
from predictor.presentation.wording import NOTHING, number
from predictor.services.choose.language import (
    LanguageBudget,
    LanguageOption,
    choose_language,
    front,
    language_sentence,
    option_entry,
)
from predictor.services.generation.generate import generate
from predictor.services.models.language import read_language_model
from predictor.services.serving.prices import stated_prices

_SCHEMA = "ctm-language-choice/1"
_OF_NETWORKS = (
    "max_ms",
    "min_fps",
    "min_throughput",
    "max_watts",
    "max_memory_mb",
    "precision",
    "times_batch",
)
_COLUMNS = (
    *("Device", "Runtime", "Weights", "Chance", "First token ms", "Tokens/s"),
    *("J/token", "80 %", "Cost/1e6", "80 %", ""),
)


def run(options: argparse.Namespace, console: Console) -> int:
    """Hold every device against the budget and print the best ones; nothing is stored."""
    for name in _OF_NETWORKS:
        if getattr(options, name):
            option = f"--{name.replace('_', '-')}"
            raise InputError(option, "it is no limit of a language model", "leave it out")
    if len(options.models) > 1 or len(options.runtime) > 1:
        raise InputError(
            "ctm choose", "it takes one language model and one runtime", "leave out the others"
        )
    budget = LanguageBudget(
        options.min_tokens_per_s, options.max_ttft, options.max_joules, options.max_cost
    )
    read = read_language_model(options.models[0])
    request = replace(
        requested_run(options, read),
        runtime=next(iter(options.runtime), ""),
        cards=options.cards,
        pipeline=options.pipeline,
    )
    catalogue = open_catalogue(options, console)
    prices = stated_prices(
        options.price_per_hour, lambda name: catalogue.find(name).id, options.max_cost
    )
    devices = named_devices(options.device, catalogue, console) or list(catalogue.devices)
    devices = [d for d in devices if not options.family or d.family.value in options.family]
    rates = user_rates(options, console, devices, catalogue) if options.own else UserRates()
    measured = tuple(rates.measured.values())
    results = generate(read.architecture, devices, request, measured, rates.probes, read.stored)
    ranked = choose_language(results, budget, prices, options.sort)
    rows = ranked[: options.rows or None]
    is_met = ranked[0].chance >= options.chance
    if options.json:
        best = {id(option) for option in front(ranked)}
        entries = [{**option_entry(row), "on_front": id(row) in best} for row in rows]
        console.document({
            "schema": _SCHEMA, "model": read.architecture.name, "budget": asdict(budget),
            "least_chance": options.chance, "met": is_met, "considered": len(ranked),
            "options": entries,
        })  # fmt: skip
    else:
        console.result(_text(ranked, rows, options.chance))
    return 0 if is_met else BUDGET_MISSED


def _text(
    ranked: Sequence[LanguageOption], rows: Sequence[LanguageOption], min_chance: float
) -> str:
    best = front(ranked)
    table = render_table(_COLUMNS, [_row(row, row in best) for row in rows], "   rrrrrrr ")
    rest = len(ranked) - len(rows)
    more = [f"{plural(rest, 'more device')}; --rows 0 lists all."] if rest else []
    return "\n\n".join([printable(language_sentence(ranked, min_chance)), table, *more])


def _row(option: LanguageOption, on_front: bool) -> list[str]:
    one = option.generation
    remarks = [option.remark] if option.remark else []
    return [
        shortened(one.device.name, NAME_COLUMNS),
        one.runtime,
        one.weights,
        likelihood(option.chance),
        number(one.first_token.median if one.first_token else None),
        number(one.decode_tokens_per_s),
        *_interval(option.joules),
        *_interval(option.cost),
        "; ".join([*remarks, "Pareto front"] if on_front else remarks),
    ]


def _interval(value: tuple[float, float, float] | None) -> tuple[str, str]:
    if value is None:
        return NOTHING, NOTHING
    median, low, high = value
    return number(median), f"{number(low)}-{number(high)}"
