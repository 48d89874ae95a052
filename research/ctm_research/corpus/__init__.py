"""The measurements of all sources in one form, the training data of the shipped network.

``drafts`` collects rows, ``build`` reads and packs their graphs (``graph_files``, ``packing``,
``single_operators``), ``cache`` keeps the result. ``holdout`` and ``silicon`` hold devices and
networks out, ``episodes`` draws few-shot tasks, ``noise`` has the spread of repeats, ``summary``
and ``spreads`` write the tables of research/docs/corpus.md: ``python -m ctm_research.corpus``.
"""

from __future__ import annotations

from ctm_research.corpus.build import build_corpus
from ctm_research.corpus.cache import open_corpus
from ctm_research.corpus.corpus import Corpus, CorpusTarget, Graphs, Measurements
from ctm_research.corpus.drafts import Sizes
from ctm_research.corpus.episodes import Episodes, EpisodeSampler, few_shot
from ctm_research.corpus.holdout import HoldOut, Split, draw_hold_out, hold_out_folds
from ctm_research.corpus.noise import NoiseFloor, noise_floors

__all__ = [
    "Corpus",
    "CorpusTarget",
    "EpisodeSampler",
    "Episodes",
    "Graphs",
    "HoldOut",
    "Measurements",
    "NoiseFloor",
    "Sizes",
    "Split",
    "build_corpus",
    "draw_hold_out",
    "few_shot",
    "hold_out_folds",
    "noise_floors",
    "open_corpus",
]
