"""Inputs of a decoder in an ONNX file: token ids, cache, and the dimensions that a pass binds.

They are known by the names that exporters give them.

References:
    optimum, ``exporters/onnx``: input_ids, past_key_values.0.key, present.0.key, use_cache_branch.
    onnxruntime-genai, ``models/builder.py``: the same, total_sequence_length for the mask.
    torch.onnx with ``dynamo``: a name of its own for each open dimension.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from predictor.core.records import TensorInfo
from predictor.graph.model import Model
from predictor.language.graph import Pass

_IDS = re.compile(r"(^|[._/])((decoder_)?input_ids|tokens?|ids)$")
_CACHE = re.compile(r"past|cache|(^|[._])kv([._]|$)")
_CROSS = re.compile(r"encoder|cross")
_MASK = re.compile(r"mask")
# Operators that a decoder without a cache has, and an encoder has not.
_CAUSAL: Final = frozenset({"GroupQueryAttention", "RotaryEmbedding", "Trilu", "Cos"})
_MASKING: Final = frozenset({"Add", "And", "Mul", "Where"})


@dataclass(frozen=True, slots=True)
class InputRoles:
    """Inputs of a decoder's file, and the names of its open dimensions.

    Attributes:
        ids: input of token ids.
        cache: inputs of past keys and values, empty where the file takes none.
        merged: whether the file holds a branch with a cache and one without.
        crosses: whether the decoder attends to an encoder.
        batch: dimensions of sequences.
        tokens: of new tokens.
        past: of tokens in the cache.
        total: of both together.
    """

    ids: str
    cache: tuple[str, ...]
    merged: bool
    crosses: bool
    batch: tuple[str, ...]
    tokens: tuple[str, ...]
    past: tuple[str, ...]
    total: tuple[str, ...]

    def bindings(self, step: Pass) -> dict[str, int]:
        """Return the values of the open dimensions for one pass, to ingest the file with."""
        values = (
            (self.batch, step.batch),
            (self.total, step.past + step.tokens),
            (self.past, step.past),
            # Last: without a cache the whole length has the name of the new tokens.
            (self.tokens, step.tokens),
        )
        return {name: value for names, value in values for name in names}


def input_roles(model: Model) -> InputRoles | None:
    """Return the roles of a file's inputs; None where it is no decoder that gives out logits."""
    ids = next((i for i in model.inputs if _is_ids(i)), None)
    cache = [i for i in model.inputs if len(i.declared) >= 4 and _CACHE.search(i.name.lower())]
    if ids is None or logits_of(model, bool(cache)) is None:
        return None
    gives_cache = any(o.name.startswith("present") for o in model.outputs)
    kinds = {op.rpartition("::")[2] for op in model.graph.op_types}
    if not cache and not gives_cache and not kinds & _CAUSAL and not _masks(model, ids.shape[1]):
        return None
    own = [i for i in cache if not _CROSS.search(i.name.lower())]
    masks = [i for i in model.inputs if _MASK.search(i.name) and len(i.declared) == 2]
    return InputRoles(
        ids=ids.name,
        cache=tuple(i.name for i in own),
        merged=any(i.name == "use_cache_branch" for i in model.inputs),
        crosses=any(_CROSS.search(i.name.lower()) for i in model.inputs),
        batch=_open(i.declared[0] for i in (ids, *masks, *own) if len(i.declared) != _JOINED),
        tokens=_open([ids.declared[1]]),
        # Of [batch, heads, past, size]; some have keys and values together before that.
        past=_open(i.declared[-2] for i in own),
        total=_open(i.declared[1] for i in masks),
    )


_JOINED = 5  # dimensions of a cache of keys and values together


def logits_of(model: Model, has_cache: bool) -> TensorInfo | None:
    """Return the output of logits: the one of that name, with a cache the first of its shape."""
    deep = [o for o in model.outputs if len(o.shape) == 3]
    named = [o for o in deep if "logits" in o.name.lower()]
    return next(iter([*named, *(deep if has_cache else ())]), None)


def _is_ids(info: TensorInfo) -> bool:
    whole = info.dtype in {"int64", "int32"} and len(info.declared) == 2
    return whole and _IDS.search(info.name.lower()) is not None


def _open(dims: Iterable[int | str]) -> tuple[str, ...]:
    """Names of open dimensions, each once; what is arithmetic on others follows from them."""
    return tuple(dict.fromkeys(d for d in dims if isinstance(d, str) and _NAME.search(d)))


# A name, or the input and axis of a dimension without one.
_NAME = re.compile(r"^[\w.:/-]+$")


def _masks(model: Model, tokens: int) -> bool:
    """Whether scores of tokens by tokens meet a stored mask: what a mask input hides is none."""
    graph = model.graph
    return tokens > 1 and any(
        graph.op_types[i] in _MASKING
        and graph.output_shape(i)[-2:] == (tokens, tokens)
        and graph.weight_bytes[i] >= tokens**2 // 8
        for i in range(len(graph))
    )
