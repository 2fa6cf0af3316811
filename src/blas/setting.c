/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "setting.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/launch.h"
#include "base/message.h"
#include "base/options.h"

static struct aps_policy *policy; /* lives as long as the process */
static const struct aps_policy_gemm *setting;
static bool summary;
static uint32_t rank;
static pid_t process; /* a fork of it prints nothing */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_policy(const char *path, struct aps_errors *errors)
{
    struct aps_policy_source source;

    if (aps_policy_source_read(path, &source, errors) < 0)
        return;
    if (aps_policy_parse(&source, &policy, errors) == 0)
        setting = aps_policy_gemm(policy);
    aps_policy_source_clear(&source);
}

static void read_setting(void)
{
    static struct aps_errors errors, warnings; /* too big for a stack */
    const int launched = aps_launch_rank();
    struct aps_options options;

    aps_options_read(&options, &errors, &warnings);
    aps_message_errors(-1, &warnings);
    if (options.policy && options.enabled)
        read_policy(options.policy, &errors);
    rank = launched > 0 ? (uint32_t)launched : 0;
    summary = options.summary && !options.summary_file && rank == 0;
    process = getpid();
    aps_options_clear(&options);
    if (errors.count == 0)
        return;
    aps_message_errors(-1, &errors);
    if (options.pass_on_error) {
        aps_message(
            -1,
            "bad policy or variable: the program's BLAS computes all matrix "
            "products (APSMPI_ON_ERROR=pass)");
        setting = NULL;
        return;
    }
    aps_message(
        -1,
        "bad policy or variable: the program stops at its first matrix product "
        "(with APSMPI_ON_ERROR=pass its BLAS computes all of them)");
    /* Not exit(): this may be any thread, with locks of the program held for
     * which its exit handlers wait. */
    _exit(EXIT_FAILURE);
}

const struct aps_policy_gemm *aps_gemm_setting(void)
{
    pthread_once(&once, read_setting);
    return setting;
}

uint32_t aps_gemm_rank(void)
{
    return rank;
}

bool aps_gemm_summary(void)
{
    return summary && process == getpid();
}
