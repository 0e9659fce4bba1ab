# `make run` trains the quickstart, `make test` runs the tests; each sets up .venv first, from the locks. `make help` lists the rest.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV    := .venv
BIN     := $(VENV)/bin
WORKERS := 2
STEPS   :=
AOT     := .cache/aot
ZOO     := $(sort $(wildcard specs/zoo/*.mesh))
MIXED   := 30
INPUTS  := 1000000
GUIDED  := 20000
SOUND   := 400

# Nothing is written outside the tree; compiled programs are kept from one run to the next.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export JAX_COMPILATION_CACHE_DIR := $(CURDIR)/.cache/jax
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS := 1
export JAX_PLATFORMS ?= cpu

CODE  := meshc runtime templates specs tests benchmarks
QUICK := $(wildcard tests/test_architecture.py tests/language tests/syntax tests/semantics tests/job tests/diagnostics)

.PHONY: help run test check prove fuzz bench reference docs lock clean

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

run: $(VENV)/.run ## train specs/quickstart on 8 virtual devices of this machine (STEPS=20 for a short look)
	$(BIN)/meshc run specs/quickstart/job.yaml $(if $(STEPS),--steps $(STEPS))

test: lint ## everything that `make check` does, then all tests but the slow ones
	$(BIN)/python -m pytest -n $(WORKERS)

check: lint ## what needs no jax: style, types, layers, and the tests of language and checks
	$(BIN)/python -m pytest -q -n $(WORKERS) $(QUICK)

.PHONY: lint
lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-cache

prove: $(VENV)/.test $(AOT)/.installed ## parity, placement, traffic of specs/zoo and of MIXED=30 drawn specs, the checker on SOUND=400, broken texts, then the slow tests
	$(BIN)/meshc prove $(ZOO) --mixed $(MIXED) --jobs $(WORKERS)
	$(BIN)/meshc prove --sound $(SOUND) --jobs $(WORKERS)
	$(BIN)/python -m tests.fuzz --workers $(WORKERS)
	$(BIN)/python -m tests.fuzz.every specs/std/*.mesh specs/quickstart/*.mesh --workers $(WORKERS)
	$(BIN)/python -m pytest -m slow -n $(WORKERS)

fuzz: $(VENV)/.test .cache/fuzz/.installed ## INPUTS=1000000 changed specs and jobs through the checker, every prefix of each, then GUIDED=20000 led by coverage
	$(BIN)/python -m tests.fuzz --inputs $(INPUTS) --workers $(WORKERS)
	$(BIN)/python -m tests.fuzz.every --letters --workers $(WORKERS)
	PYTHONPATH=.cache/fuzz $(BIN)/python -m tests.fuzz.guided -runs=$(GUIDED) -print_final_stats=1

bench: $(VENV)/.test ## the measured ratios of benchmarks/
	$(BIN)/python -m benchmarks

reference: .cache/reference/.made ## make the fixtures of the model proof afresh, with torch and transformers
	.cache/reference/bin/python tests/reference/make.py

docs: $(VENV)/.test ## write what is generated in the documentation: tables, shown output, excerpts
	$(BIN)/python -m docs.generate

# ---------------------------------------------------------------- set-up

# The stamps are newer than the locks they were made from; a changed lock installs anew, an unchanged one costs nothing.
$(VENV)/.run: requirements/run.lock setup.cfg | $(BIN)/python
	@echo "installing what $< pins into $(VENV) (once; a few minutes)"
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r $<
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.test: requirements/test.lock $(VENV)/.run
	@echo "installing what $< pins into $(VENV)"
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r $<
	@touch $@

# Coverage for `make fuzz` alone: there is no build of it for every python and machine.
.cache/fuzz/.installed: requirements/fuzz.in $(VENV)/.run
	rm -rf .cache/fuzz
	$(BIN)/python -m pip install --quiet --target .cache/fuzz -r $<
	@touch $@

# torch and transformers, for `make reference` alone.
.cache/reference/.made: requirements/reference.in | $(BIN)/python
	@echo "installing what $< pins into .cache/reference"
	$(BIN)/python -m venv .cache/reference
	.cache/reference/bin/python -m pip install --quiet -r $<
	@touch $@

# The real TPU and GPU compilers, 1.2 GB: beside the environment, where jax would find their devices wanting in each run.
$(AOT)/.installed: requirements/aot.lock $(VENV)/.run
	@echo "installing what $< pins into $(AOT) (for make prove alone; 320 MB to download)"
	rm -rf $(AOT)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --target $(AOT) -r $<
	@touch $@

# The first of these that is new enough; PYTHON=… names another.
$(BIN)/python:
	@found=; \
	for python in $${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do \
	    version=$$("$$python" --version 2> /dev/null) || continue; \
	    found="$$found, $$python is $$version"; \
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null || continue; \
	    "$$python" -m venv $(VENV) && exit 0; \
	    rm -rf $(VENV); \
	    echo "error: $$python cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; \
	    exit 1; \
	done; \
	echo "error: meshc needs python 3.11 or newer; found $${found:-, none}" | sed 's/found , /found /' >&2; \
	echo "  = help: install one, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; \
	exit 1

lock: ## resolve setup.cfg anew into requirements/*.lock (UPGRADE=1 takes the newest versions)
	@[ -x .cache/lock/bin/uv ] || { $(BIN)/python -m venv .cache/lock && .cache/lock/bin/pip install --quiet uv; }
	.cache/lock/bin/uv pip compile $(LOCK) setup.cfg requirements/build.in -o requirements/run.lock
	.cache/lock/bin/uv pip compile $(LOCK) setup.cfg requirements/build.in --extra test -c requirements/run.lock -o requirements/test.lock
	.cache/lock/bin/uv pip compile $(LOCK) --no-deps requirements/aot.in -o requirements/aot.lock

LOCK := --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet $(if $(UPGRADE),--upgrade)

clean: ## remove what can be made again, but for .venv and runs
	rm -rf build dist *.egg-info .cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
