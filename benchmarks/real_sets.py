"""Which architectures of timm the real networks are, with the size of their images.

The later ones were chosen when the calibration by operators and the reference networks were built:
nobody had looked at their errors before, as one had at those of the first. One thing was mended
after them: activations inside other operators had counted without their traffic.
"""

from __future__ import annotations

from typing import Final

FIRST: Final = {
    "resnet50": 224,
    "resnext50_32x4d": 224,
    "densenet121": 224,
    "inception_v3": 299,
    "mobilenetv2_100": 224,
    "mobilenetv3_large_100": 224,
    "efficientnet_b0": 224,
    "ghostnet_100": 224,
    "regnety_004": 224,
    "convnext_atto": 224,
    "edgenext_xx_small": 256,
    "mobilevit_xs": 256,
    "vit_tiny_patch16_224": 224,
    "swin_tiny_patch4_window7_224": 224,
    "mixer_s32_224": 224,
}
LATER: Final = {
    "resnet18": 224,
    "repvgg_a0": 224,
    "regnetx_008": 224,
    "lcnet_100": 224,
    "mnasnet_100": 224,
    "tf_efficientnetv2_b0": 224,
    "poolformer_s12": 224,
    "pvt_v2_b0": 224,
    "levit_128s": 224,
}
THIRTEEN: Final = (
    *("resnet50", "densenet121", "inception_v3", "mobilenetv2_100", "mobilenetv3_large_100"),
    *("efficientnet_b0", "ghostnet_100", "regnety_004", "convnext_atto", "mobilevit_xs"),
    *("vit_tiny_patch16_224", "swin_tiny_patch4_window7_224", "bert_base_128"),
)
"""Those that ``benchmarks.this_pc`` measures, an architecture of each kind."""
