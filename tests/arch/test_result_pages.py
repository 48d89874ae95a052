"""Each page of results is of the engine that ships, says of which former one it is, or of none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from predictor.services.measurements.origin import engine_facts, engine_line
from predictor.services.prediction.engines import ENGINES

ROOT: Final = Path(__file__).resolve().parents[2]
DOCS: Final = ROOT / "docs"
README: Final = ROOT / "README.md"
ENGINE: Final = re.compile(r"^Engine: .*$", re.MULTILINE)
HISTORY: Final = re.compile(r"^Kept as history of closertome/([1-9]\d*)\.$", re.MULTILINE)
VERSION: Final = re.compile(r"\bclosertome/(\d+)\b")

# Pages whose figures no engine takes part in, with what they are figures of.
WITHOUT_ENGINE: Final[Mapping[str, str]] = {
    "corpus": "measurements that engines learn from",
    "aihub-memory": "bytes and lists of operators, counted on graphs",
    "bridge": "times that runtimes took",
    "catalogue": "facts of devices",
    "clicks": "actions in the window",
    "device_form": "the form of a device",
    "fuzz": "readers of files, writers of stores",
    "generation": "rates of language models, by coefficients that the command fits",
    "ingestion_speed": "the reader of models",
    "reading_speed": "the reader of models",
    "launch_overhead": "times that runtimes took",
    "macs": "operations, counted on graphs",
    "offload": "rates of language models, by coefficients that ship",
    "queues": "rates of language models, by coefficients that ship",
    "nas-figure3": "methods that the command trains",
    "nas-figure4": "methods that the command trains",
    "nas-selectors": "methods that the command trains",
    "nas-systems": "methods that the command trains",
    "nas-systems-nasbench201": "methods that the command trains",
    "nas-table1": "methods that the command trains",
    "nas-table3": "methods that the command trains",
    "power": "watts of cards and boards",
    "probe_fidelity": "times that the runner took",
    "soak": "actions in the window",
    "tails": "percentiles in logs of MLPerf",
    "window-findings": "tests by finding",
    "window-pictures": "pictures",
    "window_scenes": "turns of the thread that draws; the engine has another",
    "window_start": "the start of the window",
    "window_views": "tables and charts of the window",
}


def pages(docs: Path) -> Iterator[Path]:
    """Yield the pages of results: in a folder of that name, written by a command, or of figures."""
    for page in sorted(docs.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        written = re.search(r"^Written by `", text, re.MULTILINE)
        if "results" in page.parts or written or page.with_suffix(".json").exists():
            yield page


def problem(text: str, shipped: set[str]) -> str:
    """Say what is wrong with the engine of a page; empty where nothing is.

    Args:
        text: of the page.
        shipped: the lines of the engines that ship.
    """
    lines, former = ENGINE.findall(text), HISTORY.findall(text)
    if len(lines) + len(former) != 1:
        return f"it has {len(lines)} lines of an engine and {len(former)} of history, not one"
    if lines and lines[0] not in shipped:
        return f"'{lines[0]}' is not what ships: {', '.join(sorted(shipped))}"
    if former and any(line.startswith(f"Engine: closertome/{former[0]},") for line in shipped):
        return f"closertome/{former[0]} ships, and is no history"
    return ""


def shipped_lines() -> set[str]:
    return {engine_line(engine_facts(name)) for name in ENGINES}


RESEARCH: Final = ROOT / "research" / "docs"
PAGES: Final = [*pages(DOCS), *pages(RESEARCH)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_of_results_is_of_the_engine_that_ships(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if page.stem in WITHOUT_ENGINE:
        assert ENGINE.findall(text) + HISTORY.findall(text) == [], "an engine takes part in it"
        return
    wrong = problem(text, shipped_lines())
    assert not wrong, f"{page.relative_to(ROOT)}: {wrong}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_figures_and_their_page_name_one_engine(page: Path) -> None:
    figures = page.with_suffix(".json")
    line = ENGINE.search(page.read_text(encoding="utf-8"))
    if line is None or not figures.exists():
        return
    document = json.loads(figures.read_text(encoding="utf-8"))
    facts = document.get("environment", document)
    assert engine_line(facts) == line.group()


def test_each_page_without_an_engine_is_there() -> None:
    assert set(WITHOUT_ENGINE) <= {page.stem for page in PAGES}


def test_only_decisions_and_history_name_a_former_engine() -> None:
    version = VERSION.search(engine_facts("closertome")["engine"])
    assert version
    for page in (README, *sorted(DOCS.rglob("*.md")), *sorted(RESEARCH.rglob("*.md"))):
        text = page.read_text(encoding="utf-8")
        if "decisions" not in page.parts and not HISTORY.search(text):
            assert set(VERSION.findall(text)) <= {version[1]}, page


SHIPPED: Final = {"Engine: closertome/9, estimate 0123456789ab.", "Engine: roofline/1."}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("# A\n\nEngine: closertome/9, estimate 0123456789ab.\n", ""),
        ("# A\n\nEngine: roofline/1.\n", ""),
        ("# A\n\nKept as history of closertome/8.\n", ""),
        ("# A\n\nEngine: closertome/8, estimate 0123456789ab.\n", "is not what ships"),
        ("# A\n\nEngine: closertome/9, estimate ba9876543210.\n", "is not what ships"),
        ("# A\n\nEngine: closertome/9.\n", "is not what ships"),
        ("# A\n\nKept as history of closertome/9.\n", "closertome/9 ships"),
        ("# A\n\nKept as history of closertome/N.\n", "it has 0 lines"),
        ("# A\n\nKept as history of an older engine.\n", "it has 0 lines"),
        ("# A\n", "it has 0 lines"),
        ("Engine: roofline/1.\n\nKept as history of closertome/8.\n", "1 of history, not one"),
    ],
)
def test_a_page_of_another_engine_is_told(text: str, wrong: str) -> None:
    assert (wrong in problem(text, SHIPPED)) if wrong else not problem(text, SHIPPED)


def test_a_page_is_one_wherever_it_lies(tmp_path: Path) -> None:
    for name, text in {
        "a.md": "Written by `ctm`.\n",
        "results/b.md": "# B\n",
        "deep/c.md": "# C\n",
        "deep/c.json": "{}",
        "prose.md": "Nothing here is `Written by` a command.\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert [page.name for page in pages(tmp_path)] == ["a.md", "c.md", "b.md"]
