# SPDX-License-Identifier: BSD-3-Clause
# Training programs that do not use apsmpi: MPI and the C library only.
digits_sources = \
	tests/apps/digits.c tests/apps/digits.h \
	tests/apps/digits_images.c tests/apps/digits_images.h \
	tests/apps/digits_network.c tests/apps/digits_network.h \
	tests/apps/digits_options.c tests/apps/digits_options.h \
	tests/apps/digits_random.c tests/apps/digits_random.h \
	tests/apps/digits_ranks.c
check_PROGRAMS += tests/apps/digits
tests_apps_digits_SOURCES = $(digits_sources)
tests_apps_digits_CPPFLAGS = $(MPI_CFLAGS)
tests_apps_digits_LDADD = $(MPI_LIBS) -lm
EXTRA_DIST += tests/apps/README.md tests/apps/characters.py \
	tests/apps/digits_horovod.py \
	tests/apps/digits_torch.py tests/apps/fashion-layers.csv \
	tests/apps/fashion.py tests/apps/fusion.py tests/apps/groups.f90 \
	tests/apps/rooted.py

# Two heads whose gradients differ by powers of two, on the same images.
check_PROGRAMS += tests/apps/heads
tests_apps_heads_SOURCES = \
	tests/apps/heads.c tests/apps/digits.h \
	tests/apps/digits_images.c tests/apps/digits_images.h \
	tests/apps/digits_random.c tests/apps/digits_random.h \
	tests/apps/digits_ranks.c
tests_apps_heads_CPPFLAGS = $(MPI_CFLAGS)
tests_apps_heads_LDADD = $(MPI_LIBS) -lm

# Weights and gradients in a GPU's memory, linked with the driver: the stand-in, or
# CUDA's if LD_LIBRARY_PATH has it.
check_PROGRAMS += tests/apps/digits-device
tests_apps_digits_device_SOURCES = $(digits_sources) tests/apps/device.h
tests_apps_digits_device_CPPFLAGS = $(MPI_CFLAGS) -DWITH_DEVICE \
	-I$(top_srcdir)/tests/standin
tests_apps_digits_device_LDFLAGS = -no-install
tests_apps_digits_device_LDADD = tests/standin/libcuda.la $(MPI_LIBS) -lm

# All arithmetic on the GPU: `make tests/apps/digits-cuda` needs nvcc.
# Contractions would make other sums than the host's.
EXTRA_DIST += tests/apps/digits.cu
CLEANFILES += tests/apps/digits-cuda
tests/apps/digits-cuda: tests/apps/digits.cu
	@nvcc='$(NVCC)'; set -x; $${nvcc:-nvcc} -O2 -fmad=false -o $@ \
	    $(srcdir)/tests/apps/digits.cu $(MPI_CFLAGS) $(MPI_LIBS)
