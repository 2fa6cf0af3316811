/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types of the arguments of MPI's functions, as the tables of this room
 * (blocking_table.h, prototypes.h) name them. There are two readings:
 *
 * - in the functions that replace MPI's, handles are whole registers, and what
 *   a pointer to a handle or a status points to is unknown (native/next_mpi.h
 *   says why);
 * - with APS_ENTRY_MPI_H, in prototypes.c, they are the types of mpi.h, and
 *   every function of the tables is compared with mpi.h's.
 */
#ifndef APS_PMPI_ENTRY_ARGUMENTS_H
#define APS_PMPI_ENTRY_ARGUMENTS_H

#ifdef APS_ENTRY_MPI_H
#include <mpi.h>
#define APS_ENTRY_HANDLE(type) type
#define APS_ENTRY_MEMORY(type) type
#define APS_ENTRY_NUMBER(type, same) type
#else
#include "native/next_mpi.h"
#define APS_ENTRY_HANDLE(type) aps_handle
#define APS_ENTRY_MEMORY(type) void
#define APS_ENTRY_NUMBER(type, same) same
#endif

/* Handles, passed by value. */
typedef APS_ENTRY_HANDLE(MPI_Comm) comm_arg;
typedef APS_ENTRY_HANDLE(MPI_Datatype) type_arg;
typedef APS_ENTRY_HANDLE(MPI_Errhandler) errhandler_arg;
typedef APS_ENTRY_HANDLE(MPI_File) file_arg;
typedef APS_ENTRY_HANDLE(MPI_Group) group_arg;
typedef APS_ENTRY_HANDLE(MPI_Info) info_arg;
typedef APS_ENTRY_HANDLE(MPI_Op) op_arg;
typedef APS_ENTRY_HANDLE(MPI_Request) request_arg;
typedef APS_ENTRY_HANDLE(MPI_Win) window_arg;

/* Handles and statuses in the caller's memory: what a pointer points to. */
typedef APS_ENTRY_MEMORY(MPI_Comm) comm_at;
typedef APS_ENTRY_MEMORY(MPI_Datatype) type_at;
typedef APS_ENTRY_MEMORY(MPI_File) file_at;
typedef APS_ENTRY_MEMORY(MPI_Info) info_at;
typedef APS_ENTRY_MEMORY(MPI_Message) message_at;
typedef APS_ENTRY_MEMORY(MPI_Request) request_at;
typedef APS_ENTRY_MEMORY(MPI_Status) status_at;
typedef APS_ENTRY_MEMORY(MPI_Win) window_at;

#ifdef HAVE_PMPI_SESSION_INIT
typedef APS_ENTRY_MEMORY(MPI_Session) session_at;
#endif

/* Numbers. */
typedef APS_ENTRY_NUMBER(MPI_Aint, intptr_t) aint_arg;
typedef APS_ENTRY_NUMBER(MPI_Count, int64_t) count_arg;
typedef APS_ENTRY_NUMBER(MPI_Offset, int64_t) offset_arg;

#endif
