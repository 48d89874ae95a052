"""``ctm generate``: a language model on devices, printed as text or JSON."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from predictor.cli.catalogue import named_devices, open_catalogue
from predictor.cli.console import Console
from predictor.cli.generate.text import generation_text
from predictor.core.errors import CtmError, InputError
from predictor.core.records import Device
from predictor.services.devices.catalogue import Catalogue
from predictor.services.generation.document import generation_document, size_of
from predictor.services.generation.generate import generate
from predictor.services.generation.llama_bench import MAX_TOKENS_PER_S, SUFFIXES, read_bench_rate
from predictor.services.generation.offload import Offload
from predictor.services.generation.probes import DecodeProbe, decode_probes
from predictor.services.generation.records import (
    Generation,
    GenerationRequest,
    MeasuredRate,
)
from predictor.services.generation.token_rates import stored_token_rates
from predictor.services.models.language import LanguageModel, read_language_model
from predictor.services.report.build import report_alone
from predictor.services.report.files import check_report_path, save_report
from predictor.services.report.pdf import report_pdf
from predictor.services.serving.records import LanguageRun
from predictor.services.signatures.user_signatures import stored_signatures

_TOO_SLOW = 1  # exit code
_MEASURED = "--measured"


def run(options: argparse.Namespace, console: Console) -> int:
    """Predict the model on every device and print the result."""
    if options.report:
        check_report_path(Path(options.report))
    if options.card_layers is not None and not options.host:
        raise InputError(
            f"--card-layers {options.card_layers}",
            "the host of the other layers is not named",
            "add --host, such as --host core-i9-10900x",
        )
    read = read_language_model(options.model)
    model = read.architecture
    catalogue = open_catalogue(options, console)
    request = replace(
        requested_run(options, read),
        kv_precision=options.kv_precision or read.kv_precision,
        runtime=options.runtime,
        mode=options.mode,
        clock=options.clock,
        cards=options.cards,
        pipeline=options.pipeline,
    )
    devices = requested_devices(options, catalogue, console)
    stated = _measured(options, catalogue, read, request)
    stored_rates = user_rates(options, console, devices, catalogue) if options.own else UserRates()
    # What is given now takes the place of what is kept of that device.
    measured = {**stored_rates.measured, **stated}
    rates = tuple(measured.values())
    offload = None
    if options.host:
        offload = Offload(catalogue.find(options.host), options.card_layers)
    results = generate(model, devices, request, rates, stored_rates.probes, read.stored, offload)
    min_rate = options.min_tokens_per_s
    if all(result.token is None for result in results) and (
        min_rate is not None or len(results) == 1
    ):
        # Exit code 0 would pass for a rate that nothing has.
        raise InputError(results[0].device.id, results[0].problem, "choose another device")
    if options.report:
        language = LanguageRun(model, request, results)
        report = report_alone([language], (), datetime.now(UTC).astimezone())
        save_report(report, Path(options.report), report_pdf)
    if options.json:
        console.document(generation_document(results))
    else:
        console.result(generation_text(size_of(model), results, with_problems=not options.all))
    return 0 if min_rate is None else _exit_code(results, min_rate)


def requested_run(options: argparse.Namespace, model: LanguageModel) -> GenerationRequest:
    """Return the run of a model by the options of ``run_options``.

    Lengths that were not stated are shorter where the model's context does not hold them.
    """
    usual = GenerationRequest().fitted(model.architecture.max_context)
    return GenerationRequest(
        prompt=options.prompt or usual.prompt,
        new=options.new or usual.new,
        context=options.context,
        batch=options.batch or 1,
        # The user's word, else what an ONNX file has.
        weights=options.weights or model.weights,
        kv_precision=model.kv_precision,
    )


def requested_devices(
    options: argparse.Namespace, catalogue: Catalogue, console: Console
) -> list[Device]:
    """Return the devices that were requested, each once, in that order."""
    devices = named_devices(options.device, catalogue, console)
    if options.all:
        devices += catalogue.devices
    if not devices:
        devices += catalogue.cross_section
    return list({device.id: device for device in devices}.values())


class UserRates(NamedTuple):
    """Measured rates of language models by device, and decode probes, from the store."""

    measured: Mapping[str, MeasuredRate] = MappingProxyType({})
    probes: Sequence[DecodeProbe] = ()


def user_rates(
    options: argparse.Namespace, console: Console, devices: Sequence[Device], catalogue: Catalogue
) -> UserRates:
    """Return what the user measured and probed; a store that fails costs no prediction.

    Args:
        options: the store.
        console: gets the error of the store.
        devices: that are predicted.
        catalogue: all devices; measurements of the others count for the predicted ones too.
    """
    by_id = {device.id: device for device in (*catalogue.devices, *devices)}
    try:
        measured = stored_token_rates(by_id, options.store)
        return UserRates(
            measured, decode_probes(stored_signatures(options.store).measured, devices)
        )
    except CtmError as error:
        console.error(f"ctm: your measurements are left out: {error}")
        return UserRates()


def _measured(
    options: argparse.Namespace,
    catalogue: Catalogue,
    read: LanguageModel,
    request: GenerationRequest,
) -> dict[str, MeasuredRate]:
    """Return the rate of each ``--measured`` by the device's id.

    Raises:
        InputError: one is of no device, no rate, or given twice; a file of llama-bench is wrong.
    """
    rates: dict[str, MeasuredRate] = {}
    for text in options.measured:
        name, separator, value = text.rpartition("=")
        if not separator or not name:
            raise InputError(
                f"{_MEASURED} {text}",
                "it is not of the form DEVICE=TOKENS_PER_S",
                "write rtx3060=55.2",
            )
        device = catalogue.find(name)
        if device.id in rates:
            raise InputError(f"{_MEASURED} {text}", "it is given twice", "leave one out")
        if Path(value).suffix in SUFFIXES:
            rate, run = read_bench_rate(Path(value), read.architecture, request)
        else:
            rate, run = _rate(text, value), request
        rates[device.id] = MeasuredRate(device, rate, read.architecture, run, read.stored)
    return rates


def _rate(text: str, value: str) -> float:
    try:
        rate = float(value)
    except ValueError:
        rate = 0.0
    if not 0 < rate < MAX_TOKENS_PER_S:
        raise InputError(
            f"{_MEASURED} {text}",
            f"{value!r} is no number of tokens a second",
            "write rtx3060=55.2, or the file of llama-bench",
        )
    return rate


def _exit_code(results: Sequence[Generation], min_rate: float) -> int:
    """Return 1 where a device is too slow or too small."""
    slow = [
        result
        for result in results
        if result.token is not None
        and ((result.decode_tokens_per_s or 0) < min_rate or result.fits is False)
    ]
    return _TOO_SLOW if slow else 0
