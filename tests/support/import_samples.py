"""A file of each import format, as its tool writes it."""

from __future__ import annotations

import json
from typing import Any

from predictor.probing.runner.results import digest
from tests.support.printed_samples import PRINTED

AIHUB_PROFILE = """{
 "execution_summary": {
  "estimated_inference_time": 1650,
  "estimated_inference_peak_memory": 22786048,
  "first_load_time": 1374293,
  "warm_load_time": 277823,
  "inference_memory_peak_range": [2654208, 39406752],
  "all_inference_times": [4205, 1650, 1701, 1699, 1688]
 },
 "execution_detail": [
  {"name": "model/div", "type": "MUL", "compute_unit": "CPU", "execution_time": 23},
  {"name": "model/conv", "type": "CONV_2D", "compute_unit": "NPU", "execution_time": 1210,
   "execution_cycles": 180315},
  {"name": "model/transpose", "type": "TRANSPOSE", "compute_unit": "NPU", "execution_time": 0}
 ]
}
"""


def profile_event(category: str, name: str, start: int, duration: int, **arguments: str) -> str:
    told = ",".join(f'"{key}" : "{value}"' for key, value in arguments.items())
    return (
        f'{{"cat" : "{category}","pid" :77,"tid" :77,"dur" :{duration},"ts" :{start},'
        f'"ph" : "X","name" :"{name}","args" : {{{told}}}}}'
    )


def profile_node(name: str, start: int, duration: int, kind: str) -> str:
    facts = {"provider": "CPUExecutionProvider", "op_name": kind, "node_index": "3"}
    return profile_event("Node", f"{name}_kernel_time", start, duration, **facts)


def profile_run(start: int, conv: int, relu: int) -> list[str]:
    return [
        profile_event("Session", "model_run", start, conv + relu + 20),
        profile_event("Session", "SequentialExecutor::Execute", start + 5, conv + relu + 10),
        profile_node("/stem/Conv", start + 6, conv, "Conv"),
        profile_node("/stem/Relu", start + 7 + conv, relu, "Relu"),
    ]


ONNXRUNTIME_PROFILE = (
    "[\n"
    + ",\n".join(
        [
            profile_event("Session", "model_loading_uri", 15, 682),
            profile_event("Session", "session_initialization", 753, 4826),
            *profile_run(10_000, 900, 80),  # the warm-up: left out
            *profile_run(20_000, 300, 20),
            *profile_run(30_000, 310, 30),
            *profile_run(40_000, 400, 10),
        ]
    )
    + "\n]\n"
)


def trtexec_query(start: float, h2d: float, compute: float, d2h: float, *, end_to_end: bool) -> str:
    values = {
        "startEnqMs": start - 0.05,
        "endEnqMs": start,
        "startH2dMs": start,
        "endH2dMs": start + h2d,
        "startComputeMs": start + h2d,
        "endComputeMs": start + h2d + compute,
        "startD2hMs": start + h2d + compute,
        "endD2hMs": start + h2d + compute + d2h,
        "h2dMs": h2d,
        "computeMs": compute,
        "d2hMs": d2h,
        "latencyMs": h2d + compute + d2h,
    }
    if end_to_end:  # before 8.6
        values["endToEndMs"] = h2d + compute + d2h
    return "{ " + ", ".join(f'"{key}" : {value:g}' for key, value in values.items()) + " }"


TRTEXEC_TIMES = (
    "[\n  "
    + "\n, ".join(
        trtexec_query(300.0 + 4 * i, 0.25, compute, 0.5, end_to_end=False)
        for i, compute in enumerate([1.0, 4.0, 2.0, 3.0])
    )
    + "\n]\n"
)

TRTEXEC_PROFILE = """[
  { "count" : 50 }
, { "name" : "conv1/7x7_s2 + conv1/relu_7x7", "timeMs" : 60, "averageMs" : 1.2, "medianMs" : 1.1, "percentage" : 60 }
, { "name" : "Reformatting CopyNode for Input Tensor 0", "timeMs" : 0, "averageMs" : 0, "medianMs" : 0, "percentage" : 0 }
, { "name" : "pool1/3x3_s2", "timeMs" : 40, "averageMs" : 0.8, "medianMs" : 0.7, "percentage" : 40 }
]
"""  # noqa: E501  # as the tool writes it


def results_block(*samples_ns: int) -> dict[str, Any]:
    return {"samples_ns": list(samples_ns), "median_ns": sorted(samples_ns)[len(samples_ns) // 2]}


def results_document() -> dict[str, Any]:
    return {
        "schema": "ctm-results/1",
        "protocol": "ctm-probe/1",
        "plan": "0" * 32,
        "configuration": {
            "provider": "CPUExecutionProvider",
            "threads": 1,
            "precision": "fp32",
        },
        "host": {"node": "board"},
        "finished": True,
        "networks": [
            {
                "name": "fbnet-7",
                "fingerprint": "f" * 64,
                "verdict": "steady",
                "median_ms": 2.0,
                "agreeing": [0, 2],
                "blocks": [
                    results_block(2_000_000, 1_000_000, 3_000_000),
                    results_block(9_000_000),
                    results_block(2_000_000, 2_000_000),
                ],
            },
            {"name": "ofa-3", "verdict": "inconclusive", "median_ms": None, "blocks": []},
            {"name": "vit", "failure": "out-of-memory", "reason": "its process was killed"},
        ],
    }


def results_text(found: dict[str, Any], *, signed: bool = True) -> str:
    if signed:
        found["digest"] = digest(found)
    return json.dumps(found)


TRTEXEC_OLD = (
    "[\n  "
    + "\n, ".join(
        trtexec_query(*numbers, end_to_end=True)
        for numbers in [
            (1.0, 0.25, 9.0, 0.5),  # a warm-up: older versions export them
            (300.0, 0.25, 2.0, 0.5),
            (304.0, 0.25, 2.5, 0.5),
            (308.0, 0.25, 2.25, 0.5),
        ]
    )
    + "\n]\n"
)


# An older tool with profiling on.
TFLITE_LOG = """STARTING!
Num threads: [1]
Graph: [/data/local/tmp/model.tflite]
Running benchmark for at least 1 iterations and at least 0.5 seconds
count=1 curr=751932

Running benchmark for at least 50 iterations and at least 1 seconds
count=50 first=747738 curr=747428 min=747331 max=748577 avg=747733 std=293

Average inference timings in us: Warmup: 751932, Init: 21039, no stats: 747733
Profiling Info for Benchmark Initialization:
============================== Run Order ==============================
\t             [node type]\t          [start]\t  [first]\t [avg ms]\t     [%]\t  [cdf%]\t  [mem KB]\t[times called]\t[Name]
\t         AllocateTensors\t            0.000\t    0.147\t    0.147\t100.000%\t100.000%\t     0.000\t        1\tAllocateTensors/0

Timings (microseconds): count=1 curr=147
Operator-wise Profiling Info for Regular Benchmark Runs:
============================== Run Order ==============================
\t             [node type]\t          [start]\t  [first]\t [avg ms]\t     [%]\t  [cdf%]\t  [mem KB]\t[times called]\t[Name]
\t                 CONV_2D\t            0.066\t  700.754\t  690.957\t 92.406%\t 92.406%\t     0.000\t        1\t[net/Conv2d_0/Relu6]:0
\t Fully Connected (NC, F32)\t          691.0\t    5.328\t    5.100\t  7.594%\t100.000%\t     0.000\t        1\tDelegate/Fully Connected (NC, F32):0

============================== Top by Computation Time ==============================
\t             [node type]\t          [start]\t  [first]\t [avg ms]\t     [%]\t  [cdf%]\t  [mem KB]\t[times called]\t[Name]
\t                 CONV_2D\t            0.066\t  700.754\t  690.957\t 92.406%\t 92.406%\t     0.000\t        1\t[net/Conv2d_0/Relu6]:0

Number of nodes executed: 2
Timings (microseconds): count=50 first=749000 curr=749000 min=748000 max=750000 avg=749000 std=293
Memory (bytes): count=0
"""  # noqa: E501  # as the tool writes it


NCNN_LOG = """0 max freq = 1804800 khz
7 max freq = 2841600 khz
loop_count = 8
num_threads = 4
powersave = 2
gpu_device = -1
cooling_down = 0
          squeezenet  min =    4.21  max =    4.36  avg =    4.27
     squeezenet_int8  min =    4.92  max =    5.23  avg =    5.04
               vgg16  min = 1891.69  max = 1912.86  avg = 1901.20
"""


def mlperf_record(key: str, value: object, line: int = 1119) -> str:
    facts = {
        "key": key,
        "value": value,
        "time_ms": 273.005400,
        "namespace": "mlperf::logging",
        "event_type": "POINT_IN_TIME",
        "metadata": {
            "is_error": False,
            "is_warning": False,
            "file": "loadgen.cc",
            "line_no": line,
            "pid": 38760,
            "tid": 37352,
        },
    }
    return f":::MLLOG {json.dumps(facts)}\n"


MLPERF_LOG = "".join(
    mlperf_record(key, value)
    for key, value in [
        ("loadgen_version", "5.0"),
        ("requested_scenario", "SingleStream"),
        ("requested_test_mode", "PerformanceOnly"),
        ("effective_scenario", "SingleStream"),
        ("effective_test_mode", "PerformanceOnly"),
        ("result_validity", "VALID"),
        ("result_query_count", 2048),
        ("result_min_latency_ns", 24_100_000),
        ("result_max_latency_ns", 41_013_900),
        ("result_mean_latency_ns", 25_000_000),
        ("result_50.00_percentile_latency_ns", 24_900_000),
        ("result_90.00_percentile_latency_ns", 25_218_600),
        ("result_99.90_percentile_latency_ns", 40_000_000),
    ]
)


CSV_TABLE = """model,latency_ms,device,runtime,precision,threads,batch
resnet50,23.4,my board,onnxruntime,fp32,4,1
"net, quantised",1.5e1,,,int8,,
mobilenetv2,7,my board,ncnn,fp16,0,0
"""


TRTEXEC_LOG = """[11/02/2026-10:00:00] [I] === Model Options ===
[11/02/2026-10:00:00] [I] Format: ONNX
[11/02/2026-10:00:00] [I] Model: models/resnet50.onnx
[11/02/2026-10:00:00] [I] === Build Options ===
[11/02/2026-10:00:00] [I] Precision: FP32+FP16
[11/02/2026-10:00:00] [I] === Inference Options ===
[11/02/2026-10:00:00] [I] Inference Streams: 1
[11/02/2026-10:00:09] [I] Average on 10 runs - GPU latency: 1.9 ms - Host latency: 2.2 ms
[11/02/2026-10:00:09] [I] === Performance summary ===
[11/02/2026-10:00:09] [I] Throughput: 481.898 qps
[11/02/2026-10:00:09] [I] Latency: min = 2.125 ms, max = 21.5 ms, mean = 2.3 ms, median = 2.25 ms, \
percentile(90%) = 2.5 ms
[11/02/2026-10:00:09] [I] Enqueue Time: min = 12.5 us, max = 30 us, mean = 20 us, median = 19 us
[11/02/2026-10:00:09] [I] H2D Latency: min = 0.2 ms, max = 0.25 ms, mean = 0.21 ms, median = 0.2 ms
[11/02/2026-10:00:09] [I] GPU Compute Time: min = 1.875 ms, max = 21 ms, median = 1.9 ms
[11/02/2026-10:00:09] [I] Total Host Walltime: 3.00402 s
"""


ONNXRUNTIME_LOG = """Setting intra_op_num_threads to 4
Session creation time cost: 0.0221815 s
First inference time cost: 6 ms
Total inference time cost: 4.992 s
Total inference requests: 1000
Average inference time cost total: 4.992000 ms
Total inference run time: 5.00236 s
Number of inferences per second: 199.906
Avg CPU usage: 49 %
Peak working set size: 49373184 bytes
Min Latency: 0.0045 s
Max Latency: 0.0077 s
P50 Latency: 0.00475 s
P90 Latency: 0.0053 s
P95 Latency: 0.0054 s
P99 Latency: 0.0061 s
"""


OPENVINO_LOG = """[Step 4/11] Reading model files
[ INFO ] Loading model files
[Step 5/11] Resizing model to match image sizes and given batch
[ INFO ] Model batch size: 1
[Step 8/11] Querying optimal runtime parameters
[ INFO ]   INFERENCE_NUM_THREADS: 8
[ INFO ]   INFERENCE_PRECISION_HINT: <Type: 'float16'>
[ INFO ]   KV_CACHE_PRECISION: <Type: 'float16'>
[Step 10/11] Measuring performance (Start inference asynchronously, 1 inference requests, limits)
[ INFO ] First inference took 11.84 ms
[Step 11/11] Dumping statistics report
[ INFO ] Count:            200 iterations
[ INFO ] Duration:         412.64 ms
[ INFO ] Latency:
[ INFO ]    Median:        2.25 ms
[ INFO ]    Average:       2.5 ms
[ INFO ]    Min:           1.95 ms
[ INFO ]    Max:           4.75 ms
[ INFO ] Throughput:   484.68 FPS
"""


HAILO_LOG = """\
Starting Measurements...
Measuring FPS in hw_only mode
Network yolov5m_wo_spp/yolov5m_wo_spp: 100% | 3272 | FPS: 218.10 | ETA: 00:00:00
Measuring FPS and Power in streaming mode
Network yolov5m_wo_spp/yolov5m_wo_spp: 100% | 3272 | FPS: 218.07 | ETA: 00:00:00
Measuring HW Latency
Network yolov5m_wo_spp/yolov5m_wo_spp: 100% | 699 | HW Latency: 12.84 ms | ETA: 00:00:00

=======
Summary
=======
FPS     (hw_only)                 = 218.106
        (streaming)               = 218.078
Latency (hw)                      = 12.8354 ms
Device 0000:01:00.0:
  Power in streaming mode (average) = 5.30504 W
"""

PERF_ANALYZER_LOG = """\
*** Measurement Settings ***
  Batch size: 1
  Measurement window: 5000 msec
  Using synchronous calls for inference
  Stabilizing using p95 latency

Request concurrency: 1
  Client:
    Request count: 348
    Throughput: 69.6 infer/sec
    p50 latency: 13936 usec
    p90 latency: 18682 usec
    p95 latency: 19673 usec
    p99 latency: 21859 usec
    Avg HTTP time: 14017 usec (send/recv 200 usec + response wait 13817 usec)
  Server:
    Inference count: 428
    Avg request latency: 12005 usec (overhead 36 usec + queue 42 usec + compute 11927 usec)
Request concurrency: 2
  Client:
    Request count: 402
    p50 latency: 24936 usec
"""

SAMPLES = {
    **PRINTED,
    "hailo-log": HAILO_LOG,
    "perf-analyzer": PERF_ANALYZER_LOG,
    "onnxruntime-log": ONNXRUNTIME_LOG,
    "openvino-log": OPENVINO_LOG,
    "trtexec-log": TRTEXEC_LOG,
    "ctm-results": results_text(results_document()),
    "onnxruntime-profile": ONNXRUNTIME_PROFILE,
    "trtexec-times": TRTEXEC_OLD,
    "trtexec-profile": TRTEXEC_PROFILE,
    "tflite-benchmark": TFLITE_LOG,
    "ncnn-benchmark": NCNN_LOG,
    "aihub-profile": AIHUB_PROFILE,
    "mlperf-log": MLPERF_LOG,
    "csv": CSV_TABLE,
}
