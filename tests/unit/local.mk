# SPDX-License-Identifier: BSD-3-Clause
# Units without MPI.
UNIT_CPPFLAGS = $(TEST_CPPFLAGS) -I$(top_srcdir)/tests
UNIT_LIBS = tests/libtap.la libpolicy.la libcore.la
LDADD = $(UNIT_LIBS) -lm		# of programs without an _LDADD

UNIT_TESTS = \
	tests/unit/codec/array \
	tests/unit/codec/array_blocks \
	tests/unit/codec/array_scaled \
	tests/unit/roundoff/binades \
	tests/unit/pmpi/build \
	tests/unit/pmpi/policy_text \
	tests/unit/pmpi/chunk_layout \
	tests/unit/compress/chunks \
	tests/unit/compress/compressor_takes \
	tests/unit/codec/codec \
	tests/unit/codec/codec_blocks \
	tests/unit/codec/codec_random \
	tests/unit/codec/codec_large \
	tests/unit/codec/codec_levels \
	tests/unit/codec/codec_passes \
	tests/unit/codec/codec_sizes \
	tests/unit/number/correlated \
	tests/unit/base/digits \
	tests/unit/pmpi/driver \
	tests/unit/pmpi/elements \
	tests/unit/pmpi/offline \
	tests/unit/pmpi/offline_compressors \
	tests/unit/codec/doubles \
	tests/unit/codec/entropy \
	tests/unit/codec/wide \
	tests/unit/base/error \
	tests/unit/compress/feedback \
	tests/unit/number/format \
	tests/unit/number/format_get \
	tests/unit/number/gemm tests/unit/number/gemm_blocks \
	tests/unit/number/gemm_rounding \
	tests/unit/number/struct_version \
	tests/unit/pmpi/store_selector \
	tests/unit/policy/glob \
	tests/unit/base/json \
	tests/unit/policy/grammar \
	tests/unit/compress/indices \
	tests/unit/steps/layer_order \
	tests/unit/policy/layers \
	tests/unit/roundoff/log \
	tests/unit/roundoff/log_faults \
	tests/unit/scale/logarithm \
	tests/unit/compress/lowrank \
	tests/unit/compress/lowrank_factors \
	tests/unit/compress/lowrank_products \
	tests/unit/compress/magnitudes \
	tests/unit/roundoff/measure \
	tests/unit/base/nearest \
	tests/unit/pmpi/magnitude_batch \
	tests/unit/base/options \
	tests/unit/pmpi/element_oracle \
	tests/unit/pmpi/memory_relay \
	tests/unit/pmpi/pinned_pool \
	tests/unit/policy/policy \
	tests/unit/predict/predict \
	tests/unit/predict/predict_files \
	tests/unit/predict/predict_variance \
	tests/unit/policy/policy-errors \
	tests/unit/policy/policy-errors-conditions \
	tests/unit/policy/policy-errors-formats \
	tests/unit/policy/policy-errors-rules \
	tests/unit/policy/policy-matching \
	tests/unit/policy/policy-mutated \
	tests/unit/policy/policy-rules \
	tests/unit/policy/policy-compress \
	tests/unit/steps/sample_budget \
	tests/unit/policy/policy-scales \
	tests/unit/policy/policy-auto-format \
	tests/unit/policy/policy-chosen \
	tests/unit/policy/policy-shadow \
	tests/unit/policy/plan_text \
	tests/unit/base/quiet_allocate \
	tests/unit/base/utf8 \
	tests/unit/policy/ranges \
	tests/unit/number/rounding \
	tests/unit/scale/scale \
	tests/unit/scale/scale_aps \
	tests/unit/scale/scale_aps_tight \
	tests/unit/scale/scale_autoflex \
	tests/unit/scale/scale_backoff \
	tests/unit/scale/scale_explain \
	tests/unit/scale/scale_delayed \
	tests/unit/scale/scale_dfxp \
	tests/unit/scale/scale_fixed \
	tests/unit/scale/scale_logmax \
	tests/unit/scale/scale_moments \
	tests/unit/scale/scale_none \
	tests/unit/scale/scale_normal \
	tests/unit/scale/scale_overflow \
	tests/unit/pmpi/scale_states \
	tests/unit/scale/scale_underflow \
	tests/unit/scale/scale_unit \
	tests/unit/pmpi/redone_pieces \
	tests/unit/pmpi/scratch_pool \
	tests/unit/compress/select \
	tests/unit/pmpi/slices \
	tests/unit/compress/sparse \
	tests/unit/steps/steps \
	tests/unit/steps/steps_any \
	tests/unit/steps/steps_search \
	tests/unit/number/sum \
	tests/unit/codec/stream \
	tests/unit/base/switch \
	tests/unit/compress/ternary \
	tests/unit/steps/discovery_types \
	tests/unit/steps/tiling tests/unit/steps/turns tests/unit/compress/vote tests/unit/pmpi/within tests/unit/base/writable \
	tests/unit/codec/workers tests/unit/pmpi/divided

# Compressors.
tests_unit_compress_chunks_SOURCES = tests/unit/compress/chunks.c tests/unit/common/rounded.h \
	tests/unit/common/vectors.h
tests_unit_compress_chunks_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_compress_feedback_SOURCES = tests/unit/compress/feedback.c tests/unit/common/rounded.h \
	tests/unit/common/vectors.h
tests_unit_compress_feedback_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_compress_magnitudes_SOURCES = tests/unit/compress/magnitudes.c tests/unit/common/rounded.h \
	tests/unit/common/vectors.h
tests_unit_compress_magnitudes_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_compress_compressor_takes_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_compress_sparse_SOURCES = tests/unit/compress/sparse.c tests/unit/common/rounded.h \
	tests/unit/common/vectors.h
tests_unit_compress_sparse_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_compress_indices_SOURCES = tests/unit/compress/indices.c tests/unit/common/rounded.h
tests_unit_compress_indices_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_compress_select_SOURCES = tests/unit/compress/select.c tests/unit/common/rounded.h \
	tests/unit/common/vectors.h
tests_unit_compress_select_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_compress_vote_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_compress_ternary_CPPFLAGS = $(UNIT_CPPFLAGS)

# Numbers and codecs.
tests_unit_number_format_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_number_format_get_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_number_format_get_LDADD = $(UNIT_LIBS) -lpthread
tests_unit_codec_array_blocks_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_array_scaled_SOURCES = tests/unit/codec/array_scaled.c \
	tests/unit/common/formats.h tests/unit/common/wire.h
tests_unit_codec_array_scaled_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_number_struct_version_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_array_SOURCES = tests/unit/codec/array.c tests/unit/common/formats.h \
	tests/unit/common/wire.h
tests_unit_codec_array_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_number_rounding_SOURCES = tests/unit/number/rounding.c tests/unit/common/formats.h \
	tests/unit/common/wire.h
tests_unit_number_rounding_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_number_correlated_SOURCES = tests/unit/number/correlated.c \
	tests/unit/number/correlated_error.c tests/unit/number/correlated_error.h \
	tests/unit/common/formats.h tests/unit/common/wire.h
tests_unit_number_correlated_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_codec_SOURCES = tests/unit/codec/codec.c tests/unit/common/formats.h \
	tests/unit/common/wire.h
tests_unit_codec_codec_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_codec_blocks_SOURCES = tests/unit/codec/codec_blocks.c \
	tests/unit/common/wire.h
tests_unit_codec_codec_blocks_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_codec_random_SOURCES = tests/unit/codec/codec_random.c \
	tests/unit/common/wire.h
tests_unit_codec_codec_random_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_codec_large_SOURCES = tests/unit/codec/codec_large.c \
	tests/unit/common/formats.h tests/unit/common/wire.h
tests_unit_codec_codec_large_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_codec_passes_SOURCES = tests/unit/codec/codec_passes.c \
	tests/unit/common/formats.h tests/unit/common/wire.h
tests_unit_codec_codec_passes_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_codec_levels_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_codec_sizes_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_SOURCES = tests/unit/scale/scale.c \
	tests/unit/scale/scales.c tests/unit/scale/scales.h
tests_unit_scale_scale_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_fixed_SOURCES = tests/unit/scale/scale_fixed.c \
	tests/unit/scale/scales.c tests/unit/scale/scales.h
tests_unit_scale_scale_fixed_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_none_SOURCES = tests/unit/scale/scale_none.c \
	tests/unit/scale/scales.c tests/unit/scale/scales.h
tests_unit_scale_scale_none_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_aps_SOURCES = tests/unit/scale/scale_aps.c \
	tests/unit/scale/scales.c tests/unit/scale/scales.h
tests_unit_scale_scale_aps_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_aps_tight_SOURCES = tests/unit/scale/scale_aps_tight.c \
	tests/unit/scale/scales.c tests/unit/scale/scales.h
tests_unit_scale_scale_aps_tight_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_overflow_SOURCES = tests/unit/scale/scale_overflow.c \
	tests/unit/scale/scales.c tests/unit/scale/scales.h
tests_unit_scale_scale_overflow_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_logarithm_SOURCES = tests/unit/scale/logarithm.c \
	tests/unit/scale/scales.c tests/unit/scale/scales.h
tests_unit_scale_logarithm_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_normal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_moments_CPPFLAGS = $(UNIT_CPPFLAGS)
HISTORIES = tests/unit/scale/histories.c tests/unit/scale/histories.h \
	tests/unit/scale/scales.c tests/unit/scale/scales.h
tests_unit_scale_scale_logmax_SOURCES = tests/unit/scale/scale_logmax.c $(HISTORIES)
tests_unit_scale_scale_logmax_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_autoflex_SOURCES = tests/unit/scale/scale_autoflex.c $(HISTORIES)
tests_unit_scale_scale_autoflex_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_delayed_SOURCES = tests/unit/scale/scale_delayed.c $(HISTORIES)
tests_unit_scale_scale_delayed_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_dfxp_SOURCES = tests/unit/scale/scale_dfxp.c $(HISTORIES)
tests_unit_scale_scale_dfxp_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_underflow_SOURCES = tests/unit/scale/scale_underflow.c $(HISTORIES)
tests_unit_scale_scale_underflow_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_unit_SOURCES = tests/unit/scale/scale_unit.c $(HISTORIES)
tests_unit_scale_scale_unit_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_explain_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_scale_backoff_SOURCES = tests/unit/scale/scale_backoff.c $(HISTORIES)
tests_unit_scale_scale_backoff_CPPFLAGS = $(UNIT_CPPFLAGS)

# Sums and matrix products.
tests_unit_number_sum_SOURCES = tests/unit/number/sum.c tests/unit/common/rounded.h
tests_unit_number_sum_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_number_gemm_SOURCES = \
	tests/unit/number/gemm.c tests/unit/number/gemm_matrices.h tests/unit/common/rounded.h
tests_unit_number_gemm_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_number_gemm_blocks_SOURCES = \
	tests/unit/number/gemm_blocks.c tests/unit/number/gemm_matrices.h \
	tests/unit/common/rounded.h
tests_unit_number_gemm_blocks_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_number_gemm_rounding_SOURCES = \
	tests/unit/number/gemm_rounding.c tests/unit/number/gemm_matrices.h \
	tests/unit/common/rounded.h
tests_unit_number_gemm_rounding_CPPFLAGS = $(UNIT_CPPFLAGS)

# Against MPFR.
if HAVE_MPFR
UNIT_TESTS += tests/unit/number/cast tests/unit/codec/scaling
endif
tests_unit_number_cast_SOURCES = tests/unit/number/cast.c tests/unit/number/oracle.c \
	tests/unit/number/oracle.h
tests_unit_number_cast_CPPFLAGS = $(UNIT_CPPFLAGS) $(MPFR_CFLAGS)
tests_unit_number_cast_LDADD = $(UNIT_LIBS) $(MPFR_LIBS) -lm
tests_unit_codec_scaling_SOURCES = tests/unit/codec/scaling.c tests/unit/number/oracle.c \
	tests/unit/common/formats.h tests/unit/number/oracle.h tests/unit/common/wire.h
tests_unit_codec_scaling_CPPFLAGS = $(UNIT_CPPFLAGS) $(MPFR_CFLAGS)
tests_unit_codec_scaling_LDADD = $(UNIT_LIBS) $(MPFR_LIBS) -lm

# The small things.
tests_unit_base_digits_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_json_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_stream_SOURCES = tests/unit/codec/stream.c tests/unit/common/wire.h
tests_unit_codec_stream_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_switch_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_error_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_nearest_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_options_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_writable_CPPFLAGS = $(UNIT_CPPFLAGS)

# The policy.
tests_unit_policy_glob_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_ranges_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_layers_SOURCES = tests/unit/policy/layers.c tests/unit/common/errortext.h \
	tests/unit/common/sample_table.h
tests_unit_policy_layers_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_grammar_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_grammar_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE) -lm
tests_unit_policy_policy_SOURCES = tests/unit/policy/policy.c \
	tests/unit/common/errortext.h tests/unit/policy/policytext.h
tests_unit_policy_policy_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_policy_errors_SOURCES = tests/unit/policy/policy-errors.c \
	tests/unit/policy/policyerrors.h \
	tests/unit/common/errortext.h tests/unit/policy/policytext.h
tests_unit_policy_policy_errors_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_errors_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_policy_errors_conditions_SOURCES = tests/unit/policy/policy-errors-conditions.c \
	tests/unit/policy/policyerrors.h \
	tests/unit/common/errortext.h tests/unit/policy/policytext.h
tests_unit_policy_policy_errors_conditions_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_errors_conditions_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_policy_errors_formats_SOURCES = \
	tests/unit/policy/policy-errors-formats.c \
	tests/unit/policy/policyerrors.h \
	tests/unit/policy/policytext.h
tests_unit_policy_policy_errors_formats_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_errors_formats_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_policy_errors_rules_SOURCES = tests/unit/policy/policy-errors-rules.c \
	tests/unit/policy/policyerrors.h \
	tests/unit/common/errortext.h tests/unit/policy/policytext.h
tests_unit_policy_policy_errors_rules_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_errors_rules_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_policy_compress_SOURCES = tests/unit/policy/policy-compress.c \
	tests/unit/policy/policyerrors.h \
	tests/unit/policy/policytext.h
tests_unit_policy_policy_compress_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_compress_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_policy_scales_SOURCES = tests/unit/policy/policy-scales.c \
	tests/unit/policy/policyerrors.h \
	tests/unit/policy/policytext.h
tests_unit_policy_policy_scales_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_scales_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_policy_matching_SOURCES = tests/unit/policy/policy-matching.c \
	tests/unit/common/errortext.h tests/unit/policy/policytext.h
tests_unit_policy_policy_matching_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_matching_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_policy_mutated_SOURCES = tests/unit/policy/policy-mutated.c \
	tests/unit/common/errortext.h tests/unit/policy/policytext.h
tests_unit_policy_policy_mutated_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_mutated_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_policy_rules_SOURCES = tests/unit/policy/policy-rules.c \
	tests/unit/common/errortext.h tests/unit/policy/policytext.h
tests_unit_policy_policy_rules_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_rules_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)

# Predictions.
tests_unit_predict_predict_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_predict_predict_files_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_predict_predict_files_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE) -lm
tests_unit_predict_predict_variance_CPPFLAGS = $(UNIT_CPPFLAGS)

# Compressors.
LOWRANK = tests/unit/compress/lowrank_matrix.h
tests_unit_compress_lowrank_SOURCES = tests/unit/compress/lowrank.c $(LOWRANK)
tests_unit_compress_lowrank_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_compress_lowrank_factors_SOURCES = tests/unit/compress/lowrank_factors.c $(LOWRANK)
tests_unit_compress_lowrank_factors_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_compress_lowrank_products_SOURCES = tests/unit/compress/lowrank_products.c $(LOWRANK)
tests_unit_compress_lowrank_products_CPPFLAGS = $(UNIT_CPPFLAGS)

# Round-off.
tests_unit_roundoff_log_SOURCES = tests/unit/roundoff/log.c tests/unit/roundoff/log_file.c \
	tests/unit/roundoff/log_file.h
tests_unit_roundoff_log_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_roundoff_log_faults_SOURCES = tests/unit/roundoff/log_faults.c \
	tests/unit/roundoff/log_file.c tests/unit/roundoff/log_file.h
tests_unit_roundoff_log_faults_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_roundoff_binades_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_doubles_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_entropy_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_wide_SOURCES = tests/unit/codec/wide.c \
	tests/unit/common/wide_oracle.h
tests_unit_codec_wide_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_steps_sample_budget_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_utf8_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_quiet_allocate_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_quiet_allocate_LDADD = $(UNIT_LIBS) -lrt
tests_unit_policy_policy_auto_format_SOURCES = tests/unit/policy/policy-auto-format.c \
	tests/unit/policy/policyerrors.h tests/unit/policy/policytext.h tests/unit/common/errortext.h
tests_unit_policy_policy_auto_format_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_auto_format_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_plan_text_SOURCES = tests/unit/policy/plan_text.c \
	tests/unit/policy/policytext.h tests/unit/common/errortext.h
tests_unit_policy_plan_text_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_plan_text_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_policy_chosen_SOURCES = tests/unit/policy/policy-chosen.c \
	tests/unit/policy/policytext.h tests/unit/common/errortext.h
tests_unit_policy_policy_chosen_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_chosen_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_policy_shadow_SOURCES = tests/unit/policy/policy-shadow.c \
	tests/unit/policy/policyerrors.h tests/unit/policy/policytext.h tests/unit/common/errortext.h
tests_unit_policy_policy_shadow_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_policy_shadow_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_roundoff_measure_CPPFLAGS = $(UNIT_CPPFLAGS)

# Steps, and, of the MPI side, slices and the search for CUDA's driver.
tests_unit_steps_steps_SOURCES = tests/unit/steps/steps.c tests/unit/steps/step_trace.c \
	tests/unit/steps/step_trace.h tests/unit/common/sample_table.h
tests_unit_steps_steps_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_steps_steps_any_SOURCES = tests/unit/steps/steps_any.c \
	tests/unit/steps/step_trace.c tests/unit/steps/step_trace.h \
	tests/unit/common/sample_table.h
tests_unit_steps_steps_any_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_steps_steps_search_SOURCES = tests/unit/steps/steps_search.c \
	tests/unit/steps/step_trace.c tests/unit/steps/step_trace.h \
	tests/unit/common/sample_table.h
tests_unit_steps_steps_search_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_steps_layer_order_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_steps_discovery_types_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_steps_turns_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_steps_tiling_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_pmpi_build_SOURCES = tests/unit/pmpi/build.c \
	pmpi/world/build.c pmpi/world/build.h
nodist_tests_unit_pmpi_build_SOURCES = pmpi/job/build_identity.h
tests_unit_pmpi_build_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pmpi_policy_text_SOURCES = tests/unit/pmpi/policy_text.c \
	pmpi/job/policy_text.c pmpi/job/policy_text.h
tests_unit_pmpi_policy_text_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pmpi_policy_text_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_pmpi_magnitude_batch_SOURCES = tests/unit/pmpi/magnitude_batch.c \
	pmpi/block/magnitude_batch.c pmpi/block/magnitude_batch.h
tests_unit_pmpi_magnitude_batch_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pmpi_element_oracle_SOURCES = tests/unit/pmpi/element_oracle.c \
	tests/unit/pmpi/exact.h tests/unit/pmpi/exact_wire.h \
	pmpi/device/memory_relay.c pmpi/device/memory_relay.h \
	tests/sim/device.c
tests_unit_pmpi_element_oracle_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi \
	-include $(top_srcdir)/tests/sim/no_gpu.h
tests_unit_pmpi_element_oracle_LDADD = $(UNIT_LIBS) -lpthread -lm
tests_unit_pmpi_memory_relay_SOURCES = tests/unit/pmpi/memory_relay.c \
	pmpi/device/memory_relay.c pmpi/device/memory_relay.h
tests_unit_pmpi_memory_relay_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pmpi_memory_relay_LDADD = $(UNIT_LIBS) -lpthread
tests_unit_pmpi_pinned_pool_SOURCES = tests/unit/pmpi/pinned_pool.c \
	pmpi/device/pinned_pool.c pmpi/device/pinned_pool.h
tests_unit_pmpi_pinned_pool_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pmpi_pinned_pool_LDADD = $(UNIT_LIBS) -lpthread
tests_unit_pmpi_slices_SOURCES = tests/unit/pmpi/slices.c \
	pmpi/block/block.c pmpi/block/block.h \
	pmpi/cut/chunk.c pmpi/cut/chunk.h pmpi/cut/redo.c pmpi/cut/redo.h
tests_unit_pmpi_slices_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_codec_workers_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_workers_LDADD = $(UNIT_LIBS) -lpthread
tests_unit_pmpi_divided_SOURCES = tests/unit/pmpi/divided.c \
	tests/unit/common/formats.h tests/unit/common/rounded.h \
	pmpi/block/accumulate.c pmpi/block/accumulate.h \
	pmpi/block/block.c pmpi/block/block.h pmpi/block/tile.c pmpi/block/tile.h
tests_unit_pmpi_divided_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pmpi_divided_LDADD = $(UNIT_LIBS) -lpthread -lm
tests_unit_pmpi_within_SOURCES = tests/unit/pmpi/within.c \
	pmpi/block/block.c pmpi/block/block.h
tests_unit_pmpi_within_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi

tests_unit_pmpi_store_selector_SOURCES = tests/unit/pmpi/store_selector.c \
	pmpi/group/store_selector.c pmpi/group/store_selector.h
tests_unit_pmpi_store_selector_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi

tests_unit_pmpi_scale_states_SOURCES = tests/unit/pmpi/scale_states.c \
	pmpi/layer/layer_key.c pmpi/layer/layer_key.h \
	pmpi/layer/scale_states.c pmpi/layer/scale_states.h
tests_unit_pmpi_scale_states_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pmpi_redone_pieces_SOURCES = tests/unit/pmpi/redone_pieces.c \
	pmpi/block/block.c pmpi/block/block.h \
	pmpi/cut/redo.c pmpi/cut/redo.h
tests_unit_pmpi_redone_pieces_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pmpi_scratch_pool_SOURCES = tests/unit/pmpi/scratch_pool.c pmpi/layer/scratch_pool.c
tests_unit_pmpi_scratch_pool_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pmpi_chunk_layout_SOURCES = tests/unit/pmpi/chunk_layout.c \
	pmpi/block/block.c pmpi/block/block.h \
	pmpi/group/chunk_layout.c pmpi/group/chunk_layout.h
tests_unit_pmpi_chunk_layout_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pmpi_elements_SOURCES = tests/unit/pmpi/elements.c tests/unit/common/rounded.h \
	pmpi/compressed/elements.c pmpi/compressed/elements.h \
	pmpi/block/block.c pmpi/block/block.h
tests_unit_pmpi_elements_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pmpi_offline_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_pmpi_offline_LDADD = libaps.la $(UNIT_LIBS) -lm
tests_unit_pmpi_offline_compressors_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_pmpi_offline_compressors_LDADD = libaps.la $(UNIT_LIBS) -lm
tests_unit_pmpi_driver_SOURCES = tests/unit/pmpi/driver.c \
	pmpi/device/gpu_driver.c pmpi/device/gpu_driver.h \
	pmpi/device/gpu_functions.h \
	pmpi/device/gpu_settle.c pmpi/device/gpu_settle.h \
	pmpi/device/gpu_visit.c pmpi/device/gpu_visit.h
tests_unit_pmpi_driver_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi \
	-DSTANDIN='"$(abs_top_builddir)/tests/standin/.libs/libcuda.so.1"'
tests_unit_pmpi_driver_LDADD = $(UNIT_LIBS) -lpthread -ldl

check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)

# The same numbers on 64-bit Arm.
EXTRA_DIST += tests/unit/codec/aarch64.sh tests/unit/codec/hashes.c \
	tests/unit/compress/hashes_compress.c

.PHONY: check-aarch64
check-aarch64:
	top_srcdir='$(top_srcdir)' CC='$(CC)' $(SHELL) \
		$(top_srcdir)/tests/unit/codec/aarch64.sh
