"""Time of the phases of a decoder on a device by physics.

Time of a token joins works over rates: bytes of weights and KV cache over the bandwidth, weights to
multiply and to unpack over the vector rate, layers to start over the clock. Where attention is not
fused, its query heads have work besides the cache's bytes, which hides behind it in part. A prompt
adds products over the matrix rate and scores that pass through memory; reading the weights and
multiplying them overlap as the root of their squares does (GEMM times of A100 and A40 by rows).
Another sequence in a token costs its share of a product and a time with the host. Of cards that
share each layer every card has its part of the work, and two sums over all cards a layer come on
top. Every coefficient is positive, so a rate that grows never raises a time, nor lowers it by more
than its own factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from predictor.language.machine import Machine
from predictor.language.passes import Floats, Passes
from predictor.language.weights import BITS, FLOAT8, WeightFormat

OVERLAP: Final = 1.3  # exponent of the norm: 1 is the sum, infinity the larger
_NO_TIME: Final = 1e-30  # seconds, for a share of nothing


class Phase(StrEnum):
    """A phase of generation."""

    PREFILL = "prefill"
    DECODE = "decode"


class Group(StrEnum):
    """Formats that are unpacked alike: by bits, and blocks of 256 (k) or of one scale."""

    HALF = "16"
    BYTE = "8"
    BLOCKS = "4"
    SUPER_BLOCKS = "4k"


_HALF_BITS, _BYTE_BITS = 12, 7
_LONG = ("_k", "_s", "_xs", "_xxs", "_m")  # types in blocks of 256 end so


def group_of(form: WeightFormat) -> Group:
    """Return the group of a format, of a format of experts that of the experts.

    Floats of 8 bits are multiplied as halves are, at a rate of their own or unpacked to halves.
    """
    kind = form.name if form.experts else form.matrices
    if kind == FLOAT8:
        return Group.HALF
    bits = BITS[kind]
    if bits >= _BYTE_BITS:
        return Group.HALF if bits >= _HALF_BITS else Group.BYTE
    return Group.SUPER_BLOCKS if kind.endswith(_LONG) else Group.BLOCKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """Multiples of works over rates, each at least 0.

    Attributes:
        bandwidth: of bytes over the bandwidth, at least 1.
        unpack: of weights over the vector rate in decoding, by group.
        cache: of KV bytes over the bandwidth in decoding.
        head_bytes: of the keys and values of query heads over the bandwidth in decoding: those that
            heads share are read again by each.
        head_flops: of attention FLOPs over the vector rate in decoding.
        head_step: thread blocks a score in decoding.
        step: GHz x s a layer, and a thread of processors, in decoding.
        product: of FLOPs over the matrix rate in a prompt, by group.
        scaling: of FLOPs over the vector rate in a prompt, by group: what is unpacked and scaled
            beside the matrix units.
        attention: of attention FLOPs over the matrix rate in a prompt.
        score_bytes: bytes that a score moves in a prompt.
        activation: of activation bytes over the bandwidth in a prompt.
        prompt_step: GHz x s a layer, pass and thread of processors in a prompt.
        head_limit: query heads of all sequences, a die, up to which those of a group read their
            keys and values together; 0 where they never do.
        row: multiple of what a product of a prompt costs, for another sequence in decoding.
        flop: s of an operation of another sequence in decoding, whatever the matrix rate of a card.
        sequence: s of the host for another sequence in decoding.
        reduce_step: multiple of a link's latency in a sum over cards.
        reduce_bytes: multiple of bytes over a link's rate in a sum over cards.
        flow: share of the passes of a prompt that overlap on the cards of a pipeline, at most 1.
    """

    bandwidth: float
    unpack: Mapping[Group, float]
    cache: float
    head_bytes: float
    head_flops: float
    head_step: float
    step: float
    product: Mapping[Group, float]
    scaling: Mapping[Group, float]
    attention: float
    score_bytes: float
    activation: float
    prompt_step: float
    head_limit: float = 0.0
    row: float = 1.0
    flop: float = 0.0
    sequence: float = 0.0
    reduce_step: float = 1.0
    reduce_bytes: float = 1.0
    flow: float = 1.0


class Part(StrEnum):
    """A part of a time; the largest of them binds it."""

    WEIGHTS = "reading the weights"
    CACHE = "reading the KV cache"
    UNPACK = "unpacking and multiplying the weights"
    PRODUCT = "multiplying"
    ATTENTION = "attention"
    ACTIVATION = "moving activations"
    STEP = "launching the layers"
    LINK = "sending weights over the link"
    SEQUENCES = "keeping the sequences"
    REDUCE = "sums over the cards"


def decode_parts(
    passes: Passes, machine: Machine, c: Coefficients, group: Group
) -> dict[Part, Floats]:
    """Return seconds of each pass of one token by part, float64 [P].

    Reading the cache and the work of the query heads overlap as the root of their squares.
    Launching the layers is hidden in part behind their work: the two join as a norm between the sum
    and the larger. Parts are shares of the whole.
    """
    one = c.unpack[group] * passes.weights / machine.vector
    # Another sequence costs its share of a product, or once more what the first one does.
    more = np.minimum(one, c.row * passes.flops * per_flop(machine, c, group))
    more = more + c.flop * passes.flops / machine.parallel
    read = c.cache * passes.kv_bytes / machine.bandwidth
    heads = head_seconds(passes, machine, c)
    attended = np.maximum(np.hypot(read, heads), _NO_TIME)
    work = {
        Part.WEIGHTS: c.bandwidth * passes.weight_bytes / machine.bandwidth,
        Part.CACHE: read * (read / attended),
        Part.ATTENTION: heads * (heads / attended),
        Part.UNPACK: one + (passes.batch - 1) * more,
        Part.SEQUENCES: np.full_like(one, (passes.batch - 1) * c.sequence),
        Part.REDUCE: reduce_seconds(passes, machine, c),
    }
    worked: Floats = np.sum(list(work.values()), axis=0)
    step = np.full_like(one, c.step * passes.layers * machine.threads / machine.clock)
    total = (worked**OVERLAP + step**OVERLAP) ** (1 / OVERLAP)
    share = (worked / total) ** (OVERLAP - 1)
    parts = {part: seconds * share for part, seconds in work.items()}
    return {**parts, Part.STEP: step * (step / total) ** (OVERLAP - 1)}


def head_seconds(passes: Passes, machine: Machine, c: Coefficients) -> Floats:
    """Return the seconds of the query heads of a token, of all sequences, float64 [P]."""
    if passes.fused:
        return np.zeros_like(passes.scores)
    # Keys and values of 16 bits: an operation for a byte.
    a_flop = c.head_bytes / machine.bandwidth + c.head_flops / machine.vector
    a_score = c.head_step / (1e9 * machine.block_rate)
    heads: Floats = passes.batch * (passes.attention_flops * a_flop + passes.scores * a_score)
    return heads * (passes.batch * passes.heads > c.head_limit * machine.dies)


def reduce_seconds(passes: Passes, machine: Machine, c: Coefficients) -> Floats:
    """Return the seconds in which cards sum their parts of the layers, float64 [P].

    Two sums a layer, after attention and after the block; in a ring each card sends and receives
    twice the others' share. A pipeline hands the hidden states on from card to card once.
    """
    cards, link = machine.cards, machine.link
    if cards.count == 1 or link is None:
        return np.zeros_like(passes.exchanged_bytes)
    exchanged = passes.batch * passes.exchanged_bytes
    one = c.reduce_step * link.latency_s + c.reduce_bytes * exchanged / link.bytes_per_s
    if cards.pipeline:
        return (cards.count - 1) * one
    seconds: Floats = 2 * passes.layers * 2 * (1 - 1 / cards.count) * one
    return seconds


def pipeline_share(cards: int, groups: int, passes: int, flow: float) -> float:
    """Return by which factor a pipeline of cards changes the time of a prompt.

    Passes follow each other from card to card, so that cards work at several at once.

    Args:
        cards: of the pipeline.
        groups: of sequences, each with all passes.
        passes: of a group, one after the other.
        flow: share of them that overlap.
    """
    overlapped = (groups + (cards - 1) / passes) / cards
    return flow * overlapped + (1 - flow) * groups


def per_flop(machine: Machine, c: Coefficients, group: Group) -> float:
    """Return the seconds of a floating-point operation in the products of a prompt."""
    return c.product[group] / machine.matrix + c.scaling[group] / machine.vector


def prefill_parts(
    passes: Passes, machine: Machine, c: Coefficients, group: Group
) -> dict[Part, Floats]:
    """Return seconds of each pass of a prompt by part, float64 [P].

    Parts are shares of the whole: of the root of two squares each has its square's share.
    """
    read = c.bandwidth * (passes.weight_bytes + passes.kv_bytes) / machine.bandwidth
    flops = passes.batch * (passes.flops + passes.padding_flops)
    product = flops * per_flop(machine, c, group)
    traffic = c.activation * passes.batch * passes.activation_bytes / machine.bandwidth
    scored = 0.0 if passes.fused else c.score_bytes * passes.scores / machine.bandwidth
    attended = c.attention * passes.attention_flops / machine.matrix + scored
    work = product + traffic
    joined = np.hypot(read, work)
    steps = passes.layers * machine.threads
    share = work / joined
    return {
        Part.WEIGHTS: read * (read / joined),
        Part.PRODUCT: product * share,
        Part.ACTIVATION: traffic * share,
        Part.ATTENTION: passes.batch * attended,
        Part.STEP: np.full_like(read, c.prompt_step * steps / machine.clock),
        Part.REDUCE: reduce_seconds(passes, machine, c),
    }


def attention_share(parts: Mapping[Part, Floats]) -> float:
    """Return the share of attention and its cache in a time."""
    attention = sum(float(parts[p].sum()) for p in (Part.CACHE, Part.ATTENTION) if p in parts)
    return attention / sum(float(part.sum()) for part in parts.values())


def bound(passes: Passes, machine: Machine) -> Floats:
    """Return the least seconds of each pass: all bytes as stated, all FLOPs at the highest rate."""
    traffic = (passes.weight_bytes + passes.kv_bytes) / machine.stated_bandwidth
    work = passes.batch * (passes.flops + passes.attention_flops) / machine.peak
    return np.maximum(traffic, work)
