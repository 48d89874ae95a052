from __future__ import annotations

import gzip

import pytest

from ctm_research.generation.published import read_published
from predictor.core.errors import InputError
from predictor.devices.catalogue import shipped_devices
from predictor.language.rates import Phase

DEVICES = {device.id: device for device in shipped_devices()}
TABLES = {
    "kernels/llm_rates/xiongjie_llama_bench.csv": (
        "gpu,model,backend,test,tokens_per_s",
        "3090_v3,llama 8B Q4_K - Medium,CUDA,pp 512,4030.40",
        "3090_v3,llama 8B Q4_K - Medium,CUDA,tg 512,115.42",
        "3090_2_v3,llama 8B F16,CUDA,tg 512,47",
        "walkthrough_with_SSH,llama 8B F16,CUDA,tg 512,47",
        "M1_8GB,llama 8B Q4_K - Medium,Metal,tg 512,10.20",
        "L40S_v3,llama 8B F16,CUDA,pp 512,2253.93",
        "L40S_v3,llama 8B F16,CUDA,pp 8192,3312.16",
        "H100_PCIe_v3,llama 8B F16,CUDA,pp512+tg128,305",
    ),
    "kernels/llm_rates/llama_cpp_scoreboards_secondary.csv": (
        "device,gpu_cores,stated_bw_gbs,backend,model,test,tokens_per_s",
        "Apple M1,7,68,Metal,LLaMA 7B Q8_0,tg128,7.92",
        "Apple M1,8,68,Metal,LLaMA 7B Q8_0,tg128,7.91",
        "Unheard of,,,CUDA,LLaMA 2 7B Q4_0,tg128,1",
    ),
    "kernels/llm_rates/dgx_spark_llama_bench.csv": (
        "device,backend,model,test,context_depth,tokens_per_s,flash_attn",
        "DGX Spark (NVIDIA GB10),CUDA,qwen2 7B Q8_0,tg32,4096,28.27,1",
    ),
    "kernels/llm_rates/strix_halo_llama_bench.csv": (
        "file,device,model,backend,test,tokens_per_s",
        'a__rocm-7_2_3__b,"AMD Radeon 8060S Graphics",llama 7B Q4_0,ROCm,tg32 @ d32768,5.6',
        'a__rocm6_4_4__b,"Ryzen AI Max+ 395, Radeon 8060S (gfx1151)",llama 7B Q4_0,ROCm,tg128,50',
        'a__vulkan_radv__b,"Ryzen AI Max+ 395, Radeon 8060S (gfx1151)",odd 7B Q4_0,Vulkan,tg128,5',
    ),
    "kernels/llm_rates/geerling_ai_benchmarks.csv": (
        "model,system,unit,eval_tokens_per_s",
        "Llama 3.2:3b,Pi 5 - 16GB,CPU,4.88",
        "Llama 3.2:3b,Framework Mainboard (128GB),CPU,10",
    ),
    "kernels/llm_rates/mlc_llm_perf_bench.csv": (
        "section,model,gpu,engine,tokens_per_s",
        "Single GPU,Llama2-7B,RTX 3090 Ti,MLC LLM,186.7",
        "Multiple,Llama2-7B,RTX 3090 Ti,MLC LLM,1",
    ),
    "aihub/llm_rates.csv": (
        "model_id,precision,device,context_length,tokens_per_second,ttft_min_ms",
        "llama_v3_8b_instruct,w4a16,Snapdragon 8 Elite QRD,4096,12.9262,159.383",
        "llama_v3_8b_instruct,w8,Snapdragon 8 Elite QRD,4096,12.9262,159.383",
    ),
}
SERVING = (
    "hardware,n,framework,model,input_output_length,batch,latency_s",
    "Nvidia H100 GPU,1,vLLM,meta-llama/Meta-Llama-3-8B,128,1,0.993933",
    "Nvidia H100 GPU,1,vLLM,Qwen/Qwen2-7B,2048,1,0.08",
    "Nvidia H100 GPU,4,vLLM,Qwen/Qwen2-7B,2048,1,8",
)


@pytest.fixture
def data(tmp_path):
    for name, lines in TABLES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = tmp_path / "kernels" / "llm_serving" / "argonne_llm_inference_bench.csv.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress("\n".join(SERVING).encode()))
    return tmp_path


def test_rates_are_read_with_their_work(data):
    rates = read_published(data, DEVICES).rates
    of = {(r.device.id, r.backend, r.phase): r for r in rates}
    prompt = of["rtx3090", "cuda", Phase.PREFILL]
    assert (prompt.form.name, prompt.tokens, prompt.micro_batch) == ("q4_k_m", 512, 512)
    assert prompt.tokens_per_s == pytest.approx(4030.4)
    assert of["dgx-spark-gpu", "cuda", Phase.DECODE].depth == 4096
    assert of["radeon-8060s", "rocm", Phase.DECODE].depth == 32768
    fused = {key: rate.fused for key, rate in of.items()}
    assert fused["dgx-spark-gpu", "cuda", Phase.DECODE]
    assert fused["radeon-8060s", "rocm", Phase.DECODE]
    assert not fused["rtx3090", "cuda", Phase.DECODE]
    assert of["rpi5", "cpu", Phase.DECODE].model.name == "Llama-3.2-3B"
    served = of["h100-sxm", "vllm", Phase.DECODE]
    assert (served.prompt, served.tokens, served.counts) == (128, 128, False)
    npu = of["snapdragon-8-elite-npu", "genie", Phase.PREFILL]
    assert npu.seconds == pytest.approx(0.159383)


def test_rates_of_servers_have_their_source(data):
    rates = [r for r in read_published(data, DEVICES).rates if r.device.id.startswith("epyc")]
    tokens, prompts = (
        [r for r in rates if r.phase is phase] for phase in (Phase.DECODE, Phase.PREFILL)
    )
    phi = next(r for r in tokens if r.form.name == "q8_0")
    assert (phi.device.metric("core_count"), phi.model.name) == (64, "Phi-4-14B")
    assert phi.tokens_per_s == pytest.approx(19.194)
    assert all(r.counts for r in tokens)
    assert prompts
    assert not any(r.counts for r in prompts)


def test_a_chip_with_fewer_cores_is_scaled(data):
    rates = read_published(data, DEVICES).rates
    apple = [r.device for r in rates if r.backend == "metal"]
    assert [d.id for d in apple] == ["apple-m1-gpu:7:68.25", "apple-m1-gpu"]
    seven, eight = (d.metric("fp32_tflops") for d in apple)
    assert seven == pytest.approx(eight * 7 / 8)


def test_what_is_not_used_is_counted_with_its_reason(data):
    unused = read_published(data, DEVICES).unused
    reasons = {reason.split(": ", 1)[-1]: count for reason, count in unused.items()}
    assert reasons["several cards"] == 1
    assert reasons["does not fit in the memory"] == 1
    assert reasons["prompt rates that grow with the prompt by more than 15 %"] == 2
    assert reasons["faster than the memory: a slip of the source"] == 1
    assert sum(unused.values()) == 13


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(InputError, match=r"xiongjie_llama_bench\.csv"):
        read_published(tmp_path, DEVICES)
