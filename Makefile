# Two commands for newcomers: `make run` and `make test`. Two more for contributors: `make lint` and `make docs`.
# Everything lives in a private virtual environment.
PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= test
BIN := $(VENV)/bin
SOURCES := $(shell find src cmake python -type f -not -name '*.pyc') CMakeLists.txt pyproject.toml setup.py
CPP_SOURCES = $(shell find src tests -name '*.cc' -o -name '*.h')

# The matrix that `make run` tunes for; a power-law graph is generated unless you name a file of your own.
GRAPH ?= $(VENV)/graphs/power_law.npz
FEAT ?= 64
TRIALS ?= 32
WORK_DIR ?= work-dir

.PHONY: run setup test test-cpp lint docs bench gpu-check clean
run: $(VENV)/.installed $(GRAPH)
	$(BIN)/sparse-tir tune spmm "$(GRAPH)" --feat $(FEAT) --trials $(TRIALS) --work-dir "$(WORK_DIR)"

setup: $(VENV)/.installed-test $(VENV)/.installed-lint $(VENV)/.installed-docs

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-cpp: $(VENV)/.installed-test
	PATH="$(abspath $(BIN)):$$PATH" PYTHON=$(BIN)/python tests/cpp/run

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/spmm.py --json build/bench/spmm.json --svg build/bench/spmm.svg

# A bundle for a machine with a GPU, and the check itself; GPU_CHECK_ARGS=--dry-run where there is none.
gpu-check: $(VENV)/.installed-test
	$(BIN)/python benchmarks/gpu/export.py build/gpu-check
	$(BIN)/python build/gpu-check/check.py $(GPU_CHECK_ARGS)

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=python $(BIN)/lint-imports --no-logo
	$(BIN)/python tools/check_sizes.py
	$(BIN)/clang-format --dry-run -Werror $(CPP_SOURCES)

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -b html -W --keep-going -n docs docs/_build/html

clean:
	rm -rf "$(VENV)" build docs/_build work-dir

$(VENV)/graphs/power_law.npz: | $(VENV)/.installed
	mkdir -p $(@D)
	$(BIN)/sparse-tir make-graph "$@" --nodes 169343 --edges 1166243

$(VENV)/bin/python:
	$(PYTHON) -m venv "$(VENV)"
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet .
	touch "$@"

$(VENV)/.installed-test: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet ".[$(EXTRAS)]"
	touch "$@" "$(VENV)/.installed"

# The linters read the sources and need no build; the documentation is made from the installed package.
$(VENV)/.installed-lint: $(VENV)/bin/python pyproject.toml
	$(BIN)/python tools/requirements.py lint | xargs -d '\n' $(BIN)/python -m pip install --quiet
	touch "$@"

$(VENV)/.installed-bench: $(VENV)/.installed-test
	$(BIN)/python tools/requirements.py bench | xargs -d '\n' $(BIN)/python -m pip install --quiet
	touch "$@"

$(VENV)/.installed-docs: $(VENV)/.installed-test
	$(BIN)/python tools/requirements.py docs | xargs -d '\n' $(BIN)/python -m pip install --quiet
	touch "$@"
