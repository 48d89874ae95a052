"""The order in which a device's configurations are offered."""

from __future__ import annotations

from dataclasses import replace

from predictor.core.metrics import Family
from predictor.core.records import Basis, Configuration, Device, Precision
from predictor.graph.operator_graph import OperatorFlag
from predictor.services.prediction.configurations import (
    RankedConfiguration,
    ranked_configurations,
)
from tests.support.graphs import Op
from tests.support.models import make_model
from tests.support.predictions import prediction

SLOW = Configuration("pytorch", Precision.FP32)
HALF = Configuration("tensorrt", Precision.FP16)
INT8 = Configuration("tensorrt", Precision.INT8)
LISTED = (INT8, SLOW, HALF)
METRICS = {
    "fp32_tflops": 2.0, "fp16_tflops": 8.0, "int8_tops": 32.0, "dram_bw_gbps": 400.0, "dram_gb": 8.0
}  # fmt: skip
GPU = Device(
    id="gpu", name="GPU", vendor="Acme", family=Family.GPU, metrics=METRICS, configurations=LISTED
)
MODEL = make_model(Op(macs=2 * 10**9, weights=10**7, read=2 * 10**7))


def test_the_fastest_comes_first_and_int8_behind_what_needs_no_other_model() -> None:
    ranked = ranked_configurations([MODEL], GPU, LISTED)

    assert [each.configuration for each in ranked] == [HALF, SLOW, INT8]
    half, slow, int8 = (each.predictions[0].latency_ms or 0.0 for each in ranked)
    assert int8 < half < slow, "INT8 is the fastest and still behind"
    assert ranked[0].words.startswith("tensorrt, fp16 · ")
    assert ranked[0].words.endswith(" ms")
    assert ranked[2].words.endswith(" ms · needs a quantised model")


def test_int8_is_no_group_of_its_own_where_the_file_is_quantised() -> None:
    quantised = make_model(Op(macs=2 * 10**9, weights=10**7, flags=OperatorFlag.QUANTISED))
    ranked = ranked_configurations([quantised], GPU, LISTED)
    assert ranked[0].configuration == INT8
    assert not any(each.needs_quantising for each in ranked)
    # Of two files one is still to be quantised.
    both = ranked_configurations([quantised, MODEL], GPU, LISTED)
    assert both[-1].configuration == INT8


def test_without_models_they_stand_as_listed_int8_last() -> None:
    ranked = ranked_configurations([], GPU, LISTED)
    assert [each.configuration for each in ranked] == [SLOW, HALF, INT8]
    assert ranked[0].words == "pytorch, fp32"


def test_what_has_no_number_is_last_of_its_group() -> None:
    unable = Configuration("hailort", Precision.FP32)
    ranked = ranked_configurations([MODEL], GPU, (unable, SLOW, HALF))
    assert [each.configuration for each in ranked] == [HALF, SLOW, unable]
    assert ranked[-1].words == "hailort, fp32"


def test_several_models_rank_by_their_geometric_mean() -> None:
    def ranked(*latencies_ms: float | None) -> RankedConfiguration:
        return RankedConfiguration(SLOW, tuple(prediction(each) for each in latencies_ms))

    even, uneven = ranked(4.0, 4.0), ranked(1.0, 9.0)
    assert uneven.mean_log_ms < even.mean_log_ms, "a mean of 3, where the arithmetic one is 5"
    assert [even.p50_text, uneven.p50_text] == ["4 ms", "1 – 9 ms"]
    assert ranked(4.0, None).missing == 1


def test_a_lower_limit_counts_only_where_there_is_nothing_else() -> None:
    limit = replace(prediction(0.01), flagged_operators=("MyOp",), basis=Basis.ANALYTIC)
    both = RankedConfiguration(SLOW, (limit, prediction(4.0)))
    assert both.p50_text == "4 ms"
    assert RankedConfiguration(SLOW, (limit,)).p50_text == "≥ 0.01 ms"
