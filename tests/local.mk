# SPDX-License-Identifier: BSD-3-Clause
# Tests print TAP: C programs and shell scripts (*.sh), run by automake's driver.
TEST_EXTENSIONS = .sh
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/config/aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_COMPILER = $(SHELL)

# The environment of the scripts.
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

# Preloaded into ranks, and into mpiexec; -rpath makes libtool build it shared.
check_LTLIBRARIES += tests/tap/yield.la
tests_tap_yield_la_SOURCES = tests/tap/yield.c
tests_tap_yield_la_CFLAGS = $(APS_CFLAGS)
tests_tap_yield_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
TEST_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/tap
dist_check_SCRIPTS = tests/tap/launch.sh
EXTRA_DIST += tests/mpis/bench.py tests/mpis/bench.sh \
	tests/mpis/matrix.sh tests/mpis/one.sh tests/mpis/rows.sh tests/mpis/setup.sh
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
include tests/papers/local.mk
include tests/bench/local.mk
include tests/fuzz/local.mk
include tests/soak/local.mk
include tests/long/local.mk
include tests/sanitize/local.mk
include tests/programs/local.mk

# Tests that measure times, or that make in the build directory: each runs alone.
# All others run at the same time, as many as there are cores. Ranks that wait yield
# their cores (tests/tap/yield.c).
alone_tests = \
	tests/bench/t-paired.sh tests/bench/t-shadow.sh \
	tests/e2e/t-dist.sh tests/e2e/t-install.sh tests/e2e/t-lab.sh \
	tests/e2e/t-packages.sh tests/e2e/t-shadow.sh tests/e2e/t-site.sh \
	tests/e2e/t-two-mpis.sh \
	tests/mpi/t-auto.sh tests/mpi/t-auto-format.sh tests/mpi/t-handlers.sh \
	tests/mpi/t-measure.sh tests/mpi/t-shadow.sh

# `make check` in two parts, once the programs are built (make check TESTS=): the
# first of them with -j.
.PHONY: check-together check-alone
check-together:
	@alone=" `echo $(alone_tests)` " && rest= && \
	for test in $(TESTS); do \
	    case $$alone in \
	    *" $$test "*) ;; \
	    *) rest="$$rest $$test" ;; \
	    esac; \
	done && \
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$$rest"
check-alone:
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(alone_tests)'

# Builds the sources for Open MPI, in openmpi/ of the build directory, and for the
# standard's ABI, in abi/, and runs the most useful tests of a minute there; for all
# tests configure a separate build (scripts/check --mpi openmpi).
other_programs = \
	libapsmpi.la apsmpi tests/apps/digits tests/e2e/probe tests/tap/yield.la \
	tests/mpi/agreement tests/mpi/preload_after.la tests/mpi/communicators \
	tests/mpi/errors tests/mpi/exact tests/mpi/nonblocking tests/mpi/persistent \
	tests/mpi/types
other_tests = \
	tests/mpi/t-agreement.sh \
	tests/mpi/t-communicators.sh \
	tests/mpi/t-errors.sh \
	tests/mpi/t-exact.sh \
	tests/e2e/t-two-mpis.sh
openmpi_tests = $(other_tests) tests/mpi/t-types.sh tests/e2e/t-fortran.sh
openmpi_compiler = mpicc.openmpi
abi_tests = $(other_tests) tests/mpi/t-persistent.sh
abi_compiler = $(abs_top_builddir)/mpis/mpich-5/bin/mpicc_abi

# Sources that do not use MPI are compiled once: their objects are copied, with the
# stamps of their directories, which are older.
other_objects = $(libkernels_la_OBJECTS) $(libcore_la_OBJECTS) \
	$(libpolicy_la_OBJECTS)

.PHONY: build-openmpi check-openmpi build-abi check-abi clean-others
build-openmpi build-abi: $(other_objects)
	@mpi=$@ && mpi=$${mpi#build-} && \
	case $$mpi in \
	openmpi) compiler='$(openmpi_compiler)' ;; \
	*) compiler='$(abi_compiler)' ;; \
	esac && \
	if command -v "$$compiler" >/dev/null; then \
	    $(MKDIR_P) $$mpi && cd $$mpi && \
	    if [ ! -f Makefile ] || [ $(abs_top_srcdir)/configure -nt Makefile ]; \
	    then \
	        eval "set -- `../config.status --config`" && \
	        $(SHELL) $(abs_top_srcdir)/configure -q "$$@" \
	            --with-mpi=$$mpi MPICC="$$compiler" MPIEXEC= >configure.log; \
	    fi && \
	    printf '%s\n' $(other_objects) | \
	        $(SED) -e 'p; h; s|[^/]*$$|.libs/&|; s|lo$$|o|; p' \
	            -e 'g; s|[^/]*$$|.dirstamp|p; s|[^/]*$$|.deps/&|' | sort -u | \
	        $(AMTAR) cf objects.tar -C .. -T - && \
	    $(AMTAR) xf objects.tar && rm objects.tar && \
	    $(MAKE) $(AM_MAKEFLAGS) $(other_programs); \
	fi
check-openmpi: build-openmpi
	@tests='$(openmpi_tests)' mpi=openmpi && $(check_other)
check-abi: build-abi
	@tests='$(abi_tests)' mpi=abi && $(check_other)
check_other = \
	if [ -f $$mpi/Makefile ]; then \
	    cd $$mpi && $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$$tests"; \
	else \
	    echo "SKIP: check-$$mpi: there is no compiler wrapper of it"; \
	    echo "\# SKIP:  1"; \
	fi
clean-others:
	rm -rf openmpi abi html tests/e2e/site

# Tests the libraries with several MPIs, in mpis/ (tests/mpis/matrix.sh); MPIS='mpich-5
# intel' names some of them.
.PHONY: check-mpis
check-mpis: libapsmpi.la libaps.la apsmpi scripts/apsmpi-run tests/tap/yield.la \
		build-openmpi build-abi
	@$(AM_TESTS_ENVIRONMENT) MPIS='$(MPIS)' \
	$(SHELL) $(top_srcdir)/tests/mpis/matrix.sh
# Times the library beside several MPIs (tests/mpis/bench.sh); a quarter of an hour. With
# BENCH=calls: the collectives other than all-reduces; four minutes.
.PHONY: bench-mpis
bench-mpis: libapsmpi.la tests/figures/record.la build-openmpi
	@$(AM_TESTS_ENVIRONMENT) MPIS='$(MPIS)' BENCH='$(BENCH)' \
	LIBYAML='$(LIBYAML_ARCHIVE)' \
	$(SHELL) $(top_srcdir)/tests/mpis/bench.sh $(BENCH_FLAGS)
clean-local: clean-others
