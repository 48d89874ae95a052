"""What stands in a report, section by section."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core.errors import CancelledError, HostError
from predictor.core.progress import CancelToken, Progress
from predictor.core.records import Basis, MeasuredRate, OperatingPoint, Precision, Target
from predictor.core.units import LatencyUnit
from predictor.graph.model import Model
from predictor.graph.scaling import at_batch
from predictor.presentation.report import (
    USUAL_SECTIONS,
    BarChart,
    Block,
    Bullets,
    Cell,
    Commands,
    Facts,
    Graph,
    Heading,
    HeatMap,
    Paragraph,
    Report,
    RooflineChart,
    SectionId,
    Table,
    Timeline,
    Tone,
)
from predictor.presentation.wording import number
from predictor.services.prediction.explain import OperatorTable, explain
from predictor.services.prediction.predict import predict
from predictor.services.prediction.sensitivity import Sensitivity, sensitivity_of
from predictor.services.report import pictures
from predictor.services.report.build import build_report
from predictor.services.report.files import report_markdown
from predictor.services.report.operators import slowest
from predictor.services.report.request import (
    ReportedModel,
    ReportRequest,
    RequestedSettings,
    labelled,
)
from predictor.services.signatures.adaptation import ADAPTATIONS
from tests.support.graphs import Op
from tests.support.models import make_model
from tests.support.report_requests import (
    FAST,
    SLOW,
    TWO,
    attending,
    fine_tuned_request,
    hostile_request,
    make_device,
    make_request,
    make_signature,
    with_intervals,
)

pytestmark = pytest.mark.slow


def blocks(report: Report, section: SectionId) -> tuple[Block, ...]:
    return next((s.blocks for s in report.sections if s.id is section), ())


def of_kind(report: Report, section: SectionId, kind: type) -> list:
    return [block for block in blocks(report, section) if isinstance(block, kind)]


def bullet_texts(report: Report, section: SectionId) -> list[str]:
    return [cell.text for b in of_kind(report, section, Bullets) for cell in b.items]


def column(table: Table, key: str) -> list:
    place = [column.key for column in table.columns].index(key)
    return [row.cells[place] for row in table.rows]


def test_the_figures_are_those_of_the_predictions_the_fastest_first() -> None:
    request = make_request()
    (table,) = of_kind(build_report(request), SectionId.COMPARISON, Table)

    slow, fast = (prediction.latency_ms for prediction in request.predictions)
    assert fast is not None
    assert slow is not None
    assert fast < slow
    assert [cell.value for cell in column(table, "latency")] == [fast, slow]
    assert [cell.text for cell in column(table, "target")] == ["Fast", "Slow"]
    assert {cell.text for cell in column(table, "basis")} == {"analytic"}


def test_what_the_numbers_of_all_models_come_from_is_told_once_a_target() -> None:
    request = make_request(make_model(*TWO), make_model(*TWO[:1]))
    slow, fast = "from its chip", "from this device"
    predictions = tuple(
        replace(prediction, evidence=evidence)
        for prediction, evidence in zip(
            request.predictions, (slow, fast, slow, "from other nets"), strict=True
        )
    )
    report = build_report(replace(request, predictions=predictions))
    (facts,) = of_kind(report, SectionId.COMPARISON, Facts)
    assert [(name, cell.text) for name, cell in facts.rows] == [("Slow", "From its chip")]
    tables = of_kind(report, SectionId.COMPARISON, Table)
    assert [[row.note for row in table.rows] for table in tables] == [
        ["From this device", ""],
        ["From other nets", ""],
    ]

    alone = replace(make_request(), predictions=predictions[:2])
    (table,) = of_kind(build_report(alone), SectionId.COMPARISON, Table)
    assert [row.note for row in table.rows] == ["From this device", "From its chip"]


def test_a_budget_between_two_targets_parts_them() -> None:
    request = make_request()
    budget_ms = sum(p.latency_ms or 0.0 for p in request.predictions) / 2
    report = build_report(replace(request, budget_ms=budget_ms))

    assert "on 1 of 2 targets: Fast (" in bullet_texts(report, SectionId.SUMMARY)[0]
    (table,) = of_kind(report, SectionId.COMPARISON, Table)
    assert [cell.tone for cell in column(table, "verdict")] == [Tone.GOOD, Tone.BAD]
    (chart,) = of_kind(report, SectionId.SUMMARY, BarChart)
    assert [bar.over for bar in chart.bars] == [False, True]
    assert chart.budget == budget_ms


def test_a_budget_far_beyond_the_bars_does_not_squeeze_them() -> None:
    (chart,) = of_kind(build_report(make_request(budget_ms=1e6)), SectionId.SUMMARY, BarChart)

    assert chart.budget is None


def test_intervals_and_likelihoods_appear_with_the_data() -> None:
    bare = build_report(make_request(budget_ms=1.0))
    sure = build_report(with_intervals(make_request(budget_ms=1.0)))

    (without,) = of_kind(bare, SectionId.COMPARISON, Table)
    (table,) = of_kind(sure, SectionId.COMPARISON, Table)
    keys = {column.key for column in table.columns} - {column.key for column in without.columns}
    assert keys == {"interval80", "likely"}
    assert "This engine gives no interval." in bullet_texts(bare, SectionId.COMPARISON)
    assert any("80 % interval" in text for text in bullet_texts(sure, SectionId.COMPARISON))
    assert any(
        b.low80 and b.high95 for c in of_kind(sure, SectionId.SUMMARY, BarChart) for b in c.bars
    )


def test_a_rate_turns_an_interval_round_and_leaves_no_second_column_of_it() -> None:
    request = with_intervals(make_request(unit=LatencyUnit.FPS))
    report = build_report(request)

    (table,) = of_kind(report, SectionId.COMPARISON, Table)
    assert "fps" not in [column.key for column in table.columns]
    (chart,) = of_kind(report, SectionId.SUMMARY, BarChart)
    for bar in chart.bars:
        assert bar.low95 < bar.low80 < bar.value < bar.high80 < bar.high95


def test_a_pair_without_a_number_says_why_and_is_not_explained() -> None:
    blind = make_device("Blind", metrics={})
    report = build_report(make_request(targets=(FAST, blind)))

    (table,) = of_kind(report, SectionId.COMPARISON, Table)
    assert table.rows[1].note.startswith("No number: ")
    assert table.rows[1].cells[2].text == "—"
    assert len(of_kind(report, SectionId.OPERATORS, Table)) == 1


def test_a_measured_number_stands_beside_what_the_engine_alone_predicts() -> None:
    request = make_request()
    first, second = request.predictions
    measured = replace(first, basis=Basis.MEASURED, predicted_ms=7.25)
    report = build_report(replace(request, predictions=(measured, second)))

    notes = [row.note for t in of_kind(report, SectionId.COMPARISON, Table) for row in t.rows]
    assert "The engine alone predicts 7.25 ms" in notes


def test_the_slowest_operators_are_listed_with_their_sum() -> None:
    request = make_request(make_model(*[Op(macs=k * 10**8) for k in range(1, 6)]), operators=2)
    table = of_kind(build_report(request), SectionId.OPERATORS, Table)[0]

    assert [cell.text for cell in column(table, "name")] == ["op_4", "op_3"]
    explained = explain(request.models[0].model, FAST, "roofline")
    shares = explained.share[[4, 3]].tolist()
    assert [cell.value for cell in column(table, "sum")] == pytest.approx(
        [shares[0], shares[0] + shares[1]]
    )


def test_operators_whose_times_differ_by_their_last_digits_keep_the_order_of_the_graph() -> None:
    request = make_request(make_model(*[Op(macs=10**8)] * 3))
    table = explain(request.models[0].model, FAST, "roofline")
    noisy = replace(table, latency_ms=np.array([1.0, 1.0000001, 1.001]))
    assert slowest(noisy, 3) == [2, 0, 1]


def test_attention_appears_with_the_data_operators_by_time() -> None:
    assert not blocks(build_report(make_request()), SectionId.ATTENTION)

    report = build_report(make_request(explain=attending))
    heard, read = of_kind(report, SectionId.ATTENTION, HeatMap)[:2]
    assert heard.rows == ("op_0", "op_1")
    # op_0 takes most of the time and looks at FP32 alone, so FP32 weighs most.
    assert heard.columns == ("FP32 peak", "Memory bandwidth")
    assert heard.values == ((1.0, 0.0), (0.0, 1.0))
    assert read.values == ((0.5, 0.5), (0.5, 0.5))


def test_device_sheets_number_their_sources() -> None:
    report = build_report(make_request(targets=(FAST,)))

    metrics, sources = of_kind(report, SectionId.DEVICES, Table)
    assert {cell.text for cell in column(metrics, "source")} == {"[1]"}
    assert [[cell.text for cell in row.cells] for row in sources.rows] == [["[1]", "a data sheet"]]


def test_device_sheets_show_the_design_and_what_was_measured() -> None:
    target = make_device(
        "Board",
        chip="rk3588",
        architecture="cortex-a76",
        measured={"dram_bw_gbps": MeasuredRate(12.5, "STREAM")},
        operating_points=(OperatingPoint(name="slow", source="a governor", cpu_mhz=408.0),),
    )
    report = build_report(make_request(targets=(target,)))

    facts = dict(of_kind(report, SectionId.DEVICES, Facts)[0].rows)
    points, hcv, sources = of_kind(report, SectionId.DEVICES, Table)
    assert facts["Chip"].text == "rk3588"
    assert facts["Architecture"].text == "Arm Cortex-A76"
    assert facts["Instruction sets"].text == "neon fp16 dotprod"
    names = [cell.text for cell in column(hcv, "metric")]
    at = names.index("Memory bandwidth, measured")
    assert [cell.text for cell in hcv.rows[at].cells[1:]] == ["12.5", "GB/s", "[2]"]
    assert names[at - 1] == "Memory bandwidth"
    assert [cell.text for cell in column(sources, "text")] == ["a data sheet", "STREAM"]
    assert [cell.text for cell in column(points, "cpu_mhz")] == ["408"]


def test_a_signature_is_shown_with_protocol_and_dates() -> None:
    known = make_signature(FAST.device)
    report = build_report(make_request(signatures=(known,)))

    facts = dict(of_kind(report, SectionId.PROBING, Facts)[0].rows)
    assert facts["Signature"].text == known.stored.signature.id
    assert facts["Date"].text == "2023-11-14"
    assert facts["Protocol"].text == "ctm-probe/1"
    assert "11 runs and 1 s" in facts["How"].text
    assert "at most 13.1 s a network" in facts["How"].text
    assert facts["Drift of the machine"].text == "1.2 %"
    (table,) = of_kind(report, SectionId.PROBING, Table)
    assert [cell.text for cell in table.rows[0].cells[:5]] == ["fbnet-00", "5", "4", "16.3 %", "3"]
    words = [paragraph.text for paragraph in of_kind(report, SectionId.PROBING, Paragraph)]
    assert "Nothing was measured on Slow." in words
    assert any("do not rest on this signature" in text for text in words)


def test_a_part_says_which_adaptation_its_numbers_used() -> None:
    request = fine_tuned_request()

    def told(request: ReportRequest) -> str:
        facts = of_kind(build_report(request), SectionId.PROBING, Facts)[0].rows
        return dict(facts)["Predictions adapted by"].text

    assert told(request) == ADAPTATIONS["film"]
    plain = tuple(replace(each, fine_tuned=False) for each in request.predictions)
    assert told(replace(request, predictions=plain)) == ADAPTATIONS["posterior"]
    others = tuple(replace(each, signature=None) for each in request.predictions)
    assert told(replace(request, predictions=others)) == ADAPTATIONS["posterior"]


@pytest.mark.parametrize(("basis", "is_told"), [(Basis.ZERO_SHOT, True), (Basis.PROBED, False)])
def test_the_methods_tell_of_the_estimate_where_it_may_be_used(
    basis: Basis, *, is_told: bool
) -> None:
    request = make_request()
    predictions = tuple(
        replace(each, basis=basis, engine="closertome/2") for each in request.predictions
    )

    report = build_report(replace(request, predictions=predictions))

    methods = of_kind(report, SectionId.METHODS, Paragraph)
    assert any("the number is an estimate instead" in each.text for each in methods) is is_told


def test_attention_of_an_estimate_is_told_as_shares_of_time() -> None:
    def estimated(model: Model, target: Target) -> OperatorTable:
        table = attending(model, target)
        assert table.attention is not None
        return replace(table, attention=replace(table.attention, is_time=True))

    report = build_report(make_request(explain=estimated))

    texts = [each.text for each in of_kind(report, SectionId.ATTENTION, Paragraph)]
    assert any("the weights are shares of time" in text for text in texts)
    assert not any("what the network looked at" in text for text in texts)


def test_the_methods_tell_of_fine_tuning_where_it_was_used() -> None:
    request = fine_tuned_request()
    plain = tuple(replace(each, fine_tuned=False) for each in request.predictions)
    for asked, is_told in ((request, True), (replace(request, predictions=plain), False)):
        methods = of_kind(build_report(asked), SectionId.METHODS, Paragraph)
        assert any("FiLM, a scale and a shift" in each.text for each in methods) is is_told


def test_numbers_by_operator_times_are_told_as_such() -> None:
    request = fine_tuned_request()
    timed = tuple(replace(p, fine_tuned=False, by_operators=True) for p in request.predictions)

    report = build_report(replace(request, predictions=timed))

    facts = of_kind(report, SectionId.PROBING, Facts)[0].rows
    assert dict(facts)["Predictions adapted by"].text == ADAPTATIONS["operators"]
    methods = of_kind(report, SectionId.METHODS, Paragraph)
    assert any("a profile measured how long each operator" in each.text for each in methods)


def test_what_ships_of_a_target_is_told_from_what_was_measured_here() -> None:
    request = make_request()
    slow, fast = request.predictions
    probed = replace(request, predictions=(replace(slow, basis=Basis.PROBED), fast))
    shipped, nothing = of_kind(build_report(probed), SectionId.PROBING, Paragraph)

    assert shipped.text.startswith("Other networks were measured on Slow and published.")
    assert ADAPTATIONS["posterior"] in shipped.text
    assert nothing.text == "Nothing was measured on Fast."


def test_what_ifs_and_what_int8_takes_for_granted_are_said() -> None:
    asked = RequestedSettings(precision=Precision.INT8, threads=0)
    eager = make_device("Eager", metrics={**FAST.device.metrics, "int8_tops": 8.0})
    int8 = replace(eager, configuration=replace(eager.configuration, precision=Precision.INT8))
    listed = replace(int8.device, configurations=(int8.configuration,))
    report = build_report(make_request(targets=(replace(int8, device=listed),), requested=asked))

    facts = dict(of_kind(report, SectionId.SETTINGS, Facts)[0].rows)
    assert (facts["Precision"].text, facts["Threads"].text) == ("int8", "all cores")
    assert any("quantised" in text for text in bullet_texts(report, SectionId.SETTINGS))


def test_versions_and_commands_close_the_report() -> None:
    report = build_report(make_request(commands=("ctm report net.onnx -o report.pdf",)))

    assert report.sections[-1].id is SectionId.VERSIONS
    (commands,) = of_kind(report, SectionId.VERSIONS, Commands)
    assert commands.lines == ("ctm report net.onnx -o report.pdf",)
    assert dict(of_kind(report, SectionId.VERSIONS, Facts)[0].rows)["Engine"].text == "roofline/1"


def test_sections_are_chosen_and_keep_their_order() -> None:
    chosen = [SectionId.VERSIONS, SectionId.SUMMARY]
    report = build_report(make_request(), chosen)

    assert [section.id for section in report.sections] == [SectionId.SUMMARY, SectionId.VERSIONS]
    assert build_report(make_request()).only(chosen) == report


def test_progress_names_each_pair_and_a_cancel_is_heard() -> None:
    told: list[Progress] = []
    build_report(make_request(), report=told.append)
    assert [progress.done for progress in told] == [0, 1, 1]
    assert told[0].message == "Explaining Fast"

    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        build_report(make_request(), cancel=token)


def test_models_of_one_name_are_told_apart() -> None:
    models = [
        make_model(Op(macs=1), path=path) for path in ("/a/net.onnx", "/b/net.onnx", "c.onnx")
    ]

    assert [one.label for one in labelled(models)] == ["net.onnx (1)", "net.onnx (2)", "c.onnx"]


def test_no_text_of_a_report_has_a_character_that_is_not_printable() -> None:
    report = build_report(hostile_request())

    def texts(value: object) -> list[str]:
        if isinstance(value, str):
            return [value]
        if isinstance(value, tuple):
            return [text for entry in value for text in texts(entry)]
        fields = getattr(value, "__dataclass_fields__", {})
        return [text for name in fields for text in texts(getattr(value, name))]

    every = texts(report)
    assert any("<script>" in text for text in every)
    assert all(text.isprintable() for text in every)
    assert max(map(len, every)) < 3000


def test_ten_thousand_operators_make_no_longer_a_report() -> None:
    huge = make_model(*[Op(macs=10**6)] * 10_000)
    table = of_kind(build_report(make_request(huge)), SectionId.OPERATORS, Table)[0]

    assert len(table.rows) == 15
    assert SLOW.device.name


def test_what_would_change_a_prediction_stands_under_its_sum() -> None:
    asked: list[Target] = []

    def sensitivity(model: Model, target: Target) -> Sensitivity:
        asked.append(target)
        return sensitivity_of(model, target, "roofline")

    without = build_report(make_request(targets=(FAST,)))
    report = build_report(make_request(targets=(FAST,), sensitivity=sensitivity))

    sentence = sensitivity(make_request().models[0].model, FAST).sentence
    texts = [block.text for block in of_kind(report, SectionId.OPERATORS, Paragraph)]
    assert texts[1] == sentence
    assert "+10 % saves" in sentence
    assert asked == [FAST, FAST]
    assert len(of_kind(without, SectionId.OPERATORS, Paragraph)) == 1
    build_report(make_request(targets=(FAST,), sensitivity=sensitivity), [SectionId.COMPARISON])
    assert len(asked) == 2


def test_the_answer_names_who_meets_the_budget_how_sure_and_what_to_measure() -> None:
    request = with_intervals(make_request())
    slow, fast = (prediction.latency_ms or 0.0 for prediction in request.predictions)

    def answer(budget_ms: float | None) -> Cell:
        report = build_report(replace(request, budget_ms=budget_ms), [SectionId.SUMMARY])
        return of_kind(report, SectionId.SUMMARY, Bullets)[0].items[0]

    near = answer(slow * 1.01)
    assert "on all 2 targets: Fast (" in near.text
    assert "> 99 % likely" in near.text
    assert near.text.endswith("; to be sure, measure it on Slow.")
    assert near.tone is Tone.GOOD
    far = answer(fast / 10)
    assert "on none of 2 targets: the nearest is Fast (" in far.text
    assert far.text.endswith("; every verdict is at least 90 % sure.")
    assert far.tone is Tone.BAD
    assert answer(None).text.endswith("; measure it there to be sure.")
    alone = build_report(make_request(targets=(SLOW,), budget_ms=slow / 2), [SectionId.SUMMARY])
    budget = bullet_texts(alone, SectionId.SUMMARY)[0]
    assert "misses the budget of" in budget
    assert " on its target: Slow (" in budget


def test_the_first_chart_has_the_fastest_targets_and_counts_the_others() -> None:
    targets = tuple(make_device(f"Device {n}", speed=1.0 + n) for n in range(12))
    (chart,) = of_kind(build_report(make_request(targets=targets)), SectionId.SUMMARY, BarChart)

    assert [bar.label for bar in chart.bars] == [f"Device {n}" for n in range(11, 1, -1)]
    assert chart.note.endswith("The other 2 targets stand in the tables.")


def test_pictures_are_of_the_model_that_takes_longest_on_its_fastest_target() -> None:
    small, large = make_model(Op(macs=10**6, read=10**5)), make_model(*TWO)

    def sensitivity(model: Model, target: Target) -> Sensitivity:
        return sensitivity_of(model, target, "roofline")

    request = make_request(small, large, sensitivity=sensitivity, budget_ms=1e-3)
    report = build_report(request, USUAL_SECTIONS)
    why = [block.text for block in of_kind(report, SectionId.WHY, Heading)]
    (roofline,) = of_kind(report, SectionId.WHY, RooflineChart)
    types, changes, rates = of_kind(report, SectionId.WHY, BarChart)
    latency_ms = request.pairs_of(request.models[1])[0].prediction.latency_ms

    assert why == ["net1.onnx on Fast", "What would change it", "net0.onnx on Fast"]
    assert {roof.is_memory for roof in roofline.roofs} == {True, False}
    assert "Bound" not in {roof.label for roof in roofline.roofs}
    assert len(roofline.points) == len(TWO)
    assert sum(point.share for point in roofline.points) == pytest.approx(1.0)
    assert sum(bar.value for bar in types.bars) == pytest.approx(latency_ms)
    assert changes.bars[0].value == pytest.approx(latency_ms)
    assert any("+10 %" in bar.label and bar.value < latency_ms for bar in changes.bars)
    assert all(bar.over for bar in changes.bars)
    # A larger batch is a rate: its call takes longer.
    assert not [bar.label for bar in changes.bars if bar.label.startswith("Batch")]
    assert [bar.label for bar in rates.bars[:2]] == ["As it is", "Batch 2"]
    assert rates.bars[0].value == pytest.approx(1000 / latency_ms)
    assert rates.axis == "Items a second"


def test_the_chosen_pair_is_explained_in_place_of_the_fastest() -> None:
    small, large = make_model(Op(macs=10**6, read=10**5)), make_model(*TWO)
    request = make_request(small, large)
    chosen = replace(request, chosen=("net0.onnx", SLOW.run_id))
    report = build_report(chosen, USUAL_SECTIONS)

    why = [block.text for block in of_kind(report, SectionId.WHY, Heading)]
    assert why == ["net0.onnx on Slow", "net1.onnx on Fast"]


def test_the_answer_says_what_int8_leaves_open_where_it_names_int8() -> None:
    caveat = "INT8 stands for a quantised model that is still to be made"
    eager = make_device("Eager", metrics={**FAST.device.metrics, "int8_tops": 8.0})
    int8 = replace(eager, configuration=replace(eager.configuration, precision=Precision.INT8))
    texts = bullet_texts(build_report(make_request(targets=(int8, FAST))), SectionId.SUMMARY)
    assert [text for text in texts if text.startswith(caveat)]
    texts = bullet_texts(build_report(make_request()), SectionId.SUMMARY)
    assert not [text for text in texts if text.startswith(caveat)]


def test_only_the_fastest_target_is_explained_without_the_appendix_of_operators() -> None:
    explained: list[Target] = []

    def explain(model: Model, target: Target) -> OperatorTable:
        explained.append(target)
        return make_request().explain(model, target)

    build_report(make_request(explain=explain), USUAL_SECTIONS)
    assert explained == [FAST]


PICTURES = (SectionId.ROOFLINE, SectionId.TIMELINE, SectionId.GRAPH, SectionId.MATRIX)


def test_pictures_as_appendices_are_of_every_model_on_its_fastest_target() -> None:
    request = make_request(make_model(*TWO), make_model(*TWO[:1]))
    asked: list[Target] = []

    def explained(model: Model, target: Target) -> OperatorTable:
        asked.append(target)
        return explain(model, target, "roofline")

    report = build_report(replace(request, explain=explained), PICTURES)

    assert asked == [FAST, FAST]
    assert [section.id for section in report.sections] == list(PICTURES)
    assert len(of_kind(report, SectionId.ROOFLINE, RooflineChart)) == 2
    timeline, _ = of_kind(report, SectionId.TIMELINE, Timeline)
    operators = next(lane for lane in timeline.lanes if lane.name == "Operators")
    table = explain(request.models[0].model, FAST, "roofline")
    assert [span.end - span.start for span in operators.spans] == pytest.approx(
        table.latency_ms.tolist()
    )
    assert operators.spans[-1].end == pytest.approx(timeline.total)


def test_neighbours_that_are_hairs_are_drawn_as_one() -> None:
    request = make_request(make_model(*(Op(macs=10**6, read=8, written=8) for _ in range(5000))))
    (timeline,) = of_kind(build_report(request, PICTURES), SectionId.TIMELINE, Timeline)
    assert max(len(lane.spans) for lane in timeline.lanes) <= 1501
    (graph,) = of_kind(build_report(request, PICTURES), SectionId.GRAPH, Graph)
    assert sum(not box.is_frame for box in graph.boxes) <= 60
    assert sum(box.share for box in graph.boxes if not box.is_frame) == pytest.approx(1.0)


def test_a_graph_that_cannot_be_laid_out_stands_in_its_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise HostError("the layout", "it ended", "open the model again")

    monkeypatch.setattr(pictures, "lay_out", fail)
    report = build_report(make_request(), PICTURES)
    (graph,) = of_kind(report, SectionId.GRAPH, Graph)

    assert [box.top for box in graph.boxes] == sorted(box.top for box in graph.boxes)
    assert graph.boxes[0].time.endswith(" %")
    assert graph.height > 0
    assert f"| {graph.boxes[0].time} |" in report_markdown(report)


def test_the_matrix_has_a_number_a_cell_and_the_darkest_is_the_slowest() -> None:
    request = make_request(make_model(*TWO), make_model(*TWO[:1]))
    without = replace(request.predictions[1], latency_ms=None, problem="fixed batch")
    predictions = (request.predictions[0], without, *request.predictions[2:])
    report = build_report(replace(request, predictions=predictions), PICTURES)
    (matrix,) = of_kind(report, SectionId.MATRIX, HeatMap)

    assert matrix.rows == ("Slow", "Fast")
    assert matrix.columns == ("net0.onnx", "net1.onnx")
    assert matrix.values[0][0] == 1.0
    assert matrix.values[1] == (0.0, 0.0)
    assert matrix.texts[1][0] == "—"
    assert matrix.cells()[0][0] == number(request.predictions[0].latency_ms)


def batched_request() -> ReportRequest:
    """Return a request of FAST at the model's own batch, and at 8."""
    own = make_model(*TWO)
    graph = replace(at_batch(own.graph, 8), fingerprint="8" * 64)
    eight = replace(own, graph=graph)
    at_eight = replace(FAST, configuration=replace(FAST.configuration, batch=8))
    (first,), (second,) = (predict([model], [FAST], "roofline") for model in (own, eight))
    resolved = replace(second.configuration, batch=8)
    return make_request(
        targets=(FAST, at_eight),
        models=(ReportedModel("net.onnx", own, {8: eight}),),
        predictions=(first, replace(second, configuration=resolved)),
    )


def test_a_batch_has_rows_operators_and_a_fingerprint_of_its_own() -> None:
    request = batched_request()
    own, eight = request.predictions
    report = build_report(request)

    (table,) = of_kind(report, SectionId.COMPARISON, Table)
    assert [cell.value for cell in column(table, "latency")] == [own.latency_ms, eight.latency_ms]
    assert own.latency_ms
    assert eight.latency_ms
    rates = [1e3 / own.latency_ms, 8e3 / eight.latency_ms]
    assert [cell.value for cell in column(table, "fps")] == pytest.approx(rates)
    assert [cell.text for cell in column(table, "configuration")][1].endswith("batch 8")
    operators = of_kind(report, SectionId.OPERATORS, Table)
    macs = [sum(cell.value for cell in column(each, "macs")) for each in operators]
    assert macs == [1.1e9, 8.8e9]
    (prints,) = of_kind(report, SectionId.VERSIONS, Table)
    assert [cell.text for cell in column(prints, "model")] == ["net.onnx", "net.onnx, batch 8"]
    assert column(prints, "fingerprint")[1].text == "8" * 64
    settings = of_kind(report, SectionId.SETTINGS, Table)[0]
    assert [cell.text for cell in column(settings, "batch")] == ["model default", "8"]
    facts = dict(of_kind(report, SectionId.MODELS, Facts)[0].rows)
    assert facts["At batch 8"].text.startswith("8.8 G MACs")


def test_the_answer_tells_the_shortest_call_from_who_does_most_a_second() -> None:
    request = batched_request()
    own, eight = request.predictions
    rate = number(8e3 / (eight.latency_ms or 0.0))

    def answer(budget_ms: float | None) -> str:
        report = build_report(replace(request, budget_ms=budget_ms), [SectionId.SUMMARY])
        return bullet_texts(report, SectionId.SUMMARY)[0]

    assert "has its shortest call on 2 targets on Fast, " in answer(None)
    assert answer(None).endswith(
        f"; most items a second: {rate} FPS on Fast, pytorch, fp32, batch 8."
    )
    assert "a call on all 2 targets" in answer(1e3)
    assert "most items a second" not in answer(own.latency_ms)
    by_rate = build_report(replace(request, unit=LatencyUnit.FPS), [SectionId.SUMMARY])
    assert bullet_texts(by_rate, SectionId.SUMMARY)[0] == answer(None), "a call is told by its time"
    (chart,) = of_kind(build_report(request), SectionId.SUMMARY, BarChart)
    assert chart.bars[1].text.endswith(f"{rate} FPS")
    alike = of_kind(build_report(make_request()), SectionId.COMPARISON, Table)[0]
    assert "fps" not in [each.key for each in alike.columns]
