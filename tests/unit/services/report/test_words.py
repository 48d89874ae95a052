"""Sentences that are said of several models."""

from __future__ import annotations

from predictor.services.report.words import by_sentence

ODD, LARGE = "Outside the training range: Hailo-8.", "Does not fit in the memory of A100."


def test_what_is_said_of_several_models_stands_once() -> None:
    said = [("resnet50", (ODD,)), ("bert", (LARGE, ODD)), ("vit", (ODD,))]
    assert list(by_sentence(said)) == [f"All 3 models: {ODD}", f"bert: {LARGE}"]
    assert list(by_sentence([*said, ("yolo", ())])) == [
        f"resnet50, bert, vit: {ODD}",
        f"bert: {LARGE}",
    ]


def test_many_models_are_counted() -> None:
    said = [*((f"net{n}", (ODD,)) for n in range(6)), ("bert", ())]
    assert list(by_sentence(said)) == [f"net0, net1, net2, net3 and 2 more: {ODD}"]


def test_an_only_model_needs_no_name() -> None:
    assert list(by_sentence([("resnet50", (ODD, LARGE))])) == [ODD, LARGE]
    assert list(by_sentence([])) == []
