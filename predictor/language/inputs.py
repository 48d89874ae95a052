"""Inputs of a decoder in an ONNX file: token ids and cache.

They are known by the names that exporters give them.

References:
    optimum, ``exporters/onnx``: input_ids, past_key_values.0.key, present.0.key, use_cache_branch.
    onnxruntime-genai, ``models/builder.py``: the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from predictor.core.tensors import TensorInfo
from predictor.graph.model import Model

_IDS = re.compile(r"(^|[._/])((decoder_)?input_ids|tokens?|ids)$")
_CACHE = re.compile(r"past|cache|(^|[._])kv([._]|$)")
_CROSS = re.compile(r"encoder|cross")
# Operators that a decoder without a cache has, and an encoder has not.
_CAUSAL: Final = frozenset({"GroupQueryAttention", "RotaryEmbedding", "Trilu", "Cos"})
_MASKING: Final = frozenset({"Add", "And", "Mul", "Where"})


@dataclass(frozen=True, slots=True)
class InputRoles:
    """Inputs of a decoder's file.

    Attributes:
        ids: input of token ids.
        cache: inputs of past keys and values, empty where the file takes none.
        crosses: whether the decoder attends to an encoder.
    """

    ids: str
    cache: tuple[str, ...]
    crosses: bool


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
    self_cache = [i for i in cache if not _CROSS.search(i.name.lower())]
    return InputRoles(
        ids=ids.name,
        cache=tuple(i.name for i in self_cache),
        crosses=any(_CROSS.search(i.name.lower()) for i in model.inputs),
    )


def logits_of(model: Model, has_cache: bool) -> TensorInfo | None:
    """Return the output of logits: the one of that name, with a cache the first of its shape."""
    deep = [o for o in model.outputs if len(o.shape) == 3]
    named = [o for o in deep if "logits" in o.name.lower()]
    return next(iter([*named, *(deep if has_cache else ())]), None)


def _is_ids(info: TensorInfo) -> bool:
    is_matrix = info.dtype in {"int64", "int32"} and len(info.declared) == 2
    return is_matrix and _IDS.search(info.name.lower()) is not None


def _masks(model: Model, tokens: int) -> bool:
    """Whether scores of tokens by tokens meet a stored mask: what a mask input hides is none."""
    graph = model.graph
    return tokens > 1 and any(
        graph.op_types[i] in _MASKING
        and graph.output_shape(i)[-2:] == (tokens, tokens)
        and graph.weight_bytes[i] >= tokens**2 // 8
        for i in range(len(graph))
    )
