# SPDX-License-Identifier: BSD-3-Clause
# Random programs under random policies, checked against their own model.
check_PROGRAMS += tests/random/random
tests_random_random_SOURCES = \
	tests/random/check.c \
	tests/random/communicator.c \
	tests/random/event.c \
	tests/random/op.c \
	tests/random/random.c \
	tests/random/setup.c tests/random/setup.h \
	tests/random/task.h tests/conformance/draw.h
tests_random_random_CPPFLAGS = $(MPI_CFLAGS) -I$(top_srcdir)/tests/conformance
tests_random_random_LDADD = $(MPI_LIBS) -lpthread -lm

random_tests = tests/random/t-random.sh
dist_check_SCRIPTS += $(random_tests)
TESTS += $(random_tests)
EXTRA_DIST += tests/random/seeds.sh tests/random/sweep.sh

# Thousands of seeds, up to 8 ranks.
.PHONY: check-random
check-random: tests/random/random tests/tap/yield.la libapsmpi.la apsmpi
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/tests/random/sweep.sh
