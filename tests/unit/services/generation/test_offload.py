"""Layers of a language model between a card and its host."""

from __future__ import annotations

import dataclasses

import pytest

from predictor.core.errors import InputError
from predictor.language.products import Kind
from predictor.language.rates import Part
from predictor.language.weights import weight_format
from predictor.services.generation.document import generation_document
from predictor.services.generation.generate import generate
from predictor.services.generation.offload import Offload
from predictor.services.generation.records import Generation, GenerationRequest
from tests.support.decoder_architectures import CATALOGUE, LLAMA

CARD, HOST = CATALOGUE["rtx2080"], CATALOGUE["core-i9-10900x"]
LONG, SHORT = GenerationRequest(prompt=1024, new=64), GenerationRequest(prompt=16, new=64)
FORM = weight_format("q4_k_m")


def split(layers: int | None, request: GenerationRequest = LONG, device=CARD) -> Generation:
    (result,) = generate(LLAMA, [device], request, offload=Offload(HOST, layers))
    return result


def alone(device, request: GenerationRequest = LONG) -> Generation:
    (result,) = generate(LLAMA, [device], request)
    return result


def head_bytes() -> float:
    (head,) = (p for p in LLAMA.products() if p.kind is Kind.HEAD)
    return head.inner * head.columns * FORM.bits(LLAMA, head) / 8


def test_a_token_takes_both_parts_by_their_bytes() -> None:
    """The head stays with the host until all layers are on the card."""
    half = split(LLAMA.layers // 2)
    head, total = head_bytes(), FORM.model_bytes(LLAMA) - FORM.host_bytes(LLAMA)
    share = (head + (total - head) / 2) / total

    expected = share * alone(HOST).token.median + (1 - share) * alone(CARD).token.median
    assert half.token.median == pytest.approx(expected)
    assert half.memory.weights == pytest.approx((total - head) / 2)
    assert half.memory.cache == pytest.approx(alone(CARD).memory.cache / 2)


def test_more_layers_on_the_card_are_never_slower_and_all_are_no_split() -> None:
    results = [split(layers) for layers in range(0, LLAMA.layers + 1, 4)]
    times = [result.token.median for result in results]

    assert times == sorted(times, reverse=True)
    assert results[-1].split is None
    assert results[-1] == split(99) == alone(CARD)
    assert [result.split.card_layers for result in results[:-1]] == [*range(0, LLAMA.layers, 4)]


def test_as_many_layers_as_the_card_holds() -> None:
    memory = alone(CARD).memory.total / 2**30
    small = dataclasses.replace(CARD, metrics={**CARD.metrics, "dram_gb": 0.6 * memory})
    fitting = split(None, device=small)

    assert fitting.fits
    assert 0 < fitting.split.card_layers < LLAMA.layers
    assert not split(fitting.split.card_layers + 1, device=small).fits
    assert split(None).split is None, "it holds all"


def test_a_host_without_the_memory_does_not_hold_it() -> None:
    poor = dataclasses.replace(HOST, metrics={**HOST.metrics, "dram_gb": 1})
    (result,) = generate(LLAMA, [CARD], LONG, offload=Offload(poor, 4))
    assert result.fits is False


def test_a_long_prompt_runs_on_the_card_with_weights_sent_for_each_pass() -> None:
    half, whole = split(LLAMA.layers // 2), alone(CARD)
    sent = (FORM.model_bytes(LLAMA) - FORM.host_bytes(LLAMA) - head_bytes()) / 2

    sent_ms = 2 * 1000 * sent / (CARD.metrics["host_link_gbps"] * 1e9)
    assert half.first_token.median == pytest.approx(whole.first_token.median + sent_ms)
    assert Part.LINK in half.first_token.shares
    assert sum(half.first_token.shares.values()) == pytest.approx(1)


def test_a_short_prompt_passes_the_layers_where_they_are() -> None:
    half = split(LLAMA.layers // 2, SHORT).first_token
    on_card, on_host = (alone(device, SHORT).first_token for device in (CARD, HOST))
    assert Part.LINK not in half.shares
    assert on_card.median < half.median < on_host.median


@pytest.mark.parametrize("device", ["rpi5", "apple-m2-gpu", "hailo-8"])
def test_what_has_no_memory_of_its_own_is_not_split(device: str) -> None:
    assert split(4, device=CATALOGUE[device]) == alone(CATALOGUE[device])


def test_a_host_is_a_processor() -> None:
    with pytest.raises(InputError, match="is no processor"):
        generate(LLAMA, [CARD], LONG, offload=Offload(CARD))


def test_the_document_names_the_host() -> None:
    plain, half = generation_document([alone(CARD), split(8)])["results"]
    assert (plain["host"], plain["card_layers"]) == (None, None)
    assert (half["host"], half["card_layers"]) == ("core-i9-10900x", 8)
    assert half["host_memory_mb"] + half["memory_mb"] == pytest.approx(plain["memory_mb"])
