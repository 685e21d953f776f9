# One command does the main job: `make run`. `make help` lists the others.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST := $(shell find crates Cargo.toml Cargo.lock -name '*.rs' -o -name '*.[ch]' -o -name 'Cargo.*' -type f 2>/dev/null)
SHIM_SOURCE := crates/ports/src/dpdk/shim
SHIM := python/flowgauge/libflowgauge_dpdk.so
FUZZ_SECONDS ?= 60

.PHONY: help run test test-rust test-python lint format bench fuzz truth reproduction docs schema clean host-packages dpdk

help:
	@echo 'make run      set up, then benchmark the embedded software switch (no root needed)'
	@echo 'make test     set up, then all tests (as root also against Open vSwitch)'
	@echo 'make lint     formatters, linters, type checker'
	@echo 'make bench    our speed beside a peer in one run; CASE=name for one case (root)'
	@echo 'make fuzz     every fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS) seconds (Rust nightly, cargo-fuzz)'
	@echo 'make truth    every estimator on 200 simulated devices of known properties; DEVICES=40 SEED=7'
	@echo 'make reproduction  published tables beside runs on the models of their devices, into docs/'
	@echo 'make docs     the documentation site, into site/'
	@echo 'make format   format everything'
	@echo 'make dpdk     the shim for DPDK ports alone (the others build it too, when libdpdk-dev is installed)'
	@echo 'make clean    remove what was built'

run: $(VENV)/.runtime
	$(BIN)/flowgauge run quick

test: host-packages test-rust test-python

test-rust: $(VENV)/.tools
	cargo test --workspace --quiet

test-python: $(VENV)/.dev
	$(BIN)/pytest

# Packages that live tests need; without root they are skipped, and the tests say so.
host-packages:
	@tools/host-packages.sh

lint: $(VENV)/.dev
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check --quiet python tests bench tools
	$(BIN)/ruff check --quiet python tests bench tools
	$(BIN)/mypy

format: $(VENV)/.dev
	cargo fmt --all
	$(BIN)/ruff format --quiet python tests bench tools
	$(BIN)/ruff check --fix --quiet python tests bench tools

bench: $(VENV)/.dev host-packages
	cargo build --release --quiet --examples
	$(BIN)/python -m bench $(if $(CASE),--case $(CASE)) $(if $(PAIRS),--pairs $(PAIRS))

fuzz:
	@tools/fuzz.sh $(FUZZ_SECONDS)

truth: $(VENV)/.runtime
	$(BIN)/python -m flowgauge.truth $(if $(DEVICES),--devices $(DEVICES)) $(if $(SEED),--seed $(SEED))

reproduction: $(VENV)/.runtime
	$(BIN)/python tools/reproduction.py

docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict --quiet

# DPDK ports need it, nothing else does.
dpdk: $(SHIM)

$(SHIM): $(wildcard $(SHIM_SOURCE)/*)
	@$(SHIM_SOURCE)/build.sh $@ || { echo 'No shim for DPDK ports: apt-get install libdpdk-dev pkg-config gcc' >&2; exit 1; }

schema: $(VENV)/.runtime
	$(BIN)/python -m flowgauge.results.schema docs/schema

clean:
	rm -rf target site $(VENV) python/flowgauge/*.so

# The virtual environment: first what builds, then the package with its extension in release mode, then the tools for developers.
$(VENV)/.tools: tools/check-tools.sh
	@PYTHON=$(PYTHON) tools/check-tools.sh
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.tools pyproject.toml $(RUST)
	@echo 'Setting up $(VENV): first time a few minutes'
	$(BIN)/pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
	PIP_QUIET=1 $(BIN)/maturin develop --release --quiet
	@if pkg-config --exists libdpdk 2>/dev/null; then $(MAKE) --no-print-directory dpdk || true; fi
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	$(BIN)/pip install --quiet --disable-pip-version-check -r tools/requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(VENV)/os-ken-applications \
		-r tools/requirements-osken-applications.txt
	@touch $@
