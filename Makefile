# What a newcomer needs is `make demo` and `make test`; `make` alone lists the rest.
# Everything goes into the folder .venv, and nothing is installed twice unless pyproject.toml
# changes.  Another interpreter: make PYTHON=python3.12 test

VENV ?= .venv
CUDA ?= cuda13
PYTEST_ARGS ?= -n 2 --dist loadfile --no-loadscope-reorder
DEMO_TIME_LIMIT ?= 60
MINUTES ?= 10
SEED ?= 0
PROCESSES ?= 2
CAMPAIGN_ARGS ?=
GENERATIONS ?= 80 86 89 90 100 120
comma := ,
# An import in an editable installation builds what has changed, by the environment's tools.
export PATH := $(abspath $(VENV))/bin:$(PATH)
# Python keeps what it compiles, or each of the many processes would compile its imports again.
unexport PYTHONDONTWRITEBYTECODE
# Unless said otherwise, the path's C++ compiler: scikit-build-core takes the one that made Python.
ifeq ($(origin CXX),default)
export CXX := c++
endif

# The first Python of at least 3.10 on the path.
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11 python3.10; do \
	if $$name -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; \
	then echo $$name; break; fi; done)

.PHONY: help build wheel build-wheel try-wheel demo test collect test-oldest test-gpu campaign \
	examples lint docs clean

help:
	@echo "make demo      solve a MIPLIB model from Pyomo, one from PuLP and one MPS file"
	@echo "make build     compile what has changed of the native core"
	@echo "make wheel     build a wheel in dist/ and try it in a fresh environment"
	@echo "make test      run the whole test suite (PYTEST_ARGS='-k pdlp' for a part of it)"
	@echo "make test-oldest  run the tests of the adapters with the oldest Pyomo and PuLP"
	@echo "make test-gpu  run the tests that need a GPU (CUDA=cuda12 for CUDA 12)"
	@echo "make campaign  random models in every way against the truth (MINUTES=30 SEED=7)"
	@echo "make examples  run every example"
	@echo "make lint      ruff, clang-format and mypy"
	@echo "make docs      build the documentation into site/"
	@echo "make clean     remove the environment and everything that was made"

# A developer's environment has all that the demo needs.
demo: $(or $(wildcard $(VENV)/installed-develop),$(VENV)/installed-demo)
	$(VENV)/bin/python examples/demo.py --time-limit $(DEMO_TIME_LIMIT) --output demo-output

build: $(VENV)/installed-develop
	$(VENV)/bin/python -c 'import solvers.native'

# GPU code of earlier builds is kept: only sources that changed are compiled again.
# Portable code for later GPUs comes with that for generation 80.
wheel: build-wheel
	$(MAKE) --no-print-directory try-wheel

build-wheel: $(VENV)/installed-develop
	$(VENV)/bin/python -m solvers.kernels.ahead build/gpu-code --generations $(GENERATIONS)
	$(VENV)/bin/python -m pip wheel --quiet \
		--disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist \
		--config-settings cmake.define.GPU_CODE=$(abspath build/gpu-code) .

try-wheel: $(VENV)/installed-develop
	$(VENV)/bin/python -m tests.wheel dist

test: $(VENV)/installed-develop
	$(VENV)/bin/python -m pytest $(PYTEST_ARGS)

# What Python compiles here, in CI beside mypy's one process, no worker of the suite has to compile.
collect: $(VENV)/installed-develop
	@$(VENV)/bin/python -m pytest --collect-only -qqq -p no:xdist > build/collected.txt \
		|| { cat build/collected.txt; exit 1; }

# The oldest versions that pyproject.toml admits, over the environment's own; their wheels want Python
# 3.10 or 3.11.
OLDEST := pulp==2.7.0 pyomo==6.6.2 numpy==1.26.4 scipy==1.11.4 pandas==2.2.3
test-oldest: $(VENV)/installed-develop
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade \
		--target build/oldest $(OLDEST)
	PYTHONPATH=build/oldest $(VENV)/bin/python -m pytest -p no:xdist \
		tests/adapters/pyomo tests/adapters/pulp

test-gpu: $(VENV)/installed-$(CUDA)
	$(VENV)/bin/python -m pytest -m gpu $(PYTEST_ARGS)

campaign: $(VENV)/installed-campaign
	$(VENV)/bin/python -m tests.campaign --minutes $(MINUTES) --seed $(SEED) \
		--processes $(PROCESSES) $(CAMPAIGN_ARGS)

examples: $(VENV)/installed-develop
	@for script in examples/pyomo/*.py examples/pulp/*.py examples/cvxpy/*.py \
		examples/linopy/*.py examples/ortools/*.py examples/scipy/*.py \
		examples/files_and_matrices.py examples/papers/*.py; do \
		echo "-- $$script"; $(VENV)/bin/python $$script || exit 1; done

lint: $(VENV)/installed-develop
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	git ls-files '*.cpp' '*.h' | xargs $(VENV)/bin/clang-format --dry-run --Werror
	$(VENV)/bin/mypy

docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/installed-develop
	$(VENV)/bin/mkdocs build --strict

clean:
	rm -rf $(VENV) campaign-output demo-output site build dist *.egg-info
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	@if test -z "$(PYTHON)"; then \
		echo "gpu-bridge needs Python 3.10 or newer, and none was found on the path."; \
		echo "Install one (Debian, Ubuntu: apt install python3 python3-venv; Fedora: dnf install"; \
		echo "python3), or say where it is: make PYTHON=/path/to/python3 test"; exit 1; fi
	@if ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then \
		echo "$(PYTHON) is not a Python of at least 3.10."; exit 1; fi
	@if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
		echo "$(PYTHON) cannot make a virtual environment because pip or venv is missing."; \
		echo "Debian, Ubuntu: apt install python3-venv python3-pip; Fedora: dnf install python3-pip"; \
		exit 1; fi
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# What builds the native core, with a C++ compiler from PyPI where the system has none.
BUILD_TOOLS = scikit-build-core cmake ninja
# The pip that comes with Python may be years old: 23.2 takes three times as long to choose a hundred
# packages as 26.3, 17 s of a core against 6.
$(VENV)/build-tools: pyproject.toml | $(VENV)/bin/python
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check \
		$(BUILD_TOOLS)
	@if ! command -v $(firstword $(CXX)) >/dev/null; then \
		echo "There is no C++ compiler: taking Zig's from PyPI (or: apt install g++)."; \
		$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check ziglang; \
		for tool in c++ ar ranlib; do \
			printf '#!/bin/sh\nexec "%s" -m ziglang %s "$$@"\n' \
				"$(abspath $(VENV))/bin/python" $$tool > $(VENV)/bin/$$tool; \
			chmod +x $(VENV)/bin/$$tool; done; fi
	@touch $@

# Python compiles what is imported; compiling all that is installed takes half a minute of a core.
INSTALL = $(VENV)/bin/python -m pip install --quiet --no-compile \
	--disable-pip-version-check --no-build-isolation --editable

define install
	@echo "Installing gpu-bridge and what it needs into $(VENV) (a minute or two the first time) ..."
	@$(INSTALL) '.[$(1)]'
	@touch $@
endef

$(VENV)/installed-demo: pyproject.toml $(VENV)/build-tools
	$(call install,plot)

$(VENV)/installed-develop: pyproject.toml $(VENV)/build-tools
	$(call install,test$(comma)plot$(comma)docs$(comma)cvxpy$(comma)linopy$(comma)ortools)

$(VENV)/installed-campaign: pyproject.toml $(VENV)/build-tools
	$(call install,campaign)

$(VENV)/installed-cuda12 $(VENV)/installed-cuda13: $(VENV)/installed-%: pyproject.toml $(VENV)/build-tools
	$(call install,test$(comma)plot$(comma)$*)
