/* SPDX-License-Identifier: BSD-3-Clause */
/* PowerSGD's factors: random numbers, and orthonormalisation. */
#include "config.h"

#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>

#include "base/cpu.h"
#include "unit/compress/lowrank_matrix.h"

static const struct aps_lowrank_seed seed = {7, 3, 11};

/* --- the same bits on every machine -------------------------------------- */

static uint64_t hash_of(uint64_t hash, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
    }
    return hash;
}

static uint64_t hash_of_factors(void)
{
    static float x[9 * 1003];
    static double room[16 * 1100];
    uint64_t hash = 0xcbf29ce484222325u;

    aps_lowrank_draw(1003, 0, 9, &seed, x);
    hash = hash_of(hash, x, 9 * 1003);
    memset(x + 4 * 1003, 0, 1003 * sizeof *x);
    aps_lowrank_prepare(1003, 9, &seed, x, room);
    return hash_of(hash, x, 9 * 1003);
}

/* Runs in another process, because an instruction set is chosen once. */
static uint64_t hash_by(enum aps_cpu cpu)
{
    int ends[2];
    uint64_t hash = 0;

    fflush(stdout);
    if (pipe(ends) < 0)
        bail_out("no pipe");
    const pid_t child = fork();

    if (child == 0) {
        setenv("APSMPI_CPU", aps_cpu_name(cpu), 1);
        hash = hash_of_factors();
        _exit(write(ends[1], &hash, sizeof hash) == sizeof hash ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &hash, sizeof hash) != sizeof hash)
        bail_out("no hash by %s", aps_cpu_name(cpu));
    close(ends[0]);
    waitpid(child, NULL, 0);
    return hash;
}

static void test_variants(void)
{
    const uint64_t plain = hash_by(APS_CPU_PLAIN);

    for (enum aps_cpu cpu = APS_CPU_PLAIN + 1; cpu < APS_CPUS; cpu++) {
        if (!aps_cpu_supported(cpu))
            skip(1, "this machine has no %s", aps_cpu_name(cpu));
        else
            ok(hash_by(cpu) == plain, "%s makes the same factors",
               aps_cpu_name(cpu));
    }
}

/* --- random numbers ------------------------------------------------------- */

#define DRAWS 200000

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov's distance of n sorted random numbers from N(0, 1). */
static double distance_from_normal(const float *x, size_t n)
{
    double largest = 0;

    for (size_t i = 0; i < n; i++) {
        const double wanted = erfc(-(double)x[i] * M_SQRT1_2) / 2;

        largest = fmax(largest, fabs(wanted - (double)i / (double)n));
        largest = fmax(largest, fabs(wanted - (double)(i + 1) / (double)n));
    }
    return largest;
}

static double correlation(const float *x, const float *y, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)y[i];
    return sum / (double)n;
}

static void test_distribution(void)
{
    float *x = empty_floats(2 * DRAWS);
    const double sigma = 1 / sqrt(DRAWS);
    double mean = 0, squares = 0;

    aps_lowrank_draw(DRAWS, 0, 2, &seed, x);
    for (size_t i = 0; i < DRAWS; i++) {
        mean += (double)x[i] / DRAWS;
        squares += (double)x[i] * (double)x[i] / DRAWS;
    }
    ok(fabs(mean) < 4 * sigma, "the mean is 0 within 4 sigma: %g", mean);
    ok(fabs(squares - 1) < 4 * sqrt(2) * sigma, "... and the variance 1: %g",
       squares);
    ok(fabs(correlation(x, x + DRAWS, DRAWS)) < 4 * sigma,
       "two columns are not correlated");
    ok(fabs(correlation(x, x + 1, DRAWS - 1)) < 4 * sigma &&
           fabs(correlation(x, x + 2, DRAWS - 2)) < 4 * sigma,
       "... nor are neighbours");
    qsort(x, DRAWS, sizeof *x, compare);
    ok(distance_from_normal(x, DRAWS) < 1.95 * sigma,
       "the distribution is normal: distance %g",
       distance_from_normal(x, DRAWS));
    free(x);
}

static void test_keys(void)
{
    static const struct aps_lowrank_seed other[] = {
        {8, 3, 11}, {7, 4, 11}, {7, 3, 12}};
    float *x = empty_floats(5 * 30), *y = empty_floats(5 * 30);

    aps_lowrank_draw(30, 0, 5, &seed, x);
    aps_lowrank_draw(30, 0, 2, &seed, y);
    aps_lowrank_draw(30, 2, 3, &seed, y);
    ok(same_bits(x, y, 5 * 30), "columns that are appended are those that a "
                                "higher rank has");
    aps_lowrank_draw(7, 0, 1, &seed, y);
    ok(same_bits(x, y, 7) && y[7] == x[7],
       "a shorter column has the same elements, and no more are written");
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        aps_lowrank_draw(30, 0, 5, &other[i], y);
        ok(!same_bits(x, y, 30),
           "another seed, layer or step: other numbers (%zu)", i);
    }
    free(x);
    free(y);
}

/* Values by Python's math.log, math.cos and math.sin, from another Philox. */
static void test_values(void)
{
    static const float wanted[] = {
        -0x1.5ab418p+0f, 0x1.282294p-3f, -0x1.1be026p+1f, 0x1.93abe8p-3f,
        0x1.bbfef6p-1f,  0x1.0fb924p-1f, -0x1.10ef60p-1f, 0x1.aba224p-2f};
    float x[8];

    aps_lowrank_draw(8, 0, 1, &seed, x);
    ok(same_bits(x, wanted, 8), "the first numbers are those of the method");
}

/* --- orthonormal columns ------------------------------------------------- */

static bool is_orthonormal(const float *x, size_t n, size_t rank, double most)
{
    for (size_t k = 0; k < rank; k++) {
        for (size_t l = 0; l <= k; l++) {
            double sum = 0;

            for (size_t i = 0; i < n; i++)
                sum += (double)x[k * n + i] * (double)x[l * n + i];
            if (fabs(sum - (k == l)) > most) {
                diag("columns %zu and %zu: %g", k, l, sum);
                return false;
            }
        }
    }
    return true;
}

static size_t orthogonalise(float *x, size_t n, size_t rank)
{
    const size_t elements = aps_lowrank_room(n, rank);
    double *room = malloc(elements * sizeof *room);
    const size_t found = aps_lowrank_orthogonalise(n, rank, x, room);

    free(room);
    return found;
}

static void test_orthonormal(void)
{
    static const size_t sizes[][2] = {{1, 1},   {2, 2},   {5, 3},    {16, 16},
                                      {33, 32}, {100, 1}, {4608, 4}, {700, 32}};
    bool pass = true;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i][0], rank = sizes[i][1];
        float *x = random_floats(n * rank);

        pass &= orthogonalise(x, n, rank) == rank;
        pass &= is_orthonormal(x, n, rank, 2e-7);
        free(x);
    }
    ok(pass, "columns become orthonormal");
}

/* Columns that differ by 10^-5 only. */
static void test_nearly_dependent(void)
{
    const size_t n = 300, rank = 6;
    float *x = random_floats(n * rank);

    for (size_t k = 1; k < rank; k++) {
        for (size_t i = 0; i < n; i++)
            x[k * n + i] = x[i] + 1e-5f * x[k * n + i];
    }
    ok(orthogonalise(x, n, rank) == rank && is_orthonormal(x, n, rank, 1e-6),
       "... also where they are nearly the same");
    free(x);
}

static void test_magnitudes(void)
{
    const size_t n = 77, rank = 5;
    static const int powers[] = {-120, -60, -27, 27, 60, 120};
    float *x = random_floats(n * rank), *y = empty_floats(n * rank);
    bool pass = true;

    for (size_t i = 0; i < n * rank; i++)
        x[i] = x[i] + copysignf(0.25f, x[i]); /* far from subnormals */
    for (size_t p = 0; p < sizeof powers / sizeof *powers; p++) {
        float *scaled = empty_floats(n * rank);

        memcpy(y, x, n * rank * sizeof *y);
        for (size_t i = 0; i < n * rank; i++)
            scaled[i] = ldexpf(x[i], powers[p]);
        orthogonalise(y, n, rank);
        pass &= orthogonalise(scaled, n, rank) == rank &&
                same_bits(scaled, y, n * rank);
        free(scaled);
    }
    ok(pass, "columns of 2^-120 to 2^120 have the bits that those of 1 have");
    free(x);
    free(y);
}

static bool is_zero(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (x[i] != 0)
            return false;
    }
    return true;
}

static void test_dependent(void)
{
    const size_t n = 50;
    float *x = random_floats(n * 4), *zeros = random_floats(n * 3);

    for (size_t i = 0; i < n; i++)
        x[2 * n + i] = x[i] - 2 * x[n + i];
    ok(orthogonalise(x, n, 4) == 3 && is_zero(x + 2 * n, n) &&
           !is_zero(x + 3 * n, n),
       "a column that the others make up becomes 0");
    memmove(x + 2 * n, x + 3 * n, n * sizeof *x);
    ok(is_orthonormal(x, n, 3, 2e-7), "... and the others are orthonormal");
    memset(zeros, 0, n * 3 * sizeof *zeros);
    ok(orthogonalise(zeros, n, 3) == 0 && is_zero(zeros, 3 * n),
       "zeros remain zeros");
    free(x);
    free(zeros);
}

static void test_prepare(void)
{
    const size_t n = 50, rank = 4;
    double room[4 * 70];
    float *x = random_floats(n * rank), *first = random_floats(n);

    ok(aps_lowrank_room(n, rank) <= sizeof room / sizeof *room,
       "there is room enough");
    memset(x + n, 0, 2 * n * sizeof *x);
    memcpy(x + 3 * n, x, n * sizeof *x);
    memcpy(first, x, n * sizeof *x);
    orthogonalise(first, n, 1);
    aps_lowrank_prepare(n, rank, &seed, x, room);
    ok(is_orthonormal(x, n, rank, 2e-7) && same_bits(x, first, n),
       "columns of zeros, and such as repeat others, are drawn again");
    free(x);
    free(first);
}

int main(void)
{
    test_variants();
    test_distribution();
    test_keys();
    test_values();
    test_orthonormal();
    test_nearly_dependent();
    test_magnitudes();
    test_dependent();
    test_prepare();
    return done_testing();
}
