# Two commands for newcomers: `make run` and `make test`. Everything lives in a private virtual environment.
PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= test
BIN := $(VENV)/bin
SOURCES := $(shell find src cmake python -type f -not -name '*.pyc') CMakeLists.txt pyproject.toml setup.py

# The matrix that `make run` tunes for; a power-law graph is generated unless you name a file of your own.
GRAPH ?= $(VENV)/graphs/power_law.npz
FEAT ?= 64
TRIALS ?= 32
WORK_DIR ?= work-dir

.PHONY: run test lint clean
run: $(VENV)/.installed $(GRAPH)
	$(BIN)/sparse-tir tune spmm "$(GRAPH)" --feat $(FEAT) --trials $(TRIALS) --work-dir "$(WORK_DIR)"

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check python tests && $(BIN)/ruff format --check python tests

clean:
	rm -rf "$(VENV)" build work-dir

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
