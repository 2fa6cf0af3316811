# SPDX-License-Identifier: BSD-3-Clause
# Stand-ins for CUDA's driver and for the plugin, to test programs with buffers in
# GPU memory without a GPU; -rpath makes libtool build them shared.
STANDIN_LDFLAGS = -shared -no-undefined -rpath $(abs_top_builddir)/tests/standin
check_LTLIBRARIES += tests/standin/libcuda.la
tests_standin_libcuda_la_SOURCES = \
	tests/standin/driver.c tests/standin/driver.h \
	tests/standin/driver_own.c tests/standin/driver_state.h \
	tests/standin/driver_streams.c
tests_standin_libcuda_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_standin_libcuda_la_LDFLAGS = $(STANDIN_LDFLAGS) -version-info 1:0:0
tests_standin_libcuda_la_LIBADD = -lpthread

# A working plugin, and plugins of another interface, compiler and version.
check_LTLIBRARIES += \
	tests/standin/plugin.la tests/standin/plugin-interface.la \
	tests/standin/plugin-sizes.la tests/standin/plugin-version.la
standin_plugin = tests/standin/plugin.c tests/standin/plugin_device.c \
	tests/standin/plugin_elements.c tests/standin/plugin_state.h
STANDIN_PLUGIN_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/standin
STANDIN_PLUGIN_CFLAGS = $(AM_CFLAGS) -fvisibility=default
STANDIN_PLUGIN_LDFLAGS = $(STANDIN_LDFLAGS) -module -avoid-version
tests_standin_plugin_la_SOURCES = $(standin_plugin)
tests_standin_plugin_la_CPPFLAGS = $(STANDIN_PLUGIN_CPPFLAGS)
tests_standin_plugin_la_CFLAGS = $(STANDIN_PLUGIN_CFLAGS)
tests_standin_plugin_la_LDFLAGS = $(STANDIN_PLUGIN_LDFLAGS)
tests_standin_plugin_la_LIBADD = libcore.la
tests_standin_plugin_interface_la_SOURCES = $(standin_plugin)
tests_standin_plugin_interface_la_CPPFLAGS = $(STANDIN_PLUGIN_CPPFLAGS) \
	-DIDENTITY=99
tests_standin_plugin_interface_la_CFLAGS = $(STANDIN_PLUGIN_CFLAGS)
tests_standin_plugin_interface_la_LDFLAGS = $(STANDIN_PLUGIN_LDFLAGS)
tests_standin_plugin_interface_la_LIBADD = libcore.la
tests_standin_plugin_sizes_la_SOURCES = $(standin_plugin)
tests_standin_plugin_sizes_la_CPPFLAGS = $(STANDIN_PLUGIN_CPPFLAGS) \
	-DSIZES='{sizeof(struct aps_cuda_plugin)}'
tests_standin_plugin_sizes_la_CFLAGS = $(STANDIN_PLUGIN_CFLAGS) \
	-Wno-missing-field-initializers
tests_standin_plugin_sizes_la_LDFLAGS = $(STANDIN_PLUGIN_LDFLAGS)
tests_standin_plugin_sizes_la_LIBADD = libcore.la
tests_standin_plugin_version_la_SOURCES = $(standin_plugin)
tests_standin_plugin_version_la_CPPFLAGS = $(STANDIN_PLUGIN_CPPFLAGS) \
	-DVERSION_SAID='"0.0.1"' -DIDENTITY=99
tests_standin_plugin_version_la_CFLAGS = $(STANDIN_PLUGIN_CFLAGS)
tests_standin_plugin_version_la_LDFLAGS = $(STANDIN_PLUGIN_LDFLAGS)
tests_standin_plugin_version_la_LIBADD = libcore.la

# An MPI that is CUDA-aware, preloaded after the library.
check_LTLIBRARIES += tests/standin/libaware.la
tests_standin_libaware_la_SOURCES = tests/standin/aware.c
tests_standin_libaware_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_standin_libaware_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_standin_libaware_la_LDFLAGS = $(STANDIN_LDFLAGS) -module -avoid-version

# The stand-in itself.
check_PROGRAMS += tests/standin/verbs
tests_standin_verbs_SOURCES = tests/standin/verbs.c \
	tests/standin/gpu.c tests/standin/gpu.h tests/standin/driver.h
tests_standin_verbs_CPPFLAGS = $(TEST_CPPFLAGS) -I$(top_srcdir)/tests/standin
tests_standin_verbs_LDADD = tests/libtap.la libcore.la
TESTS += tests/standin/verbs
