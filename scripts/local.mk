# SPDX-License-Identifier: BSD-3-Clause
# Commands for users (installed) and for this tree.
dist_bin_SCRIPTS = scripts/apsmpi-lab scripts/apsmpi-layers \
	scripts/apsmpi-report scripts/apsmpi-suggest
bin_SCRIPTS += scripts/apsmpi-run
dist_man_MANS += scripts/apsmpi-lab.1 scripts/apsmpi-layers.1 \
	scripts/apsmpi-python.7 \
	scripts/apsmpi-report.1 scripts/apsmpi-run.1 scripts/apsmpi-suggest.1
CLEANFILES += scripts/apsmpi-run
EXTRA_DIST += scripts/apsmpi-run.in scripts/setup scripts/check \
	scripts/check-cuda scripts/demo scripts/tree.sh

# The readers of logs, which several commands use. built.py has the version.
logreaderdir = $(pkgdatadir)/apsmpi_log
dist_logreader_DATA = \
	scripts/apsmpi_log/__init__.py \
	scripts/apsmpi_log/candidates.py \
	scripts/apsmpi_log/columns.py \
	scripts/apsmpi_log/command.py \
	scripts/apsmpi_log/library.py \
	scripts/apsmpi_log/lines.py \
	scripts/apsmpi_log/outputs.py \
	scripts/apsmpi_log/runs.py \
	scripts/apsmpi_log/text.py
nodist_logreader_DATA = scripts/apsmpi_log/built.py

# The Python package: apsmpi-python(7). setup.py installs it by pip.
pythonpackagedir = $(pkgdatadir)/apsmpi
dist_pythonpackage_DATA = \
	scripts/apsmpi/__init__.py \
	scripts/apsmpi/arrays.py \
	scripts/apsmpi/cluster.py \
	scripts/apsmpi/compressors.py \
	scripts/apsmpi/formats.py \
	scripts/apsmpi/gpu.py \
	scripts/apsmpi/library.py \
	scripts/apsmpi/logs.py \
	scripts/apsmpi/policies.py \
	scripts/apsmpi/products.py \
	scripts/apsmpi/py.typed \
	scripts/apsmpi/quantizing.py \
	scripts/apsmpi/roundoff.py \
	scripts/apsmpi/scalers.py \
	scripts/apsmpi/torch_modules.py
nodist_pythonpackage_DATA = scripts/apsmpi/built.py
EXTRA_DIST += scripts/pyproject.toml scripts/setup.py
CLEANFILES += scripts/apsmpi/built.py
scripts/apsmpi/built.py: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	echo 'LIBDIR = "$(libdir)"' >$@.tmp && mv $@.tmp $@

# apsmpi-report: a launcher and a package.
reportdir = $(pkgdatadir)/apsmpi_report
dist_report_DATA = \
	scripts/apsmpi_report/__init__.py \
	scripts/apsmpi_report/bench.py \
	scripts/apsmpi_report/bench_figures.py \
	scripts/apsmpi_report/bench_tables.py \
	scripts/apsmpi_report/candidate_figures.py \
	scripts/apsmpi_report/candidate_tables.py \
	scripts/apsmpi_report/cells.py \
	scripts/apsmpi_report/command.py \
	scripts/apsmpi_report/exponent_figures.py \
	scripts/apsmpi_report/exponents.py \
	scripts/apsmpi_report/figures.py \
	scripts/apsmpi_report/follow.py \
	scripts/apsmpi_report/format_changes.py \
	scripts/apsmpi_report/format_figures.py \
	scripts/apsmpi_report/grid.py \
	scripts/apsmpi_report/line_figures.py \
	scripts/apsmpi_report/line_store.py \
	scripts/apsmpi_report/log_figures.py \
	scripts/apsmpi_report/page.py \
	scripts/apsmpi_report/page_candidates.py \
	scripts/apsmpi_report/page_exponents.py \
	scripts/apsmpi_report/page_formats.py \
	scripts/apsmpi_report/page_frame.py \
	scripts/apsmpi_report/page_parts.py \
	scripts/apsmpi_report/reading.py \
	scripts/apsmpi_report/snr.py \
	scripts/apsmpi_report/statistics.py \
	scripts/apsmpi_report/table_layout.py \
	scripts/apsmpi_report/tables.py \
	scripts/apsmpi_report/text.py \
	scripts/apsmpi_report/trials.py

# apsmpi-suggest: a launcher and a package.
suggestdir = $(pkgdatadir)/apsmpi_suggest
dist_suggest_DATA = \
	scripts/apsmpi_suggest/__init__.py \
	scripts/apsmpi_suggest/budget.py \
	scripts/apsmpi_suggest/candidates.py \
	scripts/apsmpi_suggest/choosing.py \
	scripts/apsmpi_suggest/command.py \
	scripts/apsmpi_suggest/layers.py \
	scripts/apsmpi_suggest/policy.py \
	scripts/apsmpi_suggest/samples.py \
	scripts/apsmpi_suggest/targets.py \
	scripts/apsmpi_suggest/times.py \
	scripts/apsmpi_suggest/text.py

# `apsmpi suggest` looks for this command in the directory of apsmpi, which may be the
# build directory.
noinst_SCRIPTS = apsmpi-suggest
CLEANFILES += apsmpi-suggest
apsmpi-suggest: Makefile
	$(AM_V_GEN)rm -f $@ && $(LN_S) $(abs_top_srcdir)/scripts/apsmpi-suggest $@

# apsmpi-layers: a launcher and a package.
layerscommanddir = $(pkgdatadir)/apsmpi_layers
dist_layerscommand_DATA = \
	scripts/apsmpi_layers/__init__.py \
	scripts/apsmpi_layers/command.py \
	scripts/apsmpi_layers/ddp.py \
	scripts/apsmpi_layers/library.py \
	scripts/apsmpi_layers/hdf5.py \
	scripts/apsmpi_layers/limits.py \
	scripts/apsmpi_layers/npz.py \
	scripts/apsmpi_layers/onnx.py \
	scripts/apsmpi_layers/order.py \
	scripts/apsmpi_layers/pytorch.py \
	scripts/apsmpi_layers/reading.py \
	scripts/apsmpi_layers/safetensors.py \
	scripts/apsmpi_layers/scales.py \
	scripts/apsmpi_layers/table.py \
	scripts/apsmpi_layers/tensor.py
nodist_layerscommand_DATA = scripts/apsmpi_layers/built.py

built_versions = scripts/apsmpi_log/built.py scripts/apsmpi_layers/built.py
CLEANFILES += $(built_versions)
$(built_versions): Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	echo 'VERSION = "$(PACKAGE_VERSION)"' >$@.tmp && mv $@.tmp $@

# Completions. bash looks for a file with the name of the command.
dist_bashcompletion_DATA = scripts/completion/apsmpi
dist_zshcompletion_DATA = scripts/completion/_apsmpi
completed = apsmpi-run apsmpi-lab apsmpi-layers apsmpi-report apsmpi-suggest
install-data-hook:
	cd '$(DESTDIR)$(bashcompletiondir)' && \
	for name in $(completed); do rm -f $$name && ln -s apsmpi $$name; done
uninstall-completion-hook:
	cd '$(DESTDIR)$(bashcompletiondir)' 2>/dev/null && rm -f $(completed) || :
.PHONY: uninstall-completion-hook

install-exec-hook: install-report-hook install-lab-hook
install-report-hook:
	folder=`$(PYTHON3) -c 'import os, sys; print(os.path.relpath(*sys.argv[1:]))' \
	    '$(pkgdatadir)' '$(bindir)'` || folder='$(pkgdatadir)'; \
	for name in apsmpi-layers apsmpi-report apsmpi-suggest; do \
	    script='$(DESTDIR)$(bindir)'/`echo $$name | $(SED) '$(transform)'`; \
	    $(SED) "s|^PACKAGE_FOLDER = .*|PACKAGE_FOLDER = \"$$folder\"|" \
	        "$$script" >"$$script.tmp" && cat "$$script.tmp" >"$$script" && \
	        rm "$$script.tmp" || exit; \
	done
install-lab-hook:
	script='$(DESTDIR)$(bindir)'/`echo apsmpi-lab | $(SED) '$(transform)'`; \
	$(SED) 's|^version=.*|version=$(PACKAGE_VERSION)|' "$$script" \
	    >"$$script.tmp" && cat "$$script.tmp" >"$$script" && rm "$$script.tmp"
.PHONY: install-report-hook install-lab-hook

scripts/apsmpi-run: $(top_srcdir)/scripts/apsmpi-run.in Makefile
	$(AM_V_GEN)$(MKDIR_P) scripts && \
	$(SED) -e 's|@prefix[@]|$(prefix)|g' \
	    -e 's|@bindir[@]|$(bindir)|g' \
	    -e 's|@libdir[@]|$(libdir)|g' \
	    -e 's|@MPI[@]|$(MPI)|g' \
	    -e 's|@PACKAGE_VERSION[@]|$(PACKAGE_VERSION)|g' \
	    $(top_srcdir)/scripts/apsmpi-run.in >$@.tmp && \
	chmod +x $@.tmp && mv $@.tmp $@

# Packages of Debian and of Python, in the build directory.
.PHONY: deb wheel install-all
EXTRA_DIST += config/debian/control scripts/package scripts/wheel.py
CLEANFILES += apsmpi*.deb apsmpi-*.whl
deb wheel: all
	@top_srcdir='$(abs_top_srcdir)' prefix='$(prefix)' bindir='$(bindir)' \
	    libdir='$(libdir)' PACKAGE_VERSION='$(PACKAGE_VERSION)' MAKE='$(MAKE)' \
	    PYTHON3='$(PYTHON3)' SOURCE_DATE_EPOCH=$(dist_time) \
	    $(SHELL) $(top_srcdir)/scripts/package $@
install-all: install
	@for mpi in openmpi abi; do \
	    [ ! -f $$mpi/Makefile ] || $(MAKE) $(AM_MAKEFLAGS) -C $$mpi \
	        install-mpilibLTLIBRARIES install-mpilibPROGRAMS || exit; \
	done

# Parts of apsmpi-lab: a switch for kernels without netem, and a library for its
# ranks, whose programs may be built without sanitizers.
labdir = $(pkglibexecdir)
lab_PROGRAMS = scripts/apsmpi-lab-switch
scripts_apsmpi_lab_switch_SOURCES = scripts/lab-switch.c
scripts_apsmpi_lab_switch_LDADD =
lab_LTLIBRARIES = scripts/apsmpi-lab-finalize.la
scripts_apsmpi_lab_finalize_la_SOURCES = scripts/lab-finalize.c
scripts_apsmpi_lab_finalize_la_CFLAGS = $(APS_CFLAGS) -fvisibility=default
scripts_apsmpi_lab_finalize_la_LDFLAGS = -module -avoid-version -shared \
	-no-undefined

# The manual as a site, in html/.
EXTRA_DIST += scripts/make_site.py config/site/search.js config/site/style.css \
	config/site/tutorial.html
html-local:
	$(AM_V_GEN)$(PYTHON3) $(top_srcdir)/scripts/make_site.py $(top_srcdir) html \
	    $(PACKAGE_VERSION) $(addprefix $(top_srcdir)/,$(dist_man_MANS))

# Checks the paper's claims on the mean of five seeds: about ten minutes on two cores.
.PHONY: check-paper
check-paper: all tests/apps/digits
	APSMPI_BUILD=$(abs_top_builddir) $(SHELL) $(top_srcdir)/scripts/demo \
	    --no-setup --seeds "1 2 3 4 5" --assert
