"""GGUF files with the header of a model, and a hole where its weights would be."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path

from predictor.language.architecture import DecoderArchitecture
from predictor.language.ggml_types import GGML_TYPES
from predictor.language.weights import WeightFormat

TYPE_NUMBERS = {kind.name: number for number, kind in GGML_TYPES.items()}
Tensors = Iterable[tuple[str, tuple[int, ...], str]]
"""Name, shape with the dimension that lies together first, and name of the type."""

_UINT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 4, 6, 7, 8, 9


def write_gguf(path: Path, fields: Mapping[str, object], tensors: Tensors) -> Path:
    """Write a file of version 3, of its size without taking it."""
    header, size = gguf_header(fields, tensors)
    with path.open("wb") as file:
        file.write(header)
        file.truncate(-(-len(header) // 32) * 32 + size)
    return path


def gguf_header(fields: Mapping[str, object], tensors: Tensors) -> tuple[bytes, int]:
    """Return the header, and the bytes of weights that follow it."""
    named = list(tensors)
    parts = [b"GGUF", struct.pack("<IQQ", 3, len(named), len(fields))]
    parts += [_text(key) + _value(value) for key, value in fields.items()]
    offset = 0
    for name, shape, kind in named:
        number = TYPE_NUMBERS.get(kind, 99)
        parts.append(_text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape))
        parts.append(struct.pack("<IQ", number, offset))
        if number in GGML_TYPES:
            _, elements, block_bytes = GGML_TYPES[number]
            offset += -(-(prod(shape) // elements * block_bytes) // 32) * 32
    return b"".join(parts), offset


def tensors_of(
    model: DecoderArchitecture, form: WeightFormat
) -> list[tuple[str, tuple[int, ...], str]]:
    """Return the tensors that llama.cpp writes of a model in a format, its norms as one a layer."""
    tensors = []
    for product in model.products():
        if not product.stored:
            continue
        for layer in range(product.layers):
            place = f"blk.{layer}." if product.layers == model.layers else ""
            kind = form.layer_type(model, product, layer)
            shape = (product.inner, product.columns)
            if product.name.endswith("_embd"):
                shape = (product.columns, product.inner)
            shape = (*shape, product.copies) if product.copies > 1 else shape
            tensors.append((f"{place}{product.name}.weight", shape, kind))
            if product.bias:
                tensors.append((f"{place}{product.name}.bias", (product.columns,), "f32"))
    norms = [f"blk.{i}.norm_{j}" for i in range(model.layers) for j in range(model.norms_per_layer)]
    return tensors + [
        (f"{norm}.weight", (model.hidden,), "f32") for norm in [*norms, "output_norm"]
    ]


def llama_fields(
    model: DecoderArchitecture, kind: str = "llama", **more: object
) -> dict[str, object]:
    """Return the fields that llama.cpp writes of a model with grouped heads."""
    counts = {
        "block_count": model.layers,
        "context_length": model.max_context,
        "embedding_length": model.hidden,
        "feed_forward_length": model.feed_forward,
        "attention.head_count": model.heads,
        "attention.head_count_kv": model.kv_heads,
        "attention.key_length": model.head_dim,
        "rope.freq_base": 10000.0,
    }
    fields: dict[str, object] = {"general.architecture": kind, "general.name": model.name}
    fields |= {f"{kind}.{key}": value for key, value in counts.items()}
    fields["tokenizer.ggml.tokens"] = [f"<{token}>" for token in range(model.vocabulary)]
    return fields | {key.replace("__", "."): value for key, value in more.items()}


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: object) -> bytes:
    if isinstance(value, list):
        kind, _ = _typed(value[0])
        return struct.pack("<IIQ", _ARRAY, kind, len(value)) + b"".join(_typed(v)[1] for v in value)
    kind, data = _typed(value)
    return struct.pack("<I", kind) + data


def _typed(value: object) -> tuple[int, bytes]:
    match value:
        case bool():
            return _BOOL, struct.pack("<?", value)
        case int():
            return _UINT32, struct.pack("<I", value)
        case float():
            return _FLOAT32, struct.pack("<f", value)
        case str():
            return _STRING, _text(value)
    raise TypeError(value)
