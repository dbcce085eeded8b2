"""`interpret`: runs a function of any stage by what its stage means."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tvm
from numpy.typing import NDArray
from tvm.ir import Var
from tvm.tirx import PrimFunc, is_buffer_var

from .. import errors
from ..ir import Axis, SparseBuffer, iterations, names
from ..ir.verify import verify
from .arguments import Parameter, bind_arguments, written_buffers
from .axes import AxisBinder, storage_dims
from .coordinate import CoordinateInterpreter
from .expressions import identity
from .position import PositionInterpreter


class OutOfRangeWriteWarning(UserWarning):
    """Law 3: a program wrote outside the range of an axis; the writes were not performed."""


def interpret(func: PrimFunc | tvm.IRModule, /, *args: Any, **kwargs: Any) -> dict[str, NDArray[Any]]:
    """Run a function of any stage in pure Python, and write its outputs in place like a compiled kernel.

    A function of the coordinate stage is run by the laws of the language, one of the position stage by what
    its blocks mean (an init means once per iteration, before its loops), one without a stage as TVM means it.
    Slow: for small arrays, to see what a program does and to check what compiled code computes.

    Parameters
    ----------
    func : PrimFunc or IRModule with one function
    *args, **kwargs
        One argument per parameter, in order or by name: a NumPy array for a buffer, a number for a scalar.
        The name of a sparse buffer's parameter is that of the buffer (``A``); if no parameter has exactly the
        name that is given, the only buffer parameter whose name differs in case alone is meant (``a``, the
        handle). A value array has one dimension per dense or fixed-width axis and one per chain of variable
        axes (CSR ``(nnz,)``, BSR ``(nnzb, b, b)``, ELL ``(m, width)``), or is a flat array of that size.
        Outputs keep what is not written.

    Returns
    -------
    dict
        Name -> the array that was passed, for each parameter that the function writes.

    Raises
    ------
    DataError
        ST157, ST150 to ST154 for the arguments; ST102 to ST105 and ST108 for structure arrays that break what
        their axes declare (coordinate stage).
    LegalityError
        ST401 to ST411: the program breaks a law.
    InternalError
        ST900: an access outside of an array at the position stage or later, or an unknown node.

    Warns
    -----
    OutOfRangeWriteWarning
        Writes that were out of range and therefore not performed.

    Examples
    --------
    >>> import numpy as np
    >>> from tvm.script import tirx as T
    >>> from sparse_tir import script as S
    >>> from sparse_tir.interpret import interpret
    >>> double = S.from_source('''
    ... @S.prim_func
    ... def double(x: T.handle, n: T.int32):
    ...     I = S.dense_fixed(n)
    ...     X = S.match_sparse_buffer(x, (I,), "float32")
    ...     with S.iter([I], "S", "double") as [i]:
    ...         X[i] = X[i] * T.float32(2)
    ... ''')
    >>> interpret(double, np.ones(2, "float32"), n=2)
    {'X': array([2., 2.], dtype=float32)}
    """
    func = _single_function(func)
    where = f"interpret({func.attrs.get('global_symbol', 'main')})"
    stage = func.attrs.get(names.STAGE)
    if stage not in (None, names.POSITION_STAGE, names.COORDINATE_STAGE):
        raise errors.error("ST420", where, f"stage {stage!r}", "coordinate, position or none")
    with np.errstate(all="ignore"):
        if stage == names.COORDINATE_STAGE and names.STORAGE not in func.attrs:
            return _run_coordinate(func, where, args, kwargs)
        arguments = bind_arguments(where, _physical_parameters(func), args, kwargs)
        PositionInterpreter(arguments, once_per_iteration=stage is not None).run(func)
    return arguments.outputs


def _single_function(func: Any) -> PrimFunc:
    if not isinstance(func, PrimFunc | tvm.IRModule):
        found = f"a {type(func).__name__}"
        raise errors.error("ST159", "st.interpret(func)", found, "a function under @S.prim_func, or a module")
    functions = list(func.functions.values()) if isinstance(func, tvm.IRModule) else [func]
    if len(functions) != 1 or not isinstance(functions[0], PrimFunc):
        raise errors.error("ST420", "interpret", f"{type(func).__name__}", "a PrimFunc, or a module with one")
    return functions[0]


def _run_coordinate(
    func: PrimFunc, where: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, NDArray[Any]]:
    verify(func)
    buffers = {identity(buffer.buffer): buffer for it in iterations(func) for buffer in it.buffers}
    axes = [iterator.axis for it in iterations(func) for iterator in it.iterators]
    axes += [axis for buffer in buffers.values() for axis in buffer.axes]
    arguments = bind_arguments(where, _coordinate_parameters(func, buffers, axes), args, kwargs)
    binder = AxisBinder(where, arguments.integer, lambda var: arguments.arrays[identity(var)])
    for axis in axes:
        binder.bind(axis)
    interpreter = CoordinateInterpreter(arguments, binder, list(buffers.values()))
    interpreter.run(func)
    if interpreter.out_of_range:
        first, count = next(iter(interpreter.out_of_range)), len(interpreter.out_of_range)
        message = f"{where}: {count} elements out of range were not written, the first is {first} (law 3)"
        warnings.warn(message, OutOfRangeWriteWarning, stacklevel=3)
    return arguments.outputs


def _structure_arrays(axes: Sequence[Axis]) -> set[int]:
    """Identities of the structure arrays of the axes and their ancestors."""
    found: set[int] = set()
    for axis in axes:
        arrays = [getattr(axis, field) for field in ("indptr", "indices") if hasattr(axis, field)]
        found |= {identity(array) for array in arrays}
        found |= _structure_arrays([axis.parent] if axis.parent is not None else [])
    return found


def _coordinate_parameters(
    func: PrimFunc, buffers: Mapping[int, SparseBuffer], axes: Sequence[Axis]
) -> list[Parameter]:
    structure, written = _structure_arrays(axes), written_buffers(func)
    parameters = []
    for var in func.params:
        key = identity(var)
        shape = list(var.ty.shape) if is_buffer_var(var) else None
        if key in buffers:
            shape = [dim.extent for dim in storage_dims(buffers[key].axes)]
        parameters.append(Parameter(var.name, var, shape, key in structure, key in written))
    return parameters


def _physical_parameters(func: PrimFunc) -> list[Parameter]:
    """Parameters as the body knows them: between two steps of lowering, the physical arrays already."""
    physical: dict[int, Var] = {identity(pair[0]): pair[1] for pair in func.attrs.get(names.STORAGE, [])}
    written = written_buffers(func)
    parameters = []
    for declared in func.params:
        var = physical.get(identity(declared), declared)
        shape = list(var.ty.shape) if is_buffer_var(var) else None
        parameters.append(Parameter(declared.name, var, shape, is_written=identity(var) in written))
    return parameters
