"""ST900: internal error."""

from __future__ import annotations

from tvm.script import tirx as T

import sparse_tir as st

#: What the message must mention.
NAMES = ("interpret",)


@T.prim_func
def foreign(x: T.Buffer((1,), "float32")):
    x[0] = T.call_extern("float32", "sinf", x[0])


def wrong() -> None:
    import numpy as np

    st.interpret(foreign, np.ones(1, "float32"))
