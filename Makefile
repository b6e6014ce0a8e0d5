# Every target sets up what it needs: a virtual environment in .venv, from the lock in requirements/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Every worker of the tests, and every program that they start, would compile all of it again.
unexport PYTHONDONTWRITEBYTECODE
CLIENT := src/hookline/daemon/client/hookc

.PHONY: two-weeks demo test test-quick coverage check bench e2e sdk nvim shells shells-screens browser web-test web-load web-picture fuzz fuzz-door broker qemu dist site docs picture lock clean help fleet bench-agents

help:                     ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | expand -t 12

define create_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hookline needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@test -x $(BIN)/python || { echo 'Creating a virtual environment in $(VENV) …'; $(PYTHON) -m venv $(VENV); }
endef
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# What hookline itself needs, for the demo: a third of what developers need. --no-compile: most modules are never used.
$(VENV)/.demo: requirements/demo.txt pyproject.toml
	$(create_venv)
	@echo 'Installing hookline and its libraries into $(VENV) (about 15 seconds) …'
	@$(PIP) --no-compile --require-hashes -r requirements/demo.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(STAMP): requirements/dev.txt pyproject.toml
	$(create_venv)
	@echo 'Installing what the tests and checks need into $(VENV) (about a minute) …'
	@$(PIP) --require-hashes -r requirements/dev.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $(VENV)/.demo $@

# As in a wheel: otherwise every test that deploys compiles it again. Without a compiler there is none, which is fine too.
$(CLIENT): src/hookline/daemon/client/hookc.c src/hookline/daemon/client/build.py $(STAMP)
	-@$(BIN)/python -c 'from hookline.daemon.client.build import SHIPPED, compile_program; compile_program(SHIPPED)'

demo: $(VENV)/.demo       ## a session with hooks of all dialects, shown as it happens
	@$(BIN)/hookline demo

test: $(STAMP) $(CLIENT)  ## the whole suite
	$(BIN)/python -m pytest -n 3 $(ARGS)  # a third worker on two cores: half of the time a test waits for a process

# Where nearly everything is values in, values out, and few programs are started.
QUICK := $(addprefix tests/unit/,config core daemon deploy dialects doctor engine gateway state transcripts) \
         tests/cases tests/conformance \
         $(addsuffix .py,$(addprefix tests/laws/test_law_,deny failure order patience rewrite))

test-quick: $(STAMP) $(CLIENT)  ## the pure middle of it, for while you work: under a minute
	HOOKLINE_HYPOTHESIS=quick $(BIN)/python -m pytest -q -n 3 -m "not slow" $(QUICK) $(ARGS)

coverage: $(STAMP)        ## the whole suite with every program it starts, and how much of src it reaches; at least 92 %
	$(BIN)/python tools/cover.py $(ARGS)

check: $(STAMP) test      ## tests, lint, types, import direction, spelling, generated docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/codespell docs src *.md
	$(BIN)/python tools/reference.py --check
	$(BIN)/python tools/agents_matrix.py --check

two-weeks: $(STAMP)       ## two weeks of sessions, with an honest and three hostile distillers: what memory tells
	$(BIN)/python -m tests.unit.memory.two_weeks.simulation

bench: $(STAMP)           ## the speed ratios, all measured in one run; ARGS=trust: only what trust costs an agent
	$(BIN)/python bench/bench.py $(ARGS)

E2E := $(addprefix tests/e2e/test_,real_agents.py faults.py registrations.py derived.py terminal.py manual.py \
         memory.py memory_server.py own_files.py doctor.py guard.py packs.py policy.py versions.py sessions.py compaction.py) \
         tests/packs/test_own_packs.py

# AGENTS=claude-code@latest tries other versions, or only some agents; the published matrix is then compared, not changed.
e2e: $(STAMP)             ## the real agents, from npm and PyPI, run offline against a scripted model; AGENTS=codex@latest: another version
ifeq ($(findstring @,$(AGENTS)),)
	HOOKLINE_E2E_AGENTS="$(AGENTS)" $(BIN)/python -m tests.e2e.install
	HOOKLINE_E2E_AGENTS="$(AGENTS)" HOOKLINE_E2E=1 HOOKLINE_E2E_RESULTS=docs/reference/agents.json \
	  $(BIN)/python -m pytest -n 2 $(E2E) $(ARGS); code=$$?; $(BIN)/python tools/agents_matrix.py && exit $$code
else
	rm -f build/agents-tried.json
	found=$$($(BIN)/python -m tests.e2e.install --resolve $(AGENTS)) && export HOOKLINE_E2E_AGENTS="$$found" && \
	  $(BIN)/python -m tests.e2e.install && \
	  HOOKLINE_E2E=1 HOOKLINE_E2E_RESULTS=build/agents-tried.json $(BIN)/python -m pytest -n 2 $(E2E) $(ARGS); \
	  code=$$?; $(BIN)/python tools/agents_changes.py build/agents-tried.json && exit $$code
endif

bench-agents: $(STAMP)    ## what a tool call costs in the real agents with ten hooks, plain and through hookline; AGENTS=codex: only these
	HOOKLINE_E2E_AGENTS="$(AGENTS)" $(BIN)/python -m tests.e2e.install
	$(BIN)/python -m bench.agents $(AGENTS)
	$(BIN)/python tools/agents_matrix.py

sdk: build/sdk-env/.installed  ## programs on agent SDKs, all of them, with the real packages and a scripted model
	HOOKLINE_SDK=1 build/sdk-env/bin/python -m pytest -q -n 2 tests/sdk $(ARGS)

build/sdk-env/.installed: requirements/sdk.txt pyproject.toml
	$(PYTHON) -m venv build/sdk-env
	build/sdk-env/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/sdk.txt
	build/sdk-env/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

nvim:                     ## Neovim, for the tests of the editors; without it they say that they are skipped
	@command -v nvim >/dev/null || (apt-get update && apt-get install -y neovim) || sudo apt-get install -y neovim || brew install neovim

SHELLS := tmux zsh fish direnv bash-completion zsh-autosuggestions zsh-syntax-highlighting zsh-theme-powerlevel9k \
          fzf zoxide kitty-shell-integration
shells:                   ## tmux, zsh, fish and what people load into them, for the tests of the shells; what is missing is skipped loudly
	@for each in pure-prompt@1.28.3 @microsoft/inshellisense@0.0.1-rc.16; do place=build/shells/$$(basename $${each%@*}); \
	  test -d $$place || { mkdir -p $$place && npm pack --silent --pack-destination build/shells $$each >/dev/null && \
	  tar xzf build/shells/*$$(basename $${each%@*})-*.tgz -C $$place --strip-components 1; } || rm -rf $$place; done
	@(for each in tmux zsh fish direnv fzf; do command -v $$each || exit 1; done >/dev/null) && \
	  test -r /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh || \
	  (apt-get update && apt-get install -y $(SHELLS)) || sudo apt-get install -y $(SHELLS) || brew install tmux zsh fish

browser:                  ## chromium and axe-core, for the tests of the view; without them they say that they are skipped
	@command -v chromium >/dev/null || (apt-get update && apt-get install -y chromium) || sudo apt-get install -y chromium
	@test -f build/axe/node_modules/axe-core/axe.min.js || npm install --silent --no-fund --no-audit --prefix build/axe axe-core@4.10.2

broker:                   ## nats-server, for the tests of fleets; without it they say that they are skipped
	@command -v nats-server >/dev/null || (apt-get update && apt-get install -y nats-server) || sudo apt-get install -y nats-server || brew install nats-server

fleet: $(STAMP)           ## a fleet under faults, 300 kills on a cluster of three, partitions, a full disk; under load; and what it costs a decision
	$(BIN)/python -m tests.fleet.faults $(or $(KILLS),300)
	$(BIN)/python -m tests.fleet.partition
	$(BIN)/python -m tools.fleet_load 1000 50:300 1000:60
	PYTHONPATH=. $(BIN)/python bench/fleet.py

web-test: $(STAMP)        ## the view in a browser, light and dark, wide and narrow
	HOOKLINE_WEB=all $(BIN)/python -m pytest -q tests/web $(ARGS)

web-load: $(STAMP)        ## 500 events a second for a minute with the live page open: memory, delay, decision times
	$(BIN)/python -m tools.web_load $(ARGS)

web-picture: $(STAMP)     ## take the manual's pictures of the view anew
	$(BIN)/python -m tools.record_web

shells-screens: $(STAMP)  ## plain and hooked shells side by side in tmux, on every route
	HOOKLINE_SCREENS=1 $(BIN)/python -m pytest -n 3 tests/shell/test_screens.py $(ARGS)

fuzz: $(STAMP)            ## the laws with many more examples, different ones every time; each door SECONDS long (600)
	HOOKLINE_HYPOTHESIS=long HOOKLINE_FUZZ=$(or $(SECONDS),600) $(BIN)/python -m pytest -n 2 tests/laws $(ARGS)

fuzz-door: $(STAMP)       ## one of them by itself: DOOR=payload, journal, reply or configuration; SECONDS (600), SEED (the time)
	$(BIN)/python tests/laws/fuzz_doors.py $(or $(DOOR),payload) $(or $(SECONDS),600) 100000000 $(or $(SEED),$(shell date +%s))

EMULATOR := qemu-user-static file
qemu:                     ## qemu-user-static and file, for `make dist`; without them it says that the ARM client was not run
	@(command -v qemu-aarch64-static && command -v file) >/dev/null || \
	  (apt-get update && apt-get install -y $(EMULATOR)) || sudo apt-get install -y $(EMULATOR) || \
	  echo 'NOT INSTALLED: $(EMULATOR). The client for ARM will not be run.'

dist: qemu                ## all wheels and the sdist into dist/, each tried as far as this machine can
	$(PYTHON) -m venv build/dist-env
	build/dist-env/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dist.txt
	build/dist-env/bin/python tools/dist.py $(ARGS)

site: build/site-env/.installed  ## the manual as a site in build/site, with nothing loaded from elsewhere
	NO_MKDOCS_2_WARNING=1 build/site-env/bin/mkdocs build --quiet
	$(PYTHON) tools/site_check.py build/site
	@echo 'To read it: $(PYTHON) -m http.server --directory build/site --bind 127.0.0.1'

build/site-env/.installed: requirements/site.txt
	$(PYTHON) -m venv build/site-env
	build/site-env/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/site.txt
	@touch $@

docs: $(STAMP)            ## write the generated part of the reference anew
	$(BIN)/python -m hookline.dialects.native.schema > src/hookline/dialects/native/hookline.schema.json
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/agents_matrix.py

picture: $(STAMP)         ## record the manual's pictures of a terminal: real agents from npm, a scripted model
	$(BIN)/python -m tools.record_terminal

UV_COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --no-header --no-annotate

lock: $(STAMP)            ## resolve the locks anew
	$(BIN)/python -m pip install --quiet uv
	$(UV_COMPILE) --all-extras --group test --group lint requirements/build.in pyproject.toml -o requirements/dev.txt
	$(UV_COMPILE) -c requirements/dev.txt requirements/demo.in pyproject.toml -o requirements/demo.txt
	$(UV_COMPILE) -c requirements/dev.txt requirements/dist.in -o requirements/dist.txt
	$(UV_COMPILE) --extra models --group test --group sdk -c requirements/dev.txt requirements/build.in pyproject.toml -o requirements/sdk.txt
	$(UV_COMPILE) -c requirements/dev.txt requirements/site.in -o requirements/site.txt

clean:                    ## forget the environment and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
