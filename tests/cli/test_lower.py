"""`sparse-tir lower`."""

from __future__ import annotations

import pytest

PROGRAM = """
from sparse_tir import script as S
from tvm.script import tirx as T


@S.prim_func
def double(
    a: T.handle, c: T.handle, indptr: T.handle, indices: T.handle, m: T.int64, n: T.int64, nnz: T.int64
):
    I = S.dense_fixed(m, "int64")
    J = S.sparse_variable(I, (n, nnz), (indptr, indices), "int32")
    A = S.match_sparse_buffer(a, (I, J), "float32")
    C = S.match_sparse_buffer(c, (I, J), "float32")
    with S.iter([I, J], "SS", "double") as [i, j]:
        C[i, j] = A[i, j] * T.float32(2)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_the_coordinate_stage_shows_axes_and_iterations(call_json):
    found = call_json("lower", "spmm", "--feat", 16, "--stage", "coordinate")
    assert found.keys() == {"program", "stage", "scheduled", "script"}
    assert "S.iter([I, J, K], 'SRS', 'spmm')" in found["script"]


@pytest.mark.parametrize(("stage", "expected"), [("position", 'T.sblock("spmm_I")'), ("loop", "def main")])
def test_later_stages_are_tvm(call, stage, expected):
    result = call("lower", "spmm", "--feat", 16, "--stage", stage)
    assert result.exit_code == 0
    assert expected in result.stdout
    assert "S.iter" not in result.stdout
    assert "T.parallel" not in result.stdout


def test_an_operator_can_be_shown_with_its_default_schedule(call):
    assert "T.prefetch" in call("lower", "spmm", "--scheduled").stdout
    assert "T.parallel" in call("lower", "spmv", "--scheduled", "--stage", "position").stdout


@pytest.mark.parametrize("suffix", ["", ":double"])
def test_a_function_of_a_file_is_lowered(call_json, file, suffix):
    found = call_json("lower", f"{file}{suffix}", "--stage", "position")
    assert found["program"] == "double"
    assert 'T.sblock("double")' in found["script"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "neither an operator (spmm, spmv) nor a file"),
        (["{file}:triple"], "has no function 'triple', but double"),
        (["{file}", "--scheduled"], "operators, which have a default schedule"),
        (["spmm", "--scheduled", "--stage", "coordinate"], "from the position stage on"),
        (["spmm", "--stage", "machine"], "is not one of"),
    ],
)
def test_wrong_usage_is_exit_code_2(call, file, arguments, message):
    result = call("lower", *[argument.format(file=file) for argument in arguments])
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_two_functions_need_a_name(call, file):
    file.write_text(PROGRAM + "\nanother = double\n")
    result = call("lower", file)
    assert result.exit_code == 2
    assert "has 2 functions" in result.stderr


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1 / 0", "ST201"),
        (PROGRAM.replace('"SS"', '"SX"'), "ST205"),
        (PROGRAM.replace("C[i, j] =", "C[j, i] ="), "ST403"),
    ],
    ids=["raises", "script", "law"],
)
def test_a_wrong_file_is_a_message_with_a_code(call, file, text, code):
    file.write_text(text)
    result = call("lower", file)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert f"[{code}" in result.stderr
    assert "Traceback" not in result.stderr
