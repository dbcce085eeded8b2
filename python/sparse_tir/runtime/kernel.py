"""`Kernel`: a compiled program, called with the arrays of any library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import errors
from .operands import as_input, as_output, compact, kernel_view
from .signature import AxisCheck, Parameter, Signature, evaluate, extent_text
from .structure import check_declared, validate_indices, validate_indptr


class Kernel:
    """A compiled program. Make one with `compile`, or `load` a saved one.

    Calling it checks every argument, and copies those that compiled code cannot take (strided, misaligned, foreign
    byte order); outputs are written in place. Arguments are given in the order of the program's parameters or by
    name; integers that the shapes determine may be left out.

    Attributes
    ----------
    name : str
    signature : Signature
        Parameters: names, dtypes, shapes, which are written.
    metadata : dict
        Versions, target and signature, as `save` writes them.
    entry : callable
        The compiled function itself, for arguments that are known to be right: it checks dtypes and shapes, assumes
        row-major arrays whose addresses are multiples of their element size, and trusts structure arrays.
    """

    def __init__(
        self,
        name: str,
        signature: Signature,
        entry: Callable[..., Any],
        library: Any,
        metadata: Mapping[str, Any],
    ) -> None:
        if not isinstance(signature, Signature):
            found = f"a signature of type {type(signature).__name__}"
            raise errors.error(
                "ST159", "st.Kernel", found, "a Signature", "make kernels with st.compile or st.load"
            )
        self.name = name
        self.signature = signature
        self.entry = entry
        self.metadata = dict(metadata)
        self._library = library
        self._sizes = signature.sizes

    def __repr__(self) -> str:
        params = ", ".join(p.name for p in self.signature.parameters)
        return f"Kernel({self.name}({params}), target={self.metadata['target']['kind']!r})"

    def __call__(self, *args: Any, policy: str = "validate", **kwargs: Any) -> None:
        """Run the kernel; outputs are written in place.

        Parameters
        ----------
        *args, **kwargs
            NumPy, torch or DLPack arrays on the CPU, and integers.
        policy : {"validate", "trust"}
            Whether structure arrays are checked. Wrong arrays are undefined behaviour under ``"trust"``.

        Raises
        ------
        DataError
            ST102 to ST108 for structure arrays, ST109 policy, ST150 to ST158 for arguments.
        """
        if not isinstance(policy, str) or policy not in ("validate", "trust"):
            raise errors.error("ST109", self.name, repr(policy), "'validate' or 'trust'")
        given = self._by_name(args, kwargs)
        arrays = {
            p.name: as_input(given[p.name], p.dtype, name=p.name, where=self.name) for p in self._inputs()
        }
        scalars = self._scalars(given, arrays)
        finish = self._outputs(given, arrays, scalars)
        for parameter in self.signature.arrays:
            arrays[parameter.name] = self._shaped(parameter, arrays[parameter.name], scalars)
        if policy == "validate":
            for axis in self.signature.axes:
                check_axis(axis, arrays, scalars, self.name)
        outputs = {p.name for p in self.signature.arrays if p.is_output}
        values: list[Any] = []
        for parameter in self.signature.parameters:
            if parameter.shape is None:
                values.append(scalars[parameter.name])
            else:
                array = arrays[parameter.name]
                values.append(array if parameter.name in outputs else kernel_view(array))
        self.entry(*values)
        for copy_back in finish:
            copy_back()

    def save(self, path: str | Path) -> Path:
        """Write the kernel to ``path`` (a shared library, by habit ``*.so``) and its metadata beside it.

        Returns the path of the library. Needs a C++ compiler for linking.

        Raises
        ------
        BuildError
            ST516 if it cannot be written.
        """
        from .artifact import save_kernel  # writes what this class holds

        return save_kernel(self, path)

    @property
    def library(self) -> Any:
        """The compiled module of TVM."""
        return self._library

    def _inputs(self) -> list[Parameter]:
        return [p for p in self.signature.arrays if not p.is_output]

    def _by_name(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        names = [p.name for p in self.signature.parameters]
        if len(args) > len(names):
            raise errors.error(
                "ST157", self.name, f"{len(args)} arguments", f"at most {len(names)}: {', '.join(names)}"
            )
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names or name in given:
                found = f"{name!r} given twice" if name in given else f"an argument {name!r}"
                raise errors.error("ST157", self.name, found, ", ".join(names))
            given[name] = value
        missing = [p.name for p in self.signature.arrays if p.name not in given]
        if missing:
            raise errors.error("ST157", self.name, f"no {', '.join(missing)}", ", ".join(names))
        return given

    def _scalars(self, given: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        scalars: dict[str, Any] = {}
        for parameter in self.signature.scalars:
            value = given.get(parameter.name)
            if value is None:
                value = self._from_shapes(parameter.name, given, arrays)
            scalars[parameter.name] = self._scalar(parameter, value)
        return scalars

    def _scalar(self, parameter: Parameter, value: Any) -> Any:
        kind = np.dtype(parameter.dtype).kind
        if kind == "b" and isinstance(value, bool | np.bool_):
            return bool(value)
        if kind == "f" and isinstance(value, int | float | np.integer | np.floating):
            return float(value)
        is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
        expected = f"a {parameter.dtype}"
        if kind in "iu":
            limits = np.iinfo(parameter.dtype)
            least = 0 if parameter.name in self._sizes else limits.min
            expected = f"an integer from {least} to {limits.max}"
            if is_integer and least <= value <= limits.max:
                return int(value)
        raise errors.error(
            "ST158", f"{self.name}: {parameter.name}", f"{parameter.name} = {value!r}", expected
        )

    def _from_shapes(self, name: str, given: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> int:
        for parameter in self.signature.arrays:
            array = arrays.get(parameter.name, given[parameter.name])
            shape = tuple(getattr(array, "shape", ()))
            for extent, size in zip(parameter.shape or (), shape, strict=False):
                if len(shape) == len(parameter.shape or ()) and extent == name:
                    return int(size)
                if len(shape) == len(parameter.shape or ()) and extent == ["+", name, 1]:
                    return int(size) - 1
        raise errors.error("ST157", self.name, f"no {name}, which no shape determines", f"an integer {name}")

    def _outputs(
        self, given: Mapping[str, Any], arrays: dict[str, NDArray[Any]], scalars: Mapping[str, Any]
    ) -> list[Callable[[], None]]:
        """Adds the outputs to ``arrays``; returns what brings results into the user's arrays."""
        finish = []
        for parameter in (p for p in self.signature.arrays if p.is_output):
            shape = tuple(evaluate(e, scalars) for e in parameter.shape or ())
            out = given[parameter.name]
            if out is None:  # which would mean a fresh array, that nobody sees
                hint = f"pass an array that receives the result, such as st.aligned_empty({shape}, {parameter.dtype!r})"
                raise errors.error(
                    "ST150", f"{self.name}: {parameter.name}", "None", "an array to write", hint
                )
            flat = (int(np.prod(shape, dtype=object)),)
            shape = flat if tuple(getattr(out, "shape", ())) == flat else shape
            array, copy_back = as_output(
                out, shape, parameter.dtype, where=self.name, name=parameter.name, operands=arrays
            )
            arrays[parameter.name] = array
            if copy_back is not None:
                finish.append(copy_back)
        return finish

    def _shaped(self, parameter: Parameter, array: NDArray[Any], scalars: Mapping[str, Any]) -> NDArray[Any]:
        shape = tuple(evaluate(e, scalars) for e in parameter.shape or ())
        if array.shape == shape:
            return array
        if array.ndim == 1 and array.size == np.prod(shape, dtype=object):
            return compact(array.reshape(shape))
        letters = ", ".join(extent_text(e) for e in parameter.shape or ())
        found = f"{parameter.name} has shape {array.shape}"
        code = "ST102" if parameter.is_structure else "ST151"
        raise errors.error(code, f"{self.name}: {parameter.name}", found, f"shape {shape} ({letters})")


def check_axis(
    axis: AxisCheck, arrays: Mapping[str, NDArray[Any]], scalars: Mapping[str, Any], where: str
) -> None:
    """Refuses structure arrays that are not what the axis declares (ST102 to ST105, ST108)."""
    n_parents, nnz, length = (evaluate(e, scalars) for e in (axis.n_parents, axis.nnz, axis.length))
    if axis.indptr is not None:
        indptr = validate_indptr(arrays[axis.indptr], n_parents, nnz, where, name=axis.indptr, parent="row")
        longest = int(np.diff(indptr).max(initial=0))
        if axis.indices is None and longest > length:
            found = f"a row of {longest} entries"
            raise errors.error("ST105", f"{where}.{axis.indptr}", found, f"rows of at most {length} entries")
    else:
        width = evaluate(axis.width, scalars)
        indptr = np.arange(n_parents + 1, dtype=np.int64) * width
    if axis.indices is not None:
        is_padded = axis.width is not None
        indices = validate_indices(
            arrays[axis.indices],
            length,
            where,
            is_padded,
            name=axis.indices,
            what=axis.name,
            start=int(indptr[0]),
        )
        check_declared(
            indptr,
            indices,
            where,
            is_sorted=axis.sorted,
            is_unique=axis.unique,
            padding=length if is_padded else None,
            name=axis.indices,
        )
