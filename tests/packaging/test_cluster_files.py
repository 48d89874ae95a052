"""The examples for Slurm and Kubernetes run ctm with a command line that it takes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from argparse import Namespace
from pathlib import Path

import pytest

from predictor.cli.program import parse

FOLDER = Path(__file__).resolve().parents[2] / "packaging" / "cluster"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def options_of(folder: Path, command: list[str], **environment: str) -> Namespace:
    """The options that a command gives to ctm, for which a script stands."""
    stand_in, given = folder / "ctm", folder / "given"
    stand_in.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {given}\n', encoding="utf-8")
    stand_in.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(command, env={**os.environ, **environment, "PATH": path}, check=True)
    return parse(given.read_text(encoding="utf-8").splitlines())


def test_a_task_of_a_slurm_array_predicts_its_part(tmp_path: Path) -> None:
    options = options_of(
        tmp_path,
        ["sh", str(FOLDER / "slurm.sh"), "models", "out"],
        SLURM_ARRAY_TASK_ID="3",
        SLURM_ARRAY_TASK_COUNT="16",
        SLURM_CPUS_PER_TASK="4",
    )
    assert (options.models, options.all, options.jobs) == (["models"], True, 4)
    assert (options.shard, options.rows) == ((3, 16), Path("out/part-3.jsonl"))


def test_a_pod_of_an_indexed_job_predicts_its_part(tmp_path: Path) -> None:
    text = (FOLDER / "kubernetes.yaml").read_text(encoding="utf-8")
    assert "completionMode: Indexed" in text
    folded = text.split("- >-\n", 1)[1].split("volumeMounts:", 1)[0]
    script = " ".join(textwrap.dedent(folded).split("\n"))
    options = options_of(tmp_path, ["sh", "-c", script], JOB_COMPLETION_INDEX="15")
    assert (options.shard, options.rows) == ((16, 16), Path("/data/out/part-15.jsonl"))
    assert (options.models, options.all) == (["/data/models"], True)
    assert "completions: 16" in text
