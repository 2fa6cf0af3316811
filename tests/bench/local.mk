# SPDX-License-Identifier: BSD-3-Clause
# Benches print ratios from one run; no test asserts a time.
EXTRA_PROGRAMS = tests/bench/codec tests/bench/gemm
CLEANFILES += $(EXTRA_PROGRAMS)
tests_bench_codec_SOURCES = tests/bench/codec.c
tests_bench_codec_LDADD = libcore.la
tests_bench_gemm_SOURCES = tests/bench/gemm.c
tests_bench_gemm_LDADD = libcore.la

.PHONY: bench
bench: tests/bench/codec tests/bench/gemm
	tests/bench/codec
	tests/bench/gemm
