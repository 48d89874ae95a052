"""Whether memory stays flat over 1 000 models, and what models of 100 000 operators take at most.

Each model is another one. They are opened and closed one by one in a window, whose tabs are looked
at in turns, and predicted one by one on all shipped devices by a process without a window. Growth
is between the first hundred, by when everything is loaded, and the last: resident memory of the
process and of its reader, each the median of its last 25 looks. The large model is opened with its
operators shown, closed, and looked at after three seconds. Each figure is of a process of its own.

Commands on chains of matrix products may take 4 000 000 KiB of address space a process. Their peak
is the largest resident memory of the command or of its reader, as the system counts it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import psutil

from benchmarks.common import Figure, report
from predictor.services.prediction.engines import CLOSERTOME

if TYPE_CHECKING:
    from ctm_gui.application import Application

OPENS, WARM, LARGE = 1000, 100, 100_000
MOST_GROWTH, MOST_KEPT_MIB = 5.0, 60.0
PREDICT, CHOOSE = ("predict", "--all"), ("choose", "--max-ms", "33")
# Command, operators and its most memory in MB.
COMMANDS = (
    (PREDICT, 1000, None),
    (PREDICT, 10_000, 150.0),
    (PREDICT, 100_000, 500.0),
    (CHOOSE, 10_000, None),
    (CHOOSE, 100_000, 500.0),
)
_ADDRESSES_KIB = 4_000_000
_LOOKS = 25
_MB, _MIB = 1e6, 2**20
_SETTLED_MS = 3000


def window(opens: int) -> Iterator[float]:
    """Open and close models in a window; yield the memory after each, in MiB."""
    with _application() as (folder, app):
        for number in range(opens):
            app.window.show_page(app.window.pages[number // 10 % 3].id)
            _open_and_close(app, _model(folder, number))
            yield resident_mib()


def engine(opens: int) -> Iterator[float]:
    """Read and predict models without a window; yield the memory after each, in MiB."""
    from predictor.services.devices.catalogue import load_catalogue  # noqa: PLC0415 - by process
    from predictor.services.models.ingestion import IngestionWorker  # noqa: PLC0415
    from predictor.services.prediction.predict import predict  # noqa: PLC0415
    from predictor.services.prediction.targets import resolve_targets  # noqa: PLC0415

    targets = resolve_targets(load_catalogue().devices)
    with tempfile.TemporaryDirectory() as name, IngestionWorker() as worker:
        for number in range(opens):
            predict([worker.ingest(_model(Path(name), number))], targets, "closertome")
            yield resident_mib()


def large(operators: int) -> Iterator[float]:
    """Open a large model and close it; yield the memory before, with it, and after."""
    from benchmarks.large_model import turns  # noqa: PLC0415 - by process

    with _application() as (folder, app):
        path = folder / "large.onnx"
        _write_apart(path, operators)
        app.window.show_page("operators")
        for number in range(10):
            _open_and_close(app, _model(folder, number))
        turns(_SETTLED_MS)
        yield resident_mib()
        yield _open_and_close(app, path)
        turns(_SETTLED_MS)
        yield resident_mib()


def _write_apart(path: Path, operators: int) -> None:
    """Write a chain in another process: what writing takes is no memory of this one."""
    writer = "import sys; from pathlib import Path; from benchmarks.large_model import *\n"
    writer += "write_chain(Path(sys.argv[1]), int(sys.argv[2]))"
    command = [sys.executable, "-c", writer, str(path), str(operators)]
    subprocess.run(command, env=_environment(), check=True)


def commands() -> Iterator[Figure]:
    """Yield the peaks of commands on large models."""
    with tempfile.TemporaryDirectory() as name:
        for words, operators, most_mb in COMMANDS:
            path = Path(name) / f"{operators}.onnx"
            if not path.exists():
                _write_apart(path, operators)
            command, *options = words
            peak_mb = _peak_mb([command, str(path), *options, "--store", f"{name}/store.db"])
            yield Figure(
                f"ctm {' '.join(words)} --json, {operators} operators: peak",
                peak_mb,
                "MB",
                most_mb,
                "our target" if most_mb else "",
            )


def _peak_mb(arguments: list[str]) -> float:
    """Return the peak of one command; it has to end with an answer."""
    import resource  # noqa: PLC0415 - not on every system

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES_KIB * 1024,) * 2)

    command = [sys.executable, "-m", "predictor.cli", *arguments, "--json", "--quiet"]
    with tempfile.TemporaryFile() as answer:
        process = subprocess.Popen(command, stdout=answer, preexec_fn=limit)  # noqa: PLW1509
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        answer.seek(0)
        # 1 is the answer that the budget is missed.
        if process.returncode not in {0, 1} or not json.load(answer):
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return float(usage.ru_maxrss) * (1 if sys.platform == "darwin" else 1024) / _MB


def resident_mib() -> float:
    """Return the resident memory of this process and of its children, in MiB."""
    this = psutil.Process()
    return sum(each.memory_info().rss for each in (this, *this.children())) / _MIB


@contextmanager
def _application() -> Iterator[tuple[Path, Application]]:
    """Give a folder and a running window whose files are in it."""
    from ctm_gui.application import Application  # noqa: PLC0415 - by process

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        app = Application(folder / "store.db", folder / "window.ini")
        app.workspace.machine.is_automatic = False  # it would disturb
        app.window.resize(1280, 800)
        app.start()
        yield folder, app
        app.window.close()
        app.close()


def _open_and_close(app: Application, path: Path) -> float:
    """Open a model until it is predicted, and close it; return the memory in between."""
    from benchmarks.large_model import turns, wait_until  # noqa: PLC0415 - by process

    workspace = app.workspace
    app.window.open_paths([str(path)])
    wait_until(lambda: workspace.settled and bool(workspace.comparison.rows))
    turns(20)
    wait_until(lambda: app.window.central.explanation.settled)
    between = resident_mib()
    workspace.shelf.remove([0])
    wait_until(lambda: workspace.settled)
    path.unlink()
    return between


def _model(folder: Path, number: int) -> Path:
    """Write a model that no other number has."""
    from benchmarks.large_model import write_chain  # noqa: PLC0415 - by process

    path = folder / f"model{number}.onnx"
    write_chain(path, 30 + number % 40, 16 + number // 40)
    return path


RUNS: dict[str, Callable[[int], Iterator[float]]] = {
    "window": window,
    "engine": engine,
    "large": large,
}


def measured(run: str, argument: int) -> list[float]:
    """Return the looks of a run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.memory", "--run", run, "--opens", str(argument)]
    done = subprocess.run(command, env=_environment(), stdout=subprocess.PIPE, check=True)
    looks: list[float] = json.loads(done.stdout)
    return looks


def _environment() -> dict[str, str]:
    """Return the environment of a process that may have a window."""
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return {**os.environ}
    return {**os.environ, "QT_QPA_PLATFORM": "offscreen"}


def growth(looks: list[float], warm: int) -> tuple[float, float]:
    """Return the memory when all is loaded and at the end, in MiB."""
    return median(looks[max(warm - _LOOKS, 0) : warm]), median(looks[-_LOOKS:])


def main() -> int:
    """Take the figures and print them; return 1 where one exceeds its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opens", type=int, default=OPENS)
    parser.add_argument("--operators", type=int, default=LARGE, help="of the large model")
    parser.add_argument("--output", type=Path, help="folder of the page")
    parser.add_argument("--run", choices=RUNS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(list(RUNS[options.run](options.opens))))
        return 0
    warm = min(WARM, options.opens // 2)
    figures = []
    for run, where in (("window", "in the window"), ("engine", "without a window")):
        begin, end = growth(measured(run, options.opens), warm)
        figures += [
            Figure(f"{where}: after {warm} models", begin, "MiB"),
            Figure(f"{where}: after {options.opens} models", end, "MiB"),
            Figure(f"{where}: growth", (end / begin - 1) * 100, "%", MOST_GROWTH, "our target"),
        ]
    before, between, after = measured("large", options.operators)
    what = f"{options.operators} operators in the window"
    figures += [
        Figure(f"{what}: before", before, "MiB"),
        Figure(f"{what}: while it is open", between, "MiB"),
        Figure(f"{what}: closed, more than before", after - before, "MiB", MOST_KEPT_MIB,
               "our target"),
    ]  # fmt: skip
    figures += commands()
    title = f"Memory over {options.opens} models, and of large ones"
    return report("memory", title, figures, options.output, engine=CLOSERTOME)


if __name__ == "__main__":
    sys.exit(main())
