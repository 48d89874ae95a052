"""Real networks that the laws are counted on, from the graphs of the data folder."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Final

from ctm_research.corpus.graph_files import GraphReader
from ctm_research.sources.samples import GraphFile
from predictor.core.errors import InputError
from predictor.graph.operator_graph import OperatorGraph

# The first twelve of benchmarks/real_sets.py, with the size of their images.
_NETWORKS: Final = {
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
}


def law_graphs(data: Path) -> dict[str, OperatorGraph]:
    """Return the networks by name at batch 1, those of them that the data folder has.

    Raises:
        InputError: a graph or the archive of graphs is damaged.
    """
    path = data / "timm" / "graphs.zip"
    if not path.is_file():
        return {}
    files = {name: f"graphs/{name}__{size}.onnx" for name, size in _NETWORKS.items()}
    try:
        with zipfile.ZipFile(path) as archive:
            members = set(archive.namelist())
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(
            str(path), f"it cannot be read ({error})", "restore the file from its source"
        ) from error
    with GraphReader() as reader:
        return {
            name: reader.read(GraphFile(path, member))
            for name, member in files.items()
            if member in members
        }
