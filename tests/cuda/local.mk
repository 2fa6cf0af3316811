# SPDX-License-Identifier: BSD-3-Clause
# GPU memory, without a GPU: the kernels' work done on the host, the staging on a
# fake device, and the plugin as a file.
CUDA_TEST_CPPFLAGS = $(TEST_CPPFLAGS) -I$(top_srcdir)/tests \
	-I$(top_srcdir)/tests/cuda
cuda_emulation = tests/cuda/emulate.c tests/cuda/emulate.h \
	cuda/block_decode.h cuda/block_encode.h cuda/block_values.h \
	cuda/convert.h cuda/decode.h cuda/encode.h cuda/sums.h cuda/threads.h
EXTRA_DIST += tests/cuda/alone.sh tests/cuda/bench.cu tests/cuda/bundle.sh \
	tests/cuda/emulate.cu tests/cuda/t-plugin.sh
AM_TESTS_ENVIRONMENT += CUDA_SKIP='$(CUDA_SKIP)'; export CUDA_SKIP;
cuda_tests = tests/cuda/work tests/cuda/work_blocks tests/cuda/sums \
	tests/cuda/convert
TESTS += tests/cuda/t-plugin.sh

tests_cuda_work_SOURCES = tests/cuda/work.c $(cuda_emulation) \
	tests/unit/common/formats.h tests/unit/common/wire.h
tests_cuda_work_CPPFLAGS = $(CUDA_TEST_CPPFLAGS)
tests_cuda_work_LDADD = tests/libtap.la libcore.la -lm

tests_cuda_work_blocks_SOURCES = tests/cuda/work_blocks.c $(cuda_emulation) \
	tests/unit/common/wire.h
tests_cuda_work_blocks_CPPFLAGS = $(CUDA_TEST_CPPFLAGS)
tests_cuda_work_blocks_LDADD = $(tests_cuda_work_LDADD)

tests_cuda_sums_SOURCES = tests/cuda/sums.c $(cuda_emulation)
tests_cuda_sums_CPPFLAGS = $(CUDA_TEST_CPPFLAGS)
tests_cuda_sums_LDADD = $(tests_cuda_work_LDADD)

tests_cuda_convert_SOURCES = tests/cuda/convert.c $(cuda_emulation) \
	tests/unit/common/wire.h
tests_cuda_convert_CPPFLAGS = $(CUDA_TEST_CPPFLAGS)
tests_cuda_convert_LDADD = $(tests_cuda_work_LDADD)

# The kernels' work, compiled by nvcc for the host.
tests_cuda_work_nvcc_SOURCES = tests/cuda/work.c tests/cuda/emulate.h
tests_cuda_work_nvcc_CPPFLAGS = $(CUDA_TEST_CPPFLAGS)
tests_cuda_work_nvcc_LDADD = tests/cuda/emulate.o $(tests_cuda_work_LDADD) \
	$(CUDART_ARCHIVE) -ldl -lrt -lpthread
tests_cuda_work_blocks_nvcc_SOURCES = tests/cuda/work_blocks.c \
	tests/cuda/emulate.h
tests_cuda_work_blocks_nvcc_CPPFLAGS = $(CUDA_TEST_CPPFLAGS)
tests_cuda_work_blocks_nvcc_LDADD = $(tests_cuda_work_nvcc_LDADD)
tests_cuda_sums_nvcc_SOURCES = tests/cuda/sums.c tests/cuda/emulate.h
tests_cuda_sums_nvcc_CPPFLAGS = $(CUDA_TEST_CPPFLAGS)
tests_cuda_sums_nvcc_LDADD = $(tests_cuda_work_nvcc_LDADD)
tests_cuda_convert_nvcc_SOURCES = tests/cuda/convert.c tests/cuda/emulate.h
tests_cuda_convert_nvcc_CPPFLAGS = $(CUDA_TEST_CPPFLAGS)
tests_cuda_convert_nvcc_LDADD = $(tests_cuda_work_nvcc_LDADD)
tests_cuda_oracle_SOURCES = tests/cuda/oracle.c tests/cuda/emulate.h \
	tests/unit/number/oracle.c tests/unit/number/oracle.h
tests_cuda_oracle_CPPFLAGS = $(CUDA_TEST_CPPFLAGS) -I$(top_srcdir)/tests/unit \
	$(MPFR_CFLAGS)
tests_cuda_oracle_LDADD = $(tests_cuda_work_nvcc_LDADD) $(MPFR_LIBS)

cuda_verbs = tests/cuda/verbs.c tests/cuda/verbs.h tests/unit/common/wire.h
cuda_on_fake = tests/cuda/fake.c tests/cuda/fake.h \
	tests/cuda/fake_driver.c tests/cuda/fake_runtime.c \
	tests/cuda/fake_shared.c \
	tests/cuda/fake_state.c tests/cuda/fake_state.h \
	tests/cuda/placed.c tests/cuda/placed.h $(cuda_verbs) $(cuda_emulation) \
	cuda/blocks.c cuda/context.c cuda/failure.c cuda/allocations.c cuda/stream.c \
	cuda/allocate.c cuda/elements.c cuda/plugin.c cuda/ipc.c cuda/staged.c \
	cuda/staged_steps.c cuda/steps.c
tests_cuda_staging_SOURCES = tests/cuda/staging.c $(cuda_on_fake)
tests_cuda_staging_CPPFLAGS = $(CUDA_TEST_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_cuda_staging_LDADD = tests/libtap.la libpolicy.la libcore.la \
	$(LIBYAML_ARCHIVE) -lm -lpthread
tests_cuda_elements_SOURCES = tests/cuda/elements.c $(cuda_on_fake) \
	pmpi/device/memory_relay.c
tests_cuda_elements_CPPFLAGS = $(tests_cuda_staging_CPPFLAGS) \
	-I$(top_srcdir)/pmpi
tests_cuda_elements_LDADD = $(tests_cuda_staging_LDADD)
cuda_blocks = tests/cuda/blocks_help.c tests/cuda/blocks_help.h $(cuda_on_fake)
tests_cuda_blocks_SOURCES = tests/cuda/blocks.c $(cuda_blocks)
tests_cuda_blocks_CPPFLAGS = $(tests_cuda_staging_CPPFLAGS)
tests_cuda_blocks_LDADD = $(tests_cuda_staging_LDADD)
tests_cuda_blocks_failing_SOURCES = tests/cuda/blocks_failing.c $(cuda_blocks)
tests_cuda_blocks_failing_CPPFLAGS = $(tests_cuda_staging_CPPFLAGS)
tests_cuda_blocks_failing_LDADD = $(tests_cuda_staging_LDADD)
tests_cuda_steps_SOURCES = tests/cuda/steps.c $(cuda_blocks)
tests_cuda_steps_CPPFLAGS = $(tests_cuda_staging_CPPFLAGS)
tests_cuda_steps_LDADD = $(tests_cuda_staging_LDADD)
tests_cuda_staged_steps_SOURCES = tests/cuda/staged_steps.c $(cuda_blocks)
tests_cuda_staged_steps_CPPFLAGS = $(tests_cuda_staging_CPPFLAGS)
tests_cuda_staged_steps_LDADD = $(tests_cuda_staging_LDADD)
tests_cuda_blocks_memory_SOURCES = tests/cuda/blocks_memory.c $(cuda_blocks)
tests_cuda_blocks_memory_CPPFLAGS = $(tests_cuda_staging_CPPFLAGS)
tests_cuda_blocks_memory_LDADD = $(tests_cuda_staging_LDADD)

# On a GPU; skipped without one. The kernels themselves, and the loaded plugin.
cuda_device_libs = tests/libtap.la libcore.la $(CUDART_ARCHIVE) -ldl -lrt \
	-lpthread -lm
tests_cuda_work_device_SOURCES = tests/cuda/work.c tests/cuda/emulate.h \
	tests/cuda/launch.c
tests_cuda_work_device_CPPFLAGS = $(CUDA_TEST_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_cuda_work_device_LDADD = cuda/kernels.o cuda/block_kernels.o \
	$(cuda_device_libs)
tests_cuda_work_blocks_device_SOURCES = tests/cuda/work_blocks.c \
	tests/cuda/emulate.h tests/cuda/launch.c
tests_cuda_work_blocks_device_CPPFLAGS = $(tests_cuda_work_device_CPPFLAGS)
tests_cuda_work_blocks_device_LDADD = $(tests_cuda_work_device_LDADD)
tests_cuda_sums_device_SOURCES = tests/cuda/sums.c tests/cuda/emulate.h \
	tests/cuda/launch_sums.c
tests_cuda_sums_device_CPPFLAGS = $(CUDA_TEST_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_cuda_sums_device_LDADD = libaps-cuda.la $(cuda_device_libs)
tests_cuda_convert_device_SOURCES = tests/cuda/convert.c \
	tests/cuda/emulate.h tests/cuda/launch.c
tests_cuda_convert_device_CPPFLAGS = $(tests_cuda_work_device_CPPFLAGS)
tests_cuda_convert_device_LDADD = $(tests_cuda_work_device_LDADD)
tests_cuda_device_SOURCES = tests/cuda/device.c \
	tests/cuda/device_help.c tests/cuda/device_help.h $(cuda_verbs)
tests_cuda_device_CPPFLAGS = $(CUDA_TEST_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_cuda_device_LDADD = $(cuda_device_libs)
tests_cuda_device_DEPENDENCIES = tests/libtap.la libcore.la libapsmpi-cuda.la

tests_cuda_constants_CPPFLAGS = $(CUDA_TEST_CPPFLAGS) $(CUDA_CPPFLAGS) \
	-I$(top_srcdir)/pmpi
tests_cuda_constants_LDADD = tests/libtap.la

tests_cuda_refused_CPPFLAGS = $(CUDA_TEST_CPPFLAGS)
tests_cuda_refused_LDADD = tests/libtap.la libaps-cuda.la libcore.la -lm

tests_cuda_load_CPPFLAGS = $(CUDA_TEST_CPPFLAGS)
tests_cuda_load_LDADD = -ldl

if HAVE_CUDA
cuda_tests += tests/cuda/constants tests/cuda/staging tests/cuda/blocks tests/cuda/blocks_failing \
	tests/cuda/blocks_memory tests/cuda/steps tests/cuda/staged_steps \
	tests/cuda/elements tests/cuda/convert-nvcc tests/cuda/convert-device \
	tests/cuda/work-nvcc \
	tests/cuda/work_blocks-nvcc tests/cuda/sums-nvcc \
	tests/cuda/work-device tests/cuda/work_blocks-device \
	tests/cuda/sums-device \
	tests/cuda/refused tests/cuda/device
if HAVE_MPFR
cuda_tests += tests/cuda/oracle
endif
check_PROGRAMS += tests/cuda/load
endif
check_PROGRAMS += $(cuda_tests)
TESTS += $(cuda_tests)

tests/cuda/emulate.o: tests/cuda/emulate.cu tests/cuda/emulate.c \
	tests/cuda/emulate.h $(cuda_headers) Makefile
	$(AM_V_NVCC)$(MKDIR_P) tests/cuda && \
	$(NVCC) $(APS_NVCCFLAGS) $(NVCCFLAGS) -I. -c -o $@ \
	    $(top_srcdir)/tests/cuda/emulate.cu
CLEANFILES += tests/cuda/emulate.o

# All tests that need a GPU: see scripts/check-cuda.
tests/cuda/bench: $(top_srcdir)/tests/cuda/bench.cu cuda/kernels.o \
	cuda/block_kernels.o \
	libapsmpi-cuda.la libcore.la Makefile
	$(AM_V_NVCC)$(MKDIR_P) tests/cuda && \
	$(NVCC) $(APS_NVCCFLAGS) $(NVCCFLAGS) $(CUDA_GENCODE) --threads 0 -I. \
	    -cudart static -o $@ $(top_srcdir)/tests/cuda/bench.cu \
	    cuda/.libs/libapsmpi_cuda_la-stream.o \
	    cuda/.libs/libapsmpi_cuda_la-staged.o \
	    cuda/kernels.o cuda/block_kernels.o .libs/libcore.a -lm
CLEANFILES += tests/cuda/bench

EXTRA_DIST += tests/cuda/allreduce.cu
CLEANFILES += tests/cuda/allreduce check-cuda.mpi
tests/cuda/allreduce: tests/cuda/allreduce.cu
	$(AM_V_NVCC)$(MKDIR_P) tests/cuda && \
	$(NVCC) -O2 $(CUDA_GENCODE) -cudart static -o $@ \
	    $(top_srcdir)/tests/cuda/allreduce.cu $(MPI_CFLAGS) $(MPI_LIBS)

.PHONY: check-cuda check-cuda-programs
check-cuda-programs: libapsmpi-cuda.la tests/cuda/work-device \
	tests/cuda/work_blocks-device \
	tests/cuda/sums-device tests/cuda/convert-device tests/cuda/device tests/cuda/bench \
	tests/cuda/allreduce libapsmpi.la apsmpi tests/mpi/device \
	tests/apps/digits tests/apps/digits-cuda tests/e2e/probe
	@echo "$(MPIEXEC)" >check-cuda.mpi
check-cuda:
	APSMPI_BUILD=$(abs_top_builddir) CUDA_SKIP='$(CUDA_SKIP)' $(SHELL) \
		$(top_srcdir)/scripts/check-cuda || test $$? -eq 77
