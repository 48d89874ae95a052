"""``ctm choose --load``: the boxes that carry a load, of the fewest watts first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing

from predictor.cli.catalogue import named_devices, open_catalogue
from predictor.cli.console import Console
from predictor.cli.load.command import evidence_of, models_of
from predictor.cli.predicting import BUDGET_MISSED, PredictionStore
from predictor.cli.progress import progress_on
from predictor.cli.tables import render_table
from predictor.core.text import plural, printable
from predictor.presentation.wording import number
from predictor.services.loads.boxes import all_boxes, box_entry, box_of_devices
from predictor.services.loads.choice import Candidate, choose_box
from predictor.services.loads.load_file import read_load
from predictor.services.loads.models import model_paths
from predictor.services.loads.records import Load
from predictor.services.serving.sentences import percent

_SCHEMA = "ctm-load-choice/1"  # scripts depend on it
_HEADERS = ("Box", "Mode", "Chance", "Busiest", "W", "W of runs", "")


def choose_by_load(options: argparse.Namespace, console: Console) -> int:
    """Rank boxes by whether they carry the load; nothing is stored."""
    load = read_load(options.load)
    paths = model_paths(load)
    catalogue = open_catalogue(options, console)
    devices = named_devices(options.device, catalogue, console)
    boxes = [box_of_devices([device]) for device in devices] or list(all_boxes(catalogue))
    models = models_of(paths)
    with closing(PredictionStore(options.store)) as store:
        evidence = evidence_of(options, load, boxes, models, store)
        candidates = choose_box(load, boxes, models, evidence, progress_on(console))
        holding = sum(candidate.holds(load) for candidate in candidates)
        rows = candidates[: options.rows or None]
        if options.json:
            entries = [_entry(load, candidate) for candidate in rows]
            console.document({"schema": _SCHEMA, "holding": holding, "boxes": entries})
        else:
            console.result(_text(load, rows, holding, len(candidates)))
        stored = store.exit_code(console, "your measurements were not used")
    return stored or (0 if holding else BUDGET_MISSED)


def _text(load: Load, rows: Sequence[Candidate], holding: int, count: int) -> str:
    boxes = plural(count, "box in its mode", "boxes in their modes")
    wanted = percent(load.chance)
    sentence = f"{holding} of {boxes} carry the load with {wanted}"
    if holding:
        first = rows[0]
        mode = f" at {printable(first.box.mode)}" if first.box.mode else ""
        watts = "" if first.watts is None else f", {number(first.watts)} W"
        sentence += f"; {printable(first.box.name)}{mode} comes first{watts}"
    table = render_table(_HEADERS, [_row(load, row) for row in rows], "  rrrr")
    parts = [f"{sentence}.", table]
    if count > len(rows):
        parts.append(f"{count - len(rows)} more; --rows 0 lists all.")
    return "\n\n".join(parts)


def _row(load: Load, candidate: Candidate) -> tuple[str, ...]:
    chance = percent(candidate.chance)
    if not candidate.holds(load):
        chance = "—" if candidate.problem else f"under {percent(load.chance)}"
    busiest = candidate.busiest
    return (
        printable(candidate.box.name),
        printable(candidate.box.mode),
        chance,
        "—" if busiest is None else f"{candidate.unit} {percent(busiest)}",
        number(candidate.watts),
        number(candidate.run_watts),
        printable(candidate.problem),
    )


def _entry(load: Load, candidate: Candidate) -> dict[str, object]:
    return {
        "box": box_entry(candidate.box),
        "holds": candidate.holds(load),
        "chance": candidate.chance,
        "busiest": candidate.busiest,
        "busiest_unit": candidate.unit or None,
        "watts": candidate.watts,
        "run_watts": candidate.run_watts,
        "problem": candidate.problem or None,
    }
