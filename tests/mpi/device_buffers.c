/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_buffers.h"

#include <string.h>

#include "gpu.h"
#include "mpitap.h"
#include "reference.h"

const char *const where_names[WHERES] = {
    "device memory",  "device to host", "host to device",
    "on some ranks",  "in place",       "some in place, some managed",
    "managed memory",
};

int rank, ranks;
float *in, *expected, *got;
float *device_in, *device_out, *managed_in, *managed_out;
float host_send[MOST], host_receive[MOST];

bool puts_by_legacy;

static bool is_device(const void *p)
{
    const char *at = p;
    const size_t room = MOST * sizeof(float);

    return (at >= (char *)device_in && at < (char *)device_in + room) ||
           (at >= (char *)device_out && at < (char *)device_out + room) ||
           (at >= (char *)managed_in && at < (char *)managed_in + room) ||
           (at >= (char *)managed_out && at < (char *)managed_out + room);
}

void put(void *to, const void *from, size_t bytes)
{
    if (is_device(to) && puts_by_legacy)
        gpu_put_by_legacy(to, from, bytes);
    else if (is_device(to))
        gpu_put(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

void get(void *to, const void *from, size_t bytes)
{
    if (is_device(from))
        gpu_get(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

struct buffers buffers_of(enum where where, size_t shift)
{
    const bool odd = rank % 2;
    struct buffers buffers = {device_in, device_out};

    switch (where) {
    case TO_HOST:
        buffers.receive = host_receive;
        break;
    case FROM_HOST:
        buffers.send = host_send;
        break;
    case SOME:
        if (odd)
            buffers = (struct buffers){host_send, host_receive};
        break;
    case IN_PLACE:
        buffers.send = NULL;
        break;
    case SOME_IN_PLACE:
        if (odd)
            buffers.send = NULL;
        else
            buffers = (struct buffers){managed_in, managed_out};
        break;
    case MANAGED:
        buffers = (struct buffers){managed_in, managed_out};
        break;
    default:
        break;
    }
    if (buffers.send)
        buffers.send += shift;
    buffers.receive += shift;
    return buffers;
}

void lay_out(const struct buffers *buffers, size_t sent, size_t received)
{
    memset(got, 0x5a, (received + 2) * sizeof *got);
    put(buffers->receive - 1, got, (received + 2) * sizeof *got);
    if (buffers->send)
        put(buffers->send, in, sent * sizeof *in);
    else
        put(buffers->receive, in, sent * sizeof *in);
}

bool check(const struct buffers *buffers, size_t sent, size_t received)
{
    static const unsigned char pattern[4] = {0x5a, 0x5a, 0x5a, 0x5a};
    bool good = true;
    size_t i;

    if (buffers->send) {
        get(got, buffers->send, sent * sizeof *got);
        good = memcmp(got, in, sent * sizeof *got) == 0;
    }
    get(got, buffers->receive - 1, (received + 2) * sizeof *got);
    good &= memcmp(got, pattern, 4) == 0;
    if (buffers->send || received >= sent)
        good &= memcmp(got + received + 1, pattern, 4) == 0;
    i = first_difference(received, expected, got + 1);
    if (!good || i < received)
        diag("rank %d: element %zu of %zu is %a, expected %a%s", rank, i,
             received, i < received ? got[i + 1] : 0,
             i < received ? expected[i] : 0, good ? "" : "; wrote elsewhere");
    return good && i == received;
}

const void *send_of(const struct buffers *buffers)
{
    return buffers->send ? (const void *)buffers->send : MPI_IN_PLACE;
}
