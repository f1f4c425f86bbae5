# SPDX-License-Identifier: MIT
#
# Two commands on a fresh machine: `make run` and `make test`. Everything else is here for
# convenience; meson and ninja do the work.

OUT     := $(CURDIR)/out
# Warnings are errors where CI asks for it: other compilers find others.
SETUP   := $(if $(CI),--werror) --wrap-mode=nodownload
JOBS    ?= $(shell nproc)

help:
	@echo "make run           build, then compile, run and check the examples; writes mandelbrot.png"
	@echo "make test          build and run all tests, plain, under ASan+UBSan and under TSan"
	@echo "make check ROOM=X  build and run the tests of one room: the last folder of its path in src/rooms.txt, such as"
	@echo "                   regalloc; two rooms have the name sync (memory): hal-sync and virtual-sync, or sync for both"
	@echo "make bench         measure code and compile time against Honeykrisp's, host costs, what captures cost, the simulator, wall time against lavapipe"
	@echo "make bench-scale   compile time and memory for kernels of 10^3 to 10^6 instructions, of many shapes"
	@echo "make bench-wide    the same race over thousands of modules of other people's packages (downloads them, root)"
	@echo "make build         build and install into ./out"
	@echo "make test-aarch64  cross-build for aarch64 and run all tests in a machine of QEMU with 16 KiB pages (an hour or two)"
	@echo "make test-portable build the compiler alone with musl and strict POSIX, and run its tests"
	@echo "make test-mesa     run Mesa's Honeykrisp of Debian sid on the virtual AGX (downloads packages, needs root)"
	@echo "make test-html     open the pages of agxdump html in Chromium without a screen, and use them (installs it)"
	@echo "make test-kernel   run the tests of timelines on Debian's own kernels in QEMU (downloads kernels)"
	@echo "make test-releases run both of README's commands in fresh folders with Debian 12, 13 and sid (root, network)"
	@echo "make fuzz          fuzz what reads data of strangers, ten minutes each (clang); FUZZ=\"--seconds 60 replay\""
	@echo "make soak          ten million random requests to the virtual device, under ASan+UBSan"
	@echo "make hal-soak      ten minutes of random operations from eight threads, with faults, under ASan+UBSan"
	@echo "make robust-soak   the corpus and random kernels with their buffers shrunk at random"
	@echo "make random-vertex a hundred thousand random attributes against the model of vertex fetch"
	@echo "make random-large  a hundred thousand accesses to a buffer of 8 GiB against 64-bit arithmetic"
	@echo "make image-formats every image format, shape and sampler against the model of their texels"
	@echo "make random        ten thousand random kernels, optimised and not, and on lavapipe"
	@echo "make mutate        five thousand mutants of bench-wide's modules, which must compute what the modules do"
	@echo "make ulp           errors of floating-point operations against MPFR and Vulkan's table (docs/precision.md)"
	@echo "make check-threads check with clang that functions hold the locks that they say they need"
	@echo "make format        lay out the sources with clang-format"
	@echo "make clean         remove everything that was built"

deps:
	@scripts/install-deps.sh

build-out/build.ninja: | deps
	meson setup build-out $(SETUP) --prefix=$(OUT) --libdir=lib -Doptimization=2

# What is installed; `make test` builds the tests.
build: deps build-out/build.ninja
	ninja -C build-out -j $(JOBS) shipped
	@meson install -C build-out --quiet --no-rebuild
	@echo "Installed in $(OUT)"

run: build
	$(MAKE) -s -C examples run OUT=$(OUT)

# Plain, then sanitized. Tests that start threads form the suite `threads`. The runtimes keep the
# signals of crashes, which cmocka would catch without a word of where.
CRASHES   := handle_segv=2:handle_sigbus=2:handle_sigfpe=2:handle_sigill=2
SANITIZED := ASAN_OPTIONS=$(CRASHES) UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
   TSAN_OPTIONS=halt_on_error=1:$(CRASHES)
build-tests: build
	ninja -C build-out -j $(JOBS)
test: build-tests
	meson test -C build-out --no-rebuild --print-errorlogs
	@[ -f build-asan/build.ninja ] || meson setup build-asan $(SETUP) -Doptimization=1 \
	   -Db_sanitize=address,undefined -Db_lundef=false
	ninja -C build-asan -j $(JOBS)
	$(SANITIZED) meson test -C build-asan --no-rebuild --print-errorlogs --timeout-multiplier 4
	@[ -f build-tsan/build.ninja ] || meson setup build-tsan $(SETUP) -Doptimization=1 \
	   -Db_sanitize=thread -Db_lundef=false
	ninja -C build-tsan -j $(JOBS)
	$(SANITIZED) meson test -C build-tsan --no-rebuild --print-errorlogs --timeout-multiplier 8 --suite threads

# The edit-test loop: builds and runs the tests of one room, such as regalloc, record or gpu.
check: deps build-out/build.ninja
	@[ -n "$(ROOM)" ] || { echo "Name a room: make check ROOM=regalloc. The rooms: src/rooms.txt."; exit 2; }
	meson test -C build-out --print-errorlogs --suite $(ROOM)

# The race is against recorded figures of Honeykrisp, or against itself where `make test-mesa` has
# made its folder. The last part needs Vulkan's headers when building, and lavapipe.
PEER_ROOT ?= $(HOME)/.cache/agx-peer/sid
bench: build
	scripts/host.py --out $(OUT) \
	   $$([ "$$(id -u)" = 0 ] && [ -f $(PEER_ROOT)/usr/share/vulkan/icd.d/asahi_icd.json ] && echo --peer)
	@echo
	scripts/race.py --out $(OUT) \
	   $$([ "$$(id -u)" = 0 ] && [ -f $(PEER_ROOT)/usr/share/vulkan/icd.d/asahi_icd.json ] && echo --peer)
	@echo
	scripts/robust.py --out $(OUT)
	@echo
	scripts/capture_cost.py --out $(OUT)
	@echo
	ninja -C build-out -j $(JOBS) tests/sim/sim_bench && build-out/tests/sim/sim_bench
	@[ -x $(OUT)/bin/agx-vkbench ] || ! pkg-config --exists vulkan || \
	   { meson setup --reconfigure build-out >/dev/null && $(MAKE) -s build; }
	@if [ -x $(OUT)/bin/agx-vkbench ]; then echo; $(OUT)/bin/agx-vkbench; \
	else echo "No comparison with lavapipe: scripts/install-deps.sh bench installs what that needs."; fi

# Work, counted in basic blocks, time and memory of compiling large modules; tests/compiler/scale_bench.c tells
# what SCALE takes. check-scale: that ten times the code is at most twelve times the work.
SCALE ?=
bench-scale check-scale: deps
	@[ -f build-work/build.ninja ] || meson setup build-work $(SETUP) -Doptimization=2 \
	   -Dcount_work=true -Db_lundef=false
	ninja -C build-work -j $(JOBS) tests/compiler/scale_bench
	@build-work/tests/compiler/scale_bench $(if $(filter check-scale,$@),--most 10000 --check) $(SCALE)

# The race over other people's modules; WIDE takes options of scripts/wide, such as --family ggml.
WIDE ?=
bench-wide: build
	@scripts/install-deps.sh wide
	@python3 scripts/wide --out $(OUT) $(WIDE)

# All suites, in a machine with Debian's own kernel and 16 KiB pages; goes on where it was stopped. scripts/aarch64.sh says what
# AARCH64_* do.
AARCH64_SUITES ?=
test-aarch64: deps
	@scripts/install-deps.sh aarch64
	@[ -f build-aarch64/build.ninja ] || meson setup build-aarch64 $(SETUP) -Doptimization=2 \
	   --cross-file scripts/aarch64.ini
	ninja -C build-aarch64 -j $(JOBS)
	@scripts/aarch64.sh $(AARCH64_SUITES)

# The compiler without anything of Linux.
test-portable: deps
	@scripts/portable.sh

# Debian sid's own Mesa on the virtual AGX; scripts/mesa.sh says what MESA_MODES, MESA_KERNELS,
# MESA_CHIP and MESA_JSON do, and where its folder lies.
test-mesa: build
	@OUT=$(OUT) scripts/mesa.sh test

# Pages of agxdump html, used by keyboard and pointer at several widths, in light and dark.
test-html: build
	@scripts/install-deps.sh html
	@scripts/html_test.py --out $(OUT)

# README's commands on fresh Debian 12, 13 and sid; scripts/releases.sh says what RELEASES_* do.
test-releases:
	@scripts/releases.sh

# The kernel's own timelines, without a GPU; scripts/kernel.sh says what KERNEL_SUITES,
# KERNEL_CACHE and KERNEL_MIRROR do.
test-kernel: build-tests
	ninja -C build-out -j $(JOBS) tests/kernel/kernel_init tests/virtual/kernel_rows_test
	@BUILD=$(CURDIR)/build-out scripts/kernel.sh

# libFuzzer over what reads data of strangers; scripts/fuzz.sh says what FUZZ takes, such as --seconds 60 replay.
FUZZ ?=
fuzz: deps
	@scripts/install-deps.sh fuzz
	@scripts/fuzz.sh $(FUZZ)

# Random requests to the virtual device's node; `make test` sends four million of them.
SOAK_IOCTLS ?= 10000000
SOAK_SEED   ?= 1
# 1: with children that die in the middle
SOAK_CHILDREN ?= 0
soak: deps
	@[ -f build-asan/build.ninja ] || meson setup build-asan $(SETUP) -Doptimization=1 \
	   -Db_sanitize=address,undefined -Db_lundef=false
	ninja -C build-asan -j $(JOBS) tests/virtual/virtual_doors_test
	AGX_SOAK_REQUESTS=$(SOAK_IOCTLS) AGX_SOAK_SEED=$(SOAK_SEED) AGX_SOAK_CHILDREN=$(SOAK_CHILDREN) \
	   $(SANITIZED) build-asan/tests/virtual/virtual_doors_test soak

# Everything at random to the HAL; `make test` does so for some seconds.
HAL_SOAK_SECONDS ?= 600
HAL_SOAK_SEED    ?= 1
hal-soak: deps
	@[ -f build-asan/build.ninja ] || meson setup build-asan $(SETUP) -Doptimization=1 \
	   -Db_sanitize=address,undefined -Db_lundef=false
	ninja -C build-asan -j $(JOBS) tests/system_test
	AGX_HAL_SOAK_SECONDS=$(HAL_SOAK_SECONDS) AGX_HAL_SOAK_SEED=$(HAL_SOAK_SEED) \
	   $(SANITIZED) build-asan/tests/system_test soak

# Random kernels; `make test` runs a few.
RANDOM_KERNELS ?= 10000
RANDOM_SEED    ?= 1
random: build-tests
	scripts/random.sh build-out/tests/system_test $(RANDOM_KERNELS) $(RANDOM_SEED)

# Other people's modules, changed without changing what they mean; `make bench-wide` gets them.
MUTANTS     ?= 5000
MUTATE_SEED ?= 1
mutate: build
	python3 scripts/mutate --mutants $(MUTANTS) --seed $(MUTATE_SEED)

# The corpus in robust modes, each binding shrunk at random; `make test` tries a few.
ROBUST_SEEDS ?= 1000
ROBUST_SEED  ?= 1
robust-soak: build-tests
	AGX_TEST_SOURCE_DIR=$(CURDIR)/tests AGX_TEST_SHARED_DIR=$(CURDIR)/tests \
	   AGX_ROBUST_SEEDS=$(ROBUST_SEEDS) AGX_ROBUST_SEED=$(ROBUST_SEED) build-out/tests/system_test robust
	AGX_RANDOM_KERNELS=$(ROBUST_SEEDS)0 AGX_RANDOM_SEED=$(ROBUST_SEED) build-out/tests/system_test shrunk

VERTEX_SETUPS ?= 100000
VERTEX_SEED   ?= 1
random-vertex: build-tests
	AGX_TEST_SOURCE_DIR=$(CURDIR)/tests AGX_TEST_SHARED_DIR=$(CURDIR)/tests \
	   AGX_VERTEX_SETUPS=$(VERTEX_SETUPS) AGX_VERTEX_SEED=$(VERTEX_SEED) build-out/tests/system_test vertex

# Accesses to a buffer of 8 GiB in every form; `make test` tries fewer.
LARGE_CASES ?= 100000
LARGE_SEED ?= 1
random-large: build-tests
	AGX_TEST_SOURCE_DIR=$(CURDIR)/tests AGX_TEST_SHARED_DIR=$(CURDIR)/tests \
	   AGX_LARGE_CASES=$(LARGE_CASES) AGX_LARGE_SEED=$(LARGE_SEED) build-out/tests/system_test large

# Every image format with every shape and sampler; `make test` tries a part.
image-formats: build-tests
	AGX_TEST_SOURCE_DIR=$(CURDIR)/tests AGX_IMAGE_FORMATS=all build-out/tests/system_test image_formats

# Errors of each floating-point operation, against MPFR. ULP_FULL=1: all 2^32 inputs of those with one operand, and where
# an earlier such run was stopped, from there on. Otherwise as many of each as ULP_INPUTS says, a power of two.
ULP_INPUTS ?= 4194304
ULP_FULL   ?=
ULP_STATES  = build-out/ulp-states$(if $(ULP_FULL),-full)
ulp: deps build-out/build.ninja
	@scripts/install-deps.sh ulp
	@ninja -C build-out -t query tests/ulp/ulp >/dev/null 2>&1 || meson setup --reconfigure build-out >/dev/null
	ninja -C build-out -j $(JOBS) tests/ulp/ulp
	@$(if $(ULP_FULL),,rm -rf $(ULP_STATES);) mkdir -p $(ULP_STATES)
	build-out/tests/ulp/ulp $(ULP_STATES) $(if $(ULP_FULL),all,$(ULP_INPUTS)) $(JOBS)

# What functions say of locks (src/base/thread.h), checked by clang over the libraries.
check-threads: deps
	@scripts/install-deps.sh check
	@[ -f build-threads/build.ninja ] || CC=clang meson setup build-threads $(SETUP) -Doptimization=0 \
	   -Dc_args=-Wthread-safety
	ninja -C build-threads -j $(JOBS) src/hal/libagxhal.so.0.1.0

SOURCES = $(shell git ls-files '*.c' '*.h')
format:
	clang-format -i $(SOURCES)
# Layout differs between versions of clang-format; with another one than CI's this only reports.
FORMAT_VERSION = 14
check-format:
	@if clang-format --version | grep -q 'version $(FORMAT_VERSION)\.'; then \
	   clang-format --dry-run --Werror $(SOURCES); \
	else \
	   echo "clang-format $(FORMAT_VERSION) decides layout, this is another: $$(clang-format --version)"; \
	   clang-format --dry-run $(SOURCES); \
	fi

clean:
	rm -rf build build-* out mandelbrot.png

.PHONY: help deps build build-tests run test check bench bench-scale check-scale bench-wide test-aarch64 test-portable test-mesa test-html test-kernel test-releases fuzz soak hal-soak robust-soak random mutate random-vertex random-large image-formats ulp check-threads format check-format clean
