/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective.h"

#define MAKE(name, MPI)                                                        \
    int name(const struct collective *c)                                       \
    {                                                                          \
        switch (c->kind) {                                                     \
        case BLOCK:                                                            \
            return MPI##_Reduce_scatter_block(c->send, c->receive, c->count,   \
                                              c->type, c->op, c->comm);        \
        case SCATTER:                                                          \
            return MPI##_Reduce_scatter(c->send, c->receive, c->counts,        \
                                        c->type, c->op, c->comm);              \
        case GATHER:                                                           \
            return MPI##_Allgather(c->send, c->send_count, c->send_type,       \
                                   c->receive, c->count, c->type, c->comm);    \
        default:                                                               \
            return MPI##_Reduce(c->send, c->receive, c->count, c->type, c->op, \
                                c->root, c->comm);                             \
        }                                                                      \
    }

MAKE(collective_make, MPI)
MAKE(collective_make_native, PMPI)
