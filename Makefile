# Two commands: `make run` starts Belvedere, `make test` runs everything that a reviewer would.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
WORKERS ?= $(shell n=$$(nproc); echo $$((n < 4 ? n : 4)))
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -q

# The environment is renewed when what it is made from changes, and only then: the name of the
# stamp carries the digest of its sources, so neither a checkout nor a touched file reinstalls.
digest = $(shell cat pyproject.toml $(1) | sha256sum | cut -c 1-16)
SERVER := .venv/server-$(call digest,locks/build.txt locks/server.txt)
DEV := .venv/dev-$(call digest,locks/build.txt locks/dev.txt)

.PHONY: help run setup check test prove format reference lock lint types contracts

help:
	@echo 'make run        start Belvedere on http://127.0.0.1:8420 (options: make run ARGS="--port 9000")'
	@echo 'make setup      make .venv with .venv/bin/belvedere, start nothing'
	@echo 'make check      the quick checks and tests, while you work'
	@echo 'make test       all checks and all tests, on SQLite and PostgreSQL'
	@echo 'make prove      the long proofs'
	@echo 'make format     put the code into shape'
	@echo 'make reference  write the generated pages of docs/reference'
	@echo 'make lock       choose the newest versions of what we depend on'

run: $(SERVER)
	@exec $(BIN)/belvedere up $(ARGS)

setup: $(SERVER)

check: lint types contracts
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not prove and not alone" -k "not postgres"

test: lint types contracts
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not prove"

prove: $(DEV)
	HYPOTHESIS_PROFILE=prove $(BIN)/pytest -m prove

lint: $(DEV)
	$(BIN)/ruff check -q .
	$(BIN)/ruff format -q --check .

types: $(DEV)
	$(BIN)/mypy

contracts: $(DEV)
	$(BIN)/lint-imports --no-logo

format: $(DEV)
	$(BIN)/ruff check -q --fix-only .
	$(BIN)/ruff format -q .

reference: $(DEV)
	$(BIN)/python tools/reference.py

.venv/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'Belvedere needs Python 3.11 or newer; name one: make PYTHON=/path/to/python'; exit 1; }
	@echo 'Making .venv (half a minute, once) ...'
	@$(PYTHON) -m venv .venv || \
	  { echo 'Python cannot make an environment; on Debian: apt install python3-venv'; exit 1; }
	@touch $@

$(SERVER): | .venv/pip
	@$(PIP) install --require-hashes --only-binary :all: -r locks/build.txt -r locks/server.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@rm -f .venv/server-*
	@touch $@

$(DEV): | $(SERVER)
	@$(PIP) install --require-hashes --only-binary :all: -r locks/dev.txt
	@rm -f .venv/dev-*
	@touch $@

# One resolution for all: the development lock repeats the versions of the other two.
COMPILE := .venv/lock/bin/uv pip compile -q --upgrade --universal --python-version 3.11 \
  --generate-hashes --no-emit-index-url --custom-compile-command "make lock" --no-annotate

lock: | .venv/pip
	@test -x .venv/lock/bin/uv || { $(PYTHON) -m venv .venv/lock && .venv/lock/bin/pip install -q uv; }
	echo 'hatchling' | $(COMPILE) - -o locks/build.txt
	$(COMPILE) --extra server pyproject.toml -c locks/build.txt -o locks/server.txt
	$(COMPILE) --all-extras pyproject.toml -c locks/build.txt -c locks/server.txt -o locks/dev.txt
