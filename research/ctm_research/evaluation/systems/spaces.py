"""Figures of search spaces, from the document that ``ctm evaluate nas`` wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.files import read_text

Entry = dict[str, Any]
DOCUMENT: Final = "nas-systems.json"
# What is said of each method, in the order of the page.
NOTES: Final[Mapping[str, str]] = {
    "closertome": "kernel features with a posterior",
    "constant": "median of the samples",
    "flops": "a power of the MACs",
    "nn-meter": "regressions by kind of kernel, fitted to whole networks",
    "lad": "layers on the one-hot code",
    "brp": "graph convolutions; nodes carry the place of their block",
    "flat": "dense graph flow and attention; squared error in place of ranking",
    "nnlp": "SAGE on blocks, static features, a head for each device",
    "esm": "counts of choices by stage, 500 architectures balanced over latency",
    "litepred": "nearest of a pool of nn-Meter regressions, fine-tuned",
    "alcop": "boosted trees on the roofline, then on the mean train device",
}
_SURE: Final = 0.05


def space_entry(folder: Path) -> Entry:
    """Return the figures of the methods from the document in a folder, none where it is missing.

    Raises:
        InputError: the document is damaged.
    """
    path = folder / DOCUMENT
    if not path.exists():
        return {"ks": [], "methods": [], "missing": [DOCUMENT]}
    try:
        document = json.loads(read_text(path))
        return {
            "ks": document["plan"]["ks"],
            "methods": [_method(document, each) for each in NOTES],
            "missing": [],
        }
    except (ValueError, KeyError, StopIteration) as error:
        raise InputError(
            str(path), "it is damaged: its writing was cut off", "write it again"
        ) from error


def _method(document: Mapping[str, Any], name: str) -> Entry:
    method = next(each for each in document["methods"] if each["name"] == name)
    seconds = next(each for each in document["seconds"] if each["method"] == name)
    return {
        "name": name,
        "label": method["label"],
        "trainings": method["trainings"],
        "training_s": seconds["training"],
        "trial_s": seconds["trial"],
        "note": NOTES[name],
        "ks": {
            str(each["k"]): {
                "rae": each["rae"],
                "rae_std": each["rae_std"],
                "coverage": each["coverage"],
                "cells": each["cells"],
                **_sure(document["comparisons"], name, each["k"]),
            }
            for each in document["means"]
            if each["method"] == name
        },
    }


def _sure(comparisons: Sequence[Mapping[str, Any]], name: str, k: int) -> dict[str, int]:
    """Return in how many cells a method is surely worse and better than the kernel posterior."""
    sure = [
        each["difference"]  # of the kernel posterior's error and the method's
        for each in comparisons
        if (each["method"], each["k"]) == (name, k) and each["p_holm"] < _SURE
    ]
    return {"worse": sum(each < 0 for each in sure), "better": sum(each > 0 for each in sure)}
