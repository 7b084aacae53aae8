# The two commands of the README are `make demo` and `make test`. Everything happens inside .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
DATA ?= ../shared/data
BENCHMARKS := $(filter-out _%,$(basename $(notdir $(wildcard bench/*.py))))

.PHONY: demo test check format bench browser faults clean
.DELETE_ON_ERROR:

demo: $(VENV)/core.stamp
	$(BIN)/untwin demo

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n 2

check: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --doctest-modules --doctest-glob='*.md' src README.md docs

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/bench.stamp
	@for name in $(BENCHMARKS); do \
	  echo "== bench.$$name"; $(BIN)/python -m bench.$$name --data $(DATA) || exit 1; \
	done

# Damages 500 models, kills 90 commands, fills the disk: some minutes, so it is not part of the tests.
faults: $(VENV)/dev.stamp
	$(BIN)/python tests/faults/run.py

# Debian's chromium, for the browser tests of the report; they are skipped where it is absent and cannot be installed.
browser:
	command -v chromium || (apt-get update -qq && apt-get install -y --no-install-recommends chromium fonts-dejavu-core)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# A stamp is older than what it was made from only when there is something to install.
$(VENV)/core.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	@touch $@

$(VENV)/dev.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/core.stamp

$(VENV)/bench.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[dev,bench]'
	@touch $@ $(VENV)/dev.stamp $(VENV)/core.stamp

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
