# SPDX-License-Identifier: BSD-3-Clause
# Benches print ratios from one run; no test asserts a time.
bench_programs = tests/bench/compress \
	tests/bench/correlated tests/bench/gemm tests/bench/threads
EXTRA_PROGRAMS = $(bench_programs)
CLEANFILES += $(EXTRA_PROGRAMS)
check_PROGRAMS += tests/bench/codec
tests_bench_codec_SOURCES = tests/bench/codec.c \
	tests/bench/instructions.c tests/bench/instructions.h \
	pmpi/device/memory_relay.c pmpi/device/memory_relay.h \
	tests/sim/device.c
tests_bench_codec_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/pmpi \
	-include $(top_srcdir)/tests/sim/no_gpu.h
tests_bench_codec_LDADD = libcore.la -lpthread
tests_bench_compress_SOURCES = tests/bench/compress.c tests/bench/compress.h \
	tests/bench/compress_lowrank.c tests/bench/compress_select.c \
	tests/bench/compress_feedback.c tests/bench/compress_ternary.c
tests_bench_compress_LDADD = libcore.la -lm
tests_bench_correlated_SOURCES = tests/bench/correlated.c \
	tests/unit/number/correlated_error.c tests/unit/number/correlated_error.h
tests_bench_correlated_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_bench_correlated_LDADD = libcore.la -lm
tests_bench_gemm_LDADD = libcore.la
tests_bench_threads_SOURCES = tests/bench/threads.c \
	pmpi/block/accumulate.c pmpi/block/block.c pmpi/block/tile.c
tests_bench_threads_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_bench_threads_LDADD = libpolicy.la libcore.la -lpthread -lm

TESTS += tests/bench/t-allreduce.sh
dist_check_SCRIPTS += tests/bench/t-allreduce.sh
bench_CPPFLAGS = $(pmpi_bench_apsmpi_bench_CPPFLAGS) \
	-DRESNET50_LAYERS='"$(abs_top_srcdir)/config/layers/resnet50-layers.csv"'

# One of several MPIs: tests/mpis/bench.sh.
EXTRA_PROGRAMS += tests/bench/calls
tests_bench_calls_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_bench_calls_LDADD = $(MPI_LIBS)
EXTRA_PROGRAMS += tests/bench/types
tests_bench_types_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_bench_types_LDADD = $(MPI_LIBS) -lm

# Programs that do not use apsmpi: MPI and the C library only.
check_PROGRAMS += tests/bench/nonblocking
TESTS += tests/bench/t-nonblocking.sh
dist_check_SCRIPTS += tests/bench/t-nonblocking.sh
tests_bench_nonblocking_SOURCES = \
	pmpi/bench/meet.c pmpi/bench/meet.h \
	tests/bench/nonblocking.c \
	pmpi/bench/sizes.c pmpi/bench/sizes.h
tests_bench_nonblocking_CPPFLAGS = $(bench_CPPFLAGS)
tests_bench_nonblocking_LDADD = $(MPI_LIBS) -lm

# The sums of a step, compared with native FP32.
check_PROGRAMS += tests/bench/step
TESTS += tests/bench/t-step.sh
dist_check_SCRIPTS += tests/bench/t-step.sh
tests_bench_step_SOURCES = \
	pmpi/bench/deviation.c pmpi/bench/deviation.h \
	pmpi/bench/meet.c pmpi/bench/meet.h \
	pmpi/bench/sizes.c pmpi/bench/sizes.h \
	tests/bench/step.c
tests_bench_step_CPPFLAGS = $(bench_CPPFLAGS)
tests_bench_step_LDADD = $(MPI_LIBS) -lm

# Communicators that live for one sum.
check_PROGRAMS += tests/bench/short_lived
tests_bench_short_lived_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_bench_short_lived_LDADD = $(MPI_LIBS)

# Nonblocking sums that a program tests in a loop.
check_PROGRAMS += tests/bench/polled
tests_bench_polled_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_bench_polled_LDADD = $(MPI_LIBS)

EXTRA_DIST += tests/bench/allreduce.sh tests/bench/nonblocking.sh \
	tests/bench/polled.sh tests/bench/short_lived.sh \
	tests/bench/speed.csv tests/bench/speed.py tests/bench/speed.svg \
	tests/e2e/data/bench.csv
CLEANFILES += tests/bench/allreduce-*.csv tests/bench/allreduce-*.png \
	tests/bench/recorded-* tests/bench/allreduce-*.svg \
	tests/bench/nonblocking-*.yaml \
	tests/bench/nonblocking-*.txt tests/bench/short_lived.yaml \
	tests/bench/polled-*.yaml tests/bench/polled-*.txt

.PHONY: bench bench-programs bench-allreduce bench-lab bench-lowrank bench-speed \
	bench-nonblocking bench-polled bench-recorded \
	bench-short-lived table-correlated
bench-programs: $(bench_programs) tests/bench/codec pmpi/bench/apsmpi-bench \
		tests/bench/nonblocking
bench: tests/bench/codec tests/bench/gemm
	tests/bench/codec
	tests/bench/gemm

# PowerSGD's products, compared with NumPy's BLAS; PYTHON3=... names a Python with
# NumPy.
EXTRA_DIST += tests/bench/compress.py tests/bench/compress_select.py
bench-lowrank: tests/bench/compress
	@$(PYTHON3) $(top_srcdir)/tests/bench/compress.py tests/bench/compress

# MSTopK compared with one read, quickselect, and NumPy's introselect.
.PHONY: bench-select
bench-select: tests/bench/compress
	@tests/bench/compress select
	@$(PYTHON3) $(top_srcdir)/tests/bench/compress_select.py

# The gain of correlated rounding, over ranks and values, as CSV.
table-correlated: tests/bench/correlated
	@tests/bench/correlated

# On this node, and on the hosts of scripts/apsmpi-lab; BENCH_FLAGS are the
# program's own options.
bench-allreduce: pmpi/bench/apsmpi-bench libapsmpi.la apsmpi
	@$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(top_srcdir)/tests/bench/allreduce.sh node $(BENCH_FLAGS)
bench-recorded: pmpi/bench/apsmpi-bench libapsmpi.la apsmpi tests/figures/record.la
	@$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(top_srcdir)/tests/bench/allreduce.sh recorded $(BENCH_FLAGS)
bench-lab: pmpi/bench/apsmpi-bench libapsmpi.la apsmpi $(pkglibexec_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(top_srcdir)/tests/bench/allreduce.sh lab $(BENCH_FLAGS)
# The picture in README.md, on an idle machine: minutes.
bench-speed: pmpi/bench/apsmpi-bench libapsmpi.la apsmpi $(pkglibexec_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(top_srcdir)/tests/bench/allreduce.sh speed $(BENCH_FLAGS)

# An old library alternates with this tree's: make bench-paired OLD=/path/libapsmpi.so
.PHONY: bench-paired
TESTS += tests/bench/t-paired.sh
dist_check_SCRIPTS += tests/bench/t-paired.sh
EXTRA_DIST += tests/bench/paired.sh tests/bench/paired.py
CLEANFILES += tests/bench/paired-*.csv tests/bench/paired-*.txt
bench-paired: pmpi/bench/apsmpi-bench libapsmpi.la apsmpi
	@$(AM_TESTS_ENVIRONMENT) OLD='$(OLD)' \
	$(SHELL) $(top_srcdir)/tests/bench/paired.sh $(BENCH_FLAGS)

# A program with candidates alternates with one without the library.
.PHONY: bench-shadow
TESTS += tests/bench/t-shadow.sh
dist_check_SCRIPTS += tests/bench/t-shadow.sh
EXTRA_DIST += tests/bench/shadow.sh
CLEANFILES += tests/bench/shadow*.csv tests/bench/shadow-*.txt \
	tests/bench/shadow-*.err
bench-shadow: tests/apps/digits libapsmpi.la
	@$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(top_srcdir)/tests/bench/shadow.sh $(BENCH_FLAGS)

# The bounds of an all-reduce on this node: bytes, instructions, times.
check_PROGRAMS += tests/bench/passes
tests_bench_passes_SOURCES = tests/bench/passes.c \
	pmpi/bench/meet.c pmpi/bench/meet.h \
	pmpi/bench/sizes.c pmpi/bench/sizes.h
tests_bench_passes_CPPFLAGS = $(bench_CPPFLAGS)
tests_bench_passes_LDADD = libcore.la $(MPI_LIBS)
.PHONY: bench-roofline
TESTS += tests/bench/t-roofline.sh
dist_check_SCRIPTS += tests/bench/t-roofline.sh
EXTRA_DIST += tests/bench/roofline.sh tests/bench/roofline.py
CLEANFILES += tests/bench/roofline-*.csv tests/bench/roofline-*.txt
bench-roofline: tests/bench/codec tests/bench/passes pmpi/bench/apsmpi-bench \
		libapsmpi.la apsmpi
	@$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(top_srcdir)/tests/bench/roofline.sh $(BENCH_FLAGS)

# Lazy fusion and overlap, on the hosts of scripts/apsmpi-lab.
bench-nonblocking: tests/bench/nonblocking libapsmpi.la apsmpi \
		$(pkglibexec_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(top_srcdir)/tests/bench/nonblocking.sh all $(BENCH_FLAGS)

# A step's sums under compressors, on the hosts of scripts/apsmpi-lab and on this
# node.
.PHONY: bench-compress
EXTRA_DIST += tests/bench/compress.sh tests/bench/compress_steps.py
CLEANFILES += tests/bench/compress-*.yaml tests/bench/compress-*.txt \
	tests/bench/compress.csv tests/bench/compress.svg
bench-compress: tests/bench/step libapsmpi.la apsmpi $(pkglibexec_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(top_srcdir)/tests/bench/compress.sh all $(BENCH_FLAGS)

# quantize() of the Python package, over the C function.
.PHONY: bench-python
EXTRA_DIST += tests/bench/python.py
bench-python: libaps.la
	@LIBAPS=$(abs_top_builddir)/.libs/libaps.so \
	PYTHONPATH=$(top_srcdir)/scripts$${PYTHONPATH:+:$$PYTHONPATH} \
	$(PYTHON3) $(top_srcdir)/tests/bench/python.py $(BENCH_FLAGS)

# Times that apsmpi explain predicts, compared with measured ones, on the hosts of
# scripts/apsmpi-lab, and on simulated ones.
.PHONY: predict-table predict-table-sim
EXTRA_DIST += tests/bench/predict.sh tests/bench/predict.py \
	tests/bench/predict-sim.yaml
CLEANFILES += tests/bench/predict-*.yaml tests/bench/predict-*.csv \
	tests/bench/predict-*.txt
predict-table: pmpi/bench/apsmpi-bench libapsmpi.la apsmpi $(mpilib_PROGRAMS) \
		$(pkglibexec_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(top_srcdir)/tests/bench/predict.sh lab
if HAVE_SIMGRID
predict-table-sim: tests/sim/times apsmpi
	@$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(top_srcdir)/tests/bench/predict.sh sim
endif

# Nonblocking sums that are tested in a loop, by more ranks than there are cores.
bench-polled: tests/bench/polled libapsmpi.la tests/tap/yield.la
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/tests/bench/polled.sh

# Communicators that live for one sum, under three policies.
bench-short-lived: tests/bench/short_lived libapsmpi.la
	@$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(top_srcdir)/tests/bench/short_lived.sh $(BENCH_FLAGS)
