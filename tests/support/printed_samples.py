"""Printed output of tools of boards, phones and servers, a text a form."""

from __future__ import annotations

RKNN_LAYERS = """\
I target set by user is: rk3588
--------------------------------------------------------------------------------------------------
                                 Network Layer Information Table
--------------------------------------------------------------------------------------------------
ID   OpType        DataType Target InputShape                   OutputShape   Cycles(DDR/NPU/Total)    Time(us)     MacUsage(%)          WorkLoad(0/1/2)      RW(KB)       FullName
--------------------------------------------------------------------------------------------------
1    InputOperator UINT8    CPU    \\                            (1,3,64,64)   0/0/0                    4            \\                    0.0%/0.0%/0.0%       0            InputOperator:image
2    ConvRelu      INT8     NPU    (1,3,64,64),(16,3,3,3),(16)  (1,16,32,32)  4115/9216/9216           710          8.40/0.00/0.00       100.0%/0.0%/0.0%     20           Conv:/stem/Conv
3    Conv          FLOAT16  NPU    (1,16,32,32),(8,16,1,1),(8)  (1,8,32,32)   2115/1024/2115           240          2.40/0.00/0.00       100.0%/0.0%/0.0%     24           Conv:/head/Conv
4    OutputOperator INT8    CPU    (1,8,32,32)                  \\             0/0/0                    46           \\                    0.0%/0.0%/0.0%       8            OutputOperator:logits
--------------------------------------------------------------------------------------------------
Total Operator Elapsed Per Frame Time(us): 1000
Total Memory Read/Write Per Frame Size(KB): 52
--------------------------------------------------------------------------------------------------
                                 Operator Time Consuming Ranking Table
--------------------------------------------------------------------------------------------------
OpType             CallNumber   CPUTime(us)  GPUTime(us)  NPUTime(us)  TotalTime(us)  TimeRatio(%)
--------------------------------------------------------------------------------------------------
ConvRelu           1            0            0            710          710            71.00%
Conv               1            0            0            240          240            24.00%
--------------------------------------------------------------------------------------------------
"""  # noqa: E501  # as the tool prints it

RKNN_OLD_LAYERS = """\
===================================================================================
                       Performance
===================================================================================
ID   OpType           DataType Target InputShape                    OutputShape      DDR Cycles     NPU Cycles     Total Cycles   Time(us)       MacUsage(%)    WorkLoad(0/1/2)-ImproveTherical        Task Number    Lut Number     RW(KB)         FullName
1    InputOperator    UINT8    CPU    \\                             (1,3,64,64)      0              0              0              7              \\              0.0%/0.0%/0.0% - Up:0.0%               0              0              12.00          InputOperator:data
2    ConvRelu         UINT8    NPU    (1,3,64,64),(32,3,3,3),(32)   (1,32,32,32)     9415           1058           9415           428            2.47           100.0%/0.0%/0.0% - Up:0.0%             3              0              43.75          Conv:conv1

Total Operator Elapsed Time(us): 435
Total Memory RW Amount(MB): 0
Operator Time-Consuming Ranking:
OpType           Call Number     CPU Time(us)    NPU Time(us)    Total Time(us)    Time Ratio(%)
ConvRelu         1               0               428             428               98.4
"""  # noqa: E501  # as the tool prints it

RKNN_TOTAL = """\
--> Begin evaluate model performance
W When performing performance evaluation, inputs can be set to None to use fake inputs.
========================================================================
                               Performance
========================================================================
Total Time(us): 6250
FPS: 160.00
========================================================================
done
"""

RKNN_BENCHMARK = """\
rknn_api/rknnrt version: 2.3.0 (c949ad889d@2024-11-07T11:35:33), driver version: 0.9.8
custom string:
Warmup ...
   0: Elapse Time = 9.85ms, FPS = 101.52
   1: Elapse Time = 4.70ms, FPS = 212.77
Begin perf ...
   0: Elapse Time = 2.62ms, FPS = 381.68
   1: Elapse Time = 2.60ms, FPS = 384.62
   2: Elapse Time = 2.71ms, FPS = 369.00

Avg Time 2.64ms, Avg FPS = 378.310

Save output to rt_output0.npy
---- Top5 ----
0.935059 - 156
"""

MNN_BENCHMARK = """\
MNN benchmark
Forward type: **CPU** thread=4** precision=2** sparsity=0** sparseBlockOC=1** testQuantizedModel=0
--------> Benchmarking... loop = 20, warmup = 5
[-INFO-]: precision=2, use fp32 inference if your device not support fp16.
[ - ] resnet-v2-50.mnn            max =   39.943 ms  min =   36.965 ms  avg =   38.189 ms
[ - ] MobileNetV2_224.mnn         max =    6.139 ms  min =    5.400 ms  avg =    5.489 ms
MNN benchmark
Forward type: **CPU** thread=1** precision=2
--------> Benchmarking... loop = 20, warmup = 5
[ - ] MobileNetV2_224.mnn    max =    9.139ms  min =    8.400ms  avg =    8.489ms
"""

MNN_BASIC = """\
Use extra forward type: 0
Open Model mobilenetv2-7.mnn
test_main, 225, cost time: 8.656000 ms
Session Info: memory use 21.125130 MB, flops is 300.982788 M, backendType is 13
precision:2, memory: 0, Run 10 time:
                                            452 \t[BinaryOp] run 10 average cost 0.004700 ms, 0.084 %, FlopsRate: 0.002 %
                                            486 \t[Convolution] run 10 average cost 0.461000 ms, 8.276 %, FlopsRate: 0.900 %
Avg= 5.250000 ms, OpSum = 7.059200 ms min= 3.863000 ms, max= 11.596001 ms
"""  # noqa: E501  # as the tool prints it

MNN_PROFILE = (
    "1 3 224 224 \n"
    "Set ThreadNumber = 2\n"
    "Open Model mobilenetv2-7.mnn\n"
    "Sort by node name !\n"
    "Node Name     \tOp Type              \tAvg(ms)  \t%        \tFlops Rate \t\n"
    "339           \tBinaryOp             \t0.500000 \t4.000000 \t0.023848   \t\n"
    "Convolution96 \tConvolution          \t12.000000 \t96.000000 \t99.9   \t\n"
    "Print <=20 slowest Op for Convolution, larger than 3.00\n"
    "Convolution96 -  16.396393 GFlops, 96.00 rate\n"
    "\n"
    "Sort by time cost !\n"
    "Node Type            \tAvg(ms)  \t%         \tCalled times \tFlops Rate \t\n"
    "BinaryOp             \t0.500000 \t4.000000  \t1.000000     \t0.023848   \t\n"
    "Convolution          \t12.000000 \t96.000000 \t1.000000    \t99.9   \t\n"
    "total time : 12.500000 ms, total mflops : 300.983246 \n"
    "main, 138, cost time: 111.161003 ms\n"
)

MODEL_ANALYZER = """\
Model,Batch,Concurrency,Model Config Path,Instance Group,Max Batch Size,Satisfies Constraints,\
Throughput (infer/sec),p99 Latency (ms)
resnet50,8,4,resnet50_config_2,2:GPU,8,Yes,1640.0,25.1
resnet50,1,1,resnet50_config_2,2:GPU,8,Yes,210.0,6.5
resnet50,1,1,resnet50_config_default,1:GPU,8,Yes,200.0,6.4
resnet50,8,1,resnet50_config_0,1:GPU,8,Yes,800.0,12.4
"resnet50,vgg19","1,1","1,1","resnet50_config_0,vgg19_config_0","1:GPU,1:GPU","8,8",Yes,\
"294.0, [177.0,117.0]","12.3, [14.9,9.8]"

"""

EXECUTORCH_LOG = """\
I 00:00:00.003987 executorch:executor_runner.cpp:166] Model file mv2.pte is loaded.
I 00:00:00.004058 executorch:executor_runner.cpp:175] Using method forward
I 00:00:00.004429 executorch:executor_runner.cpp:226] Setting up planned buffer 0, size 48.
I 00:00:00.005262 executorch:executor_runner.cpp:251] Method loaded.
I 00:00:00.256576 executorch:executor_runner.cpp:284] Model executed successfully 50 time(s) in \
250.500000 ms.
I 00:00:00.256604 executorch:executor_runner.cpp:293] 1 outputs:
Output 0: tensor(sizes=[1], [2.])
"""

EXECUTORCH_RUNS = """\
I 00:00:00.003987 executorch:executor_runner.cpp:166] Model file mv2.pte is loaded.
I 00:00:05.833558 executorch:executor_runner.cpp:564] Model loaded in 4463.268273 ms.
I 00:00:06.075611 executorch:executor_runner.cpp:705] Iteration 1 of 4: 24.000000 ms
I 00:00:06.085611 executorch:executor_runner.cpp:705] Iteration 2 of 4: 4.250000 ms
I 00:00:06.095611 executorch:executor_runner.cpp:705] Iteration 3 of 4: 4.750000 ms
I 00:00:06.105611 executorch:executor_runner.cpp:705] Iteration 4 of 4: 4.500000 ms
I 00:00:06.105701 executorch:executor_runner.cpp:714] Model executed successfully 4 time(s) in \
37.500000 ms.
"""

EXECUTORCH_QNN = """\
I 00:00:00.002044 executorch:qnn_executor_runner.cpp:131] Model file ./dlv3_qnn.pte is loaded.
[INFO] [Qnn ExecuTorch]: create QNN Logger with log_level 2
I 00:00:01.835706 executorch:qnn_executor_runner.cpp:298] 100 inference took 1250.000000 ms, avg \
12.500000 ms
"""

EXECUTORCH_INSPECTOR = """\
╒════╤════════════════════╤══════════════════════╤════════════╤════════════╤════════════╤════════════╤═══════════════════╤═════════════════════════╕
│    │ event_block_name   │ event_name           │   p50 (ms) │   avg (ms) │   min (ms) │   max (ms) │ is_delegated_op   │ delegate_backend_name   │
╞════╪════════════════════╪══════════════════════╪════════════╪════════════╪════════════╪════════════╪═══════════════════╪═════════════════════════╡
│  0 │ Default            │ Method::init         │  33.2      │  33.2      │  33.2      │  33.2      │ False             │                         │
├────┼────────────────────┼──────────────────────┼────────────┼────────────┼────────────┼────────────┼───────────────────┼─────────────────────────┤
│  1 │ Execute            │ gemm_0               │   9.5      │   9.6      │   9.1      │  12.5      │ True              │ XnnpackBackend          │
├────┼────────────────────┼──────────────────────┼────────────┼────────────┼────────────┼────────────┼───────────────────┼─────────────────────────┤
│  2 │ Execute            │ native_call_addmm    │   0.25     │   0.26     │   0.2      │   0.5      │ False             │                         │
├────┼────────────────────┼──────────────────────┼────────────┼────────────┼────────────┼────────────┼───────────────────┼─────────────────────────┤
│  3 │ Execute            │ Method::execute      │  10.5      │  10.75     │  10.1      │  14.5      │ False             │                         │
╘════╧════════════════════╧══════════════════════╧════════════╧════════════╧════════════╧════════════╧═══════════════════╧═════════════════════════╛
"""  # noqa: E501  # as the tool prints it

EXECUTORCH_TSV = (
    "\tevent_block_name\tevent_name\tp10 (us)\tp50 (us)\tp90 (us)\top_types\tis_delegated_op\n"
    "0\tDefault\tMethod::init\t3300\t3300\t3300\t[]\tFalse\n"
    "1\tExecute\tDELEGATE_CALL\t4100\t4200\t4300\t['aten.linear.default']\tFalse\n"
    "2\tExecute\tMethod::execute\t4200\t4500\t4900\t[]\tFalse\n"
)

ULTRALYTICS = """\
Setup complete ✅ (4 CPUs, 7.9 GB RAM, 15.2/58.4 GB disk)

Benchmarks complete for runs/yolo11n.pt on coco128.yaml at imgsz=640 (330.89s)
Benchmarks legend:  - ✅ Success  - ❎ Export passed but validation failed  - ❌️ Export failed
+------------------------------------------------------------------------------------------------+
|      Format                  Status❔   Size (MB)   metrics/mAP50-95(B)   Inference time (ms/im)   FPS   |
+================================================================================================+
| 1    PyTorch                 ✅         5.4         0.5099                400.25                   2.5   |
| 2    TorchScript             ✅         10.5        0.5075                470.13                   2.13  |
| 3    ONNX                    ✅         10.2        0.5076                200.5                    4.99  |
| 4    OpenVINO                ❎         10.4        -                     -                        -     |
| 5    TensorFlow SavedModel   ❌         0.0         -                     -                        -     |
| 6    NCNN                    ✅         10.2        0.5041                80.25                    12.46 |
+------------------------------------------------------------------------------------------------+
"""  # noqa: E501  # as the tool prints it

ULTRALYTICS_PANDAS = """
Benchmarks complete for yolov8n.pt on coco8.yaml at imgsz=640 (47.38s)
                   Format Status❔  Size (MB)  metrics/mAP50-95(B)  Inference time (ms/im)
0                 PyTorch       ✅        6.2               0.6381                  102.97
1                    ONNX       ✅       12.2               0.6092                   28.25
2                TensorRT       ❌        0.0                  NaN                     NaN
6   TensorFlow SavedModel       ✅       30.6               0.6092                   90.50

Benchmarks complete for yolov8s.pt on coco8.yaml at imgsz=640 (93.99s)
                   Format Status  Size (MB)  metrics/mAP50-95(B)  Inference time (ms/im)
0                    ONNX              42.8               0.5962                   65.75
"""

QNN_PROFILE = """\
Qnn Init/Prepare/Finalize/De-Init/Execute/Lib-Load Statistics:
------------------------------------------------------------
Init Stats:
-----------
    NetRun:  331158 us

Finalize Stats:
---------------
Graph 0 (model):
    NetRun:  256372 us
    Backend (QNN (finalize) time): 256364 us

Execute Stats (Average):
------------------------
Total Inference Time:
---------------------
Graph 0 (model):
    NetRun:  2950 us
    Backend (Number of HVX threads used): 4 count
    Backend (RPC (execute) time): 2920 us
    Backend (QNN accelerator (execute) time): 2600 us
    Backend (Accelerator (execute) time): 2492 us

Execute Stats (Min):
--------------------
Total Inference Time:
---------------------
Graph 0 (model):
    NetRun:  2800 us

Execute Stats (Overall):
------------------------
    NetRun IPS:  214.8888 inf/sec
"""

SNPE_PROFILE = """\
Interpreting file serialized with Flatbuffer
Log File Created: Thu May 25 10:39:50 2023
Software library version: 2.9.0.4462

Dnn Runtime Load/Deserialize/Create/De-Init Statistics:
--------------------------------------------------
Load: 149 us
Init: 48856 us

Average SNPE Statistics:
------------------------------
Total Inference Time: 26500 us
Forward Propagate Time: 26448 us
RPC Execute Time: 0 us
Accelerator Time: 0 us

Layer Times:
---------------
0: 1419 us : CPU
1: 21 us : CPU
"""

OPENVINO_REPORT = """\
{
    "cmd_options": {"json_stats": "true", "m": "resnet50.xml", "hint": "latency"},
    "configuration_setup": {
        "api": "async",
        "batch_size": 1,
        "benchmark_mode": "full",
        "cpu_streams_num": "1",
        "duration": 60000,
        "iterations_num": 0,
        "nireq": 1,
        "precision": "f32",
        "target_device": "CPU",
        "topology": "resnet50"
    },
    "execution_results": {
        "execution_time": 412.64,
        "iterations_num": 200,
        "latency_avg": 2.5,
        "latency_max": 4.75,
        "latency_median": 2.25,
        "latency_min": 1.95,
        "percentile_boundary": 50,
        "throughput": 484.68
    }
}
"""

OPENVINO_TABLE = """\
Command line parameters
m;resnet50.xml;
hint;latency;

Configuration setup
benchmark mode;full;
topology;resnet50;
batch size;1;
number of iterations;0;
number of parallel infer requests;1;

Execution results
total execution time (ms);412.64;
total number of iterations;200;
Median latency (ms);2.25;
Percentile boundary;50;
Average latency (ms);2.5;
Min latency (ms);1.95;
Max latency (ms);4.75;
throughput;484.68;

"""

MINIBENCH = """\
[{"actualValue":9.5,"benchmarkModel":{"backend":"xnnpack","name":"mv2","quantization":"q8"},\
"deviceInfo":{"arch":"SM-S926U1","availMem":0,"device":"samsung","os":"Android 14","totalMem":0},\
"metric":"avg_inference_latency(ms)","targetValue":0.0},
{"actualValue":9.25,"benchmarkModel":{"backend":"xnnpack","name":"mv2","quantization":"q8"},\
"deviceInfo":{"arch":"SM-S926U1","availMem":0,"device":"samsung","os":"Android 14","totalMem":0},\
"metric":"trimmean_inference_latency(ms)","targetValue":0.0},
{"actualValue":0.0,"benchmarkModel":{"backend":"xnnpack","name":"mv2","quantization":"q8"},\
"deviceInfo":{"arch":"SM-S926U1","availMem":0,"device":"samsung","os":"Android 14","totalMem":0},\
"metric":"load_status","targetValue":0.0}]
"""

PRINTED = {
    "openvino-report": OPENVINO_REPORT,
    "rknn-log": RKNN_LAYERS,
    "mnn-log": MNN_BENCHMARK,
    "model-analyzer": MODEL_ANALYZER,
    "executorch-log": EXECUTORCH_LOG,
    "executorch-inspector": EXECUTORCH_INSPECTOR,
    "executorch-minibench": MINIBENCH,
    "ultralytics": ULTRALYTICS,
    "qnn-profile": QNN_PROFILE,
    "snpe-profile": SNPE_PROFILE,
}
