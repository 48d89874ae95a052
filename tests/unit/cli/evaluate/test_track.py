"""``ctm evaluate track`` without a data folder and without research."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from predictor.cli.program import main


def test_the_page_is_printed_without_research(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("predictor.research")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "predictor.research", None)

    assert main(["evaluate", "track"]) == 0

    assert capsys.readouterr().out.startswith("# Track record of the estimate\n\nWritten by")


def test_figures_and_page_are_written_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "track.json"

    assert main(["evaluate", "track", "--output", str(output), "--json"]) == 0

    document = json.loads(output.read_text(encoding="utf-8"))
    assert document == json.loads(capsys.readouterr().out)
    assert document["schema"] == "ctm-track-record/2"
    page = output.with_suffix(".md").read_text(encoding="utf-8")
    assert document["settings"]["unseen"][0]["group"] in page
    assert str(tmp_path) not in page + json.dumps(document)


def test_the_page_in_the_documentation_is_of_the_file_that_ships() -> None:
    folder = Path(__file__).parents[4]
    document = json.loads((folder / "docs/results/track-record.json").read_text(encoding="utf-8"))
    card = json.loads(
        (folder / "resources/checkpoints/closertome/engine.json").read_text(encoding="utf-8")
    )

    assert document["sha256"] == card["files"]["estimate.npz"]
