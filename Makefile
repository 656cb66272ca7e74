# The checks of this repository. `make check` is what a pull request has to pass.
# The tools are taken from .venv when there is one, else from the active environment.
BIN := $(if $(wildcard .venv/bin/python),.venv/bin/,)
PYTEST_ARGS ?= -n auto

.PHONY: check lint test quick deps lock format setup

check: lint test

lint:
	$(BIN)ruff check
	$(BIN)ruff format --check
	$(BIN)mypy
	$(BIN)lint-imports

test:
	$(BIN)pytest $(PYTEST_ARGS)

# What is worth running while one works: all but the tests marked as slow.
quick:
	$(BIN)pytest $(PYTEST_ARGS) -m "not slow"

# Do the ranges that pyproject.toml declares hold? The package index is asked.
deps:
	$(BIN)driftwatch deps driftwatch

# The releases that the action installs, with the hashes of their files, for every Python. It takes uv.
lock:
	sed -n 's/^requires = \["\(.*\)"\]/\1/p' pyproject.toml | uv pip compile --quiet --universal --python-version 3.10 \
		--generate-hashes --no-emit-index-url --no-header --upgrade --output-file scripts/action.lock pyproject.toml -

format:
	$(BIN)ruff check --fix
	$(BIN)ruff format

# An environment to work in: the package editable, with every tool that `make check` uses.
setup:
	python3 -m venv .venv
	.venv/bin/pip install --editable '.[dev]'
