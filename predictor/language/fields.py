"""The fields of a ``config.json``, each checked when it is read."""

from __future__ import annotations

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
}
"""Most that a count may be: ten times and more what the largest models have, and far from where
products of them would leave 64 bits."""

# One count under the names that families give it; a decoder's own name comes first, for Whisper
# repeats those of its encoder.
_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "layers": ("decoder_layers", "num_hidden_layers", "n_layer"),
    "hidden": ("d_model", "hidden_size", "n_embd", "n_embed"),
    "heads": ("decoder_attention_heads", "num_attention_heads", "n_head"),
    "head_dim": ("head_dim",),
    "feed_forward": (
        *("decoder_ffn_dim", "intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner"),
    ),
    "vocabulary": ("vocab_size",),
    "context": ("max_target_positions", "max_position_embeddings", "n_positions", "n_ctx"),
    "experts": ("num_experts", "num_local_experts"),
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
        name = next((n for n in names if self._values.get(n) is not None), None)
        if name is None:
            if default is None:
                raise self.error(f"it does not state {' or '.join(names)}")
            return default
        value = self._values[name]
        if isinstance(value, bool) or not isinstance(value, int):
            text = f"{value}" if isinstance(value, float) else kind_of(value)
            raise self.error(f"its {name} is {text}, not a whole number")
        if not minimum <= value <= MAX_COUNTS[kind]:
            text = shortened(f"{value}", 30)
            raise self.error(
                f"its {name} is {text}, not between {minimum} and {MAX_COUNTS[kind]:,}"
            )
        return value

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
