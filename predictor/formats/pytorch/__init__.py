"""PyTorch's exported programs (``torch.export.save``): the graph in JSON; weights are not read.

The archive is a zip. Torch is not needed, and no pickle in it is opened.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final
from zipfile import ZipFile

import numpy as np
import onnx
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.core.files import BROKEN_ARCHIVE, opened
from predictor.formats.pytorch.converter import Converter, Place
from predictor.formats.pytorch.program import DAMAGED, TensorMeta
from predictor.formats.recognition import OLD_PROGRAM, is_graph

_AGAIN: Final = "export the network again with torch.export.save"
_MAX_JSON_BYTES: Final = 64 * 2**20
_MAX_CONSTANT_BYTES: Final = 64 * 2**10
_CONFIGS: Final = ("data/weights/{}_weights_config.json", "data/constants/{}_constants_config.json")


def read(path: str) -> onnx.ModelProto:
    """Read an exported program.

    Raises:
        InputError: it is damaged, compiled, or of a version that is not read.
    """
    with opened(path) as (stream, _):
        try:
            with ZipFile(stream) as archive:
                return _Archive(path, archive).model()
        except BROKEN_ARCHIVE as error:
            raise InputError(path, "its archive is damaged", _AGAIN) from error


class _Archive:
    """An exported program's archive."""

    def __init__(self, path: str, archive: ZipFile) -> None:
        self._path, self._archive = path, archive
        self._root, self._model, self._graph = self._program(archive.namelist())
        self._places: dict[str, Place] = {}

    def _program(self, names: list[str]) -> tuple[str, str, str]:
        """Return the archive's folder, the name of the model and the member with its graph."""
        for name in filter(is_graph, names):
            if name.endswith(OLD_PROGRAM):
                return name.removesuffix(OLD_PROGRAM), "", name
            root, _, member = name.rpartition("models/")
            return root, member.removesuffix(".json"), name
        raise InputError(self._path, "its archive holds no exported program", _AGAIN)

    def model(self) -> onnx.ModelProto:
        """Return the ONNX model."""
        program = self._json(self._graph)
        try:
            self._places = self._stored() if self._model else {}
            converter = Converter(self._path, program, self._constant, self._places)
        except DAMAGED as error:
            raise InputError(
                self._path, "its graph does not have the form of a program", _AGAIN
            ) from error
        return converter.model()

    def _json(self, name: str) -> Any:
        """Return the content of a member, whatever size the archive states."""
        with self._archive.open(name) as stream:
            data = stream.read(_MAX_JSON_BYTES + 1)
        member = name.rpartition("/")[2]
        if len(data) > _MAX_JSON_BYTES:
            reason = f"its member {member} has over {_MAX_JSON_BYTES // 2**20} MiB"
            raise InputError(self._path, reason, "give a smaller network")
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise InputError(self._path, f"its member {member} is no JSON", _AGAIN) from error

    def _stored(self) -> dict[str, Place]:
        """Return where each tensor is stored that is no pickle, by the tensor's name."""
        places: dict[str, Place] = {}
        names = set(self._archive.namelist())
        for config in _CONFIGS:
            member = self._root + config.format(self._model)
            if member not in names:
                continue
            folder = member.rpartition("/")[0]
            for name, entry in self._json(member)["config"].items():
                if not entry.get("use_pickle") and isinstance(entry["path_name"], str):
                    meta = entry["tensor_meta"]
                    strides = tuple(int(stride["as_int"]) for stride in meta["strides"])
                    offset = int(meta["storage_offset"]["as_int"])
                    places[name] = Place(f"{folder}/{entry['path_name']}", offset, strides)
        return places

    def _constant(self, name: str, meta: TensorMeta) -> NDArray[Any] | None:
        """Return the values of a small tensor of integers; others do not matter."""
        place = self._places.get(name)
        bits = onnx.helper.tensor_dtype_to_np_dtype(meta.dtype)
        if place is None or place.offset or bits.kind not in "iub":
            return None
        dims = [dim for dim in meta.dims if isinstance(dim, int)]
        size = math.prod(dims) * bits.itemsize
        if size > _MAX_CONSTANT_BYTES or len(dims) < len(meta.dims):
            return None
        if place.strides != tuple(math.prod(dims[axis + 1 :]) for axis in range(len(dims))):
            return None  # not in the order of its elements
        try:
            with self._archive.open(place.member) as stream:
                return np.frombuffer(stream.read(size), bits).reshape(dims)
        except BROKEN_ARCHIVE:
            return None
