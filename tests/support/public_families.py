"""Public models of one family each: key numbers of their ``config.json``, and their parameters.

The names are those of huggingface.co, whose ``config.json`` has the numbers; fields that do not
matter are left out. Unless a line says otherwise, the count is that of transformers 5.24.0: of the
parameters of the class of that ``model_type``, made of these numbers on torch's meta device, a
matrix that is shared counted once.
"""

from typing import Any, Final

_TIED = {"tie_word_embeddings": True}
_UNTIED = {"tie_word_embeddings": False}


def _shape(
    kind: str, vocabulary: int, context: int, counts: tuple[int, ...], **more: object
) -> dict[str, Any]:
    """Return a configuration; counts are layers, hidden, feed-forward, heads and key heads."""
    names = ("num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads")
    shape = dict(zip((*names, "num_key_value_heads"), counts, strict=False))
    stated = {"model_type": kind, "vocab_size": vocabulary, "max_position_embeddings": context}
    return {**stated, **shape, **more}


_LATENT = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64}
_LATENT |= {"v_head_dim": 128}


def _deepseek(
    kind: str, vocabulary: int, counts: tuple[int, ...], experts: tuple[int, ...],
    query_rank: int | None,
) -> dict[str, Any]:  # fmt: skip
    """Return a configuration; experts are routed, shared, per token, width, dense layers."""
    names = ("n_routed_experts", "n_shared_experts", "num_experts_per_tok")
    sparse = dict(zip((*names, "moe_intermediate_size", "first_k_dense_replace"), experts,
                      strict=True))  # fmt: skip
    return _shape(
        kind, vocabulary, 163840, counts, q_lora_rank=query_rank, **_LATENT, **sparse, **_UNTIED
    )


def _glm_moe(counts: tuple[int, ...], experts: int, width: int, dense: int, **more: object) -> Any:
    return _shape(
        "glm4_moe", 151552, 131072, counts, head_dim=128, attention_bias=True,
        n_routed_experts=experts, n_shared_experts=1, moe_intermediate_size=width,
        num_experts_per_tok=8, first_k_dense_replace=dense, **_UNTIED, **more,
    )  # fmt: skip


def _llama4(context: int, experts: int, step: int) -> dict[str, Any]:
    return _shape(
        "llama4_text", 202048, context, (48, 5120, 8192, 40, 8), head_dim=128,
        intermediate_size_mlp=16384, num_local_experts=experts, num_experts_per_tok=1,
        interleave_moe_layer_step=step, attention_chunk_size=8192, **_UNTIED,
    )  # fmt: skip


def _gemma3n(layers: int, wide: int, shared: int) -> dict[str, Any]:
    # The file states the feed-forward width once a layer.
    return _shape(
        "gemma3n_text", 262400, 32768, (layers, 2048), intermediate_size=[wide] * layers,
        num_attention_heads=8, num_key_value_heads=2, vocab_size_per_layer_input=262144,
        hidden_size_per_layer_input=256, head_dim=256, num_kv_shared_layers=shared,
        altup_num_inputs=4, laurel_rank=64, sliding_window=512,
    )  # fmt: skip


FAMILY_CONFIGS: Final[dict[str, tuple[dict[str, Any], int]]] = {
    "ibm-granite/granite-3.1-8b-base": (
        _shape("granite", 49155, 131072, (40, 4096, 12800, 32, 8), **_TIED),
        8_170_848_256,
    ),
    "ibm-granite/granite-3.1-1b-a400m-base": (
        _shape(
            "granitemoe", 49155, 131072, (24, 1024, 512, 16, 8),
            num_local_experts=32, num_experts_per_tok=8, **_TIED,
        ),
        1_334_628_352,
    ),
    "allenai/OLMo-2-1124-7B": (
        _shape("olmo2", 100352, 4096, (32, 4096, 11008, 32, 32), **_UNTIED),
        7_298_617_344,
    ),
    "HuggingFaceTB/SmolLM3-3B": (
        _shape("smollm3", 128256, 65536, (36, 2048, 11008, 16, 4), **_TIED),
        3_075_098_624,
    ),
    "ByteDance-Seed/Seed-OSS-36B-Base": (
        _shape(
            "seed_oss", 155136, 524288, (64, 5120, 27648, 80, 8), head_dim=128,
            attention_bias=True, attention_out_bias=False, **_UNTIED,
        ),
        36_151_104_512,
    ),
    # Its class is not in transformers: worked out by hand from the shapes of the modelling code
    # beside the weights; the model's page states 7.74 B.
    "internlm/internlm2_5-7b": (
        _shape("internlm2", 92544, 32768, (32, 4096, 14336, 32, 8), bias=False, **_UNTIED),
        7_737_708_544,
    ),
    "internlm/internlm3-8b-instruct": (
        _shape(
            "internlm3", 128512, 32768, (48, 4096, 10240, 32, 2), head_dim=128, bias=False,
            qkv_bias=False, **_UNTIED,
        ),
        8_804_241_408,
    ),
    "baidu/ERNIE-4.5-0.3B-PT": (
        _shape("ernie4_5", 103424, 131072, (18, 1024, 3072, 16, 2), head_dim=128, **_TIED),
        360_748_032,
    ),
    "baidu/ERNIE-4.5-21B-A3B-PT": (
        _shape(
            "ernie4_5_moe", 103424, 131072, (28, 2560, 12288, 20, 4), moe_num_experts=64, moe_k=6,
            moe_intermediate_size=1536, moe_num_shared_experts=2, moe_layer_start_index=1,
            moe_layer_interval=1, use_bias=False, **_TIED,
        ),
        21_825_437_888,
    ),
    "CohereForAI/c4ai-command-r-v01": (
        _shape("cohere", 256000, 8192, (40, 8192, 22528, 64, 64)),
        34_980_831_232,
    ),
    "CohereForAI/c4ai-command-r-plus": (
        _shape("cohere", 256000, 8192, (64, 12288, 33792, 96, 8), use_qk_norm=True),
        103_810_674_688,
    ),
    "CohereForAI/c4ai-command-r7b-12-2024": (
        _shape(
            "cohere2", 256000, 132096, (32, 4096, 14336, 32, 8), sliding_window=4096,
            sliding_window_pattern=4,
        ),
        8_028_033_024,
    ),
    "bigcode/starcoder2-3b": (
        _shape(
            "starcoder2", 49152, 16384, (30, 3072, 12288, 24, 2), sliding_window=4096,
            use_bias=True,
        ),
        3_030_371_328,
    ),
    "stabilityai/stablelm-2-1_6b": (
        _shape(
            "stablelm", 100352, 4096, (24, 2048, 5632, 32, 32), use_qkv_bias=True, **_UNTIED
        ),
        1_644_515_328,
    ),
    "stabilityai/stablelm-2-12b": (
        _shape(
            "stablelm", 100352, 4096, (40, 5120, 13824, 32, 8), qk_layernorm=True,
            use_parallel_residual=True, **_UNTIED,
        ),
        12_143_185_920,
    ),
    "LGAI-EXAONE/EXAONE-4.0-32B": (
        _shape(
            "exaone4", 102400, 131072, (64, 5120, 27392, 40, 8), sliding_window=4096,
            sliding_window_pattern="LLLG", **_UNTIED,
        ),
        32_003_216_384,
    ),
    "tencent/Hunyuan-7B-Instruct": (
        _shape("hunyuan_v1_dense", 128167, 32768, (32, 4096, 14336, 32, 8), head_dim=128, **_TIED),
        7_504_568_320,
    ),
    "zai-org/GLM-4-9B-0414": (
        _shape(
            "glm4", 151552, 32768, (40, 4096, 13696, 32, 2), head_dim=128, attention_bias=True,
            **_UNTIED,
        ),
        9_400_279_040,
    ),
    "zai-org/GLM-4.5-Air": (
        _glm_moe((46, 4096, 10944, 96, 8), 128, 1408, 1, use_qk_norm=False),
        106_852_245_504,
    ),
    "zai-org/GLM-4.5": (
        _glm_moe((92, 5120, 12288, 96, 8), 160, 1536, 3, use_qk_norm=True),
        352_797_814_784,
    ),
    "openbmb/MiniCPM3-4B": (
        _shape(
            "minicpm3", 73448, 32768, (62, 2560, 6400, 40, 40), q_lora_rank=768, kv_lora_rank=256,
            qk_nope_head_dim=64, qk_rope_head_dim=32,
        ),
        4_073_875_968,
    ),
    "nvidia/Nemotron-Mini-4B-Instruct": (
        _shape("nemotron", 256000, 4096, (32, 3072, 9216, 24, 8), head_dim=128, **_UNTIED),
        4_190_509_056,
    ),
    "microsoft/Phi-3.5-MoE-instruct": (
        _shape(
            "phimoe", 32064, 131072, (32, 4096, 6400, 32, 8), num_local_experts=16,
            num_experts_per_tok=2, attention_bias=True, lm_head_bias=True, sliding_window=131072,
            **_UNTIED,
        ),
        41_873_153_344,
    ),
    "databricks/dbrx-base": (
        {
            "model_type": "dbrx", "vocab_size": 100352, "d_model": 6144, "n_heads": 48,
            "n_layers": 40, "max_seq_len": 32768, "attn_config": {"kv_n_heads": 8}, **_UNTIED,
            "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
        },
        131_596_523_520,
    ),
    "bigscience/bloom-560m": (
        {
            "model_type": "bloom", "vocab_size": 250880, "n_embed": 1024, "n_layer": 24,
            "num_attention_heads": 16, "seq_length": 2048,
        },
        559_214_592,
    ),
    "EleutherAI/pythia-1.4b": (
        _shape("gpt_neox", 50304, 2048, (24, 2048, 8192, 16), **_UNTIED),
        1_414_647_808,
    ),
    "EleutherAI/gpt-j-6b": (
        {
            "model_type": "gptj", "vocab_size": 50400, "n_embd": 4096, "n_layer": 28,
            "n_head": 16, "n_positions": 2048, "n_inner": None, **_UNTIED,
        },
        6_050_882_784,
    ),
    "mosaicml/mpt-7b": (
        {
            "model_type": "mpt", "vocab_size": 50432, "d_model": 4096, "n_heads": 32,
            "n_layers": 32, "max_seq_len": 2048, "expansion_ratio": 4, "no_bias": True,
        },
        6_649_286_656,
    ),
    "deepseek-ai/DeepSeek-V2-Lite": (
        _deepseek("deepseek_v2", 102400, (27, 2048, 10944, 16, 16), (64, 2, 6, 1408, 1), None),
        15_706_484_224,
    ),
    "deepseek-ai/DeepSeek-V2": (
        _deepseek("deepseek_v2", 102400, (60, 5120, 12288, 128, 128), (160, 2, 6, 1536, 1), 1536),
        235_741_434_880,
    ),
    # Without the module that predicts a second token, and the correction of the router's scores.
    "deepseek-ai/DeepSeek-V3": (
        _deepseek("deepseek_v3", 129280, (61, 7168, 18432, 128, 128), (256, 1, 8, 2048, 3), 1536),
        671_026_404_352,
    ),
    # Its class is that of DeepSeek-V3.
    "moonshotai/Kimi-K2-Instruct": (
        _deepseek("kimi_k2", 163840, (61, 7168, 18432, 64, 64), (384, 1, 8, 2048, 1), 1536),
        1_026_408_209_408,
    ),
    "meta-llama/Llama-4-Scout-17B-16E": (_llama4(10485760, 16, 1), 107_769_861_120),
    "meta-llama/Llama-4-Maverick-17B-128E": (_llama4(1048576, 128, 2), 400_711_848_960),
    "google/gemma-3n-E2B": (_gemma3n(30, 8192, 10), 4_435_182_688),
    "google/gemma-3n-E4B": (_gemma3n(35, 16384, 15), 6_835_235_568),
    "Qwen/Qwen3-Next-80B-A3B-Instruct": (
        _shape(
            "qwen3_next", 151936, 262144, (48, 2048, 5120, 16, 2), head_dim=256,
            linear_conv_kernel_dim=4, linear_key_head_dim=128, linear_num_key_heads=16,
            linear_num_value_heads=32, linear_value_head_dim=128, full_attention_interval=4,
            moe_intermediate_size=512, shared_expert_intermediate_size=512, num_experts=512,
            num_experts_per_tok=10, decoder_sparse_step=1, mlp_only_layers=[], **_UNTIED,
        ),
        79_674_391_296,
    ),
    "mistralai/Mamba-Codestral-7B-v0.1": (
        {
            "model_type": "mamba2", "vocab_size": 32768, "hidden_size": 4096,
            "num_hidden_layers": 64, "state_size": 128, "head_dim": 64, "num_heads": 128,
            "n_groups": 8, "expand": 2, "conv_kernel": 4, **_UNTIED,
        },
        7_285_403_648,
    ),
    "ai21labs/Jamba-v0.1": (
        _shape(
            "jamba", 65536, 262144, (32, 4096, 14336, 32, 8), attn_layer_period=8,
            attn_layer_offset=4, expert_layer_period=2, expert_layer_offset=1, num_experts=16,
            num_experts_per_tok=2, mamba_d_state=16, mamba_d_conv=4, mamba_expand=2,
            mamba_dt_rank=256, **_UNTIED,
        ),
        51_570_323_328,
    ),
    "tiiuae/Falcon-H1-0.5B-Base": (
        _shape(
            "falcon_h1", 32784, 16384, (36, 1024, 2048, 8, 2), head_dim=64, mamba_d_ssm=1536,
            mamba_n_heads=24, mamba_d_head=64, mamba_d_state=128, mamba_n_groups=1,
            mamba_d_conv=4, mamba_rms_norm=False, **_UNTIED,
        ),
        521_411_104,
    ),
    "LiquidAI/LFM2-1.2B": (
        {
            "model_type": "lfm2", "vocab_size": 65536, "hidden_size": 2048,
            "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8,
            "max_position_embeddings": 128000, "block_ff_dim": 12288, "block_multiple_of": 256,
            "block_ffn_dim_multiplier": 1.0, "block_auto_adjust_ff_dim": True, "conv_L_cache": 3,
            "conv_bias": False, "full_attn_idxs": [2, 5, 8, 10, 12, 14],
        },
        1_170_340_608,
    ),
    "MiniMaxAI/MiniMax-Text-01-hf": (
        _shape(
            "minimax", 200064, 10240000, (80, 6144, 9216, 64, 8), head_dim=128,
            num_local_experts=32, num_experts_per_tok=2,
            layer_types=[*["linear_attention"] * 7, "full_attention"] * 10, **_UNTIED,
        ),
        456_089_655_296,
    ),
}  # fmt: skip
