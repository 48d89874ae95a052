"""Names that a run of a language model is chosen by, apart from its records.

The window has records before its first frame, and does not wait for all of language models.
"""

from __future__ import annotations

from typing import Final

from predictor.language.runtimes import LANGUAGE_RUNTIMES
from predictor.language.weights import FORMATS, KV_BITS

WEIGHT_FORMATS: Final = tuple(FORMATS)
KV_PRECISIONS: Final = tuple(KV_BITS)
RUNTIME_NAMES: Final = tuple(LANGUAGE_RUNTIMES)
