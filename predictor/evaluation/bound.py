"""The reality check: published measurements against the physical bound and the estimate."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from predictor.core.errors import InputError
from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.cost.engine import Engine
from predictor.cost.roofline import RooflineEngine
from predictor.evaluation.comparison import NOT_IN_CATALOGUE, Comparison, compare
from predictor.evaluation.figures import Figures
from predictor.evaluation.offenders import explanation
from predictor.training.sources import SOURCES, Sample, nas

LIMIT_PERCENT = 1.0
"""How many of the measurements may be under their bound, in percent."""


@dataclass(frozen=True, slots=True)
class BoundCheck:
    """What the check found.

    Attributes:
        engine: name and version of the engine.
        comparisons: every row of every source that was read.
        absent: sources whose folder is not in the data folder.
        search_spaces: latencies of each search space, which have no operator graphs.
    """

    engine: str
    comparisons: Sequence[Comparison]
    absent: tuple[str, ...]
    search_spaces: Mapping[str, int]

    @property
    def total(self) -> Figures:
        """The figures of all sources together."""
        return Figures.of(self.comparisons)

    @property
    def holds(self) -> bool:
        """Whether few enough measurements are under their bound."""
        return 100 * self.total.under_bound_share <= LIMIT_PERCENT


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
        progress: told what is done now.
        engine: what gives estimate and bound; None means the roofline.

    Raises:
        InputError: the folder holds no source, or a file in it is missing or damaged.
    """
    engine = RooflineEngine() if engine is None else engine
    present = [name for name in SOURCES if (data / name).is_dir()]
    if not present:
        raise InputError(
            str(data), "it holds no folder of a source", f"name a folder with {', '.join(SOURCES)}"
        )
    samples: list[Sample] = []
    for done, name in enumerate(present):
        progress(Progress(done, len(present), f"tables of {name}"))
        samples += SOURCES[name](data)
    spaces = nas.search_spaces(data) if (data / nas.NAME).is_dir() else ()
    return BoundCheck(
        engine=engine.name,
        comparisons=compare(samples, devices, engine, progress),
        absent=tuple(name for name in (*SOURCES, nas.NAME) if not (data / name).is_dir()),
        search_spaces={space.name: space.latency_ms.size for space in spaces},
    )


def document(check: BoundCheck) -> dict[str, object]:
    """Return what the check found as a JSON document; what is not known is None."""
    by_source = _grouped(check.comparisons, lambda c: c.sample.source)
    return {
        "evaluation": "bound",
        "engine": check.engine,
        "limit_percent": LIMIT_PERCENT,
        "total": _figures(check.comparisons),
        "sources": [
            {
                "source": source,
                "rows": len(group),
                "rows_with_graph": sum(c.sample.graph is not None for c in group),
                **_figures(group),
            }
            for source, group in by_source.items()
        ],
        "targets": [
            {"source": source, "target": target, **_figures(part)}
            for source, group in by_source.items()
            for target, part in sorted(_grouped(group, lambda c: c.target_name).items())
            if any(c.estimate_ms > 0 or c.bound_ms > 0 for c in part)
        ],
        "offenders": [_offender(c) for c in check.comparisons if c.measured_over_bound < 1],
        "without_estimate": [
            {"source": source, "reason": reason, "rows": rows}
            for source, group in by_source.items()
            for reason, rows in Counter(c.reason for c in group if c.reason).most_common()
        ],
        "not_in_catalogue": [
            {"source": source, "device": device, "rows": rows}
            for source, group in by_source.items()
            for device, rows in Counter(
                c.sample.device for c in group if c.reason == NOT_IN_CATALOGUE
            ).most_common()
        ],
        "search_spaces": dict(check.search_spaces),
        "absent": list(check.absent),
    }


def _grouped(
    comparisons: Iterable[Comparison], key: Callable[[Comparison], str]
) -> dict[str, list[Comparison]]:
    groups: dict[str, list[Comparison]] = defaultdict(list)
    for comparison in comparisons:
        groups[key(comparison)].append(comparison)
    return dict(groups)


def _figures(comparisons: Iterable[Comparison]) -> dict[str, object]:
    figures = Figures.of(comparisons)
    return {**asdict(figures), "under_bound_percent": 100 * figures.under_bound_share}


def _offender(comparison: Comparison) -> dict[str, object]:
    sample = comparison.sample
    return {
        "source": sample.source,
        "table": sample.table,
        "line": sample.line,
        "network": sample.network,
        "target": comparison.target_name,
        "threads": sample.configuration.threads,
        "batch": sample.configuration.batch,
        "measured_ms": sample.latency_ms,
        "bound_ms": comparison.bound_ms,
        "measured_over_bound": comparison.measured_over_bound,
        "provenance": sample.provenance,
        "explanation": explanation(sample),
    }
