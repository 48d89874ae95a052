from __future__ import annotations

import pytest

from predictor.core.errors import InputError
from predictor.probing.importers.names import match_names, resolve_names, similarity, stem
from predictor.probing.importers.records import ImportedFile
from predictor.probing.importers.registry import import_typed

MODELS = ["mobilenetv2.onnx", "resnet18.onnx", "resnet50.onnx", "vit_tiny.onnx"]


def test_folders_and_suffixes_are_no_part_of_a_name() -> None:
    assert stem("/data/local/tmp/mobilenet_v1_1.0_224.tflite") == "mobilenet_v1_1.0_224"
    assert stem("C:\\models\\Net.ONNX") == "Net"
    assert stem("yolo-fastest-1.1") == "yolo-fastest-1.1"


def test_an_exact_name_needs_no_question() -> None:
    (match,) = match_names(["/data/resnet18.tflite"], MODELS)

    assert match.exact == "resnet18.onnx"
    assert match.proposals == ()


def test_another_spelling_is_a_proposal_and_never_exact() -> None:
    (match,) = match_names(["MobileNet_v2"], MODELS)

    assert match.exact is None
    assert match.proposals[0].candidate == "mobilenetv2.onnx"
    assert match.proposals[0].score == 1.0


def test_another_number_is_another_network() -> None:
    # resnet34 and resnet18 share "resnet" of 8 letters: 2 x 6 / 16, halved.
    assert similarity("resnet34", "resnet18") == pytest.approx(0.375)
    assert match_names(["resnet34"], MODELS)[0].proposals == ()


def test_two_models_of_one_name_are_not_told_apart() -> None:
    (match,) = match_names(["net"], ["a/net.onnx", "b/net.onnx"])

    assert match.exact is None
    assert [p.score for p in match.proposals] == [1.0, 1.0]


def file_of(*names: str) -> ImportedFile:
    return import_typed("\n".join(f"{name} {i + 1} ms" for i, name in enumerate(names)))


def test_names_are_resolved_with_what_the_user_confirmed() -> None:
    file = file_of("resnet18", "MobileNet_v2", "warm-up")
    confirmed = {"MobileNet_v2": "mobilenetv2.onnx", "warm-up": None}

    assert resolve_names(file, MODELS, confirmed) == {
        "resnet18": "resnet18.onnx",
        "MobileNet_v2": "mobilenetv2.onnx",
        "warm-up": None,
    }


def test_the_users_choice_goes_before_an_exact_name() -> None:
    chosen = resolve_names(file_of("resnet18"), MODELS, {"resnet18": "resnet50.onnx"})

    assert chosen == {"resnet18": "resnet50.onnx"}


@pytest.mark.parametrize(
    ("names", "confirmed", "said"),
    [
        (["MobileNet_v2"], {}, "alike are mobilenetv2.onnx (100 %)"),
        (["quite other"], {}, "no model or probe is called 'quite other'"),
        (["resnet18"], {"resnet18": "nothing"}, "nothing: it is no model or probe"),
        (["resnet18", "b"], {"b": "resnet18.onnx"}, "were both given to resnet18.onnx"),
    ],
)
def test_nothing_is_applied_silently(
    names: list[str], confirmed: dict[str, str | None], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        resolve_names(file_of(*names), MODELS, confirmed)

    assert said in str(caught.value)
