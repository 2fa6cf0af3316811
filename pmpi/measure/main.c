/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Program apsmpi-measure, which `apsmpi measure` starts (apsmpi(1)).
 */
#include "config.h"

#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/message.h"
#include "base/options.h"
#include "measure/links.h"
#include "measure/natives.h"
#include "measure/output.h"
#include "measure/rank_layout.h"
#include "number/parse.h"
#include "predict/clocked.h"
#include "predict/measured.h"

/* `apsmpi explain` measures other formats itself. */
static const char *const formats[] = {
    "e5m2",    "e4m3",  "e4m3fn",  "e5m10",    "e8m7",
    "e3m0",    "e3m2",  "e2m1fn",  "e6m9",     "mx-e4m3fn",
    "mx-e5m2", "nvfp4", "bfp7/64", "int8/512", "int4/512",
};

/* Reads the command line, which `apsmpi measure` has checked; that program
 * gives help. Returns 0, or -1 for any other command line. */
static int parse(int argc, char **argv, const char **output)
{
    *output = "apsmpi-measured.yaml";
    if (argc == 3 && strcmp(argv[1], "--output") == 0) {
        *output = argv[2];
        return 0;
    }
    return argc == 1 ? 0 : -1;
}

/* --- measuring ------------------------------------------------------------- */

/* Measures codecs and memory on the slowest rank, while all ranks measure the
 * same. */
static int measure_cores(struct aps_rank_layout *site,
                         struct aps_measured *measured, double crowd)
{
    struct aps_clocked *clocked = aps_clocked_create();
    const bool good = aps_rank_layout_agree(site, clocked != NULL) == 0;
    struct aps_error error;

    if (good) {
        measured->machine.copy =
            crowd * aps_rank_layout_max(site, aps_clocked_copy(clocked));
        measured->machine.add =
            crowd * aps_rank_layout_max(site, aps_clocked_add(clocked));
        aps_clocked_memory(clocked, measured->machine.memory);
        for (int i = 0; i < APS_MEMORY_SIZES; i++)
            measured->machine.memory[i] =
                crowd * aps_rank_layout_max(site, measured->machine.memory[i]);
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
            struct aps_codec_rates rates;

            (void)aps_format_parse(formats[i], &measured->codecs[i].format,
                                   &error);
            aps_clocked_codec(clocked, &measured->codecs[i].format, &rates);
            rates.magnitude = aps_rank_layout_max(site, rates.magnitude);
            rates.encode = aps_rank_layout_max(site, rates.encode);
            rates.decode = aps_rank_layout_max(site, rates.decode);
            rates.add = aps_rank_layout_max(site, rates.add);
            rates.round = aps_rank_layout_max(site, rates.round);
            aps_codec_rates_oversubscribe(&rates, crowd);
            measured->codecs[i].rates = rates;
            measured->formats = (int)i + 1;
        }
    }
    aps_clocked_destroy(clocked);
    return good ? 0 : -1;
}

static int measure_link(struct aps_rank_layout *site, bool between,
                        double crowd, const struct aps_machine *machine,
                        struct aps_link *link, struct aps_spread *spread)
{
    return aps_links_measure(site, between, crowd, link, spread) < 0 ||
                   aps_natives_measure(site, between, machine, link, spread) < 0
               ? -1
               : 0;
}

static int measure(struct aps_rank_layout *site, struct aps_measured *measured,
                   struct aps_spread *spread, char *cause, size_t size)
{
    struct aps_machine *machine = &measured->machine;
    double crowd;

    (void)aps_rank_layout_max(site, 0); /* all ranks compute at the same time */
    crowd = aps_rank_layout_max(site, aps_clocked_oversubscription());
    machine->hosts = site->hosts;
    machine->ranks_per_host = site->per_host;
    snprintf(cause, size, "out of memory, or a message was lost");
    if (measure_cores(site, measured, crowd) < 0)
        return -1;
    if (site->hosts > 1 &&
        measure_link(site, true, crowd, machine, &machine->between, spread) < 0)
        return -1;
    if (site->per_host > 1 &&
        measure_link(site, false, crowd, machine, &machine->inside, spread) < 0)
        return -1;
    /* Predictions do not use the values of a missing kind of link. */
    if (site->hosts == 1)
        machine->between = machine->inside;
    if (site->per_host == 1)
        machine->inside = machine->between;
    machine->mark = 1e-7;
    return site->per_host > 1
               ? aps_links_mark(site, &machine->mark, cause, size)
               : 0;
}

/* Returns 0, or 1 after a message. */
static int write_file(const struct aps_measured *measured,
                      struct aps_output *output)
{
    char comment[200], date[32] = "";
    const time_t today = time(NULL);
    struct tm parts;
    int rc = aps_output_begin(output);

    if (localtime_r(&today, &parts))
        strftime(date, sizeof date, "%Y-%m-%d", &parts);
    snprintf(comment, sizeof comment,
             "apsmpi-measure %s, %s, %d host%s with %d rank%s each",
             PACKAGE_VERSION, date, measured->machine.hosts,
             measured->machine.hosts == 1 ? "" : "s",
             measured->machine.ranks_per_host,
             measured->machine.ranks_per_host == 1 ? "" : "s");
    if (rc == 0) {
        aps_measured_write(measured, comment, output->stream);
        rc = aps_output_end(output);
    }
    if (rc < 0)
        aps_message(-1, "%s: %s", output->path, strerror(errno));
    else if (strcmp(output->path, "-") != 0)
        aps_message(-1, "%s written: apsmpi explain --measured %s POLICY",
                    output->path, output->path);
    return rc < 0;
}

/* COLLECTIVE. Opens the file on rank 0. Returns false on all ranks if rank 0
 * cannot open it. */
static bool open_file(MPI_Comm comm, int rank, struct aps_output *output,
                      const char *path)
{
    int good = 1;

    if (rank == 0 && aps_output_open(output, path) < 0) {
        aps_message(-1, "measure: %s: %s; nothing was measured", path,
                    strerror(errno));
        good = 0;
    }
    return PMPI_Bcast(&good, 1, MPI_INT, 0, comm) == MPI_SUCCESS && good;
}

/* COLLECTIVE. Measures with several ranks; rank 0 writes the file. Returns the
 * exit status. */
static int run(const char *path)
{
    static struct aps_measured measured;
    struct aps_errors errors = {.count = 0}, warnings = {.count = 0};
    struct aps_options options;
    struct aps_spread spread = {0};
    struct aps_output output = {.stream = NULL};
    struct aps_rank_layout site;
    char cause[256] = "", busy[240];
    int rank, rc, status = 1;
    MPI_Comm comm;

    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(comm, &rank);
    if (!open_file(comm, rank, &output, path)) {
        PMPI_Comm_free(&comm);
        return 1;
    }
    aps_options_read(&options, &errors, &warnings);
    rc = aps_rank_layout_find(comm, options.test_nodes, &site, cause,
                              sizeof cause);
    if (rc == 0)
        rc = measure(&site, &measured, &spread, cause, sizeof cause);
    measured.spread = spread.greatest;
    if (rc == 0)
        status = rank == 0 ? write_file(&measured, &output) : 0;
    else if (rank == 0)
        aps_message(-1, "measure: %s",
                    cause[0] != '\0' ? cause : "a message was lost");
    if (rc == 0 && rank == 0 && aps_measured_is_busy(&measured))
        aps_message(
            -1,
            "measure: the machines were busy: %s; do not use the file, "
            "measure again on idle machines",
            aps_measured_busy(&measured, spread.what, busy, sizeof busy));
    else if (rc == 0 && rank == 0 && spread.greatest > APS_MEASURED_SPREAD)
        aps_message(-1,
                    "measure: repetitions disagree by %.0f %% (%s): the "
                    "machines did other work; measure again while they do not",
                    100 * spread.greatest, spread.what);
    aps_output_drop(&output);
    aps_options_clear(&options);
    aps_rank_layout_clear(&site);
    PMPI_Comm_free(&comm);
    return status;
}

int main(int argc, char **argv)
{
    const char *output;
    int rank, size, status = 2;

    PMPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (parse(argc, argv, &output) < 0) {
        if (rank == 0)
            aps_message(-1, "apsmpi-measure is started by apsmpi measure");
    } else if (size == 1) {
        aps_message(-1, "measure: a single rank sends nothing; start as many "
                        "as training has: mpiexec -n N apsmpi measure");
    } else {
        status = run(output);
    }
    PMPI_Finalize();
    return status;
}
