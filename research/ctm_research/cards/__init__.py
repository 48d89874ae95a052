"""Networks and operators timed on a CUDA card, for the evaluation alone: no training reads them.

``python -m ctm_research.cards time OUT --device ID`` runs in a checkout on a machine with the
card, torch, transformers and timm, and with nothing else that this project needs. Its tables stand
in ``data/ID``: ``transformers.csv`` and ``images.csv`` in the form of ``ctm evaluate
measurements``, and ``operators.csv.gz``. ``python -m ctm_research.cards page --data DIR``
needs neither card nor torch: it predicts these networks and says how far off that is.

- Transformers and operators are timed by the protocol of NeuSight's collector: device events, 25
  runs, the mean of the 5 fastest (of at least 7 runs where 25 take over 5 s), FP32 without TF32,
  eager attention, tokens of ones, and the allocator's cache emptied before each run of a network.
- Image networks are timed by the clock from the call to the end of the work, the median of 30 runs.
- Sizes of operators are drawn by seed, even in the logarithm over the ranges of NeuSight's.
- A kernel is the longest that the profiler saw; tiles of products are read off its name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

CARD: Final = "h100-sxm"  # id of the catalogue
_DATA: Final = Path(__file__).parent / "data"


def images_path() -> Path:
    """Return the table of image networks that were timed on the card."""
    return _DATA / CARD / "images.csv"


def card_path() -> Path:
    """Return the document of the card: its name, and the versions that timed on it."""
    return _DATA / CARD / "card.json"


def transformers_path() -> Path:
    """Return the table of transformers that were timed on the card."""
    return _DATA / CARD / "transformers.csv"


def operators_path() -> Path:
    """Return the table of operators that were timed on the card."""
    return _DATA / CARD / "operators.csv.gz"
