/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predictions/cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/plural.h"
#include "base/print.h"
#include "base/real.h"
#include "cli/command.h"
#include "cli/problems.h"
#include "predict/quantity.h"

#define TIME_MAX 24

#define HOSTS_MAX 1000000
#define RANKS_MAX 4096
#define ALL_RANKS_MAX 1000000000 /* twice the number is an int too */

static const char *const options[] = {"hosts", "ranks-per-host", "cores",
                                      "rate",  "latency",        "measured",
                                      "counts"};

static const char *option(const struct aps_arguments *arguments,
                          const char *name)
{
    return aps_arguments_option(arguments, name);
}

/* Reads a whole number; leaves *value if the option is not given. Returns 0 or
 * -1. */
static int read_whole(const struct aps_arguments *arguments, const char *name,
                      int most, int *value)
{
    const char *text = option(arguments, name);
    uintmax_t number;

    if (!text)
        return 0;
    if (aps_digits_parse(text, strlen(text), (uintmax_t)most, &number) < 0 ||
        number == 0) {
        aps_problems_fail(arguments, APS_EXIT_USAGE,
                          "--%s '%.40s' is not a number from 1 to %d", name,
                          text, most);
        return -1;
    }
    *value = (int)number;
    return 0;
}

/* Reads a quantity by a function of quantity.h. Returns 0 or -1. */
static int read_quantity(const struct aps_arguments *arguments,
                         const char *name, double (*parse)(const char *),
                         const char *what, const char *takes, double *value)
{
    const char *text = option(arguments, name);
    const double number = text ? parse(text) : *value;

    if (isnan(number)) {
        aps_problems_fail(arguments, APS_EXIT_USAGE,
                          "--%s '%.40s' is not a %s; give %s", name, text, what,
                          takes);
        return -1;
    }
    *value = number;
    return 0;
}

static int read_cores(const struct aps_arguments *arguments,
                      struct aps_cluster *cluster)
{
    const char *text = option(arguments, "cores");
    const double cores = text ? aps_real_parse(text) : 0;
    const double crowd = cluster->machine.ranks_per_host / cores;

    cluster->crowd = 1;
    cluster->cores = INFINITY;
    if (!text)
        return 0;
    if (!(cores > 0 && cores < INFINITY)) {
        aps_problems_fail(arguments, APS_EXIT_USAGE,
                          "--cores '%.40s' is not a number above 0", text);
        return -1;
    }
    if (cluster->file) {
        aps_problems_fail(arguments, APS_EXIT_USAGE,
                          "--cores cannot be combined with --measured, whose "
                          "rates are those of a host with all ranks at work");
        return -1;
    }
    cluster->crowd = crowd > 1 ? crowd : 1;
    cluster->cores = 1 / crowd;
    return 0;
}

static int read_counts(const struct aps_arguments *arguments,
                       struct aps_cluster *cluster)
{
    const char *text = option(arguments, "counts");
    const char *next = text ? text : "4Ki,64Ki,1Mi,16Mi";

    cluster->counts_given = text;
    while (*next) {
        const size_t length = strcspn(next, ",");
        char word[32] = "";
        uintmax_t number;

        if (length < sizeof word)
            memcpy(word, next, length);
        if (cluster->count_count == APS_CLUSTER_COUNTS ||
            aps_whole_parse(word, (uintmax_t)1 << 40, &number) < 0 ||
            number == 0) {
            aps_problems_fail(arguments, APS_EXIT_USAGE,
                              "--counts '%.40s': give up to %d numbers of "
                              "floats, as in 64Ki,1Mi",
                              text, APS_CLUSTER_COUNTS);
            return -1;
        }
        cluster->counts[cluster->count_count++] = (size_t)number;
        next += length + (next[length] == ',');
    }
    return 0;
}

static int read_file(const struct aps_arguments *arguments,
                     struct aps_cluster *cluster, int *status)
{
    struct aps_errors *errors;
    int rc;

    if (!cluster->file)
        return 0;
    errors = aps_command_alloc(1, sizeof *errors);
    rc = aps_measured_read(cluster->file, cluster->measured, errors);
    if (rc < 0)
        *status = aps_problems_report(arguments, APS_EXIT_FAILURE, errors);
    free(errors);
    cluster->machine = cluster->measured->machine;
    cluster->from_file = cluster->measured->formats;
    return rc;
}

static struct aps_clocked *clocked(struct aps_cluster *cluster)
{
    if (!cluster->clocked)
        cluster->clocked = aps_clocked_create();
    if (!cluster->clocked) {
        fputs("apsmpi: out of memory\n", stderr);
        exit(APS_EXIT_FAILURE);
    }
    return cluster->clocked;
}

/* Reads the options that replace numbers of the file. */
static int read_machine(const struct aps_arguments *arguments,
                        struct aps_cluster *cluster)
{
    struct aps_machine *machine = &cluster->machine;
    double rate, latency;

    cluster->file_links = !cluster->file || machine->hosts > 1;
    if (read_whole(arguments, "hosts", HOSTS_MAX, &machine->hosts) < 0 ||
        read_whole(arguments, "ranks-per-host", RANKS_MAX,
                   &machine->ranks_per_host) < 0 ||
        read_cores(arguments, cluster) < 0)
        return -1;
    /* A file of one host has its costs of shared memory. */
    cluster->file_links |= machine->hosts == 1;
    if (!cluster->file_links) {
        machine->between.latency = machine->between.wait = APS_ASSUMED_LATENCY;
        machine->between.bulk = machine->between.rate;
    }
    rate = machine->between.rate;
    latency = machine->between.latency;
    if (read_quantity(arguments, "rate", aps_quantity_rate, "rate",
                      aps_quantity_rates, &rate) < 0 ||
        read_quantity(arguments, "latency", aps_quantity_time, "time",
                      aps_quantity_times, &latency) < 0)
        return -1;
    if (machine->hosts > ALL_RANKS_MAX / machine->ranks_per_host) {
        aps_problems_fail(arguments, APS_EXIT_USAGE,
                          "%d hosts with %d ranks each are more than %d ranks, "
                          "the most that are predicted",
                          machine->hosts, machine->ranks_per_host,
                          ALL_RANKS_MAX);
        return -1;
    }
    if (aps_machine_ranks(machine) < 2) {
        aps_problems_fail(arguments, APS_EXIT_USAGE,
                          "--hosts 1 with --ranks-per-host 1 is a single rank, "
                          "which reduces nothing");
        return -1;
    }
    if (option(arguments, "rate"))
        aps_link_set_rate(&machine->between, rate);
    cluster->rate_given = option(arguments, "rate");
    cluster->latency_given = option(arguments, "latency");
    if (cluster->latency_given) {
        machine->between.wait += latency - machine->between.latency;
        if (machine->between.wait < latency)
            machine->between.wait = latency;
    }
    machine->between.latency = latency;
    aps_machine_oversubscribe(machine, cluster->crowd);
    return 0;
}

int aps_cluster_read(const struct aps_arguments *arguments,
                     struct aps_cluster *cluster, int *status)
{
    const char *given = NULL;

    memset(cluster, 0, sizeof *cluster);
    *status = APS_EXIT_USAGE;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (option(arguments, options[i]))
            given = options[i];
    if (!given)
        return 0;
    cluster->file = option(arguments, "measured");
    cluster->measured = aps_command_alloc(1, sizeof *cluster->measured);
    if (!cluster->file && !option(arguments, "hosts")) {
        aps_problems_fail(arguments, APS_EXIT_USAGE,
                          "--%s needs --hosts or --measured", given);
        goto fail;
    }
    if (!cluster->file && !option(arguments, "rate") &&
        strcmp(option(arguments, "hosts"), "1") != 0) {
        aps_problems_fail(arguments, APS_EXIT_USAGE,
                          "--hosts needs --rate, what the link of a host "
                          "carries, or --measured");
        goto fail;
    }
    if (read_file(arguments, cluster, status) < 0)
        goto fail;
    if (!cluster->file) {
        cluster->machine.hosts = cluster->machine.ranks_per_host = 1;
        aps_machine_assume(clocked(cluster), &cluster->machine);
    }
    if (read_machine(arguments, cluster) < 0 ||
        read_counts(arguments, cluster) < 0)
        goto fail;
    return 1;

fail:
    aps_cluster_clear(cluster);
    return -1;
}

void aps_cluster_set_threads(struct aps_cluster *cluster, int threads)
{
    cluster->threads = threads > cluster->cores ? (int)cluster->cores : threads;
}

void aps_cluster_clear(struct aps_cluster *cluster)
{
    free(cluster->measured);
    aps_clocked_destroy(cluster->clocked);
    cluster->measured = NULL;
    cluster->clocked = NULL;
}

const struct aps_codec_rates *aps_cluster_rates(struct aps_cluster *cluster,
                                                const struct aps_format *format)
{
    struct aps_measured *measured = cluster->measured;
    const struct aps_codec_rates *known = aps_measured_codec(measured, format);
    int i = measured->formats;

    if (known)
        return known;
    if (i == APS_MEASURED_FORMATS)
        i--;
    measured->codecs[i].format = *format;
    aps_clocked_codec(clocked(cluster), format, &measured->codecs[i].rates);
    aps_codec_rates_oversubscribe(&measured->codecs[i].rates, cluster->crowd);
    measured->formats = i + 1;
    return &measured->codecs[i].rates;
}

void aps_cluster_print(const struct aps_cluster *cluster)
{
    const struct aps_machine *machine = &cluster->machine;
    const struct aps_measured *measured = cluster->measured;
    char rate[TIME_MAX], latency[TIME_MAX], message[TIME_MAX], busy[120];
    char inside[96] = "", note[1600];

    if (machine->ranks_per_host > 1)
        snprintf(
            inside, sizeof inside,
            "ranks of a host exchange messages at %s and %s, ",
            aps_quantity_format_rate(machine->inside.rate, rate, sizeof rate),
            aps_quantity_format_time(machine->inside.latency, latency,
                                     sizeof latency));
    aps_quantity_format_rate(machine->between.rate, rate, sizeof rate);
    aps_quantity_format_time(machine->between.latency, latency, sizeof latency);
    aps_quantity_format_time(machine->between.message, message, sizeof message);
    snprintf(note, sizeof note,
             "prediction: %d host%s, %d rank%s each, links of %s and %s. ",
             machine->hosts, aps_plural((size_t)machine->hosts),
             machine->ranks_per_host,
             aps_plural((size_t)machine->ranks_per_host), rate, latency);
    if (cluster->threads > 1)
        snprintf(note + strlen(note), sizeof note - strlen(note),
                 "%d threads share long slices of a rank, each on a core of "
                 "its own. ",
                 cluster->threads);
    if (cluster->file)
        snprintf(note + strlen(note), sizeof note - strlen(note),
                 "All other costs were measured (%s, %d host%s, %d rank%s "
                 "each)%s.",
                 cluster->file, cluster->measured->machine.hosts,
                 aps_plural((size_t)cluster->measured->machine.hosts),
                 cluster->measured->machine.ranks_per_host,
                 aps_plural((size_t)cluster->measured->machine.ranks_per_host),
                 cluster->measured->formats > cluster->from_file
                     ? ", and now, on this machine, the codecs that the file "
                       "lacks"
                     : "");
    else
        aps_print(
            note + strlen(note), sizeof note - strlen(note),
            "Codecs and memory were measured now, on one core of this "
            "machine; a core serves %.3g rank%s. Assumed: %sa message takes "
            "%s of a core, native MPI uses all of a link's rate. `apsmpi "
            "measure` finds out on the cluster itself.",
            cluster->crowd, cluster->crowd == 1 ? "" : "s", inside, message);
    if (cluster->file && aps_measured_is_busy(measured))
        snprintf(
            note + strlen(note), sizeof note - strlen(note),
            " The machine was busy when the file was measured (%s): do not use "
            "these predictions, and measure again on an idle machine.",
            aps_measured_busy(measured, NULL, busy, sizeof busy));
    else if (cluster->file && measured->spread > APS_MEASURED_SPREAD)
        aps_print(
            note + strlen(note), sizeof note - strlen(note),
            " The file's repetitions disagree by %.0f %%: the machines did "
            "other work, and predictions may be as wrong.",
            100 * measured->spread);
    if (!cluster->file_links)
        snprintf(note + strlen(note), sizeof note - strlen(note),
                 " The file is of one host, without links: %s%s%sand a core "
                 "needs as much for a message between hosts as inside one.",
                 cluster->latency_given ? "" : "the latency is assumed, ",
                 cluster->rate_given
                     ? ""
                     : "the rate is that of shared memory (give --rate), ",
                 "native MPI is assumed to use no more than a link's rate, ");
    aps_command_note(note);
}
