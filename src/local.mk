# SPDX-License-Identifier: BSD-3-Clause
# Numbers, codecs, scales, policy, round-off: no MPI, no GPU.

# The numeric kernels. The user's CFLAGS stand last on a compiler's line, and
# usually say -O2; KERNEL_CFLAGS (configure.ac) must stand after them.
noinst_LTLIBRARIES += libkernels.la
libkernels_la_SOURCES = \
	src/float/float.c src/float/float.h src/float/float_chunk.h \
	src/float/wide.c src/float/wide.h \
	src/float/float_decode.h src/float/float_sum.h \
	src/blockwise/bfp.c src/blockwise/integer.c src/blockwise/levels.c \
	src/blockwise/mx.c src/blockwise/nvfp4.c src/blockwise/sign.c \
	src/codec/doubles.c src/codec/doubles.h \
	src/compress/bracket.c src/compress/bracket.h \
	src/compress/compressor_chunks.c src/compress/compressor_vote.c \
	src/compress/vote.c src/compress/vote.h \
	src/compress/chunks.c src/compress/chunks.h \
	src/compress/collect.c src/compress/collect.h \
	src/compress/collect_masks.h \
	src/compress/feedback.c src/compress/feedback.h \
	src/compress/indices.c src/compress/indices.h \
	src/compress/lowrank.c src/compress/lowrank.h \
	src/compress/lowrank_orthogonal_variant.h \
	src/compress/lowrank_products.c src/compress/lowrank_products.h \
	src/compress/lowrank_variant.h \
	src/compress/magnitudes.c src/compress/magnitudes.h \
	src/compress/select.c src/compress/select.h \
	src/compress/sparse.c src/compress/sparse.h \
	src/compress/ternary.c src/compress/ternary.h \
	src/compress/ternary_sums.c src/compress/ternary_sums.h \
	src/number/gemm_kernel.c src/number/gemm_kernel.h \
	src/number/sum.c src/number/sum.h
$(libkernels_la_OBJECTS): override CFLAGS += $(KERNEL_CFLAGS)

# What libaps and libapsmpi.so share.
noinst_LTLIBRARIES += libcore.la
libcore_la_SOURCES = \
	src/aps.h \
	src/base/bucket.h \
	src/base/clock.h \
	src/base/cpu.c src/base/cpu.h \
	src/base/element.c src/base/element.h \
	src/base/error.c src/base/error.h \
	src/base/print.c src/base/print.h \
	src/base/failures.c src/base/failures.h \
	src/base/fpenv.h \
	src/base/glibc.h src/base/hot.h \
	src/base/size_min.h \
	src/base/logarithm.c src/base/logarithm.h \
	src/number/bits.h src/number/cast.h \
	src/number/cpd.h src/number/draw.h src/number/philox.h \
	src/number/format.c src/number/format.h \
	src/number/family.c src/number/family.h \
	src/number/family_bfp.c src/number/family_float.c \
	src/number/family_integer.c src/number/family_levels.c \
	src/number/family_mx.c src/number/family_nvfp4.c \
	src/number/family_sign.c src/number/integer.h \
	src/number/struct_version.c src/number/struct_version.h \
	src/number/parse.c src/number/parse.h \
	src/number/value.c \
	src/number/check.c src/number/check.h \
	src/number/quantize.h \
	src/number/gemm.c src/number/gemm.h \
	src/number/gemm_lines.c src/number/gemm_lines.h \
	src/number/gemm_sums.h \
	src/codec/array.c \
	src/blockwise/bfp.h src/blockwise/block_scale.h \
	src/blockwise/blocks.h src/blockwise/blocks_decode.h \
	src/blockwise/blocks_encode.h src/blockwise/blocks_variant.h \
	src/blockwise/blocks_vbmi.h src/simd/codes_vbmi.h \
	src/codec/entropy.c src/codec/entropy.h \
	src/blockwise/fixed.h src/float/greatest_variant.h src/kernel/table.h \
	src/codec/codec.c src/codec/codec.h \
	src/kernel/ops.c src/kernel/ops.h \
	src/kernel/kernel.h src/blockwise/lanes.h src/simd/philox_avx2.h \
	src/simd/philox_avx512.h src/simd/rounding.h src/kernel/scaling.h \
	src/simd/stochastic_avx2.h src/simd/stochastic_vbmi.h \
	src/codec/memory.c src/codec/memory.h \
	src/blockwise/mx.h src/simd/avx2.h src/simd/avx2_neon.h \
	src/simd/nearest_avx2.h src/simd/nearest_fold.h \
	src/simd/elements_vbmi.h src/simd/nearest_vbmi.h \
	src/blockwise/nvfp4.h src/simd/code16_vbmi.h \
	src/kernel/pack.h src/blockwise/pack_blocks.h \
	src/float/pack_chunk.h src/simd/pack_vbmi.h \
	src/codec/stream.c src/codec/stream.h src/simd/sum_vbmi.h \
	src/simd/sum_avx2.h src/float/encode_avx2.h src/float/float_elements.h \
	src/float/float_sum_avx2.h \
	src/simd/values_avx2.h src/simd/code16.h src/simd/table_vbmi.h src/kernel/tile.h \
	src/version.c \
	src/compress/compressor.c src/compress/compressor.h \
	src/compress/compressor_selecting.c src/compress/compressor_ternary.c \
	src/compress/matrix.c src/compress/matrix.h \
	src/scale/backoff.c src/scale/history.h \
	src/scale/explain.c src/scale/explain.h \
	src/scale/exponent.c src/scale/exponent.h \
	src/scale/fixed.c src/scale/none.c \
	src/scale/autoflex.c src/scale/delayed.c src/scale/dfxp.c \
	src/scale/logmax.c \
	src/scale/normal.c src/scale/normal.h \
	src/scale/scale.c src/scale/scale.h \
	src/scale/table.c \
	src/scale/underflow.c src/scale/unit.c \
	src/wire/pipeline_sizes.c src/wire/pipeline_sizes.h src/wire/buffer_depth.h
libcore_la_LIBADD = libkernels.la -lm

# What libapsmpi.so and the apsmpi command share.
noinst_LTLIBRARIES += libpolicy.la
libpolicy_la_SOURCES = \
	src/base/cache.c src/base/cache.h \
	src/base/digits.c src/base/digits.h \
	src/base/json.c src/base/json.h \
	src/base/launch.c src/base/launch.h \
	src/base/message.c src/base/message.h \
	src/base/nearest.c src/base/nearest.h \
	src/base/plural.h \
	src/base/quiet_write.c src/base/quiet_write.h \
	src/base/thread.c src/base/thread.h \
	src/codec/workers.c src/codec/workers.h \
	src/codec/divided.c src/codec/divided.h \
	src/base/real.c src/base/real.h \
	src/base/options.c src/base/options.h \
	src/base/switch.c src/base/switch.h \
	src/base/utf8.c src/base/utf8.h \
	src/base/writable.c src/base/writable.h \
	src/rules/auto_format.c src/rules/auto_format.h \
	src/policy/choice.c src/policy/choice.h \
	src/source/chosen.c src/source/chosen.h \
	src/rules/compressors.c src/rules/compressors.h \
	src/text/csv.c src/text/csv.h \
	src/grammar/formats.c src/grammar/formats.h \
	src/rules/gemm.c src/rules/gemm.h \
	src/text/glob.c src/text/glob.h \
	src/grammar/grammar.c src/grammar/grammar.h \
	src/text/layer_table.c src/text/layer_table.h \
	src/yaml/number.c src/yaml/number.h \
	src/source/object.h src/source/parse.c \
	src/grammar/plan_text.c src/grammar/plan_text.h \
	src/policy/policy.h src/source/policy.c src/source/resolve.c \
	src/source/shapes.c src/source/shapes.h \
	src/text/ranges.c src/text/ranges.h \
	src/rules/rule.c src/rules/rule.h src/rules/rule_keys.h \
	src/rules/scales.c src/rules/scales.h \
	src/rules/select.c src/rules/select.h \
	src/rules/settings.c src/rules/settings.h \
	src/rules/shadow.c src/rules/shadow.h \
	src/rules/wide_formats.c src/rules/wide_formats.h \
	src/yaml/size.c src/yaml/size.h \
	src/source/source.c \
	src/rules/sections.c src/rules/sections.h \
	src/grammar/tables.c src/grammar/tables.h \
	src/yaml/value.c src/yaml/value.h \
	src/yaml/version.c src/yaml/version.h \
	src/policy/keywords.c src/policy/keywords.h \
	src/yaml/yaml.c src/yaml/yaml.h \
	src/predict/clocked.c src/predict/clocked.h \
	src/predict/direct.c src/predict/gather.c \
	src/predict/hierarchical.c \
	src/predict/machine.c src/predict/machine.h src/predict/master.c \
	src/predict/measured.c src/predict/measured.h \
	src/predict/call.h \
	src/predict/native.c src/predict/native.h \
	src/predict/predict.c src/predict/predict.h \
	src/predict/quantity.c src/predict/quantity.h \
	src/predict/ring.c src/predict/ring.h \
	src/predict/stages.c src/predict/stages.h \
	src/predict/variance.c src/predict/variance.h \
	src/explain/traffic.c src/explain/traffic.h \
	src/roundoff/field.c src/roundoff/field.h \
	src/roundoff/event.c src/roundoff/event.h \
	src/roundoff/log.c src/roundoff/log.h \
	src/roundoff/binades.c src/roundoff/binades.h \
	src/roundoff/exponents.c src/roundoff/exponents.h \
	src/roundoff/measure.c src/roundoff/measure.h \
	src/steps/discovery.c src/steps/discovery.h \
	src/steps/discovery_files.c src/steps/discovery_files.h \
	src/steps/layer_order.c src/steps/layer_order.h \
	src/steps/sample_budget.c src/steps/sample_budget.h \
	src/steps/period.c src/steps/period.h \
	src/steps/sizes.c src/steps/sizes.h \
	src/steps/steps.c src/steps/steps.h \
	src/steps/tiling.c src/steps/tiling.h \
	src/steps/turns.c src/steps/turns.h \
	src/steps/walk.c src/steps/walk.h
libpolicy_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBYAML_CFLAGS)

# The C API by itself.
lib_LTLIBRARIES += libaps.la
include_HEADERS += src/aps.h src/aps_policy.h
nodist_include_HEADERS += src/aps_version.h
libaps_la_SOURCES = \
	src/aps_policy.h \
	pmpi/block/accumulate.c pmpi/block/accumulate.h \
	pmpi/block/block.c pmpi/block/block.h \
	pmpi/block/plan_wire.c pmpi/block/plan_wire.h \
	pmpi/block/random_key.c pmpi/block/random_key.h \
	pmpi/block/tile.c pmpi/block/tile.h \
	pmpi/compressed/elements.c pmpi/compressed/elements.h \
	pmpi/cut/chunk.c pmpi/cut/chunk.h \
	pmpi/cut/redo.c pmpi/cut/redo.h \
	pmpi/group/chunk_layout.c pmpi/group/chunk_layout.h \
	pmpi/layer/layer_key.c pmpi/layer/layer_key.h \
	pmpi/layer/scale_states.c pmpi/layer/scale_states.h \
	pmpi/offline/layer_compressor.c pmpi/offline/layer_compressor.h \
	pmpi/offline/layer_plan.c pmpi/offline/layer_plan.h \
	pmpi/offline/play.c pmpi/offline/play.h \
	pmpi/offline/play_hierarchical.c pmpi/offline/play_hierarchical.h \
	pmpi/offline/play_ring.c pmpi/offline/play_ring.h \
	pmpi/offline/roundoff.c pmpi/offline/scaler.c \
	pmpi/offline/rounds_bytes.c pmpi/offline/rounds_powersgd.c \
	pmpi/offline/simulation.c
libaps_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/pmpi
libaps_la_LIBADD = libpolicy.la libcore.la
libaps_la_LDFLAGS = -version-info 0:0:0 -no-undefined -Wl,$(LIBYAML_ARCHIVE) \
	$(GLIBC_LIBS) \
	-Wl,--version-script=$(top_srcdir)/src/libaps.map
EXTRA_libaps_la_DEPENDENCIES = src/libaps.map
EXTRA_DIST += src/libaps.map
EXTRA_DIST += src/README.md src/compress/README.md

# To be preloaded into programs that multiply matrices: it exports the names of
# BLAS alone.
lib_LTLIBRARIES += libapsgemm.la
libapsgemm_la_SOURCES = \
	src/blas/hooks.c \
	src/blas/next.c src/blas/next.h \
	src/blas/product.c src/blas/product.h \
	src/blas/setting.c src/blas/setting.h
libapsgemm_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src/blas
libapsgemm_la_LIBADD = libpolicy.la libcore.la
libapsgemm_la_LDFLAGS = -module -avoid-version -shared -no-undefined \
	$(LIBYAML_LIBS)

# The command.
bin_PROGRAMS += apsmpi
dist_man_MANS += src/cli/apsmpi.1 src/libaps.3 src/policy/apsmpi-policy.5 \
	src/roundoff/apsmpi-log.5
apsmpi_SOURCES = \
	src/verbs/main.c src/cli/command.c src/cli/command.h \
	src/cli/arguments.c src/cli/arguments.h \
	src/verbs/check.c src/explain/explain.c \
	src/explain/explain_json.c src/explain/explain_json.h \
	src/explain/explain_text.c src/explain/explain_text.h \
	src/predictions/predictions.c src/predictions/predictions.h \
	src/predictions/predictions_advice.c src/predictions/predictions_advice.h \
	src/predictions/predictions_json.c src/predictions/predictions_json.h \
	src/predictions/predictions_text.c src/predictions/predictions_text.h \
	src/cli/problems.c src/cli/problems.h \
	src/verbs/suggest.c \
	src/verbs/cast.c src/verbs/formats.c \
	src/verbs/cast_blocks.c src/verbs/cast_blocks.h \
	src/verbs/info.c src/cli/installed.c src/cli/installed.h \
	src/verbs/measure.c src/verbs/bench.c \
	src/predictions/cluster.c src/predictions/cluster.h \
	src/cli/columns.c src/cli/columns.h \
	src/explain/compressors.c src/explain/compressors.h \
	src/explain/layers.c src/explain/layers.h \
	src/explain/notes.c src/explain/notes.h \
	src/cli/schedule.c src/cli/schedule.h \
	src/explain/auto_formats.c src/explain/auto_formats.h \
	src/explain/shadows.c src/explain/shadows.h src/verbs/snr.c \
	src/explain/traffic_notes.c src/explain/traffic_notes.h
apsmpi_CPPFLAGS = $(AM_CPPFLAGS) -DAPS_BINDIR='"$(bindir)"' \
	-DAPS_LIBDIR='"$(libdir)"' -DAPS_PREFIX='"$(prefix)"'
apsmpi_LDADD = libpolicy.la libcore.la $(LIBYAML_ARCHIVE)
