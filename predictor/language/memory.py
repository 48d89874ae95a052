"""Memory of a language model at a context, and the longest context that a device holds.

Weights, the KV cache of every sequence, and the buffers of one pass. What a device gives to them is
less than it has: the system, drivers and a display keep some of it.

References:
    llama.cpp reserves buffers for a pass of 512 tokens (``n_ubatch``) with the logits of each in
    float32; with flash attention they log as 258.50 MiB for Llama 3 8B, 70.50 MiB for Llama 2 7B
    and 304.75 MiB for Qwen3 30B A3B, which ``working_bytes`` meets within 2 %.
    Metal's recommendedMaxWorkingSetSize as llama.cpp logs it: 10.67 GiB of 16, 21.33 of 32, 27 of
    36, 48 of 64, 72 of 96.
    vLLM takes 0.9 of a graphics card's memory (``gpu_memory_utilization``).
    Memory is sold by powers of two: NVIDIA's driver shows 16 376 MiB of an RTX 4080 with 16 GB, and
    Metal's shares above are of GiB.
    llama.cpp keeps the table of input tokens in the host's memory: loading Llama 3 8B in Q4_K_M, it
    logs 281.81 MiB of it as a CPU buffer.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Final, NamedTuple

from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.core.units import GIB
from predictor.cost.rates.facts import link_bandwidth
from predictor.language.architecture import DecoderArchitecture
from predictor.language.cards import ONE_CARD, Cards, cache_copies
from predictor.language.modules import STATE_BYTES
from predictor.language.weights import WeightFormat
from predictor.presentation.wording import percent

_PASS_TOKENS: Final = 512
_OF_A_CARD: Final = 0.9
# Metal's share, from the memory that it begins with.
_OF_SHARED: Final = 3 / 4
_OF_SMALL_APPLE: Final = 2 / 3
_LARGE_APPLE: Final = 36 * GIB
_GRAPHICS: Final = frozenset({Family.GPU, Family.MOBILE_GPU})


class Memory(NamedTuple):
    """Bytes that a model takes while it generates.

    Attributes:
        weights: those that the device holds, in their format.
        cache: keys and values of all sequences at the context, and their states.
        working: buffers of one pass.
    """

    weights: float
    cache: float
    working: float

    @property
    def total(self) -> float:
        """Bytes of all three."""
        return sum(self)


class UsableMemory(NamedTuple):
    """Bytes of a device that a model may take, and the assumption in a sentence."""

    bytes: float
    assumption: str


def memory_of(
    model: DecoderArchitecture,
    weights: WeightFormat,
    context: int,
    batch: int = 1,
    kv_bits: float = 16,
    *,
    table_on_host: bool = False,
) -> Memory:
    """Return the memory of a model that generates.

    Args:
        model: the decoder.
        weights: format of its weights.
        context: tokens of each sequence, prompt and answer together.
        batch: sequences at once.
        kv_bits: bits of one element of the cache.
        table_on_host: whether the table of input tokens stays with the host; a tied one does not,
            since the head needs it.
    """
    weight_bytes = _weight_bytes(model, weights, table_on_host)
    return Memory(weight_bytes, *_run_bytes(model, context, batch, kv_bits))


def card_memory(model: DecoderArchitecture, memory: Memory, cards: Cards) -> Memory:
    """Return the memory of a card among several; of a pipeline that of the one with most layers."""
    part = 1 / cards.count
    if cards.pipeline:
        part = math.ceil(model.layers / cards.count) / model.layers
    return Memory(
        part * memory.weights, part * memory.cache * cache_copies(model, cards), memory.working
    )


def _weight_bytes(model: DecoderArchitecture, weights: WeightFormat, table_on_host: bool) -> float:
    on_host = weights.host_bytes(model) if table_on_host else 0.0
    return weights.model_bytes(model) - on_host


def _run_bytes(
    model: DecoderArchitecture, context: int, batch: int, kv_bits: float
) -> tuple[float, float]:
    """Return the bytes of the cache and of the buffers, which grow with the context."""
    cache = batch * (
        model.kv_elements(context) * kv_bits / 8 + STATE_BYTES * model.state_elements()
    )
    return cache, working_bytes(model, context, batch)


def working_bytes(model: DecoderArchitecture, context: int, batch: int = 1) -> float:
    """Return the bytes of the buffers of one pass, in float32, with flash attention."""
    blocks = (2 if model.gated else 1) * max(
        model.feed_forward, model.experts_per_token * model.expert_feed_forward
    )
    mixed = model.heads * model.head_dim + 2 * model.kv_width
    modules = (matrix.columns for module in model.modules for matrix in module.matrices)
    widest = max(model.vocabulary, blocks, mixed, *modules)
    frames = model.encoder.frames if model.encoder else 0
    # An encoder passes all its frames at once, its hidden layer the widest.
    encoder = frames * (model.encoder.feed_forward + model.hidden) if model.encoder else 0
    tokens = min(_PASS_TOKENS, context * batch)
    return 4.0 * max(tokens * (widest + model.hidden), encoder)


def is_card(device: Device) -> bool:
    """Whether a device has memory of its own: it has a link to its host."""
    return device.family is Family.GPU and link_bandwidth(device) is not None


def usable_memory(device: Device, published_bytes: float = 0) -> UsableMemory | None:
    """Return the memory that a device gives to a model; None where its memory is not known.

    Args:
        device: the device.
        published_bytes: most bytes that a published run took of it.
    """
    stated = device.memory_bytes
    if stated is None:
        return None
    share, why = _share(device, stated)
    if published_bytes > share * stated:
        sentence = f"a published run took {published_bytes / GIB:.3g} of its {stated / GIB:g} GiB"
        return UsableMemory(min(published_bytes, stated), sentence)
    return UsableMemory(share * stated, f"{percent(share, 2)} of {why}")


def _share(device: Device, stated: float) -> tuple[float, str]:
    """Return the share of ``stated`` bytes that models may take, and of what in words."""
    if is_card(device):
        return _OF_A_CARD, f"the card's {stated / GIB:g} GiB, as vLLM takes of a card"
    apple = device.vendor == "Apple" and device.family in _GRAPHICS
    why = "as Metal recommends" if apple else "the rest stays with the system"
    share = _OF_SMALL_APPLE if apple and stated < _LARGE_APPLE else _OF_SHARED
    return share, f"the {stated / GIB:g} GiB that it shares with the system, {why}"


def longest_context(
    model: DecoderArchitecture,
    weights: WeightFormat,
    usable_bytes: float,
    batch: int = 1,
    kv_bits: float = 16,
    *,
    table_on_host: bool = False,
    cards: Cards = ONE_CARD,
) -> int:
    """Return the longest context that fits, at most the model's own; 0 where none does."""
    weight_bytes = _weight_bytes(model, weights, table_on_host)

    def total(context: int) -> float:
        memory = Memory(weight_bytes, *_run_bytes(model, context, batch, kv_bits))
        return card_memory(model, memory, cards).total

    # Memory grows with the context, so that the contexts that fit come first.
    return bisect_right(range(1, model.max_context + 1), usable_bytes, key=total)
