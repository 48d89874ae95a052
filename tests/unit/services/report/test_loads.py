"""The section on a load: figures of the answer by hand, and what has no limit is said so."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.core.toml_tables import TomlTables
from predictor.presentation import report
from predictor.services.loads.answers import (
    SHARES,
    Answer,
    MemoryAnswer,
    StageAnswer,
    StreamAnswer,
    UnitAnswer,
)
from predictor.services.loads.records import Box, Load, Stage, Stream, Unit
from predictor.services.report.build import report_alone
from predictor.services.report.files import report_document, report_markdown
from predictor.services.report.loads import load_section
from predictor.services.serving.records import Between
from tests.support.run_costs import cost

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
STAGE = Stage(line=1, name="detect", model="net.onnx", unit="gpu")
STREAM = Stream(
    line=1, name="cam|era", rate_per_s=15.0, count=4, deadline_ms=100.0, stages=(STAGE,)
)
BUSY = Between(0.5, 0.25, 0.75)
GPU = Unit("gpu", Device(id="g", name="A GPU", vendor="", family=Family.GPU, metrics={}))


def answer(p99: Between, busy: Between = BUSY, chance: float = 1.0) -> Answer:
    load = Load(file=TomlTables(Path("load.toml"), {}, [], "fix it"), streams=(STREAM,))
    stage = StageAnswer(stage=STAGE, unit="gpu", cost=cost(4.0, 0.2), mean_batch=1.0, share=0.24)
    stream = StreamAnswer(
        stream=STREAM,
        stages=(stage,),
        alone_ms=4.0,
        p50_ms=Between(5.0, 4.0, 6.0),
        p90_ms=Between(8.0, 7.0, 9.0),
        p99_ms=p99,
        distribution_ms=(p99,) * len(SHARES),
        missed=0.2,
        chance=chance,
        largest_count=3,
        joules=Between(0.14, 0.05, 0.37),
    )
    return Answer(
        load=load,
        box=Box(id="box", name="A box", units={"gpu": GPU}, mode="25W"),
        streams=(stream,),
        units=(UnitAnswer(name="gpu", device="A GPU", count=1, utilisation=busy),),
        chance=chance,
        largest_factor=0.9,
        binding=stage,
        advice=(),
        memory=(MemoryAnswer(where="shared", bytes=2e6, of_bytes=8e9),),
        watts=None,
        budget_w=None,
        cost=None,
        simulated=1000,
    )


def test_the_section_has_the_figures_of_the_answer() -> None:
    section = load_section([answer(Between(9.0, 8.0, 10.0))])
    sentence, latencies, streams, stages, units, heading, remarks = section.blocks
    assert isinstance(sentence, report.Paragraph)
    assert sentence.tone is report.Tone.GOOD
    assert isinstance(latencies, report.BarChart)
    assert [(bar.value, bar.low80, bar.high80, bar.over) for bar in latencies.bars] == [
        (5.0, 4.0, 6.0, False), (8.0, 7.0, 9.0, False), (9.0, 8.0, 10.0, False),
    ]  # fmt: skip
    assert latencies.budget == 100.0
    assert isinstance(streams, report.Table)
    row = dict(zip([c.key for c in streams.columns], streams.rows[0].cells, strict=True))
    assert {key: cell.value for key, cell in row.items() if cell.value is not None} == {
        "count": 4, "rate": 15.0, "p50": 5.0, "p99": 9.0, "deadline": 100.0, "missed": 0.2,
        "chance": 1.0, "holds": 3, "joules": 0.14,
    }  # fmt: skip
    assert isinstance(stages, report.Table)
    assert [cell.value for cell in stages.rows[0].cells][4] == 4.0
    assert isinstance(units, report.BarChart)
    assert (units.bars[0].value, units.bars[0].low80, units.bars[0].high80) == (50.0, 25.0, 75.0)
    assert isinstance(heading, report.Heading)
    assert isinstance(remarks, report.Bullets)
    assert any("Shared memory: 2 MB of 8 GB" in cell.text for cell in remarks.items)


def test_what_has_no_limit_is_said_so_in_every_format() -> None:
    endless = Between(math.inf, 8.0, math.inf)
    over = answer(endless, busy=Between(1.2, 0.9, 1.5), chance=0.2)
    made = report_alone((), [over], NOW)
    assert made.title == "What A box carries"
    assert made.subtitle == "Simulated with 4 streams"
    latencies, units = (b for b in made.sections[0].blocks if isinstance(b, report.BarChart))
    assert latencies.bars[2].value is None
    assert latencies.bars[2].text == "no limit"
    assert units.bars[0].over
    text = report_markdown(made)
    assert "does not hold with 90 %" in text
    assert "cam\\|era" in text
    assert "Infinity" not in json.dumps(report_document(made))
    narrow = answer(Between(9.0, 8.0, math.inf))
    bar = next(b for b in load_section([narrow]).blocks if isinstance(b, report.BarChart)).bars[2]
    assert (bar.value, bar.high80, bar.text) == (9.0, None, "9 (8 – ∞)")


def test_several_loads_are_under_their_boxes_and_none_is_no_section() -> None:
    first = answer(Between(9.0, 8.0, 10.0))
    second = replace(first, box=replace(first.box, name="B box", mode=""))
    headings = [b for b in load_section([first, second]).blocks if isinstance(b, report.Heading)]
    names = [(heading.text, heading.detail) for heading in headings]
    assert names[::2] == [("A box", "25W"), ("B box", "")]
    assert report_alone((), [first, second], NOW, "Mine").title == "Mine"
    assert not load_section([]).blocks
