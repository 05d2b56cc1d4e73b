# What to type. Everything that these do stands in scripts/, and CI calls `make test` alone.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help deps deps-test deps-fuzz build install-c dist release-check demo test lint msrv test-rust test-python test-c test-readme test-torch originals test-tf test-jax test-paddle test-ship test-arm test-regions torture chaos simulation model single-step soak bench seek compare parity gallery compat fuzz chart docs site clean

# PyO3 would link libpython without these, and cargo would build it anew whenever maturin had been here.
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
export PYO3_BUILD_EXTENSION_MODULE := 1

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

deps: ## Install what the build needs, or name it where that may not be
	@scripts/deps.sh

build: deps ## Build in release and install the wheel into .venv
	cargo build --release --locked -p forebay -p forebay-python
	scripts/wheel.sh release target/release/forebay

PREFIX ?= /usr/local
install-c: deps ## Build the library for C in release, and install it: make install-c [PREFIX=/usr/local] [DESTDIR=]
	DESTDIR="$(DESTDIR)" scripts/c.sh release "$(PREFIX)"

dist: deps ## Build what a release has into dist/, with SHA256SUMS: wheels, Debian packages, site, and as root images
	scripts/dist.sh

release-check: deps ## Say what is missing for a release of this commit; BUILDS=1 also builds the wheels again, and compares them with those of dist/
	@.venv/bin/python scripts/release.py $(if $(BUILDS),--builds)

demo: build ## Train on generated pictures, with a summary and demo-preview.png
	@.venv/bin/python scripts/demo.py

test: deps-test ## Run everything: lints, all tests, documents, README
	@.venv/bin/python scripts/test.py

lint: deps ## Formatting, spelling, clippy, rustdoc, ruff
	@.venv/bin/python scripts/test.py format spelling clippy rustdoc ruff

msrv: deps ## The oldest Rust that Cargo.toml promises: installs it with rustup, and checks the workspace with it
	@if command -v rustup >/dev/null; then rustup toolchain install --profile minimal "$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)"; fi
	@.venv/bin/python scripts/test.py msrv

test-rust: deps ## Rust: unit, integration and doc tests
	@.venv/bin/python scripts/test.py rust

test-python: deps ## Python: the package against a freshly built wheel
	@.venv/bin/python scripts/test.py wheel pytest

test-c: deps-test ## C and C++: programs with the library, against a freshly built daemon
	@.venv/bin/python scripts/test.py wheel c

test-readme: deps ## The README's blocks, and the documents that are made from code
	@.venv/bin/python scripts/test.py wheel documents systemd readme

test-torch: deps ## PyTorch, Lightning, Accelerate, timm, matplotlib: installs them into .venv, which is large, and runs their tests
	.venv/bin/python -m pip install -q --disable-pip-version-check torch torchvision lightning accelerate timm matplotlib mypy
	@.venv/bin/python scripts/test.py wheel torch

originals: deps ## Beside the original libraries: torchvision, Pillow, Lightning, Accelerate, Trainer, readers; installs them into .venv
	.venv/bin/python -m pip install -q --disable-pip-version-check torch torchvision lightning accelerate transformers albumentations==2.0.8 kornia
	@.venv/bin/python scripts/test.py wheel originals

test-tf: deps ## TensorFlow: installs it into target/tensorflow, which takes 1.6 GB, and runs its tests
	@.venv/bin/python scripts/test.py wheel tensorflow

test-jax: deps ## JAX and Flax: installs them into target/jax, and runs their tests on the CPU
	@.venv/bin/python scripts/test.py wheel jax

test-paddle: deps ## Paddle: installs it into target/paddle, which takes 1 GB, and runs its tests on the CPU
	@.venv/bin/python scripts/test.py wheel paddle

test-ship: deps-test ## What is shipped, as a stranger uses it: Debian packages under systemd, images in containers, the chart, alerts; as root
	@.venv/bin/python scripts/test.py wheel ship

test-arm: deps ## Decoders, pixels, rings and an epoch as built for 64-bit ARM, by zig and QEMU; downloads a Debian for ARM into target/
	@.venv/bin/python scripts/test.py wheel arm

TORTURE_SECONDS ?= 600
torture: deps ## Whatever may happen to trainers and a daemon, for TORTURE_SECONDS (600)
	@FOREBAY_TORTURE_SECONDS=$(TORTURE_SECONDS) .venv/bin/python scripts/test.py wheel torture

CHAOS_SECONDS ?= 600
chaos: deps ## Whatever may happen to a cluster, with real processes, for CHAOS_SECONDS (600)
	@FOREBAY_CHAOS_SECONDS=$(CHAOS_SECONDS) .venv/bin/python scripts/test.py chaos

SEEDS ?= 500
simulation: deps ## Whatever may happen to a cluster, simulated in release, with so many SEEDS (500)
	@FOREBAY_SIMULATION_SEEDS=$(SEEDS) .venv/bin/python scripts/test.py simulation

HISTORIES ?= 15000
model: deps ## A million random commands to ledgers against a naive model, in release, in so many HISTORIES (15000)
	@PROPTEST_CASES=$(HISTORIES) .venv/bin/python scripts/test.py model

STEP_KILLS ?= 2000
single-step: deps ## Kill trainers and daemons after any instruction, STEP_KILLS (2000) times in each call
	FOREBAY_STEP_KILLS=$(STEP_KILLS) cargo test --release --locked -p forebay --test service single_step -- --nocapture --test-threads 1

SECONDS ?= 3600
soak: build ## Epochs of a small set for SECONDS (3600), at constant memory, descriptors and threads
	@benches/soak/run $(SECONDS)

bench: deps ## The benchmarks, which judge nothing: make bench [DATA=FOLDER_OF_PICTURES]
	cargo build --release --locked -p forebay
	cargo bench --locked -p forebay-benches --benches
	@benches/sources/run $(DATA)
	@benches/trainers/run
	@benches/recipes/run $(DATA) --installed

test-regions: deps ## 50 regions of every JPEG of FOREBAY_TEST_DATA, with seek points and without, in release
	cargo test --release --locked -p forebay-jpeg --test seek -- --nocapture

seek: deps ## What seek points take and give: make seek DATA=FOLDER_OF_JPEGS
	@benches/seek/run "$(DATA)"

compare: build ## Beside its peers: make compare DATA=FOLDER [ARGS="--work train"]
	cargo build --release --locked -p forebay-benches --example bare
	@benches/compare/run "$(DATA)" $(ARGS)

parity: build ## Write docs/parity.md anew: make parity DATA=FOLDER, which has imagenet/ and conformance/
	.venv/bin/python scripts/formats.py target/parity/formats
	.venv/bin/forebay parity "$(DATA)/imagenet" "$(DATA)/conformance" target/parity/formats \
	  --recipe torchvision --recipe timm --recipe dinov2 --recipe yolo --markdown docs/parity.md -o target/parity/worst.png

gallery: build ## Draw docs/pictures/transforms.png anew: a picture for each operation
	.venv/bin/python scripts/gallery.py

compat: build ## Keep what this release writes and says: clients/python/tests/compat has it for later builds
	cargo build --locked -p forebay-fake-gpu
	.venv/bin/python clients/python/tests/compat/write.py

deps-test: ## Install what the tests need beside the build: g++ and pkg-config, or name it
	@scripts/deps.sh test

deps-fuzz: ## Install what fuzzing needs: g++, a nightly toolchain and cargo-fuzz, or name it
	@scripts/deps.sh fuzz

FUZZ_SECONDS ?= 600
fuzz: ## Fuzz each target for FUZZ_SECONDS (600); TARGETS names some of them
	scripts/fuzz.sh $(FUZZ_SECONDS) $(TARGETS)

chart: ## Write deploy/kubernetes/plain.yaml anew, and the chart's alerts; downloads Helm into target/
	@python3 scripts/chart.py --write

docs: deps ## Write anew what is made from keys: docs/configuration.md, the Loader's arguments
	cargo build --locked -p forebay
	.venv/bin/python scripts/settings.py --write

site: ## Build docs/ as a site into target/site, with a search; downloads mkdocs into target/
	@scripts/site.sh

clean: ## Remove what make made, but for installed packages
	rm -rf target dist .venv .demo demo-preview.png clients/python/{python/forebay/bin,LICENSE-*,NOTICES,README.md}
