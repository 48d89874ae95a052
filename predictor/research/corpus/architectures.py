"""Which networks are the same architecture, so that one of them held out holds out all.

A family is a module of timm; networks of other sources are put in the family of timm that defines
their building blocks. So ResNet-50 is ``resnet`` in every source, and a detector belongs to its
backbone's family. Modules that define the same blocks again are one family.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from predictor.core.errors import InputError

OPERATOR_FAMILY: Final = "single operators"
"""Of graphs of one operator: they are no network and belong to no other family."""

# Modules of timm that are written around the blocks of another module.
_SAME_AS: Mapping[str, str] = MappingProxyType(
    {
        "beit": "vision_transformer",
        "deit": "vision_transformer",
        "efficientformer_v2": "efficientformer",
        "eva": "vision_transformer",
        "hardcorenas": "mobilenetv3",
        "hieradet_sam2": "hiera",
        "inception_v4": "inception_v3",
        "mobilenetv5": "mobilenetv3",
        "naflexvit": "vision_transformer",
        "pnasnet": "nasnet",
        "repghost": "ghostnet",
        "resnetv2": "resnet",
        "senet": "resnet",
        "swin_transformer_v2": "swin_transformer",
        "swin_transformer_v2_cr": "swin_transformer",
        "vision_transformer_hybrid": "vision_transformer",
        "vision_transformer_relpos": "vision_transformer",
        "vision_transformer_sam": "vision_transformer",
        "xception_aligned": "xception",
    }
)

# Graphs of ncnn by name of the file. MobileNet 1 and 2, MnasNet and ProxylessNAS are in timm's
# module of EfficientNet.
_OF_NCNN: Mapping[str, str] = MappingProxyType(
    {
        "FastestDet": "shufflenet",
        "alexnet": "alexnet",
        "blazeface": "blazeface",
        "efficientnet_b0": "efficientnet",
        "efficientnetv2_b0": "efficientnet",
        "googlenet": "googlenet",
        "mnasnet": "efficientnet",
        "mobilenet": "efficientnet",
        "mobilenet_ssd": "efficientnet",
        "mobilenet_v2": "efficientnet",
        "mobilenet_v3": "mobilenetv3",
        "mobilenet_yolo": "efficientnet",
        "mobilenetv2_yolov3": "efficientnet",
        "nanodet_m": "shufflenet",
        "proxylessnasnet": "efficientnet",
        "regnety_400m": "regnet",
        "resnet18": "resnet",
        "resnet50": "resnet",
        "shufflenet": "shufflenet",
        "shufflenet_v2": "shufflenet",
        "squeezenet": "squeezenet",
        "squeezenet_ssd": "squeezenet",
        "vgg16": "vgg",
        "vision_transformer": "vision_transformer",
        "yolo-fastest-1.1": "yolo-fastest",
        "yolo-fastestv2": "shufflenet",
        "yolov4-tiny": "yolov4-tiny",
    }
)

# Transformers of NeuSight by the start of their names; GPT-2 and GPT-3 differ in size alone.
_OF_NEUSIGHT: Mapping[str, str] = MappingProxyType({"bert": "bert", "gpt": "gpt", "opt": "opt"})

# FBNet's and OFA's blocks are those of two modules of timm.
_OF_SPACE: Mapping[str, str] = MappingProxyType(
    {"fbnet": "efficientnet", "nasbench201": "nasbench201", "ofa": "mobilenetv3"}
)

TABLES: Final = (_SAME_AS, _OF_NCNN, _OF_NEUSIGHT, _OF_SPACE)
"""What the families of a corpus depend on beside its data."""


def family_of_module(module: str) -> str:
    """Return the family of a module of timm."""
    return _SAME_AS.get(module, module)


def family_of_ncnn(stem: str) -> str:
    """Return the family of a graph of ncnn by its file's name without the suffix.

    Raises:
        InputError: the table of families lacks it.
    """
    if stem not in _OF_NCNN:
        raise _unknown(f"{stem}.onnx of ncnn")
    return _OF_NCNN[stem]


def family_of_neusight(stem: str) -> str:
    """Return the family of a transformer of NeuSight by its file's name.

    Raises:
        InputError: the table of families lacks it.
    """
    for start, family in _OF_NEUSIGHT.items():
        if stem.startswith(start):
            return family
    raise _unknown(f"{stem}.onnx of neusight")


def family_of_space(space: str) -> str:
    """Return the family of a search space's networks."""
    return _OF_SPACE[space]


def _unknown(network: str) -> InputError:
    return InputError(
        network, "its family of architectures is not known", "add it to the table of families"
    )
