"""A trained network as one file: safetensors with a JSON header. Never a pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from predictor.core.errors import InputError
from predictor.graph.operators import OPERATORS
from predictor.network.config import DeviceEncoding, NetworkConfig
from predictor.network.features import FEATURE_NAMES
from predictor.network.scaling import Scaling
from predictor.research.paper.closertome import CloserToMe
from predictor.research.paper.hcv import HcvEncoder

_KIND: Final = "ctm-network"
_VERSION: Final = 1
_HEADER: Final = "ctm"  # the key of our JSON text among the file's metadata
_REPLACE: Final = "use an undamaged checkpoint of this version"


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A network with all that its inputs were prepared with.

    Attributes:
        network: in evaluation state.
        hcv: statistics of the devices that it was trained on.
        notes: the model card's facts; plain JSON values.
    """

    network: CloserToMe
    hcv: HcvEncoder
    notes: Mapping[str, object] = field(default_factory=dict)


def save_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Write the checkpoint; an older file in its place is replaced whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    network = checkpoint.network
    header = {
        "format": f"{_KIND}/{_VERSION}",
        "config": network.config.to_json(),
        "operators": list(OPERATORS[: network.config.operators]),
        "scaling": network.scaling.to_json(),
        "hcv": checkpoint.hcv.scaling.to_json(),
        "notes": dict(checkpoint.notes),
    }
    tensors = {
        name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()
    }
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(save(tensors, {_HEADER: json.dumps(header, allow_nan=False)}))
    partial.replace(path)


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint that :func:`save_checkpoint` wrote.

    Raises:
        InputError: the file is damaged, foreign, or newer than this program.
        OSError: the file cannot be read.
    """
    header, tensors = _read(path)
    subject = str(path)
    _check_format(subject, header.get("format"))
    try:
        config = NetworkConfig.from_json(_mapping(header, "config"))
        scaling = Scaling.from_json(_mapping(header, "scaling"))
        hcv = HcvEncoder(Scaling.from_json(_mapping(header, "hcv")))
        _check_vocabulary(header.get("operators"), config.operators)
        _check_columns(config, scaling, hcv)
        network = CloserToMe(config, scaling)
        _fill(network, tensors)
        return Checkpoint(network.eval(), hcv, _mapping(header, "notes"))
    except InputError as error:
        raise InputError(subject, f"{error.subject}: {error.reason}", _REPLACE) from error


def _read(path: Path) -> tuple[dict[str, object], dict[str, torch.Tensor]]:
    """Return the JSON header and the tensors."""
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = json.loads(metadata[_HEADER])
    except SafetensorError as error:
        raise InputError(
            str(path), f"it is no checkpoint, or damaged ({error})", _REPLACE
        ) from error
    except (KeyError, ValueError) as error:
        raise InputError(str(path), "it holds tensors of another program", _REPLACE) from error
    if not isinstance(header, dict):
        raise InputError(str(path), "its header is no JSON object", _REPLACE)
    return header, tensors


def _check_format(subject: str, found: object) -> None:
    kind, _, version = str(found).partition("/")
    if kind != _KIND or not version.isdecimal():
        raise InputError(subject, f"its format is {found}, not {_KIND}", _REPLACE)
    if int(version) > _VERSION:
        raise InputError(
            subject,
            f"its format has version {version}, and this program reads up to {_VERSION}",
            "update the program",
        )


def _mapping(header: Mapping[str, object], name: str) -> dict[str, object]:
    value = header.get(name)
    if not isinstance(value, dict):
        raise InputError(f"part {name}", "it is missing or no JSON object", _REPLACE)
    return value


def _check_vocabulary(found: object, count: int) -> None:
    """Check that the stored operators are the first of ours: the list only ever grows."""
    if found != list(OPERATORS[:count]):
        raise InputError(
            "operator list", f"it is not the first {count} operators of this program", _REPLACE
        )


def _check_columns(config: NetworkConfig, scaling: Scaling, hcv: HcvEncoder) -> None:
    if scaling.names != FEATURE_NAMES[: config.features]:
        raise InputError("node features", "they are not those of this program", _REPLACE)
    if config.device_encoding is DeviceEncoding.HCV and hcv.names != config.metrics:
        raise InputError("HCV metrics", "their statistics are of other metrics", _REPLACE)


def _fill(network: CloserToMe, tensors: Mapping[str, torch.Tensor]) -> None:
    """Put the tensors into the network."""
    expected = network.state_dict()
    if expected.keys() != tensors.keys():
        names = ", ".join(sorted(expected.keys() ^ tensors.keys())[:3])
        raise InputError("tensors", f"missing or unknown: {names}", _REPLACE)
    for name, tensor in tensors.items():
        wanted = expected[name]
        if tensor.shape != wanted.shape or tensor.dtype != wanted.dtype:
            raise InputError(
                f"tensor {name}",
                f"it is {tensor.dtype} {tuple(tensor.shape)}, not {wanted.dtype} "
                f"{tuple(wanted.shape)}",
                _REPLACE,
            )
        if not bool(torch.isfinite(tensor).all()):
            raise InputError(f"tensor {name}", "a value is not finite", _REPLACE)
    network.load_state_dict(dict(tensors))
