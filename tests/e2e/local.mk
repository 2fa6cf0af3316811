# SPDX-License-Identifier: BSD-3-Clause
# Unmodified programs with the library preloaded, and the commands.
e2e_tests = \
	tests/e2e/t-any-order.sh \
	tests/e2e/t-audit.sh \
	tests/e2e/t-bad-input.sh \
	tests/e2e/t-bench.sh \
	tests/e2e/t-cxx.sh \
	tests/e2e/t-blocks.sh \
	tests/e2e/t-command.sh \
	tests/e2e/t-compress.sh \
	tests/e2e/t-completion.sh \
	tests/e2e/t-cuda.sh \
	tests/e2e/t-ddp.sh \
	tests/e2e/t-device.sh \
	tests/e2e/t-dist.sh \
	tests/e2e/t-discovery.sh \
	tests/e2e/t-emulators.sh \
	tests/e2e/t-follow.sh \
	tests/e2e/t-foreign.sh \
	tests/e2e/t-fortran.sh \
	tests/e2e/t-gemm.sh \
	tests/e2e/t-groups.sh \
	tests/e2e/t-install.sh \
	tests/e2e/t-json.sh \
	tests/e2e/t-lab.sh \
	tests/e2e/t-layers.sh \
	tests/e2e/t-locale.sh \
	tests/e2e/t-log.sh \
	tests/e2e/t-manual.sh \
	tests/e2e/t-min-count.sh \
	tests/e2e/t-mpi4py.sh \
	tests/e2e/t-native.sh \
	tests/e2e/t-number.sh \
	tests/e2e/t-own-mpi.sh \
	tests/e2e/t-page.sh \
	tests/e2e/t-report-formats.sh \
	tests/e2e/t-packages.sh \
	tests/e2e/t-pandas.sh \
	tests/e2e/t-notebook.sh \
	tests/e2e/t-parameters.sh \
	tests/e2e/t-policies.sh \
	tests/e2e/t-preload.sh \
	tests/e2e/t-pip.sh \
	tests/e2e/t-python.sh \
	tests/e2e/t-python-cluster.sh \
	tests/e2e/t-python-package.sh \
	tests/e2e/t-recipes.sh \
	tests/e2e/t-report.sh \
	tests/e2e/t-report-size.sh \
	tests/e2e/t-run.sh \
	tests/e2e/t-select.sh \
	tests/e2e/t-predict.sh \
	tests/e2e/t-shadow.sh \
	tests/e2e/t-site.sh \
	tests/e2e/t-slurm.sh \
	tests/e2e/t-snr.sh \
	tests/e2e/t-suggest.sh \
	tests/e2e/t-stderr.sh \
	tests/e2e/t-summary.sh \
	tests/e2e/t-threads.sh \
	tests/e2e/t-torch.sh \
	tests/e2e/t-train.sh \
	tests/e2e/t-trees.sh \
	tests/e2e/t-two-mpis.sh \
	tests/e2e/t-turns.sh \
	tests/e2e/t-unseen.sh \
	tests/e2e/t-valgrind.sh
dist_check_SCRIPTS += $(e2e_tests)
TESTS += $(e2e_tests)
EXTRA_DIST += \
	tests/e2e/data/policies.txt \
	tests/e2e/data/report.csv \
	tests/e2e/blocks.py tests/e2e/ddp_order.py tests/e2e/fp32.py tests/e2e/levels.py \
	tests/e2e/consumer.c \
	tests/e2e/consumer_cuda.c \
	tests/e2e/drained_f08.f90 \
	tests/e2e/emulators.py \
	tests/e2e/follow_check.py \
	tests/e2e/layers.py \
	tests/e2e/lib.sh \
	tests/e2e/isums.f90 \
	tests/e2e/isums_f08.f90 \
	tests/e2e/isums_mpif.f90 \
	tests/e2e/meanwhile_f08.f90 \
	tests/e2e/mstopk.py \
	tests/e2e/page_check.py \
	tests/e2e/conjugate.py \
	tests/e2e/python_cluster.py \
	tests/e2e/python_checks.py \
	tests/e2e/python_package.py \
	tests/e2e/python_torch.py \
	tests/e2e/report_size.py \
	tests/e2e/standin/onnx.py \
	tests/e2e/standin/torch.py \
	tests/e2e/site_check.py \
	tests/e2e/suggest_budget.py \
	tests/e2e/suggest_log.py \
	tests/e2e/suggest_met.py \
	tests/e2e/sums.cpp \
	tests/e2e/sums.f90 \
	tests/e2e/sums.py \
	tests/e2e/sums_f08.f90 \
	tests/e2e/sums_later.f90 \
	tests/e2e/sums_mpif.f90

# Programs for these tests, and a profiler that is preloaded after the library.
check_PROGRAMS += tests/e2e/hosts tests/e2e/logged tests/e2e/probe \
	tests/e2e/reduced tests/e2e/shuffled
tests_e2e_reduced_CPPFLAGS = $(MPI_CFLAGS)
tests_e2e_reduced_LDADD = $(MPI_LIBS)
tests_e2e_hosts_CPPFLAGS = $(MPI_CFLAGS)
tests_e2e_hosts_LDADD = $(MPI_LIBS)
tests_e2e_logged_CPPFLAGS = $(MPI_CFLAGS)
tests_e2e_logged_LDADD = $(MPI_LIBS)
tests_e2e_shuffled_CPPFLAGS = $(MPI_CFLAGS)
tests_e2e_shuffled_LDADD = $(MPI_LIBS) -lm
tests_e2e_probe_CPPFLAGS = $(MPI_CFLAGS)
tests_e2e_probe_LDADD = $(MPI_LIBS)

# MSTopK by itself.
check_PROGRAMS += tests/e2e/selector
tests_e2e_selector_LDADD = libcore.la

# -rpath makes a shared library although it is not installed.
check_LTLIBRARIES += tests/e2e/counter.la
tests_e2e_counter_la_SOURCES = tests/e2e/counter.c
tests_e2e_counter_la_CPPFLAGS = $(MPI_CFLAGS)
tests_e2e_counter_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_e2e_counter_la_LIBADD = $(MPI_LIBS)
tests_e2e_counter_la_LDFLAGS = -module -avoid-version -shared -no-undefined \
	-rpath $(abs_top_builddir)/tests/e2e

# Hides hwloc from dlopen; preloaded after the library.
check_LTLIBRARIES += tests/e2e/no_hwloc.la
tests_e2e_no_hwloc_la_SOURCES = tests/e2e/no_hwloc.c
tests_e2e_no_hwloc_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_e2e_no_hwloc_la_LDFLAGS = -module -avoid-version -shared -no-undefined \
	-rpath $(abs_top_builddir)/tests/e2e

# A program that multiplies matrices, and the BLAS that it is linked with.
check_LTLIBRARIES += tests/e2e/libstub.la
tests_e2e_libstub_la_SOURCES = tests/e2e/blas.c
tests_e2e_libstub_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_e2e_libstub_la_LDFLAGS = -avoid-version -shared -no-undefined \
	-rpath $(abs_top_builddir)/tests/e2e
check_PROGRAMS += tests/e2e/product
tests_e2e_product_LDADD = tests/e2e/libstub.la
tests_e2e_product_LDFLAGS = -no-install
