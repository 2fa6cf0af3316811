# SPDX-License-Identifier: BSD-3-Clause
# Numbers, codecs, scales, policy, round-off: no MPI, no GPU.

# The numeric kernels. The user's CFLAGS stand last on a compiler's line, and
# usually say -O2; KERNEL_CFLAGS (configure.ac) must stand after them.
noinst_LTLIBRARIES += libkernels.la
libkernels_la_SOURCES = \
	src/codec/float.c src/codec/float.h src/codec/float_chunk.h \
	src/codec/float_decode.h src/codec/float_sum.h \
	src/codec/bfp.c src/codec/integer.c src/codec/levels.c \
	src/codec/mx.c src/codec/nvfp4.c src/codec/sign.c \
	src/compress/bracket.c src/compress/bracket.h \
	src/compress/compressor_chunks.c src/compress/compressor_vote.c \
	src/compress/vote.c src/compress/vote.h \
	src/compress/chunks.c src/compress/chunks.h \
	src/compress/collect.c src/compress/collect.h \
	src/compress/collect_masks.h \
	src/compress/feedback.c src/compress/feedback.h \
	src/compress/finite.c src/compress/finite.h \
	src/compress/indices.c src/compress/indices.h \
	src/compress/lowrank_draw.c src/compress/lowrank.h \
	src/compress/lowrank_orthogonal.c \
	src/compress/lowrank_orthogonal_variant.h \
	src/compress/lowrank_products.c src/compress/lowrank_products.h \
	src/compress/lowrank_variant.h \
	src/compress/magnitudes.c src/compress/magnitudes.h \
	src/compress/select.c src/compress/select.h \
	src/compress/sparse.c src/compress/sparse.h \
	src/compress/ternary.c src/compress/ternary.h \
	src/compress/ternary_sums.c \
	src/number/gemm_blocks_kernel.c src/number/gemm_kernel.c \
	src/number/sum.c src/number/sum.h
$(libkernels_la_OBJECTS): override CFLAGS += $(KERNEL_CFLAGS)

# What libaps and libapsmpi.so share.
noinst_LTLIBRARIES += libcore.la
libcore_la_SOURCES = \
	src/aps.h \
	src/base/bucket.h \
	src/base/clock.h \
	src/base/cpu.c src/base/cpu.h \
	src/base/error.c src/base/error.h \
	src/base/failures.c src/base/failures.h \
	src/base/fpenv.h \
	src/base/hot.h \
	src/base/least.h \
	src/base/logarithm.c src/base/logarithm.h \
	src/number/bits.h src/number/cast.h \
	src/number/cpd.h src/number/draw.h src/number/philox.h \
	src/number/format.c src/number/format.h \
	src/number/family.c src/number/family.h \
	src/number/family_bfp.c src/number/family_float.c \
	src/number/family_integer.c src/number/family_levels.c \
	src/number/family_mx.c src/number/family_nvfp4.c \
	src/number/family_sign.c src/number/integer.h \
	src/number/given.c src/number/given.h \
	src/number/interned.c src/number/parse.c \
	src/number/value.c \
	src/number/check.c src/number/check.h \
	src/number/quantize.h \
	src/number/gemm.c src/number/gemm.h \
	src/number/gemm_arguments.c \
	src/number/gemm_lines.c src/number/gemm_lines.h \
	src/number/gemm_sums.h \
	src/codec/array.c \
	src/codec/bfp.h src/codec/block_scale.h \
	src/codec/blocks.h src/codec/blocks_decode.h \
	src/codec/blocks_encode.h src/codec/blocks_variant.h \
	src/codec/blocks_vbmi.h src/codec/codes_vbmi.h \
	src/codec/entropy.c src/codec/entropy.h \
	src/codec/fixed.h src/codec/greatest_variant.h src/codec/table.h \
	src/codec/codec.c src/codec/codec.h \
	src/codec/ops.c src/codec/ops.h \
	src/codec/kernel.h src/codec/lanes.h src/codec/philox_avx2.h \
	src/codec/philox_avx512.h src/codec/rounding.h src/codec/scaling.h \
	src/codec/stochastic_avx2.h src/codec/stochastic_vbmi.h \
	src/codec/memory.c src/codec/memory.h \
	src/codec/mx.h src/codec/nearest_avx2.h src/codec/nearest_fold.h \
	src/codec/nearest_vbmi.h src/codec/nvfp4.h src/codec/words_vbmi.h \
	src/codec/pack.h src/codec/pack_blocks.h src/codec/put.h \
	src/codec/pack_chunk.h src/codec/pack_vbmi.h \
	src/codec/stream.c src/codec/stream.h src/codec/sum_vbmi.h \
	src/codec/sum_avx2.h src/codec/encode_avx2.h \
	src/codec/float_search.h src/codec/float_sum_avx2.h \
	src/codec/values_avx2.h src/codec/words.h src/codec/table_vbmi.h src/codec/tile.h \
	src/version.c \
	src/compress/compressor.c src/compress/compressor.h \
	src/compress/compressor_none.c src/compress/compressor_powersgd.c \
	src/compress/compressor_selecting.c src/compress/compressor_ternary.c \
	src/compress/lowrank.c \
	src/compress/matrix.c src/compress/matrix.h \
	src/scale/aps.c src/scale/aps_tight.c \
	src/scale/backoff.c src/scale/behave.c src/scale/history.h \
	src/scale/exponent.c \
	src/scale/fixed.c src/scale/none.c \
	src/scale/autoflex.c src/scale/delayed.c src/scale/dfxp.c \
	src/scale/logmax.c \
	src/scale/moments.c \
	src/scale/normal.c src/scale/normal.h \
	src/scale/overflow.c \
	src/scale/scale.c src/scale/scale.h \
	src/scale/table.c \
	src/scale/underflow.c src/scale/unit.c \
	src/wire/pipeline_sizes.c src/wire/pipeline_sizes.h src/wire/turns.h
libcore_la_LIBADD = libkernels.la -lm

# What libapsmpi.so and the apsmpi command share.
noinst_LTLIBRARIES += libpolicy.la
libpolicy_la_SOURCES = \
	src/base/cache.c src/base/cache.h \
	src/base/digits.c src/base/digits.h \
	src/base/json.c src/base/json.h \
	src/base/message.c src/base/message.h \
	src/base/nearest.c src/base/nearest.h \
	src/base/plural.h \
	src/base/quiet_write.c src/base/quiet_write.h \
	src/base/real.c src/base/real.h \
	src/base/options.c src/base/options.h \
	src/base/switch.c src/base/switch.h \
	src/base/writable.c src/base/writable.h \
	src/policy/auto_format.c src/policy/auto_format.h \
	src/policy/choice.c src/policy/choice.h \
	src/policy/chosen.c src/policy/chosen.h \
	src/policy/compressors.c src/policy/compressors.h \
	src/policy/csv.c src/policy/csv.h \
	src/policy/formats.c src/policy/formats.h \
	src/policy/gemm.c src/policy/gemm.h \
	src/policy/glob.c src/policy/glob.h \
	src/policy/grammar.c src/policy/grammar.h \
	src/policy/layers.c src/policy/layers.h \
	src/policy/log.c src/policy/log.h \
	src/policy/number.c src/policy/number.h \
	src/policy/object.h src/policy/parse.c \
	src/policy/plan_text.c src/policy/plan_text.h \
	src/policy/policy.h src/policy/resolve.c \
	src/policy/ranges.c src/policy/ranges.h \
	src/policy/rule.c src/policy/rule.h src/policy/rule_keys.h \
	src/policy/scale_tables.c \
	src/policy/scales.c src/policy/scales.h \
	src/policy/select.c src/policy/select.h \
	src/policy/settings.c src/policy/settings.h \
	src/policy/shadow.c src/policy/shadow.h \
	src/policy/size.c src/policy/size.h \
	src/policy/source.c \
	src/policy/steps.c src/policy/steps.h \
	src/policy/tables.c src/policy/tables.h \
	src/policy/value.c src/policy/value.h \
	src/policy/version.c src/policy/version.h \
	src/policy/words.c src/policy/words.h \
	src/policy/yaml.c src/policy/yaml.h \
	src/predict/clocked.c src/predict/clocked.h \
	src/predict/direct.c src/predict/gather.c \
	src/predict/hierarchical.c \
	src/predict/machine.c src/predict/machine.h src/predict/master.c \
	src/predict/measured.c src/predict/measured.h \
	src/predict/call.h \
	src/predict/native.c src/predict/native.h \
	src/predict/predict.c src/predict/predict.h \
	src/predict/quantity.c src/predict/quantity.h \
	src/predict/ring.c \
	src/predict/stages.c src/predict/stages.h \
	src/predict/variance.c src/predict/variance.h \
	src/roundoff/field.c src/roundoff/field.h \
	src/roundoff/event.c src/roundoff/event.h \
	src/roundoff/log.c src/roundoff/log.h \
	src/roundoff/binades.c src/roundoff/binades.h \
	src/roundoff/exponents.c src/roundoff/exponents.h \
	src/roundoff/measure.c src/roundoff/measure.h \
	src/steps/discovery.c src/steps/discovery.h \
	src/steps/discovery_files.c src/steps/discovery_files.h \
	src/steps/layer_order.c src/steps/layer_order.h \
	src/steps/pace.c src/steps/pace.h \
	src/steps/period.c src/steps/period.h \
	src/steps/steps.c src/steps/steps.h \
	src/steps/tiling.c src/steps/tiling.h
libpolicy_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBYAML_CFLAGS)

# The C API by itself.
lib_LTLIBRARIES += libaps.la
include_HEADERS += src/aps.h
nodist_include_HEADERS += src/aps_version.h
libaps_la_SOURCES =
libaps_la_LIBADD = libcore.la
libaps_la_LDFLAGS = -version-info 0:0:0 -no-undefined \
	-Wl,--version-script=$(top_srcdir)/src/libaps.map
EXTRA_libaps_la_DEPENDENCIES = src/libaps.map
EXTRA_DIST += src/libaps.map
EXTRA_DIST += src/compress/README.md

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
	src/cli/main.c src/cli/command.c src/cli/command.h \
	src/cli/arguments.c src/cli/arguments.h \
	src/cli/check.c src/cli/explain.c \
	src/cli/explain_json.c src/cli/explain_json.h \
	src/cli/explain_text.c src/cli/explain_text.h \
	src/cli/predictions.c src/cli/predictions.h \
	src/cli/predictions_advice.c src/cli/predictions_json.c \
	src/cli/predictions_text.c \
	src/cli/problems.c src/cli/problems.h \
	src/cli/program.c src/cli/program.h src/cli/suggest.c \
	src/cli/cast.c src/cli/formats.c \
	src/cli/cast_blocks.c src/cli/cast_blocks.h \
	src/cli/info.c src/cli/installed.c src/cli/installed.h \
	src/cli/measure.c \
	src/cli/cluster.c src/cli/cluster.h \
	src/cli/columns.c src/cli/columns.h \
	src/cli/compressors.c src/cli/compressors.h \
	src/cli/nonblocking.c src/cli/nonblocking.h \
	src/cli/others.c src/cli/others.h \
	src/cli/scales.c src/cli/scales.h \
	src/cli/schedule.c src/cli/schedule.h \
	src/cli/auto_formats.c src/cli/auto_formats.h \
	src/cli/shadows.c src/cli/shadows.h src/cli/snr.c \
	src/cli/traffic.c src/cli/traffic.h
apsmpi_CPPFLAGS = $(AM_CPPFLAGS) -DAPS_BINDIR='"$(bindir)"' \
	-DAPS_LIBDIR='"$(libdir)"'
apsmpi_LDADD = libpolicy.la libcore.la $(LIBYAML_ARCHIVE)
