/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "float/wide.h"

#include "kernel/pack.h"

#define MANTISSA 52
#define BIAS 1023
#define INF ((uint64_t)0x7ff << MANTISSA) /* magnitudes above it are NaN */
#define MAGNITUDE (UINT64_MAX >> 1)

/* Number of values that are converted at a time: whole bytes of any width. */
#define TILE ((size_t)512)

typedef uint64_t any_bits __attribute__((aligned(1), may_alias));

/* Constants of a format. The magnitude of a normal code, shifted left by `drop`,
 * is that of the double, except for the bias of its exponent. */
struct wide {
    unsigned width;
    unsigned drop; /* mantissa bits of a double that the format does not have */
    uint64_t half; /* added to a magnitude before `drop` bits go */
    uint64_t odd;  /* mask of the code's last bit, which is added as well */
    uint64_t rebias; /* difference of the biases, in the exponent of a double */
    uint64_t reinf;  /* difference of the exponents of INF, in the same place */
    uint64_t inf, nan; /* magnitude codes */
    /* Zeros if the subnormals are those of doubles. */
    uint64_t smallest; /* magnitude of the smallest normal value, as a double */
    uint64_t normal;   /* code of that value */
    double steps;      /* its last bit is the smallest subnormal value */
};

static struct wide wide_of(const struct aps_format *format)
{
    const int exponent = format->exponent_bits,
              mantissa = format->mantissa_bits;
    const uint64_t rebias = (uint64_t)(BIAS - format->bias);
    const uint64_t inf = (UINT64_C(1) << exponent) - 1;
    struct wide f = {.width = (unsigned)format->width,
                     .drop = (unsigned)(MANTISSA - mantissa),
                     .odd = mantissa < MANTISSA,
                     .rebias = rebias << MANTISSA,
                     .reinf = (0x7ff - inf) << MANTISSA,
                     .inf = inf << mantissa};

    f.half = f.odd ? (UINT64_C(1) << (f.drop - 1)) - 1 : 0;
    f.nan = f.inf | UINT64_C(1) << (mantissa - 1);
    if (rebias == 0)
        return f;
    f.smallest = f.rebias + (UINT64_C(1) << MANTISSA);
    f.normal = UINT64_C(1) << mantissa;
    f.steps = aps_double_pow2(1 - format->bias - mantissa + MANTISSA);
    return f;
}

/* Rounds by carries, as aps_cast_magnitude does, but subnormals by an addition. */
APS_INLINE uint64_t wide_encode(const struct wide *f, uint64_t bits)
{
    const uint64_t x = bits & MAGNITUDE;
    const uint64_t odd = x >> f->drop & f->odd;
    uint64_t code = ((x + f->half + odd) >> f->drop) - (f->rebias >> f->drop);
    const uint64_t small = aps_double_bits(aps_double_from_bits(x) + f->steps) -
                           aps_double_bits(f->steps);

    code = (int64_t)x < (int64_t)f->smallest ? small : code;
    code = (int64_t)code < (int64_t)f->inf ? code : f->inf;
    code = (int64_t)x > (int64_t)INF ? f->nan : code;
    return code | bits >> 63 << (f->width - 1);
}

APS_INLINE uint64_t wide_decode(const struct wide *f, uint64_t code)
{
    const uint64_t sign = code >> (f->width - 1);
    const uint64_t x = code ^ sign << (f->width - 1);
    const uint64_t small = aps_double_bits(
        aps_double_from_bits(aps_double_bits(f->steps) + x) - f->steps);
    uint64_t bits =
        (x << f->drop) + ((int64_t)x < (int64_t)f->inf ? f->rebias : f->reinf);

    bits = (int64_t)x < (int64_t)f->normal ? small : bits;
    return bits | sign << 63;
}

/* The sum's NaN is the positive canonical one. */
APS_INLINE uint64_t wide_add(uint64_t a, uint64_t b)
{
    const double sum = aps_double_from_bits(a) + aps_double_from_bits(b);

    return sum == sum ? aps_double_bits(sum) : INF | INF >> 1;
}

/* --- packing, as in kernel/pack.h; fastest for whole bytes --------------------- */

static void wide_pack(const uint64_t *codes, size_t n, unsigned width,
                      uint8_t *wire)
{
    uint64_t word = 0;
    unsigned filled = 0;
    size_t i = 0;

    for (; width % 8 == 0 && i + 8 < n; i++, wire += width / 8)
        aps_store64(wire, codes[i]);
    for (; i < n; i++) {
        word |= codes[i] << filled;
        filled += width;
        if (filled < 64)
            continue;
        aps_store64(wire, word);
        wire += sizeof word;
        filled -= 64;
        word = filled > 0 ? codes[i] >> (width - filled) : 0;
    }
    memcpy(wire, &word, (filled + 7) / 8);
}

/* Reads no byte after the last code. */
static void wide_unpack(const uint8_t *wire, size_t n, unsigned width,
                        uint64_t *codes)
{
    const uint8_t *const end = wire + (n * width + 7) / 8;
    const uint64_t mask = UINT64_MAX >> (64 - width);
    uint64_t word = 0;
    unsigned left = 0; /* bits of word that are not yet taken */
    size_t i = 0;

    for (; width % 8 == 0 && i + 8 < n; i++, wire += width / 8)
        codes[i] = aps_load64(wire) & mask;
    for (; i < n; i++) {
        uint64_t code = word, next = 0;

        if (left >= width) {
            word >>= width;
            left -= width;
        } else {
            if (end - wire >= 8)
                next = aps_load64(wire);
            else
                memcpy(&next, wire, (size_t)(end - wire));
            wire += sizeof next;
            code |= next << left;
            word = width - left < 64 ? next >> (width - left) : 0;
            left += 64 - width;
        }
        codes[i] = code & mask;
    }
}

/* --- the codec for every instruction set -------------------------------------- */

APS_INLINE void wide_encode_tiles(const struct aps_codec *codec,
                                  const any_bits *x, size_t n, uint8_t *wire)
{
    const struct wide f = wide_of(&codec->format);
    uint64_t codes[TILE];

    for (size_t begin = 0; begin < n; begin += TILE) {
        const size_t length = n - begin < TILE ? n - begin : TILE;

        for (size_t i = 0; i < length; i++)
            codes[i] = wide_encode(&f, x[begin + i]);
        wide_pack(codes, length, f.width, wire + begin / 8 * f.width);
    }
}

/* Sets x[n] to the values, or adds them. */
APS_INLINE void wide_decode_tiles(const struct aps_codec *codec,
                                  const uint8_t *wire, size_t n, bool add,
                                  any_bits *x)
{
    const struct wide f = wide_of(&codec->format);
    uint64_t codes[TILE];

    for (size_t begin = 0; begin < n; begin += TILE) {
        const size_t length = n - begin < TILE ? n - begin : TILE;

        wide_unpack(wire + begin / 8 * f.width, length, f.width, codes);
        for (size_t i = 0; i < length; i++) {
            const uint64_t bits = wide_decode(&f, codes[i]);

            x[begin + i] = add ? wide_add(x[begin + i], bits) : bits;
        }
    }
}

#define VARIANT(arg, CPU, name, target)                                        \
    target static unsigned wide_encode_##name(                                 \
        const struct aps_codec *codec, const float *x, size_t n,               \
        struct aps_scaling scaling, const struct aps_cast_options *options,    \
        void *wire)                                                            \
    {                                                                          \
        (void)scaling;                                                         \
        (void)options;                                                         \
        wide_encode_tiles(codec, (const void *)x, n, wire);                    \
        return 0;                                                              \
    }                                                                          \
    target static void wide_decode_##name(                                     \
        const struct aps_codec *codec, const void *wire, size_t n,             \
        struct aps_scaling scaling, unsigned flags, float *x)                  \
    {                                                                          \
        (void)scaling;                                                         \
        (void)flags;                                                           \
        wide_decode_tiles(codec, wire, n, false, (void *)x);                   \
    }                                                                          \
    target static void wide_decode_add_##name(                                 \
        const struct aps_codec *codec, const void *wire, size_t n,             \
        struct aps_scaling scaling, unsigned flags, float *sum)                \
    {                                                                          \
        (void)scaling;                                                         \
        (void)flags;                                                           \
        wide_decode_tiles(codec, wire, n, true, (void *)sum);                  \
    }
#define ENTRY(arg, CPU, name, target)                                          \
    [APS_CPU_##CPU] = {.cpu = #name,                                           \
                       .encode = wide_encode_##name,                           \
                       .decode = wide_decode_##name,                           \
                       .decode_add = wide_decode_add_##name},

APS_CPU_ROWS(VARIANT, )
static const struct aps_codec codecs[APS_CPUS] = {APS_CPU_ROWS(ENTRY, )};

void aps_wide_codec_init(const struct aps_format *format, enum aps_cpu cpu,
                         struct aps_codec *codec)
{
    *codec = codecs[cpu];
    codec->format = *format;
}
