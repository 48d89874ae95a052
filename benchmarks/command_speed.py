"""How long `ctm` takes on a ResNet-50, against importing what it stands on.

`ctm predict resnet50.onnx --all --json` may take three times `python -c "import onnx, numpy"`, and
`ctm inspect resnet50.onnx` one and a half times, start of Python to exit. All are taken in turns in
this run, with their bytecode in a folder of this run, as an installed program has its own. A ratio
is the median of those of one turn each, so that another program disturbs both of its parts. The
time that a command's own process computed, without its reader's, says more on a busy machine.
The first prediction of a program by the Python API has a limit in seconds, its start included.
The file is a ResNet-50 of 102 MB with its weights inside, written for this run (or --model).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.common import Figure, add_arguments, report
from benchmarks.resnet50 import write_resnet50
from predictor.services.prediction.engines import CLOSERTOME

ROOT = Path(__file__).resolve().parent.parent
IMPORTS = 'python -c "import onnx, numpy"'
# Command, and its longest time in that of the imports.
LIMITS = {"ctm predict resnet50.onnx --all --json": 3.0, "ctm inspect resnet50.onnx": 1.5}
API = "first ctm.predict of a program"
API_LIMIT_S = 0.7
# Ends a process of Python with the time that it computed: its children are not counted.
_CLOCKED = "import sys, time\n{}\nsys.stderr.write(f'\\nclock {{time.process_time()}}')"
_CTM = "sys.argv = ['ctm', *{!r}]\nfrom predictor.cli import main\nmain()"


def programs(model: Path) -> dict[str, list[str]]:
    """Return the command lines to time, by what they are, the imports first."""
    predict, inspect = (
        _CTM.format([*words, "--quiet"])
        for words in (["predict", str(model), "--all", "--json"], ["inspect", str(model)])
    )
    api = f"import predictor as ctm\nctm.predict({str(model)!r}, 'rpi5')"
    works = {
        **dict(zip((IMPORTS, *LIMITS), ("import onnx, numpy", predict, inspect), strict=True)),
        API: api,
    }
    return {what: [sys.executable, "-c", _CLOCKED.format(work)] for what, work in works.items()}


def taken_s(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Return the time of a program, start to exit, and what its own process computed, in s."""
    start = time.perf_counter()
    done = subprocess.run(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True
    )
    wall_s = time.perf_counter() - start
    return wall_s, float(done.stderr.rpartition(b"clock ")[2])


def figures_of(turns: Sequence[Mapping[str, tuple[float, float]]]) -> list[Figure]:
    """Return the figures of turns, each with the times of every program."""
    figures = []
    for what in turns[0]:
        wall_s, own_s = (min(turn[what][place] for turn in turns) for place in (0, 1))
        of_api = API_LIMIT_S if what == API else None
        figures += [
            Figure(what, wall_s, "s", of_api, "our target" if of_api else ""),
            Figure(f"{what}: computed", own_s, "s"),
        ]
    for what, limit in LIMITS.items():
        ratios = [
            median(turn[what][place] / turn[IMPORTS][place] for turn in turns) for place in (0, 1)
        ]
        source = f"our target, in {IMPORTS}"
        figures += [
            Figure(f"{what}: ratio", ratios[0], "", limit, source),
            Figure(f"{what}: ratio of what it computed", ratios[1], "", limit, source),
        ]
    return figures


def main() -> int:
    """Take all figures in turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--model", type=Path, help="a ResNet-50 of yours")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or Path(folder) / "resnet50.onnx"
        if options.model is None:
            write_resnet50(model)
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"),
            "CTM_STORE": str(Path(folder) / "store.db"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        commands = programs(model.resolve())
        for command in commands.values():  # makes the store and the bytecode, warms the file cache
            taken_s(command, environment)
        turns = [
            {what: taken_s(command, environment) for what, command in commands.items()}
            for _ in range(options.repeats)
        ]
    notes = [f"Of {options.repeats} turns: times are the shortest, ratios the median of a turn's."]
    return report(
        "command_speed",
        "The whole command",
        figures_of(turns),
        options.output,
        notes,
        engine=CLOSERTOME,
    )


if __name__ == "__main__":
    sys.exit(main())
