"""Damaged descriptions of language models: ``config.json`` and the headers of GGUF files."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from predictor.language.config import read_config
from predictor.language.gguf_model import read_gguf_model
from predictor.language.passes import decode_pass
from predictor.language.stored import DescribedModel
from predictor.language.weights import weight_format
from tests.fuzz.documents import is_read, mutate_bytes, mutate_json
from tests.support.decoder_architectures import EXPERTS, TINY
from tests.support.gguf_files import gguf_header, llama_fields, tensors_of
from tests.support.public_models import CONFIGS

_CONTEXT = 128
_EDGE_BYTES = 1500
_COUNTS = (0, 1, -1, 7, 2**31, 2**63)


def mutate_config(rng: random.Random) -> bytes:
    """Return a damaged ``config.json`` of a family."""
    values = dict(CONFIGS[rng.choice(list(CONFIGS))][0])
    for key in rng.sample(sorted(values), min(2, len(values))):
        if isinstance(values[key], int):
            values[key] = rng.choice((*_COUNTS, 2 * values[key], values[key] // 2))
    text = json.dumps(values)
    data = (mutate_json(text, rng) if rng.random() < 0.5 else text).encode()
    return mutate_bytes(data, rng) if rng.random() < 0.1 else data


def feed_config(data: bytes) -> bool:
    """Read a description: True where it is read and its work counted, False where refused."""
    return _is_read(data, "config.json", read_config)


def mutate_gguf(rng: random.Random) -> bytes:
    """Return a damaged header of a GGUF file."""
    data, _ = rng.choice(_headers())
    if rng.random() < 0.3:
        return mutate_bytes(data, rng)
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        edge = rng.randrange(min(_EDGE_BYTES, len(data)))  # the tokens stand between
        changed[rng.choice((edge, len(data) - 1 - edge))] = rng.choice(
            (0, 1, 255, rng.getrandbits(8))
        )
    return bytes(changed)


def feed_gguf(data: bytes) -> bool:
    """Read a file as :func:`feed_config` does."""
    return _is_read(data, "m.gguf", read_gguf_model, max(size for _, size in _headers()))


@cache
def _headers() -> list[tuple[bytes, int]]:
    """Return headers of models, and the bytes of weights that follow each."""
    form = weight_format("q4_k_m")
    made = [
        (llama_fields(TINY, general__file_type=15), tensors_of(TINY, form)),
        (llama_fields(EXPERTS), tensors_of(EXPERTS, form)),
    ]
    return [gguf_header(fields, tensors) for fields, tensors in made]


def _is_read(
    data: bytes, name: str, read: Callable[[Path], DescribedModel], weights_bytes: int = 0
) -> bool:
    def count() -> None:
        model = read(path).architecture
        decode_pass(model, weight_format("fp16"), 16, min(_CONTEXT, model.max_context))

    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        with path.open("wb") as file:
            file.write(data)
            file.truncate(len(data) + weights_bytes)
        return is_read(count)
