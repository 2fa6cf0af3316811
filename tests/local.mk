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
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	PACKAGE_VERSION='$(PACKAGE_VERSION)'; export PACKAGE_VERSION;

check_LTLIBRARIES += tests/libtap.la
tests_libtap_la_SOURCES = tests/tap/tap.c tests/tap/tap.h

# Preloaded into ranks; -rpath makes libtool build it shared.
check_LTLIBRARIES += tests/tap/yield.la
tests_tap_yield_la_SOURCES = tests/tap/yield.c
tests_tap_yield_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
TEST_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/tap
dist_check_SCRIPTS = tests/tap/launch.sh
EXTRA_DIST += tests/tap/mpi.sh tests/tap/logs.sh tests/tap/logs.py

include tests/structure/local.mk
include tests/unit/local.mk
include tests/standin/local.mk
include tests/cuda/local.mk
include tests/mpi/local.mk
include tests/conformance/local.mk
include tests/random/local.mk
include tests/e2e/local.mk
include tests/apps/local.mk
include tests/figures/local.mk
include tests/bench/local.mk
include tests/long/local.mk

# Tests of which each is one process, without MPI jobs and GPUs, whatever it takes:
# these may run at the same time. MPI jobs may not: ranks that wait take the cores
# of those that work. A test that is not named here runs alone. Simulated ranks
# are threads of one process, of which one runs, and the times are simulated.
process_tests = $(structure_tests) $(UNIT_TESTS) $(cuda_tests) \
	tests/cuda/t-plugin.sh tests/standin/verbs \
	tests/e2e/t-blocks.sh tests/e2e/t-command.sh \
	tests/e2e/t-completion.sh tests/e2e/t-emulators.sh \
	tests/e2e/t-gemm.sh tests/e2e/t-json.sh tests/e2e/t-layers.sh \
	tests/e2e/t-number.sh tests/e2e/t-policies.sh \
	tests/e2e/t-predict.sh tests/e2e/t-report.sh \
	tests/e2e/t-report-size.sh \
	tests/e2e/t-select.sh tests/e2e/t-snr.sh tests/e2e/t-suggest.sh \
	tests/e2e/t-trees.sh \
	tests/figures/t-allot.sh tests/figures/t-bound.sh \
	tests/figures/t-compressors.sh tests/figures/t-peers.sh \
	tests/figures/t-trellis.sh \
	$(sim_tests)

# `make check` in two parts, once the programs are built (make check TESTS=): the
# first of them with -j.
.PHONY: check-processes check-jobs
check-processes:
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(process_tests)'
check-jobs:
	@processes=" `echo $(process_tests)` " && rest= && \
	for test in $(TESTS); do \
	    case $$processes in \
	    *" $$test "*) ;; \
	    *) rest="$$rest $$test" ;; \
	    esac; \
	done && \
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$$rest"

# The same source built for Open MPI, in openmpi/ of the build directory, and of
# its tests those that show most in a minute; for all of them configure a build
# of its own (scripts/check --mpi openmpi).
openmpi_programs = \
	libapsmpi.la apsmpi tests/apps/digits tests/e2e/probe \
	tests/mpi/agreement tests/mpi/preload_after.la tests/mpi/communicators \
	tests/mpi/errors tests/mpi/exact
openmpi_tests = \
	tests/mpi/t-agreement.sh \
	tests/mpi/t-communicators.sh \
	tests/mpi/t-errors.sh \
	tests/mpi/t-exact.sh \
	tests/e2e/t-fortran.sh \
	tests/e2e/t-two-mpis.sh

# What knows nothing of MPI is compiled once: its objects are copied, with the stamps
# that say that their directories are older.
openmpi_objects = $(libkernels_la_OBJECTS) $(libcore_la_OBJECTS) \
	$(libpolicy_la_OBJECTS)

.PHONY: build-openmpi check-openmpi clean-openmpi
build-openmpi: $(openmpi_objects)
	@if command -v mpicc.openmpi >/dev/null; then \
	    $(MKDIR_P) openmpi && cd openmpi && \
	    if [ ! -f Makefile ] || [ $(abs_top_srcdir)/configure -nt Makefile ]; \
	    then \
	        eval "set -- `../config.status --config`" && \
	        $(SHELL) $(abs_top_srcdir)/configure -q "$$@" \
	            --with-mpi=openmpi MPICC= MPIEXEC= >configure.log; \
	    fi && \
	    printf '%s\n' $(openmpi_objects) | \
	        $(SED) -e 'p; h; s|[^/]*$$|.libs/&|; s|lo$$|o|; p' \
	            -e 'g; s|[^/]*$$|.dirstamp|p; s|[^/]*$$|.deps/&|' | sort -u | \
	        $(AMTAR) cf objects.tar -C .. -T - && \
	    $(AMTAR) xf objects.tar && rm objects.tar && \
	    $(MAKE) $(AM_MAKEFLAGS) $(openmpi_programs); \
	fi
check-openmpi: build-openmpi
	@if command -v mpicc.openmpi >/dev/null; then \
	    cd openmpi && \
	    $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(openmpi_tests)'; \
	else \
	    echo "SKIP: check-openmpi: there is no mpicc.openmpi"; \
	    echo "# SKIP:  1"; \
	fi
clean-openmpi:
	rm -rf openmpi
clean-local: clean-openmpi
