# SPDX-License-Identifier: BSD-3-Clause
# Hours of calls, random programs and killed jobs, in which nothing may grow or be left.
check_PROGRAMS += tests/soak/soak
tests_soak_soak_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_soak_soak_LDADD = $(MPI_TEST_LDADD)

TESTS += tests/soak/t-soak.sh
dist_check_SCRIPTS += tests/soak/t-soak.sh

# `make soak HOURS=1`; without it `make check` runs seven seconds.
HOURS = 1
.PHONY: soak
soak: tests/soak/soak tests/random/random tests/tap/yield.la libapsmpi.la apsmpi
	$(AM_TESTS_ENVIRONMENT) SOAK_HOURS=$(HOURS) \
	    $(SHELL) $(top_srcdir)/tests/soak/t-soak.sh
