"""``ctm choose --load``: the boxes that carry a load, of the fewest joules first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing

from predictor.cli.catalogue import named_devices, open_catalogue
from predictor.cli.console import Console
from predictor.cli.load.command import evidence_of, models_of
from predictor.cli.load.text import mode_cells
from predictor.cli.predicting import BUDGET_MISSED, PredictionStore
from predictor.cli.progress import progress_on
from predictor.cli.tables import render_table
from predictor.core.text import printable
from predictor.services.loads.answers import Candidate
from predictor.services.loads.boxes import all_boxes, box_entry, box_of_devices, named_box
from predictor.services.loads.choice import BoxChoice, choose_box
from predictor.services.loads.document import candidate_entry
from predictor.services.loads.load_file import read_load
from predictor.services.loads.models import model_paths
from predictor.services.loads.records import Load
from predictor.services.loads.sentences import choice_sentence

_SCHEMA = "ctm-load-choice/1"  # scripts depend on it
_HEADERS = ("Box", "Mode", "Chance", "Busiest", "W", "W of runs", "")


def choose_by_load(options: argparse.Namespace, console: Console) -> int:
    """Rank boxes by whether they carry the load; nothing is stored."""
    load = read_load(options.load)
    paths = model_paths(load)
    catalogue = open_catalogue(options, console)
    devices = named_devices(options.device, catalogue, console)
    devices += [device for device in catalogue.devices if device.family in options.family]
    boxes = [named_box(text, catalogue) for text in options.box]
    boxes += [box_of_devices([device]) for device in devices]
    boxes = boxes or list(all_boxes(catalogue))
    models = models_of(load, paths)
    with closing(PredictionStore(options.store)) as store:
        evidence = evidence_of(options, load, boxes, models, store, catalogue, console)
        choice = choose_box(load, boxes, models, evidence, options.rows, progress_on(console))
        rows = choice.candidates[: options.rows or None]
        if options.json:
            console.document(_document(load, choice, rows))
        else:
            console.result(_text(load, choice, rows))
        stored = store.exit_code(console, "your measurements were not used")
    return stored or (0 if choice.holding else BUDGET_MISSED)


def _document(load: Load, choice: BoxChoice, rows: Sequence[Candidate]) -> dict[str, object]:
    return {
        "schema": _SCHEMA,
        "considered": choice.considered,
        "passing_bounds": choice.passing,
        "holding": choice.holding,
        "boxes": [_entry(load, candidate) for candidate in rows],
    }


def _text(load: Load, choice: BoxChoice, rows: Sequence[Candidate]) -> str:
    sentence = printable(choice_sentence(load, choice))
    parts = [sentence, render_table(_HEADERS, [_row(load, row) for row in rows], "  rrrr")]
    if choice.considered > len(rows):
        parts.append(f"{choice.considered - len(rows)} more; --rows 0 simulates and lists all.")
    return "\n\n".join(parts)


def _row(load: Load, candidate: Candidate) -> tuple[str, ...]:
    return (
        printable(candidate.box.name),
        printable(candidate.box.mode),
        *mode_cells(candidate, load.chance),
        printable(candidate.problem),
    )


def _entry(load: Load, candidate: Candidate) -> dict[str, object]:
    return {
        "box": box_entry(candidate.box),
        "holds": candidate.holds(load),
        **candidate_entry(candidate),
    }
