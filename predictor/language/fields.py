"""The fields of a ``config.json``, each checked when it is read."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import Final

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.devices.strict_json import kind_of

CORRECT: Final = "correct the file, or download it again"

MAX_COUNTS: Final = {
    "layers": 10_000,
    "hidden": 2**20,
    "heads": 2**14,
    "head_dim": 2**14,
    "feed_forward": 2**22,
    "vocabulary": 2**24,
    "context": 2**30,
    "experts": 2**14,
    "bits": 64,
}
"""Most that a count may be: ten times and more what the largest models have, and far from where
products of them would leave 64 bits."""

# One count under the names that families give it; a decoder's own name comes first, for Whisper
# repeats those of its encoder.
_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "layers": ("decoder_layers", "num_hidden_layers", "n_layer", "n_layers"),
    "hidden": ("d_model", "hidden_size", "n_embd", "n_embed"),
    "heads": ("decoder_attention_heads", "num_attention_heads", "n_head", "n_heads"),
    "kv_heads": ("num_key_value_heads", "kv_n_heads"),
    "head_dim": ("head_dim",),
    "feed_forward": (
        *("decoder_ffn_dim", "intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner"),
        "block_ff_dim",
    ),
    "vocabulary": ("vocab_size",),
    "context": (
        *("max_target_positions", "max_position_embeddings", "n_positions", "n_ctx"),
        *("max_seq_len", "seq_length"),
    ),
    "experts": ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"),
    "experts_per_token": ("num_experts_per_tok", "moe_k", "moe_top_k"),
    "expert_feed_forward": ("moe_intermediate_size",),
    "shared_feed_forward": ("shared_expert_intermediate_size",),
    "shared_experts": ("n_shared_experts", "moe_num_shared_experts"),
}
# What bounds a count that has no bound of its own.
_BOUNDS: Final = {
    "kv_heads": "heads",
    "experts_per_token": "experts",
    "shared_experts": "experts",
    "expert_feed_forward": "feed_forward",
    "shared_feed_forward": "feed_forward",
}


class Fields:
    """The fields of one configuration.

    Args:
        subject: the file's name in errors.
        values: what stands in the file.
    """

    def __init__(self, subject: str, values: Mapping[str, object]) -> None:
        self._subject = subject
        self._values = values

    def count(self, kind: str, *names: str, default: int | None = None, minimum: int = 1) -> int:
        """Return a whole number.

        Args:
            kind: what it counts, which bounds it.
            names: the first of these that the file states; those of ``kind`` if none is given.
            default: where the file states none.
            minimum: smallest that it may be.

        Raises:
            InputError: it is missing without a default, no whole number, or out of range.
        """
        names = names or _NAMES[kind]
        maximum = MAX_COUNTS[_BOUNDS.get(kind, kind)]
        name = next((n for n in names if self._values.get(n) is not None), None)
        if name is None:
            if default is None:
                raise self.error(f"it does not state {' or '.join(names)}")
            return default
        value = self._values[name]
        if isinstance(value, list) and len(value) > 1 and value.count(value[0]) == len(value):
            value = value[0]  # one for each layer
        if isinstance(value, bool) or not isinstance(value, int):
            text = f"{value}" if isinstance(value, float) else kind_of(value)
            raise self.error(f"its {name} is {text}, not a whole number")
        if not minimum <= value <= maximum:
            text = shortened(f"{value}", 30)
            raise self.error(f"its {name} is {text}, not between {minimum} and {maximum:,}")
        return value

    def completed(self, defaults: Mapping[str, object]) -> Fields:
        """Return these fields with defaults for those that the file leaves out."""
        stated = {name: value for name, value in self._values.items() if value is not None}
        return Fields(self._subject, {**self._values, **defaults, **stated})

    def flattened(self, *names: str) -> Fields:
        """Return these fields with those of the named objects among them."""
        inner = [value for name in names if isinstance(value := self._values.get(name), dict)]
        return Fields(self._subject, dict(ChainMap(*inner, dict(self._values))))

    def states(self, name: str) -> bool:
        """Whether the file states a field, as something other than null."""
        return self._values.get(name) is not None

    def number(self, name: str, default: float) -> float:
        """Return a number above 0.

        Raises:
            InputError: it is none.
        """
        value = self._values.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
            text = shortened(f"{value}", 30) if isinstance(value, float) else kind_of(value)
            raise self.error(f"its {name} is {text}, not a number above 0")
        return float(value)

    def part(self, name: str) -> Fields | None:
        """Return the fields of an object in the file, None where it states none.

        Raises:
            InputError: it is no object.
        """
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(f"its {name} is {kind_of(value)}, not an object")
        return Fields(self._subject, value)

    def names(self) -> list[str]:
        """Return the names of the fields."""
        return list(self._values)

    def text(self, name: str) -> str:
        """Return a text, empty where the file states none or something else."""
        value = self._values.get(name)
        return value if isinstance(value, str) else ""

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a switch.

        Raises:
            InputError: it is neither true nor false.
        """
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.error(f"its {name} is {kind_of(value)}, not true or false")
        return value

    def items(self, name: str) -> tuple[object, ...]:
        """Return the items of a list, none where the file states none.

        Raises:
            InputError: it is no list.
        """
        value = self._values.get(name)
        if value is not None and not isinstance(value, list):
            raise self.error(f"its {name} is {kind_of(value)}, not a list")
        return tuple(value or ())

    def error(self, reason: str, action: str = CORRECT) -> InputError:
        """Return an error about this file."""
        return InputError(self._subject, reason, action)
