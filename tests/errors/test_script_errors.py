"""ST20x and ST210: one text for each way to be wrong; the message names the object and shows the line."""

from __future__ import annotations

import pytest
from refusals import caught_place, check_place, check_refusal, program, refusal

import sparse_tir as st
from sparse_tir import script as S

COPY = 'with S.iter([I], "S", "copy") as [i]:\n    Y[i] = W[i]\n'


def declare(line: str, handles: str = "q p") -> str:
    """A program that is right but for one declaration."""
    return program(COPY, more=line + "\n", handles=handles)


def iterate(header: str, statement: str = "Y[i] = W[i]") -> str:
    """A program that is right but for the head of its iteration."""
    return program(f"{header}\n    {statement}\n")


def state(*lines: str) -> str:
    """A program with these statements in an iteration ``rows`` over I."""
    return program('with S.iter([I], "S", "rows") as [i]:\n' + "".join(f"    {line}\n" for line in lines))


#: name -> (code, what the message mentions, what stands above the caret, program)
WRONG = {
    "an unknown name": ("ST201", ["Undefined variable: Q"], "Y[i] = Q", state("Y[i] = Q[i]")),
    "an unknown construct": ("ST201", ["no attribute 'foo'"], "S.foo", declare("S.foo(m)")),
    "a name that is bound twice": (
        "ST201",
        ["I already defined"],
        "I = S.dense",
        declare("I = S.dense_fixed(n)"),
    ),
    "a subscript of a structure array": ("ST201", ["subscript"], "indptr[i]", state("Y[i] = indptr[i]")),
    "a subscript too many": ("ST212", ["Y with 2 subscripts"], "Y[i, i]", state("Y[i, i] = W[i]")),
    "two inits": (
        "ST201",
        ["Duplicate block init"],
        "with S.init()",
        state("with S.init():", "    Y[i] = 0.0", "with S.init():", "    Y[i] = 1.0", "Y[i] = Y[i] + W[i]"),
    ),
    "an idtype that is no index": (
        "ST202",
        ["idtype", "'int16'"],
        "S.dense_fixed(m,",
        declare('B = S.dense_fixed(m, "int16")'),
    ),
    "a negative length": (
        "ST202",
        ["S.dense_fixed: extent", "-1"],
        "S.dense_fixed(-1)",
        declare("B = S.dense_fixed(-1)"),
    ),
    "a length that is a fraction": (
        "ST202",
        ["extent", "2.5"],
        "S.dense_fixed(2.5)",
        declare("B = S.dense_fixed(2.5)"),
    ),
    "a length that is a truth value": (
        "ST202",
        ["extent", "True"],
        "S.dense_fixed(True)",
        declare("B = S.dense_fixed(True)"),
    ),
    "a length that is a buffer": ("ST202", ["extent"], "S.dense_fixed(W)", declare("B = S.dense_fixed(W)")),
    "a parent that is no axis": (
        "ST202",
        ["S.sparse_variable: parent", "None"],
        "S.sparse_variable",
        declare("B = S.sparse_variable(None, (n, nnz), (q, p))"),
    ),
    "a ragged axis without parent": (
        "ST202",
        ["S.dense_variable: parent"],
        "S.dense_variable",
        declare("B = S.dense_variable(None, (n, nnz), q)"),
    ),
    "one extent where two belong": (
        "ST202",
        ["S.sparse_fixed", "a pair (length, width)"],
        "S.sparse_fixed",
        declare("B = S.sparse_fixed(I, n, q)"),
    ),
    "one array where two belong": (
        "ST202",
        ["a pair (indptr, indices)"],
        "S.sparse_variable",
        declare("B = S.sparse_variable(I, (n, nnz), q)"),
    ),
    "a structure array that is no parameter": (
        "ST202",
        ["S.dense_variable", "as a structure array"],
        "S.dense_variable",
        declare("B = S.dense_variable(I, (n, nnz), 3)"),
    ),
    "an iteration over something else": (
        "ST202",
        ["'rows'", "'I'"],
        "S.iter",
        iterate('with S.iter(["I"], "S", "rows") as [i]:'),
    ),
    "a buffer without axes": (
        "ST203",
        ["axes"],
        "S.match_sparse_buffer",
        declare('Q = S.match_sparse_buffer(q, (), "float32")'),
    ),
    "a buffer over a number": (
        "ST203",
        ["axes"],
        "S.match_sparse_buffer",
        declare('Q = S.match_sparse_buffer(q, (I, 3), "float32")'),
    ),
    "a handle that is matched twice": (
        "ST203",
        ["`y` matched twice"],
        "S.match_sparse_buffer",
        declare('Q = S.match_sparse_buffer(y, (I,), "float32")'),
    ),
    "a structure array matched as values": (
        "ST203",
        ["`indices` matched twice"],
        "S.match_sparse_buffer",
        declare('Q = S.match_sparse_buffer(indices, (D,), "int32")'),
    ),
    "a buffer for no parameter": (
        "ST203",
        ["S.match_sparse_buffer", "T.handle"],
        "S.match_sparse_buffer",
        declare('Q = S.match_sparse_buffer("q", (I,), "float32")'),
    ),
    "a default that is no constant": (
        "ST203",
        ["default"],
        "S.match_sparse_buffer",
        declare('Q = S.match_sparse_buffer(q, (I,), "int32", default=m + 1)'),
    ),
    "a child without its parent": (
        "ST203",
        ["axis `J` without its parent axis `I`"],
        "S.match_sparse_buffer",
        declare('Q = S.match_sparse_buffer(q, (J,), "float32")'),
    ),
    "a child before its parent": (
        "ST203",
        ["axis `J` without its parent axis `I`"],
        "S.match_sparse_buffer",
        declare('Q = S.match_sparse_buffer(q, (J, I), "float32")'),
    ),
    "an axis twice in a buffer": (
        "ST203",
        ["axis `I` twice"],
        "S.match_sparse_buffer",
        declare('Q = S.match_sparse_buffer(q, (I, I), "float32")'),
    ),
    "a variable axis apart from its parent": (
        "ST203",
        ["variable axis `J` separated"],
        "S.match_sparse_buffer",
        declare('Q = S.match_sparse_buffer(q, (I, D, J), "float32")'),
    ),
    "letters too few": (
        "ST204",
        ["'rows'", "2 axes", "'S'"],
        "S.iter",
        iterate('with S.iter([I, J], "S", "rows") as [i, j]:'),
    ),
    "letters too many": (
        "ST204",
        ["'rows'", "1 axes", "'SR'"],
        "S.iter",
        iterate('with S.iter([I], "SR", "rows") as [i]:'),
    ),
    "kinds that are no text": (
        "ST204",
        ["'rows'", "1 axes"],
        "S.iter",
        iterate('with S.iter([I], 1, "rows") as [i]:'),
    ),
    "an iterator of TVM's own": (
        "ST204",
        ["rows", "1 axes"],
        "with S.iter",
        state("k = T.axis.spatial(4, 0)", "Y[i] = W[i]"),
    ),
    "an unknown letter": (
        "ST205",
        ["'rows'", "'X'"],
        "S.iter",
        iterate('with S.iter([I], "X", "rows") as [i]:'),
    ),
    "a small letter": (
        "ST205",
        ["'rows'", "'s'"],
        "S.iter",
        iterate('with S.iter([I], "s", "rows") as [i]:'),
    ),
    "an axis twice": (
        "ST206",
        ["'rows'", "axis `I` twice"],
        "S.iter",
        iterate('with S.iter([I, I], "SS", "rows") as [i, k]:'),
    ),
    "an axis again in an inner iteration": (
        "ST206",
        ["inner", "axis `I` twice"],
        "with S.iter",
        state('with S.iter([I], "S", "inner") as [k]:', "    Y[k] = W[k]"),
    ),
    "an iteration over a child alone": (
        "ST207",
        ["rows", "axis `J` without its parent axis `I`"],
        "with S.iter",
        iterate('with S.iter([J], "R", "rows") as [j]:', "Y[0] = Y[0] + X[j]"),
    ),
    "an iteration over a child first": (
        "ST207",
        ["rows", "axis `J` without its parent axis `I`"],
        "with S.iter",
        iterate('with S.iter([J, I], "RS", "rows") as [j, i]:', "Y[i] = Y[i] + X[j]"),
    ),
    "a parent of a sibling": (
        "ST207",
        ["second", "axis `J` without its parent axis `I`"],
        "with S.iter",
        program(COPY + 'with S.iter([J], "R", "second") as [j]:\n    Y[0] = Y[0] + X[j]\n'),
    ),
    "a declaration after an iteration": (
        "ST208",
        ["S.dense_fixed", "a declaration after an iteration"],
        "S.dense_fixed",
        program(COPY + "B = S.dense_fixed(m)\n"),
    ),
    "a declaration in an iteration": (
        "ST208",
        ["S.match_sparse_buffer"],
        "S.match_sparse_buffer",
        program(COPY + '    Q = S.match_sparse_buffer(q, (I,), "float32")\n', handles="q"),
    ),
    "a loop in an iteration": (
        "ST208",
        ["rows", "a loop (for)"],
        "for k",
        state("for k in T.serial(2):", "    Y[i] = W[i]"),
    ),
    "a branch in an iteration": (
        "ST208",
        ["rows", "a branch (if)"],
        "if i > 1",
        state("if i > 1:", "    Y[i] = W[i]"),
    ),
    "a local name in an iteration": (
        "ST208",
        ["rows", "a local name"],
        "t = W",
        state("t = W[i]", "Y[i] = t * t"),
    ),
    "an iteration without statements": ("ST208", ["rows", "assigns nothing"], "with S.iter", state("pass")),
    "a call as a statement": ("ST208", ["rows", "assigns nothing"], "with S.iter", state("T.evaluate(0)")),
    "a condition of TVM's own": (
        "ST208",
        ["rows", "T.where"],
        "with S.iter",
        state("T.where(i < 2)", "Y[i] = W[i]"),
    ),
    "an annotation of TVM's own": (
        "ST208",
        ["rows", "annotation `key`"],
        "with S.iter",
        state('T.sblock_attr({"key": 1})', "Y[i] = W[i]"),
    ),
    "an allocation of TVM's own": (
        "ST208",
        ["rows", "an allocation"],
        "with S.iter",
        state('t = T.sblock_alloc_buffer((1,), "float32")', "Y[i] = W[i]"),
    ),
    "a block of TVM's own": (
        "ST208",
        ["rows", "a block"],
        "with T.sblock",
        state('with T.sblock("b"):', "    Y[i] = W[i]"),
    ),
    "an iteration in an init": (
        "ST208",
        ["rows", "an init with a block"],
        "with S.iter",
        state(
            "with S.init():",
            '    with S.iter([D], "S", "inner") as [d]:',
            "        Y[i] = X[d]",
            "Y[i] = Y[i] + W[i]",
        ),
    ),
    "a statement outside of iterations": (
        "ST208",
        ["an assignment outside of an iteration"],
        "Y[0]",
        program("Y[0] = 1.0\n"),
    ),
    "a loop around iterations": (
        "ST208",
        ["a loop (for) outside"],
        "for k",
        program('for k in range(3):\n    with S.iter([I], "S", "rows") as [i]:\n        Y[i] = W[i]\n'),
    ),
    "a function that returns": ("ST208", ["a return"], "return", program(COPY + "return 1\n")),
    "S.singleton": ("ST210", ["S.singleton"], "S.singleton", declare("B = S.singleton(I, n, q)")),
    "S.alloc_sparse_buffer": (
        "ST210",
        ["S.alloc_sparse_buffer"],
        "S.alloc",
        declare('Q = S.alloc_sparse_buffer((I,), "float32", "global")'),
    ),
    "S.attach": (
        "ST210",
        ["S.attach"],
        "S.attach",
        iterate('with S.iter([S.attach(I, D)], "S", "rows") as [i]:'),
    ),
    "S.fuse": (
        "ST210",
        ["S.fuse"],
        "S.fuse",
        iterate('with S.iter([S.fuse(I, J)], "SS", "rows") as [i, j]:'),
    ),
    "S.combiner": (
        "ST210",
        ["S.combiner"],
        "S.combiner",
        declare("f = S.combiner(lambda u, v: u + v, identity=0)"),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_text_is_refused_at_its_line(name: str) -> None:
    code, mentions, marked, text = WRONG[name]
    error = refusal(lambda: st.from_source(text))
    check_refusal(error, code, *mentions)
    check_place(error, text, marked)


def test_the_programs_around_the_mistakes_are_right() -> None:
    for text in (
        declare("B = S.dense_fixed(m)"),
        iterate('with S.iter([I], "S", "rows") as [i]:'),
        state("Y[i] = W[i]"),
    ):
        st.from_source(text)


@pytest.mark.parametrize(
    "name", ["dense_fixed", "dense_variable", "sparse_fixed", "sparse_variable", "match_sparse_buffer"]
)
def test_a_declaration_outside_of_a_function_is_refused(name: str) -> None:
    constructor = getattr(S, name)
    error = refusal(lambda: constructor(*[None] * (1 if name == "dense_fixed" else 3)))
    check_refusal(error, "ST208", f"S.{name}", "outside of @S.prim_func")


def test_a_function_without_iterations_is_refused() -> None:
    text = program("pass\n")
    error = refusal(lambda: st.from_source(text))
    check_refusal(error, "ST208", "outside of an iteration")
    check_place(error, text, "def main(")


def test_an_iteration_outside_of_a_function_is_refused() -> None:
    check_refusal(refusal(lambda: S.iter([], "")), "ST208", "S.iter")


def test_a_mistake_in_a_file_is_shown_with_the_file_and_the_indented_line() -> None:
    from tvm.script import tirx as T

    def define() -> None:
        @S.prim_func
        def misspelt(x: T.handle, m: T.int32):
            I = S.dense_fixed(m, "int16")  # here
            X = S.match_sparse_buffer(x, (I,), "float32")
            with S.iter([I], "S", "rows") as [i]:
                X[i] = T.float32(1)

    error = refusal(define)
    check_refusal(error, "ST202", "'int16'")
    with open(__file__, encoding="utf-8") as file:
        line = next(n for n, text in enumerate(file, 1) if text.rstrip().endswith('"int16")  # here'))
    assert f"  at:       {__file__}:{line}:" in str(error)
    assert caught_place(str(error)).startswith("S.dense_fixed(m")
