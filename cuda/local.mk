# SPDX-License-Identifier: BSD-3-Clause
# GPU memory: libapsmpi.so loads this plugin when it meets some. It needs
# neither MPI nor libapsmpi.so, exports one symbol, and finds the driver's
# library at run time, by way of CUDA's runtime, which is linked statically.
dist_man_MANS += cuda/apsmpi-gpu.7
if HAVE_CUDA
mpilib_LTLIBRARIES += libapsmpi-cuda.la
lib_LTLIBRARIES += libaps-cuda.la
include_HEADERS += cuda/aps_cuda.h
endif
libapsmpi_cuda_la_SOURCES = \
	cuda/blocks.c cuda/blocks.h \
	cuda/context.c cuda/context.h \
	cuda/block_decode.h cuda/block_encode.h cuda/block_kernels.h \
	cuda/block_values.h \
	cuda/convert.h cuda/decode.h cuda/encode.h \
	cuda/elements.c cuda/elements.h \
	cuda/driver.c cuda/driver.h \
	cuda/failure.c cuda/failure.h \
	cuda/kernels.h \
	cuda/allocations.c cuda/allocations.h \
	cuda/stream.c cuda/stream.h \
	cuda/allocate.c cuda/allocate.h \
	cuda/pieces.h \
	cuda/plugin.c cuda/plugin.h \
	cuda/ipc.c cuda/ipc.h \
	cuda/staged.c cuda/staged.h \
	cuda/staged_steps.c cuda/staged_steps.h \
	cuda/steps.c cuda/steps.h \
	cuda/threads.h cuda/warps.h
libapsmpi_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
libapsmpi_cuda_la_LIBADD = libcore.la -ldl -lrt -lpthread
libapsmpi_cuda_la_LDFLAGS = -module -avoid-version -shared -no-undefined \
	-export-symbols-regex '^aps_cuda_plugin$$' \
	-Wl,cuda/kernels.o -Wl,cuda/block_kernels.o -Wl,$(CUDART_ARCHIVE)
libapsmpi_cuda_la_DEPENDENCIES = libcore.la cuda/kernels.o \
	cuda/block_kernels.o

# The C API on GPU memory, for programs to link with.
libaps_cuda_la_SOURCES = \
	cuda/api.c cuda/aps_cuda.h \
	cuda/block_decode.h cuda/block_encode.h cuda/block_kernels.h \
	cuda/block_values.h \
	cuda/convert.h cuda/decode.h cuda/encode.h \
	cuda/kernels.h \
	cuda/sums.h cuda/sums_kernels.h \
	cuda/threads.h cuda/warps.h
libaps_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
libaps_cuda_la_LIBADD = libcore.la -ldl -lrt -lpthread
libaps_cuda_la_LDFLAGS = -version-info 0:0:0 -no-undefined \
	-Wl,--version-script=$(top_srcdir)/cuda/libaps-cuda.map \
	-Wl,cuda/kernels.o -Wl,cuda/block_kernels.o -Wl,cuda/sums.o \
	-Wl,$(CUDART_ARCHIVE)
libaps_cuda_la_DEPENDENCIES = libcore.la cuda/kernels.o \
	cuda/block_kernels.o cuda/sums.o cuda/libaps-cuda.map

# What stands for the headers that define what crosses between libapsmpi.so and
# its plugin.
BUILT_SOURCES += cuda/plugin_identity.h
CLEANFILES += cuda/plugin_identity.h
plugin_identity_files = cuda/plugin.h src/aps.h src/base/element.h \
	src/codec/codec.h \
	src/codec/memory.h src/kernel/ops.h src/number/format.h
cuda/plugin_identity.h: $(plugin_identity_files) config/identity.sh
	$(AM_V_GEN)$(MKDIR_P) cuda && \
	$(SHELL) $(top_srcdir)/config/identity.sh $(top_srcdir) \
	    APS_CUDA_IDENTITY $(plugin_identity_files) >$@.tmp && mv $@.tmp $@
$(libapsmpi_cuda_la_OBJECTS): | cuda/plugin_identity.h

EXTRA_DIST += cuda/libaps-cuda.map cuda/aps_cuda.h cuda/kernels.cu \
	cuda/block_kernels.cu cuda/sums.cu
CLEANFILES += cuda/kernels.o cuda/kernels.resources \
	cuda/block_kernels.o cuda/block_kernels.resources \
	cuda/sums.o cuda/sums.resources

# A fused product would be another number; exceptions and guarded statics would
# need a C++ library.
APS_NVCCFLAGS = -std=c++20 -fmad=false -I$(top_builddir)/src \
	-I$(top_srcdir)/src -I$(top_srcdir) \
	-Xcompiler -fPIC,-fvisibility=hidden,-ffp-contract=off \
	-Xcompiler -fno-exceptions,-fno-threadsafe-statics
AM_V_NVCC = $(am__v_NVCC_@AM_V@)
am__v_NVCC_ = $(am__v_NVCC_@AM_DEFAULT_V@)
am__v_NVCC_0 = @echo "  NVCC    " $@;
am__v_NVCC_1 =

# Registers and memory of every kernel are kept, for a test.
cuda_headers = cuda/aps_cuda.h cuda/block_decode.h cuda/block_encode.h \
	cuda/block_kernels.h cuda/block_values.h \
	cuda/convert.h cuda/decode.h cuda/encode.h \
	cuda/kernels.h cuda/sums.h \
	cuda/sums_kernels.h cuda/threads.h cuda/warps.h src/aps.h src/base/element.h \
	src/blockwise/bfp.h src/blockwise/block_scale.h src/blockwise/fixed.h \
	src/codec/codec.h src/kernel/ops.h \
	src/kernel/kernel.h src/blockwise/mx.h src/blockwise/nvfp4.h \
	src/number/bits.h src/number/cast.h \
	src/number/format.h src/number/integer.h \
	src/number/cpd.h src/number/draw.h src/number/philox.h \
	src/number/quantize.h
cuda/kernels.o: cuda/kernels.cu $(cuda_headers) Makefile
cuda/block_kernels.o: cuda/block_kernels.cu $(cuda_headers) Makefile
cuda/sums.o: cuda/sums.cu $(cuda_headers) Makefile
cuda/kernels.o cuda/block_kernels.o cuda/sums.o:
	$(AM_V_NVCC)$(MKDIR_P) cuda && \
	source='$(top_srcdir)'/`echo $@ | $(SED) 's/\.o$$/.cu/'` && \
	said=`echo $@ | $(SED) 's/\.o$$/.resources/'` && \
	if $(NVCC) $(APS_NVCCFLAGS) $(NVCCFLAGS) $(CUDA_GENCODE) --threads 0 \
	    -Xptxas -v -c -o $@ "$$source" >"$$said" 2>&1; then :; \
	else cat "$$said" >&2; exit 1; fi
