/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective.h"

int collective_make(const struct collective *c)
{
    switch (c->kind) {
    case BLOCK:
        return MPI_Reduce_scatter_block(c->send, c->receive, c->count, c->type,
                                        c->op, c->comm);
    case SCATTER:
        return MPI_Reduce_scatter(c->send, c->receive, c->counts, c->type,
                                  c->op, c->comm);
    case GATHER:
        return MPI_Allgather(c->send, c->send_count, c->send_type, c->receive,
                             c->count, c->type, c->comm);
    default:
        return MPI_Reduce(c->send, c->receive, c->count, c->type, c->op,
                          c->root, c->comm);
    }
}

int collective_make_native(const struct collective *c)
{
    switch (c->kind) {
    case BLOCK:
        return PMPI_Reduce_scatter_block(c->send, c->receive, c->count, c->type,
                                         c->op, c->comm);
    case SCATTER:
        return PMPI_Reduce_scatter(c->send, c->receive, c->counts, c->type,
                                   c->op, c->comm);
    case GATHER:
        return PMPI_Allgather(c->send, c->send_count, c->send_type, c->receive,
                              c->count, c->type, c->comm);
    default:
        return PMPI_Reduce(c->send, c->receive, c->count, c->type, c->op,
                           c->root, c->comm);
    }
}
