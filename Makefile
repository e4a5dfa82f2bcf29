# Every target sets up .venv itself. Nothing outside the checkout changes.

VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# The first Python that can build this: 3.11 or newer, with venv and with its C headers.
CAN_BUILD := import ensurepip, os, sys, sysconfig, venv; \
    header = os.path.join(sysconfig.get_path("include"), "Python.h"); \
    sys.exit(sys.version_info < (3, 11) or not os.path.exists(header))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
    $$python -c '$(CAN_BUILD)' 2> /dev/null && { echo $$python; break; }; done)

# One process per processor; `make test ARGS="-n 0 --pdb"` uses one.
PYTEST := $(BIN)/pytest -n auto --maxprocesses 8 --dist worksteal
# Options for the tool of a target, e.g. `make test ARGS="-k axis"`.
ARGS ?=
ASV_ARGS ?= --quick
# Results are published, so they name the processor, not the machine.
PROCESSOR = $(shell $(BIN)/python -c "from benchmarks.machine import slug; print(slug())")
ASV_MACHINE = $(BIN)/asv machine --yes --machine $(PROCESSOR) --cpu $(PROCESSOR) --os $(shell uname -s) > /dev/null

# The files that need a new install, and those that only need compiling.
INSTALL_INPUTS := pyproject.toml setup.py onehot_fast/_version.py
SOURCES := $(shell find onehot_fast -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name '*.inc' -o -name microkernels.c -o -path '*hashtable/hashtable.c')
STUBBED = $(subst /,.,$(basename $(shell find onehot_fast -name '*.pyi')))
BUILD_REQUIRES := import tomllib; \
    print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-thorough fresh coverage lint format types sanitize builds torture faults corpus emulate free-threaded bench bench-run bench-history bench-publish compare docs build wheel release-check clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.test-ready $(VENV)/.compiled  ## one-hot encode 336,776 real flights and compare with pandas
	$(BIN)/python examples/flights.py $(ARGS)

test: $(VENV)/.test-ready $(VENV)/.compiled  ## run the tests and the examples of the documentation
	$(PYTEST) -m "not long" $(ARGS)

# The seed is the first line of the output; `make test-thorough SEED=123` draws the same examples again.
SEED := $(shell date +%s)
test-thorough: $(VENV)/.test-ready $(VENV)/.compiled  ## draw 2,000 new examples for each property test (SEED=123 repeats a run)
	@echo "hypothesis seed: $(SEED)"
	HYPOTHESIS_PROFILE=thorough $(PYTEST) -m "hypothesis and not long" --timeout 7200 --hypothesis-seed=$(SEED) $(ARGS)

fresh: $(VENV)/.test-ready $(VENV)/.compiled  ## run the examples of each page in an environment that has only what the page says
	$(PYTEST) -m fresh $(ARGS)

coverage: $(VENV)/.test-ready $(VENV)/.compiled  ## run the tests and list the lines that they miss
	$(PYTEST) --cov --cov-report=term-missing $(ARGS)

lint: $(VENV)/.dev-ready  ## check the style of the sources
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(abspath $(BIN)):$$PATH" cython-lint onehot_fast
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.readthedocs .readthedocs.yaml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

format: $(VENV)/.dev-ready  ## format the sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# mypy cannot follow the import hook of an editable install to onehot_fast.integrations. The copy has
# the layout of a wheel.
types: $(VENV)/.dev-ready $(VENV)/.compiled  ## check the types, and the stubs against the built modules
	rm -rf build/types
	mkdir -p build/types
	cp -R onehot_fast build/types
	cp -R integrations build/types/onehot_fast
	cd build/types && $(abspath $(BIN))/mypy --config-file $(abspath pyproject.toml) -p onehot_fast
	cd build/types && $(abspath $(BIN))/python -m mypy.stubtest \
	    --mypy-config-file $(abspath pyproject.toml) \
	    --allowlist $(abspath .ci/stubtest-allowlist) $(STUBBED)
	cp tests/typed/usage.py build/types
	cd build/types && $(abspath $(BIN))/mypy --config-file $(abspath pyproject.toml) usage.py
	if $(BIN)/pyright --version > /dev/null 2>&1; then \
	    cd build/types && $(abspath $(BIN))/pyright --pythonpath $(abspath $(BIN))/python usage.py && \
	    PATH="$(abspath $(BIN)):$$PATH" PYTHONPATH=. pyright --verifytypes onehot_fast --ignoreexternal \
	        > verified.txt || { cat verified.txt; exit 1; }; \
	else echo "pyright cannot run here (it needs node, or the network once): usage.py by mypy alone"; fi

sanitize: $(VENV)/.test-ready $(VENV)/.compiled  ## run the kernel tests under the address and undefined-behaviour sanitizers
	.ci/variant $(abspath $(BIN)/python) address $(ARGS)

builds: $(VENV)/.test-ready $(VENV)/.compiled  ## run kernel tests under ThreadSanitizer, without optimisation, with bounds checked, without OpenMP
	for name in thread team unoptimized debug serial; do .ci/variant $(abspath $(BIN)/python) $$name $(ARGS) || exit 1; done

torture: $(VENV)/.test-ready $(VENV)/.compiled  ## fuzz everything for an hour on two cores (ARGS="--minutes 5 --only races")
	cd tools && $(abspath $(BIN))/python -m torture --minutes 60 $(ARGS)

faults: $(VENV)/.test-ready $(VENV)/.compiled  ## test 1,000 mutants of each format, and kills and full disks of the command, for an hour; 200 mutants of each file in the folder FILES
	cd tools && $(abspath $(BIN))/python -m torture --faults 1000 $(ARGS)
	$(if $(FILES),cd tools && $(abspath $(BIN))/python -m torture.mutants $(abspath $(FILES)))

corpus: $(VENV)/.test-ready $(VENV)/.compiled  ## run the command on each file in the folder FILES, and compare every value with other readers
	cd tools && $(abspath $(BIN))/python -m corpus $(abspath $(FILES)) $(ARGS)

emulate:  ## test the C code natively, under qemu (aarch64, s390x) and wine (Windows)
	.ci/emulate

bench: $(VENV)/.bench-ready $(VENV)/.compiled  ## compare ratios and instruction counts with the last commit (ARGS=--twice: with itself)
	$(BIN)/python -m benchmarks.regression $(ARGS)

bench-run: $(VENV)/.bench-ready $(VENV)/.compiled  ## run the asv suites (ASV_ARGS=--quick); results are kept in benchmarks/history
	$(ASV_MACHINE)
	$(BIN)/asv run --machine $(PROCESSOR) $(ASV_ARGS)

# The benchmarks are those of the working tree, and asv builds each commit once.
bench-history: $(VENV)/.bench-ready $(VENV)/.compiled  ## measure the tracked numbers of the commits in benchmarks/history; an hour
	mkdir -p build
	for commit in $$(cat benchmarks/history/commits.txt) HEAD; do git rev-parse $$commit || exit 1; done > build/history.txt
	$(ASV_MACHINE)
	$(BIN)/asv run --machine $(PROCESSOR) --bench bench_tracked HASHFILE:build/history.txt

bench-publish: $(VENV)/.bench-ready  ## write asv's own pages of benchmarks/history into .asv/html; `make docs` writes ours
	$(BIN)/asv publish --no-pull

compare: $(VENV)/.bench-ready $(VENV)/.compiled  ## measure side by side with the peers
	$(BIN)/python -m benchmarks.compare $(ARGS)

# It builds in build/free-threaded: the checkout's modules are for a Python with a GIL.
free-threaded:  ## build and test without a GIL (FREE_THREADED=/path/to/python3.14t; default: pyenv, PATH)
	.ci/free-threaded "$(FREE_THREADED)" $(ARGS)

docs: $(VENV)/.dev-ready $(VENV)/.compiled  ## build the documentation into docs/_build/html, and check its links
	$(BIN)/sphinx-build --fail-on-warning --nitpicky --quiet -b html docs docs/_build/html
	$(BIN)/python docs/check.py docs/_build/html

# Without the `rm`, setuptools would pack deleted files. The build requirements are in .venv.
build: $(VENV)/.dev-ready  ## build the sdist, and from it the wheel, in dist/
	rm -rf dist *.egg-info
	$(BIN)/python -m build --no-isolation

wheel: $(VENV)/.release-ready  ## build them for Linux as published, with libgomp, and check them (TESTS=1 TWICE=1 ARGS="python3.12 python3.13")
	TESTS=$(TESTS) TWICE=$(TWICE) .ci/wheel $(BIN) $(ARGS)

release-check: $(VENV)/.release-ready $(VENV)/.compiled  ## check a release: other platforms, wheels, package page; an hour
	$(BIN)/python tools/cross.py
	.ci/emulate
	$(MAKE) wheel TESTS=1 TWICE=1

clean:  ## remove everything that was built, except .venv
	rm -rf build dist *.egg-info docs/_build docs/auto_gallery docs/auto_history docs/auto_options htmlcov .coverage .mypy_cache .ruff_cache .pytest_cache
	rm -f $(VENV)/.*-ready $(VENV)/.compiled
	find onehot_fast \( -name '*.so' -o -name '*.pyd' \) -delete
	find onehot_fast -name '*.pyx' | sed 's/pyx$$/c/' | xargs rm -f

$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo "no Python >= 3.11 with venv and C headers: install one" \
	    "(Debian: python3-venv python3-dev), or name it: make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip

# Installed once, so that a rebuild takes seconds and needs no isolated environment.
$(VENV)/.build-ready: pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -c '$(BUILD_REQUIRES)' > $(VENV)/build-requires.txt
	$(PIP) install -r $(VENV)/build-requires.txt
	touch $@

$(VENV)/.test-ready: $(VENV)/.build-ready $(INSTALL_INPUTS)
	$(PIP) install --no-build-isolation -e '.[test]'
	touch $@

$(VENV)/.dev-ready: $(VENV)/.build-ready $(INSTALL_INPUTS)
	$(PIP) install --no-build-isolation -e '.[dev]'
	touch $@ $(VENV)/.test-ready

$(VENV)/.bench-ready: $(VENV)/.build-ready $(INSTALL_INPUTS)
	$(PIP) install --no-build-isolation -e '.[bench]'
	touch $@

$(VENV)/.release-ready: $(VENV)/.build-ready $(INSTALL_INPUTS)
	$(PIP) install --no-build-isolation -e '.[release]'
	touch $@

# This compiles only modules that are older than their sources. An install does so, too, but takes longer.
$(VENV)/.compiled: $(SOURCES) setup.py
	$(BIN)/python setup.py --quiet build_ext --inplace
	touch $@
