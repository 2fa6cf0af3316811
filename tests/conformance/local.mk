# SPDX-License-Identifier: BSD-3-Clause
# Random MPI programs have the same results with and without the library.
check_PROGRAMS += tests/conformance/conformance
tests_conformance_conformance_SOURCES = \
	tests/conformance/collective.c tests/conformance/collective.h \
	tests/conformance/communicator.c tests/conformance/communicator.h \
	tests/conformance/completion.c tests/conformance/completion.h \
	tests/conformance/conformance.c \
	tests/conformance/data.c tests/conformance/data.h \
	tests/conformance/draw.h \
	tests/conformance/message.c tests/conformance/message.h \
	tests/conformance/mistake.c tests/conformance/mistake.h \
	tests/conformance/program.c tests/conformance/program.h \
	tests/conformance/request.c tests/conformance/request.h \
	tests/conformance/transfer.c tests/conformance/transfer.h
tests_conformance_conformance_CPPFLAGS = $(MPI_CFLAGS)
tests_conformance_conformance_LDADD = $(MPI_LIBS) -lm

conformance_tests = tests/conformance/t-conformance.sh
dist_check_SCRIPTS += $(conformance_tests)
TESTS += $(conformance_tests)
EXTRA_DIST += tests/conformance/sweep.sh tests/conformance/compare.sh \
	tests/conformance/mpich.sh

# Thousands of seeds, up to 8 ranks.
.PHONY: check-conformance
check-conformance: tests/conformance/conformance tests/tap/yield.la libapsmpi.la apsmpi
	$(AM_TESTS_ENVIRONMENT) $(SHELL) \
		$(top_srcdir)/tests/conformance/sweep.sh

# MPICH's collective tests: make check-mpich MPICH_SOURCE=/path/to/mpich-4.0.2
.PHONY: check-mpich
check-mpich: tests/tap/yield.la libapsmpi.la
	@$(AM_TESTS_ENVIRONMENT) MPICH_SOURCE='$(MPICH_SOURCE)' \
	$(SHELL) $(top_srcdir)/tests/conformance/mpich.sh
