"""``ctm serve``: a load on a language model on devices, printed as text or JSON."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from predictor.cli.catalogue import open_catalogue
from predictor.cli.console import Console
from predictor.cli.generate.command import UserRates, requested_devices, user_rates
from predictor.cli.serve.text import serving_text
from predictor.core.errors import InputError
from predictor.services.devices.catalogue import Catalogue
from predictor.services.generation.document import size_of
from predictor.services.generation.records import GenerationRequest
from predictor.services.models.language import LanguageModel, read_language_model
from predictor.services.serving.document import serving_document
from predictor.services.serving.prices import stated_prices
from predictor.services.serving.records import Limits, Load, Serving, Speculation
from predictor.services.serving.serve import Measured, serve
from predictor.services.serving.trace import read_trace

_MISSED = 1  # exit code


def run(options: argparse.Namespace, console: Console) -> int:
    """Serve the load on every device and print the result."""
    read = read_language_model(options.model)
    catalogue = open_catalogue(options, console)
    load = _load(options, read, catalogue)
    devices = requested_devices(options, catalogue, console)
    stored = user_rates(options, console, devices, catalogue) if options.own else UserRates()
    measured = Measured(tuple(stored.measured.values()), stored.probes)
    results = serve(read.architecture, devices, load, measured, read.stored)
    if len(results) == 1 and results[0].generation.token is None:
        raise InputError(results[0].device.id, results[0].problem, "choose another device")
    if options.json:
        console.document(serving_document(results))
    else:
        console.result(serving_text(size_of(read.architecture), results))
    return _exit_code(results)


def _load(options: argparse.Namespace, read: LanguageModel, catalogue: Catalogue) -> Load:
    """Return the load by the options.

    Raises:
        InputError: there is none, or options contradict each other.
    """
    trace = read_trace(options.trace) if options.trace else ()
    if trace and (options.prompt or options.new):
        raise InputError("--trace", "it states the lengths", "leave out --prompt and --new")
    prices = stated_prices(
        options.price_per_hour, lambda name: catalogue.find(name).id, options.max_cost
    )
    usual = GenerationRequest().fitted(read.architecture.max_context)
    run = GenerationRequest(
        prompt=options.prompt or usual.prompt,
        new=options.new or usual.new,
        weights=options.weights or read.weights,
        kv_precision=options.kv_precision or read.kv_precision,
        runtime=options.runtime,
        mode=options.mode,
        clock=options.clock,
        cards=options.cards,
        pipeline=options.pipeline,
    )
    return Load(
        run=run,
        rate_per_s=options.rate or 0.0,
        trace=trace,
        limits=Limits(
            options.slo_ttft,
            options.slo_tpot,
            options.slo_share,
            options.max_joules,
            options.max_cost,
        ),
        price_per_hour=prices.usual,
        prices=prices.of_device,
        max_sequences=options.max_sequences,
        chunk=options.chunked_prefill,
        prefix_hit=options.prefix_hit,
        speculation=_speculation(options),
        requests=options.requests,
        seed=options.seed,
    )


def _speculation(options: argparse.Namespace) -> Speculation | None:
    if options.draft_tokens is None or options.acceptance is None:
        if options.draft or options.draft_tokens or options.acceptance is not None:
            raise InputError(
                "--draft-tokens",
                "speculative decoding needs the number of drafted tokens and their acceptance",
                "write --draft-tokens 4 --acceptance 70",
            )
        return None
    model = read_language_model(options.draft).architecture if options.draft else None
    return Speculation(options.draft_tokens, options.acceptance, model)


def _exit_code(results: Sequence[Serving]) -> int:
    """Return 1 where a device does not serve the load, or not within its limits."""
    return 0 if all(result.problem or result.holds for result in results) else _MISSED
