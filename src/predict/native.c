/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predict/native.h"

/* MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE */
#define SHORT_BYTES 2048

/* Ranks exchange `floats` each with a rank `distance` away. Those of a host share
 * its link. */
static double exchange(const struct aps_machine *machine, double distance,
                       double floats)
{
    const double bytes = floats * sizeof(float);
    const int ranks = machine->ranks_per_host;

    if (distance >= ranks)
        return machine->between.wait + ranks * bytes / machine->between.bulk;
    return machine->inside.wait + ranks * bytes / machine->inside.bulk;
}

/* The ranks beyond the greatest power of two give their values to others, and get
 * the result from them. */
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

/* In the order of enum aps_native_kind. */
static const struct {
    const char *name;
    double (*seconds)(const struct aps_machine *machine, double n);
} natives[APS_NATIVE_KINDS] = {
    {"recursive doubling", doubling},
    {"Rabenseifner", rabenseifner},
    {"ring", ring},
};

double aps_predict_native(const struct aps_machine *machine,
                          enum aps_native_kind kind, size_t count)
{
    const double memory = aps_machine_memory(machine, (double)count);
    struct aps_machine far = *machine;
    double copied;

    /* A copy reads and writes; adding to a sum reads two values and writes one. */
    far.copy += 2 * memory;
    far.add += 3 * sizeof(float) * memory;
    /* From the program's send buffer. */
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
    return count * sizeof(float) <= SHORT_BYTES ||
                   count < (size_t)greatest_power(aps_machine_ranks(machine))
               ? APS_NATIVE_DOUBLING
               : APS_NATIVE_RABENSEIFNER;
}
