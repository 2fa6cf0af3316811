# SPDX-License-Identifier: BSD-3-Clause
# A build with sanitizers (scripts/check --sanitize), and its tests.
EXTRA_DIST += tests/sanitize/leaks.txt tests/sanitize/races.txt

# The library is preloaded before libasan. hwloc unloads pciaccess, which leaks, so that
# no suppression can name it. UCX's hook of madvise is called in threads that the thread
# sanitizer has ended. Programs take up to ten times as long.
if SANITIZED
AM_TESTS_ENVIRONMENT += \
	SANITIZERS='$(enable_sanitizers)'; export SANITIZERS; \
	APS_TEST_TIMEOUT=600; export APS_TEST_TIMEOUT; \
	ASAN_OPTIONS=verify_asan_link_order=0; export ASAN_OPTIONS; \
	LSAN_OPTIONS=print_suppressions=0; \
	LSAN_OPTIONS="$$LSAN_OPTIONS:suppressions=$$top_srcdir/tests/sanitize/leaks.txt"; \
	TSAN_OPTIONS="suppressions=$$top_srcdir/tests/sanitize/races.txt"; \
	export LSAN_OPTIONS TSAN_OPTIONS; \
	HWLOC_PLUGINS_PATH=; export HWLOC_PLUGINS_PATH; \
	UCX_MEM_MMAP_HOOK_MODE=none; export UCX_MEM_MMAP_HOOK_MODE;
endif

# All C code that runs without Python; with the thread sanitizer, programs with threads,
# and those in which the library starts one.
if SANITIZED_THREADS
sanitized_tests = \
	tests/unit/number/format_get tests/unit/codec/workers tests/unit/pmpi/divided \
	tests/mpi/t-divided.sh \
	tests/mpi/t-adopt.sh tests/mpi/t-bcast.sh tests/mpi/t-dropped.sh \
	tests/mpi/t-ended.sh tests/mpi/t-finish.sh tests/mpi/t-idup-self.sh \
	tests/mpi/t-inject.sh tests/mpi/t-meanwhile.sh tests/mpi/t-nonblocking.sh \
	tests/mpi/t-pcontrol.sh tests/mpi/t-persistent.sh tests/mpi/t-polled.sh \
	tests/mpi/t-progress.sh tests/mpi/t-short-lived.sh \
	tests/mpi/t-single-rank.sh tests/mpi/t-skipped.sh tests/mpi/t-started.sh \
	$(conformance_tests) $(random_tests)
else
sanitized_tests = $(UNIT_TESTS) tests/fuzz/t-fuzz.sh tests/mpi/parcels $(mpi_tests) \
	$(conformance_tests) $(random_tests)
endif

.PHONY: build-sanitized check-sanitized
build-sanitized: libapsmpi.la apsmpi $(check_LTLIBRARIES) \
    $(filter tests/conformance/% tests/fuzz/% tests/mpi/% tests/random/% \
    tests/unit/%, $(check_PROGRAMS))
check-sanitized: build-sanitized
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS check_PROGRAMS= TESTS='$(sanitized_tests)'
