"""What happens before TVM is imported: the measuring process, PyTorch, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest

from sparse_tir._interrupts import interrupts_wait, one_interrupt
from sparse_tir._without_torch import without_torch
from sparse_tir.tuning import launch


def python(program, *path, **variables):
    """What a program prints in a process of its own."""
    environment = {
        **os.environ,
        **variables,
        "PYTHONPATH": os.pathsep.join([*map(str, path), *filter(None, sys.path)]),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_process_that_starts_early_is_taken_by_a_job_with_as_many_threads():
    with launch.started_early(1):
        assert launch.take(2) is None
        child = launch.take(1)
        assert child is not None
        assert launch.take(1) is None
    assert child.wait(0) == 0  # it runs: who takes it ends it
    child.stop()


def test_a_process_that_nobody_takes_ends_with_its_block():
    with launch.started_early(1):
        (child,) = psutil.Process().children()
    assert not child.is_running()
    assert launch.take(1) is None


def test_it_is_started_without_tvm():
    heavy = "{'tvm', 'tvm_ffi', 'numpy', 'torch'}"
    assert (
        python(f"import sys; from sparse_tir.tuning import launch; print({heavy} & set(sys.modules))")
        == "set()\n"
    )


def test_torch_is_neither_imported_with_tvm_nor_hidden_afterwards(tmp_path):
    (tmp_path / "torch.py").write_text("raise SystemExit('imported')")
    program = (
        "import sys; from sparse_tir.cli import options; options.import_tvm(); import tvm\n"
        "print('torch' in sys.modules)\n"
        "try: import torch\n"
        "except SystemExit as found: print(found)\n"
    )
    assert python(program, tmp_path) == "False\nimported\n"


def test_a_torch_that_is_there_already_stays(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", sys)
    with without_torch():
        assert sys.modules["torch"] is sys
    assert sys.modules["torch"] is sys


@pytest.fixture
def interrupts():
    """Python's own handler, as on a terminal: the workers of pytest-xdist ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_waits_for_the_end_of_the_block():
    seen = []

    def work():
        with interrupts_wait():
            signal.raise_signal(signal.SIGINT)
            seen.append("inside")
        seen.append("after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert seen == ["inside"]


@pytest.mark.usefixtures("interrupts")
def test_only_the_first_interrupt_counts_and_the_handler_comes_back():
    before = signal.getsignal(signal.SIGINT)
    seen = []
    with one_interrupt():
        try:
            with interrupts_wait():
                signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)
            seen.append("saved")
    assert seen == ["saved"]
    assert signal.getsignal(signal.SIGINT) is before
