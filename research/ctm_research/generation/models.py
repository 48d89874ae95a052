"""The models of published rates, from their configurations."""

from __future__ import annotations

from typing import Any, Final

from predictor.language.architecture import DecoderArchitecture


def _model(name: str, *counts: int, **more: Any) -> DecoderArchitecture:
    layers, hidden, heads, kv_heads, head_dim, feed_forward, vocabulary = counts
    return DecoderArchitecture(
        name=name,
        family=more.pop("family", "llama"),
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        feed_forward=feed_forward,
        vocabulary=vocabulary,
        max_context=more.pop("max_context", 131_072),
        **more,
    )


def _experts(name: str, *counts: int, **more: Any) -> DecoderArchitecture:
    layers, hidden, heads, kv_heads, head_dim, width, vocabulary = counts
    return _model(
        name, layers, hidden, heads, kv_heads, head_dim, 0, vocabulary,
        expert_feed_forward=width, **more,
    )  # fmt: skip


MODELS: Final = {
    model.name: model
    for model in (
        _model("Llama-2-7B", 32, 4096, 32, 32, 128, 11_008, 32_000),
        _model("Llama-2-13B", 40, 5120, 40, 40, 128, 13_824, 32_000),
        _model("Llama-2-70B", 80, 8192, 64, 8, 128, 28_672, 32_000),
        _model("Llama-3-8B", 32, 4096, 32, 8, 128, 14_336, 128_256),
        _model("Llama-3-70B", 80, 8192, 64, 8, 128, 28_672, 128_256),
        _model("Llama-3.1-405B", 126, 16_384, 128, 8, 128, 53_248, 128_256),
        _model("Llama-3.2-1B", 16, 2048, 32, 8, 64, 8192, 128_256, tied_embeddings=True),
        _model("Llama-3.2-3B", 28, 3072, 24, 8, 128, 8192, 128_256, tied_embeddings=True),
        _model("Mistral-7B", 32, 4096, 32, 8, 128, 14_336, 32_000),
        _model("Ministral-3-14B", 40, 5120, 32, 8, 128, 16_384, 131_072),
        _model("Qwen2-7B", 28, 3584, 28, 4, 128, 18_944, 152_064, family="qwen2"),
        _model(
            "Qwen2.5-3B", 36, 2048, 16, 2, 128, 11_008, 151_936,
            family="qwen2", tied_embeddings=True,
        ),
        _model(
            "Qwen3-0.6B", 28, 1024, 16, 8, 128, 3072, 151_936,
            family="qwen3", tied_embeddings=True,
        ),
        _model("Phi-4-14B", 40, 5120, 40, 10, 128, 17_920, 100_352, family="phi3"),
        _model("Qwen2.5-14B", 48, 5120, 40, 8, 128, 13_824, 152_064, family="qwen2"),
        _model(
            "Gemma-3-4B", 34, 2560, 8, 4, 256, 10_240, 262_208,
            family="gemma3_text", tied_embeddings=True, sliding_window=1024, windowed_layers=29,
        ),
        _experts(
            "gpt-oss-20B", 24, 2880, 64, 8, 64, 2880, 201_088,
            family="gpt_oss", experts=32, experts_per_token=4, sliding_window=128,
            windowed_layers=12,
        ),
        _experts(
            "gpt-oss-120B", 36, 2880, 64, 8, 64, 2880, 201_088,
            family="gpt_oss", experts=128, experts_per_token=4, sliding_window=128,
            windowed_layers=18,
        ),
        _experts(
            "Qwen3-30B-A3B", 48, 2048, 32, 4, 128, 768, 151_936,
            family="qwen3_moe", experts=128, experts_per_token=8,
        ),
        _experts(
            "Mixtral-8x7B", 32, 4096, 32, 8, 128, 14_336, 32_000,
            family="mixtral", experts=8, experts_per_token=2,
        ),
    )
}  # fmt: skip
