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
    double burst;   /* bytes that a host's link passes at once after a rest */
    double wait;    /* of a step of native MPI's all-reduces */
    double message; /* of a core, for a message sent and one received */
    double byte;    /* of a core, for each byte of them */
};

/* Vectors of so many floats lie in caches as well as they ever do; longer ones are
 * measured with these counts. */
#define APS_MEMORY_CACHED (1 << 20)
#define APS_MEMORY_SIZES 2
extern const double aps_memory_floats[APS_MEMORY_SIZES];

struct aps_machine {
    int hosts;
    int ranks_per_host; /* numbered host by host */
    struct aps_link between;
    struct aps_link inside;
    double copy; /* of a byte in memory */
    double add;  /* of an FP32 value to a sum */
    /* What a byte of vectors with aps_memory_floats[] takes of a core when it is read
     * or written, beyond what it takes in caches, where `copy`, `add` and codecs are
     * measured. */
    double memory[APS_MEMORY_SIZES];
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

/* Seconds of the link that are saved after it has rested so long: it passes at once
 * what it could have carried meanwhile, up to its burst. */
static inline double aps_link_ahead(const struct aps_link *link, double rest)
{
    const double most = link->burst / link->rate;

    return rest < most ? rest : most;
}

/* `memory` for vectors of `count` floats. */
double aps_machine_memory(const struct aps_machine *machine, double count);

static inline int aps_machine_ranks(const struct aps_machine *machine)
{
    return machine->hosts * machine->ranks_per_host;
}

#endif
