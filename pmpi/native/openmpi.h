/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predefined handles of Open MPI: they are addresses of its data, as Fortran's
 * MPI_BOTTOM and MPI_IN_PLACE are. A flag of the compiler includes this file in
 * every source of the library, which takes the addresses from the variables
 * that aps_mpi_symbols_find sets.
 */
#ifndef APS_PMPI_NATIVE_OPENMPI_H
#define APS_PMPI_NATIVE_OPENMPI_H

#include "config.h"

#include <mpi.h>

/* clang-format off */
#define APS_OPENMPI_DATA(ROW)                                                  \
    ROW(mpi_fortran_bottom_) ROW(mpi_fortran_in_place_)                        \
    ROW(ompi_message_no_proc) ROW(ompi_mpi_2real) ROW(ompi_mpi_aint)           \
    ROW(ompi_mpi_byte) ROW(ompi_mpi_c_bool) ROW(ompi_mpi_char)                 \
    ROW(ompi_mpi_character) ROW(ompi_mpi_comm_null) ROW(ompi_mpi_comm_self)    \
    ROW(ompi_mpi_comm_world) ROW(ompi_mpi_count) ROW(ompi_mpi_datatype_null)   \
    ROW(ompi_mpi_dblprec) ROW(ompi_mpi_double) ROW(ompi_mpi_errhandler_null)   \
    ROW(ompi_mpi_errors_are_fatal) ROW(ompi_mpi_errors_return)                 \
    ROW(ompi_mpi_float) ROW(ompi_mpi_group_null) ROW(ompi_mpi_info_null)       \
    ROW(ompi_mpi_int) ROW(ompi_mpi_int16_t) ROW(ompi_mpi_int32_t)              \
    ROW(ompi_mpi_int64_t) ROW(ompi_mpi_int8_t) ROW(ompi_mpi_integer)           \
    ROW(ompi_mpi_integer4) ROW(ompi_mpi_integer8) ROW(ompi_mpi_logical)        \
    ROW(ompi_mpi_long) ROW(ompi_mpi_long_long_int) ROW(ompi_mpi_offset)        \
    ROW(ompi_mpi_op_band) ROW(ompi_mpi_op_bor) ROW(ompi_mpi_op_bxor)           \
    ROW(ompi_mpi_op_land) ROW(ompi_mpi_op_lor) ROW(ompi_mpi_op_lxor)           \
    ROW(ompi_mpi_op_max) ROW(ompi_mpi_op_maxloc) ROW(ompi_mpi_op_min)          \
    ROW(ompi_mpi_op_minloc) ROW(ompi_mpi_op_no_op) ROW(ompi_mpi_op_null)       \
    ROW(ompi_mpi_op_prod) ROW(ompi_mpi_op_replace) ROW(ompi_mpi_op_sum)        \
    ROW(ompi_mpi_packed) ROW(ompi_mpi_real) ROW(ompi_mpi_real4)                \
    ROW(ompi_mpi_real8) ROW(ompi_mpi_short) ROW(ompi_mpi_signed_char)          \
    ROW(ompi_mpi_uint16_t) ROW(ompi_mpi_uint32_t) ROW(ompi_mpi_uint64_t)       \
    ROW(ompi_mpi_uint8_t) ROW(ompi_mpi_unsigned) ROW(ompi_mpi_unsigned_char)   \
    ROW(ompi_mpi_unsigned_long) ROW(ompi_mpi_unsigned_long_long)               \
    ROW(ompi_mpi_unsigned_short) ROW(ompi_request_null)
/* clang-format on */

#define APS_DECLARE(name) extern void *aps_to_##name;
APS_OPENMPI_DATA(APS_DECLARE)
#undef APS_DECLARE

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)aps_to_##global)

#endif
