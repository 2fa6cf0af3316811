# SPDX-License-Identifier: BSD-3-Clause
# Simulated clusters: the reductions compiled by SimGrid's smpicc, which is not
# the compiler of the other sources, and needs a rule.
sim_tests = \
	tests/sim/t-compressors.sh \
	tests/sim/t-gradients.sh \
	tests/sim/t-scale.sh \
	tests/sim/t-table9.sh \
	tests/sim/t-times.sh \
	tests/sim/t-types.sh
TESTS += $(sim_tests)
dist_check_SCRIPTS += $(sim_tests)

AM_TESTS_ENVIRONMENT += \
	SMPIRUN='$(SMPIRUN)'; export SMPIRUN; \
	SIMGRID_SKIP='$(SIMGRID_SKIP)'; export SIMGRID_SKIP;

# Sources of pmpi/ that pmpi/reduce/reduction.c needs, without pmpi/message/wait.c and
# pmpi/device/device.c, which wait.c and device.c here replace.
sim_engine = \
	pmpi/block/magnitude_batch.c \
	pmpi/block/block_queue.c \
	pmpi/block/accumulate.c \
	pmpi/block/tile.c \
	pmpi/message/agree.c \
	pmpi/block/block.c \
	pmpi/group/store_selector.c \
	pmpi/reduce/direct.c \
	pmpi/reduce/direct_devices.c \
	pmpi/cut/exponent.c \
	pmpi/reduce/allgather_sum.c \
	pmpi/reduce/hierarchical.c \
	pmpi/reduce/hierarchical_devices.c \
	pmpi/reduce/hierarchical_stages.c \
	pmpi/reduce/master.c \
	pmpi/message/messages.c \
	pmpi/message/vcomm.c \
	pmpi/device/memory_relay.c \
	pmpi/world/nodes.c \
	pmpi/group/shm_group.c \
	pmpi/group/gpu_ipc.c \
	pmpi/cut/pipeline.c \
	pmpi/reduce/reduction.c \
	pmpi/block/plan_wire.c \
	pmpi/block/random_key.c \
	pmpi/reduce/ring.c \
	pmpi/cut/chunk.c \
	pmpi/cut/exchange.c \
	pmpi/group/chunk_buffers.c \
	pmpi/group/chunk_layout.c \
	pmpi/cut/chunk_queue.c \
	pmpi/cut/redo.c \
	pmpi/layer/group_exchanges.c \
	pmpi/compressed/chunked.c \
	pmpi/compressed/powersgd.c \
	pmpi/compressed/rounded.c \
	pmpi/compressed/elements.c \
	pmpi/compressed/varlen_exchange.c \
	pmpi/compressed/selected.c \
	pmpi/compressed/selected_direct.c \
	pmpi/compressed/selected_hierarchical.c \
	pmpi/compressed/table.c \
	pmpi/compressed/digits.c \
	pmpi/compressed/ternary.c \
	pmpi/compressed/ternary_hierarchical.c \
	pmpi/compressed/vote.c \
	pmpi/compressed/fp32_fallback.c \
	pmpi/group/hardware.c pmpi/group/topology.c
sim_common = \
	tests/sim/device.c \
	tests/sim/model.c \
	tests/sim/model_compress.c \
	tests/sim/plans.c \
	tests/sim/ports.c \
	tests/sim/wait.c \
	tests/tap/mpitap.c \
	tests/tap/tap.c
sim_headers = tests/sim/model.h tests/sim/no_gpu.h tests/sim/plans.h \
	tests/sim/ports.h
EXTRA_DIST += $(sim_headers) \
	tests/sim/README.md \
	tests/sim/compressors.c tests/sim/compressors.sh \
	tests/sim/gradients.bin tests/sim/gradients.py \
	tests/sim/roundoff.c \
	tests/sim/scale.c \
	tests/sim/simulate.sh \
	tests/sim/tables.sh \
	tests/sim/times.c \
	tests/sim/types.c tests/sim/types.csv tests/sim/types.svg \
	tests/sim/types_picture.py

# Functions for which model.c is between the reductions and their callees.
SIM_WRAP = -Wl,--wrap=aps_codec_init,--wrap=aps_magnitude_of \
	-Wl,--wrap=aps_workers_pass,--wrap=aps_workers_list \
	-Wl,--wrap=PMPI_Isend,--wrap=PMPI_Irecv,--wrap=PMPI_Test \
	-Wl,--wrap=PMPI_Iallreduce,--wrap=PMPI_Ibcast \
	-Wl,--wrap=smpi_clock_gettime,--wrap=smpi_getpid \
	-Wl,--wrap=aps_lowrank_left,--wrap=aps_lowrank_left_feedback \
	-Wl,--wrap=aps_lowrank_right,--wrap=aps_lowrank_restore \
	-Wl,--wrap=aps_lowrank_restore_feedback \
	-Wl,--wrap=aps_lowrank_orthogonalise \
	-Wl,--wrap=aps_compressed_select,--wrap=aps_sparse_gather \
	-Wl,--wrap=aps_sparse_take,--wrap=aps_sparse_sum \
	-Wl,--wrap=aps_indices_encode,--wrap=aps_indices_decode \
	-Wl,--wrap=aps_ternary_measure_sum,--wrap=aps_ternary_take \
	-Wl,--wrap=aps_ternary_add,--wrap=aps_ternary_sum_pack \
	-Wl,--wrap=aps_ternary_sum_add,--wrap=aps_ternary_sum_decode \
	-Wl,--wrap=aps_elements_decode,--wrap=aps_elements_gather \
	-Wl,--wrap=aps_elements_find

# Sources of all these programs.
if HAVE_SIMGRID
check_LIBRARIES = tests/sim/libengine.a
endif
tests_sim_libengine_a_SOURCES = $(sim_common) $(sim_engine)
tests_sim_libengine_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/pmpi \
	-include $(top_srcdir)/tests/sim/no_gpu.h \
	-I$(top_srcdir)/tests/tap $(HWLOC_CFLAGS)
tests_sim_libengine_a_CFLAGS = $(AM_CFLAGS) -fvisibility=default
$(tests_sim_libengine_a_OBJECTS): override CC = $(SMPICC)
$(tests_sim_libengine_a_OBJECTS): override CFLAGS += -g0

# The simulator loads a program as a library, one copy a rank: its main is
# visible, and it has no debugging information.
sim_programs = tests/sim/compressors tests/sim/roundoff tests/sim/scale \
	tests/sim/times tests/sim/types
$(sim_programs): tests/sim/libengine.a $(sim_headers) \
		$(libapsmpi_la_SOURCES) libpolicy.la libcore.la \
		$(sim_programs:=.c)
	$(AM_V_CCLD)$(MKDIR_P) tests/sim && \
	$(SMPICC) $(DEFS) $(DEFAULT_INCLUDES) $(tests_sim_libengine_a_CPPFLAGS) \
	    $(CPPFLAGS) $(tests_sim_libengine_a_CFLAGS) $(CFLAGS) -g0 -Wl,-s \
	    -o $@ $(top_srcdir)/$@.c -Wl,--whole-archive tests/sim/libengine.a \
	    -Wl,--no-whole-archive .libs/libpolicy.a .libs/libcore.a \
	    $(SIM_WRAP) $(LIBYAML_ARCHIVE) $(LIBS) -lm
CLEANFILES += $(sim_programs) tests/sim/compressors.csv

.PHONY: sim check-sim
if HAVE_SIMGRID
check_DATA = $(sim_programs)
sim: $(sim_programs) apsmpi
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/tests/sim/tables.sh
else
sim:
	@echo "no simulated clusters: $(SIMGRID_SKIP)"
endif

check-sim: $(check_DATA)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(sim_tests)'
