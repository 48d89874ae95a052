"""A decoder in an ONNX file: which inputs are what, and the architecture behind its operators.

Inputs are known by the names that optimum, onnxruntime-genai and exports of transformers give them;
the architecture by the shapes of products with weights, so that fused and plain operators, float
and 4-bit weights read alike. Norms and biases are not told apart: they are under a thousandth of a
model.

References:
    optimum, ``exporters/onnx``: input_ids, past_key_values.0.key, present.0.key, use_cache_branch.
    onnxruntime-genai, ``models/builder.py``: the same, total_sequence_length for the mask.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from predictor.core.errors import InputError
from predictor.core.records import TensorInfo
from predictor.graph.model import Model
from predictor.graph.operators import DTYPE_BITS, DTYPE_CODE
from predictor.language.architecture import DecoderArchitecture
from predictor.language.graph import Pass

UNSTATED_CONTEXT: Final = 131_072
"""Longest context that is taken where nothing states one: ONNX files do not."""

_IDS = re.compile(r"(^|[._/])((decoder_)?input_ids|tokens?|ids)$")
_CACHE = re.compile(r"past|cache|(^|[._])kv([._]|$)")
_CROSS = re.compile(r"encoder|cross")
_MASK = re.compile(r"mask")
_FUSED: Final = frozenset({"GroupQueryAttention", "MultiHeadAttention", "Attention"})
_EXPERTS: Final = frozenset({"MoE", "QMoE"})
# Operators that a decoder without a cache has, and an encoder has not.
_CAUSAL: Final = frozenset({"GroupQueryAttention", "RotaryEmbedding", "Trilu", "Cos"})
_MASKING: Final = frozenset({"Add", "Mul", "Where"})
_LEAST_INNER = 8  # K of a product with weights; angles of positions are made with a K of 1


@dataclass(frozen=True, slots=True)
class InputRoles:
    """Inputs of a decoder's file, and the names of its open dimensions; empty for a fixed one.

    Attributes:
        ids: input of token ids.
        cache: inputs of past keys and values, empty where the file takes none.
        merged: whether the file holds a branch with a cache and one without.
        batch: dimension of sequences.
        tokens: of new tokens.
        past: of tokens in the cache.
        total: of both together.
    """

    ids: str
    cache: tuple[str, ...]
    merged: bool
    batch: str
    tokens: str
    past: str
    total: str

    def bindings(self, step: Pass) -> dict[str, int]:
        """Return the values of the open dimensions for one pass, to ingest the file with."""
        values = (
            (self.batch, step.batch),
            (self.total, step.past + step.tokens),
            (self.past, step.past),
            # Last: without a cache the whole length has the name of the new tokens.
            (self.tokens, step.tokens),
        )
        return {name: value for name, value in values if name}


@dataclass(frozen=True, slots=True)
class RecognisedDecoder:
    """What an ONNX file tells of its decoder.

    Attributes:
        roles: of its inputs.
        architecture: recovered from its operators.
        weights: name of the format that its weights have.
        weight_bits: bits of one weight of its layers, scales and zero points included.
        kv_bits: bits of one element of its cache.
    """

    roles: InputRoles
    architecture: DecoderArchitecture
    weights: str
    weight_bits: float
    kv_bits: float


def recognise(model: Model, max_context: int = UNSTATED_CONTEXT) -> RecognisedDecoder | None:
    """Return the decoder of a file that was ingested; None where it is none.

    Args:
        model: at any binding of at least one token.
        max_context: that the model was made for.

    Raises:
        InputError: it is a decoder, but its operators are of no architecture that is known.
    """
    roles = input_roles(model)
    if roles is None:
        return None
    return _Recovery(model, roles).decoder(max_context)


def input_roles(model: Model) -> InputRoles | None:
    """Return the roles of a file's inputs; None where it is no decoder that gives out logits."""
    ids = next((i for i in model.inputs if _is_ids(i)), None)
    if ids is None or _logits(model) is None:
        return None
    cache = [i for i in model.inputs if len(i.declared) >= 4 and _CACHE.search(i.name.lower())]
    gives_cache = any(o.name.startswith("present") for o in model.outputs)
    kinds = {op.rpartition("::")[2] for op in model.graph.op_types}
    if not cache and not gives_cache and not kinds & _CAUSAL and not _masks(model, ids.shape[1]):
        return None
    own = [i for i in cache if not _CROSS.search(i.name.lower())]
    mask = next((i for i in model.inputs if _MASK.search(i.name) and len(i.declared) == 2), None)
    tokens = _open(ids.declared[1])
    total = _open(mask.declared[1]) if mask else ""
    return InputRoles(
        ids=ids.name,
        cache=tuple(i.name for i in own),
        merged=any(i.name == "use_cache_branch" for i in model.inputs),
        batch=_open(ids.declared[0]),
        tokens=tokens,
        # Of [batch, heads, past, size]; some have keys and values together before that.
        past=_open(own[0].declared[-2]) if own else "",
        # What is arithmetic on the others follows from them.
        total=total if total.isidentifier() else "",
    )


def _is_ids(info: TensorInfo) -> bool:
    whole = info.dtype in {"int64", "int32"} and len(info.declared) == 2
    return whole and _IDS.search(info.name.lower()) is not None


def _logits(model: Model) -> TensorInfo | None:
    named = [o for o in model.outputs if "logits" in o.name.lower() and len(o.shape) == 3]
    return named[0] if named else None


def _masks(model: Model, tokens: int) -> bool:
    """Whether scores of tokens by tokens meet a stored mask: what a mask input hides is none."""
    graph = model.graph
    return tokens > 1 and any(
        graph.op_types[i] in _MASKING
        and graph.output_shape(i)[-2:] == (tokens, tokens)
        and graph.weight_bytes[i] >= tokens**2 // 8
        for i in range(len(graph))
    )


def _open(dim: int | str) -> str:
    return dim if isinstance(dim, str) else ""


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
        given = [i for i in model.inputs if i.name in roles.cache]
        made = [o for o in model.outputs if o.name.startswith("present") and len(o.shape) >= 4]
        self._cache = next(iter([*given, *made]), None)
        ids = next(i for i in model.inputs if i.name == roles.ids)
        self._batch = max(ids.shape[0], 1)

    def decoder(self, max_context: int) -> RecognisedDecoder:
        """Return the decoder.

        Raises:
            InputError: see :func:`recognise`.
        """
        if any(_CROSS.search(i.name.lower()) for i in self._model.inputs):
            raise self._unknown("it attends to an encoder")
        head = self._head()
        attention = self._attention()
        layers = [i for i in self._weighted() if i != head]
        gemm = self._graph.gemm
        shapes = Counter((int(gemm[i, 3]), int(gemm[i, 2])) for i in layers)
        hidden, vocabulary = int(gemm[head, 3]), int(gemm[head, 2])
        bare = DecoderArchitecture(
            name=Path(self._model.path).stem,
            family="onnx",
            layers=attention.layers,
            hidden=hidden,
            heads=attention.heads,
            kv_heads=self._take_projections(shapes, attention, hidden),
            head_dim=attention.head_dim,
            feed_forward=0,
            vocabulary=vocabulary,
            max_context=max_context,
            gated=False,
            tied_embeddings=self._is_tied([*layers, head], vocabulary * hidden),
            norm_biases="LayerNormalization" in self._kinds,
        )
        model = self._with_experts(shapes, bare) or self._with_blocks(shapes, bare)
        bits = self._bits(layers)
        return RecognisedDecoder(self._roles, model, self._format(bits), bits, self._kv_bits())

    def _unknown(self, reason: str) -> InputError:
        return InputError(
            self._model.path,
            f"its decoder is not recognised: {reason}",
            "give the config.json that it was exported from",
        )

    def _weighted(self) -> list[int]:
        """Products with weights; a product of angles has but a handful."""
        graph = self._graph
        sized = graph.gemm[:, 3] >= _LEAST_INNER
        plain = (graph.gemm[:, 0] == 1) & (graph.weight_bytes > 0) & sized
        others = np.array([kind in _FUSED | _EXPERTS for kind in self._kinds])
        return [int(i) for i in np.flatnonzero(plain & ~others)]

    def _head(self) -> int:
        logits = _logits(self._model)
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
        groups, _, _, size = self._graph.gemm[places[0]].tolist()
        stated = json.loads(self._graph.attributes[places[0]])
        heads = int(stated.get("num_heads", 0)) or groups // self._batch
        kv_heads = int(stated.get("kv_num_heads", 0))
        # Fused attention counts its two products as one of both widths.
        size = size // 2 if fused else size
        if self._cache is not None:
            kv_heads, size = self._cache.shape[-3], self._cache.shape[-1]
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

    def _take_projections(
        self, shapes: Counter[tuple[int, int]], attention: _Attention, hidden: int
    ) -> int:
        """Take the matrices of attention out of the counted shapes; return its key heads.

        Args:
            shapes: number of products by (K, N).
            attention: its key heads 0 where nothing states them: then the shapes decide.
            hidden: width of the residual stream.
        """
        layers, heads, stated, size = attention
        queries = heads * size
        for kv_heads in [stated] if stated else range(heads, 0, -1):
            kv = kv_heads * size
            out = Counter({(queries, hidden): layers})
            joint = out + Counter({(hidden, queries + 2 * kv): layers})
            apart = out + Counter({(hidden, queries): layers}) + Counter({(hidden, kv): 2 * layers})
            taken = next((each for each in (joint, apart) if each <= shapes), None)
            if taken is not None and heads % kv_heads == 0:
                shapes.subtract(taken)
                return kv_heads
        raise self._unknown("the projections of its attention have other shapes")

    def _with_blocks(
        self, shapes: Counter[tuple[int, int]], bare: DecoderArchitecture
    ) -> DecoderArchitecture:
        layers, hidden = bare.layers, bare.hidden
        widths = [k for (k, n), count in shapes.items() if n == hidden and count >= layers]
        for wide in sorted(widths, reverse=True):
            separate, joint = shapes[hidden, wide], shapes[hidden, 2 * wide]
            if separate >= layers or joint >= layers:
                gated = separate >= 2 * layers or joint >= layers
                return replace(bare, feed_forward=wide, gated=gated)
        raise self._unknown("its feed-forward blocks have other shapes")

    def _with_experts(
        self, shapes: Counter[tuple[int, int]], bare: DecoderArchitecture
    ) -> DecoderArchitecture | None:
        places = [i for i, kind in enumerate(self._kinds) if kind in _EXPERTS]
        if not places:
            return None
        stated = json.loads(self._graph.attributes[places[0]])
        gated = stated.get("activation_type") in {"silu", "swiglu"}
        routers = [n for (k, n), count in shapes.items() if k == bare.hidden and count >= 1]
        if len(places) < bare.layers or not routers:
            raise self._unknown("its experts have other shapes")
        return replace(
            bare,
            gated=gated,
            experts=min(routers),
            experts_per_token=int(stated.get("k", 1)),
            expert_feed_forward=int(self._graph.gemm[places[0], 2]) // (3 if gated else 2),
        )

    def _bits(self, places: list[int]) -> float:
        weights = self._graph.gemm[places, 2:].prod(axis=1).sum()
        return float(8 * self._graph.weight_bytes[places].sum() / max(weights, 1))

    def _format(self, bits: float) -> str:
        """Name of the format with the next bits; 4-bit weights by the length of their blocks."""
        for text, kind in zip(self._graph.attributes, self._kinds, strict=True):
            if kind == "MatMulNBits":
                stated = json.loads(text)
                if stated.get("bits", 4) == 4:
                    return "int4-128" if stated.get("block_size", 32) >= 128 else "int4-32"
        names = {32: "fp32", 16: "fp16", 8: "int8"}
        if any(o.dtype == "bfloat16" for o in self._model.outputs):
            names[16] = "bf16"
        return names[min(names, key=lambda each: abs(each - bits))]

    def _kv_bits(self) -> float:
        dtype = self._cache.dtype if self._cache else "float32"
        return DTYPE_BITS[DTYPE_CODE[dtype]]

    def _is_tied(self, places: list[int], table: int) -> bool:
        """Whether the file has no room for an embedding table beside the head."""
        graph = self._graph
        looked_up = [i for i, kind in enumerate(self._kinds) if kind.startswith("Gather")]
        bits = max((DTYPE_BITS[graph.dtype[i]] for i in looked_up), default=32)
        room = graph.weights_total_bytes - graph.weight_bytes[places].sum()
        return bool(room < table * bits / 8 / 2)
