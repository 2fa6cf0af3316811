# SPDX-License-Identifier: BSD-3-Clause
# The rules of the house: includes, lengths of files, formatting; and the
# interface for programs.
structure_tests = tests/structure/t-interface.sh tests/structure/t-structure.sh
TESTS += $(structure_tests)
dist_check_SCRIPTS += $(structure_tests)
interface_files = \
	tests/structure/interface/aps.h.declarations \
	tests/structure/interface/aps_policy.h.declarations \
	tests/structure/interface/aps_cuda.h.declarations \
	tests/structure/interface/libaps-cuda.symbols \
	tests/structure/interface/libaps.symbols \
	tests/structure/interface/structs
EXTRA_DIST += $(interface_files) tests/structure/interface.c \
	tests/structure/structure.py
tests_structure_frames_CPPFLAGS = $(TEST_CPPFLAGS) $(MPI_CFLAGS)
tests_structure_frames_LDADD = $(MPI_LIBS)
dist_check_SCRIPTS += tests/structure/t-frames.sh

# Frames and plans of a blocking call, in a build without optimization.
.PHONY: check-frames
check-frames:
	$(MKDIR_P) O0
	cd O0 && \
	    if [ ! -f Makefile ]; then \
	        eval "set -- `../config.status --config`" && \
	        $(SHELL) $(abs_top_srcdir)/configure -q "$$@" \
	            CFLAGS='-O0 -g' >configure.log; \
	    fi && \
	    $(MAKE) $(AM_MAKEFLAGS) libapsmpi.la tests/structure/frames
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS=tests/structure/t-frames.sh

# The interface has changed on purpose.
.PHONY: update-interface
update-interface: all
	top_srcdir='$(top_srcdir)' top_builddir='$(top_builddir)' CC='$(CC)' \
		UPDATE_INTERFACE=1 $(SHELL) \
		$(top_srcdir)/tests/structure/t-interface.sh
