"""Names in an imported file against models and probes: exact, else proposals to be confirmed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from predictor.core.errors import InputError
from predictor.presentation.wording import percent
from predictor.probing.importers.records import ImportedFile

MAX_PROPOSALS = 3
MIN_SCORE = 0.5
_SUFFIXES = (
    *(".onnx", ".ort", ".tflite", ".param", ".engine", ".plan", ".trt", ".dlc", ".bin"),
    *(".mnn", ".pte", ".pt", ".yaml", ".rknn"),
)
_DIGITS = re.compile(r"\d+")
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate that may be meant; score from 0 to 1, 1 for the same letters and digits."""

    candidate: str
    score: float


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A name in a file with the networks that it may stand for.

    Attributes:
        name: as in the file, empty where the file does not name its network.
        exact: the one candidate of this very name, else None.
        proposals: the likeliest first, for a user to confirm; empty beside an exact match.
    """

    name: str
    exact: str | None
    proposals: tuple[Proposal, ...]


def stem(name: str) -> str:
    """Return a name without folders and a model file's suffix."""
    last = re.split(r"[\\/]", name)[-1]
    suffix = next((s for s in _SUFFIXES if last.lower().endswith(s)), "")
    return last[: len(last) - len(suffix)]


def match_names(names: Iterable[str], candidates: Sequence[str]) -> tuple[NameMatch, ...]:
    """Match each name with the candidates.

    Args:
        names: as in the file.
        candidates: names of the models and probes that a latency can belong to.
    """
    return tuple(_match(name, candidates) for name in dict.fromkeys(names))


def _match(name: str, candidates: Sequence[str]) -> NameMatch:
    if not name:
        return NameMatch(name, None, ())
    if name in candidates:
        return NameMatch(name, name, ())
    same = [candidate for candidate in candidates if stem(candidate) == stem(name)]
    if len(same) == 1:
        return NameMatch(name, same[0], ())
    scored = [Proposal(candidate, similarity(name, candidate)) for candidate in candidates]
    likely = sorted((p for p in scored if p.score >= MIN_SCORE), key=lambda p: -p.score)
    return NameMatch(name, None, tuple(likely[:MAX_PROPOSALS]))


def similarity(left: str, right: str) -> float:
    """Likeness of two names, from 0 to 1.

    The share of common letters in order, without separators and case. Different numbers halve it:
    resnet18 and resnet50 are nearly the same letters and never the same network.
    """
    first, second = (_SEPARATORS.sub("", stem(name)).casefold() for name in (left, right))
    # autojunk would leave out frequent letters of names of 200 and more.
    ratio = SequenceMatcher(None, first, second, autojunk=False).ratio()
    same_numbers = sorted(_DIGITS.findall(first)) == sorted(_DIGITS.findall(second))
    return ratio if same_numbers else ratio / 2


def resolve_names(
    file: ImportedFile, candidates: Sequence[str], confirmed: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Return the candidate of each name in the file; None for a name that is left out.

    Args:
        file: as read.
        candidates: names of the models and probes that a latency can belong to.
        confirmed: the user's own choice by name; it goes before an exact match.

    Raises:
        InputError: a name is neither exact nor confirmed, a choice is no candidate, or two names
            are to be the same model.
    """
    chosen: dict[str, str | None] = {}
    owner: dict[str, str] = {}
    for match in match_names((latency.network for latency in file.latencies), candidates):
        choice = confirmed.get(match.name, match.exact)
        if choice is None and match.name not in confirmed:
            _refuse_unknown(file, match)
        if choice is not None and choice not in candidates:
            raise InputError(choice, "it is no model or probe", "choose one of the list")
        if choice is not None and choice in owner:
            reason = f"{owner[choice]!r} and {match.name!r} were both given to {choice}"
            raise InputError(file.name, reason, "leave one of them out")
        if choice is not None:
            owner[choice] = match.name
        chosen[match.name] = choice
    return chosen


def _refuse_unknown(file: ImportedFile, match: NameMatch) -> None:
    named = f"no model or probe is called {match.name!r}"
    reason = named if match.name else "it does not name its network"
    similar = ", ".join(f"{p.candidate} ({percent(p.score)})" for p in match.proposals)
    action = f"say which one it is; alike are {similar}" if similar else "say which model it is"
    raise InputError(file.name, reason, action)
