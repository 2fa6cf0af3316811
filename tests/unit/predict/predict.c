/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of reductions against closed forms, derived by hand from the
 * algorithms: S0, section 4.3, and Thakur, Rabenseifner and Gropp (2005).
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "number/parse.h"
#include "predict/native.h"
#include "predict/predict.h"
#include "predict/stages.h"
#include "tap.h"

#define ALPHA 1e-3 /* long enough to dominate */

/* Only the latency of messages counts: the rates are unlimited. */
static struct aps_machine latency_alone(int hosts, int ranks)
{
    return (struct aps_machine){
        .hosts = hosts,
        .ranks_per_host = ranks,
        .between = {.latency = ALPHA,
                    .wait = ALPHA,
                    .rate = 1e18,
                    .bulk = 1e18},
        .inside = {.latency = ALPHA, .wait = ALPHA, .rate = 1e18, .bulk = 1e18},
    };
}

/* Only links of `rate` bytes a second count. */
static struct aps_machine rate_alone(int hosts, int ranks, double rate)
{
    return (struct aps_machine){
        .hosts = hosts,
        .ranks_per_host = ranks,
        .between = {.rate = rate, .bulk = rate},
        .inside = {.rate = 1e18, .bulk = 1e18},
    };
}

static struct aps_plan plan_of(enum aps_reduce_kind reduce, const char *format)
{
    struct aps_plan plan = {.rewrite = true,
                            .reduce = reduce,
                            .group = APS_GROUP_NODE,
                            .scale = {APS_SCALE_APS_TIGHT}};

    if (aps_format_parse(format, &plan.format, NULL) < 0)
        bail_out("%s", format);
    plan.sums = plan.format;
    return plan;
}

static double seconds(const struct aps_machine *machine,
                      const struct aps_plan *plan, size_t count, int group)
{
    const struct aps_predicted_call call = {
        .machine = machine, .plan = plan, .count = count, .group = group};

    return aps_predict(&call).seconds;
}

static void is_near(double got, double wanted, double part, const char *name)
{
    if (!ok(fabs(got - wanted) <= part * fabs(wanted), "%s", name))
        diag("got %g, wanted %g", got, wanted);
}

/* Only work on values counts: one nanosecond for each value and pass. */
static double work_of(const struct aps_plan *plan, int hosts, size_t count,
                      int threads)
{
    const struct aps_machine machine = rate_alone(hosts, 1, 1e18);
    const struct aps_predicted_call call = {
        .machine = &machine,
        .plan = plan,
        .rates = {1e-9, 1e-9, 1e-9, 1e-9, 1e-9},
        .count = count,
        .group = 1,
        .threads = threads};

    return aps_predict(&call).seconds;
}

/*
 * A rank of two searches n values, encodes n, decodes and adds and encodes n / 2,
 * and decodes n: 4.5 n. A part of a pass has 16384 values, of all vectors that are
 * added. A pass takes 2 us more. Passes over fewer than 65536 values are a list.
 */
static void test_threads(void)
{
    struct aps_plan plan = plan_of(APS_REDUCE_DIRECT, "e4m3");
    const double n = 131072 * 1e-9, p = 2e-6;

    plan.scale.kind = APS_SCALE_APS;
    is_near(work_of(&plan, 2, 131072, 1), 4.5 * n, 1e-6, "one thread");
    is_near(work_of(&plan, 2, 131072, 0), 4.5 * n, 1e-6, "none: one thread");
    is_near(work_of(&plan, 2, 131072, 2), 4.5 * n / 2 + 7 * p, 1e-6,
            "direct, two threads: half the time, and seven passes");
    is_near(work_of(&plan, 2, 131072, 64), n * (2 / 8. + 2.5 / 4) + 7 * p, 1e-6,
            "direct, 64 threads: a part has 16384 values");
    is_near(work_of(&plan, 2, 16384, 2), 4.5 * n / 8, 1e-6,
            "direct: slices of 8192 values are not shared");
    is_near(work_of(&plan, 2, 32768, 2), n / 4 * (4 / 2. + .5) + 4 * p, 1e-6,
            "direct: two slices of 16384 values are a list");
    plan.rounding = APS_ROUND_STOCHASTIC;
    is_near(work_of(&plan, 2, 131072, 2), n * (4 / 2. + .5) + 13 * p, 1e-6,
            "random rounding: messages of 16 Ki values");
    is_near(work_of(&plan, 8, 131072, 8), n * (4 / 8. + 1 / 8.) + 4 * p, 1e-6,
            "random rounding, eight ranks: lists of eight slices");
}

static void test_native(void)
{
    const struct aps_machine slow = latency_alone(8, 1);
    const struct aps_machine thin = rate_alone(8, 1, 1e6);
    const struct aps_machine six = rate_alone(6, 1, 1e6);
    const struct aps_machine pairs = rate_alone(4, 2, 1e6);

    is_near(aps_predict_native(&slow, APS_NATIVE_DOUBLING, 1), 3 * ALPHA, 1e-6,
            "recursive doubling: log2 p steps");
    is_near(aps_predict_native(&slow, APS_NATIVE_RABENSEIFNER, 1), 6 * ALPHA,
            1e-6, "Rabenseifner: 2 log2 p steps");
    is_near(aps_predict_native(&slow, APS_NATIVE_RING, 8), 14 * ALPHA, 1e-6,
            "ring: 2 (p - 1) steps");
    is_near(aps_predict_native(&thin, APS_NATIVE_DOUBLING, 250000), 3, 1e-9,
            "recursive doubling: n bytes a step");
    is_near(aps_predict_native(&thin, APS_NATIVE_RABENSEIFNER, 250000),
            2 * 7 / 8., 1e-9, "Rabenseifner: 2 (p - 1) / p of n bytes");
    is_near(aps_predict_native(&thin, APS_NATIVE_RING, 250000), 2 * 7 / 8.,
            1e-9, "ring: 2 (p - 1) / p of n bytes");
    is_near(aps_predict_native(&six, APS_NATIVE_RABENSEIFNER, 250000),
            2 + 2 * 3 / 4., 1e-9,
            "Rabenseifner, six ranks: two fold all of n, there and back");
    /* Halves inside the hosts; then a host's two ranks share its link. */
    is_near(aps_predict_native(&pairs, APS_NATIVE_RABENSEIFNER, 250000),
            2 * 2 * (1 / 4. + 1 / 8.), 1e-9,
            "Rabenseifner: ranks of a host share its link");
}

static double composition(const struct aps_machine *machine, size_t count)
{
    return aps_predict_native(machine, APS_NATIVE_COMPOSITION, count);
}

/* Four hosts: a reduce inside each, an all-reduce of four ranks, a broadcast inside
 * each; the algorithms are those of MPICH 4.0.2's tables. */
static void test_composition(void)
{
    const struct aps_machine eights = latency_alone(4, 8);
    const struct aps_machine fours = latency_alone(4, 4);
    const struct aps_machine twelves = latency_alone(4, 12);
    const struct aps_machine thin = rate_alone(4, 8, 1e6);
    struct aps_machine inside = rate_alone(4, 8, 1e18);
    struct aps_machine adding = rate_alone(4, 8, 1e18);

    is_near(composition(&eights, 1), (3 + 2 + 3) * ALPHA, 1e-6,
            "composition: three trees");
    /* 24000 bytes: halving and gather, Rabenseifner, scatter and doubling. */
    is_near(composition(&eights, 6000), (6 + 4 + 6) * ALPHA, 1e-6,
            "composition, 24 KB: slices");
    is_near(composition(&eights, 200000), (6 + 4 + 3 + 7) * ALPHA, 1e-6,
            "composition, 800 KB: a broadcast by a ring");
    is_near(composition(&fours, 200000), (4 + 4 + 2) * ALPHA, 1e-6,
            "composition, four ranks a host: a broadcast by a tree");
    /* Four of the twelve ranks send all their data to others, then eight are left. */
    is_near(composition(&twelves, 6000), (7 + 4 + 4 + 11) * ALPHA, 1e-6,
            "composition, twelve ranks a host: no power of two");
    is_near(composition(&thin, 250000), 2 * 3 / 4., 1e-9,
            "composition: one rank of a host sends to others");
    /* 1 MB: eight ranks send 7/8 each, seven slices are gathered and scattered again in
     * three steps of half a vector, and each slice goes round seven times. */
    inside.inside.bulk = 1e6;
    is_near(composition(&inside, 250000), 7 + 1.5 + 1.5 + 7, 1e-9,
            "composition: what ranks of a host send each other");
    is_near(composition(&inside, 6000), 0.024 * (7 + 1.5 + 1.5 + 7), 1e-9,
            "composition, 24 KB: the same by doubling");
    is_near(composition(&inside, 250), 0.001 * (7 + 7), 1e-9,
            "composition, 1000 bytes: seven send, seven receive");
    inside.ranks_per_host = 6;
    is_near(composition(&inside, 250), 0.001 * (5 + 5), 1e-9,
            "composition, six ranks a host: five");
    adding.add = 1e-6;
    is_near(composition(&adding, 1 << 20), (7 / 8. + 3 / 4.) * 1e-6 * (1 << 20),
            1e-6, "composition: slices are added, then slices of hosts");
}

static void test_native_kind(void)
{
    static const struct {
        int hosts, ranks;
        size_t count;
        enum aps_native_kind kind;
    } cases[] = {
        {8, 1, 2, APS_NATIVE_DOUBLING},
        {8, 1, 7, APS_NATIVE_DOUBLING}, /* fewer floats than ranks */
        {8, 1, 8, APS_NATIVE_RABENSEIFNER},
        {1, 8, 8, APS_NATIVE_RABENSEIFNER},
        {2, 1, 2, APS_NATIVE_DOUBLING},
        {2, 1, 3, APS_NATIVE_RABENSEIFNER},
        {4, 2, 1, APS_NATIVE_COMPOSITION},
        {4, 2, 1 << 24, APS_NATIVE_COMPOSITION},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct aps_machine machine =
            latency_alone(cases[i].hosts, cases[i].ranks);

        ok(aps_predict_native_kind(&machine, cases[i].count) == cases[i].kind,
           "%d hosts, %d ranks each, %zu floats: %s", cases[i].hosts,
           cases[i].ranks, cases[i].count, aps_native_name(cases[i].kind));
    }
}

static void test_latency(void)
{
    const struct aps_machine eight = latency_alone(8, 1);
    const struct aps_machine groups = latency_alone(4, 4);
    struct aps_plan direct = plan_of(APS_REDUCE_DIRECT, "e5m2");
    struct aps_plan ring = plan_of(APS_REDUCE_RING, "e5m2");
    struct aps_plan master = plan_of(APS_REDUCE_MASTER, "e5m2");
    struct aps_plan gather = plan_of(APS_REDUCE_GATHER, "e5m2");
    struct aps_plan hierarchical = plan_of(APS_REDUCE_HIERARCHICAL, "e5m2");

    is_near(seconds(&eight, &direct, 1024, 1), 2 * ALPHA, 1e-3,
            "direct: there and back");
    direct.scale.kind = APS_SCALE_APS;
    is_near(seconds(&eight, &direct, 1024, 1), 3 * ALPHA, 1e-3,
            "direct, aps: an agreement before that");
    is_near(seconds(&eight, &gather, 1024, 1), ALPHA, 1e-3, "gather: one way");
    is_near(seconds(&eight, &ring, 1024, 1), 14 * ALPHA, 1e-3,
            "ring: 2 (p - 1) steps");
    is_near(seconds(&groups, &hierarchical, 1024, 4), 2 * ALPHA, 1e-3,
            "hierarchical: there and back between hosts");
    master.accumulate = APS_ACCUMULATE_FORMAT;
    for (int k = 2; k <= 4; k *= 2)
        is_near(seconds(&groups, &master, 1024, k),
                (2 + 2 * (16 / k - 1)) * ALPHA, 1e-3,
                "master: two steps of a group, 2 (p / k - 1) of the masters");
}

/* 4 Mi values of 8 bits; headers are a part in thousands. */
static void test_rate(void)
{
    const size_t n = 4 * 1024 * 1024;
    const double bytes = (double)n;
    const struct aps_machine eight = rate_alone(8, 1, bytes);
    const struct aps_machine groups = rate_alone(4, 4, bytes);
    struct aps_plan direct = plan_of(APS_REDUCE_DIRECT, "e5m2");
    struct aps_plan ring = plan_of(APS_REDUCE_RING, "e5m2");
    struct aps_plan gather = plan_of(APS_REDUCE_GATHER, "e5m2");
    struct aps_plan hierarchical = plan_of(APS_REDUCE_HIERARCHICAL, "e5m2");

    is_near(seconds(&eight, &direct, n, 1), 2 * 7 / 8., 0.01,
            "direct: 2 (p - 1) / p of n");
    is_near(seconds(&groups, &direct, n, 1), 2 * 4 * 12 / 16., 0.01,
            "direct: all ranks of a host share its link");
    is_near(seconds(&groups, &hierarchical, n, 4), 2 * 3 / 4., 0.01,
            "hierarchical: a host sends 2 (h - 1) / h of n");
    is_near(seconds(&eight, &gather, n, 1), 7, 0.01, "gather: p - 1 times n");
    is_near(seconds(&eight, &ring, n, 1), 5 * 7 / 8., 0.01,
            "ring: partial sums in FP32, results in 8 bits");
    ring.accumulate = APS_ACCUMULATE_FORMAT;
    is_near(seconds(&eight, &ring, n, 1), 2 * 7 / 8., 0.01,
            "ring, accumulate format: 2 (p - 1) / p of n");
}

/* Core and link at once: the slower one, and the part that does not overlap. */
static void test_overlap(void)
{
    const struct aps_stage stages[2] = {{.work = 1, .between = 2, .latency = 1},
                                        {.work = 3, .between = 1}};
    const struct aps_prediction one = aps_stages_run(stages, 2, 1, 0);
    const struct aps_prediction ten = aps_stages_run(stages, 2, 10, 0);

    is_near(one.seconds, 1 + 2 + 1 + 3 + 1, 1e-9,
            "one chunk: nothing overlaps");
    is_near(ten.seconds, 8 + 9 * 4, 1e-9, "more: the core takes 4 s each");
    ok(ten.bound == APS_BOUND_CORE, "more: bound by the core");
}

/* A rank waits for a message eight rounds after it was sent. */
static void test_lag(void)
{
    const struct aps_stage stage = {.work = 1, .latency = 80};
    const struct aps_prediction all = aps_stages_run(&stage, 1, 100, 0);

    is_near(all.seconds, 81 + 99 * 10, 1e-9,
            "a long latency: eight chunks are under way at a time");
    ok(all.bound == APS_BOUND_LATENCY, "a long latency bounds it");
}

/* A link sends at once, up to its burst, what it could have carried while it
 * was idle: after the search for exponents, and after each window of a ring. */
static void test_burst(void)
{
    const size_t n = 4 * 1024 * 1024;
    struct aps_machine two = rate_alone(2, 1, 1e9);
    struct aps_plan direct = plan_of(APS_REDUCE_DIRECT, "e5m2");
    struct aps_plan ring = plan_of(APS_REDUCE_RING, "e5m2");
    struct aps_predicted_call call = {
        .machine = &two, .plan = &direct, .count = n, .group = 1};
    const double link = (double)n * 1e-9;
    /* 4 chunks of partial sums in FP32, of n / 2, and results in 8 bits. */
    const double window = 4 * (16384 + 4100) * 1e-9;

    direct.scale.kind = APS_SCALE_APS;
    call.rates.magnitude = 0.1 * link / (double)n;
    two.between.burst = 1e9;
    is_near(aps_predict(&call).seconds, link, 0.01,
            "burst: the search for exponents costs nothing");
    two.between.burst = 0.05 * (double)n;
    is_near(aps_predict(&call).seconds, 1.05 * link, 0.01,
            "burst: the search costs what the burst does not cover");
    two.between.latency = window / 4;
    two.between.burst = 131072;
    is_near(seconds(&two, &ring, n, 1), 128 * window, 0.03,
            "burst: a ring's link is never idle for good");
    two.between.latency = window;
    is_near(seconds(&two, &ring, n, 1), 128 * 2 * window, 0.03,
            "burst: a ring's window takes two latencies at least");
    two.between.latency = window / 4;
    two.between.burst = 0;
    ok(seconds(&two, &ring, n, 1) > 128 * 1.25 * window,
       "no burst: at the end of each window the link waits");
}

/* Long vectors are read from memory and not from caches. */
static void test_memory(void)
{
    struct aps_machine two = rate_alone(2, 1, 1e18);
    struct aps_plan direct = plan_of(APS_REDUCE_DIRECT, "e5m2");
    struct aps_plan ring = plan_of(APS_REDUCE_RING, "e5m2");
    const size_t mi = 1 << 20;

    two.memory[0] = 1e-9;
    two.memory[1] = 3e-9;
    ok(seconds(&two, &direct, mi, 1) < 1e-9, "memory: caches have 1 Mi floats");
    is_near(seconds(&two, &direct, 4 * mi, 1), 8e-9 * 4 * (double)mi, 1e-6,
            "direct: 4 Mi floats are read and written");
    is_near(seconds(&two, &direct, 8 * mi, 1), 8 * 2e-9 * 8 * (double)mi, 1e-6,
            "direct: 8 Mi floats, between the two");
    is_near(seconds(&two, &ring, 64 * mi, 1), 8 * 3e-9 * 64 * (double)mi, 1e-6,
            "ring: more are as 16 Mi");
    direct.scale.kind = APS_SCALE_APS;
    is_near(seconds(&two, &direct, 4 * mi, 1), 12e-9 * 4 * (double)mi, 1e-6,
            "direct, aps: they are read once more");
    is_near(aps_predict_native(&two, APS_NATIVE_RABENSEIFNER, 4 * mi),
            (8 + 6) * 1e-9 * 4 * (double)mi, 1e-6,
            "native: copied, and half of them added");
}

/* With two ranks native MPI takes 2 n 4 / rate, and direct 2 n / rate + c n. */
static void test_where_it_pays(void)
{
    struct aps_machine two = rate_alone(2, 1, 1e9);
    struct aps_plan plan = plan_of(APS_REDUCE_DIRECT, "e5m2");
    struct aps_predicted_call call = {
        .machine = &two,
        .plan = &plan,
        .count = 16 * 1024 * 1024,
        .group = 1,
        .rates = {.encode = 1e-9, .decode = 1e-9}};
    double rate;

    /* Native: 4 n / rate; the library, whose core is slower than its link: n
     * encoded, n / 2 encoded again, n / 2 + n decoded, 3 ns a value. */
    rate = aps_predict_most_rate(&call);
    is_near(rate, 4 / 3e-9, 0.03, "native is faster above 4 / 3 GB/s");
    call.rates = (struct aps_codec_rates){0};
    ok(aps_predict_least_count(&call, SIZE_MAX) <= 8,
       "no latency: headers alone matter");
    two = latency_alone(2, 1);
    two.between.rate = two.between.bulk = 1e8;
    /* One step of native costs ALPHA, of the library 2 ALPHA; then 4 n / rate. */
    plan.scale.kind = APS_SCALE_APS;
    is_near((double)aps_predict_least_count(&call, SIZE_MAX), ALPHA * 1e8 / 3,
            0.05, "one more latency than native's is worth a number of values");
    call.rates.encode = 1;
    ok(aps_predict_least_count(&call, SIZE_MAX) == SIZE_MAX,
       "a slow core: never pays");
    ok(aps_predict_most_rate(&call) == 0, "a slow core: at no rate");
}

/* With two ranks a chunk of partial sums is followed by its result: the last chunk of
 * each window waits for two messages. */
static void test_ring(void)
{
    struct aps_machine pairs = latency_alone(4, 2);
    struct aps_machine two = rate_alone(2, 1, 1e9);
    struct aps_plan ring = plan_of(APS_REDUCE_RING, "e5m2");
    const size_t n = 4 * 8192; /* a window of 4 chunks, 16 KiB of FP32 each */

    pairs.inside.latency = 0;
    is_near(seconds(&pairs, &ring, 1024, 1), 14 * ALPHA / 2, 1e-3,
            "ring: every other hop is inside a host");
    two.between.latency = 1e-5;
    is_near(seconds(&two, &ring, n, 1), 4 * 16384e-9 + 2e-5 + 4100e-9, 0.03,
            "ring: a window ends with a partial sum and its result");
}

/* Short vectors have fewer slices than ranks: their owners send to all ranks,
 * and the others to the owners. */
static void test_owners(void)
{
    const double message = 1e-6;
    struct aps_machine machine = rate_alone(65, 1, 1e18);
    struct aps_plan direct = plan_of(APS_REDUCE_DIRECT, "e5m2");
    const size_t granule = aps_format_granule(&direct.format);

    machine.between.message = message;
    is_near(seconds(&machine, &direct, 65 * granule, 1), 2 * 64 * message, 1e-3,
            "direct: a message sent and received for each other rank, twice");
    is_near(seconds(&machine, &direct, granule, 1), 64 * message, 1e-3,
            "direct: one slice, received of all and sent to all");
}

static void test_auto(void)
{
    struct aps_machine machine = rate_alone(2, 1, 1e9);
    struct aps_plan plan = plan_of(APS_REDUCE_AUTO, "e5m2");
    struct aps_predicted_call call = {
        .machine = &machine, .plan = &plan, .count = 1 << 20, .group = 1};
    const double n = (double)call.count;

    ok(aps_predict_taken(&call) == APS_REDUCE_HIERARCHICAL,
       "auto: takes a reduction that is faster");
    /* The library encodes n values and n / 2 sums, 3.9 n ns; native takes 4 n ns. */
    call.rates.encode = 2.6e-9;
    ok(aps_predict_taken(&call) == APS_REDUCE_AUTO,
       "auto: native, which is not 10 %% slower");
    is_near(aps_predict(&call).seconds, 4 * n / 1e9, 0.01,
            "auto: then it takes as long as native");
    plan.reduce = APS_REDUCE_RING;
    ok(aps_predict_taken(&call) == APS_REDUCE_RING, "another: itself");
}

static void test_groups(void)
{
    const struct aps_machine machine = latency_alone(4, 8);
    struct aps_plan plan = plan_of(APS_REDUCE_MASTER, "e5m2");

    ok(aps_predict_group(&machine, &plan) == 8,
       "group: node is a host's ranks");
    ok(aps_predict_takes_group(&machine, &plan, 16),
       "master: of several hosts");
    ok(!aps_predict_takes_group(&machine, &plan, 3), "groups are alike");
    plan.reduce = APS_REDUCE_HIERARCHICAL;
    ok(!aps_predict_takes_group(&machine, &plan, 16),
       "hierarchical: of a host");
    plan.group = APS_GROUP_NUMBER;
    plan.group_size = 4;
    ok(aps_predict_group(&machine, &plan) == 4, "group: 4");
}

int main(void)
{
    test_native();
    test_composition();
    test_native_kind();
    test_latency();
    test_rate();
    test_overlap();
    test_lag();
    test_burst();
    test_memory();
    test_where_it_pays();
    test_ring();
    test_owners();
    test_auto();
    test_groups();
    test_threads();
    return done_testing();
}
