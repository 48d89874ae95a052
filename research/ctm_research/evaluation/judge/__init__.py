"""Engines by runtime and kind of device, on silicon left out of training: ``ctm evaluate classes``.

``judged`` has the corpus as arrays, with ``parts`` of the roofline. ``folds`` leave out silicon,
devices and families; ``asked`` trains ``engines`` in each fold and asks them; ``figures`` are of
their answers. ``shipped`` asks the engine that ships, ``laws`` counts predictions against physics.
``document`` and ``page`` write the result.
"""

from __future__ import annotations

from ctm_research.evaluation.judge.document import judge
from ctm_research.evaluation.judge.engines import FittedEngine, JudgedEngine, Predicted
from ctm_research.evaluation.judge.folds import inner_folds
from ctm_research.evaluation.judge.judged import Judged, judged_of
from ctm_research.evaluation.judge.page import page

__all__ = [
    "FittedEngine",
    "Judged",
    "JudgedEngine",
    "Predicted",
    "inner_folds",
    "judge",
    "judged_of",
    "page",
]
