from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.probing.importers.fused_operators import (
    OperatorNames,
    match_entries,
)
from predictor.probing.operator_times import OperatorTime


def node(name: str, op_type: str, inputs: str, output: str) -> OperatorNames:
    return OperatorNames(name, op_type, tuple(inputs.split()), (output,))


NODES = [
    node("/stem/Conv", "Conv", "x w", "c1"),
    node("/stem/BN", "BatchNormalization", "c1 s b", "bn1"),
    node("/stem/Relu", "Relu", "bn1", "r1"),
    node("", "Conv", "r1 w2", "c2"),
    node("/block/Add", "Add", "c2 r1", "a1"),
    node("/block/Relu", "Relu", "a1", "r2"),
    node("/pool", "GlobalAveragePool", "r2", "g"),
    node("/fc/MatMul", "MatMul", "g wm", "mm"),
    node("/fc/Add", "Add", "mm bm", "y"),
]
STEM, BLOCK, POOL, FC = (0, 1, 2), (3, 4, 5), (6,), (7, 8)


def entries(*names: tuple[str, str]) -> list[OperatorTime]:
    return [OperatorTime(name, op_type, 1.0) for name, op_type in names]


@pytest.mark.parametrize(
    "profile",
    [
        # onnxruntime, all optimisations: named after the tensor that comes out
        entries(
            ("r1_nchwc", "Conv"),
            ("c2_nchwc", "Conv"),
            ("g_nchwc", "GlobalAveragePool"),
            ("/fc/MatMul/MatMulAddFusion", "Gemm"),
        ),
        # onnxruntime, extended optimisations: named after the first node
        entries(
            ("/stem/Conv", "FusedConv"),
            ("Conv_3", "Conv"),
            ("/pool", "GlobalAveragePool"),
            ("/fc/MatMul", "Gemm"),
        ),
        # TensorRT
        entries(
            ("/stem/Conv + /stem/Relu", ""),
            ("c2 + /block/Add + /block/Relu", ""),
            ("/pool", ""),
            ("{ForeignNode[/fc/MatMul.../fc/Add]}", ""),
        ),
        # TFLite names tensors
        entries(
            ("[c1;bn1;r1]:0", "CONV_2D"),
            ("[c2, a1, r2]:1", "CONV_2D"),
            ("[g]:2", "MEAN"),
            ("[y]:3", "MatMul"),
        ),
    ],
)
def test_fused_operators_are_found_in_the_names_of_each_runtime(
    profile: list[OperatorTime],
) -> None:
    match = match_entries(profile, NODES)

    assert match == (STEM, BLOCK, POOL, FC)


def test_every_operator_by_itself() -> None:
    names = [(n.name or "Conv_3", n.op_type) for n in NODES]

    assert match_entries(entries(*names), NODES) == tuple((i,) for i in range(9))


def test_what_the_runtime_put_in_has_no_operator() -> None:
    profile = entries(("ReorderInput", "ReorderInput"), ("/pool", "GlobalAveragePool"))
    match = match_entries(profile, NODES)

    assert match[0] == ()
    assert match[1] == (6,)
    # What comes before has no entry, nor has the product that comes after: it is no epilogue.
    assert sum(map(len, match)) == 1


TOKENS = [
    node("/up/MatMul", "MatMul", "x w", "/up/MatMul_output_0"),
    node("/up/Add", "Add", "/up/MatMul_output_0 b", "/up/Add_output_0"),
    node("/act/Div", "Div", "/up/Add_output_0 r", "/act/Div_output_0"),
    node("/act/Erf", "Erf", "/act/Div_output_0", "/act/Erf_output_0"),
    node("/act/Add", "Add", "/act/Erf_output_0 one", "/act/Add_output_0"),
    node("/act/Mul", "Mul", "/up/Add_output_0 /act/Add_output_0", "/act/Mul_output_0"),
    node("/act/Mul_1", "Mul", "/act/Mul_output_0 half", "/act/Mul_1_output_0"),
    node("/down/MatMul", "MatMul", "/act/Mul_1_output_0 w2", "/down/MatMul_output_0"),
    node("/down/Add", "Add", "/down/MatMul_output_0 b2", "/down/Add_output_0"),
    node("/skip/Add", "Add", "x /down/Add_output_0", "/skip/Add_output_0"),
    node("/norm", "LayerNormalization", "/skip/Add_output_0 s", "/norm_output_0"),
    node("/gate/Sigmoid", "Sigmoid", "/norm_output_0", "/gate/Sigmoid_output_0"),
    node("/gate/Mul", "Mul", "/norm_output_0 /gate/Sigmoid_output_0", "/gate/Mul_output_0"),
    node("/swish", "HardSwish", "/gate/Mul_output_0", "y"),
]


def test_what_onnxruntime_names_after_its_type_is_found_by_what_it_is_made_of() -> None:
    profile = entries(
        ("/up/MatMul/MatMulAddFusion", "Gemm"),
        ("Gelu_token_7", "Gelu"),
        ("/down/MatMul/MatMulAddFusion", "Gemm"),
        ("SkipLayerNormalization", "SkipLayerNormalization"),
        ("/gate/Mul/QuickGeluFusion/", "QuickGelu"),
        ("HardSigmoid_3", "HardSigmoid"),
        ("Mul_4", "Mul"),
    )

    match = match_entries(profile, TOKENS)

    assert match == ((0, 1), (2, 3, 4, 5, 6), (7, 8), (9, 10), (11, 12), (13,), ())


def test_tensors_as_pytorch_names_them_and_normalisations_made_convolutions() -> None:
    dense = [
        node("/norm/BatchNormalization", "BatchNormalization", "x s", "/norm/BN_output_0"),
        node("/act/Relu", "Relu", "/norm/BN_output_0", "/act/Relu_output_0"),
        node("/conv/Conv", "Conv", "/act/Relu_output_0 w", "/conv/Conv_output_0"),
        node("/act1/Relu", "Relu", "/conv/Conv_output_0", "/act1/Relu_output_0"),
    ]
    # As a graph that keeps the names of its nodes alone tells them.
    nodes = [
        OperatorNames(
            each.name,
            each.op_type,
            (dense[place - 1].name,) if place else (),
            (each.name,),
        )
        for place, each in enumerate(dense)
    ]
    profile = entries(
        ("/norm/BatchNormalization_output_0_bn_nchwc", "Conv"),
        ("/act1/Relu_output_0_nchwc", "Conv"),
    )

    assert match_entries(profile, nodes) == ((0, 1), (2, 3))


def test_pointwise_networks_of_tensorrt() -> None:
    match = match_entries(entries(("PWN(/block/Add, /block/Relu)", "")), NODES[4:6])

    assert match == ((0, 1),)


@given(st.lists(st.sampled_from([n.name for n in NODES] + ["c2", "r1_nchwc", "x", ""]), max_size=9))
def test_an_operator_belongs_to_one_entry_at_most(names: list[str]) -> None:
    match = match_entries(entries(*((name, "Conv") for name in names)), NODES)

    owned = [index for group in match for index in group]
    assert len(set(owned)) == len(owned)
    assert set(owned) <= set(range(len(NODES)))
