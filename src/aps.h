/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libaps: arbitrary-precision number formats. The installed C API; needs neither
 * MPI nor a GPU.
 *
 * Functions that can fail return 0, or -1 with errno set, and fill an optional
 * struct aps_error. Out arguments come last and are written only on success.
 * All functions are safe to call from any thread.
 */
#ifndef APS_H
#define APS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aps_version.h" /* APS_VERSION, APS_VERSION_STRING */

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define APS_API __attribute__((visibility("default")))
#else
#define APS_API
#endif

/*
 * Structs that a program fills begin with their size, so that a library of
 * another version knows which members the program has. APS_..._INIT sets the
 * size and the defaults, in C and in C++:
 *
 *     struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
 *     options.rounding = APS_ROUND_STOCHASTIC;
 *
 * Members are only ever added at the end, with a default that changes nothing.
 * Missing ones have their default. A struct that is larger than the library's
 * is taken if what lies beyond is zero; otherwise EINVAL, as for a size that
 * no version had.
 */

/* Where and why something failed. An empty file, line 0, column 0: none. */
struct aps_error {
    char file[256];
    int line;
    int column;
    char text[512];
};

/* --- version ------------------------------------------------------------- */

/*
 * The version of the library that runs; APS_VERSION and APS_VERSION_STRING are
 * those of the header that a program was compiled with. Programs run with every
 * library of the same soname: what a library exports stays as it was.
 */
APS_API int aps_version(void);
APS_API const char *aps_version_string(void);

/* --- formats ------------------------------------------------------------- */

/*
 * A number format. Formats are made by aps_format_get alone and last as long as
 * the process: a program keeps the pointer, never frees it, and may compare two
 * pointers to see whether two names mean one format.
 *
 * Below, `format` is a pointer that aps_format_get returned. Functions that
 * return -1 on errors refuse NULL; for all others NULL is not allowed.
 */
struct aps_format;

/*
 * The format of that name.
 *
 * eEmM: one sign bit, 1 <= E <= 8 exponent bits, 0 <= M <= 23 mantissa bits,
 * bias 2^(E-1)-1, gradual underflow, all-ones exponent for INF and NaN. With
 * M = 0 there is no code for NaN. With E = 1 there are no normal numbers: a
 * fixed-point format. fp32, tf32, fp16 and bf16 are e8m23, e8m10, e5m10 and
 * e8m7.
 *
 * The suffix fn names the OCP formats without INF (OFP8 1.0, MX 1.0): e4m3fn,
 * which has a NaN, and e3m2fn, e2m3fn, e2m1fn, which have none.
 *
 * Overflow. A value beyond the largest finite one becomes INF, or NaN in e4m3fn
 * (OFP8's non-saturating mode). With the suffix -sat such a value, INF
 * included, becomes the largest finite one of its sign (OFP8's saturating
 * mode); formats that are all finite always do that.
 *
 * bfpM/B, block floating point: B values, 2 to 4096, share the exponent e of
 * their greatest magnitude, which is at least 2^(e-1) and less than 2^e (e at
 * least -125, at most 128); each has a sign and a magnitude of M bits, 1 to 24,
 * in steps of 2^(e-M). Every value is a float. B and 64 must have a common
 * multiple of at most 4096. hbfpM/B, which counts the sign, is bfp(M-1)/B.
 *
 * mx-e5m2, mx-e4m3fn, mx-e3m2fn, mx-e2m3fn, mx-e2m1fn and mx-int8 (MX 1.0): 32
 * values share a power of two, 2^-127 ... 2^127.
 *
 * nvfp4: 16 values e2m1fn share a scale e4m3fn, and all blocks of a piece one
 * in FP32.
 *
 * qsgdS/B and intB/BUCKET: a block of 2 to 4096 values shares a scale w in FP32,
 * its greatest magnitude, and each has a sign and a level k, 0 to S: the value is
 * w * k / S. In qsgdS/B, 1 <= S <= 32767, the level is drawn (QSGD, Alistarh et
 * al. 2017, Eq. 4): values are right on average, and APS_ROUND_STOCHASTIC and
 * APS_ROUND_CORRELATED are its only roundings. The suffix -l2 makes w the block's
 * 2-norm, as in the paper's theory. In intB/BUCKET, 2 <= B <= 16, S is
 * 2^(B-1)-1, and any rounding but APS_ROUND_CPD will do. A code has 1 +
 * ceil(log2(S + 1)) bits: qsgd7/512 and int4/512 have 4.
 *
 * sign/B: a block of 2 to 4096 values shares a scale in FP32, the mean of its
 * magnitudes, and each is a bit, its sign; zero counts as +. Nothing is rounded:
 * the rounding must be APS_ROUND_NEAREST.
 *
 * flex16 and flex8: integers in two's complement, -2^15 ... 2^15-1 and -2^7 ...
 * 2^7-1, of x * 2^f, where f is aps_cast_options.scale_exponent: a code has no
 * exponent. A value beyond is clipped, INF included. flex16+5 is flex16.
 *
 * Returns NULL with errno EINVAL and the reason in `error` if the name is not a
 * format, or with ENOMEM if memory is missing.
 */
APS_API const struct aps_format *aps_format_get(const char *name,
                                                struct aps_error *error);

/* Returns the canonical name, "e5m10" for "fp16": the same for equal formats.
 * The name belongs to the format. */
APS_API const char *aps_format_name(const struct aps_format *format);

/* Return the bits of a code's exponent and mantissa, and of the whole code: 1 +
 * exponent bits + mantissa bits. Codes that are integers, or that leave the
 * exponent to their block, have no exponent bits: their mantissa is all except
 * the sign. */
APS_API int aps_format_exponent_bits(const struct aps_format *format);
APS_API int aps_format_mantissa_bits(const struct aps_format *format);
APS_API int aps_format_width(const struct aps_format *format);

/* Returns the number that is subtracted from an exponent field: 2^(exponent
 * bits - 1) - 1. Without such a field, returns the number by which values are in
 * steps of 2^(1 - bias - mantissa bits); 1 for qsgdS/B, intB/BUCKET and
 * sign/B. */
APS_API int aps_format_bias(const struct aps_format *format);

/* True if INF, or NaN, is decoded as itself. (In a format in blocks, all values
 * of a block that contains INF or NaN are decoded as NaN.) `saturates`: true if
 * values beyond the largest finite value, and INF unless it becomes NaN, become
 * the largest finite value. */
APS_API bool aps_format_has_inf(const struct aps_format *format);
APS_API bool aps_format_has_nan(const struct aps_format *format);
APS_API bool aps_format_saturates(const struct aps_format *format);

/*
 * Returns the number of values that share a scale: 1 for eEmM, eEmMfn and
 * flexN, which share no scale. Rules for formats in blocks, with more than 1:
 *
 * - Each block scales itself: aps_cast_options.scale_exponent must be 0.
 * - Blocks are counted from element 0 of the whole array (a layer), whatever
 *   the pieces it is encoded in: a piece begins at a multiple of the block
 *   (aps_cast_options.offset), or EINVAL. Only the last block of the array may
 *   be short; it has a scale and the values that there are.
 * - Packed bytes are block after block. Each block begins at a byte, with its
 *   scale in whole bytes. Its values' codes follow, packed as those of a float
 *   format. The last byte of a block is filled up with zero bits. The packed
 *   bytes of pieces one after another are therefore those of the whole.
 * - A format that stores a number once for a whole piece (the scale of NVFP4)
 *   stores it before the piece's first block. Its pieces are decoded one by one.
 * - INF and NaN make a block NaN, all of it.
 * - Packed bytes have any alignment. aps_packed_bytes counts all of them.
 * - A width is that of one value's code, without its part of a scale. The
 *   largest and the smallest values are those of a block whose scale is 1.
 * - A value has no code of its own: aps_encode, aps_decode and aps_cast refuse
 *   such formats, and so do sums. Products take them for A and B.
 *
 * Scales, one byte a block, and four in qsgdS/B, intB/BUCKET and sign/B:
 *
 * - bfpM/B: e + 126; 0 for a block of zeros, 255 for NaN. A code is a magnitude
 *   k with the sign above it. The value is k * 2^(e-M), and |k| is at most
 *   2^M - 1, even if rounding would make it 2^M.
 * - mx-...: s, where elements are multiplied by 2^(s-127); 255 for NaN.
 *   2^(s-127) is the largest power of two that is at most the block's greatest
 *   magnitude, divided by the largest power of two of the element's format (1
 *   for int8); s is 0 for zeros and if it would be less. Elements beyond the
 *   largest one are clipped to it, as MX 1.0 (6.3) requires. Values between the
 *   largest element and 2 therefore lose up to an eighth (a quarter in e2m1fn)
 *   of their magnitude, and sums of them do, too. As multiples of that power of
 *   two, the largest element is 1.75 in e5m2, e4m3fn and e3m2fn, 1.875 in
 *   e2m3fn, 1.5 in e2m1fn, and 1.984375 in int8. An int8 is a multiple of 2^-6,
 *   -127 ... 127.
 * - nvfp4: a scale e4m3fn, without sign, 0x7f for NaN. The number g, in FP32,
 *   little-endian, precedes the first block: the greatest finite magnitude of
 *   the piece divided by 2688, the product of the largest values of e2m1fn and
 *   e4m3fn. Values are the element * (scale * g), where that product is a float.
 * - qsgdS/B, intB/BUCKET: w in FP32, little-endian; 0 for a block of zeros, NaN
 *   for NaN. A 2-norm is the root of the sum of squares, in FP64, rounded to FP32,
 *   and at most the largest float. A code is a level k with the sign above it.
 *   With p = 2^64 if w < 2^-64, 2^-64 if w >= 2^64, or else 1, all in FP32:
 *   k = min(S, R((|x| * p) * (S / (w * p)))) where R rounds to an integer, and the
 *   value is w * (k * (1 / S)). The greatest value comes back as it was where S + 1
 *   is a power of two.
 * - sign/B: the sum of magnitudes, in FP64, divided by how many values there are,
 *   rounded to FP32; NaN for NaN. A code is 1 for values below 0.
 * - These sums add element i of the block to lane i mod 16, and then lanes that are
 *   8, 4, 2 and 1 apart.
 */
APS_API int aps_format_block(const struct aps_format *format);

/* Largest finite value; 0 for e1m0, which has none but zero. */
APS_API float aps_format_max(const struct aps_format *format);

/* Smallest positive normal value; where there is none, E = 1 and codes without
 * an exponent, the value at which it would start, 2^(1-bias): 2 for E = 1.
 * Exact in double for every format. */
APS_API double aps_format_min_normal(const struct aps_format *format);

/* Smallest positive value, subnormal where M > 0; 0 for e1m0, which has none.
 * Exact in double, except 1/S of qsgdS/B and intB/BUCKET. */
APS_API double aps_format_min_positive(const struct aps_format *format);

/* --- one value ----------------------------------------------------------- */

/*
 * The code of x in `format`: round to nearest, ties to even, on the true value;
 * subnormals right; overflow decided after rounding. With M = 0 no normal value
 * has an even significand: a tie goes to the larger magnitude, as IEEE 754-2019
 * (4.3.1) has it, but one between 0 and the smallest value to 0. NaN becomes
 * the canonical quiet NaN with x's sign; where the format has none, INF with
 * x's sign (M = 0) or the largest finite value (the all-finite formats). The
 * low `width` bits hold the code, the others are 0. For a format in blocks
 * errno is EINVAL and the result UINT32_MAX.
 */
APS_API uint32_t aps_encode(const struct aps_format *format, float x);

/* The value of a code; exact, since every format's values are floats. For a
 * format in blocks errno is EINVAL and the result NaN. */
APS_API float aps_decode(const struct aps_format *format, uint32_t code);

/* aps_decode(aps_encode(x)): x rounded to the format. For a format in blocks
 * errno is EINVAL and the result NaN. */
APS_API float aps_cast(const struct aps_format *format, float x);

/* --- arrays -------------------------------------------------------------- */

enum aps_rounding {
    APS_ROUND_NEAREST,     /* ties to even, as aps_encode */
    APS_ROUND_STOCHASTIC,  /* up with the probability of the fraction */
    APS_ROUND_TOWARD_ZERO, /* overflow becomes the largest finite value */
    APS_ROUND_CPD,         /* as the APS paper's emulator, quirks included */
    APS_ROUND_CORRELATED   /* stochastic; the errors of several ranks cancel */
};

/* As a rank: all of them. */
#define APS_RANK_ALL UINT32_MAX

/*
 * Options by which an array is scaled and rounded. APS_CAST_OPTIONS_INIT rounds
 * to nearest, without a scale.
 *
 * The scale exponent f is -400 ... 400. The product x * 2^f is rounded once, even
 * if it is not a float (with APS_ROUND_CPD, the product rounded to float). A
 * decoded value is multiplied by 2^-f and rounded to float, which is exact
 * unless it leaves the floats' range. Both ends of a message need the same f,
 * because it is not in the packed bytes. aps_scale_exponent and
 * aps_scale_exponent_tight compute it.
 *
 * Stochastic rounding adds 32 random bits below the last bit that is kept: the
 * probability is exact to 2^-32, subnormals included. Less than one step above
 * the largest finite value overflow is drawn like any other step up; from there
 * on it is certain. A value's bits depend on seed, stage, rank, layer, step and
 * on its element number i alone, neither on how an array is cut nor on what
 * computes it. They are word i % 4 of Philox4x32-10 with
 *
 *     key     = mix(mix(seed) ^ (stage * 2^32 + rank))
 *     counter = (i / 4 mod 2^32, i / 4 / 2^32, layer, step)
 *
 * where the key's low half is Philox's first key word, and mix is a step of
 * SplitMix64, modulo 2^64:
 *
 *     z += 0x9e3779b97f4a7c15;  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
 *     z = (z ^ z >> 27) * 0x94d049bb133111eb;  mix = z ^ z >> 31
 *
 * mix is a bijection: for one seed, no two of stage, rank, layer, step and i
 * share bits. A job has one seed. The stage numbers the points at which a value
 * is rounded on its way (0: a rank's contribution, 1 and on: partial sums and
 * results). The rank is the rank that rounds, or APS_RANK_ALL for equal bits on
 * all ranks. With all of them 0, elements 0 to 3 draw 0xf1b644d8,
 * 0xf8dc1230, 0xc12ec879 and 0x63246410.
 *
 * Correlated rounding is stochastic rounding by other bits, for values of N =
 * `ranks` ranks that are added: those of `stage` with the ranks 0 ... N - 1,
 * whose other members are equal. Let g(i) be the bits that the rank itself
 * draws for element i, and w(i) those that APS_RANK_ALL draws. Then element i
 * is rounded by
 *
 *     floor((pi * 2^32 + g(i)) / N)
 *     pi = (place + floor(w(i) * N / 2^32)) mod N
 *
 * if it is positive, and by 2^32 - 1 minus that if its sign is negative, where
 * `place` is the rank's in a permutation of the ranks, made of w(2^64 +
 * k) with i / 4 = 2^62 + floor(k / 4) in the counter:
 *
 *     place = rank;  for k = N - 1, N - 2, ... 1:
 *         j = floor(w(2^64 + k) * (k + 1) / 2^32)
 *         if place == k, place = j;  else if place == j, place = k
 *
 * For each rank the probability is as above, to 2^-31. Each N-th part of the
 * 32-bit numbers has the bits of one rank for an element. If the ranks'
 * fractions of a step are equal, their sum is therefore rounded by less than one
 * step. No sum has a greater mean squared error than by stochastic rounding. With
 * `ranks` 0 or 1 it is stochastic rounding. All members 0 but N = 4, elements 0
 * to 3 of rank 0 are rounded by 0x3c6d9136, 0x7e37048c, 0x304bb21e and
 * 0x98c91904, those of rank 3 by 0x58ada692, 0x9a63f53a, 0x427ba903 and
 * 0xf0f79acf. Each call takes time in proportion to N, besides that of its
 * array.
 *
 * APS_ROUND_CPD (formats eEmM without -sat only): floats below 2^-126 become
 * +0. Overflow is checked before rounding, so that a value that rounds up past
 * the largest one becomes the power of two above it, which the format does not
 * have (encoded, it is INF). Below the normal range, bits 23 places and more
 * under the smallest normal value are dropped before rounding, so that they no
 * longer break ties; with M = 23 nothing is rounded up there.
 */
struct aps_cast_options {
    size_t size; /* size of this struct, in bytes */
    uint64_t seed;
    uint64_t offset; /* the number i of the array's first element */
    uint32_t layer;
    uint32_t step;
    enum aps_rounding rounding;
    int32_t scale_exponent; /* f */
    uint32_t stage;
    uint32_t rank;  /* or APS_RANK_ALL */
    uint64_t ranks; /* for APS_ROUND_CORRELATED: rank < ranks <= 2^18 */
};
#define APS_CAST_OPTIONS_INIT                                                  \
    {                                                                          \
        sizeof(struct aps_cast_options), 0, 0, 0, 0, APS_ROUND_NEAREST, 0, 0,  \
            0, 0                                                               \
    }

/*
 * Rounds x[n] to the format in y[n]: aps_cast of each, with `options` (NULL:
 * APS_CAST_OPTIONS_INIT), as aps_encode_array and aps_decode_array do it one
 * after the other. y may be x. Writes nothing and fails with EINVAL for a NULL
 * array with n > 0, an n that no array can have (a negative number, cast), a
 * scale exponent out of range, or an offset inside a block. Fails so, too, for a
 * rounding that does not exist or is not for this format, for correlated
 * rounding of more than 2^18 ranks, and for a rank that is not below `ranks` if
 * they are more than 1.
 */
APS_API int aps_cast_array(const struct aps_format *format, const float *x,
                           size_t n, const struct aps_cast_options *options,
                           float *y, struct aps_error *error);

/* Returns the bytes of n packed codes: ceil(n * width / 8); for a format in
 * blocks, with their scales. Returns SIZE_MAX if they are more. */
APS_API size_t aps_packed_bytes(const struct aps_format *format, size_t n);

/*
 * Encodes x[n], aps_encode of each with `options`, and packs the codes densely:
 * code i occupies the bits [i*width, (i+1)*width), least significant bit first
 * within a byte. The last byte is filled up with zero bits. Has the errors of
 * aps_cast_array.
 */
APS_API int aps_encode_array(const struct aps_format *format, const float *x,
                             size_t n, const struct aps_cast_options *options,
                             void *packed, struct aps_error *error);

/* Decodes n packed codes to x[n], aps_decode of each, times 2^-f. Only the scale
 * exponent and the offset of `options` matter. Has the errors of
 * aps_cast_array. */
APS_API int aps_decode_array(const struct aps_format *format,
                             const void *packed, size_t n,
                             const struct aps_cast_options *options, float *x,
                             struct aps_error *error);

/* --- scale exponents ----------------------------------------------------- */

/* aps_max_exponent of an array without a finite value other than 0. */
#define APS_EXPONENT_ZERO (-32768)

/*
 * *exponent = max over i of ceil(log2(ranks * |x[i]|)) over the finite values
 * other than 0, exact (FindMaxExp of the APS paper's Algorithm 1), or
 * APS_EXPONENT_ZERO. `ranks`, 1 or more, is how many arrays will be added. Each
 * rank computes it of its own array, and they take the MAX of all. EINVAL for a
 * NULL array with n > 0, an n that no array can have, ranks below 1.
 */
APS_API int aps_max_exponent(const float *x, size_t n, int ranks, int *exponent,
                             struct aps_error *error);

/*
 * The scale exponent of APS (Algorithm 1): f = U - max_exponent with U =
 * 2^(exponent bits - 1) - 1, or N - 2 for flexN, so that the sum of `ranks`
 * arrays scaled by 2^f cannot overflow; 0 for APS_EXPONENT_ZERO, and for formats
 * in blocks. Within -400 ... 400 for what
 * aps_max_exponent gives.
 */
APS_API int aps_scale_exponent(const struct aps_format *format,
                               int max_exponent);

/*
 * *exponent = floor(log2(largest finite value / max |x[i]|)) over the finite
 * values: the greatest f by which nothing overflows in this array alone; 0 if
 * it holds no finite value other than 0. For sums that are kept in FP32 (scale:
 * aps-tight); nothing is agreed between ranks. EINVAL as aps_max_exponent, and
 * for a format in blocks.
 */
APS_API int aps_scale_exponent_tight(const struct aps_format *format,
                                     const float *x, size_t n, int *exponent,
                                     struct aps_error *error);

/* --- sums and matrix products -------------------------------------------- */

/*
 * Q below is the rounding of aps_cast, applied to the FP32 result of an
 * operation: the operation itself is rounded to FP32 first, as the APS paper's
 * emulator (CPD) does it. Where the exact result is a float, such as a product
 * of two values of at most 12 significant bits, that is one rounding; otherwise
 * it is two. A NaN stays NaN, also where the format has no code for it, and
 * comes out as the positive canonical one.
 *
 * The results have the same bits on every CPU (APSMPI_CPU=plain, avx2 or avx512,
 * or neon on Arm, forces a variant of the kernels), whatever floating point
 * environment the caller has set.
 */

/*
 * n ordered sums side by side, of `terms` arrays of n elements:
 *
 *     s = 0;  s = Q(s + x[t][i]) for t = 0, 1, ... terms - 1;  out[i] = s
 *
 * The terms are added as they are, not cast first. `out` may be one of the x[t],
 * but may not overlap one otherwise. Fails with EINVAL for an invalid format, a
 * count that is negative or beyond memory, and NULL with a count.
 */
APS_API int aps_sum(const struct aps_format *format, size_t terms, size_t n,
                    const float *const x[], float *out,
                    struct aps_error *error);

/*
 * Sums like aps_sum, with Kahan's compensation, every operation rounded:
 *
 *     s = c = 0;  y = Q(x[t][i] - c), t = Q(s + y), c = Q(Q(t - s) - y), s = t
 *
 * and no correction at the end. After an INF the compensation is NaN, and so is
 * a sum that continues.
 */
APS_API int aps_sum_kahan(const struct aps_format *format, size_t terms,
                          size_t n, const float *const x[], float *out,
                          struct aps_error *error);

/*
 * Sums like aps_sum, in chunks of `chunk` terms, 1 or more. Each is added up by
 * itself and then added to the total (chunk-based accumulation: Wang et al.
 * 2018, "Training Deep Neural Networks with 8-bit Floating Point Numbers",
 * section 2.3):
 *
 *     total = 0
 *     for each chunk, the last of which may be short:
 *         s = 0;  s = Q(s + x[t][i]) for its terms t in order
 *         total = Q(total + s)
 *     out[i] = total
 *
 * The error of a long sum grows with chunk + terms / chunk, not with terms.
 * Fails with EINVAL like aps_sum, and for a chunk of 0.
 */
APS_API int aps_sum_chunked(const struct aps_format *format, size_t chunk,
                            size_t terms, size_t n, const float *const x[],
                            float *out, struct aps_error *error);

/*
 * C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) k x n and C m x
 * n, and op(X) is X or its transpose. All are row-major: element (i, j) of X as
 * it is stored is x[i * ldx + j], and ldx is at least the length of a stored
 * row. (Column-major: swap A with B and m with n.)
 */
struct aps_gemm_arguments {
    size_t size;                          /* size of this struct, in bytes */
    const struct aps_format *format;      /* inputs and products; or A */
    const struct aps_format *accumulator; /* partial sums and the result */
    bool kahan;                           /* compensated, as aps_sum_kahan */
    bool transpose_a;                     /* A is stored as k x m */
    bool transpose_b;                     /* B is stored as n x k */
    int64_t m;
    int64_t n;
    int64_t k;
    float alpha;
    const float *a;
    int64_t lda;
    const float *b;
    int64_t ldb;
    float beta;
    float *c;
    int64_t ldc;
    int64_t chunk; /* chunk of the sum over k (aps_sum_chunked); 0: one sum */
    const struct aps_format *format_b;   /* format of B; NULL: `format` */
    const struct aps_cast_options *cast; /* of A and B; NULL: to nearest */
};
#define APS_GEMM_ARGUMENTS_INIT                                                \
    {                                                                          \
        sizeof(struct aps_gemm_arguments), NULL, NULL, false, false, false, 0, \
            0, 0, 1, NULL, 0, NULL, 0, 0, NULL, 0, 0, NULL, NULL               \
    }

/*
 * The product with every operation rounded: Q to `format`, R to `accumulator`.
 * For each element of C
 *
 *     s = 0;  s = R(s + Q(Q(a_ik) * Q(b_kj))) for k = 0, 1, ...
 *     u = R(alpha * s);  c_ij = beta == 0 ? u : R(u + R(beta * c_ij))
 *
 * The sum over k of the rounded products is that of aps_sum_kahan if `kahan`, and
 * that of aps_sum_chunked if `chunk` is not 0. As in BLAS, C is not read if beta
 * is 0. A and B are not read if alpha or k is 0, and then c_ij = beta == 0 ? 0 :
 * R(beta * c_ij). C must not overlap A or B. The calling thread computes it.
 *
 * Formats in blocks (HBFP: Drumond et al. 2018, "Training DNNs with Hybrid Block
 * Floating Point"; the OCP MX dot product). `format` is that of A and `format_b`
 * that of B, both in blocks of as many values. aps_cast_array rounds each row of
 * op(A) and each column of op(B) as an array of k values, so that blocks run
 * along k and the last one may be short. For blocks l = 0, 1, ... of the rounded
 * values, the steps
 *
 *     p = the sum of a_ik * b_kj over the k of block l, in FP64 from 0 in order
 *     s = R(s + p), p rounded to FP32
 *
 * replace the step of one product. p is exact, as if integers were multiplied
 * and added up, if the products of a block span at most 53 bits. This holds for
 * bfpM/B by bfpN/B with M + N + log2 B <= 53, and for the MX formats, unless both
 * are mx-e5m2. qsgdS/B, whose values are drawn, is not allowed as an operand.
 * Between blocks the sum is that of `accumulator`, fp32 for HBFP; chunks count
 * blocks. A NaN in a block makes NaN of all elements that use the block.
 *
 * With `cast`, A and B are rounded as aps_cast_array does with these options. For
 * random bits, element l of row i of op(A) has the number offset + i * K + l, where
 * K is k rounded up to whole blocks of the format. Element l of column j of op(B)
 * has the number offset + j * K + l, and the next stage. A NaN stays NaN. Products
 * and sums are rounded to nearest.
 *
 * Writes nothing and fails with ENOMEM, or with EINVAL for
 * - an invalid format, formats that do not match, or an accumulator in blocks;
 * - a negative size or chunk, or a chunk together with `kahan`;
 * - a `cast` with a scale exponent, an offset inside a block, a rounding other than
 *   nearest and stochastic, or one that is not for the format;
 * - a leading dimension shorter than a row, or a matrix beyond memory;
 * - NULL for a matrix that would be read or written, and a C that is A or B (other
 *   overlaps are not found).
 */
APS_API int aps_gemm(const struct aps_gemm_arguments *arguments,
                     struct aps_error *error);

/*
 * C converts neither float ** nor float *const * to const float *const *, which
 * C++ does by itself: in C11 and later these macros do it, for arrays of
 * pointers to float and to const float alone.
 */
#if !defined(__cplusplus) && defined(__STDC_VERSION__) &&                      \
    __STDC_VERSION__ >= 201112L
#define APS_TERMS(x)                                                           \
    _Generic((x),                                                              \
        float **: (const float *const *)(x),                                   \
        float *const *: (const float *const *)(x),                             \
        const float **: (const float *const *)(x),                             \
        default: (x))
#define aps_sum(format, terms, n, x, out, error)                               \
    aps_sum(format, terms, n, APS_TERMS(x), out, error)
#define aps_sum_kahan(format, terms, n, x, out, error)                         \
    aps_sum_kahan(format, terms, n, APS_TERMS(x), out, error)
#define aps_sum_chunked(format, chunk, terms, n, x, out, error)                \
    aps_sum_chunked(format, chunk, terms, n, APS_TERMS(x), out, error)
#endif

#ifdef __cplusplus
}
#endif

#endif
