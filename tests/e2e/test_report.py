"""``ctm report`` as a user starts it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from predictor.presentation.wording import number
from tests.e2e.conftest import ROOT, Run

DEVICES = ("--device", "rpi5", "--device", "rtx3090")
needs_poppler = pytest.mark.skipif(
    shutil.which("pdftotext") is None, reason="pdftotext of poppler-utils is missing"
)


@needs_poppler
def test_the_pdf_says_what_predict_says(ctm_process: Run, mobilenet: Path, tmp_path: Path) -> None:
    store, path = str(tmp_path / "store.sqlite"), tmp_path / "report.pdf"
    predicted = ctm_process("predict", mobilenet, *DEVICES, "--json", CTM_STORE=store)
    predictions = json.loads(predicted.stdout)["predictions"]
    budget = number(sum(prediction["latency_ms"] for prediction in predictions) / 2)
    done = ctm_process(
        "report",
        mobilenet,
        *DEVICES,
        "--budget-ms",
        budget,
        "-o",
        path,
        "--with",
        "versions",
        CTM_STORE=store,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{path}: Latency of mobilenetv2-1.0-224.onnx\n"
    text = subprocess.run(
        ["pdftotext", "-layout", str(path), "-"], capture_output=True, text=True, check=True
    ).stdout
    for prediction in predictions:
        assert f" {number(prediction['latency_ms'])} " in text
        assert prediction["fingerprint"] in text
    assert f"meets the budget of {budget} ms on 1 of 2 targets" in text
    assert "Page 1 of " in text
    information = json.loads(ctm_process("store", "info", "--json", CTM_STORE=store).stdout)
    assert information["records"]["reports"] == 1
    assert information["records"]["predictions"] == 4


def test_json_and_markdown_need_no_qt(ctm_process: Run, mobilenet: Path, tmp_path: Path) -> None:
    # A package that cannot be imported stands in for a machine without Qt.
    package = tmp_path / "PySide6"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError")
    place = {
        "CTM_STORE": str(tmp_path / "store.sqlite"),
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
    }
    sections = ("--sections", "summary,comparison", "--device", "rpi5")
    for name in ("report.md", "report.json"):
        done = ctm_process("report", mobilenet, *sections, "-o", tmp_path / name, **place)
        assert done.returncode == 0, done.stderr

    wanted = ctm_process("report", mobilenet, *sections, "-o", tmp_path / "report.pdf", **place)
    assert wanted.returncode == 3
    assert "the PDF writer: a library is missing" in wanted.stderr
    assert not (tmp_path / "report.pdf").exists()
    document = json.loads((tmp_path / "report.json").read_bytes())
    assert [section["id"] for section in document["sections"]] == ["summary", "comparison"]
    assert "## Comparison" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_the_command_in_the_report_makes_it_again(
    ctm: Run, mobilenet: Path, tmp_path: Path
) -> None:
    place = {"CTM_STORE": str(tmp_path / "store.sqlite")}
    path = tmp_path / "report.json"
    ctm("report", mobilenet, *DEVICES, "--batch", "2", "--with", "all", "-o", path, **place)
    first = json.loads(path.read_bytes())
    (commands,) = [
        block
        for section in first["sections"]
        for block in section["blocks"]
        if block["kind"] == "commands"
    ]
    line = commands["lines"][0].split()
    path.unlink()
    assert line[:2] == ["ctm", "report"]
    done = ctm(*line[1:], **place)

    assert done.returncode == 0, done.stderr
    again = json.loads(path.read_bytes())
    assert again["sections"][:5] == first["sections"][:5]


def test_a_wrong_output_is_told_before_the_work(ctm: Run, mobilenet: Path) -> None:
    done = ctm("report", mobilenet, *DEVICES, "-o", "report.txt")

    assert done.returncode == 2
    assert "its ending is .txt" in done.stderr
    assert done.stderr.count("\n") == 1


def test_one_model_that_cannot_be_read_does_not_keep_the_others(
    ctm: Run, mobilenet: Path, tmp_path: Path
) -> None:
    path = tmp_path / "report.md"
    store = str(tmp_path / "store.sqlite")
    done = ctm("report", mobilenet, "none.onnx", *DEVICES, "-o", path, CTM_STORE=store)

    assert done.returncode == 2
    assert "none.onnx: there is no such file" in done.stderr
    assert "mobilenetv2" in path.read_text(encoding="utf-8")


def test_a_store_that_fails_costs_no_report(ctm: Run, mobilenet: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    done = ctm("report", mobilenet, *DEVICES, "-o", path, CTM_STORE=str(mobilenet))

    assert done.returncode == 3
    assert "the report is not in the store" in done.stderr
    assert path.exists()


@needs_poppler
@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_five_pages_for_three_models_on_nine_targets_unless_appendices_are_asked_for(
    ctm: Run, mobilenet: Path, tmp_path: Path, paper: str
) -> None:
    samples = sorted(mobilenet.parent.glob("*.onnx"))
    chosen = ("rpi4", "rpi5", "rk3588-cpu", "jetson-orin-nano-gpu", "snapdragon-8-gen-3")
    chosen += ("core-i7-1165g7", "rtx3060", "rtx4090", "a100-pcie-40gb")
    devices = [word for device in chosen for word in ("--device", device)]
    pages = []
    for further in ((), ("--with", "devices,methods")):
        path = tmp_path / f"{len(further)}.pdf"
        options = ("--budget-ms", "33", "--page", paper, *further, "-o", path)
        ctm("report", *samples, *devices, *options)
        text = subprocess.run(["pdfinfo", str(path)], capture_output=True, text=True, check=True)
        pages.append(int(text.stdout.split("Pages:")[1].split()[0]))

    assert pages[0] <= 5 < pages[1]


def test_an_appendix_that_does_not_exist_is_refused(ctm: Run, mobilenet: Path) -> None:
    done = ctm("report", mobilenet, *DEVICES, "--with", "poems", "-o", "report.md")

    assert done.returncode == 2
    assert "there is no section 'poems'" in done.stderr


def test_a_language_model_has_a_section_beside_others_and_alone(
    ctm: Run, mobilenet: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config.json"
    config.write_text(
        '{"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257, '
        '"n_positions": 1024}'
    )
    path = tmp_path / "report.json"
    run = ("--device", "rtx3090", "--prompt", "64", "-o", path)
    both = ctm("report", mobilenet, config, *run)
    assert (both.returncode, both.stderr) == (0, "")
    sections = {s["id"]: s for s in json.loads(path.read_text())["sections"]}
    assert {"summary", "language"} <= sections.keys()
    alone = ctm("report", config, *run)
    assert (alone.returncode, alone.stderr) == (0, "")
    (section,) = json.loads(path.read_text())["sections"]
    assert section == sections["language"]
    assert "64 prompt tokens" in json.dumps(section)
    long = ctm("report", config, "--prompt", "2000", "-o", path)
    assert long.returncode == 2
    assert "1,024 tokens" in long.stderr
