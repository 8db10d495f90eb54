# The two commands: `make study` measures this machine and writes a report, `make test` runs
# everything that must hold. Both install what is missing after saying what they are about to do.

SHELL := /bin/bash
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
export RUSTDOCFLAGS := -D warnings
# Where cargo builds.
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help study release wheel scx test test-long audit docs bench bench-sim bench-sweep bench-runtime bench-server bench-dispatch bench-transfer bench-cachesim bench-cluster fuzz

help:
	@echo 'make study               measure this machine, predict, write study/report.html'
	@echo 'make study ARGS=--quick  the same within a minute; ARGS is passed to `warmcore study`'
	@echo 'make release             an archive for other machines in target/: binary, completions, manual pages, book, licences'
	@echo 'make wheel               the Python package for CPython 3.10 and later, in target/wheels'
	@echo 'make scx                 the program that loads a scheduler into the kernel; needs clang 16 and libelf'
	@echo 'make test                format, lints, docs, tests, licences, packages, the report in a browser'
	@echo 'make test-long           what takes longer: fuzzing, loom, schedules, Miri, races, faults, soak, calibrations and studies that must agree,'
	@echo '                         mutants that tests must notice'
	@echo 'make audit               licences and known vulnerabilities of every dependency; builds the auditor'
	@echo 'make docs                the book, in target/book; builds mdBook'
	@echo 'make bench               compare the receive path with smoltcp'
	@echo 'make bench-sim           compare the packet simulator with other simulators'
	@echo 'make bench-sweep         a sweep of 2,000 points on a local Dask cluster: workers busy, costs of tasks and rows, SimPy'
	@echo 'make bench-runtime       compare the live runtime with its peers'
	@echo 'make bench-server        compare echo servers on UDP sockets with their peers'
	@echo 'make bench-transfer      compare bulk transfers with iperf3 on the same wires; needs root'
	@echo 'make bench-cachesim      references a second through simulated caches, and whole runs compared with cachegrind'
	@echo 'make bench-cluster       references a second of simulated clusters, beside plain memory'
	@echo 'make bench-dispatch      compare the dispatch queue with its peers; ARGS=--quick for a first look'

study:
	@scripts/install-toolchain
	cargo build --release --locked --package warmcore-cli
	@$(TARGET)/release/warmcore study $(ARGS)

release:
	@scripts/install-toolchain
	cargo build --release --locked --package warmcore-cli
	@scripts/make-release $(TARGET)/release/warmcore $(TARGET)

wheel:
	@scripts/install-toolchain
	@scripts/check-wheel --build $(TARGET)/wheels

scx:
	@scripts/install-toolchain
	cargo build --release --locked --package warmcore-scx

test:
	@scripts/install-toolchain
	@scripts/timed 'installing tools' scripts/install-test-tools
	@scripts/timed 'format' cargo fmt --all --check
	@scripts/timed 'lints' cargo clippy --all-targets --locked -- -D warnings
	@scripts/timed 'documentation' cargo doc --no-deps --locked --quiet
	@scripts/timed 'packages' scripts/check-packages
	@scripts/timed 'building tests' cargo test --locked --no-run
	@WARMCORE_SOAK_SECONDS=20 scripts/timed 'tests' cargo test --locked
	@scripts/timed 'Python package' scripts/check-wheel
	@scripts/timed 'kernel' scripts/check-kernel --short
	@WARMCORE_SCHEDULES=100000 WARMCORE_SCHEDULE_SECONDS=15 scripts/timed 'schedules' scripts/check-schedules

# Holds what noise or time keeps out of `make test`: the coverage of intervals under every process of arrivals over
# 300 seeds, a fuzzer's minute on each target (frames, host trees, plans, journals), 100 kills of a plan's apply and of its
# undo and 100 changes by others on a veth, the live runtime's and the dispatch queue's wake-ups and orders under loom, two million schedules and a minute of full queues
# of the latter, Miri and ThreadSanitizer at it, each published package built by itself and used from outside, all states of the
# coherence protocol on five nodes, a refusal and a kill at
# each change of a plan for 128 cpus, the laboratory's images against a build of their source, ten minutes of the runtime's soak test, the agreement of two calibrations and of ten
# quick studies on a quiet machine, predictions of hot caches there, the calibration of the kernel's paths, the third source and a study of one cpu as commands, the time that a look at 512 cpus takes, and a sample of 200 spoilt places in the rooms that
# decide and reckon, which their tests must notice.
test-long: test fuzz audit
	cargo clippy --package warmcore-bench --all-targets --locked -- -D warnings
	cargo test --package warmcore-bench --locked
	cargo test --locked --package warmcore-dispatch --features tracing --test tracing
	RUSTFLAGS="--cfg loom" cargo test --release --locked --package warmcore-runtime --lib --target-dir target/loom model
	RUSTFLAGS="--cfg loom" cargo test --release --locked --package warmcore-dispatch --lib --target-dir target/loom model
	WARMCORE_SCHEDULES=1000000 scripts/check-schedules
	WARMCORE_PLANS=10000 WARMCORE_DISPATCH_SOAK_SECONDS=60 cargo test --locked --package warmcore-dispatch --lib random
	WARMCORE_COHERENCE_NODES=5 cargo test --locked --package warmcore-coherence --test protocol four_nodes -- --nocapture
	scripts/check-packages --long
	scripts/check-miri
	scripts/check-races
	WARMCORE_COVERAGE_SEEDS=300 cargo test --release --locked --package warmcore-sim --test packet intervals_contain
	cargo test --release --locked --package warmcore-sim --test cluster -- --ignored --nocapture
	cargo test --locked --package warmcore-stack --test behaviour -- --ignored a_million
	scripts/build-lab $(TARGET)/lab/images
	WARMCORE_LAB=$(abspath $(TARGET))/lab/images cargo test --locked --package warmcore-layout --test lab -- --ignored kept_images
	WARMCORE_CHANGES=all cargo test --locked --package warmcore-study --test placement faults
	WARMCORE_ROUNDS=100 cargo test --locked --package warmcore-cli --test command -- --nocapture tuning::kills tuning::foreign
	WARMCORE_SOAK_SECONDS=600 cargo test --locked --package warmcore-runtime --test live soak
	cargo run --release --locked --package warmcore-measure --example calibrate -- --twice
	scripts/check-kernel
	WARMCORE_STUDIES=10 cargo test --release --locked --package warmcore-cli --test repeat -- --ignored --nocapture
	cargo test --release --locked --package warmcore-cli --test command -- --ignored kernels_path source_is_reproduced \
		one_cpu_is_enough costs_of_connections
	cargo test --release --locked --package warmcore-cli --test command -- --ignored of_hot_caches --nocapture
	cargo test --release --locked --package warmcore-cli --test command -- --ignored the_largest_host --nocapture
	WARMCORE_RECORDINGS=5 cargo test --release --locked --package warmcore-cli --test command -- --ignored recorded_mixes --nocapture
	cargo build --release --locked --package warmcore-cli
	WARMCORE_LONG=1 WARMCORE_BINARY=$(abspath $(TARGET))/release/warmcore WARMCORE_WHEEL_PROFILE=release scripts/check-wheel -s
	scripts/check-mutants

bench:
	@scripts/install-toolchain
	cargo bench --locked --package warmcore-bench --bench stack

bench-sim:
	@scripts/install-toolchain
	@scripts/install-bench-peers sim
	cargo bench --locked --package warmcore-bench --bench simulator

bench-sweep:
	@scripts/install-toolchain
	@scripts/bench-sweep $(ARGS)

bench-runtime:
	@scripts/install-toolchain
	cargo bench --locked --package warmcore-bench --bench runtime

bench-server:
	@scripts/install-toolchain
	cargo bench --locked --package warmcore-bench --bench server

bench-transfer:
	@scripts/install-toolchain
	@scripts/install-bench-peers transfer
	cargo bench --locked --package warmcore-bench --bench transfer

bench-cluster:
	@scripts/install-toolchain
	cargo bench --locked --package warmcore-bench --bench cluster

bench-cachesim:
	@scripts/install-toolchain
	@scripts/install-bench-peers cachesim
	cargo bench --locked --package warmcore-bench --bench cachesim

bench-dispatch:
	@scripts/install-toolchain
	@scripts/install-bench-peers dispatch
	cargo bench --locked --package warmcore-bench --bench dispatch -- $(ARGS)

audit:
	@scripts/install-toolchain
	@scripts/audit

docs:
	@scripts/install-toolchain
	@scripts/install-docs-tools
	target/tools/bin/mdbook build docs

fuzz:
	@scripts/fuzz
