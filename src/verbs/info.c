/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi info: shows the installation, and the effect of the environment.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/options.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/installed.h"
#include "cli/problems.h"

/* The reason why there is no GPU support. */
#ifdef APS_CUDA_BUILT
#define CUDA_BUILT true
#define CUDA_TEXT APS_CUDA_BUILT
#else
#define CUDA_BUILT false
#define CUDA_TEXT APS_CUDA_MISSING
#endif

/* Returns errors and warnings about variables, as the library would report
 * them. */
static struct aps_errors *read_problems(void)
{
    struct aps_errors *errors = aps_command_alloc(1, sizeof *errors);
    struct aps_errors *unknown = aps_command_alloc(1, sizeof *unknown);
    struct aps_options options;

    aps_options_read(&options, errors, unknown);
    aps_options_clear(&options);
    for (size_t i = 0; i < aps_errors_kept(unknown); i++)
        aps_errors_warn(errors, NULL, 0, 0, "%s", unknown->list[i].text);
    errors->warning_count += unknown->count - aps_errors_kept(unknown);
    free(unknown);
    return errors;
}

static const char *source_name(const struct aps_option_state *state)
{
    return state->from_environment ? "environment" : "default";
}

/* --- JSON ---------------------------------------------------------------- */

static void write_libraries(struct aps_json *json,
                            const struct aps_installed *list, size_t count)
{
    aps_json_open_array(json, "libraries");
    for (size_t i = 0; i < count; i++) {
        aps_json_open_object(json, NULL);
        aps_json_text(json, "file", list[i].file);
        aps_json_text(json, "version",
                      list[i].version[0] ? list[i].version : NULL);
        aps_json_text(json, "mpi", list[i].mpi[0] ? list[i].mpi : NULL);
        aps_json_text(json, "sources",
                      list[i].sources[0] ? list[i].sources : NULL);
        aps_json_text(json, "plugin", list[i].plugin);
        aps_json_bool(json, "plugin_found", list[i].plugin_found);
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
}

static void write_kernels(struct aps_json *json)
{
    aps_json_open_object(json, "kernels");
    aps_json_open_array(json, "variants");
    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++)
        if (aps_cpu_supported(cpu))
            aps_json_text(json, NULL, aps_cpu_name(cpu));
    aps_json_close_array(json);
    aps_json_text(json, "chosen", aps_cpu_name(aps_cpu_chosen()));
    aps_json_close_object(json);
}

static void write_variables(struct aps_json *json)
{
    struct aps_option_state state;

    aps_json_open_array(json, "variables");
    for (size_t i = 0; aps_options_state(i, &state); i++) {
        aps_json_open_object(json, NULL);
        aps_json_text(json, "name", state.name);
        aps_json_text(json, "value", state.value);
        aps_json_text(json, "source", source_name(&state));
        aps_json_text(json, "values", state.values);
        aps_json_text(json, "meaning", state.meaning);
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
}

static void write_info(const struct aps_arguments *arguments,
                       const struct aps_installed *list, size_t count,
                       const struct aps_errors *errors)
{
    struct aps_json json;

    aps_problems_open(&json, arguments, errors->count == 0);
    aps_problems_write(&json, errors);
    aps_json_text(&json, "mpi", APS_MPI_VERSION);
    aps_json_text(&json, "cuda", CUDA_BUILT ? CUDA_TEXT : NULL);
    aps_json_text(&json, "cuda_missing", CUDA_BUILT ? NULL : CUDA_TEXT);
    write_libraries(&json, list, count);
    write_kernels(&json);
    write_variables(&json);
    aps_problems_close(&json);
}

/* --- text ---------------------------------------------------------------- */

static void print_libraries(const struct aps_installed *list, size_t count)
{
    if (count == 0)
        printf("library    none is installed with this command\n");
    for (size_t i = 0; i < count; i++) {
        printf("library    %s\n", list[i].file);
        if (list[i].mpi[0])
            printf("           version %s, for %s\n", list[i].version,
                   list[i].mpi);
        if (list[i].sources[0])
            printf("           sources %s\n", list[i].sources);
        printf("           plugin for GPU memory: %s%s\n",
               list[i].plugin_found ? "" : "none, there is no ",
               list[i].plugin);
    }
}

static void print_kernels(void)
{
    printf("kernels   ");
    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++)
        if (aps_cpu_supported(cpu))
            printf(" %s%s", aps_cpu_name(cpu),
                   cpu == aps_cpu_chosen() ? " (chosen)" : "");
    printf("\n");
}

static void print_variables(void)
{
    static const struct aps_column heads[] = {
        {"variable", false}, {"value", false}, {"from", false}};
    struct aps_columns *columns = aps_columns_create(heads, 3);
    struct aps_option_state state;

    for (size_t i = 0; aps_options_state(i, &state); i++) {
        const char *cells[] = {state.name, state.value ? state.value : "-",
                               source_name(&state)};

        aps_columns_add(columns, cells);
    }
    aps_columns_print(columns);
    aps_columns_destroy(columns);
}

static int run(const struct aps_arguments *arguments)
{
    struct aps_errors *errors = read_problems();
    size_t count;
    struct aps_installed *list = aps_installed_find(&count);
    const int status = errors->count == 0 ? APS_EXIT_OK : APS_EXIT_FAILURE;

    if (arguments->json) {
        write_info(arguments, list, count, errors);
    } else {
        aps_problems_print(errors);
        printf("apsmpi     " PACKAGE_VERSION ", built with " APS_MPI_VERSION
               "\n");
        printf("CUDA       %s%s\n", CUDA_BUILT ? "" : "no: ", CUDA_TEXT);
        print_kernels();
        print_libraries(list, count);
        printf("\n");
        print_variables();
    }
    aps_installed_free(list, count);
    free(errors);
    return status;
}

const struct aps_subcommand aps_subcommand_info = {
    .name = "info",
    .summary = "what is installed, and what the variables are set to",
    .operands = "",
    .help =
        "Prints the version, the MPI and the CUDA of the build, the variants\n"
        "of the kernels that this machine can run and the one that is chosen,\n"
        "the installed libraries, and every variable with its value and where\n"
        "the value comes from. The exit status is 1 if a value is wrong.\n",
    .options = {{"json", NULL, "the same as a JSON object"}},
    .run = run,
};
