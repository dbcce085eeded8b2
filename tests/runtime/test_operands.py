"""Dense operands: views without copies, inputs as kernels need them, memory for kernels."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.sparse as sp
import tvm_ffi
from border import DLPackOnly, address, code_of, is_readable, misaligned
from numpy.typing import NDArray

from sparse_tir import errors
from sparse_tir.runtime.operands import aligned_empty, as_input, as_operand, kernel_view

WHERE = "st.spmm(A, X)"


class InterfaceOnly:
    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.__array_interface__ = array.__array_interface__


class Hostile:
    """Promises the protocol and breaks it."""

    def __dlpack__(self, **options: Any) -> Any:
        raise OSError("no")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class CudaOnly:
    __cuda_array_interface__: dict[str, Any] = {}  # noqa: RUF012


def view(x: Any) -> NDArray[Any]:
    return as_operand(x, name="X", where=WHERE)


def test_arrays_are_viewed_and_never_copied(tmp_path: Any) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    mapped = np.memmap(tmp_path / "x.bin", dtype=np.float32, mode="w+", shape=(2, 3))
    assert view(x) is x
    for other, memory in [
        (DLPackOnly(x), x),
        (InterfaceOnly(x), x),
        (x.view(np.matrix), x),
        (mapped, mapped),
        (tvm_ffi.from_dlpack(x), x),
    ]:
        seen = view(other)
        assert type(seen) is np.ndarray
        assert np.shares_memory(seen, memory)
        assert seen.shape == (2, 3)


def test_read_only_memory_is_viewed_through_every_protocol() -> None:
    x = np.arange(3.0)
    x.flags.writeable = False
    for other in (x, DLPackOnly(x), InterfaceOnly(x)):
        assert np.shares_memory(view(other), x)
        assert not view(other).flags.writeable


@pytest.mark.parametrize(
    "bad",
    [[1.0], 1.0, None, "x", b"x", Hostile(), object(), sp.eye_array(2), memoryview(b"ab")],
    ids=lambda x: type(x).__name__,
)
def test_what_is_no_array_is_refused_by_name(bad: Any) -> None:
    with pytest.raises(errors.DataError, match=r"st\.spmm\(A, X\): X") as caught:
        view(bad)
    assert caught.value.code == "ST150"


def test_a_mask_is_never_dropped_silently() -> None:
    with pytest.raises(errors.DataError, match="filled") as caught:
        view(np.ma.masked_array([1.0], mask=[True]))
    assert caught.value.code == "ST150"


@pytest.mark.parametrize("bad", [DLPackOnly(np.zeros(1), (2, 0)), CudaOnly()], ids=["dlpack", "interface"])
def test_arrays_of_another_device_are_refused(bad: Any) -> None:
    assert code_of(lambda: view(bad)) == "ST155"


def test_tensors_are_viewed_without_copying() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    assert np.shares_memory(view(x), x.numpy())
    assert view(x.T).strides == (4, 12)
    weights = x.clone().requires_grad_()
    assert np.shares_memory(view(weights[1:]), weights.detach().numpy())
    half = view(x.to(torch.bfloat16))
    assert half.dtype == ml_dtypes.bfloat16
    assert half.tolist() == x.tolist()
    assert view(torch.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]
    assert code_of(lambda: view(torch.zeros(2, device="meta"))) == "ST155"
    assert code_of(lambda: view(x.to_sparse_coo())) == "ST150"
    assert code_of(lambda: view(torch.float32)) == "ST150"


def strided_cases() -> dict[str, NDArray[Any]]:
    base = 10.0 * np.arange(4)[:, None, None] + 2 * np.arange(5)[:, None] + np.arange(2)
    base = base.astype(np.float32)
    flat = 4.0 * np.arange(5, dtype=np.float32)[:, None] + np.arange(4, dtype=np.float32)
    return {"every second": base[:, :, 0], "rows backwards": base[::-1, :, 0], "transposed": flat.T}


@pytest.mark.parametrize("name", ["every second", "rows backwards", "transposed"])
def test_strided_operands_are_read_where_their_numbers_live(name: str) -> None:
    expected = {
        "every second": [[0, 4, 8, 12, 16], [90, 98, 106, 114, 122], [40, 48, 56, 64, 72], [0] * 5],
        "rows backwards": [[60, 64, 68, 72, 76], [30, 38, 46, 54, 62], [80, 88, 96, 104, 112], [0] * 5],
        "transposed": [[0, 8, 16, 24, 32], [9, 25, 41, 57, 73], [4, 20, 36, 52, 68], [0] * 5],
    }[name]
    x = strided_cases()[name]
    before = x.tobytes()
    got = as_input(x, np.float32, (4, "f"), name="X", where=WHERE)
    assert is_readable(got)
    raw = np.frombuffer(got.data, np.float32).reshape(4, 5)  # as a kernel reads it: the buffer in order
    product = [2 * raw[0], raw[3] + 3 * raw[2], 4 * raw[1], 0 * raw[0]]
    assert [row.tolist() for row in product] == expected
    assert x.tobytes() == before


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "f2", "f4", "f8", "c8", "c16", ">f4", ">c16", ml_dtypes.bfloat16]
)
@pytest.mark.parametrize("offset", [0, 1, 2, 4, 8, 16])
def test_every_dtype_at_every_address_becomes_readable(dtype: Any, offset: int) -> None:
    x = misaligned(np.arange(12).reshape(3, 4).astype(dtype), offset)
    got = as_input(x, name="X", where=WHERE)
    assert is_readable(got)
    assert got.tolist() == x.tolist()
    was_readable = offset % x.dtype.itemsize == 0 and x.dtype.isnative
    assert np.shares_memory(got, x) == was_readable


def test_ready_operands_are_returned_themselves_and_read_only_ones_are_not_copied() -> None:
    x = np.zeros((3, 4))
    x.flags.writeable = False
    assert as_input(x, np.float64, (3, 4), name="X", where=WHERE) is x
    offset = np.arange(13, dtype=np.float32)[1:].reshape(4, 3)
    assert np.shares_memory(as_input(offset, name="X", where=WHERE), offset)


def test_strides_of_single_rows_and_empty_arrays_are_made_ordinary() -> None:
    base = np.zeros((6, 8), dtype=np.float32)
    for x in (base[2:3], base[:, 3:4], base[1:1, ::2], base[::2, 5:5], base[3, 3:4]):
        assert is_readable(as_input(x, name="X", where=WHERE))
    assert np.shares_memory(as_input(base[4:5], name="X", where=WHERE), base)


def test_dtypes_are_never_converted_silently() -> None:
    with pytest.raises(errors.DataError, match="X has dtype float64") as caught:
        as_input(np.zeros(3), np.float32, name="X", where=WHERE)
    assert caught.value.code == "ST152"
    assert as_input(np.zeros(3, ">f4"), np.float32, name="X", where=WHERE).dtype == np.float32


@pytest.mark.parametrize(
    ("shape", "expected", "words"),
    [
        ((3, 4), (("n", 5), "f"), ["(3, 4)", "(n, f) with n = 5"]),
        ((3,), (("n", 3), "f"), ["(3,)", "(n, f) with n = 3"]),
        ((3, 4), ("n", "n"), ["(n, n)"]),
        ((3, 4), (3, 5), ["(3, 5)"]),
        ((3, 4), ("n",), ["(n,)"]),
    ],
)
def test_a_wrong_shape_is_refused_with_letters(shape: Any, expected: Any, words: list[str]) -> None:
    with pytest.raises(errors.DataError) as caught:
        as_input(np.zeros(shape), None, expected, name="X", where=WHERE)
    assert caught.value.code == "ST151"
    assert all(word in str(caught.value) for word in words)


def test_shapes_fit_by_size_letter_and_number_of_dimensions() -> None:
    x = np.zeros((3, 3, 2))
    assert as_input(x, None, ("n", "n", 2), name="X", where=WHERE) is x
    assert as_input(x, None, ("n", ("m", 3), "f"), name="X", where=WHERE) is x
    assert as_input(x, ndim=3, name="X", where=WHERE) is x
    assert code_of(lambda: as_input(x, ndim=2, name="X", where=WHERE)) == "ST151"


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (5, 7)])
@pytest.mark.parametrize("dtype", ["?", "f4", "c16", ml_dtypes.bfloat16])
def test_fresh_memory_is_aligned(shape: tuple[int, ...], dtype: Any) -> None:
    for alignment in (64, 4096):
        array = aligned_empty(shape, dtype, alignment)
        assert array.shape == shape
        assert array.dtype == np.dtype(dtype)
        assert address(array) % alignment == 0
        assert is_readable(array)
        array[...] = 1


def test_tvm_takes_the_kernel_view_of_read_only_memory() -> None:
    x = np.arange(4.0)
    assert kernel_view(x) is x
    x.flags.writeable = False
    with pytest.raises(BufferError):
        tvm_ffi.from_dlpack(x)
    seen = kernel_view(x)
    assert np.shares_memory(seen, x)
    assert not x.flags.writeable
    assert np.from_dlpack(tvm_ffi.from_dlpack(seen)).tolist() == [0, 1, 2, 3]
    frozen = np.ones(2, ml_dtypes.bfloat16)
    frozen.flags.writeable = False
    assert kernel_view(frozen).dtype == frozen.dtype


def test_the_kernel_view_keeps_the_memory_alive() -> None:
    x = np.full(1000, 3.0)
    x.flags.writeable = False
    seen = kernel_view(x)
    del x
    assert seen.sum() == 3000


@pytest.mark.parametrize("shape", [(-1,), (3, -2), (-1, -1)])
def test_memory_of_negative_size_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(errors.DataError, match="sizes from 0 on") as refused:
        aligned_empty(shape, "float32")
    assert refused.value.code == "ST159"
