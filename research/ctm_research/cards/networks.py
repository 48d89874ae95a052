"""Whole networks on a CUDA device: NeuSight's transformers, and image networks of timm."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import torch
from torch import nn

from ctm_research.cards.timing import timed_ms

# By name: family, layers, width, heads, length of sequences, batches; as in NeuSight's tables.
_TRANSFORMERS: Final[dict[str, tuple[str, int, int, int, int, tuple[int, ...]]]] = {
    "bert_large": ("bert", 24, 1024, 16, 512, (8, 16)),
    "gpt2_large": ("gpt2", 36, 1280, 20, 1024, (4, 8)),
    "gpt3_xl": ("gpt2", 24, 3072, 24, 2048, (2, 8)),
    "gpt3_27": ("gpt2", 32, 2560, 32, 2048, (2, 8)),
    "opt_13": ("opt", 24, 2048, 32, 2048, (2, 8)),
}
_IMAGES: Final = (
    "resnet18",
    "resnet50",
    "vgg16",
    "densenet121",
    "inception_v3",
    "mobilenetv2_100",
    "mobilenetv3_large_100",
    "efficientnet_b0",
    "efficientnet_b4",
    "regnety_016",
    "convnext_tiny",
    "vit_small_patch16_224",
    "vit_base_patch16_224",
    "swin_tiny_patch4_window7_224",
    "mixer_b16_224",
)
_BATCHES: Final = (1, 8, 64)
_PRECISIONS: Final = {"fp32": torch.float32, "fp16": torch.float16}
_CLOCK_RUNS: Final = 30
_WARM_UP: Final = 5
_S_TO_MS: Final = 1e3


@dataclass(frozen=True, slots=True)
class TimedNetwork:
    """One network on the card, as a row of a table of ``ctm evaluate measurements``.

    Attributes:
        model: name of its graph file in the data folder, without ``.onnx``.
        precision: of the whole network.
        batch: of the input.
        latency_ms: of a transformer by NeuSight's protocol; of an image network the median by the
            clock, from the call to its end.
    """

    model: str
    precision: str
    batch: int
    latency_ms: float


def timed_transformers() -> Iterator[TimedNetwork]:
    """Yield NeuSight's dense transformers in FP32 with eager attention."""
    for name, (family, layers, width, heads, length, batches) in _TRANSFORMERS.items():
        with torch.device("cuda"):
            model = _transformer(family, layers, width, heads).eval()
        for batch in batches:
            tokens = torch.ones(batch, length, dtype=torch.int64, device="cuda")
            with torch.inference_mode():
                latency_ms = timed_ms(partial(model, input_ids=tokens), is_cold=True)
            yield TimedNetwork(f"{name}-{length}-{batch}", "fp32", batch, latency_ms)
        del model
        torch.cuda.empty_cache()


def _transformer(family: str, layers: int, width: int, heads: int) -> nn.Module:
    import transformers  # noqa: PLC0415  # seconds, and only where transformers are timed

    eager: dict[str, Any] = {"attn_implementation": "eager"}
    model: nn.Module
    if family == "bert":
        bert = transformers.BertConfig(
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
            **eager,
        )
        model = transformers.BertForSequenceClassification(bert)
    elif family == "gpt2":
        gpt2 = transformers.GPT2Config(
            n_embd=width, n_layer=layers, n_head=heads, n_positions=2048, **eager
        )
        model = transformers.GPT2LMHeadModel(gpt2)
    else:
        opt = transformers.OPTConfig(
            hidden_size=width,
            word_embed_proj_dim=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            ffn_dim=4 * width,
            **eager,
        )
        model = transformers.OPTForCausalLM(opt)
    return model


def timed_images() -> Iterator[TimedNetwork]:
    """Yield networks of timm, from the call to the end of the work."""
    import timm  # noqa: PLC0415  # seconds, and only where its networks are timed

    for name in _IMAGES:
        with torch.device("cuda"):
            model = timm.create_model(name).eval()
        size = model.default_cfg["input_size"]
        for precision, dtype in _PRECISIONS.items():
            network = model.to(dtype)
            for batch in _BATCHES:
                images = torch.randn(batch, *size, device="cuda", dtype=dtype)
                latency_ms = _by_clock(network, images)
                yield TimedNetwork(f"{name}__{size[-1]}", precision, batch, latency_ms)
        torch.cuda.empty_cache()


def _by_clock(model: nn.Module, images: torch.Tensor) -> float:
    times = []
    with torch.inference_mode():
        for run in range(_WARM_UP + _CLOCK_RUNS):
            torch.cuda.synchronize()
            begun = time.perf_counter()
            model(images)
            torch.cuda.synchronize()
            if run >= _WARM_UP:
                times.append(time.perf_counter() - begun)
    return _S_TO_MS * sorted(times)[len(times) // 2]
