# SPDX-License-Identifier: BSD-3-Clause
# The papers' tables in miniature, with PyTorch: papers/ of the build directory.
paper_tests = tests/papers/t-papers.sh
dist_check_SCRIPTS += $(paper_tests)
TESTS += $(paper_tests)
EXTRA_DIST += tests/papers/README.md tests/papers/results \
	tests/papers/claims.py tests/papers/intervals.py tests/papers/page.py \
	tests/papers/papers.py tests/papers/play.py tests/papers/rows.py \
	tests/papers/tasks.py tests/papers/train.py
dist_man_MANS += tests/papers/apsmpi-results.7

# All papers' claims, or with PAPER=lars those of one miniature; a run continues where
# the last one has ended. Each miniature takes up to an hour.
.PHONY: check-papers clean-papers
check-papers: $(figures_needs) libaps.la libapsgemm.la tests/tap/yield.la
	@$(AM_TESTS_ENVIRONMENT) $(MKDIR_P) papers && $(PYTHON3) \
	    $(top_srcdir)/tests/papers/papers.py $(abs_top_builddir)/papers $(PAPER)
clean-papers:
	rm -rf papers
clean-local: clean-papers
