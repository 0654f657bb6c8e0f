# Every target sets up what it needs in .venv on a fresh machine with Python 3.11 or newer.

PYTHON ?= python3
BIN := .venv/bin
TORCH := torch==2.13.0
export OMP_NUM_THREADS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: run test lint bench corpus clean
.DEFAULT_GOAL := run

# torch first and by its exact version: a range would fetch the newest build, with gigabytes of CUDA.
.venv/base: constraints.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "nvgf needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(TORCH)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[fast]'
	touch $@

.venv/dev: .venv/base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[dev]'
	touch $@

run: .venv/base
	$(BIN)/nvgf authorship run --author austen

# A thread for each of the two processes: more wait for one another most of the time.
test: .venv/dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.venv/bench: .venv/dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[bench]'
	touch $@

bench: .venv/bench
	$(BIN)/python benchmarks/filters.py

# The embedded corpus from the books, byte for byte: git says so if anything changed.
CORPUS := src/nvgf/authorship/data
corpus: .venv/base
	@test -n "$(NVGF_DATA)" || { echo "set NVGF_DATA to the folder that holds authorship/"; exit 2; }
	$(BIN)/nvgf corpus build "$(NVGF_DATA)/authorship" --catalogue $(CORPUS)/catalogue.csv -o $(CORPUS)/corpus.npz
	git diff --stat --exit-code -- $(CORPUS)

clean:
	rm -rf .venv build dist
