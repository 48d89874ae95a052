"""A frozen program starts itself as each of its children; here a script stands in for the program.

The script runs the entry of the frozen program under this Python. It says that it is frozen and
that it is the executable, as PyInstaller's bootloader does. Nothing else is replaced.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from predictor.services.frozen import serve_if_child
from predictor.services.report.pdf import WRITER_FLAG

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "samples" / "mobilenetv2-1.0-224.onnx"
PROGRAM = """\
#!{python} -P
import runpy, sys
with open({marks!r}, "a") as file:
    file.write(" ".join(sys.argv[1:2]) + "\\n")
sys.path.insert(0, {root!r})
sys.frozen, sys.executable = True, {program!r}
runpy.run_path({entry!r}, run_name="__main__")
"""

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="a script is no program on Windows"),
    pytest.mark.timeout(240),
]


@pytest.fixture
def ctm(tmp_path: Path) -> Path:
    """The frozen ``ctm``; each start notes its first argument in ``starts`` beside it."""
    program = tmp_path / "ctm"
    text = PROGRAM.format(
        python=sys.executable,
        marks=str(tmp_path / "starts"),
        root=str(ROOT),
        program=str(program),
        entry=str(ROOT / "packaging" / "entries" / "closertome.py"),
    )
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    return program


def run(program: Path, *arguments: str, said: str = "") -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(program), *arguments],
        cwd=program.parent,
        env={**environment, "CTM_STORE": str(program.parent / "store.sqlite")},
        capture_output=True,
        input=said,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def starts(program: Path) -> list[str]:
    return (program.parent / "starts").read_text(encoding="utf-8").split("\n")[:-1]


def test_a_prediction_reads_the_file_in_itself(ctm: Path) -> None:
    document = json.loads(run(ctm, "predict", str(SAMPLE), "--device", "rpi5", "--json"))

    assert document["predictions"][0]["latency_ms"] > 0
    assert starts(ctm) == ["predict", "--ingestion-worker"]


def test_rows_of_several_processes_are_made_in_itself(ctm: Path) -> None:
    rows = ctm.parent / "rows.jsonl"
    other = rows.with_name("other.onnx")
    other.symlink_to(SAMPLE)
    asked = ("--device", "rpi5", "--rows", str(rows), "--jobs", "2")
    run(ctm, "predict", str(SAMPLE), str(other), *asked)

    assert len(rows.read_text(encoding="utf-8").splitlines()) == 2
    assert sorted(starts(ctm)) == [*["--ingestion-worker"] * 2, *["--rows-worker"] * 2, "predict"]


def test_a_kit_builds_its_networks_in_itself(ctm: Path) -> None:
    kit = ctm.parent / "kit.zip"
    run(ctm, "probe", "kit", "--device", "rpi5", "--probes", "2", "--output", str(kit))

    with zipfile.ZipFile(kit) as archive:
        assert "ctm_runner.pyz" in archive.namelist()
    assert starts(ctm) == ["probe", "--network-builder"]


def test_a_report_is_written_by_itself(ctm: Path) -> None:
    report = ctm.parent / "report.pdf"
    run(ctm, "report", str(SAMPLE), "--device", "rpi5", "-o", str(report))

    assert report.read_bytes().startswith(b"%PDF-")
    assert starts(ctm) == ["report", "--ingestion-worker", WRITER_FLAG]


def test_the_self_test_is_itself(ctm: Path) -> None:
    rates = json.loads(run(ctm, "--self-test", "0.01", "2"))

    assert rates["copy_gbps"] > 0
    assert rates["product_tflops"] > 0


def test_the_runner_is_itself(ctm: Path) -> None:
    assert "--plan" in run(ctm, "--probe-runner", "run", "--help")


def test_the_layout_of_a_graph_is_itself(ctm: Path) -> None:
    request = {"id": 1, "levels": [{"members": 3, "edges": [[0, 1], [1, 2]]}]}
    answer = json.loads(run(ctm, "--graph-layout", said=json.dumps(request) + "\n"))

    assert answer["payload"]["levels"] == [{"layers": [[0], [1], [2]], "routes": [[], []]}]


@pytest.mark.parametrize("arguments", [[], ["predict"], ["--version"], ["--store", "x"]])
def test_a_usual_start_serves_nobody(arguments: list[str]) -> None:
    assert serve_if_child(arguments) is None
