/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line for each part of src/compress: its name and the hash of its result for
 * the same random values. For comparing machines; see aarch64.sh.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compress/lowrank.h"
#include "compress/magnitudes.h"
#include "compress/select.h"
#include "compress/sparse.h"
#include "compress/ternary.h"
#include "compress/ternary_sums.h"

#define ROWS 67
#define COLUMNS 131
#define N ((size_t)ROWS * COLUMNS)
#define RANK 5
#define K (N / 50)

static float g[N], e[N], delta[N], out[N];
static char work[1 << 20];
static double room[1 << 16];

/* FNV-1a */
static void tell(const char *name, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t hash = 0xcbf29ce484222325;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * 0x100000001b3;
    printf("%s %016" PRIx64 "\n", name, hash);
}

static void fill(uint32_t state, float *x)
{
    for (size_t i = 0; i < N; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = ldexpf((float)(int32_t)state, -31 - (int)(state % 7));
    }
}

static void hash_lowrank(void)
{
    static float p[ROWS * RANK], q[COLUMNS * RANK];
    const struct aps_matrix matrix = {ROWS, COLUMNS, N};
    const struct aps_lowrank_seed seed = {7, 3, 11};

    memset(q, 0, sizeof q);
    aps_lowrank_prepare(COLUMNS, RANK, &seed, q, room);
    tell("draws", q, sizeof q);
    aps_lowrank_left_feedback(&matrix, RANK, g, e, delta, q, p);
    tell("products", p, sizeof p);
    aps_lowrank_orthogonalise(ROWS, RANK, p, room);
    tell("orthonormal-columns", p, sizeof p);
    aps_lowrank_right(&matrix, RANK, delta, p, q);
    tell("products-of-columns", q, sizeof q);
    aps_lowrank_restore_feedback(&matrix, RANK, p, q, 1 / 3.f, delta, out,
                                 delta);
    tell("result", out, sizeof out);
    tell("residual", delta, sizeof delta);
}

static void hash_selection(void)
{
    static uint32_t indices[K];
    static float values[K];
    const struct aps_cast_options draw = {
        .size = sizeof draw, .seed = 42, .layer = 7, .step = 1234};
    const struct aps_bracket_work given = {work, sizeof work};
    struct aps_bracket bracket;
    struct aps_selection selection;

    aps_bracket_begin(g, e, N, K + 1, delta, &given, aps_cpu_chosen(),
                      &bracket);
    tell("mean", &bracket.magnitudes.sum, sizeof bracket.magnitudes.sum);
    aps_select_mstopk(&bracket, K, &draw, indices, &selection);
    tell("thresholds", &selection.t1, sizeof selection.t1);
    tell("selection", indices, selection.count * sizeof *indices);
    aps_sparse_gather(delta, indices, selection.count, values);
    tell("values", values, selection.count * sizeof *values);
}

static void hash_ternary(void)
{
    static uint8_t digits[N];
    static int16_t sum[N];
    struct aps_cast_options draw = {.size = sizeof draw, .seed = 3, .rank = 1};
    const enum aps_cpu cpu = aps_cpu_chosen();
    struct aps_ternary_scale scale;

    aps_ternary_measure(g, N, 2.5f, cpu, &scale);
    tell("scaler", &scale.scaler, sizeof scale.scaler);
    aps_ternary_encode(g, N, scale.limit, scale.scaler, &draw, cpu, digits);
    tell("digits", digits, aps_ternary_bytes(N));
    aps_ternary_add(digits, N, cpu, sum);
    aps_ternary_sum_scale(sum, N, scale.scaler, out);
    tell("sums", out, sizeof out);
}

int main(void)
{
    fill(1, g);
    fill(2, e);
    hash_lowrank();
    hash_selection();
    hash_ternary();
    return 0;
}
