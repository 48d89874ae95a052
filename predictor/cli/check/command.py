"""The work of ``ctm check``: reads the models of each table, checks them, writes the results."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from predictor.cli.catalogue import quiet_catalogue
from predictor.cli.console import Console
from predictor.cli.measured import named_target
from predictor.cli.outputs import check_outputs
from predictor.cli.reading import readings_of
from predictor.cli.tables import render_table
from predictor.core.errors import InputError
from predictor.core.files import append_text, write_text
from predictor.core.progress import CancelToken
from predictor.core.records import Target
from predictor.core.text import printable
from predictor.graph.model import Model
from predictor.services.check.budget_file import Check, read_budget
from predictor.services.check.check import (
    Base,
    Checked,
    check_models,
    document,
    exit_code,
    read_base,
    unreadable,
)
from predictor.services.check.outputs import cells, headline, junit, markdown, text_columns
from predictor.services.devices.catalogue import Catalogue
from predictor.services.models.files import find_model_files


def run(options: argparse.Namespace, console: Console) -> int:
    """Check every table and write what was requested; an unreadable model costs no other."""
    checks = read_budget(options.budget)
    base: Base = {} if options.base is None else read_base(options.base)
    catalogue = quiet_catalogue(options)
    targets = [_targets(options.budget, check, catalogue) for check in checks]
    check_outputs(options, _named_models(options.budget, checks))
    rows: list[Checked] = []
    models: list[tuple[str, Model]] = []
    unread: list[Checked] = []
    before: tuple[object, ...] = ()
    for check, wanted in zip(checks, targets, strict=True):
        inputs = (check.models, check.batch, check.dims, check.shapes)
        if inputs != before:  # tables side by side often name the same models
            models, unread = _models(options.budget, check, console)
            before = inputs
        rows += [*check_models(check, models, wanted, base), *unread]
    _write(options, rows)
    _note_engine(console, rows, base)
    if options.json:
        console.document(document(rows))
    else:
        headers, right = text_columns()
        cells_of_rows = [tuple(map(printable, cells(row))) for row in rows]
        console.result(f"{headline(rows)}\n\n{render_table(headers, cells_of_rows, right)}")
    return exit_code(rows)


def _named_models(budget: Path, checks: Sequence[Check]) -> Iterator[str]:
    for check in checks:
        yield from find_model_files(_paths(budget, check), CancelToken()).paths


def _paths(budget: Path, check: Check) -> list[str]:
    return [str(budget.parent / name) for name in check.models]


def _targets(budget: Path, check: Check, catalogue: Catalogue) -> list[Target]:
    usual = argparse.Namespace(runtime=None, precision=None, threads=None)
    targets: dict[object, Target] = {}
    for name in check.targets:
        try:
            target = named_target(name, usual, catalogue)
        except InputError as error:
            where = f"{budget}, line {check.line}, targets: {error.subject}"
            raise InputError(where, error.reason, error.action) from error
        targets[target.id] = target
    return list(targets.values())


def _models(
    budget: Path, check: Check, console: Console
) -> tuple[list[tuple[str, Model]], list[Checked]]:
    """Return the models of a table with their names, and a row for each that cannot be read."""
    folder = budget.parent
    bound = argparse.Namespace(
        batch=check.batch, dim=list(check.dims.items()), shape=list(check.shapes.items())
    )
    models: list[tuple[str, Model]] = []
    unread: list[Checked] = []
    with readings_of(_paths(budget, check), bound) as readings:
        for reading in readings:
            try:
                model = reading.result()
            except InputError as error:
                console.error(f"ctm: {error}")
                unread.append(unreadable(_name(error.subject, folder), error))
            else:
                models.append((_name(model.path, folder), model))
    return models, unread


def _name(path: str, folder: Path) -> str:
    """Return a path from the budget's folder: the same in every checkout, on every system."""
    return Path(os.path.relpath(path, folder)).as_posix()


def _note_engine(console: Console, rows: Sequence[Checked], base: Base) -> None:
    engines = {row.engine for row in rows if row.engine}
    base_engines = sorted({engine for engine, _ in base.values()} - engines)
    if base_engines and engines:
        console.note(f"The base is of {', '.join(base_engines)}: growth is not judged by it.")


def _write(options: argparse.Namespace, rows: list[Checked]) -> None:
    if options.save is not None:
        write_text(options.save, json.dumps(document(rows), indent=1) + "\n", "the document")
    if options.junit is not None:
        write_text(options.junit, junit(rows), "the report")
    if options.summary is not None:
        append_text(options.summary, markdown(rows), "the summary")
