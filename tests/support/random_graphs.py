"""Random operator graphs and metrics, for properties of every engine."""

from __future__ import annotations

from hypothesis import strategies as st

from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from tests.support.graphs import Op, make_graph

COUNTS = st.integers(0, 10**12)

FLAGS = st.sampled_from([0, *(int(flag) for flag in OperatorFlag)])

_WITHOUT_PRODUCTS = int(OperatorFlag.VIEW | OperatorFlag.FUSED)


@st.composite
def operators(draw: st.DrawFn) -> Op:
    flags = draw(FLAGS)
    return Op(
        # No reader counts products of what changes a shape or runs inside another operator.
        macs=0 if flags & _WITHOUT_PRODUCTS else draw(COUNTS),
        read=draw(COUNTS),
        weights=draw(COUNTS),
        written=draw(COUNTS),
        repeats=draw(st.integers(1, 50)),
        flags=flags,
        dtype=draw(st.sampled_from(["float32", "float16", "bfloat16", "int8", "int64", "float64"])),
        columns=draw(st.integers(1, 4)),
        window=draw(st.tuples(st.integers(0, 11), st.integers(0, 11))),
    )


@st.composite
def graphs(draw: st.DrawFn) -> OperatorGraph:
    ops = draw(st.lists(operators(), min_size=1, max_size=8))
    return make_graph(
        ops,
        weights_total=draw(COUNTS),
        input_bytes=draw(COUNTS),
        output_bytes=draw(COUNTS),
        peak_activation_bytes=draw(COUNTS),
    )


RATES = st.floats(1e-3, 1e4)

METRICS = st.fixed_dictionaries(
    {"fp32_tflops": RATES, "fp16_tflops": RATES, "bf16_tflops": RATES, "dram_bw_gbps": RATES},
    optional={
        "tf32_tflops": RATES,
        "matrix_units": st.just(4.0),
        "l2_kb": st.floats(1, 1e6),
        "llc_kb": st.floats(1, 1e6),
        "onchip_sram_kb": st.floats(1, 1e6),
        "clock_mhz": st.floats(100, 5000),
        "boost_clock_mhz": st.floats(100, 5000),
        "core_count": st.just(4.0),
        "fp32_au_per_core": st.floats(1, 128),
    },
)
