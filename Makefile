# make demo | make test | make build: each does all of its own set-up on a fresh clone.
PYTHON ?= python3
VENV ?= .venv
PY = $(VENV)/bin/python
PIP = $(PY) -m pip install -qq --disable-pip-version-check
STAMP = $(VENV)/.installed
CXX ?= g++
comma := ,

.PHONY: demo test build lint format bench stub docs clean
build: $(STAMP)
	@$(PY) setup.py -q build_ext --inplace

$(STAMP): setup.py package.xml pyproject.toml Makefile
	@command -v $(PYTHON) >/dev/null || { echo "missing: $(PYTHON) (Python 3.10 or later)"; exit 1; }
	@command -v $(CXX) >/dev/null || { echo "missing: a C++17 compiler ($(CXX)); install g++ 11 or clang 14 or later"; exit 1; }
	@echo "setting up $(VENV) (first time only) ..."
	@$(PYTHON) -m venv $(if $(ROS_DISTRO),--system-site-packages,) $(VENV)
	@$(PIP) -U pip "setuptools<80" wheel "pybind11>=3.0"
	@ROBOT_DYNAMICS_CORE_BUILT_IN_PLACE=1 PYTHONWARNINGS=ignore $(PIP) --no-build-isolation -e ".[dev$(if $(ROS_DISTRO),,$(comma)ros)]"
	@$(PIP) --no-deps "franka-sim>=1.1"
	@touch $@

test: build
	@OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -n 2 --dist loadfile $(ARGS)

demo: build
	@$(if $(VIEW),$(PY) -c "import rerun" 2>/dev/null || $(PIP) "rerun-sdk>=0.41",true)
	@$(VENV)/bin/robot-dynamics demo $(if $(ROBOT),--robot $(ROBOT),) $(if $(VIEW),--view,) $(ARGS)

bench: build
	@$(VENV)/bin/robot-dynamics bench

lint: build
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	@$(VENV)/bin/clang-format --dry-run -Werror $$(git ls-files '*.cpp' '*.hpp')
	@$(VENV)/bin/mypy

stub: build
	@$(PY) cpp_core/bindings/write_stub.py .
	@$(VENV)/bin/ruff format -q robot_dynamics_ros/_core.pyi

docs: build
	@$(VENV)/bin/mkdocs build -q --strict

format:
	@$(VENV)/bin/ruff check -q --fix . && $(VENV)/bin/ruff format -q .
	@$(VENV)/bin/clang-format -i $$(git ls-files '*.cpp' '*.hpp')

clean:
	rm -rf build dist *.egg-info robot_dynamics_ros/_core*.so
