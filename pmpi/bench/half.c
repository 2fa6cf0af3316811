/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/half.h"

#include <string.h>

#if defined __x86_64__
#include <immintrin.h>
#define F16C __attribute__((target("avx,f16c")))
#endif

static uint32_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint16_t encode_one(float x)
{
    const uint32_t sign = bits_of(x) >> 16 & 0x8000;
    const uint32_t size = bits_of(x) & 0x7fffffff;

    if (size > 0x7f800000) /* NaN */
        return (uint16_t)(sign | 0x7e00);
    if (size >= bits_of(65520)) /* rounds to 65536: INF */
        return (uint16_t)(sign | 0x7c00);
    if (size < bits_of(0x1p-14f)) /* the addition rounds at 2^-24 */
        return (uint16_t)(sign |
                          (bits_of(float_of(size) + 0.5f) - bits_of(0.5f)));
    return (uint16_t)(sign | (((size + 0xfff + (size >> 13 & 1)) >> 13) -
                              (112u << 10)));
}

static float decode_one(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t exponent = half >> 10 & 31;
    const uint32_t mantissa = half & 0x3ff;

    if (exponent == 0)
        return float_of(sign | bits_of((float)mantissa * 0x1p-24f));
    if (exponent == 31)
        return float_of(sign | 0x7f800000 | mantissa << 13);
    return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
}

static void add_one(uint16_t a, uint16_t *b)
{
    *b = encode_one(decode_one(a) + decode_one(*b));
}

/* --- eight at a time: the functions return the number of values done ------ */

#if defined __x86_64__
F16C static size_t encode_many(const float *x, size_t n, uint16_t *half)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128(
            (__m128i *)(half + i),
            _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
    return i;
}

F16C static size_t decode_many(const uint16_t *half, size_t n, float *x)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(x + i, _mm256_cvtph_ps(_mm_loadu_si128(
                                    (const __m128i *)(half + i))));
    return i;
}

F16C static size_t add_many(const uint16_t *a, uint16_t *b, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m128i *sum = (__m128i *)(b + i);
        __m256 x = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(a + i)));
        __m256 y = _mm256_cvtph_ps(_mm_loadu_si128(sum));

        _mm_storeu_si128(sum, _mm256_cvtps_ph(_mm256_add_ps(x, y),
                                              _MM_FROUND_TO_NEAREST_INT));
    }
    return i;
}

static int has_many(void)
{
    return __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
}
#else
static size_t encode_many(const float *x, size_t n, uint16_t *half)
{
    (void)x, (void)n, (void)half;
    return 0;
}

static size_t decode_many(const uint16_t *half, size_t n, float *x)
{
    (void)half, (void)n, (void)x;
    return 0;
}

static size_t add_many(const uint16_t *a, uint16_t *b, size_t n)
{
    (void)a, (void)b, (void)n;
    return 0;
}

static int has_many(void)
{
    return 0;
}
#endif

void half_encode(const float *x, size_t n, uint16_t *half)
{
    size_t i = has_many() ? encode_many(x, n, half) : 0;

    for (; i < n; i++)
        half[i] = encode_one(x[i]);
}

void half_decode(const uint16_t *half, size_t n, float *x)
{
    size_t i = has_many() ? decode_many(half, n, x) : 0;

    for (; i < n; i++)
        x[i] = decode_one(half[i]);
}

/* --- the operation -------------------------------------------------------- */

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint16_t *a = in;
    uint16_t *b = inout;
    const size_t n = (size_t)*count;
    size_t i = has_many() ? add_many(a, b, n) : 0;

    (void)type;
    for (; i < n; i++)
        add_one(a[i], &b[i]);
}

void half_create(MPI_Datatype *type, MPI_Op *sum)
{
    PMPI_Type_contiguous(sizeof(uint16_t), MPI_BYTE, type);
    PMPI_Type_commit(type);
    PMPI_Op_create(add, 1, sum);
}

void half_destroy(MPI_Datatype *type, MPI_Op *sum)
{
    PMPI_Op_free(sum);
    PMPI_Type_free(type);
}
