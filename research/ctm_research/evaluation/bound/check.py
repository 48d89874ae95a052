"""The reality check: published measurements against the physical bound and the estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctm_research.evaluation.bound.comparison import Comparison, compare
from ctm_research.evaluation.bound.figures import Figures, Ratios
from ctm_research.evaluation.bound.space_comparison import ColumnComparison, compare_space
from ctm_research.sources import SOURCES, Sample, nas, present_sources
from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.cost.engine import Engine
from predictor.cost.roofline import RooflineEngine

LIMIT_PERCENT = 1.0
"""Largest share of the measurements that may be under their bound, in percent."""


@dataclass(frozen=True, slots=True)
class BoundCheck:
    """Result of the check.

    Attributes:
        engine: name and version of the engine.
        comparisons: every row of every source with rows.
        columns: every device of every search space.
        absent: sources whose folder is not in the data folder.
    """

    engine: str
    comparisons: Sequence[Comparison]
    columns: Sequence[ColumnComparison]
    absent: tuple[str, ...]

    @property
    def ratios(self) -> Ratios:
        """The ratios of all sources together."""
        spaces = [column.ratios for column in self.columns]
        return Ratios.joined([Ratios.of(self.comparisons), *spaces])

    @property
    def holds(self) -> bool:
        """Whether few enough measurements are under their bound."""
        return 100 * Figures.of(self.ratios).under_bound_share <= LIMIT_PERCENT


def check_bound(
    data: Path,
    devices: Mapping[str, Device],
    progress: ProgressCallback = no_progress,
    engine: Engine | None = None,
) -> BoundCheck:
    """Compare every measurement of a data folder with an engine's estimate and bound.

    Args:
        data: folder with one folder a source.
        devices: the catalogue by id.
        progress: told while graphs are read and networks are built.
        engine: gives estimate and bound; None means the roofline.

    Raises:
        InputError: the folder holds no source, or a file in it is missing or damaged.
    """
    engine = RooflineEngine() if engine is None else engine
    present = present_sources(data)
    samples: list[Sample] = []
    for done, source in enumerate(present):
        progress(Progress(done, len(present), f"tables of {source.name}"))
        samples += source.samples(data)
    spaces = nas.search_spaces(data) if nas.SOURCE in present else ()
    return BoundCheck(
        engine=engine.name,
        comparisons=compare(samples, devices, engine, progress),
        columns=[
            column for space in spaces for column in compare_space(space, devices, engine, progress)
        ],
        absent=tuple(name for name in SOURCES if SOURCES[name] not in present),
    )
