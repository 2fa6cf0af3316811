/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the prototypes of this room with mpi.h's: this file does not compile
 * where they differ. Nothing in it is executed.
 */
#include "config.h"

#include <stdint.h>

#define APS_ENTRY_MPI_H
#include "entry/arguments.h"
#include "native/next_mpi.h"

#define CHECK(name, parameters)                                                \
    _Static_assert(                                                            \
        __builtin_types_compatible_p(__typeof__(MPI_##name), int parameters),  \
        "mpi.h declares MPI_" #name " otherwise");

/* What the other reading of the types passes in a register must fit. */
#define FITS(type, same)                                                       \
    _Static_assert(sizeof(type) == sizeof(same), #type " is no " #same)
#define FITS_HANDLE(type)                                                      \
    _Static_assert(sizeof(type) <= sizeof(aps_handle), #type " is too large")

FITS(aint_arg, intptr_t);
FITS(count_arg, int64_t);
FITS(offset_arg, int64_t);
FITS_HANDLE(comm_arg);
FITS_HANDLE(type_arg);
FITS_HANDLE(errhandler_arg);
FITS_HANDLE(file_arg);
FITS_HANDLE(group_arg);
FITS_HANDLE(info_arg);
FITS_HANDLE(op_arg);
FITS_HANDLE(request_arg);
FITS_HANDLE(window_arg);

#define PROTOTYPE(name, parameters, next) CHECK(name, parameters)
#include "entry/prototypes.h"

#define BLOCKING(name, parameters, arguments, instead) CHECK(name, parameters)
#define COMPLETION(name, parameters, arguments, count, first, instead)         \
    CHECK(name, parameters)
#define LOOK(name, parameters, arguments) CHECK(name, parameters)
#define COLLECTIVE(name, parameters, arguments) CHECK(name, parameters)
#define WHOLE(name, parameters, arguments) CHECK(name, parameters)
#include "entry/blocking_table.h"
