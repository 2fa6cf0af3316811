# SPDX-License-Identifier: BSD-3-Clause
# Tests speak TAP: C programs and shell scripts (*.sh), by automake's driver.
TEST_EXTENSIONS = .sh
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/config/aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_COMPILER = $(SHELL)

# What the scripts find in their environment.
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	MPI='$(MPI)'; export MPI; \
	MPIEXEC='$(MPIEXEC)'; export MPIEXEC; \
	MPICC='$(MPICC)'; export MPICC; \
	CC='$(CC)'; export CC; \
	PYTHON3='$(PYTHON3)'; export PYTHON3; \
	PACKAGE_VERSION='$(PACKAGE_VERSION)'; export PACKAGE_VERSION;

check_LTLIBRARIES += tests/libtap.la
tests_libtap_la_SOURCES = tests/tap/tap.c tests/tap/tap.h
TEST_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/tap
dist_check_SCRIPTS = tests/tap/launch.sh
EXTRA_DIST += tests/tap/mpi.sh

include tests/unit/local.mk
include tests/mpi/local.mk
include tests/conformance/local.mk
include tests/e2e/local.mk
include tests/apps/local.mk
include tests/bench/local.mk
include tests/long/local.mk
