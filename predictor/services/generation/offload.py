"""Layers of a language model split between a card and its host, as llama.cpp splits them.

The card has the last layers, the host the others and the head; a token passes the layers one after
the other, so the times of both add up. Of a prompt of 32 tokens or more llama.cpp multiplies the
host's layers on the card too, and sends their weights over the link for each pass.

References:
    llama.cpp, ``--n-gpu-layers``: a head goes to the card with all layers alone;
    ggml-cuda, ``GGML_OP_OFFLOAD_MIN_BATCH``: 32 tokens.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.core.runtimes import CPUS
from predictor.core.text import printable
from predictor.cost.rates.facts import link_bandwidth
from predictor.language.architecture import DecoderArchitecture
from predictor.language.memory import Memory, is_card
from predictor.language.products import Kind
from predictor.language.rates import Part
from predictor.language.runtimes import LANGUAGE_RUNTIMES, LLAMA_CPP
from predictor.language.weights import WeightFormat
from predictor.services.generation.records import Generation, Interval, Split

_MIN_PASS_TOKENS: Final = 32  # of a pass that the card computes for the host


@dataclass(frozen=True, slots=True)
class Offload:
    """A request to split a model.

    Attributes:
        host: processor beside the cards.
        card_layers: on the card; None for as many as its memory holds.
    """

    host: Device
    card_layers: int | None = None


def split_with_host(
    model: DecoderArchitecture,
    form: WeightFormat,
    on_devices: Sequence[Generation],
    on_host: Generation,
    offload: Offload,
) -> list[Generation]:
    """Return the run on devices, split with the host on cards under llama.cpp.

    Args:
        model: the decoder.
        form: format of its weights under llama.cpp.
        on_devices: the run on each device alone.
        on_host: the run on the host alone.
        offload: the host, and how many layers the cards have.

    Returns:
        One entry a device, in their order; those without a card and those that hold all layers are
        not split.

    Raises:
        InputError: the host is no processor or cannot run the model.
    """
    host = offload.host
    if host.family not in CPUS:
        raise InputError(
            f"--host {host.id}",
            f"{printable(host.name)} is no processor",
            "name the processor beside the card, such as core-i9-10900x",
        )
    if on_host.token is None:
        raise InputError(f"--host {host.id}", on_host.problem, "name another processor")
    return [
        _split(model, form, result, on_host, offload) if _can_split(result) else result
        for result in on_devices
    ]


def _can_split(result: Generation) -> bool:
    is_llama_cpp = result.runtime.startswith(LLAMA_CPP)
    return is_card(result.device) and is_llama_cpp and result.token is not None


def _split(
    model: DecoderArchitecture,
    form: WeightFormat,
    on_card: Generation,
    on_host: Generation,
    offload: Offload,
) -> Generation:
    """Return the run on a card and the host; that on the card alone where it holds all layers."""
    if offload.card_layers is None and on_card.fits is not False:
        return on_card
    layers = offload.card_layers
    if layers is None:
        layers = _fitting_layers(model, form, on_card)
    if layers >= model.layers:
        return on_card
    share = _host_share(model, form, layers)
    memory = _card_memory(model, form, on_card.memory, layers)
    host_bytes = on_card.memory.total - memory.total
    _, of_layers = _head_and_layers(model, form)
    first = _prompt(on_card, on_host, share, of_layers * (1 - layers / model.layers))
    return replace(
        on_card,
        first_token=first,
        token=_joined(on_card.token, on_host.token, share),
        memory=memory,
        longest_context=None,
        split=Split(on_host.device, layers, model.layers, host_bytes, on_host.usable),
        evidence=f"{on_card.evidence}; host: {on_host.evidence}",
    )


def _fitting_layers(model: DecoderArchitecture, form: WeightFormat, result: Generation) -> int:
    """Return the number of layers that a card holds, with their part of the cache."""
    usable = math.inf if result.usable is None else result.usable.bytes
    fitting = (
        layers
        for layers in range(model.layers, 0, -1)
        if _card_memory(model, form, result.memory, layers).total <= usable
    )
    return next(fitting, 0)


def _host_share(model: DecoderArchitecture, form: WeightFormat, layers: int) -> float:
    """Return the part of the bytes that a token reads which lie with the host: its layers, head."""
    head, rest = _head_and_layers(model, form)
    return (head + rest * (1 - layers / model.layers)) / (head + rest)


def _head_and_layers(model: DecoderArchitecture, form: WeightFormat) -> tuple[float, float]:
    """Return the bytes of the head, its own or a tied table's, and those of all layers."""
    head = sum(
        product.inner * product.columns * form.bits(model, product) / 8
        for product in model.products()
        if product.kind is Kind.HEAD
    )
    stored_head = 0.0 if model.tied_embeddings else head
    tables = head if model.tied_embeddings else form.host_bytes(model)
    return head, form.model_bytes(model) - stored_head - tables


def _card_memory(
    model: DecoderArchitecture, form: WeightFormat, memory: Memory, layers: int
) -> Memory:
    """Return the memory of the layers on a card."""
    part = layers / model.layers
    _, of_layers = _head_and_layers(model, form)
    return Memory(of_layers * part, memory.cache * part, memory.working)


def _joined(card: Interval | None, host: Interval | None, share: float) -> Interval | None:
    """Return the time of a token that passes the host's share and the card's rest."""
    if card is None or host is None:
        return None
    shares: dict[Part, float] = {}
    for interval, part in ((card, 1 - share), (host, share)):
        for name, of_time in interval.shares.items():
            shares[name] = shares.get(name, 0.0) + of_time * part * interval.median
    median = (1 - share) * card.median + share * host.median
    return Interval(
        median=median,
        low=(1 - share) * card.low + share * host.low,
        high=(1 - share) * card.high + share * host.high,
        bound=(1 - share) * card.bound + share * host.bound,
        shares=_normalised(shares, median),
    )


def _normalised(seconds: Mapping[Part, float], total: float) -> dict[Part, float]:
    largest = sorted(seconds.items(), key=lambda item: -item[1])
    return {part: time / total for part, time in largest}


def _prompt(card: Generation, host: Generation, share: float, host_bytes: float) -> Interval | None:
    """Return the time to the first token: by the card alone with weights sent, or by both."""
    request, link = card.request, link_bandwidth(card.device)
    tokens = request.prompt * request.batch
    split = _joined(card.first_token, host.first_token, share)
    if tokens < _MIN_PASS_TOKENS or link is None or card.first_token is None or split is None:
        return split
    passes = math.ceil(tokens / LANGUAGE_RUNTIMES[card.runtime].micro_batch)
    sent_ms = 1000 * passes * host_bytes / link
    on_card = card.first_token
    shares = {name: part * on_card.median for name, part in on_card.shares.items()}
    shares[Part.LINK] = sent_ms
    median = on_card.median + sent_ms
    return Interval(
        median=median,
        low=on_card.low + sent_ms,
        high=on_card.high + sent_ms,
        bound=min(on_card.bound + sent_ms, split.bound),
        shares=_normalised(shares, median),
    )
