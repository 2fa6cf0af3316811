# SPDX-License-Identifier: BSD-3-Clause
# Damaged inputs for readers and decoders.
fuzz_targets = tests/fuzz/policy tests/fuzz/table tests/fuzz/machine tests/fuzz/wire \
	tests/fuzz/blocks
FUZZ_DRIVER = tests/fuzz/driver.c tests/fuzz/fuzz.h
FUZZ_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
FUZZ_LIBS = libpolicy.la libcore.la $(LIBYAML_ARCHIVE) -lm

check_PROGRAMS += $(fuzz_targets)
TESTS += tests/fuzz/t-fuzz.sh
EXTRA_DIST += \
	tests/fuzz/t-fuzz.sh tests/fuzz/log.py \
	tests/fuzz/corpus/blocks-aps \
	tests/fuzz/corpus/blocks-backoff \
	tests/fuzz/corpus/blocks-delayed \
	tests/fuzz/corpus/blocks-elements \
	tests/fuzz/corpus/blocks-kahan \
	tests/fuzz/corpus/blocks-sign \
	tests/fuzz/corpus/blocks-some \
	tests/fuzz/corpus/log-exponents \
	tests/fuzz/corpus/machine.yaml \
	tests/fuzz/corpus/policy-keys \
	tests/fuzz/corpus/policy-table \
	tests/fuzz/corpus/table-shapes \
	tests/fuzz/corpus/wire-bfp \
	tests/fuzz/corpus/wire-float \
	tests/fuzz/corpus/wire-int \
	tests/fuzz/corpus/wire-mx \
	tests/fuzz/corpus/wire-nvfp4 \
	tests/fuzz/corpus/wire-qsgd \
	tests/fuzz/corpus/wire-sign

tests_fuzz_policy_SOURCES = tests/fuzz/policy.c $(FUZZ_DRIVER)
tests_fuzz_policy_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_policy_LDADD = $(FUZZ_LIBS)
tests_fuzz_table_SOURCES = tests/fuzz/table.c $(FUZZ_DRIVER)
tests_fuzz_table_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_table_LDADD = $(FUZZ_LIBS)
tests_fuzz_machine_SOURCES = tests/fuzz/machine.c $(FUZZ_DRIVER)
tests_fuzz_machine_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_machine_LDADD = $(FUZZ_LIBS)
tests_fuzz_wire_SOURCES = tests/fuzz/wire.c $(FUZZ_DRIVER)
tests_fuzz_wire_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_wire_LDADD = $(FUZZ_LIBS)
tests_fuzz_blocks_SOURCES = tests/fuzz/blocks.c $(FUZZ_DRIVER) \
	pmpi/block/accumulate.c pmpi/block/accumulate.h \
	pmpi/block/block.c pmpi/block/block.h pmpi/block/tile.c pmpi/block/tile.h \
	pmpi/compressed/elements.c pmpi/compressed/elements.h
tests_fuzz_blocks_CPPFLAGS = $(FUZZ_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_fuzz_blocks_LDADD = $(FUZZ_LIBS)

# `make fuzz SECONDS=60`: as long with each reader.
SECONDS = 60
.PHONY: fuzz
fuzz: $(fuzz_targets)
	$(AM_TESTS_ENVIRONMENT) FUZZ_SECONDS=$(SECONDS) \
	    $(SHELL) $(top_srcdir)/tests/fuzz/t-fuzz.sh
