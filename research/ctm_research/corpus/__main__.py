"""Prints a summary of the corpus of a data folder, and writes it into a page.

``python -m ctm_research.corpus --data DIR --page research/docs/corpus.md`` builds the corpus where
it is not in the user's cache folder. The page keeps everything outside its two marks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ctm_research.corpus.cache import open_corpus
from ctm_research.corpus.corpus import Corpus
from ctm_research.corpus.disagreements import disagreements
from ctm_research.corpus.drafts import Sizes
from ctm_research.corpus.evidence import disagreements_text, ledger_text
from ctm_research.corpus.ledger import read_ledger
from ctm_research.corpus.spreads import statistic_spreads
from ctm_research.corpus.summary import summary, with_summary
from predictor.core.errors import CtmError, InputError
from predictor.core.progress import Progress
from predictor.devices.catalogue import load_device_files


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; the exit code is that of the error where there is one."""
    options = _options(arguments)
    try:
        sizes = Sizes(options.architectures, options.operators, options.seed)
        corpus = open_corpus(options.data, sizes, _show, folder=options.cache)
        text = "\n\n".join(_sections(options.data, corpus))
        sys.stdout.write(f"{text}\n")
        if options.page is not None:
            _write(options.page, text)
    except CtmError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _sections(data: Path, corpus: Corpus) -> Iterator[str]:
    """Yield the parts of what is written."""
    devices = {file.device.id: file.device for file in load_device_files()}
    yield summary(corpus, statistic_spreads(data))
    yield ledger_text(read_ledger(data, devices))
    yield disagreements_text(disagreements(corpus, devices, _show))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    usual = Sizes()
    parser = argparse.ArgumentParser(
        prog="python -m ctm_research.corpus",
        description="Print what is in the corpus of a data folder.",
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder a source")
    parser.add_argument("--page", type=Path, help="page whose part between the marks is replaced")
    parser.add_argument("--cache", type=Path, help="folder of the cache instead of the user's")
    for name, what in (
        ("architectures", "architectures of each search space"),
        ("operators", "sizes of single operators"),
        ("seed", "seed of the draw"),
    ):
        number = getattr(usual, name)
        parser.add_argument(f"--{name}", type=int, default=number, help=f"{what} [{number}]")
    return parser.parse_args(arguments)


def _show(progress: Progress) -> None:
    """Rewrite one line, only where a person sees it."""
    if sys.stderr.isatty():
        line = f"{progress.done}/{progress.total} {progress.message}"
        sys.stderr.write(f"\r{line:78.78}")


def _write(path: Path, text: str) -> None:
    try:
        page = path.read_text(encoding="utf-8")
        path.write_text(with_summary(page, text), encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(
            str(path), f"it cannot be written ({error})", "correct the page"
        ) from error


if __name__ == "__main__":
    sys.exit(main())
