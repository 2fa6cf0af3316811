/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking functions of MPI that the library replaces, each once. The file that
 * includes this table defines the meaning of a row: blocking.c makes a function,
 * f08.c the number of its arguments. A row's columns are the function's name
 * without MPI_, its parameters, and the parameters as arguments. Some kinds of
 * rows have more columns:
 *
 * BLOCKING     the call to make instead while requests are pending
 * COMPLETION   the number of requests that it completes, and the address of the
 *              first; the call to make instead if one of them belongs to the
 *              library
 * LOOK         none: the function does not block
 * COLLECTIVE   none: the function cannot be divided, and blocks on `comm`
 * WHOLE        none: the function cannot be divided, and blocks on an object
 *              other than a communicator, or on some ranks of a communicator
 */

/* clang-format off */

/* --- point to point ------------------------------------------------------ */

#define SEND(name, kind, count_t)                                              \
    BLOCKING(name,                                                             \
             (const void *bytes, count_t count, MPI_Datatype type, int to,         \
              int tag, MPI_Comm comm),                                         \
             (bytes, count, type, to, tag, comm),                              \
             aps_blocking_send(kind, bytes, count, type, to, tag, comm))

#define RECEIVE(name, count_t)                                                 \
    BLOCKING(name,                                                             \
             (void *bytes, count_t count, MPI_Datatype type, int from, int tag,    \
              MPI_Comm comm, MPI_Status *status),                               \
             (bytes, count, type, from, tag, comm, status),                    \
             aps_blocking_receive(bytes, count, type, from, tag, comm, status))

#define EXCHANGE(name, count_t)                                                \
    BLOCKING(name,                                                             \
             (const void *send, count_t send_count, MPI_Datatype send_type,        \
              int to, int send_tag, void *receive, count_t receive_count,      \
              MPI_Datatype receive_type, int from, int receive_tag,                \
              MPI_Comm comm, MPI_Status *status),                               \
             (send, send_count, send_type, to, send_tag, receive,              \
              receive_count, receive_type, from, receive_tag, comm, status),   \
             aps_blocking_exchange(send, send_count, send_type, to, send_tag,  \
                                   receive, receive_count, receive_type, from, \
                                   receive_tag, comm, status))

#define EXCHANGE_IN_PLACE(name, count_t)                                       \
    BLOCKING(name,                                                             \
             (void *bytes, count_t count, MPI_Datatype type, int to, int send_tag, \
              int from, int receive_tag, MPI_Comm comm, MPI_Status *status),    \
             (bytes, count, type, to, send_tag, from, receive_tag, comm,       \
              status),                                                         \
             aps_blocking_exchange_in_place(bytes, count, type, to, send_tag,  \
                                            from, receive_tag, comm, status))

#define MRECV(name, count_t)                                                   \
    BLOCKING(name,                                                             \
             (void *bytes, count_t count, MPI_Datatype type, MPI_Message *message,  \
              MPI_Status *status),                                              \
             (bytes, count, type, message, status),                            \
             aps_blocking_mrecv(bytes, count, type, message, status))

#define POINT_TO_POINT(suffix, count_t)                                        \
    SEND(Send##suffix, APS_SEND, count_t)                                      \
    SEND(Ssend##suffix, APS_SSEND, count_t)                                    \
    SEND(Rsend##suffix, APS_RSEND, count_t)                                    \
    RECEIVE(Recv##suffix, count_t)                                             \
    MRECV(Mrecv##suffix, count_t)                                              \
    EXCHANGE(Sendrecv##suffix, count_t)                                        \
    EXCHANGE_IN_PLACE(Sendrecv_replace##suffix, count_t)

POINT_TO_POINT(, int)
WHOLE(Buffer_detach, (void *bytes, int *size), (bytes, size))
#ifdef HAVE_PMPI_ISEND_C
POINT_TO_POINT(_c, MPI_Count)
WHOLE(Buffer_detach_c, (void *bytes, MPI_Count *size), (bytes, size))
#endif
BLOCKING(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status),
         (from, tag, comm, status), aps_blocking_probe(from, tag, comm, status))
BLOCKING(Mprobe,
         (int from, int tag, MPI_Comm comm, MPI_Message *message,
          MPI_Status *status),
         (from, tag, comm, message, status),
         aps_blocking_mprobe(from, tag, comm, message, status))

/* --- completion ---------------------------------------------------------- */

COMPLETION(Wait, (MPI_Request *request, MPI_Status *status), (request, status),
           1, request, aps_completion_wait(request, status))
COMPLETION(Waitall, (int count, MPI_Request *requests, MPI_Status *statuses),
           (count, requests, statuses), count, requests,
           aps_completion_waitall(count, requests, statuses))
COMPLETION(Waitany,
           (int count, MPI_Request *requests, int *index, MPI_Status *status),
           (count, requests, index, status), count, requests,
           aps_completion_waitany(count, requests, index, status))
COMPLETION(Waitsome,
           (int count, MPI_Request *requests, int *done, int *indices,
            MPI_Status *statuses),
           (count, requests, done, indices, statuses), count, requests,
           aps_completion_waitsome(count, requests, done, indices, statuses))
COMPLETION(Test, (MPI_Request *request, int *done, MPI_Status *status),
           (request, done, status), 1, request,
           aps_completion_test(request, done, status))
COMPLETION(Testall,
           (int count, MPI_Request *requests, int *done, MPI_Status *statuses),
           (count, requests, done, statuses), count, requests,
           aps_completion_testall(count, requests, done, statuses))
COMPLETION(Testany,
           (int count, MPI_Request *requests, int *index, int *done,
            MPI_Status *status),
           (count, requests, index, done, status), count, requests,
           aps_completion_testany(count, requests, index, done, status))
COMPLETION(Testsome,
           (int count, MPI_Request *requests, int *done, int *indices,
            MPI_Status *statuses),
           (count, requests, done, indices, statuses), count, requests,
           aps_completion_testsome(count, requests, done, indices, statuses))
COMPLETION(Request_get_status,
           (MPI_Request request, int *done, MPI_Status *status),
           (request, done, status), 1, &request,
           aps_completion_get_status(request, done, status))
LOOK(Iprobe,
     (int from, int tag, MPI_Comm comm, int *found, MPI_Status *status),
     (from, tag, comm, found, status))
LOOK(Improbe,
     (int from, int tag, MPI_Comm comm, int *found, MPI_Message *message,
      MPI_Status *status),
     (from, tag, comm, found, message, status))
#ifdef HAVE_PMPI_ISEND_C
LOOK(Parrived, (MPI_Request request, int partition, int *arrived),
     (request, partition, arrived))
#endif

/* --- collective ---------------------------------------------------------- */

COLLECTIVE(Barrier, (MPI_Comm comm), (comm))

#define ROOTED(name, count_t)                                                  \
    COLLECTIVE(name,                                                           \
               (const void *send, count_t send_count, MPI_Datatype send_type,      \
                void *receive, count_t receive_count, MPI_Datatype receive_type,   \
                int root, MPI_Comm comm),                                      \
               (send, send_count, send_type, receive, receive_count,           \
                receive_type, root, comm))
#define GATHERV(name, count_t, place_t)                                        \
    COLLECTIVE(name,                                                           \
               (const void *send, count_t send_count, MPI_Datatype send_type,      \
                void *receive, const count_t *counts, const place_t *places,   \
                MPI_Datatype receive_type, int root, MPI_Comm comm),               \
               (send, send_count, send_type, receive, counts, places,          \
                receive_type, root, comm))
#define SCATTERV(name, count_t, place_t)                                       \
    COLLECTIVE(name,                                                           \
               (const void *send, const count_t *counts,                       \
                const place_t *places, MPI_Datatype send_type, void *receive,      \
                count_t receive_count, MPI_Datatype receive_type, int root,        \
                MPI_Comm comm),                                                \
               (send, counts, places, send_type, receive, receive_count,       \
                receive_type, root, comm))
#define ALL(name, count_t)                                                     \
    COLLECTIVE(name,                                                           \
               (const void *send, count_t send_count, MPI_Datatype send_type,      \
                void *receive, count_t receive_count, MPI_Datatype receive_type,   \
                MPI_Comm comm),                                                \
               (send, send_count, send_type, receive, receive_count,           \
                receive_type, comm))
#define ALLGATHERV(name, count_t, place_t)                                     \
    COLLECTIVE(name,                                                           \
               (const void *send, count_t send_count, MPI_Datatype send_type,      \
                void *receive, const count_t *counts, const place_t *places,   \
                MPI_Datatype receive_type, MPI_Comm comm),                         \
               (send, send_count, send_type, receive, counts, places,          \
                receive_type, comm))
#define ALLTOALLV(name, count_t, place_t, types_t)                             \
    COLLECTIVE(name,                                                           \
               (const void *send, const count_t *send_counts,                  \
                const place_t *send_places, types_t send_type, void *receive,  \
                const count_t *receive_counts, const place_t *receive_places,  \
                types_t receive_type, MPI_Comm comm),                          \
               (send, send_counts, send_places, send_type, receive,            \
                receive_counts, receive_places, receive_type, comm))
#define SCAN(name, count_t)                                                    \
    COLLECTIVE(name,                                                           \
               (const void *send, void *receive, count_t count, MPI_Datatype type, \
                MPI_Op op, MPI_Comm comm),                                     \
               (send, receive, count, type, op, comm))
#define EACH(suffix, count_t, place_t)                                         \
    ROOTED(Gather##suffix, count_t)                                            \
    ROOTED(Scatter##suffix, count_t)                                           \
    GATHERV(Gatherv##suffix, count_t, place_t)                                 \
    SCATTERV(Scatterv##suffix, count_t, place_t)                               \
    ALLGATHERV(Allgatherv##suffix, count_t, place_t)                           \
    ALL(Alltoall##suffix, count_t)                                             \
    ALLTOALLV(Alltoallv##suffix, count_t, place_t, MPI_Datatype)                   \
    ALLTOALLV(Alltoallw##suffix, count_t, place_t, const MPI_Datatype *)            \
    SCAN(Scan##suffix, count_t)                                                \
    SCAN(Exscan##suffix, count_t)                                              \
    ALL(Neighbor_allgather##suffix, count_t)                                   \
    ALLGATHERV(Neighbor_allgatherv##suffix, count_t, place_t)                  \
    ALL(Neighbor_alltoall##suffix, count_t)                                    \
    ALLTOALLV(Neighbor_alltoallv##suffix, count_t, place_t, MPI_Datatype)          \
    ALLTOALLV(Neighbor_alltoallw##suffix, count_t, MPI_Aint, const MPI_Datatype *)

EACH(, int, int)
#ifdef HAVE_PMPI_ALLREDUCE_C
EACH(_c, MPI_Count, MPI_Aint)
#endif

/* --- communicators ------------------------------------------------------- */

COLLECTIVE(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
COLLECTIVE(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made),
           (comm, info, made))
COLLECTIVE(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made),
           (comm, group, made))
COLLECTIVE(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made),
           (comm, color, key, made))
COLLECTIVE(Comm_split_type,
           (MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *made),
           (comm, kind, key, info, made))
COLLECTIVE(Cart_create,
           (MPI_Comm comm, int dimensions, const int *extent,
            const int *periodic, int reorder, MPI_Comm *made),
           (comm, dimensions, extent, periodic, reorder, made))
COLLECTIVE(Cart_sub, (MPI_Comm comm, const int *kept, MPI_Comm *made),
           (comm, kept, made))
COLLECTIVE(Graph_create,
           (MPI_Comm comm, int nodes, const int *index, const int *edges,
            int reorder, MPI_Comm *made),
           (comm, nodes, index, edges, reorder, made))
COLLECTIVE(Dist_graph_create_adjacent,
           (MPI_Comm comm, int in, const int *from, const int *in_weights,
            int out, const int *to, const int *out_weights, MPI_Info info,
            int reorder, MPI_Comm *made),
           (comm, in, from, in_weights, out, to, out_weights, info, reorder,
            made))
COLLECTIVE(Dist_graph_create,
           (MPI_Comm comm, int nodes, const int *from, const int *degrees,
            const int *to, const int *weights, MPI_Info info, int reorder,
            MPI_Comm *made),
           (comm, nodes, from, degrees, to, weights, info, reorder, made))
/* Blocks on the group alone: other ranks of `comm` may do something else. */
WHOLE(Comm_create_group,
      (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
      (comm, group, tag, made))
COLLECTIVE(Intercomm_create,
           (MPI_Comm comm, int leader, MPI_Comm peers, int other, int tag,
            MPI_Comm *made),
           (comm, leader, peers, other, tag, made))
COLLECTIVE(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made),
           (comm, high, made))
WHOLE(Comm_disconnect, (MPI_Comm *comm), (comm))
COLLECTIVE(Comm_spawn,
           (const char *command, char **arguments, int most, MPI_Info info,
            int root, MPI_Comm comm, MPI_Comm *made, int *codes),
           (command, arguments, most, info, root, comm, made, codes))
COLLECTIVE(Comm_spawn_multiple,
           (int count, char **commands, char ***arguments, const int *most,
            const MPI_Info *infos, int root, MPI_Comm comm, MPI_Comm *made,
            int *codes),
           (count, commands, arguments, most, infos, root, comm, made, codes))
COLLECTIVE(Comm_accept,
           (const char *port, MPI_Info info, int root, MPI_Comm comm,
            MPI_Comm *made),
           (port, info, root, comm, made))
COLLECTIVE(Comm_connect,
           (const char *port, MPI_Info info, int root, MPI_Comm comm,
            MPI_Comm *made),
           (port, info, root, comm, made))
WHOLE(Comm_join, (int socket, MPI_Comm *made), (socket, made))
#ifdef HAVE_PMPI_COMM_CREATE_FROM_GROUP
WHOLE(Comm_create_from_group,
      (MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler handler,
       MPI_Comm *made),
      (group, tag, info, handler, made))
WHOLE(Intercomm_create_from_groups,
      (MPI_Group group, int leader, MPI_Group others, int other,
       const char *tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *made),
      (group, leader, others, other, tag, info, handler, made))
#endif

/* --- windows ------------------------------------------------------------- */

#define WINDOW(suffix, unit_t)                                                 \
    COLLECTIVE(Win_create##suffix,                                             \
               (void *base, MPI_Aint size, unit_t unit, MPI_Info info,         \
                MPI_Comm comm, MPI_Win *made),                               \
               (base, size, unit, info, comm, made))                           \
    COLLECTIVE(Win_allocate##suffix,                                           \
               (MPI_Aint size, unit_t unit, MPI_Info info, MPI_Comm comm,      \
                void *base, MPI_Win *made),                                  \
               (size, unit, info, comm, base, made))                           \
    COLLECTIVE(Win_allocate_shared##suffix,                                    \
               (MPI_Aint size, unit_t unit, MPI_Info info, MPI_Comm comm,      \
                void *base, MPI_Win *made),                                  \
               (size, unit, info, comm, base, made))
WINDOW(, int)
#ifdef HAVE_PMPI_ALLREDUCE_C
WINDOW(_c, MPI_Aint)
#endif
COLLECTIVE(Win_create_dynamic,
           (MPI_Info info, MPI_Comm comm, MPI_Win *made), (info, comm, made))
WHOLE(Win_fence, (int assert, MPI_Win window), (assert, window))
WHOLE(Win_free, (MPI_Win *window), (window))
WHOLE(Win_set_info, (MPI_Win window, MPI_Info info), (window, info))
LOOK(Win_test, (MPI_Win window, int *done), (window, done))
WHOLE(Win_start, (MPI_Group group, int assert, MPI_Win window),
      (group, assert, window))
WHOLE(Win_complete, (MPI_Win window), (window))
WHOLE(Win_wait, (MPI_Win window), (window))
WHOLE(Win_lock, (int kind, int rank, int assert, MPI_Win window),
      (kind, rank, assert, window))
WHOLE(Win_lock_all, (int assert, MPI_Win window), (assert, window))

/* --- files --------------------------------------------------------------- */

COLLECTIVE(File_open,
           (MPI_Comm comm, const char *name, int mode, MPI_Info info,
            MPI_File *file),
           (comm, name, mode, info, file))
WHOLE(File_close, (MPI_File *file), (file))
WHOLE(File_set_size, (MPI_File file, MPI_Offset size), (file, size))
WHOLE(File_preallocate, (MPI_File file, MPI_Offset size), (file, size))
WHOLE(File_set_info, (MPI_File file, MPI_Info info), (file, info))
WHOLE(File_set_atomicity, (MPI_File file, int atomic), (file, atomic))
WHOLE(File_seek_shared, (MPI_File file, MPI_Offset to, int whence),
      (file, to, whence))
WHOLE(File_sync, (MPI_File file), (file))
WHOLE(File_set_view,
      (MPI_File file, MPI_Offset from, MPI_Datatype element, MPI_Datatype type,
       const char *representation, MPI_Info info),
      (file, from, element, type, representation, info))
#define TRANSFER(name, bytes_t, count_t)                                       \
    WHOLE(name,                                                                \
          (MPI_File file, bytes_t *bytes, count_t count, MPI_Datatype type,        \
           MPI_Status *status),                                                 \
          (file, bytes, count, type, status))
#define TRANSFER_AT(name, bytes_t, count_t)                                    \
    WHOLE(name,                                                                \
          (MPI_File file, MPI_Offset at, bytes_t *bytes, count_t count,        \
           MPI_Datatype type, MPI_Status *status),                                  \
          (file, at, bytes, count, type, status))
#define BEGIN(name, bytes_t, count_t)                                          \
    WHOLE(name, (MPI_File file, bytes_t *bytes, count_t count, MPI_Datatype type), \
          (file, bytes, count, type))
#define BEGIN_AT(name, bytes_t, count_t)                                       \
    WHOLE(name,                                                                \
          (MPI_File file, MPI_Offset at, bytes_t *bytes, count_t count,        \
           MPI_Datatype type),                                                     \
          (file, at, bytes, count, type))
#define TRANSFERS(suffix, count_t)                                             \
    BEGIN(File_read_all_begin##suffix, void, count_t)                          \
    BEGIN(File_write_all_begin##suffix, const void, count_t)                   \
    BEGIN(File_read_ordered_begin##suffix, void, count_t)                      \
    BEGIN(File_write_ordered_begin##suffix, const void, count_t)               \
    BEGIN_AT(File_read_at_all_begin##suffix, void, count_t)                    \
    BEGIN_AT(File_write_at_all_begin##suffix, const void, count_t)             \
    TRANSFER(File_read_all##suffix, void, count_t)                             \
    TRANSFER(File_write_all##suffix, const void, count_t)                      \
    TRANSFER(File_read_ordered##suffix, void, count_t)                         \
    TRANSFER(File_write_ordered##suffix, const void, count_t)                  \
    TRANSFER_AT(File_read_at_all##suffix, void, count_t)                       \
    TRANSFER_AT(File_write_at_all##suffix, const void, count_t)
TRANSFERS(, int)
#ifdef HAVE_PMPI_ALLREDUCE_C
TRANSFERS(_c, MPI_Count)
#endif
#define TRANSFER_END(name, bytes_t)                                            \
    WHOLE(name, (MPI_File file, bytes_t *bytes, MPI_Status *status),            \
          (file, bytes, status))
TRANSFER_END(File_read_all_end, void)
TRANSFER_END(File_write_all_end, const void)
TRANSFER_END(File_read_at_all_end, void)
TRANSFER_END(File_write_at_all_end, const void)
TRANSFER_END(File_read_ordered_end, void)
TRANSFER_END(File_write_ordered_end, const void)

/* clang-format on */
