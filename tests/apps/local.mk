# SPDX-License-Identifier: BSD-3-Clause
# Training programs that know nothing of apsmpi: MPI and the C library alone.
check_PROGRAMS += tests/apps/digits
tests_apps_digits_SOURCES = tests/apps/digits.c
tests_apps_digits_CPPFLAGS = $(MPI_CFLAGS)
tests_apps_digits_LDADD = $(MPI_LIBS) -lm
EXTRA_DIST += tests/apps/README.md tests/apps/digits.csv tests/apps/digits.py
