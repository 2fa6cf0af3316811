/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors in a rule: block formats and integers. */
#include "config.h"

#include <stdio.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policyerrors.h"

#define TOO_WIDE "wider than FP32, for rules with types: double"

int main(void)
{
    static const struct bad cases[] = {
        {"invalid block formats",
         TOP "  - {min_count: 9999, format: bfp7/1}\n"
             "  - {min_count: 9998, format: bfp25/64}\n"
             "  - {min_count: 9997, format: bfp7/4090}\n"
             "  - {min_count: 9996, format: mx-e4m3}\n"
             "  - {min_count: 9995, format: flex12}\n"
             "  - {min_count: 9994, format: mxfp4}\n"
             "  - {min_count: 9993, format: bfp8}\n",
         "3:31: format 'bfp7/1': a block must have 2 to 4096 values, not 1\n"
         "4:31: format 'bfp25/64': bfp's bits must be 1 to 24, beside the "
         "sign\n"
         "5:31: format 'bfp7/4090': blocks of 4090 values end at a multiple of "
         "64 values only every 130880: it must be at most 4096 (take a "
         "multiple "
         "of 64, or of 32)\n"
         "6:31: format 'mx-e4m3': did you mean 'mx-e4m3fn'? The MX formats are "
         "mx-e5m2, mx-e4m3fn, "
         "mx-e3m2fn, mx-e2m3fn, mx-e2m1fn and mx-int8\n"
         "7:31: format 'flex12': the formats of integers are flex8 and flex16\n"
         "8:31: unknown format 'mxfp4'; MXFP4 is mx-e2m1fn\n"
         "9:31: unknown format 'bfp8'; bfp7/64 has 8 bits a value, 64 of them "
         "in a block"},
        {"formats that clip by themselves",
         RULE "{format: bfp7/64-sat}\n"
              "  - {format: mx-e4m3fn-sat}\n"
              "  - {format: nvfp4_sat}\n"
              "  - {format: flex8-sat}\n"
              "  - {format: hbfp99/64-sat}\n",
         "3:14: format 'bfp7/64-sat': leave out '-sat': no value is beyond the "
         "range of its block\n"
         "4:14: format 'mx-e4m3fn-sat': leave out '-sat': what is beyond the "
         "range is clipped in any case\n"
         "5:14: format 'nvfp4-sat': leave out '-sat': what is beyond the "
         "range is clipped in any case\n"
         "6:14: format 'flex8-sat': leave out '-sat': what is beyond the range "
         "is clipped in any case\n"
         "7:14: format 'hbfp99/64-sat': hbfp's bits must be 2 to 25, with the "
         "sign"},
        {"wide formats for other types than double",
         TOP "  - {min_count: 9999, format: e8m24}\n"
             "  - {min_count: 9998, types: [float, double], format: e11m52}\n"
             "  - {min_count: 9997, types: bf16, format: E9M22}\n",
         "3:31: format e8m24 is wider than FP32: its rule must be for doubles "
         "alone (types: double)\n"
         "4:55: format e11m52 is wider than FP32: its rule must be for doubles "
         "alone (types: double)\n"
         "5:44: unknown format 'E9M22'; did you mean 'e9m22'? (small letters)"},
        {"wide formats with wrong numbers of bits",
         TOP "  - {types: double, format: e12m3}\n"
             "  - {types: double, format: e4m53}\n"
             "  - {types: double, format: e9m0}\n"
             "  - {types: double, format: e1m24}\n"
             "  - {types: double, format: fp64}\n",
         "3:29: format 'e12m3': exponent bits must be 1 to 11\n"
         "4:29: format 'e4m53': mantissa bits must be 0 to 52\n"
         "5:29: format 'e9m0': formats wider than FP32 have 2 exponent bits "
         "and 1 mantissa bit at least, and no '-sat'\n"
         "6:29: format 'e1m24': formats wider than FP32 have 2 exponent bits "
         "and 1 mantissa bit at least, and no '-sat'\n"
         "7:29: unknown format 'fp64'; FP64 is e11m52, for a rule with types: "
         "double"},
        {"settings of wide formats",
         TOP
         "  - {types: double, format: e8m24, scale: aps, node: fp32}\n"
         "  - {types: double, format: e8m24, aps: on}\n"
         "  - {types: double, format: e8m24, accumulate: format}\n"
         "  - {types: double, format: e8m24, rounding: stochastic}\n"
         "  - {types: double, format: e8m24, accumulate: {format: e9m22}}\n",
         "3:36: a scale cannot be combined with format e8m24, which is wider "
         "than FP32; leave it out\n"
         "3:48: node: fp32 cannot be combined with format e8m24, which is "
         "wider "
         "than FP32; leave it out\n"
         "4:36: a scale cannot be combined with format e8m24, which is wider "
         "than FP32; leave it out\n"
         "5:36: 'accumulate' cannot be combined with format e8m24, which is "
         "wider than FP32; leave it out\n"
         "6:36: random rounding cannot be combined with format e8m24, which is "
         "wider than FP32; leave it out\n"
         "7:57: format 'e9m22': " TOO_WIDE},
        {"compressed layers of wide formats",
         "version: 1\nsteps: auto\nrules:\n"
         "  - {types: double, format: e8m24, compress: {topk: 0.1}}\n"
         "  - {types: double, format: e8m24, feedback: on}\n",
         "4:36: 'compress' cannot be combined with format e8m24, which is "
         "wider "
         "than FP32; leave it out\n"
         "5:36: 'feedback' cannot be combined with format e8m24, which is "
         "wider "
         "than FP32; leave it out"},
        {"wide formats that are measured",
         TOP "  - {types: double, format: fp32, shadow: [e8m24]}\n"
             "  - {types: double, format: {auto: [e11m52, e8m7], target: snr "
             "20dB}}\n"
             "  - {types: double, format: e11m52, shadow: [e4m3]}\n"
             "  - {types: double, format: fp32, shadow: [E9M22]}\n",
         "3:44: format 'e8m24': " TOO_WIDE "\n"
         "4:37: format 'e11m52': " TOO_WIDE "\n"
         "5:21: format e11m52 is wider than FP32, in which candidates (shadow) "
         "are measured; leave one of them out\n"
         "6:44: unknown format 'E9M22'; did you mean 'e9m22'? (small letters)"},
        {"wide formats with candidates for all rules",
         "version: 1\nshadow: [e4m3]\nlog: {file: x.csv}\nrules:\n"
         "  - {types: double, format: e11m52}\n",
         "5:21: format e11m52 is wider than FP32, in which candidates (shadow) "
         "are measured; leave one of them out"},
        {"wide formats of no type", RULE "{types: doubel, format: e11m52}\n",
         "3:13: unknown types 'doubel'; did you mean 'double'?"},
        {"bits without a block",
         RULE "{format: bfp16}\n"
              "  - {format: bfp12}\n",
         "3:14: unknown format 'bfp16'; did you mean 'bf16'? bfp15/64 has 16 "
         "bits a value, 64 of them in a block\n"
         "4:14: format 'bfp12': how many values share an exponent is missing: "
         "bfp12/64, with 1 to 24 bits beside the sign and 2 to 4096 values"},
        {"invalid formats of levels and signs",
         TOP "  - {min_count: 9999, format: qsgd7}\n"
             "  - {min_count: 9998, format: qsgd40000/64}\n"
             "  - {min_count: 9997, format: int1/64}\n"
             "  - {min_count: 9996, format: sign}\n"
             "  - {min_count: 9995, format: qsgd}\n",
         "3:31: format 'qsgd7': how many values share a scale is missing: "
         "qsgd7/512\n"
         "4:31: format 'qsgd40000/64': qsgd's levels must be 1 to 32767\n"
         "5:31: format 'int1/64': int's bits, the sign included, must be 2 to "
         "16\n"
         "6:31: format 'sign': how many values share a scale is missing: "
         "sign/512\n"
         "7:31: unknown format 'qsgd'; QSGD's formats are qsgd7/512 (4 bits), "
         "qsgd127/512, ..."},
        {"roundings that formats do not have",
         TOP "  - {min_count: 9999, format: qsgd7/512, rounding: nearest}\n"
             "  - {min_count: 9998, format: sign/512, rounding: stochastic}\n"
             "  - {min_count: 9997, format: qsgd7/512, accumulate: format}\n"
             "  - {min_count: 9996, format: int8/512, accumulate: {format: "
             "qsgd7/512}}\n",
         "3:52: rounding nearest cannot be combined with format qsgd7/512, "
         "whose levels are drawn: leave 'rounding' out, or use a format "
         "intB/BUCKET, such as int8/512\n"
         "4:51: format sign/512 keeps signs, which are not rounded: leave "
         "'rounding' out\n"
         "5:42: partial sums are rounded to nearest, and the levels of "
         "qsgd7/512 are drawn: leave 'accumulate' out, or keep sums in another "
         "format, as in accumulate: {format: bf16}\n"
         "6:41: partial sums are rounded to nearest, and the levels of "
         "qsgd7/512 are drawn: leave 'accumulate' out, or keep sums in another "
         "format, as in accumulate: {format: bf16}"},
        {"sums that would hide an overflow",
         RULE "format: e2m1fn\n    accumulate: format\n"
              "    scale: {backoff: {on_overflow: inf}}\n",
         "4:5: on_overflow: inf needs sums that can be INF or NaN, and e2m1fn "
         "has neither: leave 'accumulate' out, or keep sums in another format, "
         "as in accumulate: {format: bf16}"},
        {"products of what is drawn", "version: 1\ngemm: {format: qsgd7/512}\n",
         "2:16: the levels of qsgd7/512 are drawn, and products have no such "
         "operands: use a format intB/BUCKET, such as int8/512"},
        {"correlated rounding of operands",
         "version: 1\ngemm: {format: e4m3, rounding: correlated}\n",
         "2:32: correlated rounding is for sums over ranks: operands of "
         "products are rounded to nearest or stochastic"},
        {"stochastic rounding of signs",
         "version: 1\ngemm: {format: sign/64, rounding: stochastic}\n",
         "2:35: formats sign/B keep signs, which are not rounded: leave "
         "'rounding' out"},
        {"rounding without a format",
         "version: 1\ngemm: {format: fp32, rounding: stochastic}\n",
         "2:22: 'rounding' cannot be combined with format: fp32, which leaves "
         "products to the program's BLAS (e8m23 is the library's FP32 "
         "product)"},
        {"a rule for products after one for all",
         "version: 1\ngemm:\n  - {format: e5m2}\n  - {format: e4m3}\n",
         "4:5: the rule before this one holds for all products: this one can "
         "never match"},
        {"no rule for products", "version: 1\ngemm: []\n",
         "2:7: 'gemm' is an empty list"},
        {"sums in integers",
         RULE "format: e5m2\n    accumulate: {format: flex16}\n",
         "4:26: sums cannot be kept in flex16 unless the rule's format is "
         "flex16: its integers would need a scale of their own"},
        {"sums of blocks in floats",
         RULE "format: mx-e4m3fn\n    accumulate: {format: e4m3}\n",
         "4:26: sums cannot be kept in e4m3 where the rule's format is "
         "mx-e4m3fn: its blocks scale themselves, and the sums would have no "
         "scale; use a format in blocks, or one with the range of fp32, such "
         "as bf16"},
        {"products of integers",
         "version: 1\ngemm: {format: flex8, accumulate: {format: flex16}}\n",
         "2:16: format flex8 is of integers, of which there are no products "
         "(flex is for rules)\n"
         "2:44: format flex16 is of integers, of which there are no products "
         "(flex is for rules)"},
        {"sums of products in blocks",
         "version: 1\ngemm: {format: bfp7/64, accumulate: {format: nvfp4}}\n",
         "2:46: sums of products are floats, and nvfp4 is in blocks; leave it "
         "out for fp32, or name a format of floats, as in accumulate: {format: "
         "bf16}"},
    };

    REFUSE(cases, NULL);
    return done_testing();
}
