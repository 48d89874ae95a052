from __future__ import annotations

import pytest

from tests.support.import_samples import TFLITE_LOG
from tests.support.importing import changed, line_of, read, refusal

# A phone, the current tool.
NEW = """INFO: STARTING!
INFO: Log parameter values verbosely: [0]
INFO: Num threads: [4]
INFO: Graph: [/data/local/tmp/mobilenet_quant_v1_224.tflite]
INFO: Signature to run: []
INFO: Use gpu: [1]
INFO: #threads used for CPU inference: [4]
INFO: Loaded model /data/local/tmp/mobilenet_quant_v1_224.tflite
INFO: Explicitly applied GPU delegate, and the model graph will be completely executed by the delegate.
INFO: The input model file size (MB): 4.2761
INFO: Initialized session in 1361.24ms.
INFO: Running benchmark for at least 1 iterations and at least 0.5 seconds but terminate if exceeding 150 seconds.
INFO: count=5 first=125113 curr=112537 min=111758 max=125113 avg=115344 std=4959 p5=111758 median=112600 p95=125113

INFO: Running benchmark for at least 50 iterations and at least 1 seconds but terminate if exceeding 150 seconds.
INFO: count=50 first=9700 curr=9500 min=9100 max=9900 avg=9550.5 std=120 p5=9200 median=9510 p95=9800

INFO: Inference timings in us: Init: 1361240, First inference: 125113, Warmup (avg): 115344, Inference (avg): 9550.5
INFO: Note: as the benchmark tool itself affects memory footprint, the following is only APPROXIMATE to the actual memory footprint of the model at runtime. Take the information at your discretion.
"""  # noqa: E501  # as the tool writes it
TIMED = "INFO: count=50 first=9700 curr=9500 min=9100 max=9900 avg=9550.5 std=120"


def test_a_current_log_gives_its_median() -> None:
    (latency,) = read(NEW).latencies

    assert latency.network == "/data/local/tmp/mobilenet_quant_v1_224.tflite"
    assert latency.value_ms == pytest.approx(9.51)
    assert (latency.statistic, latency.runs, latency.threads) == ("median", 50, 4)
    assert latency.runtime == "tflite"
    assert latency.facts["delegate"] == "GPU (completely)"
    assert latency.facts["min_ms"] == "9.1"
    assert latency.place == "line 16"


def test_an_older_log_gives_the_mean_of_the_timed_runs() -> None:
    (latency,) = read(TFLITE_LOG).latencies

    assert latency.value_ms == pytest.approx(747.733)
    assert (latency.statistic, latency.threads) == ("mean", 1)
    assert latency.profiled


def test_operators_come_from_the_runs_in_their_order() -> None:
    (latency,) = read(TFLITE_LOG).latencies

    assert [(o.name, o.op_type, o.time_ms) for o in latency.operators] == [
        ("[net/Conv2d_0/Relu6]:0", "CONV_2D", 690.957),
        ("Delegate/Fully Connected (NC, F32):0", "Fully Connected (NC, F32)", 5.1),
    ]


def test_lines_of_logcat_and_of_a_pasted_log() -> None:
    logcat = "07-21 10:11:12.000  123  123 I tflite  : Average inference timings in us: "
    (latency,) = read(f"{logcat}Warmup: 91471, Init: 4108, Inference: 80660.1\n").latencies

    assert latency.value_ms == pytest.approx(80.6601)
    assert (latency.statistic, latency.runs) == ("mean", None)
    assert read(NEW.replace("\n", "\r\r\n")).latencies == read(NEW).latencies


def test_the_line_of_the_profiler_alone() -> None:
    line = "2018-09-10 12:36:37.576738: I stat_summarizer.cc:85] Timings (microseconds): "
    (latency,) = read(
        f"{line}count=405 first=38212 curr=31864 min=29642 max=45766 avg=34421.5 std=2685\n"
    ).latencies

    assert latency.value_ms == pytest.approx(34.4215)


def test_several_runs_in_one_log() -> None:
    second = NEW.replace("mobilenet_quant_v1_224", "inception_v3")

    assert [one.network.rsplit("/", 1)[1] for one in read(NEW + second).latencies] == [
        "mobilenet_quant_v1_224.tflite",
        "inception_v3.tflite",
    ]


def test_a_run_without_a_warm_up() -> None:
    warm = NEW[
        NEW.index("INFO: count=5 ") : NEW.index("\n\nINFO: Running benchmark for at least 50")
    ]
    bare = read(changed(NEW, warm, "INFO: count=0"))

    assert bare.latencies[0].value_ms == read(NEW).latencies[0].value_ms


def test_a_dry_run_has_no_result() -> None:
    start = NEW.index("INFO: count=5 ")
    dry = NEW[:start] + "INFO: count=0\n\nINFO: Running benchmark for at least 0\nINFO: count=0\n"

    assert "a run starts here and has no result" in refusal(dry)


def test_a_run_that_failed_says_so() -> None:
    failed = NEW[: NEW.index("INFO: Explicitly")] + "ERROR: Benchmarking failed.\n"

    assert "the tool says that benchmarking failed" in refusal(failed)


def test_threads_left_to_the_library_are_not_known() -> None:
    free = NEW.replace("inference: [4]", "inference: [-1]")

    assert read(free).latencies[0].threads is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("median=9510", "median=-9510", "median is '-9510', not a time above 0"),
        ("median=9510", "median=nan", "not a number"),
        ("median=9510", "median=0", "not a time above 0"),
        ("median=9510", "median=9.51", "contradict"),
        ("min=9100 max=9900", "min=9900 max=9100", "contradict"),
        ("avg=9550.5", "avg=9.55ms", "not a number"),
        (" avg=9550.5", "", "avg= is missing"),
        ("count=50 ", "count=zero ", "count is 'zero'"),
        ("max=9900 avg=9550.5", "max=99000000000000 avg=9550.5", "over an hour"),
        ("inference: [4]", "inference: [four]", "the number of threads is 'four'"),
        (NEW[NEW.index(TIMED) :], "", "the log ends before the timed runs do"),
        (NEW[NEW.index("INFO: Running benchmark for at least 50") :], "", "the log ends before"),
        ("INFO: Initialized session", "ERROR: Benchmarking failed.\nInitialized", "failed"),
        ("INFO: STARTING!", NEW + "INFO: STARTING!", "measures /data/local/tmp/mobilenet"),
        ("INFO: STARTING!", "INFO: STARTING!\nINFO: STARTING!", "a run starts here and has no"),
    ],
)
def test_a_broken_log_is_refused_whole(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(NEW, old, new))


def test_a_damaged_table_of_operators_is_refused() -> None:
    cut = changed(
        TFLITE_LOG, "690.957\t 92.406%\t 92.406%\t     0.000\t        1\t[net", "690.957\t[net"
    )

    assert "cells, the header has 9" in refusal(cut)
    assert line_of(refusal(cut)) == 20
