"""`verify`: the laws of the language that can be checked before data is seen."""

from __future__ import annotations

import tvm
from tvm_ffi import get_global_func

from .. import _base, errors


def verify(func: tvm.tirx.PrimFunc) -> None:
    """Refuse a program that breaks a law of the language.

    Every pass that takes a program of the coordinate stage calls this first; `script.prim_func` calls it when a
    function has been parsed.

    Parameters
    ----------
    func : PrimFunc
        A function with sparse iterations.

    Raises
    ------
    LegalityError
        ST401 to ST411: the law that is broken, the iteration, what was found and what to do.
    ScriptError
        ST202 to ST209: an axis, a buffer or an iteration is declared wrongly.
    DataError
        ST159: it is no function.
    """
    if not isinstance(func, tvm.tirx.PrimFunc):
        found = f"a {type(func).__name__}"
        raise errors.error("ST159", "st.verify(func)", found, "a function under @S.prim_func")
    get_global_func("sparse_tir.analysis.verify")(func)


_ = _base.LIBRARY  # the verifier lives in the compiled library
