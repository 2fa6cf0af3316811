/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cluster and its cores, in the few numbers that determine the time of a
 * reduction. Times are in seconds, sizes in bytes. A core time is that of one
 * rank while all ranks of its host are busy.
 */
#ifndef APS_PREDICT_MACHINE_H
#define APS_PREDICT_MACHINE_H

#include <stdbool.h>

/* Messages between two ranks. */
struct aps_link {
    /* From sending a short message to its receipt, with the time of both
     * cores. */
    double latency;
    /* Bytes per second that a host sends while it receives as many, in
     * messages of 16 KiB; among ranks of one host, bytes per second that
     * they exchange. */
    double rate;
    double bulk;    /* the rate of native MPI's all-reduces */
    double burst;   /* bytes that a host's link passes at once after a rest */
    double wait;    /* wait in each step of native MPI's all-reduces */
    double message; /* core time of sending and receiving a message */
    double byte;    /* core time of each of its bytes */
};

/* Vectors of at most this many floats have the full benefit of caches; longer
 * ones are measured with these counts. */
#define APS_MEMORY_CACHED (1 << 20)
#define APS_MEMORY_SIZES 2
extern const double aps_memory_floats[APS_MEMORY_SIZES];

struct aps_machine {
    int hosts;
    int ranks_per_host; /* ranks are numbered host by host */
    struct aps_link between;
    struct aps_link inside;
    double copy; /* copying a byte in memory */
    double add;  /* adding an FP32 value to a sum */
    /* Core time of reading or writing a byte of vectors with
     * aps_memory_floats[], beyond the time in caches, in which `copy`, `add`
     * and codecs are measured. */
    double memory[APS_MEMORY_SIZES];
    double mark; /* wait of a rank for the ranks of its host */
};

/* Core times of a codec for a value. */
struct aps_codec_rates {
    double magnitude;
    double encode;
    double decode;
    double add;
    double round;
};

/* Sets another rate. Native MPI keeps its share of it, at most all. */
static inline void aps_link_set_rate(struct aps_link *link, double rate)
{
    const double share = link->bulk / link->rate;

    link->bulk = share < 1 ? share * rate : rate;
    link->rate = rate;
}

/* Returns the seconds that a link saves after it has rested for `rest` seconds:
 * it passes at once the bytes that it could have sent in that time, up to its
 * burst. */
static inline double aps_link_ahead(const struct aps_link *link, double rest)
{
    const double most = link->burst / link->rate;

    return rest < most ? rest : most;
}

/* Returns `memory` for vectors of `count` floats. */
double aps_machine_memory(const struct aps_machine *machine, double count);

static inline int aps_machine_ranks(const struct aps_machine *machine)
{
    return machine->hosts * machine->ranks_per_host;
}

#endif
