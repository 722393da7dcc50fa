# make demo | make test | make test-long | make build: each does all of its own set-up on a fresh clone.
PYTHON ?= python3
export VENV ?= .venv
PY = $(VENV)/bin/python
CXX ?= g++

# byte code is kept: without it each of the many processes of demo and test compiles everything it imports
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-long coverage build wheels sanitize fuzz mutants lint format bench reproduce stub docs clean
build: $(VENV)/.installed
	@ROBOT_DYNAMICS_BENCH=1 $(PY) setup.py -q build_ext --inplace

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

# test: each guarantee once; test-long: what proves one many times. Tests that compute run on all cores, then those of
# peers in real time one at a time; TESTS=computing or TESTS=realtime runs one of the two,
# ARGS=test/docs one directory, which may have none of a kind (pytest then ends with 5)
PYTEST = OPENBLAS_NUM_THREADS=1 $(PY) -m pytest
TESTS ?= computing realtime
computing = -m "not realtime" -n 2 --dist loadfile
realtime = -m realtime $(if $(ARGS),,$(shell grep -rl mark.realtime test))
test test-long: build $(VENV)/.installed_dev
	@ends=; $(foreach kind,$(TESTS),$(PYTEST) --tier $(if $(filter test,$@),short,long) $($(kind)) $(ARGS); ends=$$ends$$?;) \
	  $(if $(filter test-long,$@),FUZZ_TRIES=200 $(PYTEST) --timeout 1200 -n 2 --dist loadfile $(FUZZ); ends=$$ends$$?;) \
	  case $$ends in *[!0$(if $(ARGS),5)]* | 5 | 55) exit 1;; esac

coverage: build $(VENV)/.installed_dev # of the short tier, statements of Python; processes that tests start are not counted
	@$(PYTEST) --tier short $(computing) --cov robot_dynamics_ros --cov-report= $(ARGS)
	@$(PY) -m coverage report --skip-covered

demo: $(VENV)/.installed $(if $(filter-out ur%,$(ROBOT)),$(VENV)/.installed_vendor) # the core with one set of kernels does
	@ROBOT_DYNAMICS_KERNELS=one $(PY) setup.py -q build_ext --inplace
	@$(if $(VIEW),$(PY) -c "import rerun" 2>/dev/null || $(PYTHON) tools/environment.py viewer,true)
	@$(if $(filter mujoco,$(PLANT)),$(PYTHON) tools/environment.py mujoco,true)
	@$(PY) -m robot_dynamics_ros.cli.main demo --duration 25 $(if $(ROBOT),--robot $(ROBOT),) $(if $(filter mujoco,$(PLANT)),--plant bench.mujoco_plant:MujocoPlant,) $(if $(VIEW),--view,) $(ARGS)

# the laboratory: make reproduce ARGS="all --quick"; every other command of it: python -m bench NAME
reproduce: build
	@$(PY) -m bench reproduce $(or $(ARGS),all)

bench: build # PEERS=1: against Pinocchio, CasADi and figaroh, in an environment of their own
ifdef PEERS
	@test -e .venv-bench/.installed || VENV=.venv-bench $(PYTHON) tools/environment.py peers
	@touch .venv-bench/.installed
	@OPENBLAS_NUM_THREADS=1 .venv-bench/bin/python -m bench speed --peers $(ARGS)
else
	@OPENBLAS_NUM_THREADS=1 $(PY) -m bench speed $(ARGS)
endif

# the C++ tests under AddressSanitizer with UndefinedBehaviorSanitizer, then under ThreadSanitizer; minutes
SANITIZERS ?= address,undefined thread
# with use after scope g++ 12 needs half an hour for one kernel, whose loops are unrolled into thousands of temporaries
SANITIZER_FLAGS = -fno-sanitize-recover=all -fno-omit-frame-pointer -fno-sanitize-address-use-after-scope
CCACHE := $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
sanitize:
	@set -e; for kind in $(SANITIZERS); do place=build/sanitize/$${kind%%,*}; \
	  cmake -S cpp_core -B $$place $(CCACHE) -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER=$(CXX) \
	    -DCMAKE_CXX_FLAGS="-O1 -g1 -fsanitize=$$kind $(SANITIZER_FLAGS)" >/dev/null; \
	  echo "sanitize: $$kind"; cmake --build $$place --parallel $${JOBS:-2} >$$place.log 2>&1 || { tail -n 30 $$place.log; exit 1; }; \
	  ctest --test-dir $$place --output-on-failure; done

# damaged inputs of every kind: TRIES of each test, from any SEED; test-long tries 200 of seed 0
FUZZ = $(wildcard test/*/test_*fuzz.py) test/robot_file/test_check_and_up.py
fuzz: build $(VENV)/.installed_dev
	@FUZZ_TRIES=$${TRIES:-2000} FUZZ_SEED=$${SEED:-0} OPENBLAS_NUM_THREADS=1 $(PY) -m pytest --timeout 7200 $(FUZZ) $(ARGS)

# every rule of the guard removed in turn from a copy: the tests that fail; exit status 1 if a rule can go unnoticed
mutants: build $(VENV)/.installed_dev
	@$(PY) tools/mutants.py $(ARGS)

wheels: $(VENV)/.installed # manylinux, x86-64 and aarch64, and the sdist: dist/; ARGS="--python 3.11 --machine aarch64"
	@$(PY) -m pip install -q ziglang auditwheel && $(PY) tools/wheels.py $(ARGS)

lint: build $(VENV)/.installed_dev
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	@$(VENV)/bin/clang-format --dry-run -Werror $$(git ls-files '*.cpp' '*.hpp')
	@$(VENV)/bin/mypy

stub: build $(VENV)/.installed_dev
	@$(PY) cpp_core/bindings/write_stub.py .
	@$(VENV)/bin/ruff format -q robot_dynamics_ros/_core.pyi

docs: build $(VENV)/.installed_dev
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build -q --strict

format: $(VENV)/.installed_dev
	@$(VENV)/bin/ruff check -q --fix . && $(VENV)/bin/ruff format -q .
	@$(VENV)/bin/clang-format -i $$(git ls-files '*.cpp' '*.hpp')

clean:
	rm -rf build dist *.egg-info robot_dynamics_ros/_core*.so bench/speed/native*.so
