"""Speed-up of `ctm predict --cluster` from one local worker to two, start to exit.

Runs with one worker and with two take turns; the ratio is that of the shortest. Scheduler and
command need a processor beside those of the workers: on two the ratio stays under 2 whatever the
code does, so load and processors are printed with it. Needs the extra ``cluster``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import Figure, add_arguments, best_of, report
from tests.e2e.clusters import TlsCluster

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "resources" / "samples" / "mobilenetv2-1.0-224.onnx"
WARMING = 6  # files by which a new worker loads what it needs


def main() -> int:
    """Take both figures in turns and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, repeats=3)
    parser.add_argument("--files", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models, few = _copies(folder / "models", options.files), _copies(folder / "few", WARMING)
        cluster = TlsCluster(folder)
        one_s = two_s = float("inf")
        try:
            cluster.worker()
            _predict(cluster, few)
            for _ in range(options.repeats):
                one_s = min(one_s, best_of(lambda: _predict(cluster, models), 1))
                second = cluster.worker()
                _predict(cluster, few)
                two_s = min(two_s, best_of(lambda: _predict(cluster, models), 1))
                second.terminate()
                second.wait()
        finally:
            cluster.stop()
    beside = f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    figures = [
        Figure(f"{options.files} files, all devices, one worker ({beside})", one_s, "s"),
        Figure("the same, two workers", two_s, "s"),
        Figure("speed-up", one_s / two_s, ""),
    ]
    return report("cluster_speed", "Workers of a cluster", figures, options.output)


def _copies(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        shutil.copy(MODEL, folder / f"m{number}.onnx")
    return folder


def _predict(cluster: TlsCluster, models: Path) -> None:
    rows = models.with_suffix(".jsonl")
    command = [sys.executable, "-m", "predictor.cli", "--quiet", "predict", str(models), "--all"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CTM_STORE": str(models / "store.db")}
    subprocess.run([*command, "--rows", str(rows), *cluster.options()], env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
