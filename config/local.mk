# SPDX-License-Identifier: BSD-3-Clause
# Sample policies, layer tables, pkg-config.
policiesdir = $(pkgdatadir)/policies
dist_policies_DATA =
layersdir = $(pkgdatadir)/layers
dist_layers_DATA =
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = config/libaps.pc
