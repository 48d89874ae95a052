"""How long `ctm predict resnet50.onnx --all --json` takes, start of Python to exit.

The limit is five times `python -c "import onnx, numpy"`, taken in turns with it in this run.
The file is a ResNet-50 of 102 MB with its weights inside, written for this run (or --model).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import Figure, add_arguments, best_of, report
from benchmarks.resnet50 import write_resnet50
from predictor.services.prediction.engines import CLOSERTOME

ROOT = Path(__file__).resolve().parent.parent
TIMES = 5.0


def main() -> int:
    """Take both figures in turns and print the ratio."""
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
            "CTM_STORE": str(Path(folder) / "store.db"),
        }
        ctm = [
            sys.executable,
            "-m",
            "predictor.cli",
            "predict",
            str(model),
            "--all",
            "--json",
            "--quiet",
        ]
        imports = [sys.executable, "-c", "import onnx, numpy"]

        def run(command: list[str]) -> None:
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)

        command_s = imports_s = float("inf")
        run(ctm)  # the first run makes the store and warms the file cache
        for _ in range(options.repeats):
            command_s = min(command_s, best_of(lambda: run(ctm), 1))
            imports_s = min(imports_s, best_of(lambda: run(imports), 1))
    figures = [
        Figure(
            "ctm predict resnet50.onnx --all --json",
            command_s,
            "s",
            TIMES * imports_s,
            '5 x python -c "import onnx, numpy"',
        ),
        Figure('python -c "import onnx, numpy"', imports_s, "s"),
    ]
    return report("command_speed", "The whole command", figures, options.output, engine=CLOSERTOME)


if __name__ == "__main__":
    sys.exit(main())
