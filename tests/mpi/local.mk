# SPDX-License-Identifier: BSD-3-Clause
# Several ranks, with the library preloaded: programs that print TAP (mpitap.h)
# and the stubs that run them (run.sh).
check_LTLIBRARIES += tests/libmpitap.la
tests_libmpitap_la_SOURCES = \
	tests/tap/mpitap.c tests/tap/mpitap.h \
	tests/mpi/calls.c tests/mpi/calls.h \
	tests/mpi/e3m0_sum.h \
	tests/mpi/reference.c tests/mpi/reference.h \
	tests/mpi/rounding.c tests/mpi/rounding.h \
	tests/mpi/reduction_spec.c tests/mpi/reduction_spec.h
tests_libmpitap_la_CPPFLAGS = $(TEST_CPPFLAGS) $(MPI_CFLAGS)

MPI_TEST_CPPFLAGS = $(TEST_CPPFLAGS) $(MPI_CFLAGS)
MPI_TEST_LDADD = tests/libmpitap.la tests/libtap.la $(MPI_LIBS) -lm

check_PROGRAMS += tests/mpi/adopt
tests_mpi_adopt_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_adopt_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/agreement
tests_mpi_agreement_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_agreement_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/allocation
tests_mpi_allocation_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_allocation_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/auto
tests_mpi_auto_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_auto_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/bcast
tests_mpi_bcast_SOURCES = tests/mpi/bcast.c \
	tests/mpi/reference_blocks.c tests/mpi/reference_blocks.h
tests_mpi_bcast_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_bcast_LDADD = libaps.la $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/blocks
tests_mpi_blocks_SOURCES = tests/mpi/blocks.c \
	tests/mpi/reference_blocks.c tests/mpi/reference_blocks.h
tests_mpi_blocks_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_blocks_LDADD = libaps.la $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/communicators
tests_mpi_communicators_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_communicators_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/counts
tests_mpi_counts_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_counts_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/desync
tests_mpi_desync_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_desync_LDADD = $(MPI_TEST_LDADD)

# With buffers in GPU memory: CUDA's, or the stand-in's (tests/standin).
check_PROGRAMS += tests/mpi/device
tests_mpi_device_SOURCES = tests/mpi/device.c tests/mpi/device_calls.h \
	tests/mpi/device_buffers.c tests/mpi/device_buffers.h \
	tests/mpi/device_failing.c tests/mpi/device_nonblocking.c \
	tests/mpi/device_others.c tests/mpi/device_passed.c \
	tests/mpi/device_sums.c tests/mpi/device_types.c \
	tests/mpi/device_waits.c \
	tests/standin/gpu.c tests/standin/gpu.h tests/standin/driver.h
tests_mpi_device_CPPFLAGS = $(MPI_TEST_CPPFLAGS) -I$(top_srcdir)/tests/standin
tests_mpi_device_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/environment
tests_mpi_environment_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_environment_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/errors
tests_mpi_errors_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_errors_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/dropped
tests_mpi_dropped_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_dropped_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/drawn
tests_mpi_drawn_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_drawn_LDADD = $(MPI_TEST_LDADD) -lm
LAYERED = tests/mpi/layered.c tests/mpi/layered.h
check_PROGRAMS += tests/mpi/autoformat
tests_mpi_autoformat_SOURCES = tests/mpi/autoformat.c $(LAYERED)
tests_mpi_autoformat_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_autoformat_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/shadowed
tests_mpi_shadowed_SOURCES = tests/mpi/shadowed.c $(LAYERED)
tests_mpi_shadowed_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_shadowed_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/exact
tests_mpi_exact_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_exact_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/handlers
tests_mpi_handlers_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_handlers_LDADD = $(MPI_TEST_LDADD)

# A call of MPI fails on one rank (inject.c, preloaded first).
check_PROGRAMS += tests/mpi/ended
tests_mpi_ended_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_ended_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/drawn_alike
tests_mpi_drawn_alike_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_drawn_alike_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/fused
tests_mpi_fused_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_fused_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/finish
tests_mpi_finish_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_finish_LDADD = $(MPI_TEST_LDADD)

# Compressors.
check_PROGRAMS += tests/mpi/compress
tests_mpi_compress_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_compress_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/selected
tests_mpi_selected_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_selected_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/parcels
tests_mpi_parcels_SOURCES = tests/mpi/parcels.c \
	pmpi/compressed/varlen_exchange.c pmpi/compressed/varlen_exchange.h
tests_mpi_parcels_CPPFLAGS = $(MPI_TEST_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_mpi_parcels_LDADD = tests/libtap.la
TESTS += tests/mpi/parcels

# Includes pmpi/group/shm_group.c.
check_PROGRAMS += tests/mpi/shm_group
tests_mpi_shm_group_SOURCES = tests/mpi/shm_group.c \
	pmpi/message/agree.c pmpi/message/agree.h \
	pmpi/message/fiber.c pmpi/message/fiber.h pmpi/message/fiber_notes.h \
	pmpi/message/messages.c pmpi/message/messages.h \
	pmpi/message/vcomm.c pmpi/message/vcomm.h \
	pmpi/message/wait.c pmpi/message/wait.h
tests_mpi_shm_group_CPPFLAGS = $(MPI_TEST_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_mpi_shm_group_LDADD = $(MPI_TEST_LDADD) libpolicy.la libcore.la

check_PROGRAMS += tests/mpi/sent
tests_mpi_sent_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_sent_LDADD = $(MPI_TEST_LDADD) -ldl
check_PROGRAMS += tests/mpi/telescope
tests_mpi_telescope_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_telescope_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/vote
tests_mpi_vote_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_vote_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/ternary
tests_mpi_ternary_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_ternary_LDADD = $(MPI_TEST_LDADD)

# Scales that keep a state.
check_PROGRAMS += tests/mpi/history
tests_mpi_history_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_history_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/history_calls
tests_mpi_history_calls_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_history_calls_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/history_messages
tests_mpi_history_messages_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_history_messages_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/grad_scaler
tests_mpi_grad_scaler_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_grad_scaler_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/random_bits
tests_mpi_random_bits_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_random_bits_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/history_states
tests_mpi_history_states_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_history_states_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/lookahead
tests_mpi_lookahead_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_lookahead_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/single_rank
tests_mpi_single_rank_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_single_rank_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/dlsym_late
tests_mpi_dlsym_late_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_dlsym_late_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/meanwhile
tests_mpi_meanwhile_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_meanwhile_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/early_message
tests_mpi_early_message_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_early_message_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/meanwhile_locals
tests_mpi_meanwhile_locals_SOURCES = tests/mpi/meanwhile.c
tests_mpi_meanwhile_locals_CPPFLAGS = $(MPI_TEST_CPPFLAGS) -DLOCALS=4194304
tests_mpi_meanwhile_locals_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/nonblocking
tests_mpi_nonblocking_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_nonblocking_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/wide
tests_mpi_wide_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_wide_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/types
tests_mpi_types_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_types_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/nonfinite
tests_mpi_nonfinite_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_nonfinite_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/parts
tests_mpi_parts_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_parts_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/pcontrol
tests_mpi_pcontrol_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_pcontrol_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/polled
tests_mpi_polled_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_polled_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/progress
tests_mpi_progress_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_progress_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/other_collectives
tests_mpi_other_collectives_SOURCES = tests/mpi/other_collectives.c \
	tests/mpi/other_collectives_calls.c tests/mpi/other_collectives_calls.h \
	tests/mpi/reference_blocks.c tests/mpi/reference_blocks.h
tests_mpi_other_collectives_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_other_collectives_LDADD = libaps.la $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/other_collectives_left
tests_mpi_other_collectives_left_SOURCES = \
	tests/mpi/other_collectives_left.c \
	tests/mpi/collective.c tests/mpi/collective.h
tests_mpi_other_collectives_left_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_other_collectives_left_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/started
tests_mpi_started_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_started_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/rounded
tests_mpi_rounded_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_rounded_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/skipped
tests_mpi_skipped_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_skipped_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/faulty
tests_mpi_faulty_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_faulty_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/freed
tests_mpi_freed_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_freed_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/divided
tests_mpi_divided_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_divided_LDADD = $(MPI_TEST_LDADD) -lpthread

check_PROGRAMS += tests/mpi/idup_self
tests_mpi_idup_self_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_idup_self_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/many_communicators
tests_mpi_many_communicators_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_many_communicators_LDADD = $(MPI_TEST_LDADD)
check_PROGRAMS += tests/mpi/late_tags
tests_mpi_late_tags_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_late_tags_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/persistent
tests_mpi_persistent_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_persistent_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/policy_rank
tests_mpi_policy_rank_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_policy_rank_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/session_fails
tests_mpi_session_fails_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_session_fails_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/spawned
tests_mpi_spawned_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_spawned_LDADD = $(MPI_TEST_LDADD)

check_PROGRAMS += tests/mpi/short_lived
tests_mpi_short_lived_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_short_lived_LDADD = $(MPI_TEST_LDADD)

# Preloaded after the library; -rpath makes libtool build it shared.
check_LTLIBRARIES += tests/mpi/preload_after.la
tests_mpi_preload_after_la_SOURCES = tests/mpi/preload_after.c
tests_mpi_preload_after_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_preload_after_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# Preloaded before it: calls of MPI fail or come late (inject.c). A sanitizer's first
# allocations come to it, so that it is built without.
check_LTLIBRARIES += tests/mpi/inject.la
tests_mpi_inject_la_SOURCES = tests/mpi/inject.c
tests_mpi_inject_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS) -I$(top_srcdir)/pmpi
tests_mpi_inject_la_CFLAGS = $(APS_CFLAGS)
tests_mpi_inject_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# Preloaded before it: without an MPI_Init, and with one.
check_LTLIBRARIES += tests/mpi/preload_before.la tests/mpi/preload_before-init.la
tests_mpi_preload_before_la_SOURCES = tests/mpi/preload_before.c
tests_mpi_preload_before_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_preload_before_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_mpi_preload_before_la_LIBADD = $(MPI_LIBS)
tests_mpi_preload_before_init_la_SOURCES = tests/mpi/preload_before.c
tests_mpi_preload_before_init_la_CPPFLAGS = $(tests_mpi_preload_before_la_CPPFLAGS) -DHAS_INIT
tests_mpi_preload_before_init_la_LDFLAGS = $(tests_mpi_preload_before_la_LDFLAGS)
tests_mpi_preload_before_init_la_LIBADD = $(MPI_LIBS)

# A program at fixed addresses, which uses the address of MPI_Allreduce.
check_PROGRAMS += tests/mpi/call_by_address
tests_mpi_call_by_address_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_call_by_address_CFLAGS = $(AM_CFLAGS) -fno-pic -fno-pie
tests_mpi_call_by_address_LDFLAGS = -no-pie
tests_mpi_call_by_address_LDADD = $(MPI_TEST_LDADD)

# A program with an MPI_Allreduce of its own.
check_PROGRAMS += tests/mpi/own
tests_mpi_own_SOURCES = tests/mpi/agreement.c tests/mpi/preload_before.c
tests_mpi_own_CPPFLAGS = $(MPI_TEST_CPPFLAGS)
tests_mpi_own_LDADD = $(MPI_TEST_LDADD)

mpi_tests = \
	tests/mpi/t-adopt.sh \
	tests/mpi/t-agreement.sh \
	tests/mpi/t-allocation.sh \
	tests/mpi/t-auto.sh \
	tests/mpi/t-bcast.sh \
	tests/mpi/t-blocks.sh \
	tests/mpi/t-communicators.sh \
	tests/mpi/t-counts.sh \
	tests/mpi/t-cuda.sh \
	tests/mpi/t-compress.sh \
	tests/mpi/t-desync.sh \
	tests/mpi/t-device.sh \
	tests/mpi/t-divided.sh \
	tests/mpi/t-environment.sh \
	tests/mpi/t-errors.sh \
	tests/mpi/t-drawn.sh \
	tests/mpi/t-dropped.sh \
	tests/mpi/t-exact.sh \
	tests/mpi/t-handlers.sh \
	tests/mpi/t-finish.sh \
	tests/mpi/t-preload-before.sh \
	tests/mpi/t-freed.sh \
	tests/mpi/t-idup-self.sh \
	tests/mpi/t-grad-scaler.sh \
	tests/mpi/t-inject.sh \
	tests/mpi/t-ended.sh \
	tests/mpi/t-fused.sh \
	tests/mpi/t-history.sh \
	tests/mpi/t-history-calls.sh \
	tests/mpi/t-history-messages.sh \
	tests/mpi/t-history-states.sh \
	tests/mpi/t-lookahead.sh \
	tests/mpi/t-many-communicators.sh \
	tests/mpi/t-single-rank.sh \
	tests/mpi/t-meanwhile.sh \
	tests/mpi/t-measure.sh \
	tests/mpi/t-nonblocking.sh \
	tests/mpi/t-nonfinite.sh \
	tests/mpi/t-types.sh \
	tests/mpi/t-wide.sh \
	tests/mpi/t-parts.sh \
	tests/mpi/t-pcontrol.sh \
	tests/mpi/t-persistent.sh \
	tests/mpi/t-policy-rank.sh \
	tests/mpi/t-polled.sh tests/mpi/t-progress.sh \
	tests/mpi/t-random-bits.sh \
	tests/mpi/t-reductions.sh \
	tests/mpi/t-other-collectives-left.sh \
	tests/mpi/t-other-collectives.sh \
	tests/mpi/t-rounded.sh \
	tests/mpi/t-selected.sh \
	tests/mpi/t-sent.sh \
	tests/mpi/t-shm-group.sh \
	tests/mpi/t-auto-format.sh \
	tests/mpi/t-shadow.sh \
	tests/mpi/t-session-fails.sh \
	tests/mpi/t-skipped.sh \
	tests/mpi/t-spawned.sh \
	tests/mpi/t-telescope.sh \
	tests/mpi/t-started.sh \
	tests/mpi/t-vote.sh \
	tests/mpi/t-ternary.sh \
	tests/mpi/t-short-lived.sh
TESTS += $(mpi_tests)
dist_check_SCRIPTS += $(mpi_tests)
EXTRA_DIST += tests/mpi/layered.sh tests/mpi/one_rule.sh tests/mpi/run.sh \
	tests/mpi/shadowed.py
