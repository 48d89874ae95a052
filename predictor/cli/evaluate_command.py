"""``ctm evaluate``: engines against published measurements."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from predictor import __version__
from predictor.cli.console import Console
from predictor.cli.progress_line import progress_on
from predictor.core.errors import HostError, InputError
from predictor.research.evaluation.bound import check_bound
from predictor.research.evaluation.bound_document import document
from predictor.research.evaluation.bound_page import page
from predictor.services.devices.catalogue import load_catalogue

_DONE = 0
_LIMIT_MISSED = 1


def run(options: argparse.Namespace, console: Console) -> int:
    """Do what ``ctm evaluate`` was asked for; 1 when its limit is not kept."""
    match options.subject:
        case "nas":
            from predictor.cli.evaluate_nas import run as run_nas  # noqa: PLC0415

            return run_nas(options, console)
        case "measurements":
            from predictor.cli.evaluate_measurements import run as run_measurements  # noqa: PLC0415

            return run_measurements(options, console)
        case _:
            return _run_bound(options, console)


def _run_bound(options: argparse.Namespace, console: Console) -> int:
    output = Path(options.output) if options.output else None
    if output is not None:
        check_output(output)
    progress = progress_on(console)
    check = check_bound(Path(options.data), load_catalogue().by_id, progress)
    environment = environment_of("ctm evaluate bound --data DIR --output OUT.json")
    found = {**environment, **document(check)}
    text = page(found, origin_of(environment))
    if output is not None:
        write_text(output, json.dumps(found, indent=1, allow_nan=False) + "\n")
        write_text(output.with_suffix(".md"), text)
    if options.json:
        console.document(found)
    elif output is None:
        console.result(text)
    else:
        console.note(f"Written: {output} and {output.with_suffix('.md')}")
    return _DONE if check.holds else _LIMIT_MISSED


def check_output(output: Path) -> None:
    """Refuse a place that cannot be written before the work is done, not after."""
    if output.suffix != ".json":
        raise InputError(str(output), "it does not end in .json", "name a file OUT.json")
    if output.is_dir():
        raise InputError(str(output), "it is a folder", "name a file OUT.json")
    if not output.parent.is_dir():
        raise InputError(str(output.parent), "there is no such folder", "make the folder first")


def environment_of(command: str) -> dict[str, str]:
    """Return what and where the figures were taken with; ``command`` names no folder of ours."""
    return {
        "command": command,
        "version": __version__,
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": str(os.cpu_count()),
    }


def origin_of(environment: Mapping[str, str]) -> str:
    """Return the sentence of a page that says what wrote it, where and when."""
    return (
        f"Written by `{environment['command']}` on {environment['date']}: "
        f"{environment['system']}, {environment['processors']} processors, "
        f"Python {environment['python']}."
    )


def write_text(path: Path, text: str) -> None:
    """Write a file.

    Raises:
        HostError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HostError(
            str(path), f"it cannot be written ({error.strerror})", "choose another place"
        ) from error
