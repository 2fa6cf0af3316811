# SPDX-License-Identifier: BSD-3-Clause
# The library to preload. It links no MPI and exports MPI's names alone. Each ABI of MPI
# has a directory: libraries for several can be installed together, and apsmpi-run
# chooses.
dist_man_MANS += pmpi/apsmpi.7 pmpi/apsmpi-recipes.7
mpilibdir = $(pkglibdir)/$(MPI)
mpilib_LTLIBRARIES += libapsmpi.la
libapsmpi_la_SOURCES = \
	pmpi/waiting/blocking.c pmpi/waiting/blocking.h \
	pmpi/waiting/completion.c pmpi/waiting/completion.h \
	pmpi/waiting/persistent.c pmpi/waiting/persistent.h \
	pmpi/collective/allgather.c \
	pmpi/collective/allreduce.c \
	pmpi/collective/bcast.c \
	pmpi/collective/common.c pmpi/collective/common.h \
	pmpi/collective/derived.c pmpi/collective/derived.h \
	pmpi/collective/reduce.c \
	pmpi/collective/reduce_scatter.c \
	pmpi/call/call.h \
	pmpi/call/fuse.c pmpi/call/fuse.h \
	pmpi/call/collective.h \
	pmpi/call/observe.c pmpi/call/observe.h \
	pmpi/call/pass.c pmpi/call/pass.h \
	pmpi/call/passed.c pmpi/call/passed.h \
	pmpi/call/plan.c pmpi/call/plan.h \
	pmpi/call/probe.c pmpi/call/probe.h \
	pmpi/call/run.c pmpi/call/run.h \
	pmpi/call/signature.c pmpi/call/signature.h \
	pmpi/call/start.c pmpi/call/start.h \
	pmpi/trial/format.c pmpi/trial/format.h \
	pmpi/trial/format_report.c pmpi/trial/format_report.h \
	pmpi/trial/shadow.c \
	pmpi/trial/trial.c pmpi/trial/trial.h pmpi/trial/trial_ops.h \
	pmpi/comm/autotune.c pmpi/comm/autotune.h \
	pmpi/comm/comm_queue.c pmpi/comm/comm_queue.h \
	pmpi/comm/communicator.h \
	pmpi/comm/context.c pmpi/comm/context.h \
	pmpi/comm/other_collectives_state.c pmpi/comm/other_collectives_state.h \
	pmpi/comm/first_call.c pmpi/comm/first_call.h \
	pmpi/comm/report.c pmpi/comm/report.h \
	pmpi/comm/resources.c pmpi/comm/resources.h \
	pmpi/comm/sample.c pmpi/comm/sample.h \
	pmpi/layer/compressions.c pmpi/layer/compressions.h \
	pmpi/layer/group_exchanges.c pmpi/layer/group_exchanges.h \
	pmpi/layer/layer.h \
	pmpi/layer/layers.c pmpi/layer/layers.h \
	pmpi/layer/layer_key.c pmpi/layer/layer_key.h \
	pmpi/layer/scale_states.c pmpi/layer/scale_states.h \
	pmpi/layer/scales.c pmpi/layer/scales.h \
	pmpi/layer/scratch_pool.c pmpi/layer/scratch_pool.h \
	pmpi/layer/site.h \
	pmpi/compressed/chunked.c \
	pmpi/compressed/compressed.h \
	pmpi/compressed/elements.c pmpi/compressed/elements.h \
	pmpi/compressed/varlen_exchange.c pmpi/compressed/varlen_exchange.h \
	pmpi/compressed/powersgd.c \
	pmpi/compressed/rounded.c \
	pmpi/compressed/selected.c \
	pmpi/compressed/selected_direct.c \
	pmpi/compressed/selected_hierarchical.c \
	pmpi/compressed/table.c pmpi/compressed/table.h \
	pmpi/compressed/digits.c pmpi/compressed/digits.h \
	pmpi/compressed/ternary.c \
	pmpi/compressed/ternary_hierarchical.c \
	pmpi/compressed/vote.c \
	pmpi/compressed/fp32_fallback.c pmpi/compressed/fp32_fallback.h \
	pmpi/device/bounce.c pmpi/device/bounce.h \
	pmpi/device/device.c pmpi/device/device.h cuda/plugin.h \
	pmpi/device/gpu_constants.h \
	pmpi/device/gpu_copies.c pmpi/device/gpu_copies.h \
	pmpi/device/gpu_settle.c pmpi/device/gpu_settle.h \
	pmpi/device/gpu_visit.c pmpi/device/gpu_visit.h \
	pmpi/device/gpu_driver.c pmpi/device/gpu_driver.h \
	pmpi/device/gpu_functions.h \
	pmpi/device/memory_relay.c pmpi/device/memory_relay.h \
	pmpi/device/pinned_pool.c pmpi/device/pinned_pool.h \
	pmpi/entry/blocking.c pmpi/entry/blocking_table.h \
	pmpi/entry/collectives.c \
	pmpi/entry/control.c pmpi/entry/export.h \
	pmpi/world/binding.c pmpi/world/binding.h \
	pmpi/world/build.c pmpi/world/build.h \
	pmpi/summary/chosen_formats.c pmpi/summary/chosen_formats.h \
	pmpi/summary/final_policy.c pmpi/summary/final_policy.h \
	pmpi/world/handshake.c pmpi/world/handshake.h \
	pmpi/job/job.c pmpi/job/job.h \
	pmpi/world/lifecycle.c pmpi/world/lifecycle.h \
	pmpi/world/nodes.c pmpi/world/nodes.h \
	pmpi/world/pcontrol.c pmpi/world/pcontrol.h \
	pmpi/job/policy_text.c pmpi/job/policy_text.h \
	pmpi/world/preload_order.c pmpi/world/preload_order.h \
	pmpi/job/log_event.c pmpi/job/log_event.h \
	pmpi/job/run.c pmpi/job/run.h \
	pmpi/summary/summary.c pmpi/summary/summary.h \
	pmpi/summary/summary_json.c pmpi/summary/summary_json.h \
	pmpi/job/thread_level.c pmpi/job/thread_level.h \
	pmpi/world/hidden_comm.c pmpi/world/hidden_comm.h \
	pmpi/world/sessions.c pmpi/world/sessions.h \
	pmpi/native/abi.h \
	pmpi/native/element.c pmpi/native/element.h \
	pmpi/native/errhandler.c pmpi/native/errhandler.h \
	pmpi/native/error_text.h \
	pmpi/native/elf_imports.c pmpi/native/elf_imports.h \
	pmpi/native/foreign.c pmpi/native/foreign.h \
	pmpi/native/mpi_symbols.c pmpi/native/mpi_symbols.h \
	pmpi/native/sized.h \
	pmpi/native/next_mpi.c pmpi/native/next_mpi.h \
	pmpi/message/agree.c pmpi/message/agree.h \
	pmpi/message/fiber.c pmpi/message/fiber.h pmpi/message/fiber_notes.h \
	pmpi/queue/finish.c pmpi/queue/finish.h \
	pmpi/message/messages.c pmpi/message/messages.h \
	pmpi/queue/operation.h \
	pmpi/queue/progress_thread.c pmpi/queue/progress_thread.h \
	pmpi/queue/queue.c pmpi/queue/queue.h \
	pmpi/queue/queue_hold.c pmpi/queue/queue_hold.h \
	pmpi/queue/queue_state.c pmpi/queue/queue_state.h \
	pmpi/queue/queue_thread.c pmpi/queue/queue_thread.h \
	pmpi/queue/queue_pool.c pmpi/queue/queue_pool.h \
	pmpi/queue/request.c pmpi/queue/request.h \
	pmpi/message/vcomm.c pmpi/message/vcomm.h \
	pmpi/message/wait.c pmpi/message/wait.h \
	pmpi/block/accumulate.c pmpi/block/accumulate.h \
	pmpi/reduce/algorithm.h \
	pmpi/gather/allgather.c pmpi/gather/allgather.h \
	pmpi/reduce/allgather_sum.c pmpi/reduce/allgather_sum.h \
	pmpi/block/tile.c pmpi/block/tile.h \
	pmpi/block/block.c pmpi/block/block.h \
	pmpi/block/magnitude_batch.c pmpi/block/magnitude_batch.h \
	pmpi/block/block_queue.c pmpi/block/block_queue.h \
	pmpi/gather/broadcast.c pmpi/gather/broadcast.h \
	pmpi/cut/chunk.c pmpi/cut/chunk.h \
	pmpi/group/chunk_buffers.c pmpi/group/chunk_buffers.h \
	pmpi/group/chunk_layout.c pmpi/group/chunk_layout.h \
	pmpi/cut/chunk_queue.c pmpi/cut/chunk_queue.h \
	pmpi/reduce/direct.c pmpi/reduce/direct.h \
	pmpi/reduce/direct_devices.c pmpi/reduce/direct_devices.h \
	pmpi/cut/exchange.c pmpi/cut/exchange.h \
	pmpi/cut/exponent.c pmpi/cut/exponent.h \
	pmpi/group/gpu_ipc.c pmpi/group/gpu_ipc.h \
	pmpi/group/hardware.c pmpi/group/hardware.h \
	pmpi/group/store_selector.c pmpi/group/store_selector.h \
	pmpi/reduce/hierarchical.c pmpi/reduce/hierarchical.h \
	pmpi/reduce/hierarchical_devices.c pmpi/reduce/hierarchical_devices.h \
	pmpi/reduce/hierarchical_stages.c pmpi/reduce/hierarchical_stages.h \
	pmpi/reduce/hierarchical_run.h \
	pmpi/reduce/master.c pmpi/reduce/master.h \
	pmpi/cut/pipeline.c pmpi/cut/pipeline.h \
	pmpi/cut/redo.c pmpi/cut/redo.h \
	pmpi/gather/reduce_root.c pmpi/gather/reduce_root.h \
	pmpi/gather/reduce_scatter.c pmpi/gather/reduce_scatter.h \
	pmpi/block/plan_wire.c pmpi/block/plan_wire.h \
	pmpi/block/random_key.c pmpi/block/random_key.h \
	pmpi/reduce/reduction.c pmpi/reduce/reduction.h \
	pmpi/reduce/ring.c pmpi/reduce/ring.h \
	pmpi/group/shm_group.c pmpi/group/shm_group.h \
	pmpi/group/topology.c pmpi/group/topology.h
if MPI_OPENMPI
libapsmpi_la_SOURCES += pmpi/entry/fortran.c pmpi/native/openmpi.h
mpi_handles = -include native/openmpi.h
endif
if MPI_MPICH
libapsmpi_la_SOURCES += pmpi/entry/f08.c
endif
libapsmpi_la_CPPFLAGS = $(pmpi_measure_apsmpi_measure_CPPFLAGS) $(mpi_handles)
libapsmpi_la_LIBADD = libpolicy.la libcore.la
libapsmpi_la_LDFLAGS = -module -avoid-version -shared $(LIBYAML_LIBS) $(GLIBC_LIBS)

# The module that apsmpi-run --audit gives to the loader.
mpilib_LTLIBRARIES += apsmpi-audit.la
apsmpi_audit_la_SOURCES = pmpi/audit/audit.c
apsmpi_audit_la_LDFLAGS = -module -avoid-version -shared

# What a user runs once on a cluster; `apsmpi measure` starts it.
mpilib_PROGRAMS += pmpi/measure/apsmpi-measure
pmpi_measure_apsmpi_measure_SOURCES = \
	pmpi/measure/batches.c pmpi/measure/batches.h \
	pmpi/measure/links.c pmpi/measure/links.h \
	pmpi/measure/main.c \
	pmpi/measure/natives.c pmpi/measure/natives.h \
	pmpi/measure/output.c pmpi/measure/output.h \
	pmpi/measure/rank_layout.c pmpi/measure/rank_layout.h \
	pmpi/world/nodes.c pmpi/world/nodes.h \
	pmpi/native/error_text.h \
	pmpi/message/agree.c pmpi/message/agree.h \
	pmpi/message/fiber.c pmpi/message/fiber.h pmpi/message/fiber_notes.h \
	pmpi/message/messages.c pmpi/message/messages.h \
	pmpi/message/vcomm.c pmpi/message/vcomm.h \
	pmpi/message/wait.c pmpi/message/wait.h \
	pmpi/group/shm_group.c pmpi/group/shm_group.h
pmpi_measure_apsmpi_measure_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/pmpi \
	$(MPI_CFLAGS) $(HWLOC_CFLAGS)
pmpi_measure_apsmpi_measure_LDADD = libpolicy.la libcore.la \
	$(LIBYAML_ARCHIVE) $(MPI_LIBS) -lm

# Compares all-reduces of the library with native ones.
mpilib_PROGRAMS += pmpi/bench/apsmpi-bench
pmpi_bench_apsmpi_bench_SOURCES = \
	pmpi/bench/bench.h \
	pmpi/bench/choice.c pmpi/bench/choice.h \
	pmpi/bench/deviation.c pmpi/bench/deviation.h \
	pmpi/bench/figures.c pmpi/bench/figures.h \
	pmpi/bench/files.c pmpi/bench/files.h \
	pmpi/bench/half.c pmpi/bench/half.h \
	pmpi/bench/main.c \
	pmpi/bench/meet.c pmpi/bench/meet.h \
	pmpi/bench/policy.c pmpi/bench/policy.h \
	pmpi/bench/recorded.c pmpi/bench/recorded.h \
	pmpi/bench/rounds.c pmpi/bench/rounds.h \
	pmpi/bench/sizes.c pmpi/bench/sizes.h \
	pmpi/bench/table.c pmpi/bench/table.h \
	pmpi/bench/variants.c pmpi/bench/variants.h \
	pmpi/measure/output.c pmpi/measure/output.h \
	pmpi/native/element.c pmpi/native/element.h \
	src/cli/arguments.c src/cli/arguments.h
pmpi_bench_apsmpi_bench_CPPFLAGS = $(pmpi_measure_apsmpi_measure_CPPFLAGS)
pmpi_bench_apsmpi_bench_LDADD = $(pmpi_measure_apsmpi_measure_LDADD)

# What may live in each room.
EXTRA_DIST += \
	pmpi/audit/README.md \
	pmpi/bench/README.md \
	pmpi/block/README.md \
	pmpi/offline/README.md \
	pmpi/README.md \
	pmpi/waiting/README.md \
	pmpi/collective/README.md \
	pmpi/call/README.md \
	pmpi/comm/README.md \
	pmpi/layer/README.md \
	pmpi/compressed/README.md \
	pmpi/cut/README.md \
	pmpi/device/README.md \
	pmpi/entry/README.md \
	pmpi/gather/README.md \
	pmpi/group/README.md \
	pmpi/job/README.md \
	pmpi/measure/README.md \
	pmpi/message/README.md \
	pmpi/native/README.md \
	pmpi/queue/README.md \
	pmpi/reduce/README.md \
	pmpi/summary/README.md \
	pmpi/trial/README.md \
	pmpi/world/README.md
EXTRA_DIST += pmpi/DECISIONS.md pmpi/LOCKS.md

# What stands for the sources, that ranks compare: pmpi/world/build.h.
nodist_libapsmpi_la_SOURCES = pmpi/job/build_identity.h
BUILT_SOURCES += pmpi/job/build_identity.h
CLEANFILES += pmpi/job/build_identity.h
EXTRA_DIST += config/identity.sh
build_identity_files = $(libcore_la_SOURCES) $(libkernels_la_SOURCES) \
	$(libpolicy_la_SOURCES) $(libapsmpi_la_SOURCES)
pmpi/job/build_identity.h: $(build_identity_files) config/identity.sh
	$(AM_V_GEN)$(MKDIR_P) pmpi/job && \
	$(SHELL) $(top_srcdir)/config/identity.sh $(top_srcdir) \
	    APS_BUILD_IDENTITY $(build_identity_files) >$@.tmp && mv $@.tmp $@
$(libapsmpi_la_OBJECTS): | pmpi/job/build_identity.h cuda/plugin_identity.h
