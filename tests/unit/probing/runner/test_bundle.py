"""The runner as one file: what it imports, which Python it asks for, that it runs alone."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from predictor.core.errors import HostError
from predictor.probing.measuring.documents import carried_files, plan_bytes
from predictor.probing.runner import bundle
from predictor.probing.runner.bundle import RUNNER_FILE, runner_bytes
from tests.support.probe_plans import PLAN_ID, network, plan

SOURCES = sorted(Path(bundle.__file__).parent.glob("*.py"))
PACKED = [path for path in SOURCES if path.name != "bundle.py"]


def imported(tree: ast.Module) -> set[tuple[int, str]]:
    """The level and first name of every import, those in functions too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(0, alias.name.partition(".")[0]) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.level, (node.module or "").partition(".")[0]))
    return found


@pytest.mark.parametrize("path", PACKED, ids=lambda path: path.name)
def test_each_module_parses_as_python_3_8(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("path", PACKED, ids=lambda path: path.name)
def test_each_module_imports_the_standard_library_numpy_and_onnxruntime_alone(path: Path) -> None:
    siblings = {sibling.stem for sibling in PACKED}
    for level, name in imported(ast.parse(path.read_text(encoding="utf-8"))):
        if level:
            assert (level, name in siblings) == (1, True)
        else:
            assert name in sys.stdlib_module_names | {"numpy", "onnxruntime"}


def test_the_same_sources_give_the_same_bytes() -> None:
    assert runner_bytes() == runner_bytes()
    with zipfile.ZipFile(io.BytesIO(runner_bytes())) as archive:
        names = archive.namelist()
    assert "__main__.py" in names
    assert {f"ctm_runner/{path.name}" for path in PACKED} == set(names) - {"__main__.py"}


def test_a_program_without_the_sources_says_so(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="the runner's sources are not there"):
        runner_bytes(tmp_path)


def carried(folder: Path) -> Path:
    """Write what a machine needs to measure a plan, and return the folder."""
    source = folder / "source"
    source.mkdir()
    for name, data in carried_files(plan([network(source, "relu")], network(source, "watch"))):
        target = folder / "kit" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder / "kit"


def start(
    folder: Path, *arguments: str, isolated: bool = False
) -> subprocess.CompletedProcess[str]:
    alone = ["-I", "-S"] if isolated else ["-I"]
    return subprocess.run(
        [sys.executable, *alone, str(folder / RUNNER_FILE), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd="/" if sys.platform != "win32" else None,
    )


@pytest.mark.slow
def test_the_kit_measures_in_a_process_that_knows_nothing_of_us(tmp_path: Path) -> None:
    folder = carried(tmp_path)
    done = start(folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 of 1  relu: " in done.stdout
    assert "The sentinel network drifts by " in done.stdout
    results = json.loads((folder / "results.json").read_text())
    assert (results["plan"], results["finished"]) == (PLAN_ID, True)
    assert results["networks"][0]["median_ms"] > 0
    assert results["host"]["onnxruntime"].startswith("onnxruntime")


def test_without_numpy_and_onnxruntime_it_says_so(tmp_path: Path) -> None:
    done = start(carried(tmp_path), isolated=True)
    assert done.returncode == 3
    assert done.stderr == (
        f"ctm_runner: numpy and onnxruntime is not installed for {sys.executable}\n"
    )


def test_without_them_the_lines_say_so(tmp_path: Path) -> None:
    done = start(carried(tmp_path), "run", "--lines", isolated=True)
    message = json.loads(done.stdout)
    assert (done.returncode, message["kind"], message["payload"]["code"]) == (3, "error", 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file or directory"),
        (b"rubbish", "JSONDecodeError"),
        (b"[]", "is no plan"),
        (b'{"schema": "ctm-plan/9"}', "its form is ctm-plan/9, not ctm-plan/1"),
        (b'{"schema": "ctm-plan/1"}', "KeyError('settings')"),
        (b'{"schema": "ctm-plan/1", "settings": {"speed": 1}}', "unexpected keyword argument"),
    ],
)
def test_a_wrong_plan_is_one_sentence(tmp_path: Path, content: bytes | None, words: str) -> None:
    (tmp_path / RUNNER_FILE).write_bytes(runner_bytes())
    if content is not None:
        (tmp_path / "plan.json").write_bytes(content)
    done = start(tmp_path, isolated=True)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_plan_names_files_in_place_or_beside_it(tmp_path: Path) -> None:
    made = plan([network(tmp_path, "relu")])
    beside, in_place = (json.loads(plan_bytes(made, in_place=flag)) for flag in (False, True))
    assert beside["networks"][0]["file"] == "networks/relu.onnx"
    assert in_place["networks"][0]["file"] == str(tmp_path / "relu.onnx")
