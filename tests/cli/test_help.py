"""Help: quick, and with examples that parse."""

from __future__ import annotations

import shlex
import subprocess
import sys

import click
import pytest

from sparse_tir.cli import main, options
from sparse_tir.tuning import OPERATORS

COMMANDS = sorted(main.commands)


def test_there_is_one_command_per_task():
    assert COMMANDS == ["env", "lower", "make-graph", "report", "run", "tune"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_json(name, call):
    result = call(name, "--help")
    assert result.exit_code == 0
    assert "Example:" in result.stdout
    assert "--json" in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_the_help_parse(name):
    lines = main.commands[name].help.replace("\b", "").split("Example:")[1].strip().splitlines()
    for line in lines:
        program, command, *arguments = shlex.split(line)
        assert (program, command) == ("sparse-tir", name)
        main.commands[name].make_context(command, arguments)  # raises click.UsageError otherwise


def test_an_example_that_does_not_parse_would_be_found():
    with pytest.raises(click.UsageError):
        main.commands["run"].make_context("run", ["spmm", "graph.npz", "--features", "64"])


def test_help_does_not_import_tvm():
    program = (
        "import sys\n"
        "from sparse_tir.cli import main\n"
        "for words in ([], ['tune']):\n"
        "    main([*words, '--help'], standalone_mode=False)\n"
        "heavy = {'tvm', 'tvm_ffi', 'numpy', 'scipy', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)\n"
    )
    path = [entry for entry in sys.path if entry]
    code = f"import sys; sys.path[:0] = {path!r}\n{program}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "Find and save a fast kernel" in result.stdout


def test_the_operators_are_those_that_can_be_tuned():
    assert set(options.OPERATORS) == set(OPERATORS)


def test_the_version_is_that_of_the_package(call):
    import sparse_tir

    assert sparse_tir.__version__ in call("--version").stdout
