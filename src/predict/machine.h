/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cluster and its cores, in the few numbers that the time of a reduction
 * depends on. Times are in seconds, sizes in bytes; what a core needs is for one
 * rank's core while all ranks of its host are at work.
 */
#ifndef APS_PREDICT_MACHINE_H
#define APS_PREDICT_MACHINE_H

#include <stdbool.h>

/* How two ranks exchange messages. */
struct aps_link {
    /* Until a short message that is sent has been received; the time of both cores
     * is part of it. */
    double latency;
    /* Bytes a second that a host sends while it receives as many, in messages of 16
     * KiB; of ranks of one host, that they exchange. */
    double rate;
    double bulk;    /* of native MPI's all-reduces, the same */
    double wait;    /* of a step of native MPI's all-reduces */
    double message; /* of a core, for a message sent and one received */
    double byte;    /* of a core, for each byte of them */
};

struct aps_machine {
    int hosts;
    int ranks_per_host; /* numbered host by host */
    struct aps_link between;
    struct aps_link inside;
    double copy; /* of a byte in memory */
    double add;  /* of an FP32 value to a sum */
    double mark; /* of a rank that waits for those of its host */
};

/* What a codec needs for a value. */
struct aps_codec_rates {
    double magnitude;
    double encode;
    double decode;
    double add;
    double round;
};

/* Another link of that rate: native MPI has the same share of it as before, but
 * never more than all. */
static inline void aps_link_set_rate(struct aps_link *link, double rate)
{
    const double share = link->bulk / link->rate;

    link->bulk = share < 1 ? share * rate : rate;
    link->rate = rate;
}

static inline int aps_machine_ranks(const struct aps_machine *machine)
{
    return machine->hosts * machine->ranks_per_host;
}

#endif
