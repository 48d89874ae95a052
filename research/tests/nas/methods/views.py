"""What a method sees of the small search space."""

from __future__ import annotations

import numpy as np

from ctm_research.nas.method import Probes
from ctm_research.nas.methods.paper_network import PaperRecipe
from ctm_research.nas.spaces.space import NasSpace
from ctm_research.nas.spaces.view import TrainView
from ctm_research.paper.film_tuning import FilmTuning
from research.tests.nas.small_space import DEVICES, small_space

SHORT = PaperRecipe(width=8, steps=2, graphs=4, devices=2, tuning=FilmTuning(2))

TRAIN, TEST = DEVICES[:-1], DEVICES[-1]

ROWS = np.arange(10, 80)


def view_of(space: NasSpace | None = None) -> TrainView:
    return TrainView.of(space or small_space(), TRAIN, ROWS)


def probes_of(space: NasSpace, rows: np.ndarray, factor: float = 1.0) -> Probes:
    return Probes(rows, factor * space.latency_ms[rows, space.column(TEST)])
