# SPDX-License-Identifier: BSD-3-Clause
# Figures that compare formats, scales and roundings; they write to figures/ of the
# build directory.
check_PROGRAMS += tests/figures/replay
tests_figures_replay_SOURCES = tests/figures/replay.c tests/figures/count.h
tests_figures_replay_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_figures_replay_LDADD = $(MPI_LIBS) -ldl -lm

# Preloaded; -rpath makes libtool build them shared.
check_LTLIBRARIES += tests/figures/count.la tests/figures/record.la
tests_figures_count_la_SOURCES = tests/figures/count.c tests/figures/count.h
tests_figures_count_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_figures_count_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_figures_record_la_SOURCES = tests/figures/record.c
tests_figures_record_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_figures_record_la_LIBADD = $(MPI_LIBS)
tests_figures_record_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

figures_tests = tests/figures/t-compressors.sh tests/figures/t-peers.sh \
	tests/figures/t-programs.sh tests/figures/t-replay.sh
dist_check_SCRIPTS += $(figures_tests)
TESTS += $(figures_tests)
EXTRA_DIST += tests/figures/README.md \
	tests/figures/compressor_claims.py tests/figures/compressor_rows.py \
	tests/figures/compressors.py tests/figures/cost.py \
	tests/figures/fashion.py tests/figures/frontier.py \
	tests/figures/gradients.py \
	tests/figures/heads.py tests/figures/output.py \
	tests/figures/peers.py tests/figures/peers_train.py \
	tests/figures/replay.py tests/figures/targets.py tests/figures/trained.py \
	tests/figures/words.py

figures_needs = libapsmpi.la apsmpi tests/apps/digits tests/figures/replay \
	tests/figures/count.la tests/figures/record.la
figures_run = $(AM_TESTS_ENVIRONMENT) $(MKDIR_P) figures && \
	$(PYTHON3) $(top_srcdir)/tests/figures

.PHONY: table-cost figure-frontier table-peers check-compressors check-heads \
	figure-fashion figure-targets clean-figures
# Bytes, messages and errors of every format with every scale: minutes.
table-cost: $(figures_needs)
	@$(figures_run)/cost.py $(abs_top_builddir)/figures
# Error over bits, of every format, scale and rounding: minutes.
figure-frontier: $(figures_needs)
	@$(figures_run)/frontier.py $(abs_top_builddir)/figures
# PyTorch's and GRACE's compressors compared with the library's: minutes.
table-peers: $(figures_needs)
	@$(figures_run)/peers.py $(abs_top_builddir)/figures
# Papers' claims about scales, on five seeds: minutes.
check-heads: libapsmpi.la apsmpi tests/apps/heads
	@$(figures_run)/heads.py $(abs_top_builddir)/figures
# A PyTorch program with and without the library, if torch is installed: minutes.
figure-fashion: libapsmpi.la
	@$(figures_run)/fashion.py $(abs_top_builddir)/figures
# Checks that policies of apsmpi suggest keep their targets, with torch: minutes.
figure-targets: libapsmpi.la apsmpi tests/apps/digits scripts/apsmpi-run
	@$(figures_run)/targets.py $(abs_top_builddir)/figures
	@$(figures_run)/targets.py $(abs_top_builddir)/figures --online
# Papers' claims about compressors, on five seeds: a quarter of an hour.
check-compressors: $(figures_needs)
	@$(figures_run)/compressors.py $(abs_top_builddir)/figures
clean-figures:
	rm -rf figures
clean-local: clean-figures
