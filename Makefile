# Two commands do everything on a fresh machine with Python >= 3.11, make and git: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# tests and tools start many processes: none of them is to compile everything anew, whatever the environment says
export PYTHONDONTWRITEBYTECODE :=
WORKERS ?= auto
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check --no-compile
# uv installs in a fifth of pip's time; where it cannot be had, or fails, pip installs (and says what is wrong)
INSTALL := install() { $(BIN)/python -m uv pip install -q --python $(BIN)/python "$$@" 2>/dev/null || $(PIP) "$$@"; }; install
EXTRAS ?= test,docs
# what is said at the same time is told apart, where make can do that (macOS has 3.81, which cannot)
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
SOURCES := pyproject.toml setup.py $(wildcard src/amble/native/*.c src/amble/native/*.h)

.PHONY: demo test check help quick fast lint types pages pure orders mutants docs bench reproduce cranfield cisi vaswani fuzz attack wheels clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    install, make a small collection, run the main job on it"
	@echo "make test    install what the tests need, run all checks and tests"
	@echo "make check   ruff, mypy --strict, docs, tests"
	@echo "make quick   ruff, mypy --strict, the fast tests and those of what was changed, in a minute"
	@echo "make orders  all tests ten times, each time in another random order: no test may fail now and then"
	@echo "make mutants deliberate bugs, one at a time: which test catches each"
	@echo "make bench   amble beside its peers, ratios printed; OLD=path: beside an older checkout"
	@echo "make reproduce  283 published figures beside ours (AMBLE_DATA names the folder with trec8/)"
	@echo "make cranfield, make cisi, make vaswani  index, search, evaluate, compare, pool (AMBLE_DATA: with collections/)"
	@echo "make fuzz    200,000 mutated files through the C reader under sanitizers"
	@echo "make attack  every command with every option, extreme values and odd files"
	@echo "make wheels  build both wheels, install each into an empty environment, try them"
	@echo "make docs    write the pages of the measures, run the notebooks, build the site into site/"

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "amble needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) 'uv>=0.5,<1' 2>/dev/null || echo "uv could not be installed: pip installs, which takes longer"
	touch $@

$(VENV)/.installed: $(VENV)/.made $(SOURCES)
	$(INSTALL) -e .
	touch $@

# the demo ends with a report; without its extra (nothing to fetch it from, say) it ends with a word about that
$(VENV)/.demo: $(VENV)/.made $(SOURCES)
	$(INSTALL) -e '.[report]' || install -e .
	touch $(VENV)/.installed $@

$(VENV)/.test: $(VENV)/.made $(SOURCES)
	$(INSTALL) -e '.[$(EXTRAS)]'
	touch $(VENV)/.installed $(VENV)/.demo $@

$(VENV)/.bench: $(VENV)/.made $(SOURCES)
	$(INSTALL) -e '.[bench]'
	touch $(VENV)/.installed $@

$(VENV)/.search: $(VENV)/.made $(SOURCES)
	$(INSTALL) -e '.[search]'
	touch $(VENV)/.installed $@

demo: $(VENV)/.demo
	$(BIN)/amble demo

# one after the other, also below make -j: each pass takes all cores
test: check
	$(MAKE) --no-print-directory pure

check: $(VENV)/.test
	$(MAKE) --no-print-directory $(SYNC) -j2 lint types pages
	$(PYTEST)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

pages: $(VENV)/.test
	$(BIN)/python docs/make_pages.py --charts
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	$(BIN)/amble explore -o site/play.html --quiet >/dev/null

# what reads or walks once more, with the C parts hidden (tests/twins.py)
pure: $(VENV)/.test
	AMBLE_PURE=1 $(PYTEST)

# while working: SINCE names the commit whose difference to the files as they are is "what was changed"
SINCE ?= HEAD
quick: $(VENV)/.test
	$(MAKE) --no-print-directory $(SYNC) -j3 lint types fast

fast: $(VENV)/.test
	AMBLE_QUICK=$(SINCE) $(PYTEST)

# ten times in a row, each in another order, and with other examples of the property tests; it stops where one fails
ORDERS ?= 1 2 3 4 5 6 7 8 9 10
orders: $(VENV)/.test
	@unset CI; for seed in $(ORDERS); do \
		echo "order $$seed"; \
		AMBLE_ORDER=$$seed $(PYTEST) && AMBLE_ORDER=$$seed AMBLE_PURE=1 $(PYTEST) || exit 1; \
	done

mutants: $(VENV)/.test
	$(BIN)/python fuzz/mutants.py

docs: $(VENV)/.test
	$(BIN)/python docs/make_stub.py
	$(BIN)/python docs/make_modules.py
	$(BIN)/python docs/make_pages.py
	$(BIN)/python docs/make_mistakes.py
	$(BIN)/python docs/make_notebooks.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# with OLD: what people wait for, in that checkout and in this one; ROWS="cold 'report depth'" for some of it
WORKLOAD ?= .bench
ifdef OLD
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/bench_waits.py $(OLD) . $(WORKLOAD) $(if $(ROWS),--only $(ROWS))
else
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/workload.py $(WORKLOAD)
	$(BIN)/python benchmarks/bench_read.py $(WORKLOAD) $(if $(SKETCH),--sketch $(SKETCH))
	$(BIN)/python benchmarks/bench_dicts.py
	$(BIN)/python benchmarks/bench_eval.py $(WORKLOAD) $(if $(TREC_EVAL),--trec-eval $(TREC_EVAL))
	$(BIN)/python benchmarks/bench_arrays.py
	$(BIN)/python benchmarks/bench_cwl.py $(WORKLOAD)
	$(BIN)/python benchmarks/bench_walk.py $(WORKLOAD)
	$(BIN)/python benchmarks/bench_markov.py $(WORKLOAD)
	$(BIN)/python benchmarks/bench_intents.py $(WORKLOAD)
	$(BIN)/python benchmarks/bench_meta.py
	$(BIN)/python benchmarks/bench_compare.py $(WORKLOAD)
	$(BIN)/python benchmarks/bench_session.py
	$(BIN)/python benchmarks/bench_search.py
	$(BIN)/python benchmarks/bench_fuse.py $(WORKLOAD)
	$(BIN)/python benchmarks/bench_logs.py $(WORKLOAD)/logs --records 300000 3000000
	$(BIN)/python benchmarks/bench_report.py $(WORKLOAD)
	$(BIN)/python benchmarks/bench_cluster.py $(WORKLOAD) --only evaluate simulate fit tukey pieces
endif

reproduce: $(VENV)/.installed
	$(BIN)/python reproductions/all.py

cranfield cisi vaswani: $(VENV)/.search
	$(BIN)/python reproductions/end_to_end.py $@

FUZZ_FILES ?= 200000
fuzz: $(VENV)/.test
	$(BIN)/python fuzz/fuzz_reader.py --files $(FUZZ_FILES)
	$(BIN)/python fuzz/fuzz_streams.py --files $(FUZZ_FILES)

# every command with every option, extreme values and odd files
CASES ?= 6000
attack: $(VENV)/.test
	$(BIN)/python fuzz/attack_commands.py --cases $(CASES)

# one with the C parts for every CPython, one without: built, checked, installed where there is nothing else, and tried
$(VENV)/.release: $(VENV)/.made $(SOURCES)
	$(INSTALL) -e '.[release]'
	touch $(VENV)/.installed $@

wheels: $(VENV)/.release
	$(BIN)/python release/wheels.py
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

clean:
	rm -rf $(VENV) build dist site docs/measures/charts .bench .fuzz .mypy_cache .pytest_cache .ruff_cache .hypothesis demo end_to_end src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f src/amble/native/*.so
