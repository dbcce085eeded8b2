"""Dense operands: views without copies, inputs and outputs as kernels need them, overlaps refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.sparse as sp
import tvm_ffi
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from sparse_tir import errors
from sparse_tir.runtime.operands import aligned_empty, as_input, as_operand, as_output, kernel_view

WHERE = "st.spmm(A, X)"


class DLPackOnly:
    """An array of another library: nothing but the exchange protocol."""

    def __init__(self, array: NDArray[Any], device: tuple[int, int] = (1, 0)) -> None:
        self._array, self._device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


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


def code_of(call: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(errors.DataError) as caught:
        call(*args, **options)
    return caught.value.code


def attempt(call: Callable[[], Any]) -> tuple[Any, str | None]:
    """The result and no code, or the code of the refusal."""
    try:
        return call(), None
    except errors.DataError as refusal:
        return None, refusal.code


def misaligned(array: NDArray[Any], offset: int = 1) -> NDArray[Any]:
    memory = aligned_empty((array.nbytes + offset,), np.uint8)
    copy = memory[offset:].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def address(array: NDArray[Any]) -> int:
    """Unlike ``array.ctypes.data`` also right for empty arrays."""
    return int(array.__array_interface__["data"][0])


def is_readable(array: NDArray[Any]) -> bool:
    """What a kernel assumes, element size and strides included."""
    fresh = np.empty(array.shape, array.dtype)
    return (
        address(array) % array.dtype.itemsize == 0
        and array.dtype.isnative
        and array.flags.c_contiguous
        and array.strides == fresh.strides
    )


# ---- as_operand


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
    "bad", [[1.0], 1.0, None, "x", b"x", Hostile(), object(), sp.eye_array(2), memoryview(b"ab")], ids=repr
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
    assert code_of(view, bad) == "ST155"


def test_tensors_are_viewed_without_copying() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    assert np.shares_memory(view(x), x.numpy())
    assert view(x.T).strides == (4, 12)
    assert np.shares_memory(view(x.clone().requires_grad_()[1:]), view(x)) is False
    half = view(x.to(torch.bfloat16))
    assert half.dtype == ml_dtypes.bfloat16
    assert half.tolist() == x.tolist()
    assert view(torch.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]
    assert code_of(view, torch.zeros(2, device="meta")) == "ST155"
    assert code_of(view, x.to_sparse_coo()) == "ST150"
    assert code_of(view, torch.float32) == "ST150"


# ---- as_input


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
    assert code_of(as_input, x, ndim=2, name="X", where=WHERE) == "ST151"


# ---- outputs


def output(out: Any, shape: Any = (3, 2), dtype: Any = np.float32, **operands: Any) -> Any:
    return as_output(out, shape, dtype, where=WHERE, operands=operands)


def test_no_output_given_is_a_fresh_aligned_one() -> None:
    array, copy_back = output(None)
    assert array.shape == (3, 2)
    assert array.dtype == np.float32
    assert address(array) % 64 == 0
    assert copy_back is None


def test_an_ordinary_output_is_written_in_place() -> None:
    out = np.zeros((3, 2), np.float32)
    array, copy_back = output(out)
    assert array is out
    assert copy_back is None


@pytest.mark.parametrize("form", ["strided", "reversed", "transposed", "misaligned", "big-endian"])
def test_an_awkward_output_is_written_through_a_temporary(form: str) -> None:
    base = np.full((6, 4), 7, dtype=np.float32)
    out = {
        "strided": base[::2, 1:3],
        "reversed": base[2::-1, :2],
        "transposed": base[:2, :3].T,
        "misaligned": misaligned(base[:3, :2]),
        "big-endian": np.full((3, 2), 7, dtype=">f4"),
    }[form]
    array, copy_back = output(out)
    assert is_readable(array)
    assert array.tolist() == [[7, 7]] * 3  # a kernel may fold into what is there
    array[...] = [[1, 2], [3, 4], [5, 6]]
    assert out.tolist() == [[7, 7]] * 3
    copy_back()
    assert out.tolist() == [[1, 2], [3, 4], [5, 6]]
    if form == "strided":
        base[::2, 1:3] = 7
        assert base.tolist() == np.full((6, 4), 7).tolist()


def test_an_output_that_cannot_take_the_result_is_refused() -> None:
    read_only = np.zeros((3, 2), np.float32)
    read_only.flags.writeable = False
    for bad in (np.zeros((2, 3), np.float32), np.zeros(6, np.float32), np.zeros((3, 2)), read_only):
        assert code_of(output, bad) == "ST153"
    assert code_of(output, [[0.0] * 2] * 3) == "ST150"
    assert code_of(output, DLPackOnly(read_only, (2, 0))) == "ST155"


def test_an_output_whose_elements_share_memory_is_refused() -> None:
    base = np.zeros(20, np.float32)
    for strides in ((0, 4), (4, 4), (4, 0), (8, 6), (-4, 4), (0, 0)):
        assert code_of(output, as_strided(base[8:], (3, 2), strides)) == "ST153"
    assert output(as_strided(base, (1, 2), (0, 4)), (1, 2))[1] is None


def test_an_output_that_is_an_operand_is_refused_by_name() -> None:
    base = np.arange(1, 11, dtype=np.float32)
    x = base[0:6].reshape(3, 2)
    for out in (x, base[2:8].reshape(3, 2), x[:, ::-1], DLPackOnly(x)):
        with pytest.raises(errors.DataError, match="out shares memory with the dense operand X") as caught:
            output(out, **{"A": np.zeros(1), "the dense operand X": x})
        assert caught.value.code == "ST154"


def test_interleaved_memory_is_no_overlap() -> None:
    base = np.zeros((6, 2), np.float32)
    array, copy_back = output(base[::2], X=base[1::2])
    array[...] = 1
    copy_back()
    assert base.sum() == 6
    assert base[1::2].sum() == 0


def test_an_overlap_too_hard_to_decide_is_refused() -> None:
    memory = np.zeros(10**6, np.float32)
    strides = [4 * s for s in (19681, 6561, 2187, 729, 243, 81, 27, 9, 3)]
    shape = (3,) * 9
    out = as_strided(memory, shape, strides)
    other = as_strided(memory[1:], shape, [4 * s for s in (23333, 7001, 2099, 701, 233, 79, 29, 11, 5)])
    assert code_of(output, out, shape, X=other) in ("ST153", "ST154")


def test_tensors_are_outputs_unless_a_write_would_be_lost() -> None:
    torch = pytest.importorskip("torch")
    out = torch.zeros(3, 2)
    array, copy_back = output(out)
    array[...] = 1
    assert copy_back is None
    assert out.sum() == 6
    array, copy_back = output(torch.zeros(2, 3).T)
    assert copy_back is not None
    assert code_of(output, torch.zeros(3, 2, requires_grad=True)) == "ST153"
    assert code_of(output, torch.zeros(3, 2, dtype=torch.complex64).conj(), dtype=np.complex64) == "ST153"
    assert code_of(output, out, X=out.numpy()) == "ST154"


def byte_addresses(array: NDArray[Any]) -> list[int]:
    offsets = sum(
        (np.arange(n).reshape([-1 if a == axis else 1 for a in range(array.ndim)]) * s)
        for axis, (n, s) in enumerate(zip(array.shape, array.strides, strict=True))
    )
    return [
        address(array) + int(o) + b for o in np.broadcast_to(offsets, array.shape).ravel() for b in range(4)
    ]


def views(memory: NDArray[Any]) -> st.SearchStrategy[NDArray[Any]]:
    def place(start: int, strides: tuple[int, int], shape: tuple[int, int]) -> NDArray[Any]:
        return as_strided(memory[100 + start :], shape, [4 * s for s in strides])

    pair = st.tuples(st.integers(-6, 6), st.integers(-6, 6))
    return st.builds(place, st.integers(0, 8), pair, st.tuples(st.integers(0, 3), st.integers(0, 3)))


MEMORY = np.zeros(200, np.float32)


@settings(derandomize=True, deadline=None, max_examples=400)
@given(views(MEMORY), views(MEMORY))
def test_an_output_is_accepted_only_if_no_byte_is_shared(out: NDArray[Any], x: NDArray[Any]) -> None:
    own, read = byte_addresses(out), byte_addresses(x)
    result, code = attempt(lambda: output(out, out.shape, X=x))
    if code is not None:
        assert code == "ST153" or (code == "ST154" and set(own) & set(read))
        return
    array = result[0]
    assert len(own) == len(set(own))
    assert not set(own) & set(read)
    assert array.size == 0 or is_readable(array)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    st.permutations(range(3)),
    st.tuples(*[st.tuples(st.integers(0, 4), st.sampled_from([1, 2, 3, -1, -2])) for _ in range(3)]),
)
def test_every_slice_of_an_ordinary_array_is_a_good_output(order: Any, cuts: Any) -> None:
    base = np.zeros((4, 4, 4), np.float32)
    out = base.transpose(order)[tuple(slice(start if step > 0 else None, None, step) for start, step in cuts)]
    array, copy_back = output(out, out.shape)
    array[...] = 1
    if copy_back is not None:
        copy_back()
    assert base.sum() == out.size


# ---- memory for kernels


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (5, 7)])
@pytest.mark.parametrize("dtype", ["?", "f4", "c16", ml_dtypes.bfloat16])
def test_fresh_memory_is_aligned(shape: tuple[int, ...], dtype: Any) -> None:
    for alignment in (64, 4096):
        array = aligned_empty(shape, dtype, alignment)
        assert array.shape == shape
        assert array.dtype == np.dtype(dtype)
        assert address(array) % alignment == 0
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
