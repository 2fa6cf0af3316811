/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "placed.h"

void verbs_write(void *to, const void *from, size_t bytes)
{
    fake_write(to, from, bytes);
}

void verbs_read(void *to, const void *from, size_t bytes)
{
    fake_read(to, from, bytes);
}

void arrays_place(const char *format, size_t n, size_t shift,
                  enum fake_kind kind, CUcontext context, struct arrays *a)
{
    float *base = fake_allocate(kind, context, (n + shift) * sizeof *base);

    arrays_create(format, n, base + shift, a);
}

void arrays_remove(struct arrays *a, size_t shift)
{
    fake_free(a->device - shift);
    arrays_destroy(a);
}
