"""A small graph, and the command line in this process and in another one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from cli_cases import FEAT
from click.testing import CliRunner

import sparse_tir
from sparse_tir.cli import main
from sparse_tir.io.generate import power_law_graph


@pytest.fixture(autouse=True)
def _threads(monkeypatch):
    monkeypatch.setenv("TVM_NUM_THREADS", "1")  # commands set it; the one before comes back afterwards


@pytest.fixture(scope="session")
def graph(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "graph.npz"
    sp.save_npz(path, power_law_graph(500, 3000, seed=1))
    return path


@pytest.fixture(scope="session")
def checksum(graph) -> float:
    matrix = sp.load_npz(graph)
    operand = np.random.default_rng(0).random((matrix.shape[1], FEAT), np.float32)
    return float((matrix @ operand).sum(dtype=np.float64))


@pytest.fixture
def call():
    """``call(*arguments)``: the command in this process; its result has exit_code, stdout and stderr."""
    return lambda *arguments: CliRunner().invoke(main, [str(x) for x in arguments])


@pytest.fixture
def call_json(call):
    """The one JSON object of a command that succeeds."""

    def run(*arguments):
        result = call(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return run


@pytest.fixture
def spawn():
    """The command in a process of its own: ``spawn(*arguments)`` is a `subprocess.CompletedProcess`."""
    root = Path(sparse_tir.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}

    def run(*arguments):
        command = [sys.executable, "-m", "sparse_tir.cli", *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return run
