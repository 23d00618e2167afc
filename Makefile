PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Tests start hundreds of processes: without bytecode each compiles the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo prove test lint types docs unit real clean

demo: $(VENV)/.installed  ## Run the acceptance suites against the embedded lab
	$(BIN)/pytest suites/

prove: $(VENV)/.installed  ## Every fault of the lab is caught at its place, and nothing else goes red
	$(BIN)/pytest suites/ --fabric-prove

test: demo prove lint types docs unit real  ## Everything: demo, proof, lint, types, docs, unit and plugin tests, real RDMA

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy pytest_fabric tests bench docs

docs: $(VENV)/.dev  ## The documentation, into site/: a warning is an error, and nothing is fetched
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

unit: $(VENV)/.dev  ## Most of these wait for processes: three at a time on two cores, slow files first
	$(BIN)/pytest tests --ignore=tests/real -n 3 --dist=loadfile --no-loadscope-reorder

real: $(VENV)/.dev  ## Two virtual machines with Soft-RoCE and real perftest
	$(BIN)/pytest tests/real

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) site fabric-runs .pytest_cache .mypy_cache .ruff_cache
