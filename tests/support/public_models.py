"""Key numbers of public models' ``config.json``, and their published parameter counts.

The counts are those of the weight files on huggingface.co (the total that a model's page takes from
its safetensors header), a matrix that is stored twice counted once, as ``num_parameters()`` of
transformers does. Only fields that matter are kept, in our own order.
"""

from typing import Any, Final

from tests.support.public_families import FAMILY_CONFIGS

_LLAMA = {"model_type": "llama", "vocab_size": 32000, "max_position_embeddings": 4096}
_LLAMA3 = {**_LLAMA, "vocab_size": 128256, "max_position_embeddings": 131072}
_QWEN2 = {"model_type": "qwen2", "vocab_size": 151936, "max_position_embeddings": 32768}
_QWEN2 |= {"use_sliding_window": False, "sliding_window": 131072, "max_window_layers": 28}
_QWEN3 = {"model_type": "qwen3", "vocab_size": 151936, "max_position_embeddings": 40960}
_QWEN3 |= {"head_dim": 128, "attention_bias": False, "use_sliding_window": False}
_GEMMA = {"vocab_size": 256000, "head_dim": 256, "max_position_embeddings": 8192}
_GPT2 = {"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_ctx": 1024}
_OPT = {"model_type": "opt", "vocab_size": 50272, "max_position_embeddings": 2048}
_PHI3 = {"model_type": "phi3", "sliding_window": 2047, "max_position_embeddings": 4096}
_WHISPER = {"model_type": "whisper", "vocab_size": 51865, "num_mel_bins": 80}
_WHISPER |= {"max_source_positions": 1500, "max_target_positions": 448}


def _shape(
    layers: int, hidden: int, wide: int, heads: int, kv_heads: int, **more: object
) -> dict[str, Any]:
    return {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "intermediate_size": wide,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        **more,
    }


def _gpt2(layers: int, hidden: int, heads: int) -> dict[str, Any]:
    return {**_GPT2, "n_layer": layers, "n_embd": hidden, "n_head": heads}


def _opt(layers: int, hidden: int, heads: int, **more: object) -> dict[str, Any]:
    counts = {"num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads}
    return {**_OPT, **counts, "ffn_dim": 4 * hidden, **more}


def _whisper(layers: int, decoder_layers: int, hidden: int, **more: object) -> dict[str, Any]:
    return {
        **_WHISPER,
        "d_model": hidden,
        "num_hidden_layers": layers,
        "encoder_layers": layers,
        "encoder_attention_heads": hidden // 64,
        "encoder_ffn_dim": 4 * hidden,
        "decoder_layers": decoder_layers,
        "decoder_attention_heads": hidden // 64,
        "decoder_ffn_dim": 4 * hidden,
        **more,
    }


_TIED = {"tie_word_embeddings": True}
_MOE3 = {**_QWEN3, "model_type": "qwen3_moe", "num_experts": 128, "num_experts_per_tok": 8}
_MOE3 |= {"decoder_sparse_step": 1, "mlp_only_layers": []}
_MOE2 = {**_QWEN2, "model_type": "qwen2_moe", "decoder_sparse_step": 1}

CONFIGS: Final[dict[str, tuple[dict[str, Any], int]]] = {
    "Llama-2-7b": ({**_LLAMA, **_shape(32, 4096, 11008, 32, 32)}, 6_738_415_616),
    "Llama-2-13b": ({**_LLAMA, **_shape(40, 5120, 13824, 40, 40)}, 13_015_864_320),
    "Llama-2-70b": ({**_LLAMA, **_shape(80, 8192, 28672, 64, 8)}, 68_976_648_192),
    "TinyLlama-1.1B": ({**_LLAMA, **_shape(22, 2048, 5632, 32, 4)}, 1_100_048_384),
    "SmolLM-135M": (
        {**_LLAMA, **_TIED, "vocab_size": 49152, **_shape(30, 576, 1536, 9, 3)},
        134_515_008,
    ),
    "Llama-3-8B": ({**_LLAMA3, **_shape(32, 4096, 14336, 32, 8)}, 8_030_261_248),
    "Llama-3-70B": ({**_LLAMA3, **_shape(80, 8192, 28672, 64, 8)}, 70_553_706_496),
    "Llama-3.1-405B": ({**_LLAMA3, **_shape(126, 16384, 53248, 128, 8)}, 405_853_388_800),
    "Llama-3.2-1B": (
        {**_LLAMA3, **_TIED, **_shape(16, 2048, 8192, 32, 8, head_dim=64)},
        1_235_814_400,
    ),
    "Llama-3.2-3B": (
        {**_LLAMA3, **_TIED, **_shape(28, 3072, 8192, 24, 8, head_dim=128)},
        3_212_749_824,
    ),
    "Mistral-7B-v0.1": (
        {
            "model_type": "mistral",
            "vocab_size": 32000,
            "max_position_embeddings": 32768,
            "sliding_window": 4096,
            **_shape(32, 4096, 14336, 32, 8),
        },
        7_241_732_096,
    ),
    "Mistral-7B-v0.3": (
        {
            "model_type": "mistral",
            "vocab_size": 32768,
            "max_position_embeddings": 32768,
            "sliding_window": None,
            **_shape(32, 4096, 14336, 32, 8),
        },
        7_248_023_552,
    ),
    "Mixtral-8x7B": (
        {
            "model_type": "mixtral",
            "vocab_size": 32000,
            "max_position_embeddings": 32768,
            "sliding_window": None,
            "num_local_experts": 8,
            "num_experts_per_tok": 2,
            **_shape(32, 4096, 14336, 32, 8),
        },
        46_702_792_704,
    ),
    "Qwen2-0.5B": ({**_QWEN2, **_TIED, **_shape(24, 896, 4864, 14, 2)}, 494_032_768),
    "Qwen2-1.5B": ({**_QWEN2, **_TIED, **_shape(28, 1536, 8960, 12, 2)}, 1_543_714_304),
    "Qwen2.5-3B": ({**_QWEN2, **_TIED, **_shape(36, 2048, 11008, 16, 2)}, 3_085_938_688),
    "Qwen2-7B": (
        {**_QWEN2, "vocab_size": 152064, **_shape(28, 3584, 18944, 28, 4)},
        7_615_616_512,
    ),
    "Qwen2.5-14B": (
        {**_QWEN2, "vocab_size": 152064, **_shape(48, 5120, 13824, 40, 8)},
        14_770_033_664,
    ),
    "Qwen2.5-32B": (
        {**_QWEN2, "vocab_size": 152064, **_shape(64, 5120, 27648, 40, 8)},
        32_763_876_352,
    ),
    "Qwen2-72B": (
        {**_QWEN2, "vocab_size": 152064, **_shape(80, 8192, 29568, 64, 8)},
        72_706_203_648,
    ),
    "Qwen1.5-MoE-A2.7B": (
        {
            **_MOE2,
            "num_experts": 60,
            "num_experts_per_tok": 4,
            "moe_intermediate_size": 1408,
            "shared_expert_intermediate_size": 5632,
            **_shape(24, 2048, 5632, 16, 16),
        },
        14_315_784_192,
    ),
    "Qwen2-57B-A14B": (
        {
            **_MOE2,
            "num_experts": 64,
            "num_experts_per_tok": 8,
            "moe_intermediate_size": 2560,
            "shared_expert_intermediate_size": 20480,
            **_shape(28, 3584, 18944, 28, 4),
        },
        57_408_658_944,
    ),
    "Qwen3-0.6B": ({**_QWEN3, **_TIED, **_shape(28, 1024, 3072, 16, 8)}, 596_049_920),
    "Qwen3-4B": ({**_QWEN3, **_TIED, **_shape(36, 2560, 9728, 32, 8)}, 4_022_468_096),
    "Qwen3-8B": ({**_QWEN3, **_shape(36, 4096, 12288, 32, 8)}, 8_190_735_360),
    "Qwen3-14B": ({**_QWEN3, **_shape(40, 5120, 17408, 40, 8)}, 14_768_307_200),
    "Qwen3-32B": ({**_QWEN3, **_shape(64, 5120, 25600, 64, 8)}, 32_762_123_264),
    "Qwen3-30B-A3B": (
        {**_MOE3, "moe_intermediate_size": 768, **_shape(48, 2048, 6144, 32, 4)},
        30_532_122_624,
    ),
    "Qwen3-235B-A22B": (
        {**_MOE3, "moe_intermediate_size": 1536, **_shape(94, 4096, 12288, 64, 4)},
        235_093_634_560,
    ),
    "gemma-2b": (
        {**_GEMMA, "model_type": "gemma", **_shape(18, 2048, 16384, 8, 1)},
        2_506_172_416,
    ),
    "gemma-7b": (
        {**_GEMMA, "model_type": "gemma", **_shape(28, 3072, 24576, 16, 16)},
        8_537_680_896,
    ),
    "gemma-2-2b": (
        {**_GEMMA, "model_type": "gemma2", **_shape(26, 2304, 9216, 8, 4)},
        2_614_341_888,
    ),
    "gemma-2-9b": (
        {**_GEMMA, "model_type": "gemma2", **_shape(42, 3584, 14336, 16, 8)},
        9_241_705_984,
    ),
    "gemma-2-27b": (
        {**_GEMMA, "model_type": "gemma2", **_shape(46, 4608, 36864, 32, 16, head_dim=128)},
        27_227_128_320,
    ),
    "gemma-3-1b": (
        {
            **_GEMMA,
            "model_type": "gemma3_text",
            "vocab_size": 262144,
            "sliding_window": 512,
            "sliding_window_pattern": 6,
            **_shape(26, 1152, 6912, 4, 1),
        },
        999_885_952,
    ),
    "phi-1_5": (
        {
            "model_type": "phi",
            "vocab_size": 51200,
            "max_position_embeddings": 2048,
            **_shape(24, 2048, 8192, 32, 32),
        },
        1_418_270_720,
    ),
    "phi-2": (
        {
            "model_type": "phi",
            "vocab_size": 51200,
            "max_position_embeddings": 2048,
            **_shape(32, 2560, 10240, 32, 32),
        },
        2_779_683_840,
    ),
    "Phi-3-mini-4k": (
        {**_PHI3, "vocab_size": 32064, **_shape(32, 3072, 8192, 32, 32)},
        3_821_079_552,
    ),
    "phi-4": (
        {**_PHI3, "sliding_window": None, "vocab_size": 100352, **_shape(40, 5120, 17920, 40, 10)},
        14_659_507_200,
    ),
    "gpt2": (_gpt2(12, 768, 12), 124_439_808),
    "gpt2-medium": (_gpt2(24, 1024, 16), 354_823_168),
    "gpt2-large": (_gpt2(36, 1280, 20), 774_030_080),
    "gpt2-xl": (_gpt2(48, 1600, 25), 1_557_611_200),
    "opt-125m": (_opt(12, 768, 12, word_embed_proj_dim=768), 125_239_296),
    "opt-350m": (
        _opt(24, 1024, 16, word_embed_proj_dim=512, do_layer_norm_before=False),
        331_196_416,
    ),
    "opt-1.3b": (_opt(24, 2048, 32), 1_315_758_080),
    "opt-6.7b": (_opt(32, 4096, 32), 6_658_473_984),
    "falcon-7b": (
        {
            "model_type": "falcon",
            "vocab_size": 65024,
            "num_hidden_layers": 32,
            "hidden_size": 4544,
            "num_attention_heads": 71,
            "multi_query": True,
            "parallel_attn": True,
            "new_decoder_architecture": False,
            "bias": False,
            "alibi": False,
        },
        6_921_720_704,
    ),
    "falcon-rw-1b": (
        {
            "model_type": "falcon",
            "vocab_size": 50304,
            "num_hidden_layers": 24,
            "hidden_size": 2048,
            "num_attention_heads": 32,
            "multi_query": False,
            "parallel_attn": False,
            "bias": True,
            "alibi": True,
        },
        1_311_625_216,
    ),
    "gpt-oss-20b": (
        {
            "model_type": "gpt_oss",
            "vocab_size": 201088,
            "max_position_embeddings": 131072,
            "head_dim": 64,
            "num_local_experts": 32,
            "num_experts_per_tok": 4,
            "sliding_window": 128,
            **_shape(24, 2880, 2880, 64, 8),
        },
        20_914_757_184,
    ),
    "whisper-tiny": (_whisper(4, 4, 384), 37_760_640),
    "whisper-base": (_whisper(6, 6, 512), 72_593_920),
    "whisper-small": (_whisper(12, 12, 768), 241_734_912),
    "whisper-medium": (_whisper(24, 24, 1024), 763_857_920),
    "whisper-large-v2": (_whisper(32, 32, 1280), 1_543_304_960),
    "whisper-large-v3": (
        _whisper(32, 32, 1280, num_mel_bins=128, vocab_size=51866),
        1_543_490_560,
    ),
    "whisper-large-v3-turbo": (
        _whisper(32, 4, 1280, num_mel_bins=128, vocab_size=51866),
        808_878_080,
    ),
    **FAMILY_CONFIGS,
}
