# `make run` and `make test` set up whatever is missing first. Needs Python 3.11 to 3.13 and make alone.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
READY_DOCS := .venv/.ready-docs

.DEFAULT_GOAL := help
.PHONY: help setup run test test-faults check lint types layers docs lock clean

help:  ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 13

setup: $(READY)  ## make the virtual environment from the lock file

$(READY): requirements.lock pyproject.toml
	@echo "Setting up .venv from requirements.lock (about 800 MB, once) ..."
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v < (3, 14) else "sigstats needs Python 3.11 to 3.13, this is %d.%d: make PYTHON=python3.12 ..." % v)'
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/sigstats warm-up
	@touch $(READY)

run: $(READY)  ## the quick-start study: four data sets, four classifiers, all tests, a report
	@$(BIN)/sigstats run quickstart

# Without the last option xdist waits for ever for the files of a worker that has died.
PYTEST := $(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder \
  --max-worker-restart 0

test: $(READY)  ## the tests of a few minutes: all but most of the faults
	@$(PYTEST) -m "not faults or smoke" --hypothesis-profile quick

test-faults: $(READY)  ## the other tests: what is killed, cut or filled, databases, batch systems, the image
	@$(PYTEST) -m "faults and not smoke"

check: $(READY) $(READY_DOCS)  ## lint, types, the import rules, the site and every test
	@$(MAKE) --no-print-directory --jobs 2 lint types layers docs
	@$(PYTEST) --durations 15

lint: $(READY)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(READY)
	@$(BIN)/mypy

layers: $(READY)
	@$(BIN)/lint-imports

docs: $(READY_DOCS)  ## the site of the documents: docs/_build/html/index.html
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build/html

$(READY_DOCS): docs/requirements.lock $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r docs/requirements.lock
	@touch $(READY_DOCS)

lock:  ## resolve the dependencies anew (needs uv)
	uv pip compile pyproject.toml --all-extras --group dev --group boosting --universal --python-version 3.11 --generate-hashes \
	  --constraint tools/constraints.txt --quiet --no-header --output-file requirements.lock
	uv pip compile --group docs --universal --python-version 3.11 --generate-hashes \
	  --constraint requirements.lock --quiet --no-header --output-file docs/requirements.lock

clean:  ## remove the environment and all caches
	rm -rf .venv docs/_build docs/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
