"""Boxes of which no power is known: no joules, watts or cost in text, JSON, report and window."""

import re
from pathlib import Path

import pytest

from ctm_gui.loads.rows import BoxesGrid
from predictor.cli.load.text import load_text
from predictor.core.toml_tables import TomlTables
from predictor.presentation import report
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.loads.answers import Answer
from predictor.services.loads.boxes import all_boxes, box_of_devices
from predictor.services.loads.choice import choose_box
from predictor.services.loads.document import load_document
from predictor.services.loads.models import model_key
from predictor.services.loads.records import Box, Load, Prices, Stage, Stream
from predictor.services.loads.sentences import choice_sentence, sentences
from predictor.services.loads.settings import carry_in_settings
from predictor.services.report.loads import load_section
from tests.support.graphs import Op
from tests.support.models import make_model

_CATALOGUE = load_catalogue()
_MODEL = make_model(*[Op(macs=50_000_000, read=400_000, weights=200_000, written=400_000)] * 4)
_ENERGY = re.compile(r"\bjoules?\b|\bJ an?\b|\d J\b|\bdraw\b|electricity", re.IGNORECASE)


def _box(name: str) -> Box:
    boxes = {box.id: box for box in all_boxes(_CATALOGUE)}
    return boxes.get(name) or box_of_devices([_CATALOGUE.find(name)])


def _load(unit: str) -> Load:
    stage = Stage(line=2, name="detect", model="net.onnx", unit=unit)
    stream = Stream(line=1, name="camera", rate_per_s=2.0, deadline_ms=900.0, stages=(stage,))
    file = TomlTables(Path("load.toml"), {}, [], "fix it")
    return Load(file=file, streams=(stream,), draws=4, items=400, prices=Prices(per_kwh=0.3))


_CASES = [
    ("snapdragon-8-gen-3", "npu"), ("snapdragon-8-gen-3", "gpu"), ("snapdragon-8-gen-3", "cpu"),
    ("apple-m2", "npu"), ("core-ultra-7-155h", "npu"), ("rpi5-hailo-8", "npu"), ("rk3588", "npu"),
    ("core-i5-12400", "cpu"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "unit"), _CASES)
def test_nothing_is_said_of_what_is_not_known(name: str, unit: str) -> None:
    load, box = _load(unit), _box(name)
    models = {model_key(load.streams[0].stages[0]): _MODEL}
    answer: Answer = carry_in_settings(load, box, models)
    assert (answer.watts, answer.cost, answer.streams[0].joules) == (None, None, None)
    said = "\n".join([*sentences(answer), load_text(answer)])
    assert not _ENERGY.search(said), _ENERGY.search(said)
    document = load_document(answer)
    assert document["watts"] is document["watts_low80"] is document["cost_per_hour"] is None
    assert answer.settings is not None
    assert answer.settings.thriftiest is None
    assert all(mode.run_watts is None for mode in answer.settings.modes)
    blocks = load_section([answer]).blocks
    (streams,) = (b for b in blocks if isinstance(b, report.Table) and b.title == "Streams")
    assert [row.cells[-1].text for row in streams.rows] == ["—"]
    choice = choose_box(load, [box], models)
    assert "what its runs take is not known" in choice_sentence(load, choice)
    cells = BoxesGrid(choice.candidates, load).as_markdown([0]).splitlines()[-1].split(" | ")
    assert cells[-3:-1] == ["", ""]
