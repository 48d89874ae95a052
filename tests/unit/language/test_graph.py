"""Operator graphs of decoders in their two phases, against the counts of the architecture."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.cost.roofline import RooflineEngine
from predictor.graph.model import Model
from predictor.graph.untrusted import checked_graph
from predictor.language.architecture import DecoderArchitecture, Rows
from predictor.language.config import architecture_of
from predictor.language.graph import Pass, phase_model
from predictor.language.weights import FORMATS
from tests.unit.language.public_models import CONFIGS

Q4_0 = FORMATS["q4_0"]


def model(name: str) -> DecoderArchitecture:
    return architecture_of(CONFIGS[name][0], name)


def rows(decoder: DecoderArchitecture, step: Pass) -> dict[Rows, int]:
    frames = decoder.encoder.frames if decoder.encoder and not step.past else 0
    return {
        Rows.TOKENS: step.batch * step.tokens,
        Rows.LAST: step.batch,
        Rows.FRAMES: step.batch * frames,
        Rows.MEL_FRAMES: 2 * step.batch * frames,
        Rows.LOOKED_UP: 0,
    }


@pytest.mark.parametrize("name", sorted(CONFIGS))
@pytest.mark.parametrize("step", [Pass(64), Pass(1, 100), Pass(3, 5, batch=2)])
def test_products_are_those_of_the_architecture(name: str, step: Pass) -> None:
    decoder = model(name)
    graph = checked_graph(phase_model(decoder, Q4_0, step).graph.to_bytes())
    is_product = np.array([op in {"MatMul", "Conv"} for op in graph.op_types])
    counted = int(graph.macs[is_product].sum())
    expected = sum(p.macs * rows(decoder, step)[p.rows] for p in decoder.products())
    if decoder.experts:  # rows of an expert are whole
        assert expected <= counted < 1.1 * expected
    else:
        assert counted == expected
    assert graph.parameters == decoder.parameters()


@pytest.mark.parametrize("name", ["Llama-3-8B", "gemma-2-2b", "gpt-oss-20b"])
def test_a_decode_step_attends_to_the_cache(name: str) -> None:
    decoder = model(name)
    graph = phase_model(decoder, Q4_0, Pass(1, 8000)).graph
    attends = np.array(["Attention" in op for op in graph.op_types])
    assert graph.macs[attends].sum() == decoder.attention_macs(1, 8000)
    read = graph.bytes_read[attends].sum()
    cache = 2 * decoder.kv_elements(8000)
    assert cache < read < 1.01 * cache
    half = phase_model(decoder, Q4_0, Pass(1, 8000), kv_bits=8).graph
    assert half.bytes_read[attends].sum() == pytest.approx(read / 2, rel=0.01)


def test_a_decode_step_reads_every_weight_but_the_table() -> None:
    decoder = model("Llama-2-7b")
    graph = phase_model(decoder, Q4_0, Pass(1, 100)).graph
    table = Q4_0.table_bytes(decoder)
    assert graph.weight_bytes.sum() == pytest.approx(
        Q4_0.model_bytes(decoder) - table * (1 - 1 / 32000), abs=2
    )
    assert graph.weights_total_bytes == Q4_0.model_bytes(decoder)


def test_a_step_of_experts_reads_those_that_it_touches() -> None:
    decoder = model("Qwen3-30B-A3B")
    read = [
        int(phase_model(decoder, Q4_0, Pass(tokens, 10)).graph.weight_bytes.sum())
        for tokens in (1, 8, 512)
    ]
    size = Q4_0.model_bytes(decoder)
    assert read[0] < 0.12 * size
    assert read[0] < read[1] < read[2]
    assert read[2] > 0.98 * (size - Q4_0.table_bytes(decoder))


def test_an_encoder_runs_in_the_prefill_alone() -> None:
    decoder = model("whisper-tiny")
    prefill = phase_model(decoder, FORMATS["f16"], Pass(4)).graph
    decode = phase_model(decoder, FORMATS["f16"], Pass(1, 4)).graph
    assert sum(name.startswith("enc") for name in prefill.names) > 12 * 4
    assert not any(name.startswith("enc") for name in decode.names)
    crossed = [i for i, name in enumerate(decode.names) if name.endswith("cross_attention")]
    assert len(crossed) == 4
    assert decode.gemm[crossed[0]].tolist() == [6, 1, 1500, 128]


@given(
    st.sampled_from(sorted(CONFIGS)),
    st.integers(1, 600),
    st.integers(0, 600),
    st.integers(1, 4),
    st.sampled_from(sorted(FORMATS)),
)
def test_any_pass_is_a_sound_graph(
    name: str, tokens: int, past: int, batch: int, form: str
) -> None:
    decoder = replace(model(name), layers=2, windowed_layers=min(model(name).windowed_layers, 1))
    made = phase_model(decoder, FORMATS[form], Pass(tokens, past, batch))
    graph = checked_graph(made.graph.to_bytes())
    assert graph.output_shape(len(graph) - 1) == (batch, 1, decoder.vocabulary)
    assert made.inputs[0].shape == (batch, tokens)
    # Every operator but the last one is read by another.
    assert set(range(len(graph) - 1)) <= set(graph.edges[0].tolist())
    assert graph.peak_activation_bytes >= graph.input_bytes


def test_passes_and_formats_have_fingerprints_of_their_own() -> None:
    decoder = model("gpt2")
    steps = (Pass(8), Pass(9), Pass(1, 8), Pass(1, 8, 2))
    made = [phase_model(decoder, Q4_0, step) for step in steps]
    made.append(phase_model(decoder, FORMATS["q8_0"], Pass(8)))
    assert len({each.graph.fingerprint for each in made}) == 5
    again = phase_model(decoder, Q4_0, Pass(8))
    assert again.graph.fingerprint == made[0].graph.fingerprint


def test_it_is_a_model_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("{}")
    made = phase_model(model("Qwen3-30B-A3B"), Q4_0, Pass(32), path=str(path))
    assert (made.path, made.size_bytes) == (str(path), 2)
    again = Model.from_payload(made.to_payload())
    assert again.graph.to_bytes() == made.graph.to_bytes()
    assert "8 of 128 a token" in again.notes[1]


def test_an_engine_predicts_it() -> None:
    metrics = {"fp32_tflops": 10.0, "fp16_tflops": 20.0, "dram_bw_gbps": 400.0, "dram_gb": 24.0}
    configuration = Configuration("onnxruntime", Precision.FP16)
    device = Device("d", "d", "", Family.GPU, metrics, configurations=(configuration,))
    decoder = model("Llama-3-8B")
    graphs = [phase_model(decoder, Q4_0, step).graph for step in (Pass(512), Pass(1, 512))]
    table = RooflineEngine().predict(graphs, [Target(device, configuration)], {})
    prefill, decode = table.latency_ms[:, 0]
    # 7.0 G weights x 512 tokens at 10 T MACs a second; 4.7 GB at 400 GB/s or more of them.
    assert prefill > 6.9 * 512 / 10
    assert 11 < decode < prefill
