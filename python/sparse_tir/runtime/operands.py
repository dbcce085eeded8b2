"""Dense operands at the border: views of the user's arrays, inputs to read, outputs to write.

Compiled kernels assume C order, native byte order and an address that is a multiple of the element size,
and check none of it. These functions give them that, with at most one copy, or refuse with the operand's
name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sparse_tir import errors
from sparse_tir.runtime.memory import aligned_empty, row_major

__all__ = [
    "Dim",
    "aligned_empty",
    "as_input",
    "as_operand",
    "as_output",
    "compact",
    "is_torch",
    "kernel_view",
]

Dim = int | str | tuple[str, int]
"""One dimension of an expected shape: a size, a letter for any size, or a letter with its size."""

_HOST_DEVICES = frozenset({1, 3, 11, 13})  # DLPack: CPU, CUDA host, ROCm host, CUDA managed
_OVERLAP_WORK = 10_000  # bound of the exact overlap test, which is NP-hard in general


def is_torch(x: object) -> bool:
    """Whether ``x`` is a PyTorch object, found without importing PyTorch."""
    return any(cls.__module__.partition(".")[0] == "torch" for cls in type(x).__mro__)


def as_operand(x: Any, *, name: str, where: str) -> NDArray[Any]:
    """The NumPy view of an array on the CPU, without copying.

    Parameters
    ----------
    x
        A NumPy array, a strided PyTorch tensor, or any object with ``__dlpack__`` or ``__array_interface__``.
        Read-only memory is allowed. bfloat16 tensors become ``ml_dtypes.bfloat16`` arrays.
    name, where
        The operand and the call, for error messages.

    Returns
    -------
    numpy.ndarray
        A view that shares memory with ``x``.

    Raises
    ------
    DataError
        ST150 if ``x`` is not an array, ST155 if it is on another device.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(3.0)
    >>> as_operand(x, name="x", where="st.spmv(A, x)") is x
    True
    """
    if type(x) is np.ndarray:
        return x
    if isinstance(x, np.ma.MaskedArray):
        hint = f"pass {name}.filled(value)"
        raise errors.error("ST150", f"{where}: {name}", "a masked array", "an array without mask", hint)
    if isinstance(x, np.ndarray):
        return np.asarray(x)
    try:
        view = _torch_view(x, name, where) if is_torch(x) else _protocol_view(x, name, where)
    except errors.DataError:
        raise
    except Exception as reason:  # a foreign object may raise anything
        found = f"an object of type {_type_name(x)} whose memory cannot be viewed ({reason})"
        raise errors.error("ST150", f"{where}: {name}", found, "an array on the CPU") from reason
    if view is None:
        found = f"an object of type {_type_name(x)}"
        hint = f"pass np.asarray({name}), or a dense array if this is a sparse one"
        raise errors.error("ST150", f"{where}: {name}", found, "a NumPy, torch or DLPack array", hint)
    return view


def as_input(
    x: Any,
    dtype: DTypeLike | None = None,
    shape: Sequence[Dim] | None = None,
    *,
    name: str,
    where: str,
    ndim: int | None = None,
) -> NDArray[Any]:
    """An array that a kernel can read: C order, native bytes, address a multiple of the element size.

    Parameters
    ----------
    x
        Whatever `as_operand` takes.
    dtype
        The dtype it must have (any byte order); nothing is ever converted silently. ``None`` allows all.
    shape
        The shape it must have, such as ``(("n", 1000), "f")``: n is 1000, f is any size. A letter that
        occurs twice must have one size.
    ndim
        The number of dimensions, where no shape is given.
    name, where
        The operand and the call, for error messages.

    Returns
    -------
    numpy.ndarray
        ``x`` itself or a view of it where possible, else one copy (strided, reversed, transposed,
        misaligned or foreign-endian operands).

    Raises
    ------
    DataError
        ST150, ST155 as `as_operand`; ST151 wrong shape; ST152 wrong dtype.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(6.0).reshape(2, 3)
    >>> as_input(x, "float64", (("n", 2), "f"), name="X", where="st.spmm(A, X)") is x
    True
    >>> as_input(x.T, name="X", where="st.spmm(A, X)").flags.c_contiguous
    True
    """
    array = as_operand(x, name=name, where=where)
    if dtype is not None and not _same_dtype(array.dtype, np.dtype(dtype)):
        hint = f"convert it: {name}.astype({str(np.dtype(dtype))!r})"
        found = f"{name} has dtype {array.dtype}"
        raise errors.error("ST152", f"{where}: {name}", found, f"dtype {np.dtype(dtype)}", hint)
    if shape is not None and not _fits(array.shape, shape):
        expected = f"shape {_shape_text(shape)}"
        raise errors.error("ST151", f"{where}: {name}", f"{name} has shape {array.shape}", expected)
    if ndim is not None and array.ndim != ndim:
        found = f"{name} has {array.ndim} dimensions (shape {array.shape})"
        raise errors.error("ST151", f"{where}: {name}", found, f"{ndim} dimensions")
    return compact(array)


def as_output(
    out: Any,
    shape: Sequence[int],
    dtype: DTypeLike,
    *,
    where: str,
    name: str = "out",
    operands: Mapping[str, NDArray[Any]] | None = None,
) -> tuple[NDArray[Any], Callable[[], None] | None]:
    """An array that a kernel can write, and what brings the result into ``out`` afterwards.

    Parameters
    ----------
    out
        The array of the user, or ``None`` for a fresh one.
    shape, dtype
        What ``out`` must have.
    where, name
        The call and the argument, for error messages.
    operands
        What the kernel reads, by name. None of it may share memory with ``out``.

    Returns
    -------
    array : numpy.ndarray
        ``out`` itself where a kernel can write it, else an aligned temporary that holds what ``out`` held.
    copy_back : callable or None
        To be called after the kernel if it is not None.

    Raises
    ------
    DataError
        ST150, ST155 as `as_operand`; ST153 wrong shape or dtype, read-only, elements that share memory
        with each other, or a tensor that records gradients; ST154 shares memory with an operand.

    Examples
    --------
    >>> import numpy as np
    >>> target = np.zeros((4, 6))[:, ::2]
    >>> array, copy_back = as_output(target, (4, 3), "float64", where="st.spmm(A, X)")
    >>> array[:] = 1.0
    >>> copy_back()
    >>> float(target.sum())
    12.0
    """
    if out is None:
        return aligned_empty(shape, dtype), None
    at = f"{where}: {name}"
    target = as_operand(out, name=name, where=where)
    if is_torch(out) and (out.requires_grad or out.is_conj() or out.is_neg()):
        raise errors.error("ST153", at, "a tensor with requires_grad or a lazy conjugate", "a plain tensor")
    _check_writable(target, tuple(shape), np.dtype(dtype), name, at)
    for other, operand in (operands or {}).items():
        if _share_memory(target, operand):
            hint = f"pass an {name} of its own, or none"
            found = f"{name} shares memory with {other}"
            raise errors.error("ST154", at, found, "memory of its own", hint)
    if _is_compact(target):
        return _canonical_strides(target), None
    # The kernel may fold into what the output holds, so the temporary starts with it.
    temporary = compact(target)
    return temporary, lambda: np.copyto(target, temporary)


class _Alias:
    """Exports the memory of a read-only array as if it were writeable, and keeps it alive."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.owner = array
        self.__array_interface__ = {**array.__array_interface__, "data": (_address(array), False)}


def kernel_view(array: NDArray[Any]) -> NDArray[Any]:
    """The array as TVM accepts it: its exchange protocol refuses read-only arrays, also for inputs.

    Only for operands that the kernel does not write. Never copies; takes a few microseconds for a read-only
    array, so keep the result of structure arrays.
    """
    if array.flags.writeable:
        return array
    return np.asarray(_Alias(array)).view(array.dtype)


def _type_name(x: object) -> str:
    cls = type(x)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def _torch_view(x: Any, name: str, where: str) -> NDArray[Any] | None:
    if not hasattr(x, "layout"):
        return None
    if x.device.type != "cpu":
        raise errors.error("ST155", f"{where}: {name}", f"{name} is on device {x.device}", "the CPU")
    if str(x.layout) != "torch.strided":
        return None
    plain = x.detach() if x.requires_grad else x
    plain = plain.resolve_conj().resolve_neg()
    if str(plain.dtype) == "torch.bfloat16":  # NumPy has no such type of its own
        import ml_dtypes

        bits: NDArray[Any] = plain.view(sys.modules["torch"].int16).numpy()
        widened: NDArray[Any] = bits.view(ml_dtypes.bfloat16)
        return widened
    view: NDArray[Any] = plain.numpy()
    return view


def _protocol_view(x: Any, name: str, where: str) -> NDArray[Any] | None:
    """The view through DLPack or the array interface; None if ``x`` has neither."""
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        kind = int(x.__dlpack_device__()[0])
        if kind not in _HOST_DEVICES:
            found = f"{name} is on a device of DLPack type {kind}"
            raise errors.error("ST155", f"{where}: {name}", found, "the CPU")
        try:
            return np.from_dlpack(x)
        except (BufferError, RuntimeError, TypeError, ValueError):  # such as dtypes that DLPack lacks
            if not hasattr(x, "__array_interface__"):
                raise
            return np.asarray(x)
    if hasattr(x, "__array_interface__"):
        return np.asarray(x)
    if hasattr(x, "__cuda_array_interface__"):
        raise errors.error("ST155", f"{where}: {name}", f"{name} is on a CUDA device", "the CPU")
    return None


def _same_dtype(a: np.dtype[Any], b: np.dtype[Any]) -> bool:
    return a == b or a.newbyteorder("=") == b.newbyteorder("=")


def _fits(actual: tuple[int, ...], expected: Sequence[Dim]) -> bool:
    if len(actual) != len(expected):
        return False
    bound: dict[str, int] = {}
    for size, dim in zip(actual, expected, strict=True):
        if isinstance(dim, str):
            wanted = bound.setdefault(dim, size)
        elif isinstance(dim, tuple):
            wanted = bound.setdefault(*dim)
        else:
            wanted = dim
        if size != wanted:
            return False
    return True


def _shape_text(shape: Sequence[Dim]) -> str:
    """Such as ``(n, f) with n = 1000``."""
    words = [dim[0] if isinstance(dim, tuple) else str(dim) for dim in shape]
    sizes = {f"{dim[0]} = {dim[1]}" for dim in shape if isinstance(dim, tuple)}
    text = f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"
    return f"{text} with {', '.join(sorted(sizes))}" if sizes else text


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _is_compact(array: NDArray[Any]) -> bool:
    flags, dtype = array.flags, array.dtype
    if not (flags.c_contiguous and flags.aligned and dtype.isnative):
        return False
    # `aligned` speaks of the C type; a complex number needs only the alignment of its halves there.
    return dtype.alignment == dtype.itemsize or _address(array) % dtype.itemsize == 0


def _canonical_strides(array: NDArray[Any]) -> NDArray[Any]:
    """The same elements with row-major strides, also where a dimension has 0 or 1 of them."""
    if 0 not in array.shape and 1 not in array.shape:
        return array  # nothing but row-major strides is contiguous
    if array.strides == row_major(array.shape, array.dtype.itemsize):
        return array
    if array.size == 0:
        return aligned_empty(array.shape, array.dtype)
    return array.reshape(-1).reshape(array.shape)


def compact(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself or one copy of it: C order, native bytes, address a multiple of the element size."""
    if _is_compact(array):
        return _canonical_strides(array)
    copy = aligned_empty(array.shape, array.dtype.newbyteorder("="))
    np.copyto(copy, array)
    return copy


def _check_writable(
    target: NDArray[Any], shape: tuple[int, ...], dtype: np.dtype[Any], name: str, at: str
) -> None:
    if target.shape != shape:
        raise errors.error("ST153", at, f"{name} has shape {target.shape}", f"shape {shape}")
    if not _same_dtype(target.dtype, dtype):
        raise errors.error("ST153", at, f"{name} has dtype {target.dtype}", f"dtype {dtype}")
    if not target.flags.writeable:
        raise errors.error("ST153", at, f"{name} is read-only", "an array that can be written")
    if _may_overlap_itself(target):
        found = f"{name} has strides {target.strides}, by which its elements share memory"
        raise errors.error("ST153", at, found, "an array whose elements lie apart")


def _may_overlap_itself(array: NDArray[Any]) -> bool:
    """False if each dimension steps over all the smaller ones, as every slice of an ordinary array does."""
    reach = array.dtype.itemsize
    if array.size == 0:
        return False
    for stride, size in sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach += stride * (size - 1)
    return False


def _share_memory(a: NDArray[Any], b: NDArray[Any]) -> bool:
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=_OVERLAP_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
