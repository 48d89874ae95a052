"""The architecture behind the operators of a decoder in an ONNX file.

It follows from the shapes of products with weights, so that fused and plain operators, float and
4-bit weights read alike. Norms and biases are not distinguished: they are under a thousandth of a
model.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from predictor.core.errors import InputError
from predictor.graph.model import Model
from predictor.graph.operators import DTYPE_BITS
from predictor.language.architecture import DecoderArchitecture
from predictor.language.inputs import InputRoles, input_roles, logits_of

UNSTATED_CONTEXT: Final = 131_072
"""Longest context that is taken where nothing states one: ONNX files do not."""

_FUSED: Final = frozenset({"GroupQueryAttention", "MultiHeadAttention", "Attention"})
_EXPERTS: Final = frozenset({"MoE", "QMoE"})
_GATED: Final = frozenset({"silu", "swiglu"})
_MAX_EXPERTS = 4096
_MAX_HEADS = 4096
_KV_PRECISIONS: Final = {
    "float32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "int8": "int8",
    "uint8": "int8",
}
_MIN_INNER = 8  # K of a product with weights; angles of positions are made with a K of 1

Shapes: TypeAlias = Counter[tuple[int, int]]
"""Number of products by (K, N)."""


@dataclass(frozen=True, slots=True)
class RecognisedDecoder:
    """What an ONNX file shows of its decoder.

    Attributes:
        architecture: recovered from its operators.
        weights: name of the format that its weights have.
        kv_precision: of its cache, as users name it; empty where the file states none.
    """

    architecture: DecoderArchitecture
    weights: str
    kv_precision: str


def recognise(model: Model) -> RecognisedDecoder | None:
    """Return the decoder of a file that was ingested; None where it is none.

    Args:
        model: at any binding of at least one token.

    Raises:
        InputError: it is a decoder, but its operators are of no architecture that is known.
    """
    roles = input_roles(model)
    if roles is None:
        return None
    return _Recovery(model, roles).decoder()


class _Attention(NamedTuple):
    """Heads of the attention of all layers, and the number of layers that have it."""

    layers: int
    heads: int
    kv_heads: int
    head_dim: int


class _Recovery:
    """Recovers the architecture of one model from the shapes of its products."""

    def __init__(self, model: Model, roles: InputRoles) -> None:
        self._model, self._roles, self._graph = model, roles, model.graph
        self._kinds = [op.rpartition("::")[2] for op in self._graph.op_types]
        inputs = [i for i in model.inputs if i.name in roles.cache]
        made = [o for o in model.outputs if o.name.startswith("present") and len(o.shape) >= 4]
        self._cache = next(iter([*inputs, *made]), None)
        ids = next(i for i in model.inputs if i.name == roles.ids)
        self._tokens = max(math.prod(ids.shape), 1)

    def decoder(self) -> RecognisedDecoder:
        """Return the decoder.

        Raises:
            InputError: see :func:`recognise`.
        """
        if self._roles.crosses:
            raise self._unknown("it attends to an encoder")
        head = self._head()
        attention = self._attention()
        layers = [i for i in self._weighted() if i != head]
        gemm = self._graph.gemm
        hidden, vocabulary = int(gemm[head, 3]), int(gemm[head, 2])
        bare = DecoderArchitecture(
            name=Path(self._model.path).stem,
            family="onnx",
            layers=attention.layers,
            hidden=hidden,
            heads=attention.heads,
            kv_heads=attention.kv_heads,
            head_dim=attention.head_dim,
            feed_forward=0,
            vocabulary=vocabulary,
            max_context=UNSTATED_CONTEXT,
            gated=False,
            tied_embeddings=self._is_tied([*layers, head], vocabulary * hidden),
            norm_biases="LayerNormalization" in self._kinds,
        )
        shapes = Counter((int(gemm[i, 3]), int(gemm[i, 2])) for i in layers)
        model = self._with_matrices(bare, shapes)
        return RecognisedDecoder(model, self._format(self._bits(layers)), self._kv_precision())

    def _unknown(self, reason: str) -> InputError:
        return InputError(
            self._model.path,
            f"its decoder is not recognised: {reason}",
            "give the config.json that it was exported from",
        )

    def _stated(self, place: int, name: str, default: int = 0) -> int:
        """Return a whole number among an operator's attributes, which nobody vouches for."""
        value = json.loads(self._graph.attributes[place]).get(name)
        return value if isinstance(value, int) else default

    def _weighted(self) -> list[int]:
        """Products with weights; a product of angles has but a handful."""
        graph = self._graph
        sized = graph.gemm[:, 3] >= _MIN_INNER
        plain = (graph.gemm[:, 0] == 1) & (graph.weight_bytes > 0) & sized
        fused = np.array([kind in _FUSED | _EXPERTS for kind in self._kinds])
        return [int(i) for i in np.flatnonzero(plain & ~fused)]

    def _head(self) -> int:
        logits = logits_of(self._model, bool(self._roles.cache))
        vocabulary = logits.shape[-1] if logits else 0
        heads = [i for i in self._weighted() if self._graph.gemm[i, 2] == vocabulary]
        if not heads:
            raise self._unknown(f"no product has the {vocabulary} columns of its logits")
        return heads[-1]

    def _attention(self) -> _Attention:
        fused = [i for i, kind in enumerate(self._kinds) if kind in _FUSED]
        places = fused or list(self._attention_pairs())
        if not places:
            raise self._unknown("it has no attention")
        groups, rows, _, size = self._graph.gemm[places[0]].tolist()
        # Heads that share one key head may be its rows.
        heads = self._stated(places[0], "num_heads") or groups * rows // self._tokens
        kv_heads = self._stated(places[0], "kv_num_heads")
        # Fused attention counts its two products as one of both widths.
        size = size // 2 if fused else size
        if self._cache is not None:
            kv_heads, size = self._cache.shape[-3], self._cache.shape[-1]
        if not 0 < heads <= _MAX_HEADS:
            raise self._unknown(f"its attention has {heads} heads")
        return _Attention(len(places), heads, kv_heads, size)

    def _attention_pairs(self) -> Iterator[int]:
        """Products of queries by keys that a product of their result by values follows."""
        graph = self._graph
        bare = (graph.gemm[:, 0] > 0) & (graph.weight_bytes == 0)
        rows = [int(i) for i in np.flatnonzero(bare)]
        skip = False
        for first, second in pairwise(rows):
            (g, m, n, k), (h, p, q, r) = graph.gemm[first].tolist(), graph.gemm[second].tolist()
            if not skip and (g, m, n, k) == (h, p, r, q):
                yield first
                skip = True
            else:
                skip = False

    def _with_matrices(self, bare: DecoderArchitecture, shapes: Shapes) -> DecoderArchitecture:
        """Explain the counted (K, N) of all products by projections and feed-forward blocks.

        Shapes may fit by chance: the explanation that leaves fewest products over is taken.
        """
        stated = [bare.kv_heads] if bare.kv_heads else range(bare.heads, 0, -1)
        shared = [kv_heads for kv_heads in stated if bare.heads % kv_heads == 0]
        explained = [
            (sum(left.values()), model)
            for kv_heads in shared
            for rest in _without_projections(replace(bare, kv_heads=kv_heads), shapes)
            for model, left in self._with_feed_forward(replace(bare, kv_heads=kv_heads), rest)
        ]
        if not explained:
            raise self._unknown("its products have other shapes")
        return min(explained, key=lambda explanation: explanation[0])[1]

    def _with_feed_forward(
        self, model: DecoderArchitecture, shapes: Shapes
    ) -> Iterator[tuple[DecoderArchitecture, Shapes]]:
        if any(kind in _EXPERTS for kind in self._kinds):
            yield from self._with_fused_experts(model, shapes)
            return
        chosen = [i for i, kind in enumerate(self._kinds) if kind == "TopK"]
        if chosen:
            per_token = self._graph.output_shape(chosen[0])[-1]
            yield from _with_experts(model, shapes, per_token)
        yield from _with_blocks(model, shapes)

    def _with_fused_experts(
        self, model: DecoderArchitecture, shapes: Shapes
    ) -> Iterator[tuple[DecoderArchitecture, Shapes]]:
        """Experts in one operator a layer, their number that of the router's columns."""
        place = next(i for i, kind in enumerate(self._kinds) if kind in _EXPERTS)
        gated = str(json.loads(self._graph.attributes[place]).get("activation_type")) in _GATED
        wide = int(self._graph.gemm[place, 2]) // (3 if gated else 2)
        per_token = self._stated(place, "k", 1)
        for (inner, experts), count in shapes.items():
            if inner == model.hidden and count == model.layers:
                left = shapes - Counter({(inner, experts): count})
                yield _sparse(model, experts, per_token, wide, gated), left

    def _bits(self, places: list[int]) -> float:
        weights = self._graph.gemm[places, 2:].prod(axis=1).sum()
        return float(8 * self._graph.weight_bytes[places].sum() / max(weights, 1))

    def _format(self, bits: float) -> str:
        """Name of the format with the next bits; 4-bit weights by the length of their blocks."""
        for place, kind in enumerate(self._kinds):
            if kind == "MatMulNBits" and self._stated(place, "bits", 4) == 4:
                return "int4-128" if self._stated(place, "block_size", 32) >= 128 else "int4-32"
        # Of 4 bits between a DequantizeLinear and its product the blocks are not read: 32 is usual.
        names = {32: "fp32", 16: "fp16", 8: "int8", 4: "int4-32"}
        if any(o.dtype == "bfloat16" for o in self._model.outputs):
            names[16] = "bf16"
        return names[min(names, key=lambda width: abs(width - bits))]

    def _kv_precision(self) -> str:
        return _KV_PRECISIONS.get(self._cache.dtype, "") if self._cache else ""

    def _is_tied(self, places: list[int], table: int) -> bool:
        """Whether the file has no room for an embedding table beside the head."""
        graph = self._graph
        looked_up = [i for i, kind in enumerate(self._kinds) if kind.startswith("Gather")]
        bits = max((DTYPE_BITS[graph.dtype[i]] for i in looked_up), default=32)
        room = graph.weights_total_bytes - graph.weight_bytes[places].sum()
        return bool(room < table * bits / 8 / 2)


def _without_projections(model: DecoderArchitecture, shapes: Shapes) -> Iterator[Shapes]:
    """Take the matrices of attention out of the counted shapes, joined or apart."""
    layers, hidden = model.layers, model.hidden
    queries, kv = model.heads * model.head_dim, model.kv_width
    out = Counter({(queries, hidden): layers})
    separate = out + Counter({(hidden, queries): layers}) + Counter({(hidden, kv): 2 * layers})
    joint = out + Counter({(hidden, queries + 2 * kv): layers})
    yield from (shapes - matrices for matrices in (separate, joint) if matrices <= shapes)


def _with_blocks(
    model: DecoderArchitecture, shapes: Shapes
) -> Iterator[tuple[DecoderArchitecture, Shapes]]:
    """Feed-forward blocks of one width; a gate stands apart or with the up projection."""
    layers, hidden = model.layers, model.hidden
    for wide in [inner for inner, columns in shapes if columns == hidden]:
        down = Counter({(wide, hidden): layers})
        for opened, gated in (
            (Counter({(hidden, wide): 2 * layers}), True),
            (Counter({(hidden, 2 * wide): layers}), True),
            (Counter({(hidden, wide): layers}), False),
        ):
            if down + opened <= shapes:
                made = replace(model, feed_forward=wide, gated=gated)
                yield made, shapes - down - opened


def _with_experts(
    model: DecoderArchitecture, shapes: Shapes, per_token: int
) -> Iterator[tuple[DecoderArchitecture, Shapes]]:
    """Experts with products of their own, and a router with a column for each."""
    layers, hidden = model.layers, model.hidden
    for (wide, columns), count in shapes.items():
        experts = count // layers
        if columns != hidden or not 1 < experts <= _MAX_EXPERTS:
            continue
        fixed = Counter({(wide, hidden): layers * experts}) + Counter({(hidden, experts): layers})
        for gates in (2, 1):
            matrices = fixed + Counter({(hidden, wide): gates * layers * experts})
            if matrices <= shapes and per_token <= experts:
                yield _sparse(model, experts, per_token, wide, gates > 1), shapes - matrices


def _sparse(
    model: DecoderArchitecture, experts: int, per_token: int, wide: int, gated: bool
) -> DecoderArchitecture:
    return replace(
        model,
        gated=gated,
        experts=experts,
        experts_per_token=per_token,
        expert_feed_forward=wide,
    )
