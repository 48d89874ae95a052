"""Published networks by name, for sources that give times without graphs.

A network is here only where architecture and input size are certainly those of a graph of another
source: the names agree, and so do parameters or operations where both sources state them. A
classifier with 1001 classes counts as one with 1000.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from predictor.research.sources import ncnn, timm
from predictor.research.sources.samples import GraphFile

# Graphs of timm: model, image size, variant.
_OF_TIMM: dict[str, tuple[str, str, str]] = {
    "convnext-base": ("convnext_base", "224", "plain"),
    "convnext-tiny": ("convnext_tiny", "224", "plain"),
    "davit-tiny": ("davit_tiny", "224", "plain"),
    "densenet-121": ("densenet121", "224", "plain"),
    "dla-102x": ("dla102x", "224", "plain"),
    "efficientformer-l1": ("efficientformer_l1", "224", "plain"),
    "efficientnet-b0": ("efficientnet_b0", "224", "plain"),
    "efficientnet-lite0": ("efficientnet_lite0", "224", "plain"),
    "efficientnet-lite1": ("efficientnet_lite1", "240", "plain"),
    "efficientnet-lite2": ("efficientnet_lite2", "260", "plain"),
    "efficientvit-l2": ("efficientvit_l2", "224", "plain"),
    "inception-resnet-v2": ("inception_resnet_v2", "299", "plain"),
    "inception-v3": ("inception_v3", "299", "plain"),
    "inception-v4": ("inception_v4", "299", "plain"),
    "mobilenet-v1": ("mobilenetv1_100", "224", "plain"),
    "mobilenet-v2-0.35": ("mobilenetv2_035", "224", "plain"),
    "mobilenet-v2-0.5": ("mobilenetv2_050", "224", "plain"),
    "mobilenet-v2-0.75": ("mobilenetv2_075", "224", "plain"),
    "mobilenet-v2-1.0": ("mobilenetv2_100", "224", "plain"),
    "mobilenet-v2-1.4": ("mobilenetv2_140", "224", "plain"),
    "mobilenet-v3-large": ("mobilenetv3_large_100", "224", "plain"),
    "nextvit-base": ("nextvit_base", "224", "reparam"),
    "nextvit-small": ("nextvit_small", "224", "reparam"),
    "regnet-x-800mf": ("regnetx_008", "224", "plain"),
    "regnet-y-800mf": ("regnety_008_tv", "224", "plain"),
    "repvgg-a1": ("repvgg_a1", "224", "reparam"),
    "resnet-18": ("resnet18", "224", "plain"),
    "resnet-34": ("resnet34", "224", "plain"),
    "resnet-101": ("resnet101", "224", "plain"),
    # Stride in the 3 x 3 convolution of each block: 4.1 GMACs.
    "resnet-50-v1.5": ("resnet50", "224", "plain"),
    "resnext-50": ("resnext50_32x4d", "224", "plain"),
    "resnext-101": ("resnext101_32x8d", "224", "plain"),
    "sequencer2d-s": ("sequencer2d_s", "224", "plain"),
    "vgg-16": ("vgg16", "224", "plain"),
    "vgg-19": ("vgg19", "224", "plain"),
    "vit-base-16": ("vit_base_patch16_224", "224", "plain"),
    "wide-resnet-50": ("wide_resnet50_2", "224", "plain"),
}

# Graphs of ncnn: name of the file.
_OF_NCNN: dict[str, str] = {
    "googlenet": "googlenet",
    # Stride in the first 1 x 1 convolution of each block: 3.9 GMACs.
    "resnet-50-v1": "resnet50",
}

NETWORKS: frozenset[str] = frozenset(_OF_TIMM) | frozenset(_OF_NCNN)


def published_graphs(data: Path) -> Mapping[str, GraphFile]:
    """Return the graphs of :data:`NETWORKS` that the folder holds, by name.

    Raises:
        InputError: timm's folder is there and its table of graphs is damaged.
    """
    graphs: dict[str, GraphFile] = {}
    if (data / timm.NAME).is_dir():
        of_timm = timm.graphs(data)
        graphs = {name: of_timm[key] for name, key in _OF_TIMM.items() if key in of_timm}
    graphs |= {
        name: graph
        for name, stem in _OF_NCNN.items()
        if (graph := ncnn.graph_file(data, stem)).path.is_file()
    }
    return MappingProxyType(graphs)
