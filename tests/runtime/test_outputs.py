"""Outputs: written in place or through a temporary, and refused where memory is shared."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from border import DLPackOnly, address, attempt, code_of, is_readable, misaligned
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from sparse_tir import errors
from sparse_tir.runtime.operands import as_output


def output(out: Any, shape: Any = (3, 2), dtype: Any = np.float32, **operands: Any) -> Any:
    return as_output(out, shape, dtype, where="st.spmm(A, X)", operands=operands)


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
    wrong_shapes = [np.zeros((2, 3), np.float32), np.zeros(6, np.float32)]
    for bad in (*wrong_shapes, np.zeros((3, 2)), read_only):
        assert attempt(partial(output, bad)) == (None, "ST153")
    assert code_of(lambda: output([[0.0] * 2] * 3)) == "ST150"
    assert code_of(lambda: output(DLPackOnly(read_only, (2, 0)))) == "ST155"


def test_an_output_whose_elements_share_memory_is_refused() -> None:
    base = np.zeros(20, np.float32)
    for strides in ((0, 4), (4, 4), (4, 0), (8, 6), (-4, 4), (0, 0)):
        assert attempt(partial(output, as_strided(base[8:], (3, 2), strides))) == (None, "ST153")
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
    memory = np.zeros(10_000, np.float32)
    shape = (2, 2, 3, 3, 2, 3)
    out = as_strided(memory, shape, (148, 208, 412, 1196, 3588, 7280))
    other = as_strided(memory[68:], (3, 3, 3, 2, 2, 2), (52, 152, 468, 1460, 2872, 5832))
    assert code_of(lambda: output(out, shape, X=other)) == "ST154"
    assert output(out, shape)[1] is not None


def test_tensors_are_outputs_unless_a_write_would_be_lost() -> None:
    torch = pytest.importorskip("torch")
    out = torch.zeros(3, 2)
    array, copy_back = output(out)
    array[...] = 1
    assert copy_back is None
    assert out.sum() == 6
    array, copy_back = output(torch.zeros(2, 3).T)
    assert copy_back is not None
    assert code_of(lambda: output(torch.zeros(3, 2, requires_grad=True))) == "ST153"
    assert (
        code_of(lambda: output(torch.zeros(3, 2, dtype=torch.complex64).conj(), dtype=np.complex64))
        == "ST153"
    )
    assert code_of(lambda: output(out, X=out.numpy())) == "ST154"


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
