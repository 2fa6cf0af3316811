# SPDX-License-Identifier: BSD-3-Clause
# The rules of the house: includes, lengths of files, formatting; and the
# interface for programs.
structure_tests = tests/structure/t-interface.sh tests/structure/t-structure.sh
TESTS += $(structure_tests)
dist_check_SCRIPTS += $(structure_tests)
interface_files = \
	tests/structure/interface/aps.h.declarations \
	tests/structure/interface/aps_cuda.h.declarations \
	tests/structure/interface/libaps-cuda.symbols \
	tests/structure/interface/libaps.symbols \
	tests/structure/interface/structs
EXTRA_DIST += $(interface_files) tests/structure/interface.c \
	tests/structure/structure.py

# The interface has changed on purpose.
.PHONY: update-interface
update-interface: all
	top_srcdir='$(top_srcdir)' top_builddir='$(top_builddir)' CC='$(CC)' \
		UPDATE_INTERFACE=1 $(SHELL) \
		$(top_srcdir)/tests/structure/t-interface.sh
