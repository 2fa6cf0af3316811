/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predict/native.h"

/* Bounds in MPICH 4.0.2's tables of algorithms for blocking calls. */
#define ALLREDUCE_SHORT_BYTES 8
#define REDUCE_SHORT_BYTES 2048
#define BROADCAST_SHORT_BYTES 12288
#define BROADCAST_LONG_BYTES 524288
#define BROADCAST_FEW_RANKS 8

/* `sending` ranks of a host send `floats` floats each to other ranks of it. */
static double send_inside(const struct aps_machine *machine, double sending,
                          double floats)
{
    return machine->inside.wait +
           sending * floats * sizeof(float) / machine->inside.bulk;
}

/* Each rank exchanges `floats` floats with a rank at `distance`. The ranks of a
 * host share its link. */
static double exchange(const struct aps_machine *machine, double distance,
                       double floats)
{
    const double bytes = floats * sizeof(float);
    const int ranks = machine->ranks_per_host;

    if (distance >= ranks)
        return machine->between.wait + ranks * bytes / machine->between.bulk;
    return send_inside(machine, ranks, floats);
}

/* Ranks beyond the greatest power of two give their values to other ranks, and
 * receive the result from them. */
static double fold(const struct aps_machine *machine, double n, int beyond)
{
    return beyond == 0 ? 0 : 2 * exchange(machine, 1, n) + n * machine->add;
}

static int greatest_power(int ranks)
{
    int power = 1;

    while (2 * power <= ranks)
        power *= 2;
    return power;
}

static double doubling(const struct aps_machine *machine, double n)
{
    const int ranks = aps_machine_ranks(machine);
    const int power = greatest_power(ranks);
    double seconds = fold(machine, n, ranks - power);

    for (int distance = 1; distance < power; distance *= 2)
        seconds += exchange(machine, distance, n) + n * machine->add;
    return seconds;
}

static double rabenseifner(const struct aps_machine *machine, double n)
{
    const int ranks = aps_machine_ranks(machine);
    const int power = greatest_power(ranks);
    double seconds = fold(machine, n, ranks - power);
    double part = n;

    for (int distance = 1; distance < power; distance *= 2) {
        part /= 2;
        seconds += 2 * exchange(machine, distance, part) + part * machine->add;
    }
    return seconds;
}

static double ring(const struct aps_machine *machine, double n)
{
    const int ranks = aps_machine_ranks(machine);
    const double part = n / ranks;
    const double bytes = part * sizeof(float);
    const struct aps_link *slow =
        machine->hosts > 1 ? &machine->between : &machine->inside;
    const double sending = machine->hosts > 1 ? 1 : machine->ranks_per_host;

    return (ranks - 1) * (2 * (slow->wait + sending * bytes / slow->bulk) +
                          part * machine->add);
}

/* --- the composition ----------------------------------------------------- */

/* Sends all n floats from or to one rank of a host, by a binomial tree; a
 * receiver takes `add` for a value. */
static double tree(const struct aps_machine *machine, double n, double add)
{
    const int ranks = machine->ranks_per_host;
    double seconds = 0;

    for (int distance = 1; distance < ranks; distance *= 2) {
        /* ranks at `distance`, 3 `distance`, ... */
        const int sending = (ranks + distance - 1) / (2 * distance);

        seconds += send_inside(machine, sending, n) + n * add;
    }
    return seconds;
}

/* Sends slices of n floats from one rank to `ranks` ranks of its host, or back:
 * each step of a binomial tree sends half of the rest. */
static double scatter(const struct aps_machine *machine, double n, int ranks)
{
    double seconds = 0;

    for (int distance = 1; distance < ranks; distance *= 2)
        seconds += send_inside(machine, 1, n / 2);
    return seconds;
}

static double reduce(const struct aps_machine *machine, double n)
{
    const int power = greatest_power(machine->ranks_per_host);
    const int beyond = machine->ranks_per_host - power;
    double seconds = 0, part = n;

    if (n * sizeof(float) <= REDUCE_SHORT_BYTES || n < power)
        return tree(machine, n, machine->add);
    if (beyond > 0)
        seconds = send_inside(machine, beyond, n) + n * machine->add;
    for (int distance = 1; distance < power; distance *= 2) {
        part /= 2;
        seconds += send_inside(machine, power, part) + part * machine->add;
    }
    return seconds + scatter(machine, n, power);
}

static double broadcast(const struct aps_machine *machine, double n)
{
    const int ranks = machine->ranks_per_host;
    const double bytes = n * sizeof(float);
    double seconds;

    if (ranks < BROADCAST_FEW_RANKS || bytes < BROADCAST_SHORT_BYTES)
        return tree(machine, n, 0);
    seconds = scatter(machine, n, ranks);
    if (ranks != greatest_power(ranks) || bytes >= BROADCAST_LONG_BYTES)
        return seconds + (ranks - 1) * send_inside(machine, ranks, n / ranks);
    for (int distance = 1; distance < ranks; distance *= 2)
        seconds += send_inside(machine, ranks, distance * n / ranks);
    return seconds;
}

/* Chooses the all-reduce of ranks that are all on different hosts, or all on
 * one. */
static enum aps_native_kind flat_kind(int ranks, double n)
{
    return n * sizeof(float) <= ALLREDUCE_SHORT_BYTES ||
                   n < greatest_power(ranks)
               ? APS_NATIVE_DOUBLING
               : APS_NATIVE_RABENSEIFNER;
}

/* One rank of each host takes part in the all-reduce between hosts. */
static double composition(const struct aps_machine *machine, double n)
{
    struct aps_machine roots = *machine;

    roots.ranks_per_host = 1;
    return reduce(machine, n) +
           (flat_kind(roots.hosts, n) == APS_NATIVE_DOUBLING
                ? doubling(&roots, n)
                : rabenseifner(&roots, n)) +
           broadcast(machine, n);
}

/* --- all of them --------------------------------------------------------- */

/* In the order of enum aps_native_kind. */
static const struct {
    const char *name;
    double (*seconds)(const struct aps_machine *machine, double n);
} natives[APS_NATIVE_KINDS] = {
    {"recursive doubling", doubling},
    {"Rabenseifner", rabenseifner},
    {"ring", ring},
    {"composition", composition},
};

double aps_predict_native(const struct aps_machine *machine,
                          enum aps_native_kind kind, size_t count)
{
    const double memory = aps_machine_memory(machine, (double)count);
    struct aps_machine far = *machine;
    double copied;

    /* A copy reads and writes one value; an addition reads two and writes
     * one. */
    far.copy += 2 * memory;
    far.add += 3 * sizeof(float) * memory;
    /* The copy from the program's send buffer. */
    copied = (double)count * sizeof(float) * far.copy;
    return copied + natives[kind].seconds(&far, (double)count);
}

const char *aps_native_name(enum aps_native_kind kind)
{
    return natives[kind].name;
}

enum aps_native_kind aps_predict_native_kind(const struct aps_machine *machine,
                                             size_t count)
{
    return machine->hosts > 1 && machine->ranks_per_host > 1
               ? APS_NATIVE_COMPOSITION
               : flat_kind(aps_machine_ranks(machine), (double)count);
}
