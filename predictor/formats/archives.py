"""Kinds of zip archives that are not read, recognised by the names of their members."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from zipfile import ZipFile

from predictor.core.errors import InputError
from predictor.core.files import BROKEN_ARCHIVE, opened

_MAGIC: Final = b"PK\x03\x04"
_EXPORT: Final = (
    "export it in Python where its network is defined: "
    "program = torch.export.export(model.eval(), inputs); torch.export.save(program, 'model.pt2')"
)


class _Kind(NamedTuple):
    """A kind of archive: its mark among the members, its name, the way to a file that is read."""

    fits: Callable[[str], bool]
    name: str
    action: str


def _named(*names: str) -> Callable[[str], bool]:
    return lambda member: member.rpartition("/")[2] in names


_KINDS: Final = (
    _Kind(
        lambda member: "/data/aotinductor/" in f"/{member}",
        "a network that torch's AOTInductor compiled, which cannot be read",
        "write it before it is compiled: torch.export.save(program, 'model.pt2')",
    ),
    _Kind(
        lambda member: "/code/" in f"/{member}" and member.endswith(".py"),
        "a TorchScript archive",
        "export it in Python: torch.onnx.export(torch.jit.load('model.pt'), inputs, 'model.onnx', "
        "dynamo=False)",
    ),
    _Kind(_named("data.pkl"), "a PyTorch checkpoint: weights, or a pickled network", _EXPORT),
    _Kind(
        _named("model.weights.h5"),
        "a Keras model",
        "export it in Python: keras.models.load_model('model.keras').export('model.onnx', "
        "format='onnx')",
    ),
    _Kind(
        lambda member: (
            ".mlpackage/" in member or member.endswith("Data/com.apple.CoreML/model.mlmodel")
        ),
        "a Core ML package in a zip archive",
        "unpack it and open the .mlpackage folder",
    ),
    _Kind(
        _named("saved_model.pb"),
        "a TensorFlow SavedModel in a zip archive",
        "convert it to "
        "ONNX with 'python -m tf2onnx.convert --saved-model FOLDER --output model.onnx'",
    ),
    _Kind(
        lambda member: member.endswith(".npy"),
        "a NumPy archive: arrays without operators",
        "choose the model that they belong to",
    ),
    _Kind(
        lambda member: member.endswith(".mar") or member == "MAR-INF/MANIFEST.json",
        "a TorchServe archive",
        _EXPORT,
    ),
    _Kind(
        lambda member: member.lower().endswith((".onnx", ".tflite", ".pt2", ".mlmodel", ".param")),
        "a zip archive",
        "unpack it and open the model file inside",
    ),
)


def refuse_archive(path: str) -> None:
    """Refuse a zip archive that holds another kind of model; other files pass.

    Raises:
        InputError: it is of a kind that is named; with the way to a file that is read.
    """
    names = _members(path)
    for kind in _KINDS:
        if any(map(kind.fits, names)):
            raise InputError(path, f"it is {kind.name}", kind.action)


def _members(path: str) -> Sequence[str]:
    try:
        with opened(path) as (stream, _):
            if stream.read(len(_MAGIC)) != _MAGIC:
                return ()
            with ZipFile(stream) as archive:
                return archive.namelist()
    except (InputError, *BROKEN_ARCHIVE):
        return ()
