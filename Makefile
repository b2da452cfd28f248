# `make run` and `make test` set up whatever is missing first. Needs Python 3.11 to 3.13 and make alone.
PYTHON ?= python3
EXAMPLES ?= quick
BIN := .venv/bin
READY := .venv/.ready
READY_TESTS := .venv/.ready-tests
READY_DOCS := .venv/.ready-docs

# Byte code is written when a module is first imported: of most files it never is.
unexport PYTHONDONTWRITEBYTECODE
UV := $(shell command -v uv)
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
INSTALL = $(if $(UV),uv pip install --quiet --python $(BIN)/python,$(PIP)) --no-deps

.DEFAULT_GOAL := help
.PHONY: help setup run test test-rest static check lint types layers docs lock clean

help:  ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 13

setup: $(READY_TESTS)  ## make the virtual environment of a contributor from the lock files

# The pip that Python brings may be years old, and takes twice as long as that of tools/pip.lock.
$(READY): requirements.lock tools/pip.lock pyproject.toml
	@echo "Setting up .venv from requirements.lock (once) ..."
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v < (3, 14) else "sigstats needs Python 3.11 to 3.13, this is %d.%d: make PYTHON=python3.12 ..." % v)'
	@$(PYTHON) -m venv --clear .venv
	@$(if $(UV),,$(PIP) --require-hashes -r tools/pip.lock)
	@$(INSTALL) --require-hashes -r requirements.lock
	@$(INSTALL) --no-build-isolation --editable .
	@$(BIN)/sigstats warm-up quickstart
	@touch $(READY)

$(READY_TESTS): tests/requirements.lock $(READY)
	@echo "Adding what tests need from tests/requirements.lock (once) ..."
	@$(INSTALL) --require-hashes -r tests/requirements.lock
	@$(BIN)/sigstats warm-up
	@touch $(READY_TESTS)

run: $(READY)  ## the quick-start study: four data sets, four classifiers, all tests, a report
	@$(BIN)/sigstats run quickstart

# Without the last option xdist waits for ever for the files of a worker that has died.
PYTEST := $(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder \
  --max-worker-restart 0

test: $(READY_TESTS)  ## the tests of a few minutes: all but the long ones and most of the faults
	@$(PYTEST) -m "not (faults or long or types) or smoke" --hypothesis-profile $(EXAMPLES)

# Most of these wait for processes that they have started: three at a time keep two processors at work.
WAITING = $$($(BIN)/python -c 'import os; print(os.cpu_count() * 3 // 2)')

test-rest: $(READY_TESTS)  ## the tests that make test leaves out, or skips for want of a program
	@$(PYTEST) --numprocesses "$(WAITING)" -m "faults or long or programs" --hypothesis-profile $(EXAMPLES) --durations 40

static: $(READY_TESTS) $(READY_DOCS)  ## lint, types, the import rules and the site
	@$(MAKE) --no-print-directory --jobs 2 lint types layers docs

check: static  ## these and every test
	@$(PYTEST) --durations 15

lint: $(READY_TESTS)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml

types: $(READY_TESTS)
	@$(BIN)/mypy
	@$(BIN)/python -m pytest --quiet -m types tests/sigstats/_common/test_registry.py

layers: $(READY_TESTS)
	@$(BIN)/lint-imports

docs: $(READY_DOCS)  ## the site of the documents: docs/_build/html/index.html
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build/html

$(READY_DOCS): docs/requirements.lock $(READY_TESTS)
	@$(INSTALL) --require-hashes -r docs/requirements.lock
	@touch $(READY_DOCS)

LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet

lock:  ## resolve the dependencies anew (needs uv)
	$(LOCK) pyproject.toml --extra studies --extra fast --group build --constraint tools/constraints.txt \
	  --output-file requirements.lock
	$(LOCK) pyproject.toml --all-extras --group build --constraint tools/constraints.txt \
	  --constraint requirements.lock --output-file docker/requirements.lock
	$(LOCK) pyproject.toml --all-extras --group dev --group boosting --constraint tools/constraints.txt \
	  --constraint docker/requirements.lock --output-file tests/requirements.lock
	echo pip | $(LOCK) - --output-file tools/pip.lock
	$(LOCK) --group docs --constraint requirements.lock --constraint tests/requirements.lock \
	  --output-file docs/requirements.lock

clean:  ## remove the environment and all caches
	rm -rf .venv docs/_build docs/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
