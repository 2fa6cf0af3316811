# SPDX-License-Identifier: BSD-3-Clause
# Simulated clusters: the reductions compiled by SimGrid's smpicc, which is not
# the compiler of the rest, hence a rule of our own.
sim_tests = \
	tests/sim/t-compressors.sh \
	tests/sim/t-gradients.sh \
	tests/sim/t-scale.sh \
	tests/sim/t-table9.sh \
	tests/sim/t-times.sh
TESTS += $(sim_tests)
dist_check_SCRIPTS += $(sim_tests)

AM_TESTS_ENVIRONMENT += \
	SMPIRUN='$(SMPIRUN)'; export SMPIRUN; \
	SIMGRID_SKIP='$(SIMGRID_SKIP)'; export SIMGRID_SKIP;

# What pmpi/reduce/reduction.c needs of pmpi/, less pmpi/progress/wait.c and pmpi/device/device.c, for
# which wait.c and device.c here stand in.
sim_engine = \
	$(top_srcdir)/pmpi/reduce/magnitude_batch.c \
	$(top_srcdir)/pmpi/reduce/block_batch.c \
	$(top_srcdir)/pmpi/reduce/block_queue.c \
	$(top_srcdir)/pmpi/reduce/accumulate.c \
	$(top_srcdir)/pmpi/reduce/block_part.c \
	$(top_srcdir)/pmpi/progress/agree.c \
	$(top_srcdir)/pmpi/reduce/block.c \
	$(top_srcdir)/pmpi/reduce/direct.c \
	$(top_srcdir)/pmpi/reduce/direct_devices.c \
	$(top_srcdir)/pmpi/reduce/exponent.c \
	$(top_srcdir)/pmpi/reduce/allgather_sum.c \
	$(top_srcdir)/pmpi/reduce/hierarchical.c \
	$(top_srcdir)/pmpi/reduce/hierarchical_devices.c \
	$(top_srcdir)/pmpi/reduce/hierarchical_stages.c \
	$(top_srcdir)/pmpi/reduce/master.c \
	$(top_srcdir)/pmpi/progress/messages.c \
	$(top_srcdir)/pmpi/progress/vcomm.c \
	$(top_srcdir)/pmpi/job/nodes.c \
	$(top_srcdir)/pmpi/topo/shm_group.c \
	$(top_srcdir)/pmpi/reduce/gpu_ipc.c \
	$(top_srcdir)/pmpi/reduce/pipeline.c \
	$(top_srcdir)/pmpi/reduce/reduction.c \
	$(top_srcdir)/pmpi/reduce/origin.c \
	$(top_srcdir)/pmpi/reduce/ring.c \
	$(top_srcdir)/pmpi/reduce/chunk.c \
	$(top_srcdir)/pmpi/reduce/exchange.c \
	$(top_srcdir)/pmpi/reduce/chunk_buffers.c \
	$(top_srcdir)/pmpi/reduce/chunk_layout.c \
	$(top_srcdir)/pmpi/reduce/history.c \
	$(top_srcdir)/pmpi/reduce/redo.c \
	$(top_srcdir)/pmpi/progress/words.c \
	$(top_srcdir)/pmpi/comm/group_exchanges.c \
	$(top_srcdir)/pmpi/compressed/chunked.c \
	$(top_srcdir)/pmpi/compressed/powersgd.c \
	$(top_srcdir)/pmpi/compressed/leaving.c \
	$(top_srcdir)/pmpi/compressed/rounded.c \
	$(top_srcdir)/pmpi/compressed/elements.c \
	$(top_srcdir)/pmpi/compressed/parcels.c \
	$(top_srcdir)/pmpi/compressed/selected.c \
	$(top_srcdir)/pmpi/compressed/selected_direct.c \
	$(top_srcdir)/pmpi/compressed/selected_hierarchical.c \
	$(top_srcdir)/pmpi/compressed/table.c \
	$(top_srcdir)/pmpi/compressed/digits.c \
	$(top_srcdir)/pmpi/compressed/ternary.c \
	$(top_srcdir)/pmpi/compressed/ternary_hierarchical.c \
	$(top_srcdir)/pmpi/compressed/vote.c \
	$(top_srcdir)/pmpi/compressed/whole.c \
	$(top_srcdir)/pmpi/topo/topology.c
sim_common = \
	$(top_srcdir)/tests/sim/device.c \
	$(top_srcdir)/tests/sim/model.c \
	$(top_srcdir)/tests/sim/model_compress.c \
	$(top_srcdir)/tests/sim/plans.c \
	$(top_srcdir)/tests/sim/ports.c \
	$(top_srcdir)/tests/sim/wait.c \
	$(top_srcdir)/tests/tap/mpitap.c \
	$(top_srcdir)/tests/tap/tap.c
sim_headers = tests/sim/model.h tests/sim/plans.h tests/sim/ports.h
EXTRA_DIST += $(sim_common) $(sim_headers) \
	tests/sim/README.md \
	tests/sim/compressors.c tests/sim/compressors.sh \
	tests/sim/gradients.bin tests/sim/gradients.py \
	tests/sim/roundoff.c \
	tests/sim/scale.c \
	tests/sim/simulate.sh \
	tests/sim/tables.sh \
	tests/sim/times.c

# Where model.c stands between the reductions and what they call.
SIM_WRAP = -Wl,--wrap=aps_codec_init,--wrap=aps_magnitude_of \
	-Wl,--wrap=PMPI_Isend,--wrap=PMPI_Irecv,--wrap=PMPI_Test \
	-Wl,--wrap=PMPI_Iallreduce,--wrap=PMPI_Ibcast \
	-Wl,--wrap=smpi_clock_gettime,--wrap=smpi_getpid \
	-Wl,--wrap=aps_lowrank_left,--wrap=aps_lowrank_left_feedback \
	-Wl,--wrap=aps_lowrank_right,--wrap=aps_lowrank_restore \
	-Wl,--wrap=aps_lowrank_restore_feedback \
	-Wl,--wrap=aps_lowrank_orthogonalise,--wrap=aps_compress_finite \
	-Wl,--wrap=aps_compressed_select,--wrap=aps_sparse_gather \
	-Wl,--wrap=aps_sparse_take,--wrap=aps_sparse_sum \
	-Wl,--wrap=aps_indices_encode,--wrap=aps_indices_decode \
	-Wl,--wrap=aps_ternary_measure_sum,--wrap=aps_ternary_take \
	-Wl,--wrap=aps_ternary_add,--wrap=aps_ternary_sum_pack \
	-Wl,--wrap=aps_ternary_sum_add,--wrap=aps_ternary_sum_decode \
	-Wl,--wrap=aps_elements_decode,--wrap=aps_elements_gather \
	-Wl,--wrap=aps_elements_find

# The simulator loads a program as a library, one copy a rank: its main is
# visible, and it has no debugging information.
sim_programs = tests/sim/compressors tests/sim/roundoff tests/sim/scale \
	tests/sim/times
$(sim_programs): $(sim_common) $(sim_headers) $(sim_engine) \
		$(libapsmpi_la_SOURCES) libpolicy.la libcore.la \
		$(sim_programs:=.c)
	$(AM_V_CCLD)$(MKDIR_P) tests/sim && \
	$(SMPICC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) \
	    -I$(top_srcdir)/pmpi -I$(top_srcdir)/tests/tap $(HWLOC_CFLAGS) \
	    $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -fvisibility=default -Wl,-s \
	    -o $@ $(top_srcdir)/$@.c $(sim_common) $(sim_engine) \
	    .libs/libpolicy.a .libs/libcore.a $(SIM_WRAP) $(LIBYAML_ARCHIVE) \
	    $(HWLOC_LIBS) \
	    $(LIBS) -lm
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
