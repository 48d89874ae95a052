"""The ledger of rows and the list of what disagrees, of small folders and as tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctm_research.corpus import build_corpus
from ctm_research.corpus.disagreements import (
    APART,
    COLUMNS,
    EXPLANATIONS,
    SLOW,
    UNDER,
    UNEXPLAINED,
    Disagreement,
    disagreements,
)
from ctm_research.corpus.evidence import disagreements_text, ledger_text
from ctm_research.corpus.ledger import RowClass, read_ledger
from ctm_research.sources import aliases
from ctm_research.sources.tables import read_rows
from predictor.core.errors import InputError
from predictor.core.records import Device
from research.tests.corpus.small_corpus import catalogue
from research.tests.data_folder import Cells, write_published

HEADER = "kind,source,device,runtime,precision,explanation\n"
PI: Cells = {"device": "a board", "runtime": "tflite"}


@pytest.fixture
def devices() -> dict[str, Device]:
    return catalogue()


@pytest.fixture(autouse=True)
def board_is_a_pi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "aliases"
    folder.mkdir()
    (folder / "published_x86.csv").write_text(
        "device,unit,runtime,device_id,note\na board,*,*,rpi4,\n", encoding="utf-8"
    )
    monkeypatch.setattr(aliases.read_aliases, "__defaults__", (folder,))


def explanations(tmp_path: Path, text: str = "") -> Path:
    path = tmp_path / "explanations.csv"
    path.write_text(HEADER + text, encoding="utf-8")
    return path


def found(
    tmp_path: Path, devices: dict[str, Device], *changes: Cells, text: str = ""
) -> list[Disagreement]:
    write_published(tmp_path / "data", *({**PI, **change} for change in changes))
    corpus = build_corpus(tmp_path / "data")
    return disagreements(corpus, devices, explanations=explanations(tmp_path, text))


def test_rows_are_counted_by_runtime_and_kind_of_device(
    tmp_path: Path, devices: dict[str, Device]
) -> None:
    write_published(
        tmp_path,
        PI,
        {**PI, "metric": "latency_p90_ms"},
        {**PI, "threads": "1", "precision": ""},
        {**PI, "model": "other"},
        {"unit": "npu", "threads": ""},
    )

    ledger = read_ledger(tmp_path, devices)

    pi, npu = ledger.classes[RowClass("tflite", "arm")], RowClass("onnxruntime", "npu")
    assert (pi.used, pi.rows, pi.devices_used) == (1, 3, 1)
    assert pi.left_out["the precision is not stated"] == 1
    assert ledger.classes[npu].used == 1
    assert ledger.waiting["published_x86"] == {"other 1x3x224x224": 1}
    text = ledger_text(ledger)
    assert "| 2 others | any | 4 | 2 | 50 | 2 | 2 |" in text
    assert "| published_x86 | 2 | 1 | yes |" in text


def test_a_time_under_its_bound_is_listed(tmp_path: Path, devices: dict[str, Device]) -> None:
    [entry] = found(tmp_path, devices, {"value": "0.000001"})

    assert (entry.kind, entry.source, entry.device) == (UNDER, "someone/bench", "rpi4")
    assert (entry.count, entry.network) == (1, "net 1x3x224x224")
    assert entry.factor < 0.01
    assert entry.explanation == UNEXPLAINED


def test_a_time_far_over_those_of_its_class_is_listed(
    tmp_path: Path, devices: dict[str, Device]
) -> None:
    rows = [{"value": value} for value in ("12.5", "12.5", "12.5", "5000")]

    [entry] = found(tmp_path, devices, *rows)

    assert (entry.kind, entry.count) == (SLOW, 1)
    assert entry.factor == pytest.approx(400)


def test_sources_that_are_far_apart_are_listed_once_and_explained(
    tmp_path: Path, devices: dict[str, Device]
) -> None:
    other: Cells = {"source": "another/bench@1:README.md"}
    text = "over 3 x apart,*another/bench*,rpi4,tflite,*,an older release\n"

    [entry] = found(tmp_path, devices, {}, {**other, "value": "50"}, text=text)

    assert entry.kind == APART
    assert entry.source == "another/bench, someone/bench"
    assert (entry.factor, entry.explanation) == (4.0, "an older release")
    assert "| another/bench, someone/bench | rpi4 | tflite | fp32 | 1 | 4 |" in disagreements_text(
        [entry]
    )


def test_threads_that_are_not_stated_are_no_configuration_to_compare(
    tmp_path: Path, devices: dict[str, Device]
) -> None:
    other: Cells = {"source": "another/bench@1:README.md", "value": "50"}

    assert not found(tmp_path, devices, {"threads": ""}, {**other, "threads": ""})


def test_a_wrong_table_of_explanations_is_refused(
    tmp_path: Path, devices: dict[str, Device]
) -> None:
    with pytest.raises(InputError, match="it has 2 cells, the header has 6"):
        found(tmp_path, devices, {}, text="under the bound,*\n")


def test_the_shipped_explanations_are_a_table_of_known_kinds() -> None:
    kinds = {row["kind"] for row in read_rows(EXPLANATIONS, COLUMNS, only=True)}

    assert kinds <= {UNDER, SLOW, APART}
    assert kinds
