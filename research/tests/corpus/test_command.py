"""The command that prints the corpus and writes its page."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctm_research.corpus.__main__ import main
from ctm_research.corpus.cache import corpus_key, write_corpus
from ctm_research.corpus.spreads import StatisticSpread
from ctm_research.corpus.summary import END, START, summary
from research.tests.corpus.small_corpus import SIZES, small_corpus, write_data


def arguments(tmp_path: Path, *more: str) -> list[str]:
    """Return the options, with the corpus of the folder in the cache already."""
    write_data(tmp_path / "data")
    write_corpus(tmp_path / "cache" / corpus_key(tmp_path / "data", SIZES), small_corpus())
    sizes = ["--architectures", "3", "--operators", "4"]
    return ["--data", f"{tmp_path / 'data'}", "--cache", f"{tmp_path / 'cache'}", *sizes, *more]


def test_the_tables_have_a_line_for_each_source() -> None:
    text = summary(small_corpus(), [StatisticSpread("ncnn", "min_ms", "avg_ms", 12, 2.0, 31.4)])

    # measurements, graphs, networks, families, targets, devices, silicon, not in the catalogue
    assert "| timm | 12 | 4 | 3 | 3 | 3 | 3 | 2 | 0 |" in text
    assert "| ncnn | 12 | 2 | 2 | 2 | 5 | 4 | 3 | 1 |" in text
    assert "| ncnn | 2 | none at hand | none at hand | none at hand |" in text
    assert "| ncnn | min_ms | avg_ms | 12 | 2 % | 31 % |" in text
    assert "| hailo | 1 | interval between results: throughput, no latency |" in text
    assert text.endswith(f"Not in the data folder: {', '.join(small_corpus().absent)}.")


def test_the_page_keeps_what_is_outside_its_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n{START}\nformer text\n{END}\nend\n", encoding="utf-8")

    assert main(arguments(tmp_path, "--page", f"{page}")) == 0

    text = capsys.readouterr().out
    written = page.read_text("utf-8")
    assert written == f"# Title\n{START}\n\n{text}\n{END}\nend\n"
    assert "former text" not in written


def test_a_page_without_marks_is_refused_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n", encoding="utf-8")

    assert main(arguments(tmp_path, "--page", f"{page}")) == 2

    assert "page.md: it cannot be written" in capsys.readouterr().err
    assert page.read_text("utf-8") == "# Title\n"


def test_a_wrong_folder_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--data", f"{tmp_path}", "--cache", f"{tmp_path}"]

    assert main(options) == 2

    assert "it holds no folder of a source" in capsys.readouterr().err
    assert main([*options, "--operators", "0"]) == 2
    assert "number of operators: it is 0" in capsys.readouterr().err
