"""The page of the image networks that were timed on a card, and the program that writes it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import onnx
import pytest

from ctm_research.cards import CARD, images_path, transformers_path
from ctm_research.cards.page import card_figures, card_page, write_page
from predictor.core.errors import InputError
from research.tests.data_folder import convolution, write_graph, write_table


def row(model: str, batch: int, measured_ms: float, predicted_ms: float) -> dict[str, object]:
    """A row of one precision; the interval is from half to twice the prediction."""
    return {
        "model": model, "family": model[:3], "precision": "fp32", "batch": batch,
        "measured_ms": measured_ms, "predicted_ms": predicted_ms,
        "low80_ms": predicted_ms / 2, "high80_ms": 2 * predicted_ms,
    }  # fmt: skip


def document(*rows: dict[str, object]) -> dict[str, object]:
    card = {"card": "A card", "torch": "2", "cuda": "13", "matrix_tf32": False}
    transformers = [row("net-512-8", 8, 10.0, 12.0), row("net-512-16", 16, 20.0, 18.0)]
    return {"device": CARD, "card": card, "rows": rows, "transformers": transformers}


ROWS = (
    row("abc1", 1, 2.0, 5.0),  # 150 % too slow, out of the interval from 2.5 on
    row("abc2", 1, 2.0, 3.0),  # 50 %, inside
    row("xyz", 1, 4.0, 3.0),  # 25 % too fast, inside
    row("abc1", 8, 2.2, 2.2),
    row("abc2", 8, 3.0, 3.3),
    row("xyz", 8, 4.4, 4.4),
)


def test_the_page_says_plainly_how_far_off_batch_one_is() -> None:
    text = card_page(document(*ROWS), "Written by a test.")
    assert (
        "**At batch 1 the engine is off by a median of 50 % in FP32 "
        "(2 of 3 networks predicted too slow).**"
    ) in text
    # 1.1, 1.5 and 1.1 times as long.
    assert "From batch 1 to batch 8 a run took 1.10 times as long in the median" in text


def test_errors_are_told_by_batch_by_network_and_by_family() -> None:
    text = card_page(document(*ROWS), "Written by a test.")
    assert "| fp32 | 1 | 3 | 50 | 150 | 1.50 | 2 of 3 |" in text
    assert "| fp32 | 8 | 3 | 0 | 10 | 1.00 | 3 of 3 |" in text
    assert "| abc1 | abc | 2.00 | 5.00 | +150 | 2.50 to 10.00 |" in text
    assert "| xyz | xyz | 4.00 | 3.00 | -25 | 1.50 to 6.00 |" in text
    assert "| abc | 2 | 100 |" in text  # of 150 and 50


def test_transformers_have_their_mean_error() -> None:
    text = card_page(document(*ROWS), "Written by a test.")
    assert "Mean error 15.0 %." in text  # of 20 and 10
    assert "| net-512-16 | 16 | 20.00 | 18.00 | -10 | 9.00 to 36.00 |" in text


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder where the graph of each timed network is one convolution."""
    with images_path().open(encoding="utf-8") as file:
        models = sorted({line["model"] for line in csv.DictReader(file)})
    write_table(
        tmp_path / "timm" / "graphs.csv",
        *({"file": f"{model}.onnx", "family": model.split("_")[0]} for model in models),
    )
    onnx.save(convolution(), tmp_path / "net.onnx")
    with zipfile.ZipFile(tmp_path / "timm" / "graphs.zip", "w") as archive:
        for model in models:
            archive.write(tmp_path / "net.onnx", f"graphs/{model}.onnx")
    with transformers_path().open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            write_graph(tmp_path / "neusight" / "graphs" / f"{line['model']}.onnx")
    return tmp_path


def test_every_timed_network_has_a_prediction_at_its_batch(data: Path) -> None:
    rows = card_figures(data)["rows"]
    runs = {(each["model"], each["precision"], each["batch"]): each for each in rows}
    assert len(rows) == len(runs) == 15 * 2 * 3
    for each in rows:
        assert each["low80_ms"] < each["predicted_ms"] < each["high80_ms"]
        first = runs[each["model"], each["precision"], 1]
        assert each["predicted_ms"] >= first["predicted_ms"]


def test_a_folder_without_a_graph_is_refused(data: Path) -> None:
    with zipfile.ZipFile(data / "timm" / "graphs.zip", "w"):
        pass
    with pytest.raises(InputError, match=r"graphs\.zip: a graph cannot be unpacked"):
        write_page(data)


def test_the_page_is_written_without_torch_and_names_its_engine(data: Path) -> None:
    output = data / "results"
    output.mkdir()
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "from ctm_research.cards.__main__ import main\n"
        f"sys.argv = ['cards', 'page', '--data', {str(data)!r}, '--output', {str(output)!r}]\n"
        "sys.exit(main())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    page = (output / "cards.md").read_text(encoding="utf-8")
    assert page == run.stdout
    figures = json.loads((output / "cards.json").read_text(encoding="utf-8"))
    line = f"Engine: {figures['engine']}, estimate {figures['estimate'][:12]}."
    assert f"\n\n{line}\n\n" in page


def test_without_a_card_the_program_says_so(tmp_path: Path) -> None:
    words = ["time", str(tmp_path / "out"), "--device", CARD]
    run = subprocess.run(
        [sys.executable, "-m", "ctm_research.cards", *words],
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 3
    assert run.stderr == "This machine has no CUDA card that torch can use: run it on one.\n"
    assert not (tmp_path / "out").exists()
