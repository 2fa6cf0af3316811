# SPDX-License-Identifier: BSD-3-Clause
# The rules of the house: includes, lengths of files, formatting.
structure_tests = tests/structure/t-structure.sh
TESTS += $(structure_tests)
dist_check_SCRIPTS += $(structure_tests)
EXTRA_DIST += tests/structure/structure.py
