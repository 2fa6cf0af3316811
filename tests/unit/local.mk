# SPDX-License-Identifier: BSD-3-Clause
# Units without MPI.
UNIT_CPPFLAGS = $(TEST_CPPFLAGS) -I$(top_srcdir)/tests
UNIT_LIBS = tests/libtap.la libpolicy.la libcore.la

UNIT_TESTS = \
	tests/unit/array \
	tests/unit/array_blocks \
	tests/unit/array_scaled \
	tests/unit/binades \
	tests/unit/build \
	tests/unit/chunk_layout \
	tests/unit/chunks \
	tests/unit/compressor_takes \
	tests/unit/codec \
	tests/unit/codec_blocks \
	tests/unit/codec_random \
	tests/unit/codec_large \
	tests/unit/codec_levels \
	tests/unit/codec_passes \
	tests/unit/codec_sizes \
	tests/unit/correlated \
	tests/unit/digits \
	tests/unit/driver \
	tests/unit/elements \
	tests/unit/entropy \
	tests/unit/error \
	tests/unit/feedback \
	tests/unit/format \
	tests/unit/format_get \
	tests/unit/gemm tests/unit/gemm_blocks \
	tests/unit/given \
	tests/unit/guess \
	tests/unit/handoff \
	tests/unit/glob \
	tests/unit/json \
	tests/unit/grammar \
	tests/unit/indices \
	tests/unit/layer_order \
	tests/unit/layers \
	tests/unit/log \
	tests/unit/log_faults \
	tests/unit/logarithm \
	tests/unit/lowrank \
	tests/unit/lowrank_factors \
	tests/unit/lowrank_products \
	tests/unit/magnitudes \
	tests/unit/measure \
	tests/unit/nearest \
	tests/unit/magnitude_batch \
	tests/unit/options \
	tests/unit/pinned_pool \
	tests/unit/policy \
	tests/unit/predict \
	tests/unit/predict_files \
	tests/unit/predict_variance \
	tests/unit/policy-errors \
	tests/unit/policy-errors-conditions \
	tests/unit/policy-errors-formats \
	tests/unit/policy-errors-rules \
	tests/unit/policy-matching \
	tests/unit/policy-mutated \
	tests/unit/policy-rules \
	tests/unit/policy-compress \
	tests/unit/pace \
	tests/unit/policy-scales \
	tests/unit/policy-auto-format \
	tests/unit/policy-chosen \
	tests/unit/policy-shadow \
	tests/unit/plan_text \
	tests/unit/quiet_allocate \
	tests/unit/ranges \
	tests/unit/rounding \
	tests/unit/scale \
	tests/unit/scale_aps \
	tests/unit/scale_aps_tight \
	tests/unit/scale_autoflex \
	tests/unit/scale_backoff \
	tests/unit/scale_behave \
	tests/unit/scale_delayed \
	tests/unit/scale_dfxp \
	tests/unit/scale_fixed \
	tests/unit/scale_logmax \
	tests/unit/scale_moments \
	tests/unit/scale_none \
	tests/unit/scale_normal \
	tests/unit/scale_overflow \
	tests/unit/scale_states \
	tests/unit/scale_underflow \
	tests/unit/scale_unit \
	tests/unit/redone_pieces \
	tests/unit/spares \
	tests/unit/select \
	tests/unit/slices \
	tests/unit/sparse \
	tests/unit/steps \
	tests/unit/steps_search \
	tests/unit/sum \
	tests/unit/stream \
	tests/unit/switch \
	tests/unit/ternary \
	tests/unit/tiling tests/unit/vote tests/unit/within tests/unit/writable

# Compressors.
tests_unit_chunks_SOURCES = tests/unit/chunks.c tests/unit/rounded.h \
	tests/unit/vectors.h
tests_unit_chunks_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_chunks_LDADD = $(UNIT_LIBS) -lm
tests_unit_feedback_SOURCES = tests/unit/feedback.c tests/unit/rounded.h \
	tests/unit/vectors.h
tests_unit_feedback_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_feedback_LDADD = $(UNIT_LIBS) -lm
tests_unit_magnitudes_SOURCES = tests/unit/magnitudes.c tests/unit/rounded.h \
	tests/unit/vectors.h
tests_unit_magnitudes_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_magnitudes_LDADD = $(UNIT_LIBS) -lm
tests_unit_compressor_takes_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_compressor_takes_LDADD = $(UNIT_LIBS) -lm
tests_unit_sparse_SOURCES = tests/unit/sparse.c tests/unit/rounded.h \
	tests/unit/vectors.h
tests_unit_sparse_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_sparse_LDADD = $(UNIT_LIBS) -lm
tests_unit_indices_SOURCES = tests/unit/indices.c tests/unit/rounded.h
tests_unit_indices_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_indices_LDADD = $(UNIT_LIBS) -lm
tests_unit_select_SOURCES = tests/unit/select.c tests/unit/rounded.h \
	tests/unit/vectors.h
tests_unit_select_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_select_LDADD = $(UNIT_LIBS) -lm
tests_unit_vote_SOURCES = tests/unit/vote.c
tests_unit_vote_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_vote_LDADD = $(UNIT_LIBS)
tests_unit_ternary_SOURCES = tests/unit/ternary.c
tests_unit_ternary_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_ternary_LDADD = $(UNIT_LIBS) -lm

# Numbers and codecs.
tests_unit_format_SOURCES = tests/unit/format.c
tests_unit_format_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_format_LDADD = $(UNIT_LIBS) -lm
tests_unit_format_get_SOURCES = tests/unit/format_get.c
tests_unit_format_get_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_format_get_LDADD = $(UNIT_LIBS) -lpthread
tests_unit_array_blocks_SOURCES = tests/unit/array_blocks.c
tests_unit_array_blocks_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_array_blocks_LDADD = $(UNIT_LIBS)
tests_unit_array_scaled_SOURCES = tests/unit/array_scaled.c \
	tests/unit/formats.h tests/unit/wire.h
tests_unit_array_scaled_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_array_scaled_LDADD = $(UNIT_LIBS) -lm
tests_unit_given_SOURCES = tests/unit/given.c
tests_unit_given_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_given_LDADD = $(UNIT_LIBS)
tests_unit_array_SOURCES = tests/unit/array.c tests/unit/formats.h \
	tests/unit/wire.h
tests_unit_array_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_array_LDADD = $(UNIT_LIBS) -lm
tests_unit_rounding_SOURCES = tests/unit/rounding.c tests/unit/formats.h \
	tests/unit/wire.h
tests_unit_rounding_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_rounding_LDADD = $(UNIT_LIBS) -lm
tests_unit_correlated_SOURCES = tests/unit/correlated.c \
	tests/unit/correlated_error.c tests/unit/correlated_error.h \
	tests/unit/formats.h tests/unit/wire.h
tests_unit_correlated_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_correlated_LDADD = $(UNIT_LIBS) -lm
tests_unit_codec_SOURCES = tests/unit/codec.c tests/unit/formats.h \
	tests/unit/wire.h
tests_unit_codec_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_LDADD = $(UNIT_LIBS) -lm
tests_unit_codec_blocks_SOURCES = tests/unit/codec_blocks.c \
	tests/unit/wire.h
tests_unit_codec_blocks_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_blocks_LDADD = $(UNIT_LIBS) -lm
tests_unit_codec_random_SOURCES = tests/unit/codec_random.c \
	tests/unit/wire.h
tests_unit_codec_random_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_random_LDADD = $(UNIT_LIBS) -lm
tests_unit_codec_large_SOURCES = tests/unit/codec_large.c \
	tests/unit/formats.h tests/unit/wire.h
tests_unit_codec_large_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_large_LDADD = $(UNIT_LIBS) -lm
tests_unit_codec_passes_SOURCES = tests/unit/codec_passes.c \
	tests/unit/formats.h tests/unit/wire.h
tests_unit_codec_passes_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_passes_LDADD = $(UNIT_LIBS) -lm
tests_unit_codec_levels_SOURCES = tests/unit/codec_levels.c
tests_unit_codec_levels_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_levels_LDADD = $(UNIT_LIBS) -lm
tests_unit_codec_sizes_SOURCES = tests/unit/codec_sizes.c
tests_unit_codec_sizes_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_codec_sizes_LDADD = $(UNIT_LIBS)
tests_unit_scale_SOURCES = tests/unit/scale.c \
	tests/unit/scales.c tests/unit/scales.h
tests_unit_scale_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_fixed_SOURCES = tests/unit/scale_fixed.c \
	tests/unit/scales.c tests/unit/scales.h
tests_unit_scale_fixed_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_fixed_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_none_SOURCES = tests/unit/scale_none.c \
	tests/unit/scales.c tests/unit/scales.h
tests_unit_scale_none_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_none_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_aps_SOURCES = tests/unit/scale_aps.c \
	tests/unit/scales.c tests/unit/scales.h
tests_unit_scale_aps_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_aps_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_aps_tight_SOURCES = tests/unit/scale_aps_tight.c \
	tests/unit/scales.c tests/unit/scales.h
tests_unit_scale_aps_tight_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_aps_tight_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_overflow_SOURCES = tests/unit/scale_overflow.c \
	tests/unit/scales.c tests/unit/scales.h
tests_unit_scale_overflow_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_overflow_LDADD = $(UNIT_LIBS) -lm
tests_unit_logarithm_SOURCES = tests/unit/logarithm.c \
	tests/unit/scales.c tests/unit/scales.h
tests_unit_logarithm_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_logarithm_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_normal_SOURCES = tests/unit/scale_normal.c
tests_unit_scale_normal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_normal_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_moments_SOURCES = tests/unit/scale_moments.c
tests_unit_scale_moments_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_moments_LDADD = $(UNIT_LIBS) -lm
HISTORIES = tests/unit/histories.c tests/unit/histories.h \
	tests/unit/scales.c tests/unit/scales.h
tests_unit_scale_logmax_SOURCES = tests/unit/scale_logmax.c $(HISTORIES)
tests_unit_scale_logmax_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_logmax_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_autoflex_SOURCES = tests/unit/scale_autoflex.c $(HISTORIES)
tests_unit_scale_autoflex_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_autoflex_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_delayed_SOURCES = tests/unit/scale_delayed.c $(HISTORIES)
tests_unit_scale_delayed_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_delayed_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_dfxp_SOURCES = tests/unit/scale_dfxp.c $(HISTORIES)
tests_unit_scale_dfxp_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_dfxp_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_underflow_SOURCES = tests/unit/scale_underflow.c $(HISTORIES)
tests_unit_scale_underflow_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_underflow_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_unit_SOURCES = tests/unit/scale_unit.c $(HISTORIES)
tests_unit_scale_unit_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_unit_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_behave_SOURCES = tests/unit/scale_behave.c
tests_unit_scale_behave_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_behave_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_backoff_SOURCES = tests/unit/scale_backoff.c $(HISTORIES)
tests_unit_scale_backoff_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scale_backoff_LDADD = $(UNIT_LIBS) -lm

# Sums and matrix products.
tests_unit_sum_SOURCES = tests/unit/sum.c tests/unit/rounded.h
tests_unit_sum_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_sum_LDADD = $(UNIT_LIBS) -lm
tests_unit_gemm_SOURCES = \
	tests/unit/gemm.c tests/unit/gemm_matrices.h tests/unit/rounded.h
tests_unit_gemm_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_gemm_LDADD = $(UNIT_LIBS) -lm
tests_unit_gemm_blocks_SOURCES = \
	tests/unit/gemm_blocks.c tests/unit/gemm_matrices.h \
	tests/unit/rounded.h
tests_unit_gemm_blocks_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_gemm_blocks_LDADD = $(UNIT_LIBS) -lm

# Against MPFR.
if HAVE_MPFR
UNIT_TESTS += tests/unit/cast tests/unit/scaling
endif
tests_unit_cast_SOURCES = tests/unit/cast.c tests/unit/oracle.c \
	tests/unit/oracle.h
tests_unit_cast_CPPFLAGS = $(UNIT_CPPFLAGS) $(MPFR_CFLAGS)
tests_unit_cast_LDADD = $(UNIT_LIBS) $(MPFR_LIBS) -lm
tests_unit_scaling_SOURCES = tests/unit/scaling.c tests/unit/oracle.c \
	tests/unit/formats.h tests/unit/oracle.h tests/unit/wire.h
tests_unit_scaling_CPPFLAGS = $(UNIT_CPPFLAGS) $(MPFR_CFLAGS)
tests_unit_scaling_LDADD = $(UNIT_LIBS) $(MPFR_LIBS) -lm

# The small things.
tests_unit_digits_SOURCES = tests/unit/digits.c
tests_unit_digits_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_digits_LDADD = $(UNIT_LIBS)
tests_unit_json_SOURCES = tests/unit/json.c
tests_unit_json_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_json_LDADD = $(UNIT_LIBS)
tests_unit_stream_SOURCES = tests/unit/stream.c tests/unit/wire.h
tests_unit_stream_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_stream_LDADD = $(UNIT_LIBS) -lm
tests_unit_switch_SOURCES = tests/unit/switch.c
tests_unit_switch_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_switch_LDADD = $(UNIT_LIBS)
tests_unit_error_SOURCES = tests/unit/error.c
tests_unit_error_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_error_LDADD = $(UNIT_LIBS)
tests_unit_nearest_SOURCES = tests/unit/nearest.c
tests_unit_nearest_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_nearest_LDADD = $(UNIT_LIBS)
tests_unit_options_SOURCES = tests/unit/options.c
tests_unit_options_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_options_LDADD = $(UNIT_LIBS)
tests_unit_writable_SOURCES = tests/unit/writable.c
tests_unit_writable_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_writable_LDADD = $(UNIT_LIBS)

# The policy.
tests_unit_glob_SOURCES = tests/unit/glob.c
tests_unit_glob_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_glob_LDADD = $(UNIT_LIBS)
tests_unit_ranges_SOURCES = tests/unit/ranges.c
tests_unit_ranges_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_ranges_LDADD = $(UNIT_LIBS)
tests_unit_layers_SOURCES = tests/unit/layers.c tests/unit/errortext.h \
	tests/unit/sample_table.h
tests_unit_layers_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_layers_LDADD = $(UNIT_LIBS)
tests_unit_grammar_SOURCES = tests/unit/grammar.c
tests_unit_grammar_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_grammar_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE) -lm
tests_unit_policy_SOURCES = tests/unit/policy.c \
	tests/unit/errortext.h tests/unit/policytext.h
tests_unit_policy_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_errors_SOURCES = tests/unit/policy-errors.c \
	tests/unit/policyerrors.h \
	tests/unit/errortext.h tests/unit/policytext.h
tests_unit_policy_errors_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_errors_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_errors_conditions_SOURCES = tests/unit/policy-errors-conditions.c \
	tests/unit/policyerrors.h \
	tests/unit/errortext.h tests/unit/policytext.h
tests_unit_policy_errors_conditions_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_errors_conditions_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_errors_formats_SOURCES = \
	tests/unit/policy-errors-formats.c \
	tests/unit/policyerrors.h \
	tests/unit/policytext.h
tests_unit_policy_errors_formats_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_errors_formats_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_errors_rules_SOURCES = tests/unit/policy-errors-rules.c \
	tests/unit/policyerrors.h \
	tests/unit/errortext.h tests/unit/policytext.h
tests_unit_policy_errors_rules_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_errors_rules_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_compress_SOURCES = tests/unit/policy-compress.c \
	tests/unit/policyerrors.h \
	tests/unit/policytext.h
tests_unit_policy_compress_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_compress_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_scales_SOURCES = tests/unit/policy-scales.c \
	tests/unit/policyerrors.h \
	tests/unit/policytext.h
tests_unit_policy_scales_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_scales_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_matching_SOURCES = tests/unit/policy-matching.c \
	tests/unit/errortext.h tests/unit/policytext.h
tests_unit_policy_matching_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_matching_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_mutated_SOURCES = tests/unit/policy-mutated.c \
	tests/unit/errortext.h tests/unit/policytext.h
tests_unit_policy_mutated_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_mutated_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_rules_SOURCES = tests/unit/policy-rules.c \
	tests/unit/errortext.h tests/unit/policytext.h
tests_unit_policy_rules_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_rules_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)

# Predictions.
tests_unit_predict_SOURCES = tests/unit/predict.c
tests_unit_predict_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_predict_LDADD = $(UNIT_LIBS) -lm
tests_unit_predict_files_SOURCES = tests/unit/predict_files.c
tests_unit_predict_files_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_predict_files_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE) -lm
tests_unit_predict_variance_SOURCES = tests/unit/predict_variance.c
tests_unit_predict_variance_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_predict_variance_LDADD = $(UNIT_LIBS) -lm

# Compressors.
LOWRANK = tests/unit/lowrank_matrix.h
tests_unit_lowrank_SOURCES = tests/unit/lowrank.c $(LOWRANK)
tests_unit_lowrank_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_lowrank_LDADD = $(UNIT_LIBS) -lm
tests_unit_lowrank_factors_SOURCES = tests/unit/lowrank_factors.c $(LOWRANK)
tests_unit_lowrank_factors_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_lowrank_factors_LDADD = $(UNIT_LIBS) -lm
tests_unit_lowrank_products_SOURCES = tests/unit/lowrank_products.c $(LOWRANK)
tests_unit_lowrank_products_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_lowrank_products_LDADD = $(UNIT_LIBS) -lm

# Round-off.
tests_unit_log_SOURCES = tests/unit/log.c tests/unit/log_file.c \
	tests/unit/log_file.h
tests_unit_log_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_log_LDADD = $(UNIT_LIBS) -lm
tests_unit_log_faults_SOURCES = tests/unit/log_faults.c \
	tests/unit/log_file.c tests/unit/log_file.h
tests_unit_log_faults_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_log_faults_LDADD = $(UNIT_LIBS) -lm
tests_unit_binades_SOURCES = tests/unit/binades.c
tests_unit_binades_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_binades_LDADD = $(UNIT_LIBS) -lm
tests_unit_entropy_SOURCES = tests/unit/entropy.c
tests_unit_entropy_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_entropy_LDADD = $(UNIT_LIBS) -lm
tests_unit_pace_SOURCES = tests/unit/pace.c
tests_unit_pace_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_pace_LDADD = $(UNIT_LIBS) -lm
tests_unit_quiet_allocate_SOURCES = tests/unit/quiet_allocate.c
tests_unit_quiet_allocate_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_quiet_allocate_LDADD = $(UNIT_LIBS) -lrt
tests_unit_policy_auto_format_SOURCES = tests/unit/policy-auto-format.c \
	tests/unit/policyerrors.h tests/unit/policytext.h tests/unit/errortext.h
tests_unit_policy_auto_format_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_auto_format_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_plan_text_SOURCES = tests/unit/plan_text.c \
	tests/unit/policytext.h tests/unit/errortext.h
tests_unit_plan_text_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_plan_text_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_chosen_SOURCES = tests/unit/policy-chosen.c \
	tests/unit/policytext.h tests/unit/errortext.h
tests_unit_policy_chosen_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_chosen_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_policy_shadow_SOURCES = tests/unit/policy-shadow.c \
	tests/unit/policyerrors.h tests/unit/policytext.h tests/unit/errortext.h
tests_unit_policy_shadow_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_shadow_LDADD = $(UNIT_LIBS) $(LIBYAML_ARCHIVE)
tests_unit_measure_SOURCES = tests/unit/measure.c
tests_unit_measure_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_measure_LDADD = $(UNIT_LIBS) -lm

# Steps, and, of the MPI side, slices and the search for CUDA's driver.
tests_unit_steps_SOURCES = tests/unit/steps.c tests/unit/step_trace.c \
	tests/unit/step_trace.h tests/unit/sample_table.h
tests_unit_steps_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_steps_LDADD = $(UNIT_LIBS)
tests_unit_steps_search_SOURCES = tests/unit/steps_search.c \
	tests/unit/step_trace.c tests/unit/step_trace.h \
	tests/unit/sample_table.h
tests_unit_steps_search_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_steps_search_LDADD = $(UNIT_LIBS)
tests_unit_layer_order_SOURCES = tests/unit/layer_order.c
tests_unit_layer_order_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_layer_order_LDADD = $(UNIT_LIBS)
tests_unit_tiling_SOURCES = tests/unit/tiling.c
tests_unit_tiling_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_tiling_LDADD = $(UNIT_LIBS)
tests_unit_build_SOURCES = tests/unit/build.c \
	pmpi/job/build.c pmpi/job/build.h
nodist_tests_unit_build_SOURCES = pmpi/job/build_identity.h
tests_unit_build_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_build_LDADD = $(UNIT_LIBS)
tests_unit_magnitude_batch_SOURCES = tests/unit/magnitude_batch.c \
	pmpi/reduce/magnitude_batch.c pmpi/reduce/magnitude_batch.h
tests_unit_magnitude_batch_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_magnitude_batch_LDADD = $(UNIT_LIBS)
tests_unit_pinned_pool_SOURCES = tests/unit/pinned_pool.c \
	pmpi/device/pinned_pool.c pmpi/device/pinned_pool.h
tests_unit_pinned_pool_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_pinned_pool_LDADD = $(UNIT_LIBS) -lpthread
tests_unit_slices_SOURCES = tests/unit/slices.c \
	pmpi/reduce/block.c pmpi/reduce/block.h \
	pmpi/reduce/guess.c pmpi/reduce/guess.h \
	pmpi/reduce/block_batch.c pmpi/reduce/block_batch.h \
	pmpi/reduce/chunk.c pmpi/reduce/chunk.h pmpi/reduce/history.c
tests_unit_slices_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_slices_LDADD = $(UNIT_LIBS)
tests_unit_within_SOURCES = tests/unit/within.c \
	pmpi/reduce/block.c pmpi/reduce/block.h \
	pmpi/reduce/guess.c pmpi/reduce/guess.h
tests_unit_within_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_within_LDADD = $(UNIT_LIBS) -lm

tests_unit_handoff_SOURCES = tests/unit/handoff.c \
	pmpi/reduce/handoff.c pmpi/reduce/handoff.h
tests_unit_handoff_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_handoff_LDADD = $(UNIT_LIBS)

tests_unit_guess_SOURCES = tests/unit/guess.c \
	pmpi/reduce/block.c pmpi/reduce/block.h \
	pmpi/reduce/guess.c pmpi/reduce/guess.h
tests_unit_guess_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_guess_LDADD = $(UNIT_LIBS) -lm
tests_unit_scale_states_SOURCES = tests/unit/scale_states.c \
	pmpi/comm/place.c pmpi/comm/place.h \
	pmpi/comm/scale_states.c pmpi/comm/scale_states.h
tests_unit_scale_states_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_scale_states_LDADD = $(UNIT_LIBS)
tests_unit_redone_pieces_SOURCES = tests/unit/redone_pieces.c \
	pmpi/reduce/block.c pmpi/reduce/block.h \
	pmpi/reduce/guess.c pmpi/reduce/guess.h \
	pmpi/reduce/block_batch.c pmpi/reduce/block_batch.h \
	pmpi/reduce/chunk.c pmpi/reduce/chunk.h pmpi/reduce/history.c
tests_unit_redone_pieces_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_redone_pieces_LDADD = $(UNIT_LIBS)
tests_unit_spares_SOURCES = tests/unit/spares.c pmpi/comm/spares.c
tests_unit_spares_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_spares_LDADD = $(UNIT_LIBS)
tests_unit_chunk_layout_SOURCES = tests/unit/chunk_layout.c \
	pmpi/reduce/block.c pmpi/reduce/block.h \
	pmpi/reduce/guess.c pmpi/reduce/guess.h \
	pmpi/reduce/chunk_layout.c pmpi/reduce/chunk_layout.h
tests_unit_chunk_layout_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_chunk_layout_LDADD = $(UNIT_LIBS)
tests_unit_elements_SOURCES = tests/unit/elements.c tests/unit/rounded.h \
	pmpi/compressed/elements.c pmpi/compressed/elements.h \
	pmpi/reduce/block.c pmpi/reduce/block.h \
	pmpi/reduce/guess.c pmpi/reduce/guess.h
tests_unit_elements_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi
tests_unit_elements_LDADD = $(UNIT_LIBS) -lm
tests_unit_driver_SOURCES = tests/unit/driver.c \
	pmpi/device/gpu_driver.c pmpi/device/gpu_driver.h \
	pmpi/device/gpu_functions.h \
	pmpi/device/gpu_settle.c pmpi/device/gpu_settle.h \
	pmpi/device/gpu_visit.c pmpi/device/gpu_visit.h
tests_unit_driver_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/pmpi \
	-DSTANDIN='"$(abs_top_builddir)/tests/standin/.libs/libcuda.so.1"'
tests_unit_driver_LDADD = $(UNIT_LIBS) -lpthread -ldl

check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)

# The same numbers on 64-bit Arm.
EXTRA_DIST += tests/unit/aarch64.sh tests/unit/hashes.c \
	tests/unit/hashes_compress.c

.PHONY: check-aarch64
check-aarch64:
	top_srcdir='$(top_srcdir)' CC='$(CC)' $(SHELL) \
		$(top_srcdir)/tests/unit/aarch64.sh
