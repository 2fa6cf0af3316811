/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instructions.h"

#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS_MAX 100000000L

static void child_run(void (*run)(void *state), void *state)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(1);
    raise(SIGSTOP);
    run(state);
    _exit(0);
}

long bench_instructions(void (*run)(void *state), void *state)
{
    const pid_t child = fork();
    long steps = 0;
    int status = 0;

    if (child < 0)
        return -1;
    if (child == 0)
        child_run(run, state);
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
           steps < STEPS_MAX) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0)
            break;
        steps++;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return steps;
    if (!WIFEXITED(status)) {
        kill(child, SIGKILL);
        (void)waitpid(child, &status, 0);
    }
    return -1;
}
