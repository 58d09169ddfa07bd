# Thin wrappers: each target is one command that you could type yourself.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

# What a lab needs, and what working on gpu-lab needs. Both are pinned with hashes; the stamp makes
# sure that they are installed once per change.
RUN := $(VENV)/.run
DEV := $(VENV)/.dev
# No addresses in the locks: whoever installs decides where packages come from.
LOCK := $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	--generate-hashes --no-header --no-annotate --no-emit-index-url
# The plugin image has this extra and nothing of the lab, which uv cannot leave out of a project.
PLUGIN := import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*project["optional-dependencies"]["plugin"], sep="\n")

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: lab-up
lab-up: $(RUN) ## Create the lab (ARGS="--name x" and the like are passed on)
	@$(BIN)/gpulab up $(ARGS)

.PHONY: lab-down
lab-down: $(RUN) ## Remove the lab
	@$(BIN)/gpulab down $(ARGS)

.PHONY: lab-status
lab-status: $(RUN) ## Show the lab's nodes and devices
	@$(BIN)/gpulab status $(ARGS)

.PHONY: doctor
doctor: $(RUN) ## Check whether this machine can run a lab
	@$(BIN)/gpulab doctor $(ARGS)

.PHONY: node-image
node-image: $(RUN) ## Build a kind node image from source, where none can be pulled (25 min on 2 cores)
	@$(BIN)/gpulab image build-node $(ARGS)

.PHONY: test
test: lint types layers unit kind e2e ## Run everything that a change must pass

.PHONY: lint
lint: $(DEV) ## Check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: types
types: $(DEV) ## Check types
	$(BIN)/mypy

.PHONY: layers
layers: $(DEV) ## Check that layers import downwards only
	$(BIN)/lint-imports

.PHONY: unit
unit: $(DEV) ## Run the tests that need no Docker
	$(BIN)/pytest tests/unit $(ARGS)

.PHONY: kind
kind: $(DEV) ## Run the tests on real kind clusters (GPULAB_REQUIRE=kind: no skipping)
	$(BIN)/pytest tests/kind $(ARGS)

# Groups are made, and put in their order, by tests/e2e itself.
SIDE_BY_SIDE := --dist loadgroup --no-loadscope-reorder
# On a lab or a cluster that is there, of which there is one: LABS= ARGS="--lab-use NAME".
LABS := -n 3 --lab-clusters 3
.PHONY: e2e
e2e: $(DEV) ## Run every scenario on real kind clusters
	$(BIN)/pytest tests/e2e $(LABS) $(SIDE_BY_SIDE) $(ARGS)

.PHONY: check-kubelet
check-kubelet: $(DEV) ## Compare the device manager with Kubernetes' own (Linux, Go or PyPI's)
	@$(BIN)/python -m tests.oracle.check $(ARGS)

.PHONY: format
format: $(DEV) ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: bench-up
bench-up: $(DEV) ## Measure `gpulab up` against bare kind, and the plugin
	$(BIN)/python benchmarks/up.py $(ARGS)

.PHONY: bench-plugin
bench-plugin: $(DEV) ## Measure the plugin beside the upstream sample (Linux, root, Go or PyPI's)
	@$(BIN)/python -m benchmarks.plugin $(ARGS)

.PHONY: lock
lock: $(DEV) ## Pin the newest versions of everything, with hashes
	$(LOCK) pyproject.toml --extra build -o requirements.lock
	$(LOCK) pyproject.toml --all-extras -o requirements-dev.lock
	@$(BIN)/python -c '$(PLUGIN)' >$(VENV)/plugin.in
	$(LOCK) $(VENV)/plugin.in -c requirements-dev.lock -o lab/images/plugin-requirements.lock

$(RUN): requirements.lock pyproject.toml
	@echo "Installing gpu-lab into $(VENV) (once, about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --require-hashes -r $<
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): requirements-dev.lock | $(RUN)
	@echo "Installing what tests and checks need into $(VENV) (once, about a minute)"
	@$(BIN)/pip install --quiet --require-hashes -r $<
	@touch $@
