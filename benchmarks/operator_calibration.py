"""What the profile of a few networks brings: networks of the pool predicted from others of it.

    python -m benchmarks.operator_calibration --output docs/results [--kept FOLDER]

Networks of the pool are measured on this machine as the product does it, one thread. Then the
target is calibrated by a few of them, drawn at random, and the others are predicted: once by their
latencies as whole networks, and once by the operators of their profiles. No real network is looked
at. With ``--kept`` what was measured is kept in that folder and not measured again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Table, add_arguments, add_kept, kept_folder, publish
from benchmarks.probe_accuracy import THREADS, Kept, probe, this_device
from predictor.core.records import Target
from predictor.cost.engine import TargetMeasurements
from predictor.presentation.wording import percent
from predictor.services.prediction.engines import CLOSERTOME, open_engine
from predictor.services.prediction.predict import selected
from predictor.services.probing.plan import probe_target
from predictor.services.signatures.user_signatures import read_user_signatures
from predictor.store.database import open_database

NETWORKS: Final = 36
LIMIT_S: Final = 480.0
PROBES: Final = (3, 6, 12, 20)
DRAWS: Final = 10
LEAST_MS: Final = 1.0  # of a network that is predicted
Floats = NDArray[np.float64]


def measured(kept: Kept, target: Target) -> TargetMeasurements:
    """Return what was measured of random networks of the pool."""
    probe(kept, target, "random", NETWORKS, LIMIT_S)
    with closing(open_database(kept.folder / "random.db")) as database:
        return read_user_signatures(database).of([target])[target.id]


def draws(networks: int, probes: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield which networks the target is calibrated by, and which are predicted."""
    generator = np.random.default_rng(probes)
    for _ in range(DRAWS):
        order = generator.permutation(networks).tolist()
        yield order[:probes], order[probes:]


def errors(target: Target, known: TargetMeasurements, probes: int) -> tuple[Floats, Floats]:
    """Return ln(predicted / measured) of all that is predicted, and if 80 % intervals hold it."""
    off: list[float] = []
    held: list[bool] = []
    for seen, others in draws(len(known.graphs), probes):
        asked = [place for place in others if known.latency_ms[place] >= LEAST_MS]
        graphs = [known.graphs[place] for place in asked]
        table = open_engine().predict(graphs, [target], {target.id: selected(known, seen)})
        actual = known.latency_ms[asked]
        off += np.log(table.latency_ms[:, 0] / actual).tolist()
        held += ((table.low80_ms[:, 0] <= actual) & (actual <= table.high80_ms[:, 0])).tolist()
    return np.array(off), np.array(held, np.float64)


def row(name: str, probes: int, found: tuple[Floats, Floats]) -> tuple[str, ...]:
    """Return a row of the page."""
    off = np.abs(np.expm1(found[0]))
    return (
        name,
        str(probes),
        percent(float(np.median(off))),
        percent(float(np.quantile(off, 0.9))),
        percent(float(off.max())),
        percent(float(np.expm1(np.median(found[0]))), signed=True),
        percent(float(found[1].mean())),
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, repeats=1)
    add_kept(parser)
    options = parser.parse_args()
    with kept_folder(options) as folder:
        return _compare(options, Kept(folder))


def _compare(options: argparse.Namespace, kept: Kept) -> int:
    target = probe_target(this_device(kept), THREADS)
    known = measured(kept, target)
    ways = {"whole networks": replace(known, operators=()), "operators": known}
    rows: Sequence[tuple[str, ...]] = [
        row(name, probes, errors(target, each, probes))
        for probes in PROBES
        if probes < len(known.graphs)
        for name, each in ways.items()
    ]
    header = ("calibrated by", "networks", "median", "90 %", "largest", "bias", "in 80 % interval")
    note = (
        f"{len(known.graphs)} networks were measured, drawn at random; those of at least "
        f"{LEAST_MS:g} ms are predicted, {DRAWS} draws."
    )
    title = "Networks of the pool predicted from a few others"
    figures = [dict(zip(header, each, strict=True)) for each in rows]
    cells = Table(header, rows)
    publish("operator-calibration", title, cells, figures, options.output, [note], CLOSERTOME)
    return 0


if __name__ == "__main__":
    sys.exit(main())
