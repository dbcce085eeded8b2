"""Good Matrix Market files: the numbers of the file, whatever its line ends, comments, field and symmetry."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import mmwrite

from sparse_tir.io import load_matrix, matrix_market_body

REAL = "%%MatrixMarket matrix coordinate real general\n"


@pytest.fixture
def load(tmp_path):
    def load_text(text: str | bytes) -> sp.coo_array:
        path = tmp_path / "a.mtx"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return load_matrix(path)

    return load_text


def entries(matrix: sp.coo_array) -> list[tuple[int, int, object]]:
    return list(zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True))


# ---- text


def test_pattern_symmetric_with_crlf_and_remarks_gives_ones_mirrored_once(load):
    matrix = load(
        "%%MatrixMarket matrix coordinate pattern symmetric\r\n"
        "% made by hand\r\n%\r\n%  second remark 4 4 4\r\n"
        "4 4 5\r\n1 1\r\n2 1\r\n3 2\r\n4 1\r\n4 4\r\n"
    )
    assert matrix.dtype == np.float32
    assert matrix.nnz == 8
    np.testing.assert_array_equal(matrix.toarray(), [[1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 1]])


@pytest.mark.parametrize(
    "text",
    [
        REAL + "2 3 2\n1 3 1.5\n2 1 -4\n",
        REAL + "2 3 2\n1 3 1.5\n2 1 -4",  # no line feed at the end
        REAL + "2 3 2\n1 3 1.5\n2 1 -4 ",
        REAL + "2 3 2\n1 3 1.5\n2 1 -4\r",
        REAL + "2 3 2\r\n1 3 1.5 \r\n2 1 -4\r\n",
        REAL + "2 3 2\n1 3 1.5\r\r\n2 1 -4\r\r\n",
        REAL + "\n% remark\n\n  \n 2\t3  2 \n\t1 3\t1.5\n\n   \n2 1 -4 \n\r\n\n",
        REAL + "%" + "long " * 40_000 + "\n2 3 2\n1 3 1.5\n2 1 -4\n",
        REAL + "2 3 2\n1 3 1.5\n% between\n  % 1 1 1\n2 1 -4\n%",
        REAL + "2 3 2\n+1 +3 +1.5\n 2 1 -4\n",
        REAL + "+2 03 2\n01 003 01.5\n2 1 -4.\n",
        REAL + "2 3 2\n1 3 .15e+1\n2 1 -0.4E01\n",
        REAL.replace("%%", "%") + "2 3 2\n1 3 1.5\n2 1 -4\n",
        REAL.upper() + "2 3 2\n1 3 1.5\n2 1 -4\n",
        REAL.replace("real", "double") + "2 3 2\n1 3 1.5\n2 1 -4\n",
        "\ufeff" + REAL + "2 3 2\n1 3 1.5\n2 1 -4\n",
        (REAL + "% caf\u00e9\n2 3 2\n1 3 1.5\n2 1 -4\n").encode("latin-1"),
        REAL + "% caf\u00e9 \u3042\n2 3 2\n1 3 1.5\n2 1 -4\n",
    ],
)
def test_blanks_remarks_line_ends_and_signs_do_not_change_the_numbers(load, text):
    matrix = load(text)
    assert matrix.shape == (2, 3)
    assert matrix.dtype == np.float64
    assert entries(matrix) == [(0, 2, 1.5), (1, 0, -4.0)]


def test_every_stored_entry_is_kept_in_its_order(load):
    matrix = load(REAL + "3 3 5\n3 3 0\n1 1 1\n1 1 2\n2 1 -0.0\n1 1 -3\n")
    assert entries(matrix) == [(2, 2, 0.0), (0, 0, 1.0), (0, 0, 2.0), (1, 0, 0.0), (0, 0, -3.0)]
    assert np.signbit(matrix.data[3])
    assert matrix.toarray()[0, 0] == 0


def column(words: list[str]) -> str:
    return REAL + f"1 1 {len(words)}\n" + "".join(f"1 1 {word}\n" for word in words)


def test_special_floats_are_numbers(load):
    words = ["nan", "NaN", "inf", "-INF", "Infinity", "4.9e-324", "1e999", "1e-999"]
    expected = [np.nan, np.nan, np.inf, -np.inf, np.inf, 4.9e-324, np.inf, 0.0]
    np.testing.assert_array_equal(load(column(words)).data, expected)


def test_floats_are_rounded_as_python_rounds_them(load):
    words = [
        "0.1",
        "1.7976931348623157e308",
        "12345678901234567890123",
        "2.225073858507e-308",
        "9007199254740993",
    ]
    assert load(column(words)).data.tolist() == [float(word) for word in words]


# ---- fields


def test_integers_are_exact_over_the_whole_range(load):
    values = [2**53 + 1, -(2**63), 2**63 - 1, 0, -7]
    text = "%%MatrixMarket matrix coordinate integer general\n1 5 5\n"
    matrix = load(text + "".join(f"1 {i + 1} {value}\n" for i, value in enumerate(values)))
    assert matrix.dtype == np.int64
    assert matrix.data.tolist() == values


def test_unsigned_integers_are_exact(load):
    matrix = load(
        "%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 18446744073709551615\n"
    )
    assert matrix.dtype == np.uint64
    assert matrix.data.tolist() == [2**64 - 1]


def test_complex_values_have_two_words(load):
    matrix = load("%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1.5 -2\n2 1 nan +3e0\n")
    assert matrix.dtype == np.complex128
    assert matrix.data[0] == 1.5 - 2j
    assert np.isnan(matrix.data[1].real)
    assert matrix.data[1].imag == 3


def test_pattern_general_gives_ones(load):
    matrix = load("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n1 2\n")
    assert matrix.dtype == np.float32
    assert entries(matrix) == [(0, 1, 1.0), (0, 1, 1.0)]


# ---- symmetries


@pytest.mark.parametrize("field", ["real", "integer"])
def test_skew_symmetric_files_are_mirrored_with_the_sign_changed(load, field):
    matrix = load(f"%%MatrixMarket matrix coordinate {field} skew-symmetric\n3 3 3\n2 1 5\n3 1 -2\n3 3 0\n")
    np.testing.assert_array_equal(matrix.toarray(), [[0, -5, 2], [5, 0, 0], [-2, 0, 0]])
    assert matrix.nnz == 5


def test_hermitian_files_are_mirrored_with_the_conjugate(load):
    matrix = load("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 5 1\n2 2 3 0\n")
    np.testing.assert_array_equal(matrix.toarray(), [[0, 5 - 1j], [5 + 1j, 3]])


def test_complex_symmetric_files_are_mirrored_without_the_conjugate(load):
    matrix = load("%%MatrixMarket matrix coordinate complex symmetric\n2 2 2\n2 1 5 1\n2 2 3 4\n")
    np.testing.assert_array_equal(matrix.toarray(), [[0, 5 + 1j], [5 + 1j, 3 + 4j]])


def test_the_mirror_comes_after_the_entries_and_repeats_stay_repeats(load):
    matrix = load("%%MatrixMarket matrix coordinate integer symmetric\n3 3 4\n2 1 5\n2 1 6\n3 3 1\n3 3 2\n")
    assert entries(matrix) == [(1, 0, 5), (1, 0, 6), (2, 2, 1), (2, 2, 2), (0, 1, 5), (0, 1, 6)]


def test_a_symmetric_file_may_list_each_place_on_either_side(load):
    matrix = load("%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 2 5\n3 1 6\n3 3 1\n")
    np.testing.assert_array_equal(matrix.toarray(), [[0, 5, 6], [5, 0, 0], [6, 0, 1]])


# ---- shapes


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 2), (2**63 - 1, 2), (2, 2**63 - 1)])
@pytest.mark.parametrize("tail", ["", "\n", "% end\n"])
def test_no_entries_at_all_is_a_matrix(load, shape, tail):
    matrix = load(REAL + f"{shape[0]} {shape[1]} 0\n{tail}")
    assert matrix.shape == shape
    assert matrix.nnz == 0
    assert matrix.dtype == np.float64


def test_coordinates_beyond_32_bits_are_exact(load):
    matrix = load(REAL + "3000000000 5000000000 1\n2999999999 5000000000 4\n")
    assert entries(matrix) == [(2999999998, 4999999999, 4.0)]


# ---- array files


def test_array_files_go_down_the_columns_and_keep_what_is_not_zero(load):
    matrix = load("%%MatrixMarket matrix array real general\n% dense\n2 3\n1\n0\n\nnan\n4\n-5e0\n-0.0\n")
    assert isinstance(matrix, sp.coo_array)
    np.testing.assert_array_equal(matrix.toarray(), [[1, np.nan, -5], [0, 4, 0]])
    assert matrix.nnz == 4


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (0, 2**63 - 1)])
def test_empty_array_files_are_matrices(load, shape):
    matrix = load(f"%%MatrixMarket matrix array real general\n{shape[0]} {shape[1]}\n")
    assert matrix.shape == shape
    assert matrix.nnz == 0


@pytest.mark.parametrize(
    ("head", "body", "dense"),
    [
        ("integer symmetric", "1 2 3 4 5 6", [[1, 2, 3], [2, 4, 5], [3, 5, 6]]),
        ("integer skew-symmetric", "1 2 3", [[0, -1, -2], [1, 0, -3], [2, 3, 0]]),
        ("integer general", "1 2 3 4 5 6 7 8 9", [[1, 4, 7], [2, 5, 8], [3, 6, 9]]),
        ("unsigned-integer general", "1 2 3 4 5 6 7 8 9", [[1, 4, 7], [2, 5, 8], [3, 6, 9]]),
    ],
)
def test_array_files_of_every_symmetry(load, head, body, dense):
    matrix = load(f"%%MatrixMarket matrix array {head}\n3 3\n" + "\n".join(body.split()))
    np.testing.assert_array_equal(matrix.toarray(), dense)


def test_hermitian_array_files(load):
    matrix = load("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n")
    np.testing.assert_array_equal(matrix.toarray(), [[1, 2 - 3j], [2 + 3j, 4]])


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
def test_array_files_of_one_number_or_none(load, symmetry):
    body = "7\n" if symmetry == "symmetric" else ""
    matrix = load(f"%%MatrixMarket matrix array integer {symmetry}\n1 1\n{body}")
    assert matrix.toarray().tolist() == [[7 if body else 0]]


# ---- round trips


@st.composite
def written_matrices(draw):
    n_rows, n_cols = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    n = draw(st.integers(0, 12))
    rows = draw(st.lists(st.integers(0, n_rows - 1), min_size=n, max_size=n))
    cols = draw(st.lists(st.integers(0, n_cols - 1), min_size=n, max_size=n))
    values = draw(
        st.one_of(
            st.lists(st.floats(allow_nan=True, width=64), min_size=n, max_size=n),
            st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n, max_size=n),
            st.lists(st.complex_numbers(allow_nan=False), min_size=n, max_size=n),
        )
    )
    dtype = {float: np.float64, int: np.int64, complex: np.complex128}[type(values[0]) if values else float]
    return sp.coo_array((np.array(values, dtype), (rows, cols)), shape=(n_rows, n_cols))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    matrix=written_matrices(),
    block_bytes=st.sampled_from([1, 7, 40, 1 << 20]),
    line_end=st.sampled_from([b"\n", b"\r\n"]),
)
def test_what_scipy_writes_is_read_back_bit_for_bit_in_blocks_of_any_size(
    tmp_path_factory, matrix, block_bytes, line_end
):
    path = tmp_path_factory.getbasetemp() / "written.mtx"
    target = io.BytesIO()
    mmwrite(target, matrix, symmetry="general")
    path.write_bytes(target.getvalue().replace(b"\n", line_end))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix_market_body, "_BLOCK_BYTES", block_bytes)
        read = load_matrix(path)
    assert read.shape == matrix.shape
    np.testing.assert_array_equal(read.row, matrix.row)
    np.testing.assert_array_equal(read.col, matrix.col)
    np.testing.assert_array_equal(read.data, matrix.data)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(
    shape=st.tuples(st.integers(0, 5), st.integers(0, 5)),
    blanks=st.lists(st.sampled_from(["", " ", "\r", "% remark"]), max_size=4),
    block_bytes=st.sampled_from([1, 5, 1 << 20]),
)
def test_array_files_are_read_in_blocks_of_any_size(tmp_path_factory, shape, blanks, block_bytes):
    dense = np.random.default_rng(0).integers(-2, 3, shape)
    lines = [str(value) for value in dense.T.ravel()]
    for place, blank in enumerate(blanks):
        lines.insert(place * 2, blank)
    path = tmp_path_factory.getbasetemp() / "array.mtx"
    head = f"%%MatrixMarket matrix array integer general\n{shape[0]} {shape[1]}\n"
    path.write_bytes((head + "\n".join(lines)).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix_market_body, "_BLOCK_BYTES", block_bytes)
        np.testing.assert_array_equal(load_matrix(path).toarray(), dense)


def test_a_hundred_thousand_entries_are_right(tmp_path: Path):
    rng = np.random.default_rng(1)
    n = 100_000
    rows, cols = rng.integers(0, 5000, n), rng.integers(0, 7000, n)
    with (tmp_path / "a.mtx").open("w") as stream:
        stream.write(f"%%MatrixMarket matrix coordinate pattern general\n5000 7000 {n}\n")
        np.savetxt(stream, np.stack([rows + 1, cols + 1], axis=1), fmt="%d")
    matrix = load_matrix(tmp_path / "a.mtx")
    np.testing.assert_array_equal(matrix.row, rows)
    np.testing.assert_array_equal(matrix.col, cols)
    assert (matrix.data == 1).all()
