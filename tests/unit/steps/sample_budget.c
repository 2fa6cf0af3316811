/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples take at most their share of a program's time, and are taken. */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "steps/sample_budget.h"
#include "tests/tap/tap.h"

struct outcome {
    long samples;
    double cost;  /* cost of all samples */
    double worst; /* share of the time so far, after the third sample */
};

/* Runs a program whose step takes `step` seconds and whose sample takes `cost`
 * more, twice as much in the second half; a step has `layers` calls. */
static struct outcome run(double share, double step, double cost, int layers,
                          long steps)
{
    struct aps_sample_budget budget = {.share = share};
    struct outcome outcome = {0};
    double now = 0;

    for (long i = 0; i < steps; i++) {
        bool sampled = false;

        for (int layer = 0; layer < layers; layer++) {
            now += step / layers;
            if (!aps_sample_budget_is_due(&budget, 0, i))
                continue;
            sampled = true;
            now += cost / layers * (1 + (i > steps / 2));
            outcome.cost += cost / layers * (1 + (i > steps / 2));
            aps_sample_budget_end(&budget, 0, i,
                                  cost / layers * (1 + (i > steps / 2)), now);
        }
        outcome.samples += sampled;
        if (outcome.samples > 2 && i != steps / 2 + 1)
            outcome.worst =
                fmax(outcome.worst, outcome.cost / (now - outcome.cost));
    }
    return outcome;
}

static void test_share(void)
{
    static const struct {
        double share, step, cost;
        int layers;
        long steps, least;
    } cases[] = {
        {0.05, 0.01, 0.02, 1, 10000, 150}, {0.05, 0.01, 0.02, 7, 10000, 150},
        {0.05, 0.001, 0.5, 3, 200000, 10}, {0.01, 0.1, 0.0001, 3, 1000, 900},
        {1, 0.01, 0.01, 2, 1000, 700},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct outcome outcome =
            run(cases[i].share, cases[i].step, cases[i].cost, cases[i].layers,
                cases[i].steps);
        const double all = (double)cases[i].steps * cases[i].step;

        /* One sample may be owed whose cost differs from the last one. */
        ok(outcome.cost <= cases[i].share * all + 2 * cases[i].cost,
           "case %zu: the share is kept", i);
        ok(outcome.samples >= cases[i].least, "... and samples are taken");
        diag("%ld samples, %.3g of the time", outcome.samples,
             outcome.cost / all);
    }
}

/* All calls of a sampled step are sampled. */
static void test_whole_steps(void)
{
    struct aps_sample_budget budget = {.share = 0.05};
    bool whole = true;
    double now = 0;

    for (long i = 0; i < 3000; i++) {
        const bool first = aps_sample_budget_is_due(&budget, 0, i);

        for (int layer = 0; layer < 5; layer++) {
            whole &= aps_sample_budget_is_due(&budget, 0, i) == first;
            now += 0.002;
            if (first) {
                now += 0.01;
                aps_sample_budget_end(&budget, 0, i, 0.01, now);
            }
        }
    }
    ok(whole, "a step is sampled as a whole");
}

static void test_classes(void)
{
    struct aps_sample_budget budget = {.share = 0.05};
    double now = 0, cost = 0;
    long numbers[2] = {0};
    bool shared = false;

    for (long i = 0; i < 20000; i++) {
        const size_t class = i % 4 == 0;

        now += 0.01;
        if (aps_sample_budget_is_due(&budget, class, numbers[class])) {
            now += 0.02;
            cost += 0.02;
            aps_sample_budget_end(&budget, class, numbers[class], 0.02, now);
        }
        numbers[class]++;
    }
    ok(cost / (now - cost) <= 0.051, "classes share the share");
    for (size_t count = 1; count != 0; count <<= 1)
        shared |=
            aps_sample_budget_class(count) >= APS_SAMPLE_BUDGET_LAYERS ||
            aps_sample_budget_class(count - 1) >= APS_SAMPLE_BUDGET_LAYERS;
    ok(!shared, "any count has a class, which is not that of layers");
}

/* Samples are spread over the run, also if the program pauses or if their costs differ:
 * after the first few samples, `nearest` to `farthest` steps separate two samples. */
static void test_spread(void)
{
    static const struct {
        const char *what;
        double pause, noise;
        long nearest, farthest;
    } cases[] = {
        {"a steady program", 0, 0, 40, 42},
        {"pauses of 20 seconds", 20, 0, 20, 42},
        {"costs that differ by a factor of 3", 0, 0.5, 20, 80},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct aps_sample_budget budget = {.share = 0.05};
        long last = 0, nearest = LONG_MAX, farthest = 0, samples = 0,
             eighths[8];
        double now = 0, cost = 0.02;
        uint32_t random = 1;

        memset(eighths, 0, sizeof eighths);
        for (long k = 0; k < 16000; k++) {
            now += 0.01 + (k % 4000 == 3999 ? cases[i].pause : 0);
            if (!aps_sample_budget_is_due(&budget, 0, k))
                continue;
            random = random * 1664525 + 1013904223;
            cost = 0.02 * (1 + cases[i].noise * ((random >> 16) / 32768. - 1));
            now += cost;
            aps_sample_budget_end(&budget, 0, k, cost, now);
            if (++samples > 10) {
                nearest = k - last < nearest ? k - last : nearest;
                farthest = k - last > farthest ? k - last : farthest;
            }
            eighths[k / 2000]++;
            last = k;
        }
        diag("%s: %ld samples, %ld to %ld steps apart", cases[i].what, samples,
             nearest, farthest);
        ok(nearest >= cases[i].nearest && farthest <= cases[i].farthest,
           "%s: samples are neither nearer nor farther", cases[i].what);
        for (size_t k = 1; k < 8; k++)
            eighths[0] = eighths[k] < eighths[0] ? eighths[k] : eighths[0];
        ok(eighths[0] >= samples / 16, "... each eighth of the run has some");
    }
}

static void test_put_off(void)
{
    struct aps_sample_budget budget = {.share = 0.05};

    ok(!aps_sample_budget_is_due(&budget, 3, 0) &&
           aps_sample_budget_is_due(&budget, 3, 2),
       "a sample is due");
    aps_sample_budget_postpone(&budget, 3, 2);
    ok(!aps_sample_budget_is_due(&budget, 3, 2) &&
           !aps_sample_budget_is_due(&budget, 3, 3) &&
           aps_sample_budget_is_due(&budget, 3, 102),
       "one that could not be taken is put off");
    aps_sample_budget_postpone(&budget, 3, LONG_MAX - 1);
    ok(!aps_sample_budget_is_due(&budget, 3, LONG_MAX - 1),
       "... for good at the end");
}

/* A sampled layer owes more steps than one that could not be sampled postpones. */
static void test_put_off_owed(void)
{
    struct aps_sample_budget budget = {.share = 0.05};

    ok(!aps_sample_budget_is_due(&budget, 0, 0) &&
           aps_sample_budget_is_due(&budget, 0, 2),
       "two layers of a step are due");
    aps_sample_budget_end(&budget, 0, 2, 1, 1.02);
    aps_sample_budget_postpone(&budget, 0, 2);
    ok(!aps_sample_budget_is_due(&budget, 0, 1000) &&
           aps_sample_budget_is_due(&budget, 0, 1000000),
       "what one has cost is earned, also where the other is put off");
}

static void test_no_time(void)
{
    struct aps_sample_budget budget = {.share = 0.05};

    ok(!aps_sample_budget_is_due(&budget, 0, 0) &&
           aps_sample_budget_is_due(&budget, 0, 2),
       "the first steps tell how long a step takes");
    aps_sample_budget_end(&budget, 0, 2, 1, 1);
    ok(!aps_sample_budget_is_due(&budget, 0, 1000) &&
           !aps_sample_budget_is_due(&budget, 0, 3),
       "steps that take no time do not make it divide by zero");
}

int main(void)
{
    test_share();
    test_whole_steps();
    test_classes();
    test_spread();
    test_put_off();
    test_put_off_owed();
    test_no_time();
    return done_testing();
}
