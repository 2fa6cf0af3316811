# SPDX-License-Identifier: BSD-3-Clause
# Frameworks as they are published, under the library. A test installs its framework
# with Debian's packages and in programs/ of the build directory, or is skipped with the
# reason. They are no part of `make check`: they install gigabytes, and take an hour.
program_tests = \
	tests/programs/t-averaging.sh \
	tests/programs/t-chainer.sh \
	tests/programs/t-coarrays.sh \
	tests/programs/t-ddp.sh \
	tests/programs/t-heat.sh \
	tests/programs/t-horovod.sh \
	tests/programs/t-jax.sh \
	tests/programs/t-jax-collectives.sh \
	tests/programs/t-libtorch.sh \
	tests/programs/t-ppo.sh \
	tests/programs/t-rmpi.sh \
	tests/programs/t-sums-16.sh
dist_check_SCRIPTS += $(program_tests)
EXTRA_DIST += tests/programs/lib.sh tests/programs/training.py \
	tests/programs/averaging.py \
	tests/programs/chainer_train.py \
	tests/programs/coarrays.f90 \
	tests/programs/ddp.sh tests/programs/ddp_gloo.py tests/programs/ddp_mpi.py \
	tests/programs/heat_train.py \
	tests/programs/horovod.sh tests/programs/horovod_keras.py \
	tests/programs/horovod_torch.py tests/programs/torch_network.py \
	tests/programs/jax.sh tests/programs/jax_train.py \
	tests/programs/jax_collectives.py \
	tests/programs/libtorch.cpp \
	tests/programs/sums.R tests/programs/sums_16.py \
	tests/programs/seconds.py tests/programs/seconds.sh

.PHONY: check-programs table-programs clean-programs
programs_need = all build-openmpi tests/apps/digits tests/e2e/probe tests/tap/yield.la
check-programs: $(programs_need)
	$(MAKE) $(AM_MAKEFLAGS) -j1 check-TESTS TESTS='$(program_tests)'
# Seconds of a step between two hosts at 1 Gbit/s: a quarter of an hour.
table-programs: $(programs_need)
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/tests/programs/seconds.sh
clean-programs:
	rm -rf programs
clean-local: clean-programs
