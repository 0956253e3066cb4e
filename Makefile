# Every target works on a fresh clone: it first makes .venv and installs into it, once.
# Another Python, another PyTorch: make test PYTHON=python3.10 TORCH=2.6.0 VENV=.venv-oldest
PYTHON ?= python3
TORCH  ?=
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready$(TORCH)
PIP    := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -qq --no-input
# How many processes are "auto" says tests/conftest.py. Kept bytecode spares each of them, and those
# that they start, to compile everything anew.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q -n auto --dist worksteal

MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs

.DEFAULT_GOAL := help
.PHONY: help venv run test test-all check format fuzz mutate-waits accelerator-report bench bench-quick docs docs-serve dist clean

help:    ## show this list
	@sed -n 's/^\([a-z-]*\): .*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

venv: $(READY)    ## make the environment alone
	@:

run: $(READY)    ## train a LeNet on the digits that come along, on two devices
	$(BIN)/dptable train --model lenet --ngpus 2 --threads

test: $(READY)    ## run the tests; ARGS=... gives pytest more arguments
	$(PYTEST) $(ARGS)

test-all: $(READY)    ## run the tests, the slow ones too
	$(PYTEST) -m "slow or not slow" --hypothesis-profile=all $(ARGS)

check: $(READY)    ## lint, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --strict --follow-imports=silent tests/typing

format: $(READY)    ## rewrite the sources in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

mutate-waits: $(READY)    ## remove each wait between streams in turn; a test on the simulator must fail
	$(BIN)/python tests/mutate_waits.py

fuzz: $(READY)    ## damage files, command lines, system calls; run random Lua programs and the property tests at length
	$(BIN)/python tests/compat/t7/fuzz.py --mutations 200000
	$(BIN)/python tests/compat/t7/fuzz.py --mutations 200000 --objects
	$(BIN)/python tests/dptable/cli/fuzz.py --mutations 100000
	$(BIN)/python tests/dptable/cli/fuzz_commands.py --lines 10000
	$(BIN)/python tests/dptable/interrupted_saves.py
	$(BIN)/python tests/compat/lua/fuzz.py --programs 10000
	$(BIN)/python tests/compat/lua/fuzz.py --programs 2000 --first 100000 --threads 2
	$(BIN)/python -m pytest -q -m hypothesis --hypothesis-profile=fuzz --timeout=3600

accelerator-report: $(READY)    ## run tests and benchmarks on this machine's accelerators, and record the figures
	$(BIN)/python benchmarks/accelerator_report.py

bench: $(READY)    ## run every benchmark
	@for script in $$(grep -l __main__ benchmarks/*.py); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

bench-quick: $(READY)    ## three minutes: the tables of steps, programs, copies, files, starts; TORCH7=... names a Lua Torch7
	$(BIN)/python benchmarks/step.py --only bare --budget 2
	$(BIN)/python benchmarks/step.py --only parallel --budget 2
	$(BIN)/python benchmarks/step.py --only processes --budget 2
	$(BIN)/python benchmarks/lua.py --budget 1 $(if $(TORCH7),--torch7 "$(TORCH7)")
	$(BIN)/python benchmarks/ported.py --budget 1 $(if $(TORCH7),--torch7 "$(TORCH7)")
	$(BIN)/python benchmarks/overhead.py --budget 1
	$(BIN)/python benchmarks/comm.py --budget 2
	$(BIN)/python benchmarks/t7.py --megabytes 50 --entries 300000 --seconds 1
	$(BIN)/python benchmarks/start.py --rounds 3

docs: $(VENV)/.docs    ## build the site into build/site; warnings and dead links are errors
	$(MKDOCS) build

docs-serve: $(VENV)/.docs    ## show the site on this machine, anew after each change
	$(MKDOCS) serve

dist: $(READY)    ## build wheel and sdist into dist, check them, and test the wheel in an empty environment
	@rm -rf dist build/lib build/dist-venv
	@$(PIP) build twine check-wheel-contents
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/check-wheel-contents --ignore W002,W009 dist/*.whl
	$(PYTHON) -m venv build/dist-venv
	build/dist-venv/bin/python -m pip install -qq --constraint $(VENV)/constraints.txt "$$(ls $(CURDIR)/dist/*.whl)[lua]"
	cd build && dist-venv/bin/dptable selftest

clean:    ## remove the environment and everything built or cached
	rm -rf $(VENV) .venv-oldest build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find compat dptable tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(READY): setup.cfg pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "dptable needs Python 3.10 or newer, $(PYTHON) is " + sys.version.split()[0] + "; name another one: make PYTHON=python3.11")'
	@echo "Installing into $(VENV) (the first time takes a few minutes)"
	@$(PYTHON) -m venv $(VENV)
	@rm -f $(VENV)/.ready*
	@# Each PyTorch pins a sympy of its own.
	@sed '$(if $(TORCH),s/^torch==.*/torch==$(TORCH)/;/^sympy==/d)' constraints.txt > $(VENV)/constraints.txt
	@$(PIP) --constraint $(VENV)/constraints.txt --editable '.[test,plot,export,simulator]'
	@touch $@

$(VENV)/.docs: $(READY)
	@$(PIP) --constraint $(VENV)/constraints.txt --editable '.[docs]'
	@touch $@
