# make demo | make test | make build: each does all of its own set-up on a fresh clone.
PYTHON ?= python3
export VENV ?= .venv
PY = $(VENV)/bin/python
CXX ?= g++

.PHONY: demo test build lint format bench stub docs sizes clean
build: $(VENV)/.installed
	@$(PY) setup.py -q build_ext --inplace

# two stamps: what the demo needs, and what tests, lint and docs need besides
$(VENV)/.installed: setup.py package.xml pyproject.toml tools/environment.py
	@command -v $(PYTHON) >/dev/null || { echo "missing: $(PYTHON) (Python 3.10 or later)"; exit 1; }
	@command -v $(CXX) >/dev/null || { echo "missing: a C++17 compiler ($(CXX)); install g++ 11 or clang 14 or later"; exit 1; }
	@$(PYTHON) tools/environment.py demo
	@touch $@

$(VENV)/.installed_dev: $(VENV)/.installed
	@$(PYTHON) tools/environment.py dev
	@touch $@

$(VENV)/.installed_vendor: $(VENV)/.installed
	@$(PYTHON) tools/environment.py vendor
	@touch $@

test: build $(VENV)/.installed_dev
	@OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -n 2 --dist loadfile $(ARGS)

demo: build $(if $(filter-out ur%,$(ROBOT)),$(VENV)/.installed_vendor)
	@$(if $(VIEW),$(PY) -c "import rerun" 2>/dev/null || $(PY) -m pip install -q "rerun-sdk>=0.41",true)
	@$(VENV)/bin/robot-dynamics demo --duration 30 $(if $(ROBOT),--robot $(ROBOT),) $(if $(VIEW),--view,) $(ARGS)

sizes: # seconds and megabytes of the set-up
	@$(PYTHON) tools/environment.py sizes

bench: build # PEERS=1: against Pinocchio, CasADi and figaroh, in an environment of their own
ifdef PEERS
	@test -e .venv-bench/.installed || VENV=.venv-bench $(PYTHON) tools/environment.py peers
	@touch .venv-bench/.installed
	@OPENBLAS_NUM_THREADS=1 .venv-bench/bin/robot-dynamics bench --peers $(ARGS)
else
	@OPENBLAS_NUM_THREADS=1 $(VENV)/bin/robot-dynamics bench $(ARGS)
endif

lint: build $(VENV)/.installed_dev
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	@$(VENV)/bin/clang-format --dry-run -Werror $$(git ls-files '*.cpp' '*.hpp')
	@$(VENV)/bin/mypy

stub: build $(VENV)/.installed_dev
	@$(PY) cpp_core/bindings/write_stub.py .
	@$(VENV)/bin/ruff format -q robot_dynamics_ros/_core.pyi

docs: build $(VENV)/.installed_dev
	@$(VENV)/bin/mkdocs build -q --strict

format: $(VENV)/.installed_dev
	@$(VENV)/bin/ruff check -q --fix . && $(VENV)/bin/ruff format -q .
	@$(VENV)/bin/clang-format -i $$(git ls-files '*.cpp' '*.hpp')

clean:
	rm -rf build dist *.egg-info robot_dynamics_ros/_core*.so
