# SPDX-License-Identifier: BSD-3-Clause
# The library to preload. It links MPI (Python loads MPI where we could not see
# it) and exports MPI's names alone.
lib_LTLIBRARIES += libapsmpi.la
libapsmpi_la_SOURCES = \
	pmpi/abi.c pmpi/abi.h \
	pmpi/accumulate.c pmpi/accumulate.h \
	pmpi/agree.c pmpi/agree.h \
	pmpi/allgather.c pmpi/allgather.h \
	pmpi/allreduce.c pmpi/allreduce.h \
	pmpi/block.c pmpi/block.h \
	pmpi/blocking.c pmpi/blocking.h \
	pmpi/call.c pmpi/call.h \
	pmpi/choice.c pmpi/choice.h \
	pmpi/completion.c pmpi/completion.h \
	pmpi/collective.c pmpi/collective.h \
	pmpi/context.c pmpi/context.h \
	pmpi/control.c pmpi/control.h \
	pmpi/deferred.h \
	pmpi/device.c pmpi/device.h cuda/plugin.h \
	pmpi/direct.c pmpi/direct.h \
	pmpi/discovery.c pmpi/discovery.h \
	pmpi/driver.c pmpi/driver.h \
	pmpi/entry.c \
	pmpi/entry_blocking.c \
	pmpi/entry_control.c \
	pmpi/entry_relatives.c \
	pmpi/exponent.c pmpi/exponent.h \
	pmpi/fiber.c pmpi/fiber.h \
	pmpi/front.c pmpi/front.h \
	pmpi/fuse.c pmpi/fuse.h \
	pmpi/gather.c pmpi/gather.h \
	pmpi/helper.c pmpi/helper.h \
	pmpi/hierarchical.c pmpi/hierarchical.h \
	pmpi/iallreduce.c pmpi/iallreduce.h \
	pmpi/imports.c pmpi/imports.h \
	pmpi/job.c pmpi/job.h \
	pmpi/keyval.c pmpi/keyval.h \
	pmpi/library.c pmpi/library.h \
	pmpi/master.c pmpi/master.h \
	pmpi/messages.c pmpi/messages.h \
	pmpi/node.c pmpi/node.h \
	pmpi/pcontrol.c pmpi/pcontrol.h \
	pmpi/peers.c pmpi/peers.h \
	pmpi/period.c pmpi/period.h \
	pmpi/persistent.c pmpi/persistent.h \
	pmpi/pipeline.c pmpi/pipeline.h \
	pmpi/pool.c pmpi/pool.h \
	pmpi/queue.c pmpi/queue.h \
	pmpi/reduction.c pmpi/reduction.h \
	pmpi/related.c pmpi/related.h \
	pmpi/relatives.c pmpi/relatives.h \
	pmpi/relay.c pmpi/relay.h \
	pmpi/request.c pmpi/request.h \
	pmpi/ring.c pmpi/ring.h \
	pmpi/rooted.c pmpi/rooted.h \
	pmpi/sample.c pmpi/sample.h \
	pmpi/scatter.c pmpi/scatter.h \
	pmpi/segment.c pmpi/segment.h \
	pmpi/signature.c pmpi/signature.h \
	pmpi/slots.c pmpi/slots.h \
	pmpi/stage.c pmpi/stage.h \
	pmpi/steps.c pmpi/steps.h \
	pmpi/thread.c pmpi/thread.h \
	pmpi/topology.c pmpi/topology.h \
	pmpi/wait.c pmpi/wait.h
if MPI_OPENMPI
libapsmpi_la_SOURCES += pmpi/entry_fortran.c
else
libapsmpi_la_SOURCES += pmpi/entry_f08.c
endif
libapsmpi_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/pmpi $(MPI_CFLAGS) \
	$(HWLOC_CFLAGS)
libapsmpi_la_LIBADD = libpolicy.la libcore.la $(MPI_LIBS) $(HWLOC_LIBS)
libapsmpi_la_LDFLAGS = -module -avoid-version -shared -no-undefined \
	$(LIBYAML_LIBS)
