# SPDX-License-Identifier: BSD-3-Clause
# Tests that take minutes, in addition to those of `make check`.
EXTRA_PROGRAMS += tests/long/sweep tests/structure/frames
tests_long_sweep_SOURCES = tests/long/sweep.c tests/unit/number/oracle.c \
	tests/unit/number/oracle.h tests/unit/common/wire.h
tests_long_sweep_CPPFLAGS = $(UNIT_CPPFLAGS) $(MPFR_CFLAGS)
tests_long_sweep_LDADD = tests/libtap.la libcore.la $(MPFR_LIBS) -lm

.PHONY: check-long check-dist check-elements check-history check-packages \
	check-rendezvous check-report check-roofline check-tags check-trees
check-packages: all tests/apps/digits tests/e2e/probe
	APS_TEST_LONG=1 $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
	    TESTS=tests/e2e/t-packages.sh
check-dist: all
	APS_TEST_LONG=1 $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
	    TESTS=tests/e2e/t-dist.sh
check-elements: tests/unit/pmpi/element_oracle
	APS_TEST_LONG=1 tests/unit/pmpi/element_oracle
check-history: all tests/mpi/history
	APS_TEST_LONG=1 $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
	    TESTS=tests/mpi/t-history.sh
check-tags: all tests/mpi/many_communicators tests/mpi/late_tags
	APS_TEST_LONG=1 $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
	    TESTS=tests/mpi/t-many-communicators.sh
check-roofline: all tests/bench/codec tests/bench/passes
	APS_TEST_LONG=1 $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
	    TESTS=tests/bench/t-roofline.sh
check-trees: all tests/apps/digits tests/e2e/probe
	APS_TEST_LONG=1 $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
	    TESTS=tests/e2e/t-trees.sh
# All of tests/mpi, while MPICH over UCX sends no message before its receiver arrives.
check-rendezvous:
	UCX_RNDV_THRESH=0 $(MAKE) $(AM_MAKEFLAGS) check \
	    TESTS="$(filter tests/mpi/t-%,$(TESTS))"
check-report: all
	APS_TEST_LONG=1 $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
	    TESTS=tests/e2e/t-report-size.sh
if HAVE_MPFR
check-long: check-aarch64 check-conformance check-random check-dist check-elements \
    check-frames check-history check-packages check-rendezvous check-report \
    check-roofline check-tags check-trees \
    tests/long/sweep tests/unit/number/cast
	tests/long/sweep
	APS_TEST_LONG=1 tests/unit/number/cast
else
check-long: check-aarch64 check-conformance check-random check-dist check-elements \
    check-frames check-history check-packages check-rendezvous check-report \
    check-roofline check-tags check-trees
	@echo "1..0 # SKIP the sweep's oracle needs MPFR"
endif
