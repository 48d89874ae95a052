"""``ctm evaluate track`` without a data folder, in a checkout and where there is none."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from predictor.cli.program import main


@pytest.mark.parametrize("in_checkout", [True, False])
def test_goals_are_on_the_page_in_a_checkout(
    in_checkout: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not in_checkout:
        monkeypatch.setitem(sys.modules, "ctm_research", None)

    assert main(["evaluate", "track"]) == 0

    page = capsys.readouterr().out
    assert page.startswith("# Track record of the estimate\n\nWritten by")
    assert ("goal" in page) is in_checkout


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
