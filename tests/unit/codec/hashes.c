/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line for each format: its name and the hashes of the codec's bytes for
 * random values with every rounding, and of the decoded values. For comparing
 * machines; see aarch64.sh.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "number/format.h"
#include "codec/codec.h"
#include "unit/common/formats.h"
#include "unit/common/wire.h"

#define N 5000

/* FNV-1a */
static uint64_t hash(uint64_t before, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < size; i++)
        before = (before ^ p[i]) * 0x100000001b3;
    return before;
}

int main(void)
{
    static float x[N], y[N];
    static uint8_t wire[N * 4];
    struct aps_format f;

    for (int i = 0; format_at(i, &f); i++) {
        uint64_t codes = 0xcbf29ce484222325, values = codes;
        struct aps_codec codec;

        aps_codec_init(&f, &codec);
        for (enum aps_rounding r = APS_ROUND_NEAREST; r <= APS_ROUND_CORRELATED;
             r++) {
            static const int exponents[] = {0, 7, -130, 135, 3};
            struct aps_cast_options options = {
                .size = sizeof options, .rounding = r, .seed = 11, .ranks = 6};
            struct aps_scaling scaling = {.exponent = exponents[r],
                                          .factor = r == 1 ? 1.3f : 1};
            struct aps_encode_stats stats = {0};
            unsigned flags;

            if (r == APS_ROUND_CPD && (f.kind != APS_FORMAT_IEEE || f.saturate))
                continue;
            for (size_t j = 0; j < N; j++)
                x[j] = y[j] = random_value(&f, scaling.exponent);
            flags = codec.encode_stats(&codec, x, N, scaling, &options, wire,
                                       &stats);
            codec.encode(&codec, x, N, scaling, &options, wire);
            codes = hash(codes, wire, aps_codec_bytes(&codec, N));
            codes = hash(codes, &stats, sizeof stats);
            codes = hash(codes, &flags, sizeof flags);
            codec.decode_add(&codec, wire, N, scaling, flags, y);
            codec.round(&codec, N, scaling, x);
            values = hash(values, x, sizeof x);
            values = hash(values, y, sizeof y);
            codec.decode(&codec, wire, N, scaling, flags, y);
            values = hash(values, y, sizeof y);
        }
        printf("%s %016" PRIx64 " %016" PRIx64 "\n", f.name, codes, values);
    }
    return 0;
}
