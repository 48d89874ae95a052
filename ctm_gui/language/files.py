"""Opens the files of language models, those of the last session too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ctm_gui.language.presenter import LanguagePresenter
from ctm_gui.language.state import LanguageEntry
from ctm_gui.tasks.serial import SerialWorker
from predictor.formats.suffixes import GGUF, SUFFIXES
from predictor.graph.model import Model
from predictor.services.generation.records import GenerationRequest

if TYPE_CHECKING:
    from types import ModuleType

    from predictor.services.models.language import LanguageModel

LANGUAGE_SUFFIXES = (".json", ".safetensors", GGUF)  # of configurations and what is beside them


def _reader() -> ModuleType:
    """Return the reader of language models, which no window without one loads."""
    from predictor.services.models import language

    return language


class LanguageFiles(QObject):
    """Opens configurations, GGUF files, and the decoders among model files once they are read.

    ``opened`` gives the path of a model that the user opened, once it is open; ``file_opened``
    likewise that of a file of its own, which is none of the model files; ``failed`` gives what is
    wrong with a file, ``noticed`` what keeps a model file from being a language model, in words.

    Args:
        language: the open language models.
        finder: the thread that files are searched on.
        worker: the thread that predictions are made on.
        parent: owner.
    """

    opened = Signal(str)
    file_opened = Signal(str)
    failed = Signal(object)
    noticed = Signal(str)

    def __init__(
        self,
        language: LanguagePresenter,
        finder: SerialWorker,
        worker: SerialWorker,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._language, self._finder, self._worker = language, finder, worker
        # What takes the decoders among model files that are not read yet, by their paths.
        self._expected: dict[str, Callable[[LanguageModel], None]] = {}

    def open(self, path: str) -> bool:
        """Open a file; whether it is of a language model, and none of the model files."""
        if not path.lower().endswith(LANGUAGE_SUFFIXES) or not _reader().is_language_file(path):
            return False

        def show(model: LanguageModel) -> None:
            self._show(model)
            self.file_opened.emit(path)

        self._read(path, show)
        return True

    def expect(self, paths: list[str]) -> None:
        """Open the decoders among model files of the user's once they are read."""
        self._expected.update(dict.fromkeys(paths, self._show))

    def take(self, path: str, model: Model) -> None:
        """Open a model file that is read, where it is expected to be a decoder."""
        # Not others of the last session, nor what is read again at another batch.
        then = self._expected.pop(path, None)
        if then is None:
            return

        def take_decoder(decoder: LanguageModel | None) -> None:
            if decoder is not None:
                then(decoder)

        self._worker.submit(
            lambda _: _reader().language_model_of(model),
            on_result=take_decoder,
            on_error=lambda error: self.noticed.emit(str(error)),
        )

    def restore(self, path: str, run: GenerationRequest, place: int) -> None:
        """Open a file of the last session in its formats; a model file once that is read."""

        def restore(model: LanguageModel) -> None:
            entry = LanguageEntry(model, run.weights, run.kv_precision, place)
            self._language.restore_model(entry)

        if path.lower().endswith(SUFFIXES):
            self._expected[path] = restore
        else:
            self._read(path, restore)

    def _show(self, model: LanguageModel) -> None:
        self._language.open(model)
        self.opened.emit(model.path)

    def _read(self, path: str, then: Callable[[LanguageModel], None]) -> None:
        read = partial(_reader().read_language_model, path)
        self._finder.submit(lambda _: read(), on_result=then, on_error=self.failed.emit)
