"""Kept answers, what is missing, and the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctm_research.evaluation.systems import run as running
from ctm_research.evaluation.systems.document import compare
from ctm_research.evaluation.systems.figures import entries
from ctm_research.evaluation.systems.page import page
from ctm_research.evaluation.systems.plot import write_plot
from ctm_research.evaluation.systems.run import kept_document, run, units_of
from ctm_research.evaluation.systems.spaces import space_entry
from ctm_research.evaluation.systems.transformers import transformer_entry
from predictor.cli.program import parse
from predictor.core.errors import InputError
from research.tests.evaluation.systems.small_field import small_field

NAMES = ("class-roofline", "pm2lat", "nn-meter")
ENOUGH = 1e9


def document(tmp_path: Path, seconds: float = ENOUGH) -> dict[str, object]:
    """Return what the command writes of a small field."""
    field = small_field()
    finished = run(field, units_of(NAMES, 1), tmp_path / "work", seconds)
    done = {each.unit for each in finished}
    return {
        "folds": 1,
        "draws": running.DRAWS,
        "ks": list(running.KS),
        "networks_of_a_target": 30,
        "measurements": len(field.rows),
        "targets": 6,
        "classes": [],
        "pairs": 0,
        "systems": entries(field, finished, NAMES),
        "transformers": None,
        "spaces": space_entry(tmp_path),
        "groups": [],
        "precision": {"classes": [], "systems": []},
        "words": None,
        "lengths": [],
        "missing": [list(unit) for unit in units_of(NAMES, 1) if unit not in done],
    }


def test_a_finished_fold_is_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = document(tmp_path)

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(running, "ask", refuse)

    assert document(tmp_path) == first


def test_what_no_time_was_left_for_is_missing_on_the_page(tmp_path: Path) -> None:
    part = document(tmp_path, seconds=0)

    assert [unit[0] for unit in part["missing"]] == list(NAMES)  # type: ignore[attr-defined]
    text = page(part, "Written by a test.", "systems.png")
    assert "Still missing, 3 trainings" in text
    assert "PM2Lat's form (pm2lat)" in text


def test_the_page_has_every_system_and_what_it_leaves_open(tmp_path: Path) -> None:
    whole = document(tmp_path)

    text = page(whole, "Written by a test.", "systems.png")

    assert "Still missing" not in text
    assert text.count("PM2Lat's form") >= 2
    assert "## What each leaves open" in text
    assert "no other length was run" in text
    assert "Not there: nas-systems.json" in text


def test_a_half_written_answer_is_refused_in_one_sentence(tmp_path: Path) -> None:
    document(tmp_path)
    kept = next((tmp_path / "work").glob("pm2lat-*.npz"))
    kept.write_bytes(kept.read_bytes()[:100])

    with pytest.raises(InputError, match="cut off"):
        document(tmp_path)


def test_a_half_written_document_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "work" / "words.json"

    assert kept_document(path, None) is None
    assert kept_document(path, lambda: [1.5]) == [1.5]
    assert kept_document(path, None) == [1.5]
    path.write_text("[1.")
    with pytest.raises(InputError, match="cut off"):
        kept_document(path, lambda: [1.5])


def test_a_half_written_document_of_search_spaces_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nas-systems.json").write_text('{"plan": {"ks": [5')

    with pytest.raises(InputError, match="cut off"):
        space_entry(tmp_path)


def test_a_missing_source_and_an_unknown_system_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="oracle"):
        compare(tmp_path, {}, ["oracle"], tmp_path / "work", ENOUGH)
    with pytest.raises(InputError):
        compare(tmp_path / "nowhere", {}, ["pm2lat"], tmp_path / "work", ENOUGH)


def test_the_transformers_need_their_source(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gpus\.csv"):
        transformer_entry(tmp_path, small_field(), [], tmp_path / "work", may_train=True)


def test_the_page_says_whether_the_goal_is_reached(tmp_path: Path) -> None:
    def text_of(error: float) -> str:
        entry = {"label": "Ours", "cards": {"MI100": 5.0}, "mean": 5.0, "errors": [error]}
        transformers = {
            "count": 3,
            "cards": [],
            "systems": [],
            "product_under_printed": ["Tesla_P4"],
            "amd": {"cards": ["MI100"], "systems": [entry]},
        }
        own = {
            "card": "h100-sxm",
            "networks": {"net": 2.0},
            "operators": 7,
            "systems": [{**entry, "mean": error}],
            "printed": 6.1,
        }
        whole = {**document(tmp_path), "transformers": transformers, "own_card": own}
        return page(whole, "Written by a test.", "systems.png")

    assert "the product is 5.0 % off, under it." in text_of(5.0)
    under = text_of(7.0)
    assert "the product is 7.0 % off, not under it." in under
    assert "| Ours | 7.0 | 7.0 |" in under
    assert "| NeuSight as printed | - | 6.1 |" in under


def test_options_of_the_command() -> None:
    options = parse(
        ["evaluate", "systems", "--data", "d", "--output", "o.json", "--systems", "pm2lat"]
    )

    assert (options.systems, options.minutes) == (["pm2lat"], 120)


def test_the_plot_is_written_of_known_figures(tmp_path: Path) -> None:
    whole = {
        "ks": [0, 3, 8],
        "spaces": {"ks": [5, 10, 20], "methods": []},
        "systems": [
            {
                "name": name,
                "label": name,
                "ks": {str(k): {"error_percent": error / (1 + k)} for k in (0, 3, 8)},
            }
            for name, error in (("closertome", 30.0), ("pm2lat", 50.0))
        ],
    }

    write_plot(json.loads(json.dumps(whole)), tmp_path / "made" / "x.png")

    assert (tmp_path / "made" / "x.png").read_bytes().startswith(b"\x89PNG")
