# SPDX-License-Identifier: BSD-3-Clause
# Commands for users (installed) and for this tree.
dist_bin_SCRIPTS = scripts/apsmpi-lab scripts/apsmpi-report
bin_SCRIPTS += scripts/apsmpi-run
CLEANFILES += scripts/apsmpi-run
EXTRA_DIST += scripts/apsmpi-run.in scripts/setup scripts/check \
	scripts/check-cuda scripts/demo

scripts/apsmpi-run: $(top_srcdir)/scripts/apsmpi-run.in Makefile
	$(AM_V_GEN)$(MKDIR_P) scripts && \
	$(SED) -e 's|@libdir[@]|$(libdir)|g' \
	    -e 's|@MPI[@]|$(MPI)|g' \
	    -e 's|@PACKAGE_VERSION[@]|$(PACKAGE_VERSION)|g' \
	    $(top_srcdir)/scripts/apsmpi-run.in >$@.tmp && \
	chmod +x $@.tmp && mv $@.tmp $@

# What apsmpi-lab needs by its side: a switch for kernels without netem, and a
# library for its ranks.
labdir = $(pkglibexecdir)
lab_PROGRAMS = scripts/apsmpi-lab-switch
scripts_apsmpi_lab_switch_SOURCES = scripts/lab-switch.c
lab_LTLIBRARIES = scripts/apsmpi-lab-finalize.la
scripts_apsmpi_lab_finalize_la_SOURCES = scripts/lab-finalize.c
scripts_apsmpi_lab_finalize_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default \
	-fno-sanitize=all # it is preloaded into programs without
scripts_apsmpi_lab_finalize_la_LDFLAGS = -module -avoid-version -shared \
	-no-undefined

# The paper's claims on the mean of five seeds: about ten minutes on two cores.
.PHONY: check-paper
check-paper: all tests/apps/digits
	APSMPI_BUILD=$(abs_top_builddir) $(SHELL) $(top_srcdir)/scripts/demo \
	    --no-setup --seeds "1 2 3 4 5" --assert
