"""The longest context of a model whose rotary positions are scaled.

References:
    vLLM, ``config/model.py`` (``_get_and_verify_max_len``): scaled types multiply the context, YaRN
    the one that the model was trained at; LongRoPE, Llama 3 and Gemma 3 state the scaled one.
"""

from __future__ import annotations

from typing import Final

from predictor.language.fields import MAX_COUNTS, Fields

_STATED_SCALED: Final = frozenset({"", "default", "longrope", "su", "llama3", "mrope"})
_SCALED_FAMILIES: Final = frozenset({"gemma3_text"})
_TRAINED: Final = "original_max_position_embeddings"


def scaled_context(fields: Fields, family: str) -> int:
    """Return the longest context, with the scaling of positions.

    Args:
        fields: of a ``config.json``.
        family: its ``model_type``.

    Raises:
        InputError: it is missing, or the scaling states no number.
    """
    context = fields.count("context")
    scaling = fields.part("rope_scaling") or fields.part("rope_parameters")
    if scaling is None or family in _SCALED_FAMILIES:
        return context
    # Newer files have one for each kind of layer.
    scaling = scaling.part("full_attention") or scaling
    kind = scaling.text("rope_type") or scaling.text("type")
    if kind in _STATED_SCALED:
        return context
    factor = scaling.number("factor", 1.0)
    if kind == "yarn":
        context = scaling.count("context", _TRAINED, default=context)
    scaled = int(context * factor)
    if not 0 < scaled <= MAX_COUNTS["context"]:
        raise fields.error(f"its positions are scaled to {scaled:,} tokens")
    return scaled
