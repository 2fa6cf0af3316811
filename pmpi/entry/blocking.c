/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that replace MPI's blocking ones: blocking.h says why. As in
 * entry.c handles are registers, and an MPI that we do not know never has
 * anything under way, so that its calls go on untouched.
 */
#include "config.h"

#include <stdatomic.h>

#include "call/blocking.h"
#include "call/completion.h"
#include "progress/queue.h"
#include "device/bounce.h"

#define EXPORT __attribute__((visibility("default")))

/* MPI's function `name`, as `function`. */
#define NEXT(name, types)                                                      \
    static void *_Atomic next;                                                 \
    int(*function) types;                                                      \
    aps_next_mpi_function(&next, "MPI_" #name, &function)

/* What follows is MPI_<name>: `instead` is called while something is driven by
 * the program's calls. */
#define BLOCKING(name, types, parameters, arguments, instead)                  \
    EXPORT int MPI_##name types;                                               \
    int MPI_##name parameters                                                  \
    {                                                                          \
        if (aps_queue_pending())                                               \
            return instead;                                                    \
        NEXT(name, types);                                                     \
        return function arguments;                                             \
    }

/* Likewise a completion call, for `count` requests from `first` on. */
#define COMPLETION(name, types, parameters, arguments, count, first, instead)  \
    EXPORT int MPI_##name types;                                               \
    int MPI_##name parameters                                                  \
    {                                                                          \
        aps_queue_drive();                                                     \
        if (aps_completion_is_ours(count, first))                              \
            return instead;                                                    \
        NEXT(name, types);                                                     \
        return function arguments;                                             \
    }

/* Likewise one that only looks. */
#define LOOK(name, types, parameters, arguments)                               \
    EXPORT int MPI_##name types;                                               \
    int MPI_##name parameters                                                  \
    {                                                                          \
        aps_queue_drive();                                                     \
        NEXT(name, types);                                                     \
        return function arguments;                                             \
    }

/* MPI_<name> as the function `as`: it cannot be taken apart, and blocks on a
 * communicator or on something else (0). */
#define PASS_WHOLE(as, name, types, parameters, arguments, on)                 \
    int as parameters                                                          \
    {                                                                          \
        NEXT(name, types);                                                     \
        const bool helped = aps_blocking_enter(on);                            \
        const int rc = function arguments;                                     \
        aps_blocking_leave(helped);                                            \
        return rc;                                                             \
    }
#define WHOLE(name, types, parameters, arguments, on)                          \
    EXPORT int MPI_##name types;                                               \
    PASS_WHOLE(MPI_##name, name, types, parameters, arguments, on)
#define COLLECTIVE(name, types, parameters, arguments)                         \
    WHOLE(name, types, parameters, arguments, comm)

/* --- point to point ------------------------------------------------------ */

#define SEND(name, kind, count_t)                                              \
    BLOCKING(name, (const void *, count_t, aps_handle, int, int, aps_handle),  \
             (const void *bytes, count_t count, aps_handle type, int to,       \
              int tag, aps_handle comm),                                       \
             (bytes, count, type, to, tag, comm),                              \
             aps_blocking_send(kind, bytes, count, type, to, tag, comm))

#define RECEIVE(name, count_t)                                                 \
    BLOCKING(                                                                  \
        name, (void *, count_t, aps_handle, int, int, aps_handle, void *),     \
        (void *bytes, count_t count, aps_handle type, int from, int tag,       \
         aps_handle comm, void *status),                                       \
        (bytes, count, type, from, tag, comm, status),                         \
        aps_blocking_receive(bytes, count, type, from, tag, comm, status))

#define EXCHANGE(name, count_t)                                                \
    BLOCKING(name,                                                             \
             (const void *, count_t, aps_handle, int, int, void *, count_t,    \
              aps_handle, int, int, aps_handle, void *),                       \
             (const void *send, count_t send_count, aps_handle send_type,      \
              int to, int send_tag, void *receive, count_t receive_count,      \
              aps_handle receive_type, int from, int receive_tag,              \
              aps_handle comm, void *status),                                  \
             (send, send_count, send_type, to, send_tag, receive,              \
              receive_count, receive_type, from, receive_tag, comm, status),   \
             aps_blocking_exchange(send, send_count, send_type, to, send_tag,  \
                                   receive, receive_count, receive_type, from, \
                                   receive_tag, comm, status))

#define EXCHANGE_IN_PLACE(name, count_t)                                       \
    BLOCKING(                                                                  \
        name,                                                                  \
        (void *, count_t, aps_handle, int, int, int, int, aps_handle, void *), \
        (void *bytes, count_t count, aps_handle type, int to, int send_tag,    \
         int from, int receive_tag, aps_handle comm, void *status),            \
        (bytes, count, type, to, send_tag, from, receive_tag, comm, status),   \
        aps_blocking_exchange_in_place(bytes, count, type, to, send_tag, from, \
                                       receive_tag, comm, status))

#define MRECV(name, count_t)                                                   \
    BLOCKING(name, (void *, count_t, aps_handle, void *, void *),              \
             (void *bytes, count_t count, aps_handle type, void *message,      \
              void *status),                                                   \
             (bytes, count, type, message, status),                            \
             aps_blocking_mrecv(bytes, count, type, message, status))

/* clang-format off */
SEND(Send, APS_SEND, int)
SEND(Ssend, APS_SSEND, int)
SEND(Rsend, APS_RSEND, int)
RECEIVE(Recv, int)
MRECV(Mrecv, int)
EXCHANGE(Sendrecv, int)
EXCHANGE_IN_PLACE(Sendrecv_replace, int)
#ifdef HAVE_PMPI_ISEND_C
SEND(Send_c, APS_SEND, int64_t)
SEND(Ssend_c, APS_SSEND, int64_t)
SEND(Rsend_c, APS_RSEND, int64_t)
RECEIVE(Recv_c, int64_t)
MRECV(Mrecv_c, int64_t)
EXCHANGE(Sendrecv_c, int64_t)
EXCHANGE_IN_PLACE(Sendrecv_replace_c, int64_t)
#endif
#define DETACH(name)                                                           \
    WHOLE(name, (void *, void *), (void *bytes, void *size), (bytes, size), 0)
DETACH(Buffer_detach)
#ifdef HAVE_PMPI_ISEND_C
DETACH(Buffer_detach_c)
#endif
BLOCKING(Probe, (int, int, aps_handle, void *),
         (int from, int tag, aps_handle comm, void *status),
         (from, tag, comm, status), aps_blocking_probe(from, tag, comm, status))
BLOCKING(Mprobe, (int, int, aps_handle, void *, void *),
         (int from, int tag, aps_handle comm, void *message, void *status),
         (from, tag, comm, message, status),
         aps_blocking_mprobe(from, tag, comm, message, status))

/* --- completion ---------------------------------------------------------- */

COMPLETION(Wait, (void *, void *), (void *request, void *status),
           (request, status), 1, request, aps_completion_wait(request, status))
COMPLETION(Waitall, (int, void *, void *),
           (int count, void *requests, void *statuses),
           (count, requests, statuses),
           count, requests, aps_completion_waitall(count, requests, statuses))
COMPLETION(Waitany, (int, void *, int *, void *),
           (int count, void *requests, int *index, void *status),
           (count, requests, index, status),
           count, requests, aps_completion_waitany(count, requests, index, status))
COMPLETION(Waitsome, (int, void *, int *, int *, void *),
           (int count, void *requests, int *done, int *indices,
            void *statuses),
           (count, requests, done, indices, statuses),
           count, requests, aps_completion_waitsome(count, requests, done, indices, statuses))
COMPLETION(Test, (void *, int *, void *),
           (void *request, int *done, void *status), (request, done, status),
           1, request, aps_completion_test(request, done, status))
COMPLETION(Testall, (int, void *, int *, void *),
           (int count, void *requests, int *done, void *statuses),
           (count, requests, done, statuses),
           count, requests, aps_completion_testall(count, requests, done, statuses))
COMPLETION(Testany, (int, void *, int *, int *, void *),
           (int count, void *requests, int *index, int *done, void *status),
           (count, requests, index, done, status),
           count, requests, aps_completion_testany(count, requests, index, done, status))
COMPLETION(Testsome, (int, void *, int *, int *, void *),
           (int count, void *requests, int *done, int *indices,
            void *statuses),
           (count, requests, done, indices, statuses),
           count, requests, aps_completion_testsome(count, requests, done, indices, statuses))
COMPLETION(Request_get_status, (aps_handle, int *, void *),
           (aps_handle request, int *done, void *status),
           (request, done, status), 1, &request,
           aps_completion_get_status(request, done, status))
LOOK(Iprobe, (int, int, aps_handle, int *, void *),
     (int from, int tag, aps_handle comm, int *found, void *status),
     (from, tag, comm, found, status))
LOOK(Improbe, (int, int, aps_handle, int *, void *, void *),
     (int from, int tag, aps_handle comm, int *found, void *message,
      void *status),
     (from, tag, comm, found, message, status))
#ifdef HAVE_PMPI_ISEND_C
LOOK(Parrived, (aps_handle, int, int *),
     (aps_handle request, int partition, int *arrived),
     (request, partition, arrived))
#endif

/* --- collective ---------------------------------------------------------- */

COLLECTIVE(Barrier, (aps_handle), (aps_handle comm), (comm))

#define ROOTED(name, count_t)                                                  \
    COLLECTIVE(name,                                                           \
               (const void *, count_t, aps_handle, void *, count_t,            \
                aps_handle, int, aps_handle),                                  \
               (const void *send, count_t send_count, aps_handle send_type,    \
                void *receive, count_t receive_count, aps_handle receive_type, \
                int root, aps_handle comm),                                    \
               (send, send_count, send_type, receive, receive_count,           \
                receive_type, root, comm))
#define GATHERV(name, count_t, counts_t, places_t)                             \
    COLLECTIVE(name,                                                           \
               (const void *, count_t, aps_handle, void *, counts_t, places_t, \
                aps_handle, int, aps_handle),                                  \
               (const void *send, count_t send_count, aps_handle send_type,    \
                void *receive, counts_t counts, places_t places,               \
                aps_handle receive_type, int root, aps_handle comm),           \
               (send, send_count, send_type, receive, counts, places,          \
                receive_type, root, comm))
#define SCATTERV(name, count_t, counts_t, places_t)                            \
    COLLECTIVE(name,                                                           \
               (const void *, counts_t, places_t, aps_handle, void *, count_t, \
                aps_handle, int, aps_handle),                                  \
               (const void *send, counts_t counts, places_t places,            \
                aps_handle send_type, void *receive, count_t receive_count,    \
                aps_handle receive_type, int root, aps_handle comm),           \
               (send, counts, places, send_type, receive, receive_count,       \
                receive_type, root, comm))
#define ALL(name, count_t)                                                     \
    COLLECTIVE(name,                                                           \
               (const void *, count_t, aps_handle, void *, count_t,            \
                aps_handle, aps_handle),                                       \
               (const void *send, count_t send_count, aps_handle send_type,    \
                void *receive, count_t receive_count, aps_handle receive_type, \
                aps_handle comm),                                              \
               (send, send_count, send_type, receive, receive_count,           \
                receive_type, comm))
#define ALLGATHERV(name, count_t, counts_t, places_t)                          \
    COLLECTIVE(name,                                                           \
               (const void *, count_t, aps_handle, void *, counts_t, places_t, \
                aps_handle, aps_handle),                                       \
               (const void *send, count_t send_count, aps_handle send_type,    \
                void *receive, counts_t counts, places_t places,               \
                aps_handle receive_type, aps_handle comm),                     \
               (send, send_count, send_type, receive, counts, places,          \
                receive_type, comm))
#define ALLTOALLV(name, counts_t, places_t, types_t)                           \
    COLLECTIVE(name,                                                           \
               (const void *, counts_t, places_t, types_t, void *, counts_t,   \
                places_t, types_t, aps_handle),                                \
               (const void *send, counts_t send_counts, places_t send_places,  \
                types_t send_type, void *receive, counts_t receive_counts,     \
                places_t receive_places, types_t receive_type,                 \
                aps_handle comm),                                              \
               (send, send_counts, send_places, send_type, receive,            \
                receive_counts, receive_places, receive_type, comm))
#define SCAN(name, count_t)                                                    \
    COLLECTIVE(name,                                                           \
               (const void *, void *, count_t, aps_handle, aps_handle,         \
                aps_handle),                                                   \
               (const void *send, void *receive, count_t count,                \
                aps_handle type, aps_handle op, aps_handle comm),              \
               (send, receive, count, type, op, comm))
/* With a buffer in a GPU's memory, too: so programs hand out their weights. */
#define BCAST(name, count_t)                                                   \
    static PASS_WHOLE(                                                         \
        pass_##name, name, (void *, count_t, aps_handle, int, aps_handle),     \
        (void *bytes, count_t count, aps_handle type, int root,                \
         aps_handle comm),                                                     \
        (bytes, count, type, root, comm), comm)                                \
    EXPORT int MPI_##name(void *bytes, count_t count, aps_handle type,         \
                          int root, aps_handle comm);                          \
    int MPI_##name(void *bytes, count_t count, aps_handle type, int root,      \
                   aps_handle comm)                                            \
    {                                                                          \
        struct aps_bounce bounce;                                                \
        int rc;                                                                \
        if (!aps_bounce_is_wanted(NULL, bytes))                                 \
            return pass_##name(bytes, count, type, root, comm);                \
        rc = aps_bounce_begin_bcast(&bounce, "MPI_" #name, bytes, count, type,   \
                                   root, comm);                                \
        if (rc == 0)                                                           \
            rc = pass_##name(bounce.receive, count, type, root, comm);          \
        return aps_bounce_end_call(&bounce, rc);                                 \
    }

#define EACH(suffix, count_t, places_t)                                        \
    BCAST(Bcast##suffix, count_t)                                              \
    ROOTED(Gather##suffix, count_t)                                            \
    ROOTED(Scatter##suffix, count_t)                                           \
    GATHERV(Gatherv##suffix, count_t, const count_t *, const places_t *)       \
    SCATTERV(Scatterv##suffix, count_t, const count_t *, const places_t *)     \
    ALLGATHERV(Allgatherv##suffix, count_t, const count_t *, const places_t *) \
    ALL(Alltoall##suffix, count_t)                                             \
    ALLTOALLV(Alltoallv##suffix, const count_t *, const places_t *,            \
              aps_handle)                                                      \
    ALLTOALLV(Alltoallw##suffix, const count_t *, const places_t *,            \
              const void *)                                                    \
    SCAN(Scan##suffix, count_t)                                                \
    SCAN(Exscan##suffix, count_t)                                              \
    ALL(Neighbor_allgather##suffix, count_t)                                   \
    ALLGATHERV(Neighbor_allgatherv##suffix, count_t, const count_t *,          \
               const places_t *)                                               \
    ALL(Neighbor_alltoall##suffix, count_t)                                    \
    ALLTOALLV(Neighbor_alltoallv##suffix, const count_t *, const places_t *,   \
              aps_handle)

EACH(, int, int)
#ifdef HAVE_PMPI_ALLREDUCE_C
EACH(_c, int64_t, intptr_t)
#endif
ALLTOALLV(Neighbor_alltoallw, const int *, const intptr_t *, const void *)
#ifdef HAVE_PMPI_ALLREDUCE_C
ALLTOALLV(Neighbor_alltoallw_c, const int64_t *, const intptr_t *, const void *)
#endif

COLLECTIVE(Comm_dup, (aps_handle, void *), (aps_handle comm, void *made),
           (comm, made))
COLLECTIVE(Comm_dup_with_info, (aps_handle, aps_handle, void *),
           (aps_handle comm, aps_handle info, void *made), (comm, info, made))
COLLECTIVE(Comm_create, (aps_handle, aps_handle, void *),
           (aps_handle comm, aps_handle group, void *made),
           (comm, group, made))
COLLECTIVE(Comm_split, (aps_handle, int, int, void *),
           (aps_handle comm, int color, int key, void *made),
           (comm, color, key, made))
COLLECTIVE(Comm_split_type, (aps_handle, int, int, aps_handle, void *),
           (aps_handle comm, int kind, int key, aps_handle info, void *made),
           (comm, kind, key, info, made))
COLLECTIVE(Cart_create,
           (aps_handle, int, const int *, const int *, int, void *),
           (aps_handle comm, int dimensions, const int *extent,
            const int *periodic, int reorder, void *made),
           (comm, dimensions, extent, periodic, reorder, made))
COLLECTIVE(Cart_sub, (aps_handle, const int *, void *),
           (aps_handle comm, const int *kept, void *made), (comm, kept, made))
COLLECTIVE(Graph_create,
           (aps_handle, int, const int *, const int *, int, void *),
           (aps_handle comm, int nodes, const int *index, const int *edges,
            int reorder, void *made),
           (comm, nodes, index, edges, reorder, made))
COLLECTIVE(Dist_graph_create_adjacent,
           (aps_handle, int, const int *, const int *, int, const int *,
            const int *, aps_handle, int, void *),
           (aps_handle comm, int in, const int *from, const int *in_weights,
            int out, const int *to, const int *out_weights, aps_handle info,
            int reorder, void *made),
           (comm, in, from, in_weights, out, to, out_weights, info, reorder,
            made))
COLLECTIVE(Dist_graph_create,
           (aps_handle, int, const int *, const int *, const int *,
            const int *, aps_handle, int, void *),
           (aps_handle comm, int nodes, const int *from, const int *degrees,
            const int *to, const int *weights, aps_handle info, int reorder,
            void *made),
           (comm, nodes, from, degrees, to, weights, info, reorder, made))
/* Of the group alone: others of `comm` may do something else. */
WHOLE(Comm_create_group, (aps_handle, aps_handle, int, void *),
      (aps_handle comm, aps_handle group, int tag, void *made),
      (comm, group, tag, made), 0)
COLLECTIVE(Intercomm_create,
           (aps_handle, int, aps_handle, int, int, void *),
           (aps_handle comm, int leader, aps_handle peers, int other, int tag,
            void *made),
           (comm, leader, peers, other, tag, made))
COLLECTIVE(Intercomm_merge, (aps_handle, int, void *),
           (aps_handle comm, int high, void *made), (comm, high, made))
WHOLE(Comm_disconnect, (void *), (void *comm), (comm), 0)
COLLECTIVE(Comm_spawn,
           (const char *, void *, int, aps_handle, int, aps_handle, void *,
            void *),
           (const char *command, void *arguments, int most, aps_handle info,
            int root, aps_handle comm, void *made, void *codes),
           (command, arguments, most, info, root, comm, made, codes))
COLLECTIVE(Comm_spawn_multiple,
           (int, void *, void *, const int *, const void *, int, aps_handle,
            void *, void *),
           (int count, void *commands, void *arguments, const int *most,
            const void *infos, int root, aps_handle comm, void *made,
            void *codes),
           (count, commands, arguments, most, infos, root, comm, made, codes))
#define MEET(name)                                                             \
    COLLECTIVE(name, (const char *, aps_handle, int, aps_handle, void *),      \
               (const char *port, aps_handle info, int root, aps_handle comm,  \
                void *made),                                                   \
               (port, info, root, comm, made))
MEET(Comm_accept)
MEET(Comm_connect)
WHOLE(Comm_join, (int, void *), (int socket, void *made), (socket, made), 0)
#ifdef HAVE_PMPI_COMM_CREATE_FROM_GROUP
WHOLE(Comm_create_from_group,
      (aps_handle, const char *, aps_handle, aps_handle, void *),
      (aps_handle group, const char *tag, aps_handle info, aps_handle handler,
       void *made),
      (group, tag, info, handler, made), 0)
WHOLE(Intercomm_create_from_groups,
      (aps_handle, int, aps_handle, int, const char *, aps_handle, aps_handle,
       void *),
      (aps_handle group, int leader, aps_handle others, int other,
       const char *tag, aps_handle info, aps_handle handler, void *made),
      (group, leader, others, other, tag, info, handler, made), 0)
#endif

/* --- windows ------------------------------------------------------------- */

#define WINDOW(suffix, unit_t)                                                 \
    COLLECTIVE(Win_create##suffix,                                             \
               (void *, intptr_t, unit_t, aps_handle, aps_handle, void *),     \
               (void *base, intptr_t size, unit_t unit, aps_handle info,       \
                aps_handle comm, void *made),                                  \
               (base, size, unit, info, comm, made))                           \
    COLLECTIVE(Win_allocate##suffix,                                           \
               (intptr_t, unit_t, aps_handle, aps_handle, void *, void *),     \
               (intptr_t size, unit_t unit, aps_handle info, aps_handle comm,  \
                void *base, void *made),                                       \
               (size, unit, info, comm, base, made))                           \
    COLLECTIVE(Win_allocate_shared##suffix,                                    \
               (intptr_t, unit_t, aps_handle, aps_handle, void *, void *),     \
               (intptr_t size, unit_t unit, aps_handle info, aps_handle comm,  \
                void *base, void *made),                                       \
               (size, unit, info, comm, base, made))
WINDOW(, int)
#ifdef HAVE_PMPI_ALLREDUCE_C
WINDOW(_c, intptr_t)
#endif
COLLECTIVE(Win_create_dynamic, (aps_handle, aps_handle, void *),
           (aps_handle info, aps_handle comm, void *made), (info, comm, made))
WHOLE(Win_fence, (int, aps_handle), (int assert, aps_handle window),
      (assert, window), 0)
WHOLE(Win_free, (void *), (void *window), (window), 0)
WHOLE(Win_set_info, (aps_handle, aps_handle),
      (aps_handle window, aps_handle info), (window, info), 0)
LOOK(Win_test, (aps_handle, void *), (aps_handle window, void *done),
     (window, done))
WHOLE(Win_start, (aps_handle, int, aps_handle),
      (aps_handle group, int assert, aps_handle window),
      (group, assert, window), 0)
WHOLE(Win_complete, (aps_handle), (aps_handle window), (window), 0)
WHOLE(Win_wait, (aps_handle), (aps_handle window), (window), 0)
WHOLE(Win_lock, (int, int, int, aps_handle),
      (int kind, int rank, int assert, aps_handle window),
      (kind, rank, assert, window), 0)
WHOLE(Win_lock_all, (int, aps_handle), (int assert, aps_handle window),
      (assert, window), 0)

/* --- files --------------------------------------------------------------- */

COLLECTIVE(File_open, (aps_handle, const char *, int, aps_handle, void *),
           (aps_handle comm, const char *name, int mode, aps_handle info,
            void *file),
           (comm, name, mode, info, file))
WHOLE(File_close, (void *), (void *file), (file), 0)
WHOLE(File_set_size, (void *, int64_t), (void *file, int64_t size),
      (file, size), 0)
WHOLE(File_preallocate, (void *, int64_t), (void *file, int64_t size),
      (file, size), 0)
WHOLE(File_set_info, (void *, aps_handle), (void *file, aps_handle info),
      (file, info), 0)
WHOLE(File_set_atomicity, (void *, int), (void *file, int atomic),
      (file, atomic), 0)
WHOLE(File_seek_shared, (void *, int64_t, int),
      (void *file, int64_t to, int whence), (file, to, whence), 0)
WHOLE(File_sync, (void *), (void *file), (file), 0)
WHOLE(File_set_view,
      (void *, int64_t, aps_handle, aps_handle, const char *, aps_handle),
      (void *file, int64_t from, aps_handle element, aps_handle type,
       const char *representation, aps_handle info),
      (file, from, element, type, representation, info), 0)
#define TRANSFER(name, bytes_t, count_t)                                       \
    WHOLE(name, (void *, bytes_t, count_t, aps_handle, void *),                \
          (void *file, bytes_t bytes, count_t count, aps_handle type,          \
           void *status),                                                      \
          (file, bytes, count, type, status), 0)
#define TRANSFER_AT(name, bytes_t, count_t)                                    \
    WHOLE(name, (void *, int64_t, bytes_t, count_t, aps_handle, void *),       \
          (void *file, int64_t at, bytes_t bytes, count_t count,               \
           aps_handle type, void *status),                                     \
          (file, at, bytes, count, type, status), 0)
#define BEGIN(name, bytes_t, count_t)                                          \
    WHOLE(name, (void *, bytes_t, count_t, aps_handle),                        \
          (void *file, bytes_t bytes, count_t count, aps_handle type),         \
          (file, bytes, count, type), 0)
#define BEGIN_AT(name, bytes_t, count_t)                                       \
    WHOLE(name, (void *, int64_t, bytes_t, count_t, aps_handle),               \
          (void *file, int64_t at, bytes_t bytes, count_t count,               \
           aps_handle type),                                                   \
          (file, at, bytes, count, type), 0)
#define TRANSFERS(suffix, count_t)                                             \
    BEGIN(File_read_all_begin##suffix, void *, count_t)                        \
    BEGIN(File_write_all_begin##suffix, const void *, count_t)                 \
    BEGIN(File_read_ordered_begin##suffix, void *, count_t)                    \
    BEGIN(File_write_ordered_begin##suffix, const void *, count_t)             \
    BEGIN_AT(File_read_at_all_begin##suffix, void *, count_t)                  \
    BEGIN_AT(File_write_at_all_begin##suffix, const void *, count_t)           \
    TRANSFER(File_read_all##suffix, void *, count_t)                           \
    TRANSFER(File_write_all##suffix, const void *, count_t)                    \
    TRANSFER(File_read_ordered##suffix, void *, count_t)                       \
    TRANSFER(File_write_ordered##suffix, const void *, count_t)                \
    TRANSFER_AT(File_read_at_all##suffix, void *, count_t)                     \
    TRANSFER_AT(File_write_at_all##suffix, const void *, count_t)
TRANSFERS(, int)
#ifdef HAVE_PMPI_ALLREDUCE_C
TRANSFERS(_c, int64_t)
#endif
#define TRANSFER_END(name, bytes_t)                                            \
    WHOLE(name, (void *, bytes_t, void *),                                     \
          (void *file, bytes_t bytes, void *status), (file, bytes, status), 0)
TRANSFER_END(File_read_all_end, void *)
TRANSFER_END(File_write_all_end, const void *)
TRANSFER_END(File_read_at_all_end, void *)
TRANSFER_END(File_write_at_all_end, const void *)
TRANSFER_END(File_read_ordered_end, void *)
TRANSFER_END(File_write_ordered_end, const void *)
/* clang-format on */
