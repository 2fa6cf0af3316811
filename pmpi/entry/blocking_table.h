/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocking functions of MPI that the library replaces, each once. The file
 * that includes this table says what a row becomes: blocking.c a function,
 * prototypes.c a comparison with mpi.h. A row's columns are the function's name
 * without MPI_, its parameters (arguments.h) and the same as arguments, and:
 *
 * BLOCKING     what is called instead while requests are pending
 * COMPLETION   how many requests it completes, from which address on; what is
 *              called instead where one of them is the library's
 * LOOK         nothing: it does not block
 * COLLECTIVE   nothing: it cannot be taken apart, and blocks on `comm`
 * WHOLE        nothing: it cannot be taken apart, and blocks on something else
 *              than a communicator, or on some of its ranks
 */

/* clang-format off */

/* --- point to point ------------------------------------------------------ */

#define SEND(name, kind, count_t)                                              \
    BLOCKING(name,                                                             \
             (const void *bytes, count_t count, type_arg type, int to,         \
              int tag, comm_arg comm),                                         \
             (bytes, count, type, to, tag, comm),                              \
             aps_blocking_send(kind, bytes, count, type, to, tag, comm))

#define RECEIVE(name, count_t)                                                 \
    BLOCKING(name,                                                             \
             (void *bytes, count_t count, type_arg type, int from, int tag,    \
              comm_arg comm, status_at *status),                               \
             (bytes, count, type, from, tag, comm, status),                    \
             aps_blocking_receive(bytes, count, type, from, tag, comm, status))

#define EXCHANGE(name, count_t)                                                \
    BLOCKING(name,                                                             \
             (const void *send, count_t send_count, type_arg send_type,        \
              int to, int send_tag, void *receive, count_t receive_count,      \
              type_arg receive_type, int from, int receive_tag,                \
              comm_arg comm, status_at *status),                               \
             (send, send_count, send_type, to, send_tag, receive,              \
              receive_count, receive_type, from, receive_tag, comm, status),   \
             aps_blocking_exchange(send, send_count, send_type, to, send_tag,  \
                                   receive, receive_count, receive_type, from, \
                                   receive_tag, comm, status))

#define EXCHANGE_IN_PLACE(name, count_t)                                       \
    BLOCKING(name,                                                             \
             (void *bytes, count_t count, type_arg type, int to, int send_tag, \
              int from, int receive_tag, comm_arg comm, status_at *status),    \
             (bytes, count, type, to, send_tag, from, receive_tag, comm,       \
              status),                                                         \
             aps_blocking_exchange_in_place(bytes, count, type, to, send_tag,  \
                                            from, receive_tag, comm, status))

#define MRECV(name, count_t)                                                   \
    BLOCKING(name,                                                             \
             (void *bytes, count_t count, type_arg type, message_at *message,  \
              status_at *status),                                              \
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
POINT_TO_POINT(_c, count_arg)
WHOLE(Buffer_detach_c, (void *bytes, count_arg *size), (bytes, size))
#endif
BLOCKING(Probe, (int from, int tag, comm_arg comm, status_at *status),
         (from, tag, comm, status), aps_blocking_probe(from, tag, comm, status))
BLOCKING(Mprobe,
         (int from, int tag, comm_arg comm, message_at *message,
          status_at *status),
         (from, tag, comm, message, status),
         aps_blocking_mprobe(from, tag, comm, message, status))

/* --- completion ---------------------------------------------------------- */

COMPLETION(Wait, (request_at *request, status_at *status), (request, status),
           1, request, aps_completion_wait(request, status))
COMPLETION(Waitall, (int count, request_at *requests, status_at *statuses),
           (count, requests, statuses), count, requests,
           aps_completion_waitall(count, requests, statuses))
COMPLETION(Waitany,
           (int count, request_at *requests, int *index, status_at *status),
           (count, requests, index, status), count, requests,
           aps_completion_waitany(count, requests, index, status))
COMPLETION(Waitsome,
           (int count, request_at *requests, int *done, int *indices,
            status_at *statuses),
           (count, requests, done, indices, statuses), count, requests,
           aps_completion_waitsome(count, requests, done, indices, statuses))
COMPLETION(Test, (request_at *request, int *done, status_at *status),
           (request, done, status), 1, request,
           aps_completion_test(request, done, status))
COMPLETION(Testall,
           (int count, request_at *requests, int *done, status_at *statuses),
           (count, requests, done, statuses), count, requests,
           aps_completion_testall(count, requests, done, statuses))
COMPLETION(Testany,
           (int count, request_at *requests, int *index, int *done,
            status_at *status),
           (count, requests, index, done, status), count, requests,
           aps_completion_testany(count, requests, index, done, status))
COMPLETION(Testsome,
           (int count, request_at *requests, int *done, int *indices,
            status_at *statuses),
           (count, requests, done, indices, statuses), count, requests,
           aps_completion_testsome(count, requests, done, indices, statuses))
COMPLETION(Request_get_status,
           (request_arg request, int *done, status_at *status),
           (request, done, status), 1, &request,
           aps_completion_get_status(request, done, status))
LOOK(Iprobe,
     (int from, int tag, comm_arg comm, int *found, status_at *status),
     (from, tag, comm, found, status))
LOOK(Improbe,
     (int from, int tag, comm_arg comm, int *found, message_at *message,
      status_at *status),
     (from, tag, comm, found, message, status))
#ifdef HAVE_PMPI_ISEND_C
LOOK(Parrived, (request_arg request, int partition, int *arrived),
     (request, partition, arrived))
#endif

/* --- collective ---------------------------------------------------------- */

COLLECTIVE(Barrier, (comm_arg comm), (comm))

#define ROOTED(name, count_t)                                                  \
    COLLECTIVE(name,                                                           \
               (const void *send, count_t send_count, type_arg send_type,      \
                void *receive, count_t receive_count, type_arg receive_type,   \
                int root, comm_arg comm),                                      \
               (send, send_count, send_type, receive, receive_count,           \
                receive_type, root, comm))
#define GATHERV(name, count_t, place_t)                                        \
    COLLECTIVE(name,                                                           \
               (const void *send, count_t send_count, type_arg send_type,      \
                void *receive, const count_t *counts, const place_t *places,   \
                type_arg receive_type, int root, comm_arg comm),               \
               (send, send_count, send_type, receive, counts, places,          \
                receive_type, root, comm))
#define SCATTERV(name, count_t, place_t)                                       \
    COLLECTIVE(name,                                                           \
               (const void *send, const count_t *counts,                       \
                const place_t *places, type_arg send_type, void *receive,      \
                count_t receive_count, type_arg receive_type, int root,        \
                comm_arg comm),                                                \
               (send, counts, places, send_type, receive, receive_count,       \
                receive_type, root, comm))
#define ALL(name, count_t)                                                     \
    COLLECTIVE(name,                                                           \
               (const void *send, count_t send_count, type_arg send_type,      \
                void *receive, count_t receive_count, type_arg receive_type,   \
                comm_arg comm),                                                \
               (send, send_count, send_type, receive, receive_count,           \
                receive_type, comm))
#define ALLGATHERV(name, count_t, place_t)                                     \
    COLLECTIVE(name,                                                           \
               (const void *send, count_t send_count, type_arg send_type,      \
                void *receive, const count_t *counts, const place_t *places,   \
                type_arg receive_type, comm_arg comm),                         \
               (send, send_count, send_type, receive, counts, places,          \
                receive_type, comm))
#define ALLTOALLV(name, count_t, place_t, types_t)                             \
    COLLECTIVE(name,                                                           \
               (const void *send, const count_t *send_counts,                  \
                const place_t *send_places, types_t send_type, void *receive,  \
                const count_t *receive_counts, const place_t *receive_places,  \
                types_t receive_type, comm_arg comm),                          \
               (send, send_counts, send_places, send_type, receive,            \
                receive_counts, receive_places, receive_type, comm))
#define SCAN(name, count_t)                                                    \
    COLLECTIVE(name,                                                           \
               (const void *send, void *receive, count_t count, type_arg type, \
                op_arg op, comm_arg comm),                                     \
               (send, receive, count, type, op, comm))
#define EACH(suffix, count_t, place_t)                                         \
    ROOTED(Gather##suffix, count_t)                                            \
    ROOTED(Scatter##suffix, count_t)                                           \
    GATHERV(Gatherv##suffix, count_t, place_t)                                 \
    SCATTERV(Scatterv##suffix, count_t, place_t)                               \
    ALLGATHERV(Allgatherv##suffix, count_t, place_t)                           \
    ALL(Alltoall##suffix, count_t)                                             \
    ALLTOALLV(Alltoallv##suffix, count_t, place_t, type_arg)                   \
    ALLTOALLV(Alltoallw##suffix, count_t, place_t, const type_at *)            \
    SCAN(Scan##suffix, count_t)                                                \
    SCAN(Exscan##suffix, count_t)                                              \
    ALL(Neighbor_allgather##suffix, count_t)                                   \
    ALLGATHERV(Neighbor_allgatherv##suffix, count_t, place_t)                  \
    ALL(Neighbor_alltoall##suffix, count_t)                                    \
    ALLTOALLV(Neighbor_alltoallv##suffix, count_t, place_t, type_arg)          \
    ALLTOALLV(Neighbor_alltoallw##suffix, count_t, aint_arg, const type_at *)

EACH(, int, int)
#ifdef HAVE_PMPI_ALLREDUCE_C
EACH(_c, count_arg, aint_arg)
#endif

/* --- communicators ------------------------------------------------------- */

COLLECTIVE(Comm_dup, (comm_arg comm, comm_at *made), (comm, made))
COLLECTIVE(Comm_dup_with_info, (comm_arg comm, info_arg info, comm_at *made),
           (comm, info, made))
COLLECTIVE(Comm_create, (comm_arg comm, group_arg group, comm_at *made),
           (comm, group, made))
COLLECTIVE(Comm_split, (comm_arg comm, int color, int key, comm_at *made),
           (comm, color, key, made))
COLLECTIVE(Comm_split_type,
           (comm_arg comm, int kind, int key, info_arg info, comm_at *made),
           (comm, kind, key, info, made))
COLLECTIVE(Cart_create,
           (comm_arg comm, int dimensions, const int *extent,
            const int *periodic, int reorder, comm_at *made),
           (comm, dimensions, extent, periodic, reorder, made))
COLLECTIVE(Cart_sub, (comm_arg comm, const int *kept, comm_at *made),
           (comm, kept, made))
COLLECTIVE(Graph_create,
           (comm_arg comm, int nodes, const int *index, const int *edges,
            int reorder, comm_at *made),
           (comm, nodes, index, edges, reorder, made))
COLLECTIVE(Dist_graph_create_adjacent,
           (comm_arg comm, int in, const int *from, const int *in_weights,
            int out, const int *to, const int *out_weights, info_arg info,
            int reorder, comm_at *made),
           (comm, in, from, in_weights, out, to, out_weights, info, reorder,
            made))
COLLECTIVE(Dist_graph_create,
           (comm_arg comm, int nodes, const int *from, const int *degrees,
            const int *to, const int *weights, info_arg info, int reorder,
            comm_at *made),
           (comm, nodes, from, degrees, to, weights, info, reorder, made))
/* Of the group alone: others of `comm` may do something else. */
WHOLE(Comm_create_group,
      (comm_arg comm, group_arg group, int tag, comm_at *made),
      (comm, group, tag, made))
COLLECTIVE(Intercomm_create,
           (comm_arg comm, int leader, comm_arg peers, int other, int tag,
            comm_at *made),
           (comm, leader, peers, other, tag, made))
COLLECTIVE(Intercomm_merge, (comm_arg comm, int high, comm_at *made),
           (comm, high, made))
WHOLE(Comm_disconnect, (comm_at *comm), (comm))
COLLECTIVE(Comm_spawn,
           (const char *command, char **arguments, int most, info_arg info,
            int root, comm_arg comm, comm_at *made, int *codes),
           (command, arguments, most, info, root, comm, made, codes))
COLLECTIVE(Comm_spawn_multiple,
           (int count, char **commands, char ***arguments, const int *most,
            const info_at *infos, int root, comm_arg comm, comm_at *made,
            int *codes),
           (count, commands, arguments, most, infos, root, comm, made, codes))
COLLECTIVE(Comm_accept,
           (const char *port, info_arg info, int root, comm_arg comm,
            comm_at *made),
           (port, info, root, comm, made))
COLLECTIVE(Comm_connect,
           (const char *port, info_arg info, int root, comm_arg comm,
            comm_at *made),
           (port, info, root, comm, made))
WHOLE(Comm_join, (int socket, comm_at *made), (socket, made))
#ifdef HAVE_PMPI_COMM_CREATE_FROM_GROUP
WHOLE(Comm_create_from_group,
      (group_arg group, const char *tag, info_arg info, errhandler_arg handler,
       comm_at *made),
      (group, tag, info, handler, made))
WHOLE(Intercomm_create_from_groups,
      (group_arg group, int leader, group_arg others, int other,
       const char *tag, info_arg info, errhandler_arg handler, comm_at *made),
      (group, leader, others, other, tag, info, handler, made))
#endif

/* --- windows ------------------------------------------------------------- */

#define WINDOW(suffix, unit_t)                                                 \
    COLLECTIVE(Win_create##suffix,                                             \
               (void *base, aint_arg size, unit_t unit, info_arg info,         \
                comm_arg comm, window_at *made),                               \
               (base, size, unit, info, comm, made))                           \
    COLLECTIVE(Win_allocate##suffix,                                           \
               (aint_arg size, unit_t unit, info_arg info, comm_arg comm,      \
                void *base, window_at *made),                                  \
               (size, unit, info, comm, base, made))                           \
    COLLECTIVE(Win_allocate_shared##suffix,                                    \
               (aint_arg size, unit_t unit, info_arg info, comm_arg comm,      \
                void *base, window_at *made),                                  \
               (size, unit, info, comm, base, made))
WINDOW(, int)
#ifdef HAVE_PMPI_ALLREDUCE_C
WINDOW(_c, aint_arg)
#endif
COLLECTIVE(Win_create_dynamic,
           (info_arg info, comm_arg comm, window_at *made), (info, comm, made))
WHOLE(Win_fence, (int assert, window_arg window), (assert, window))
WHOLE(Win_free, (window_at *window), (window))
WHOLE(Win_set_info, (window_arg window, info_arg info), (window, info))
LOOK(Win_test, (window_arg window, int *done), (window, done))
WHOLE(Win_start, (group_arg group, int assert, window_arg window),
      (group, assert, window))
WHOLE(Win_complete, (window_arg window), (window))
WHOLE(Win_wait, (window_arg window), (window))
WHOLE(Win_lock, (int kind, int rank, int assert, window_arg window),
      (kind, rank, assert, window))
WHOLE(Win_lock_all, (int assert, window_arg window), (assert, window))

/* --- files --------------------------------------------------------------- */

COLLECTIVE(File_open,
           (comm_arg comm, const char *name, int mode, info_arg info,
            file_at *file),
           (comm, name, mode, info, file))
WHOLE(File_close, (file_at *file), (file))
WHOLE(File_set_size, (file_arg file, offset_arg size), (file, size))
WHOLE(File_preallocate, (file_arg file, offset_arg size), (file, size))
WHOLE(File_set_info, (file_arg file, info_arg info), (file, info))
WHOLE(File_set_atomicity, (file_arg file, int atomic), (file, atomic))
WHOLE(File_seek_shared, (file_arg file, offset_arg to, int whence),
      (file, to, whence))
WHOLE(File_sync, (file_arg file), (file))
WHOLE(File_set_view,
      (file_arg file, offset_arg from, type_arg element, type_arg type,
       const char *representation, info_arg info),
      (file, from, element, type, representation, info))
#define TRANSFER(name, bytes_t, count_t)                                       \
    WHOLE(name,                                                                \
          (file_arg file, bytes_t *bytes, count_t count, type_arg type,        \
           status_at *status),                                                 \
          (file, bytes, count, type, status))
#define TRANSFER_AT(name, bytes_t, count_t)                                    \
    WHOLE(name,                                                                \
          (file_arg file, offset_arg at, bytes_t *bytes, count_t count,        \
           type_arg type, status_at *status),                                  \
          (file, at, bytes, count, type, status))
#define BEGIN(name, bytes_t, count_t)                                          \
    WHOLE(name, (file_arg file, bytes_t *bytes, count_t count, type_arg type), \
          (file, bytes, count, type))
#define BEGIN_AT(name, bytes_t, count_t)                                       \
    WHOLE(name,                                                                \
          (file_arg file, offset_arg at, bytes_t *bytes, count_t count,        \
           type_arg type),                                                     \
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
TRANSFERS(_c, count_arg)
#endif
#define TRANSFER_END(name, bytes_t)                                            \
    WHOLE(name, (file_arg file, bytes_t *bytes, status_at *status),            \
          (file, bytes, status))
TRANSFER_END(File_read_all_end, void)
TRANSFER_END(File_write_all_end, const void)
TRANSFER_END(File_read_at_all_end, void)
TRANSFER_END(File_write_at_all_end, const void)
TRANSFER_END(File_read_ordered_end, void)
TRANSFER_END(File_write_ordered_end, const void)

/* clang-format on */
