# SPDX-License-Identifier: BSD-3-Clause
# Sample policies, layer tables, a program to try them with, pkg-config, and a module
# file.
policiesdir = $(pkgdatadir)/policies
dist_policies_DATA = \
	config/policies/aps-e3m0.yaml \
	config/policies/aps-e4m3.yaml \
	config/policies/aps-e5m2.yaml \
	config/policies/auto.yaml \
	config/policies/auto-format.yaml \
	config/policies/autoflex-flex16.yaml \
	config/policies/backoff-e5m2.yaml \
	config/policies/chunks-e6m9.yaml \
	config/policies/correlated-e4m3.yaml \
	config/policies/cpd-gather.yaml \
	config/policies/delayed-e4m3.yaml \
	config/policies/feedback-e3m0.yaml \
	config/policies/hybrid-e4m3.yaml \
	config/policies/lazy-e5m2.yaml \
	config/policies/logmax-e5m2.yaml \
	config/policies/mstopk-1percent.yaml \
	config/policies/mstopk-powersgd-published.yaml \
	config/policies/paper-master.yaml \
	config/policies/powersgd-rank4.yaml \
	config/policies/resnet50.yaml \
	config/policies/shadow.yaml \
	config/policies/ternary.yaml \
	config/policies/underflow-e5m2.yaml \
	config/policies/unit-e5m2.yaml
layersdir = $(pkgdatadir)/layers
dist_layers_DATA = \
	config/layers/bert-base-layers.csv \
	config/layers/gpt2-layers.csv \
	config/layers/resnet152-layers.csv \
	config/layers/resnet18-layers.csv \
	config/layers/resnet50-layers.csv \
	config/layers/vgg16-layers.csv
EXTRA_DIST += config/layers/tables.py
examplesdir = $(pkgdatadir)/examples
dist_examples_DATA = tests/apps/digits.py tests/apps/digits.csv \
	tests/apps/notebook.py
EXTRA_DIST += config/modulefile.in
modulefilesdir = $(datadir)/modulefiles
modulefiles_DATA = config/modulefile/apsmpi
CLEANFILES += config/modulefile/apsmpi
config/modulefile/apsmpi: $(top_srcdir)/config/modulefile.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(SED) -e 's|@bindir[@]|$(bindir)|' -e 's|@libdir[@]|$(libdir)|' \
	    -e 's|@datadir[@]|$(datadir)|' -e 's|@mandir[@]|$(mandir)|' \
	    $(top_srcdir)/config/modulefile.in >$@.tmp && mv $@.tmp $@
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = config/libaps.pc
if HAVE_CUDA
pkgconfig_DATA += config/libaps-cuda.pc
endif
# Recipes for other packagers.
EXTRA_DIST += config/conda/meta.yaml config/conda/conda_build_config.yaml \
	config/spack/package.py
