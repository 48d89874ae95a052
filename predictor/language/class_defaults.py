"""Counts that the language model of a multimodal file may leave to its class in transformers.

Such files state only what differs from the class; a configuration of a language model itself states
all of its counts.

References:
    transformers 5.24.0, ``models/*/configuration_*.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NAMES = (
    *("num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads"),
    *("num_key_value_heads", "vocab_size", "max_position_embeddings"),
)
_COUNTS: Final = {
    "llama": (32, 4096, 11008, 32, 32, 32000, 2048),
    "mistral": (32, 4096, 14336, 32, 8, 32000, 131072),
    "mixtral": (32, 4096, 14336, 32, 8, 32000, 131072),
    "qwen2": (32, 4096, 22016, 32, 32, 151936, 32768),
    "qwen3": (32, 4096, 22016, 32, 32, 151936, 32768),
    "gemma": (28, 3072, 24576, 16, 16, 256000, 8192),
    "gemma2": (26, 2304, 9216, 8, 4, 256000, 8192),
    "gemma3_text": (26, 2304, 9216, 8, 4, 262208, 131072),
    "gemma3n_text": (35, 2048, 16384, 8, 2, 262400, 32768),
    "phi": (24, 2048, 8192, 32, 32, 51200, 2048),
    "phi3": (32, 3072, 8192, 32, 32, 32064, 4096),
    "opt": (12, 768, 3072, 12, 12, 50272, 2048),
    "granite": (32, 4096, 11008, 32, 32, 32000, 2048),
    "cohere2": (40, 8192, 22528, 64, 64, 256000, 8192),
    "llama4_text": (48, 5120, 8192, 40, 8, 202048, 131072),
    "smollm3": (36, 2048, 11008, 16, 4, 128256, 32768),
}
CLASS_DEFAULTS: Final[Mapping[str, Mapping[str, object]]] = {
    family: dict(zip(_NAMES, counts, strict=True)) for family, counts in _COUNTS.items()
}
"""Fields by family."""
