/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank runs with another floating-point environment than the other ranks: the
 * results are those of the default environment on all ranks, nothing traps, and the
 * rank's environment does not change. `environment policy` prints the policy; the
 * arguments are the environment and the time at which it is entered.
 */
#include "config.h"

#include <dlfcn.h>
#include <fenv.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "calls.h"
#include "mpitap.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct call calls[64];
static size_t call_count;

static void add_ways(void)
{
    static const char *const formats[] = {"e4m3", "e3m0", "e8m7", "e8m23"};
    static const struct way shapes[] = {
        {.scale = SCALE_APS},
        {.scale = SCALE_TIGHT, .reduce = REDUCE_HIERARCHICAL},
        /* The nearest float is below: rounding upward would read another value. */
        {.scale = SCALE_FIXED, .fixed = 0.7f, .reduce = REDUCE_HIERARCHICAL},
        {.scale = SCALE_NONE, .reduce = REDUCE_HIERARCHICAL, .group = 1},
    };

    for (size_t f = 0; f < LENGTH(formats); f++) {
        for (size_t s = 0; s < LENGTH(shapes); s++) {
            struct way way = shapes[s];

            way.format = formats[f];
            for (int kind = FILL_GRADIENTS; kind <= FILL_SUBNORMAL; kind++)
                calls[call_count++] =
                    (struct call){way, 1025, (enum fill)kind, HOW_PLAIN};
        }
    }
}

static void flush_to_zero(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

static void round_upward(void)
{
    fesetround(FE_UPWARD);
}

static void enable_traps(void)
{
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
}

static void change_nothing(void)
{
}

static const struct {
    const char *name;
    void (*enter)(void);
} environments[] = {
    {"default", change_nothing},
    {"flush", flush_to_zero},
    {"upward", round_upward},
    {"traps", enable_traps},
};

static unsigned control(void)
{
#if defined(__x86_64__)
    return _mm_getcsr();
#else
    return 0;
#endif
}

/* Enters the environment in which this rank makes the calls. */
static void (*enter)(void) = change_nothing;

#if defined(__x86_64__)
/* MPICH also traps, in MPI_Finalize: only a trap in the library is an error. */
static void on_trap(int number, siginfo_t *info, void *context)
{
    static const char text[] = "# a trap inside libapsmpi.so\n";
    ucontext_t *user = context;
    Dl_info object;

    (void)number;
    if (dladdr(info->si_addr, &object) &&
        strcmp(basename(object.dli_fname), "libapsmpi.so") == 0) {
        if (write(STDERR_FILENO, text, sizeof text - 1) > 0)
            _exit(3);
        _exit(4);
    }
    user->uc_mcontext.fpregs->mxcsr |= 0x1f80; /* go on without traps */
}
#endif

static void watch_traps(void)
{
#if defined(__x86_64__)
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

    sigaction(SIGFPE, &action, NULL);
#endif
}

/* Computes the reference, in the default environment. */
static void reference(const struct way *way, int ranks, size_t n,
                      float *const in[], float *out)
{
    fenv_t saved;

    fegetenv(&saved);
    fesetenv(FE_DFL_ENV);
    reference_reduce(way, ranks, n, in, out);
    fesetenv(&saved);
}

/* Makes the calls in the environment of `enter`, and all else in the default one. */
static void run_all(const char *name)
{
    float *in[RANKS_MAX], out[1025], expected[1025];
    bool same = true, kept = true, right = true;

    for (int r = 0; r < mpitap_size(); r++)
        in[r] = malloc(sizeof out);
    for (size_t i = 0; i < call_count; i++) {
        fenv_t outside;
        unsigned before, after;
        int traps, direction;

        for (int r = 0; r < mpitap_size(); r++)
            fill(calls[i].fill, i, r, 1025, in[r]);
        fegetenv(&outside);
        enter();
        before = control();
        traps = fegetexcept();
        direction = fegetround();
        call_make(&calls[i], in[mpitap_rank()], out);
        after = control();
        kept &= before == after && traps == fegetexcept() &&
                direction == fegetround();
        fesetenv(&outside);
        same &= same_on_all(out, sizeof out);
        if (mpitap_rank() != 0)
            continue;
        reference(&calls[i].way, mpitap_size(), 1025, in, expected);
        if (first_difference(1025, expected, out) < 1025) {
            char way[128];
            size_t at = first_difference(1025, expected, out);

            diag("%s, %s: element %zu is %a, expected %a",
                 way_name(&calls[i].way, way, sizeof way),
                 fill_names[calls[i].fill], at, out[at], expected[at]);
            right = false;
        }
    }
    for (int r = 0; r < mpitap_size(); r++)
        free(in[r]);
    ok_all(same, "%s: the same on all ranks", name);
    ok_all(right, "%s: as in the default environment", name);
    ok_all(kept, "%s: the environment is as before", name);
}

/* environment NAME RANK init|call */
/* Returns the rank, before MPI tells it, from the launcher's variable. */
static int launched_as(void)
{
    const char *rank = getenv("PMI_RANK");

    return atoi(rank ? rank : getenv("OMPI_COMM_WORLD_RANK"));
}

int main(int argc, char **argv)
{
    bool early;
    int status, odd_rank, rank;
    fenv_t *outside = NULL, saved;

    add_ways();
    if (argc > 1 && strcmp(argv[1], "policy") == 0) {
        calls_print_policy(stdout, call_count, calls);
        return 0;
    }
    if (argc != 4)
        return 2;
    odd_rank = atoi(argv[2]);
    early = strcmp(argv[3], "init") == 0;
    rank = launched_as();
    for (size_t i = 0; i < LENGTH(environments); i++)
        if (rank == odd_rank && strcmp(environments[i].name, argv[1]) == 0)
            enter = environments[i].enter;
    if (early) {
        outside = &saved;
        fegetenv(outside);
        enter();
    }
    MPI_Init(&argc, &argv);
    if (early)
        fesetenv(outside);
    watch_traps();
    mpitap_begin();
    run_all(argv[1]);
    expect_rewritten(call_count);
    status = mpitap_end();
    enter();
    MPI_Finalize();
    return status;
}
