"""The conformance suite of the language: every program, in every way of running it.

The programs stand beside the repository (``../shared/cases/laws``, its README says what the fields mean);
without them this module is skipped.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm_ffi
from numpy.typing import NDArray

import sparse_tir as st
from sparse_tir import errors
from sparse_tir import script as S

FILE = pathlib.Path(__file__).parents[2].parent / "shared" / "cases" / "laws" / "laws.json"
if not FILE.is_file():
    pytest.skip(f"the conformance suite is not there: no {FILE}", allow_module_level=True)
PROGRAMS: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["programs"]

#: Programs with something that this version lacks, and the refusal that says so. ST210 and ST203: when it is
#: parsed; ST421: when it is lowered, while the interpreter gives the values. A program that starts to work
#: must leave the table.
NOT_YET = {
    "coo-scatter-as-reduction": "ST210",  # S.singleton
    "coo-scatter-as-spatial": "ST210",  # S.singleton
    "coo-sddmm": "ST210",  # S.singleton
    "row-softmax": "ST210",  # S.alloc_sparse_buffer
    "fused-sddmm-on-a-row-slice": "ST210",  # S.fuse
    "fuse-of-a-non-adjacent-pair": "ST210",  # S.fuse
    "hypergraph-with-cyclic-incidence": "ST210",  # S.attach
    "ragged-batched-matmul-one-batch": "ST203",  # two variable axes under one parent
    "float16-hub-row": "ST421",  # narrow accumulators
}
TOKENS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


def numbers(data: list[Any], dtype: str, shape: list[int] | int = -1) -> NDArray[Any]:
    return np.array([TOKENS.get(x, x) if isinstance(x, str) else x for x in data], dtype).reshape(shape)


def fresh_arguments(program: dict[str, Any]) -> list[Any]:
    entries = program["arguments"]
    return [e if isinstance(e, int) else numbers(e["data"], e["dtype"], e["shape"]) for e in entries]


def parameter_names(program: dict[str, Any]) -> list[str]:
    head = re.search(r"def \w+\((.*?)\):", program["script"], re.DOTALL)
    assert head is not None
    return [parameter.partition(":")[0].strip() for parameter in head[1].split(",")]


def check_values(program: dict[str, Any], call: Callable[..., Any]) -> None:
    """The outputs are what the laws give, and nothing else changes, in two calls with fresh copies."""
    for _ in range(2):
        arguments = fresh_arguments(program)
        call(*arguments)
        for name, after, before in zip(
            parameter_names(program), arguments, fresh_arguments(program), strict=True
        ):
            if name in program["outputs"]:
                wanted = numbers(program["expect"]["values"][name], str(after.dtype))
                np.testing.assert_allclose(
                    after.ravel(), wanted, rtol=program.get("rtol", 0), atol=0, err_msg=name
                )
            elif isinstance(after, np.ndarray):
                assert after.tobytes() == before.tobytes(), f"{name} is not an output and has changed"


def check_refusal(error: errors.SparseTIRError, program: dict[str, Any]) -> None:
    """The program is refused for what it does, by an error of that law alone."""
    assert error.code[2] in "24", error
    assert error.code not in ("ST210", "ST421"), error
    if program["law"].isdigit():
        assert errors.CODES[error.code].startswith(f"law {program['law']}:"), error


def check_code(call: Callable[[], Any], code: str) -> None:
    with pytest.raises(errors.SparseTIRError) as caught:
        call()
    assert caught.value.code == code, caught.value


@pytest.mark.parametrize("program", PROGRAMS, ids=[program["id"] for program in PROGRAMS])
def test_the_program_means_what_the_laws_say(program: dict[str, Any]) -> None:
    missing = NOT_YET.get(program["id"])
    if missing in ("ST210", "ST203"):
        check_code(lambda: st.from_source(program["script"]), missing)
        return
    if "refused" in program["expect"]:
        with pytest.raises(errors.SparseTIRError) as caught:
            st.from_source(program["script"])
        check_refusal(caught.value, program)
        return
    func = st.from_source(program["script"])
    assert tvm_ffi.structural_equal(st.from_source(S.script(func)), func), S.script(func)
    check_values(program, lambda *arguments: st.interpret(func, *arguments))
    if missing is not None:
        for stage in ("position", "loop"):
            check_code(lambda stage=stage: st.lower(func, stage), missing)
        check_code(lambda: st.compile(func), missing)
        return
    for stage in ("position", "loop"):
        module = st.lower(func, stage)
        check_values(program, lambda *arguments, module=module: st.interpret(module, *arguments))
    check_values(program, st.compile(func))


def test_every_program_that_is_not_yet_possible_is_in_the_suite() -> None:
    assert NOT_YET.keys() <= {program["id"] for program in PROGRAMS}
