/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "native/keyval.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What the program gave. It lives as long as the process: attributes outlive
 * their keys, and nobody tells when the last is gone. Keys that are made again
 * and again share one. */
struct keyval {
    struct keyval *next;
    MPI_Comm_copy_attr_function *copy;
    MPI_Comm_delete_attr_function *delete;
    void *extra;
};

static _Thread_local bool hidden;

static struct keyval *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void aps_keyval_hide(bool hide)
{
    hidden = hide;
}

static int keyval_copy_attribute(MPI_Comm comm, int key, void *state,
                                 void *value, void *copy, int *copied)
{
    const struct keyval *keyval = state;

    if (!hidden)
        return keyval->copy(comm, key, keyval->extra, value, copy, copied);
    *copied = 0;
    return MPI_SUCCESS;
}

static int keyval_delete_attribute(MPI_Comm comm, int key, void *value,
                                   void *state)
{
    const struct keyval *keyval = state;

    if (keyval->delete == MPI_COMM_NULL_DELETE_FN)
        return MPI_SUCCESS;
    return keyval->delete (comm, key, value, keyval->extra);
}

/* One that lives, like the given one; NULL: out of memory. */
static struct keyval *keyval_keep(const struct keyval *given)
{
    struct keyval *found;

    pthread_mutex_lock(&lock);
    for (found = all; found; found = found->next)
        if (found->copy == given->copy &&
            found->delete == given->delete &&found->extra == given->extra)
            break;
    if (!found && (found = malloc(sizeof *found))) {
        *found = *given;
        found->next = all;
        all = found;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

int aps_keyval_create(void *copy, void *delete, int *key, void *extra)
{
    struct keyval *keyval;
    struct keyval given = {.extra = extra};

    /* Pointers to functions and to data do not mix in C: copy. */
    memcpy(&given.copy, &copy, sizeof copy);
    memcpy(&given.delete, &delete, sizeof delete);
    keyval = given.copy != MPI_COMM_NULL_COPY_FN ? keyval_keep(&given) : NULL;
    if (!keyval)
        return PMPI_Comm_create_keyval(given.copy, given.delete, key, extra);
    return PMPI_Comm_create_keyval(keyval_copy_attribute,
                                   keyval_delete_attribute, key, keyval);
}
