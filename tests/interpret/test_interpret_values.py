"""Laws 5, 7 and 8, and the value of every kind of expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from interpreted import csr_program, f32, i32, program
from tvm.ir import Var, prim
from tvm.tirx import PrimFunc

from sparse_tir.interpret import interpret
from sparse_tir.interpret.expressions import Expressions, dtype_of

NAN, INF = np.nan, np.inf
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def fold(contribution: str, dtype: str, init: str | None = None, combine: str = "{y} + {v}") -> PrimFunc:
    """A row reduction into Y."""
    start = f"\n    with S.init():\n        Y[i] = {init}" if init is not None else ""
    statement = combine.format(y="Y[i]", v=contribution)
    text = f'with S.iter([I, J], "SR", "fold") as [i, j]:{start}\n    Y[i] = {statement}\n'
    return csr_program("I", text, dtype=dtype)


def run_row(func: PrimFunc, a: Any, y: Any, x: Any = None) -> Any:
    """One row that stores every column."""
    n = a.size
    interpret(func, a, np.ones(n, a.dtype) if x is None else x, y, i32(0, n), i32(*range(n)), 1, n, n)
    return y[0]


@pytest.mark.parametrize("row", [[NAN, 1, 2], [1, NAN, 2], [1, 2, NAN]])
@pytest.mark.parametrize("name", ["max", "min"])
def test_max_and_min_propagate_nan_from_any_place(name: str, row: list[float]) -> None:
    func = fold(
        "A[i, j]", "float32", f'T.float32("{"-" if name == "max" else ""}inf")', f"T.{name}({{y}}, {{v}})"
    )
    assert np.isnan(run_row(func, f32(*row), f32(0)))


def test_max_of_negatives_ignores_implicit_zeros_and_nothing_gives_the_init() -> None:
    func = fold("A[i, j]", "float32", 'T.float32("-inf")', "T.max({v}, {y})")
    y = f32(0, 0)
    interpret(func, f32(-2, -1), f32(0, 0, 0), y, i32(0, 2, 2), i32(0, 2), 2, 3, 2)
    assert y.tolist() == [-1, -INF]


def test_a_product_multiplies_stored_entries_only() -> None:
    assert run_row(fold("A[i, j]", "float32", "T.float32(1)", "{y} * {v}"), f32(2, -3, 4), f32(0)) == -24


def test_a_float16_sum_is_kept_in_float32_and_rounded_once() -> None:
    a = np.array([2048, 1, 1, 1, 1], "float16")
    assert run_row(fold("A[i, j] * X[j]", "float16", "T.float16(0)"), a, np.zeros(1, "float16")) == 2052


def test_a_bfloat16_sum_without_init_is_kept_in_float32() -> None:
    a = np.array([1, 1, 1, 1], BFLOAT16)
    assert float(run_row(fold("A[i, j]", "bfloat16"), a, np.array([256], BFLOAT16))) == 260


def test_a_narrow_element_that_an_inner_iteration_starts_is_complete_when_that_ends() -> None:
    func = program(
        "x y",
        "h m n",
        """
        H = S.dense_fixed(h)
        I = S.dense_fixed(m)
        J = S.dense_fixed(n)
        X = S.match_sparse_buffer(x, (H, I, J), "float16")
        Y = S.match_sparse_buffer(y, (H, I), "float16")
        with S.iter([H], "R", "outer") as [h_]:
            with S.iter([I, J], "SR", "inner") as [i, j]:
                with S.init():
                    Y[h_, i] = T.float16(2048)
                Y[h_, i] = Y[h_, i] + X[h_, i, j]
        """,
    )
    y = np.full((2, 1), NAN, "float16")
    interpret(func, np.ones((2, 1, 4), "float16"), y, 2, 1, 4)
    assert y.tolist() == [[2052], [2052]]


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (
            """
            with S.iter([I], "S", "rows") as [i]:
                Y[i] = Y[i] + T.float16(50)
                with S.iter([J], "R", "sums") as [j]:
                    with S.init():
                        Y[i] = T.float16(0)
                    Y[i] = Y[i] + A[i, j]
            """,
            3,
        ),
        (
            """
            with S.iter([I], "S", "squares") as [i]:
                with S.init():
                    Y[i] = T.float16(7)
                Y[i] = Y[i] * Y[i] + T.float16(1)
            """,
            50,
        ),
    ],
)
def test_what_overwrites_a_narrow_element_discards_its_fold(statements: str, expected: float) -> None:
    func = csr_program("I", statements, dtype="float16")
    assert run_row(func, np.array([1, 2], "float16"), np.array([100], "float16")) == expected


def test_float16_products_are_formed_in_float32() -> None:
    a, x = np.array([300, 300], "float16"), np.array([300, -299], "float16")
    assert run_row(fold("A[i, j] * X[j]", "float16", "T.float16(0)"), a, np.zeros(1, "float16"), x) == 300


def test_the_init_is_taken_in_the_wide_type() -> None:
    a = np.array([1], "float16")
    y = run_row(fold("A[i, j]", "float16", "T.float16(2049)"), a, np.zeros(1, "float16"))
    assert y == 2050  # 2049 rounds to 2048, and 2048 + 1 to 2048


def test_an_explicit_cast_to_a_narrow_type_still_rounds() -> None:
    func = fold('T.cast(T.cast(A[i, j], "float32") + T.float32(2048), "float16")', "float16", "T.float16(2)")
    assert run_row(func, np.array([1], "float16"), np.zeros(1, "float16")) == 2050


def test_int8_contributions_are_widened() -> None:
    func = fold("A[i, j] * X[j]", "int8", "T.int8(3)", "T.max({y}, {v})")
    assert run_row(func, np.array([100], "int8"), np.zeros(1, "int8"), np.array([2], "int8")) == -56  # of 200


def test_into_a_wide_buffer_the_casts_of_the_script_decide() -> None:
    def product(cast: str) -> float:
        func = program(
            "a y",
            "n",
            f"""
            I = S.dense_fixed(n)
            One = S.dense_fixed(1)
            A = S.match_sparse_buffer(a, (I,), "float16")
            Y = S.match_sparse_buffer(y, (One,), "float32")
            with S.iter([One, I], "SR", "squares") as [o, i]:
                Y[o] = Y[o] + {cast}
            """,
        )
        y = f32(0)
        interpret(func, np.array([300], "float16"), y, 1)
        return float(y[0])

    assert product('T.cast(A[i], "float32") * T.cast(A[i], "float32")') == 90000
    assert product('T.cast(A[i] * A[i], "float32")') == INF


def test_statements_that_are_no_fold_stay_narrow() -> None:
    func = csr_program(
        "I, J",
        """
        with S.iter([I, J], "SS", "scale") as [i, j]:
            Y[i, j] = A[i, j] * A[i, j] - A[i, j] * A[i, j]
        """,
        dtype="float16",
    )
    y = np.zeros(1, "float16")
    interpret(func, np.array([300], "float16"), np.zeros(1, "float16"), y, i32(0, 1), i32(0), 1, 1, 1)
    assert np.isnan(y[0])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integer_sums_and_products_wrap(dtype: str) -> None:
    largest = np.iinfo(dtype).max
    a = np.array([largest, 1], dtype)
    assert run_row(fold("A[i, j]", dtype, f"T.{dtype}(0)"), a, np.zeros(1, dtype)) == np.iinfo(dtype).min
    twice = np.array([largest, 2], dtype)
    assert run_row(fold("A[i, j]", dtype, f"T.{dtype}(1)", "{y} * {v}"), twice, np.zeros(1, dtype)) == -2


def element_wise(expression: str, dtype: str, result: str) -> Callable[[Any, Any], Any]:
    """Y[i] = expression of X[i] and Z[i], as a function of two arrays."""
    func = program(
        "x z y",
        "n",
        f"""
        I = S.dense_fixed(n)
        X = S.match_sparse_buffer(x, (I,), "{dtype}")
        Z = S.match_sparse_buffer(z, (I,), "{dtype}")
        Y = S.match_sparse_buffer(y, (I,), "{result}")
        with S.iter([I], "S", "map") as [i]:
            Y[i] = {expression}
        """,
    )

    def run(x: Any, z: Any) -> Any:
        y = np.zeros(x.size, result)
        interpret(func, x, z, y, x.size)
        return y

    return run


FLOATS = f32(-2.5, -1, -0.5, 0.25, 0.5, 1.5, 2.5, 3), f32(2, -3, 0.5, 4, 1, -1.5, 2.5, 0.1)
INTEGERS = i32(-7, -3, 0, 5, 7, 12, -8, 1), i32(3, -2, 5, 3, -3, 4, 8, 6)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("X[i] / Z[i]", lambda x, z: x / z),
        ("T.min(X[i], Z[i]) - T.max(X[i], Z[i])", lambda x, z: np.minimum(x, z) - np.maximum(x, z)),
        ("T.exp(X[i])", lambda x, z: np.exp(x)),
        ("T.log(T.fabs(X[i]))", lambda x, z: np.log(np.abs(x))),
        ("T.sqrt(T.abs(X[i]))", lambda x, z: np.sqrt(np.abs(x))),
        ("T.rsqrt(T.abs(X[i]))", lambda x, z: 1 / np.sqrt(np.abs(x))),
        ("T.tanh(X[i]) + T.sigmoid(Z[i])", lambda x, z: np.tanh(x) + 1 / (1 + np.exp(-z))),
        ("T.pow(T.abs(X[i]), Z[i])", lambda x, z: np.abs(x) ** z),
        ("T.floor(X[i]) + T.ceil(Z[i]) * T.trunc(X[i])", lambda x, z: np.floor(x) + np.ceil(z) * np.trunc(x)),
        ("T.round(X[i])", lambda x, z: np.trunc(x + np.copysign(np.float32(0.5), x))),
        ("T.nearbyint(X[i])", lambda x, z: np.rint(x)),
        ("T.erf(X[i]) + T.cos(Z[i])", lambda x, z: np.vectorize(__import__("math").erf)(x) + np.cos(z)),
        ("T.Select(X[i] < Z[i], X[i], Z[i])", lambda x, z: np.where(x < z, x, z)),
        ("T.if_then_else(X[i] < Z[i] and not (X[i] == T.float32(-1)), X[i], Z[i])",
         lambda x, z: np.where((x < z) & (x != -1), x, z)),
        ("T.cast(T.cast(X[i], 'int32'), 'float32')", lambda x, z: np.trunc(x)),
        ("T.cast(X[i] <= Z[i] or X[i] > T.float32(2), 'float32')", lambda x, z: (x <= z) | (x > 2)),
        ("T.cast(i, 'float32') * X[i]", lambda x, z: np.arange(x.size) * x),
        ("T.reinterpret('float32', T.reinterpret('int32', X[i]))", lambda x, z: x),
    ],
)  # fmt: skip
def test_float_expressions(expression: str, expected: Callable[[Any, Any], Any]) -> None:
    found = element_wise(expression, "float32", "float32")(*FLOATS)
    np.testing.assert_allclose(found, expected(*FLOATS), rtol=1e-6)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("X[i] // Z[i] + X[i] % Z[i] * 100", lambda x, z: x // z + x % z * 100),
        ("T.truncdiv(X[i], Z[i])", lambda x, z: np.trunc(x / z)),
        ("T.truncmod(X[i], Z[i])", np.fmod),
        ("(X[i] & Z[i]) + (X[i] | 8) - (X[i] ^ Z[i])", lambda x, z: (x & z) + (x | 8) - (x ^ z)),
        ("(X[i] << 2) + (X[i] >> 1) - ~Z[i]", lambda x, z: (x << 2) + (x >> 1) - ~z),
        ("T.popcount(T.abs(X[i]))", lambda x, z: np.bitwise_count(np.abs(x))),
        ("T.cast(T.cast(X[i] * 40, 'int8'), 'int32')", lambda x, z: (x * 40).astype("int8")),
    ],
)
def test_integer_expressions(expression: str, expected: Callable[[Any, Any], Any]) -> None:
    found = element_wise(expression, "int32", "int32")(*INTEGERS)
    assert found.tolist() == expected(*INTEGERS).tolist()


def test_every_operation_rounds_to_float32() -> None:
    x = f32(1, 16777216)
    found = element_wise("(X[i] + Z[i]) - X[i]", "float32", "float32")(x, f32(1e-8, 1))
    assert found.tolist() == [0, 0]


@pytest.mark.parametrize("name", ["max", "min"])
def test_max_and_min_outside_of_a_fold_propagate_nan_too(name: str) -> None:
    found = element_wise(f"T.{name}(X[i], Z[i])", "float32", "float32")(f32(NAN, 1), f32(1, NAN))
    assert np.isnan(found).all()


def test_a_branch_that_is_not_taken_is_not_evaluated() -> None:
    variable = Var("n", "int32")
    guarded = prim.Select(variable == 0, variable, Var("nowhere", "int32"))
    values = {variable.__chandle__(): np.int32(0)}
    assert Expressions(values, lambda load: lambda: 0).compile(guarded)() == 0


def test_a_let_binds_its_variable() -> None:
    variable = Var("v", "int32")
    let = prim.Let(variable, prim.IntImm("int32", 20), variable * 2 + 2)
    value = Expressions({}, lambda load: lambda: 0).compile(let)()
    assert value == 42
    assert dtype_of(let) == np.int32


def test_a_call_of_foreign_code_is_refused_by_the_verifier() -> None:
    with pytest.raises(ValueError, match=r"\[ST210\].*\n.*call_extern"):
        element_wise("T.call_extern('float32', 'mystery', X[i])", "float32", "float32")
