"""The worked examples of docs/plugins.md, installed and run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from predictor.cli import program
from predictor.core import plugins
from predictor.core.resources import resources_dir

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "plugins.md"
MOBILENET = resources_dir() / "samples" / "mobilenetv2-1.0-224.onnx"
FENCE = r"^```(?:python|json|toml) (?P<name>\S+)\n(?P<body>.*?)^```$"
# Prints the ids of the targets of the window, and those that the library lets a user change.
WINDOW = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QUndoStack
from ctm_gui.devices.library import DeviceLibrary
from ctm_gui.targets.choice import TargetSelection
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.history.history import open_history

application = QCoreApplication([])
selection = TargetSelection(load_catalogue(), ["acme-a1"])
with open_history(Path(sys.argv[1])) as history:
    run = lambda work, on_result, on_error: on_result(work(history))
    library = DeviceLibrary(selection.catalogue, run, QUndoStack())
    library.catalogue_changed.connect(selection.set_catalogue)
    library.load()
    library.load()
devices = [entry for entry in library.entries if entry.device.vendor == "Acme"]
print([device.id for device in selection.selected], [entry.is_user for entry in devices])
"""
BLOCK = re.compile(FENCE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package of the page as pip does, into a folder of its own."""
    return installed(tmp_path_factory.mktemp("site"))


def installed(site: Path, **changed: str) -> Path:
    """Write the files of the page, with other entry points by group where that is wanted."""
    files = {match["name"]: match["body"] for match in BLOCK.finditer(PAGE.read_text("utf-8"))}
    project = tomllib.loads(files.pop("pyproject.toml"))["project"]
    for name, body in {**files, "acme_ctm/__init__.py": ""}.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")
    lines: list[str] = []
    for group, entries in project["entry-points"].items():
        lines.append(f"[{group}]")
        lines += [
            f"{name} = {changed.get(group.partition('.')[2], value)}"
            for name, value in entries.items()
        ]
    info = site / f"acme_ctm-{project['version']}.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-ctm\nVersion: 1.0\n")
    return site


# Runs commands one after the other, each with streams of its own, and prints what became of them.
SEVERAL = """
import contextlib, io, json, sys
from predictor.cli.program import main

done = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as error:
            code = error.code
    done.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(done))
"""


def ctm(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the package installed."""
    return python(site, "-m", "predictor.cli", *words)


def several(site: Path, *commands: Sequence[str]) -> list[subprocess.CompletedProcess[str]]:
    """Run commands in one process with the package installed."""
    done = python(site, "-c", SEVERAL, json.dumps(commands))
    assert done.returncode == 0, done.stderr
    results = zip(commands, json.loads(done.stdout), strict=True)
    return [subprocess.CompletedProcess(words, *result) for words, result in results]


def python(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the package installed."""
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    """Return the predictions that a command printed."""
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout)["predictions"])


PREDICT = ("predict", str(MOBILENET), "--json")


def test_an_engine_is_named(site: Path) -> None:
    words = (*PREDICT, "--device", "rtx2060", "--engine")
    (row,), (roofline,) = map(rows, several(site, (*words, "acme"), (*words, "roofline")))

    assert row["engine"] == "acme/1"
    assert row["latency_ms"] == pytest.approx(2 * float(str(roofline["latency_ms"])))


def test_a_runtime_is_named(site: Path) -> None:
    words = (*PREDICT, "--device", "rpi5", "--runtime", "acme-rt", "--precision", "fp32")
    (row,) = rows(ctm(site, *words))

    assert row["latency_ms"]
    assert dict(row["configuration"])["runtime"] == "acme-rt"  # type: ignore[call-overload]


def test_a_runtime_is_chosen_and_names_results(site: Path, tmp_path: Path) -> None:
    words = ("choose", str(MOBILENET), "--max-ms", "50", "--device", "rpi5", "--json")
    (tmp_path / "r.csv").write_text("model,latency_ms\nnothing,5\n")
    read = ("probe", "import", str(tmp_path / "r.csv"), "--device", "rpi5")
    chosen, unknown, taken = several(
        site,
        (*words, "--runtime", "acme-rt"),
        (*words, "--runtime", "acme"),
        ("--store", str(tmp_path / "s.db"), *read, "--runtime", "acme-rt"),
    )

    assert chosen.returncode in {0, 1}, chosen.stderr
    assert "invalid choice: 'acme'" in unknown.stderr
    assert "invalid choice" not in taken.stderr


def test_a_vendor_adds_devices(site: Path) -> None:
    done = several(site, (*PREDICT, "--device", "acme-a1"), ("devices", "--json"))
    (row,) = rows(done[0])
    listed = json.loads(done[1].stdout)["devices"]

    assert (row["device"], bool(row["latency_ms"])) == ("acme-a1", True)
    assert "acme-a1" in {device["id"] for device in listed}


def test_a_format_of_model_files_is_read(site: Path, tmp_path: Path) -> None:
    path = tmp_path / "network.acme"
    path.write_text("ACMENET 1\nlinear 64 128\nlinear 128 10\n")

    done = ctm(site, "inspect", str(path), "--json")

    assert done.returncode == 0, done.stderr
    assert "linear1" in done.stdout
    assert json.loads(done.stdout)["format"] == "Acme network"


def test_a_search_of_a_folder_finds_the_files_of_a_plugin(site: Path, tmp_path: Path) -> None:
    (tmp_path / "network.acme").write_text("ACMENET 1\nlinear 64 128\n")
    (tmp_path / "notes.acme").write_text("no network")
    (tmp_path / "notes.txt").write_text("ACMENET 1\n")

    (row,) = rows(ctm(site, "predict", str(tmp_path), "--device", "rpi5", "--json"))

    assert row["model"] == "network.acme"


def test_the_window_lists_the_devices_of_a_plugin(site: Path, tmp_path: Path) -> None:
    done = python(site, "-c", WINDOW, str(tmp_path / "store.db"))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == "['acme-a1'] [False]"


def test_an_import_format_is_recognised(site: Path) -> None:
    code = (
        "from predictor.probing.importers.registry import import_bytes;"
        "file = import_bytes('t.txt', b'acme-bench resnet50 12.5 ms');"
        "print(file.format, file.latencies[0].network, file.latencies[0].value_ms)"
    )

    done = python(site, "-c", code)

    assert done.stderr == ""
    assert done.stdout.split() == ["acme-bench", "resnet50", "12.5"]


def test_plugins_that_fail_are_one_sentence_and_the_rest_works(tmp_path: Path) -> None:
    broken = dict.fromkeys(("engines", "devices", "formats", "importers"), "acme_ctm.missing")
    (tmp_path / "site").mkdir()
    site = installed(tmp_path / "site", **broken)
    path = tmp_path / "network.acme"
    path.write_text("ACMENET 1\nlinear 64 128\n")

    engine, device, file, shipped = several(
        site,
        (*PREDICT, "--device", "rpi5", "--engine", "acme"),
        (*PREDICT, "--device", "acme-a1"),
        ("inspect", str(path)),
        ("predict", str(MOBILENET), "--device", "rpi5"),
    )

    for done in (engine, device, file):
        assert done.returncode == 2
        assert "the plug-in acme (closertome." in done.stderr
        assert "No module named 'acme_ctm.missing'" in done.stderr
        assert "Traceback" not in done.stderr
    assert (shipped.returncode, shipped.stderr) == (0, "")


def test_what_ships_is_looked_up_without_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The start of a command does not wait for entry points."""

    def unused(group: str) -> plugins.Plugins:
        raise AssertionError(f"{group} was read")

    monkeypatch.setattr(plugins, "plugins", unused)
    model = str(MOBILENET)

    assert program.main(["predict", model, "--device", "rpi5", "--runtime", "ncnn"]) == 0
    assert program.main(["predict", model, "--all", "--json"]) == 0
    assert program.main(["explain", model, "--device", "rtx3090", "--engine", "roofline"]) == 0
    assert program.main(["devices", "show", "rpi5"]) == 0
    assert program.main(["inspect", model]) == 0
