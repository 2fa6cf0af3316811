# SPDX-License-Identifier: BSD-3-Clause
# GPU memory: libapsmpi.so loads this plugin when it meets some. It needs
# neither MPI nor libapsmpi.so, exports one symbol, and finds the driver's
# library at run time, by way of CUDA's runtime, which is linked statically.
if HAVE_CUDA
lib_LTLIBRARIES += libapsmpi-cuda.la
endif
libapsmpi_cuda_la_SOURCES = \
	cuda/context.c cuda/context.h \
	cuda/driver.c cuda/driver.h \
	cuda/failure.c cuda/failure.h \
	cuda/kernels.h \
	cuda/lane.c cuda/lane.h \
	cuda/plugin.c cuda/plugin.h \
	cuda/staged.c cuda/staged.h \
	cuda/work.h \
	src/base/message.c src/base/message.h
libapsmpi_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
libapsmpi_cuda_la_LIBADD = libcore.la -ldl -lrt -lpthread
libapsmpi_cuda_la_LDFLAGS = -module -avoid-version -shared -no-undefined \
	-export-symbols-regex '^aps_cuda_plugin$$' \
	-Wl,cuda/kernels.o -Wl,$(CUDART_ARCHIVE)
libapsmpi_cuda_la_DEPENDENCIES = libcore.la cuda/kernels.o
EXTRA_DIST += cuda/kernels.cu
CLEANFILES += cuda/kernels.o cuda/kernels.resources

# A fused product would be another number; exceptions and guarded statics would
# need a C++ library.
APS_NVCCFLAGS = -std=c++20 -fmad=false -I$(top_srcdir)/src -I$(top_srcdir) \
	-Xcompiler -fPIC,-fvisibility=hidden,-ffp-contract=off \
	-Xcompiler -fno-exceptions,-fno-threadsafe-statics
AM_V_NVCC = $(am__v_NVCC_@AM_V@)
am__v_NVCC_ = $(am__v_NVCC_@AM_DEFAULT_V@)
am__v_NVCC_0 = @echo "  NVCC    " $@;
am__v_NVCC_1 =

# Registers and memory of every kernel are kept, for a test.
cuda/kernels.o: cuda/kernels.cu cuda/kernels.h cuda/work.h src/aps.h \
	src/codec/codec.h src/codec/kernel.h src/number/bits.h \
	src/number/cast.h src/number/cpd.h src/number/philox.h Makefile
	$(AM_V_NVCC)$(MKDIR_P) cuda && \
	if $(NVCC) $(APS_NVCCFLAGS) $(NVCCFLAGS) $(CUDA_GENCODE) --threads 0 \
	    -Xptxas -v -c -o $@ $(top_srcdir)/cuda/kernels.cu \
	    >cuda/kernels.resources 2>&1; then :; \
	else cat cuda/kernels.resources >&2; exit 1; fi
