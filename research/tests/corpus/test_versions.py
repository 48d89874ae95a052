"""Which measurements are of an early version of a framework."""

from __future__ import annotations

import pytest

from ctm_research.corpus.versions import has_early_starts


@pytest.mark.parametrize(
    ("runtime", "provenance", "early"),
    [
        ("pytorch", "facebookincubator/AITemplate@c8aad3774cdd:README.md, 1.12", True),
        ("pytorch", "huggingface/pytorch-image-models, results/a.csv, torch 1.13", True),
        ("pytorch", "huggingface/pytorch-image-models, results/a.csv, torch 2.9.1", False),
        ("pytorch", "u39kun/deep-learning-benchmark@9dc3e36e6f97:README.md, 0.3.0", True),
        ("pytorch", "a/b@c:docs/perf.md, 2.1.0.dev (nightly, CUDA 11.8)", False),
        ("pytorch", "ryujaehun/pytorch-gpu-benchmark@3f4:a.csv, 1.7 (container 20.10)", True),
        ("pytorch", "NVIDIA-AI-IOT/torch2trt@4e8:benchmarks/JETSON_XAVIER.md", True),
        ("pytorch", "sitar-lab/NeuSight, ASPLOS 2025", False),
        ("pytorch-torchscript", "NVIDIA/FasterTransformer@df4:docs/bert_guide.md", False),
        ("tensorrt", "NVIDIA-AI-IOT/torch2trt@4e8:benchmarks/JETSON_XAVIER.md", False),
    ],
)
def test_early(runtime: str, provenance: str, early: bool) -> None:
    assert has_early_starts(runtime, provenance) is early
