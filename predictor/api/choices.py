"""Hardware for a budget: ``choose``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from predictor.api.generation import rates_of
from predictor.api.models import reader
from predictor.api.predictions import Store, context_of
from predictor.api.tables import Table
from predictor.api.targets import Requested, catalogue, devices_of
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device, Precision
from predictor.core.run_facts import MEDIAN
from predictor.services.choose.choice import Choice, Option
from predictor.services.choose.choose import EVEN
from predictor.services.choose.choose import choose as judge
from predictor.services.choose.language import (
    LanguageBudget,
    LanguageOption,
    choose_language,
    front,
    language_sentence,
    option_entry,
)
from predictor.services.choose.options import BATCHES, Budget, Wanted, options_of
from predictor.services.generation.generate import generate
from predictor.services.generation.probes import decode_probes
from predictor.services.generation.records import GenerationRequest
from predictor.services.models.files import names_language_model
from predictor.services.models.language import LanguageModel, read_language_model
from predictor.services.serving.prices import Prices, stated_prices
from predictor.services.signatures.user_signatures import stored_signatures


class Choices(Table):
    """Devices ranked by the chance that all models keep a budget there, a row a device.

    Attributes:
        choice: all options with their chances; None of a language model.
        language: those of a language model, the best first; none of other models.
        sentence: the answer in words.
    """

    def __init__(
        self,
        rows: Sequence[dict[str, object]],
        sentence: str,
        choice: Choice | None = None,
        language: Sequence[LanguageOption] = (),
    ) -> None:
        self.choice, self.language, self.sentence = choice, tuple(language), sentence
        super().__init__(rows)

    def _repr_html_(self) -> str:
        return f"<p>{self.sentence}</p>{super()._repr_html_()}"


def _row(option: Option) -> dict[str, object]:
    prediction = option.prediction
    return {
        "device": option.target.device.id,
        "runtime": prediction.configuration.runtime,
        "precision": prediction.configuration.precision.value,
        "threads": prediction.configuration.threads,
        "batch": prediction.configuration.batch,
        "mode": option.mode and option.mode.name,
        "chance": option.chance,
        "latency_ms": prediction.latency_ms,
        "low80_ms": prediction.low80_ms,
        "high80_ms": prediction.high80_ms,
        "items_per_s": option.rate and option.rate.per_s,
        "watts": option.watts,
        "memory_mb": option.memory_mb,
        "on_front": option.on_front,
        "remark": option.remark or None,
    }


def choose(
    models: Any,
    *,
    max_ms: float | None = None,
    min_fps: float | None = None,
    min_throughput: float | None = None,
    max_watts: float | None = None,
    max_memory_mb: float | None = None,
    percentile: int = MEDIAN,
    chance: float = EVEN,
    devices: str | Device | Sequence[str | Device] | None = None,
    runtimes: Sequence[str] = (),
    precisions: Sequence[str] = (),
    families: Sequence[str] = (),
    min_tokens_per_s: float | None = None,
    max_ttft_ms: float | None = None,
    max_joules: float | None = None,
    max_cost: float | None = None,
    price_per_hour: float | Mapping[str, float] = 0.0,
    prompt: int | None = None,
    new: int | None = None,
    batch: int = 1,
    weights: str = "",
    cards: int = 1,
    store: Store = None,
) -> Choices:
    """Rank hardware by the chance that every model keeps a budget on it, as ``ctm choose`` does.

    A language model (a ``config.json``, its folder or a GGUF file) has limits of its own.

    Args:
        models: models of ``load`` or what it takes, alone or in a list; or one language model.
        max_ms: latency of one run.
        min_fps: items a second of one run after the other.
        min_throughput: items a second with as many runs at once as the runtime would choose.
        max_watts: power that the device is stated to draw.
        max_memory_mb: weights and activations, in 1e6 bytes.
        percentile: of the runs that have to keep ``max_ms``: 50, 90 or 99.
        chance: from which an option meets the budget, 0 to 1.
        devices: to choose from; None for all shipped ones.
        runtimes: to choose from; empty for all.
        precisions: to choose from; empty for all.
        families: kinds of device, such as ``gpu``; empty for all.
        min_tokens_per_s: new tokens a second of a language model.
        max_ttft_ms: to its first token.
        max_joules: of a new token.
        max_cost: of a million new tokens.
        price_per_hour: of one card of every device, or by the device's id.
        prompt: tokens of its prompt; None for 512, or half of a shorter context.
        new: tokens after it; None for 128, or a quarter of a shorter context.
        batch: sequences at once.
        weights: format of its weights; empty for that of the file, else the usual one.
        cards: that share it.
        store: of what you measured before.

    Raises:
        InputError: an argument is wrong, the budget has no limit, or no option has a number.
        HostError: the reader of model files cannot be started.
    """
    path = None if store is None else Path(store)
    of_language = (min_tokens_per_s, max_ttft_ms, max_joules, max_cost)
    if isinstance(models, str | os.PathLike) and names_language_model(os.fspath(models)):
        of_networks = (max_ms, min_fps, min_throughput, max_watts, max_memory_mb, *precisions)
        _check_none(of_networks, "max_ms and others are no limits of a language model")
        all_devices = catalogue(path).devices if devices is None else devices_of(devices, path)
        read = read_language_model(models, reader())
        usual = GenerationRequest().fitted(read.architecture.max_context)
        request = GenerationRequest(
            prompt=prompt or usual.prompt,
            new=new or usual.new,
            batch=batch,
            weights=weights or read.weights,
            kv_precision=read.kv_precision,
            runtime=next(iter(runtimes), ""),
            cards=cards,
        )
        return _of_language(
            read,
            [d for d in all_devices if not families or d.family.value in families],
            LanguageBudget(*of_language),
            _prices(price_per_hour, max_cost, path),
            request,
            chance,
            path,
        )
    _check_none(of_language, "min_tokens_per_s and others are limits of a language model")
    budget = Budget(
        max_ms=max_ms,
        min_fps=min_fps,
        max_watts=max_watts,
        max_memory_mb=max_memory_mb,
        percentile=percentile,
        min_throughput=min_throughput,
    )
    try:
        wanted = Wanted(
            tuple(runtimes), tuple(map(Precision, precisions)), tuple(map(Family, families))
        )
    except ValueError as error:
        raise InputError("ctm.choose", str(error), "see `ctm choose --help`") from error
    with context_of(models, (), Requested(), store=store) as (context, user_store):
        chosen = devices_of(devices, path) if devices is not None else catalogue(path).devices
        options = options_of(chosen, wanted, (1,) if min_fps is None else BATCHES)
        choice = judge(
            context.models,
            options,
            budget,
            min_chance=chance,
            measurements=context.measurements,
            measured=user_store.signatures(options.targets),
            devices=context.devices,
        )
    rows = [_row(option) for option in choice.options_at(choice.of_devices)]
    return Choices(rows, choice.sentence, choice)


def _check_none(limits: Sequence[object], reason: str) -> None:
    if any(limit is not None for limit in limits):
        raise InputError("ctm.choose", reason, "see `help(ctm.choose)`")


def _prices(
    price_per_hour: float | Mapping[str, float], max_cost: float | None, store: Path | None
) -> Prices:
    """Return the prices of a number, or of numbers by device."""
    if isinstance(price_per_hour, Mapping):
        texts = [f"{name}={price}" for name, price in price_per_hour.items()]
    else:
        texts = [str(price_per_hour)] if price_per_hour else []
    return stated_prices(texts, lambda name: catalogue(store).find(name).id, max_cost)


def _of_language(
    read: LanguageModel,
    chosen: Sequence[Device],
    budget: LanguageBudget,
    prices: Prices,
    request: GenerationRequest,
    chance: float,
    store: Path | None,
) -> Choices:
    """Rank devices for a language model."""
    rates = rates_of(read, request, chosen, {}, store)
    probes = decode_probes(stored_signatures(store).measured, chosen)
    results = generate(read.architecture, chosen, request, rates, probes, read.stored)
    options = choose_language(results, budget, prices)
    best = front(options)
    rows = [{**option_entry(option), "on_front": option in best} for option in options]
    return Choices(rows, language_sentence(options, chance), language=options)
