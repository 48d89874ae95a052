"""A suite of ``ctm evaluate nas``: it is run, and its document, page and plots are written."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ctm_research.commands.libraries import libraries_needed
from ctm_research.nas.benchmark.document import document
from ctm_research.nas.benchmark.page import page
from ctm_research.nas.benchmark.protocol import Plan
from ctm_research.nas.benchmark.runner import Order, Runner, open_splits
from ctm_research.nas.benchmark.suites import SUITES, Suite, chooser_of, methods_of
from ctm_research.nas.benchmark.work import WorkFolder
from predictor import __version__
from predictor.cli.console import Console
from predictor.cli.progress import progress_on
from predictor.core.errors import InputError
from predictor.core.files import write_text
from predictor.services.measurements.origin import environment_of

_WORK = "nas-work"  # beside the pages: what is finished
_GIT_SECONDS = 10


def run(options: argparse.Namespace, console: Console) -> int:
    """Run a suite, and write its document, its page and its plots; always 0."""
    suite, output = SUITES[options.suite], Path(options.output)
    if output.exists() and not output.is_dir():
        raise InputError(str(output), "it is a file", "name a folder")
    order = _order(options, suite)
    progress = progress_on(console)
    work = WorkFolder(output / _WORK, order.plan)
    splits = open_splits(Path(options.data), order.partitions, progress)
    finished = Runner(splits, order, work, progress).run()
    figures = {
        **environment_of(_command(options), _commit()),
        **document(suite, order, finished),
    }
    written = _write(output, suite, figures)
    if options.json:
        console.document(figures)
    else:
        console.note(f"Written: {', '.join(map(str, written))}")
    return 0


def _order(options: argparse.Namespace, suite: Suite) -> Order:
    methods = methods_of(suite, options.methods)
    own_probes = suite.own_probes or options.own_probes
    return Order(
        partitions=tuple(dict.fromkeys(options.partitions)) or suite.partitions,
        methods=methods,
        chooser=chooser_of(own_probes=own_probes),
        own_probes=own_probes,
        plan=Plan(options.trainings, options.draws, tuple(options.ks), options.seed),
        once=frozenset(methods_of(suite, options.once)) if options.once else frozenset(),
    )


def _command(options: argparse.Namespace) -> str:
    lists = {name: getattr(options, name) for name in ("methods", "once", "partitions", "ks")}
    given = [f"--{name} {' '.join(map(str, values))}" for name, values in lists.items() if values]
    own = ["--own-probes"] if options.own_probes else []
    repetitions = f"--trainings {options.trainings} --draws {options.draws} --seed {options.seed}"
    words = ["ctm evaluate nas --data DIR", f"--suite {options.suite}", *given, *own, repetitions]
    return f"{' '.join(words)} --output DIR"


def _commit() -> str:
    """Return the commit of the checkout that runs; an installed package has none."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return f"of version {__version__}"
    try:
        described = subprocess.run(
            # --exclude "*": a tag in the way would hide the commit that figures belong to.
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude", "*"],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return described.stdout.strip()


def _write(output: Path, suite: Suite, figures: Mapping[str, object]) -> list[Path]:
    stem = f"nas-{suite.name}"
    document_path, page_path = output / f"{stem}.json", output / f"{stem}.md"
    text = json.dumps(figures, indent=1, allow_nan=False) + "\n"
    write_text(document_path, text)
    plots = _plots(figures, output, stem)
    write_text(page_path, page(figures, plots))
    return [document_path, page_path, *(output / name for name in plots.values())]


def _plots(figures: Mapping[str, object], output: Path, stem: str) -> dict[str, str]:
    with libraries_needed("plots"):  # they alone need matplotlib
        from ctm_research.nas.benchmark.plots import write_plots  # noqa: PLC0415

    return write_plots(figures, output, stem)
