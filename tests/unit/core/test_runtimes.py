"""The registry of runtimes agrees with what ships, and a row is all that a new one takes."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

import pytest

from predictor.core.metrics import Family
from predictor.core.records import Precision
from predictor.core.runtimes import RUNTIMES, Runtime, runtime_of
from predictor.devices.catalogue import load_device_files

ROOT = Path(__file__).parents[3]

# A runtime is added, and each room is asked for it. In a process of its own: the rooms read the
# table when they are imported.
WITH_A_NEW_ROW = """
from types import MappingProxyType
from predictor.core import runtimes
from predictor.core.metrics import Family

cpu = frozenset({Family.CPU})
row = runtimes.Runtime(name="newrt", title="New Runtime", families=cpu, portable=cpu)
runtimes.RUNTIMES = MappingProxyType({**runtimes.RUNTIMES, row.name: row})
"""
IN_THE_SCHEMA = """
import sys

sys.path.append("packaging")
from make_schema import json_schema_text

assert '"newrt"' in json_schema_text()
"""
IN_A_DEVICE_FILE = """
from predictor.devices.schema import device_from_object

content = {"schema": "ctm-hcv/1", "id": "a", "name": "A", "vendor": "V", "family": "cpu"}
content |= {"metrics": {"core_count": 4}, "configurations": [{"runtime": "newrt"}]}
assert device_from_object(content, "x").device.configurations[0].runtime == "newrt"
"""
IN_THE_FORM = """
from PySide6.QtWidgets import QApplication
from ctm_gui.devices.lists_view import ConfigurationsEditor

app = QApplication([])
editor = ConfigurationsEditor()
assert editor.runtime.findText("newrt") >= 0
"""
# An Intel processor, which does not list the runtime; the shipped checkpoint has no input for it.
IN_A_PREDICTION = """
import io, json, sys
from contextlib import redirect_stdout
from predictor.cli.program import main

asked = ["predict", "resources/samples/mobilenetv2-1.0-224.onnx", "--device", "core-i7-9750h"]
with redirect_stdout(io.StringIO()) as text:
    assert main([*asked, "--runtime", "newrt", "--json", "--quiet"]) == 0
[prediction] = json.loads(text.getvalue())["predictions"]
assert prediction["engine"].startswith("closertome/") and prediction["latency_ms"] > 0
assert "no training device used newrt" in prediction["out_of_distribution"]
"""


def test_names_are_those_of_the_rows() -> None:
    assert [row.name for row in RUNTIMES.values()] == list(RUNTIMES)


@pytest.mark.parametrize("row", RUNTIMES.values(), ids=lambda row: row.name)
def test_a_runtime_is_portable_to_its_families_alone(row: Runtime) -> None:
    assert row.portable <= row.families


@pytest.mark.slow
@pytest.mark.parametrize(
    "room",
    [IN_THE_SCHEMA, IN_A_DEVICE_FILE, IN_THE_FORM, IN_A_PREDICTION],
    ids=["schema", "device file", "form", "prediction"],
)
def test_a_new_row_is_all_that_a_runtime_takes(room: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITH_A_NEW_ROW + room],
        cwd=ROOT,
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_the_shipped_devices_run_what_the_rows_say() -> None:
    for entry in load_device_files():
        for configuration in entry.device.configurations:
            row = RUNTIMES[configuration.runtime]
            assert entry.device.family in row.families, (entry.device.id, row.name)
            assert configuration.precision in row.precisions, (entry.device.id, row.name)


def test_a_name_that_the_registry_lacks_is_a_runtime_of_which_nothing_is_known() -> None:
    assert runtime_of("unheard") == Runtime(name="unheard", title="unheard")


def test_the_list_for_users_is_that_of_the_registry() -> None:
    page = (ROOT / "docs" / "devices.md").read_text(encoding="utf-8")
    listed = [line for line in page.splitlines() if line.startswith("| `")]

    assert [line for line in listed if line.split("`")[1] in RUNTIMES] == [
        f"| `{row.name}` | {row.title} | {_names(Family, row.families)} | "
        f"{_names(Family, row.portable)} | {_names(Precision, row.precisions)} |"
        for row in RUNTIMES.values()
    ]


def _names(kinds: type[StrEnum], chosen: frozenset[StrEnum]) -> str:
    if len(chosen) == len(kinds):
        return "any"
    return ", ".join(kind for kind in kinds if kind in chosen) or "-"
