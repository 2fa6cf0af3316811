#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi formats and apsmpi cast.

. "${top_srcdir:-.}/tests/e2e/lib.sh"

# prints TEXT COMMAND...: the command succeeds and prints this, \t and \n expanded
prints()
{
    expected=$(printf -- "$1")
    shift
    got=$("$@" 2>err) || return
    printf '%s\n' "$got"
    test "$got" = "$expected" && ! test -s err
}

# refuses STATUS TEXT COMMAND...: the command prints nothing, and this on standard error
refuses()
{
    wanted=$1 text=$2
    shift 2
    "$@" >out 2>err </dev/null
    status=$?
    cat out err
    test "$status" = "$wanted" && ! test -s out && grep -qF -e "$text" err
}

# feed TEXT COMMAND...: runs the command with this on its standard input
feed()
{
    text=$1
    shift
    printf -- "$text" | "$@"
}

# --- formats ------------------------------------------------------------------

row()
{
    "$apsmpi" formats "$1" | awk 'NR == 2 { $1 = $1; print }'
}

check 'formats: e4m3' \
    prints 'e4m3 1+4+3 8 7 240 0.015625 0.001953125 8 none 8' row e4m3
check 'formats: e4m3fn' \
    prints 'e4m3fn 1+4+3 8 7 448 0.015625 0.001953125 8 none 8' row e4m3fn
check 'formats: e2m1fn' prints 'e2m1fn 1+2+1 4 1 6 1 0.5 2 none 4' row e2m1fn
check 'formats: no mantissa, no subnormals' \
    prints 'e3m0 1+3+0 4 3 8 0.25 none 1 none 4' row e3m0
check 'formats: one exponent bit, no normals' \
    prints 'e1m3 1+1+3 5 0 1.75 none 0.25 8 none 5' row e1m3
check 'formats: block floating point' \
    prints 'hbfp8/576 1+7 8 none 0.9921875 none 0.0078125 none 576 8.01388889' \
    row hbfp8/576
check 'formats: MX' \
    prints 'mx-e2m1fn 1+2+1 4 1 6 1 0.5 2 32 4.25' row mx-e2m1fn
check 'formats: NVFP4' prints 'nvfp4 1+2+1 4 1 6 1 0.5 2 16 4.5' row nvfp4
check 'formats: levels that are drawn' \
    prints 'qsgd7/512 1+3 4 none 1 none 0.142857143 none 512 4.0625' \
    row qsgd7/512
check 'formats: signs' \
    prints 'sign/64 1+0 1 none 1 none none none 64 1.5' row sign/64
check 'formats: integers' \
    prints 'flex16 1+15 16 none 32767 none 1 none none 16' row flex16
check 'formats: a row for each name' \
    prints '3' sh -c "'$apsmpi' formats e5m2 fp16 | wc -l | tr -d ' '"
check 'formats: common ones without a name' \
    sh -c "'$apsmpi' formats | grep -q '^fp32 '"
for name in e0m3 e9m3 e4m24 e5m2fn float bfp7 bfp0/64 bfp7/1 mx-int4 flex9 ''; do
    check "formats: '$name' is refused" \
        refuses 2 'format' "$apsmpi" formats e5m2 "$name"
done
check 'formats: an unknown option' refuses 2 usage "$apsmpi" formats --all

# --- cast ---------------------------------------------------------------------

check 'cast: code, value and error' \
    prints '1.3\t0x3a\t0x1.4p+0\t-0x1.99998p-5' "$apsmpi" cast e4m3 1.3
check 'cast: negative and hexadecimal values' \
    prints '-0x1.8p1\t0xc2\t-0x1.8p+1\t0x0p+0\n-2\t0xc0\t-0x1p+1\t0x0p+0' \
    "$apsmpi" cast e5m2 -0x1.8p1 -2
check 'cast: overflow to INF' \
    prints '1e6\t0x7c\tinf\tinf\n-inf\t0xfc\t-inf\t0x0p+0' \
    "$apsmpi" cast e5m2 1e6 -inf
check 'cast: overflow to NaN in e4m3fn' \
    prints '448\t0x7e\t0x1.cp+8\t0x0p+0\n480\t0x7f\tnan\tnan' \
    "$apsmpi" cast e4m3fn 448 480
check 'cast: overflow to the largest in e4m3fn-sat' \
    prints '480\t0x7e\t0x1.cp+8\t-0x1p+5' "$apsmpi" cast e4m3fn-sat 480
check 'cast: four bits' \
    prints '5\t0x6\t0x1p+2\t-0x1p+0\n9\t0x7\t0x1.8p+2\t-0x1.8p+1' \
    "$apsmpi" cast e2m1fn 5 9
check 'cast: 19 bits have five hexadecimal digits' \
    prints '1\t0x1fc00\t0x1p+0\t0x0p+0' "$apsmpi" cast tf32 1
check 'cast: a vector is an array of blocks' prints \
    '1\t0x77:0x78\t0x1p+0\t0x0p+0\n-.75\t0x77:0xf4\t-0x1.8p-1\t0x0p+0\n1.97\t0x77:0x7e\t0x1.cp+0\t-0x1.c28f6p-3' \
    "$apsmpi" cast mx-e4m3fn -- 1 -.75 1.97
check 'cast: the second block has a scale of its own' prints \
    '1\t0x7f:0x08\t0x1p+0\t0x0p+0\n.1\t0x7f:0x01\t0x1p-3\t0x1.999998p-6\n4\t0x81:0x08\t0x1p+2\t0x0p+0' \
    feed '1 .1\n4' "$apsmpi" cast bfp4/2
check 'cast: INF makes its block NaN, and no other' prints \
    'inf\t0xff:0x00\tnan\tnan\n1\t0xff:0x00\tnan\tnan\n2\t0x80:0x40\t0x1p+1\t0x0p+0' \
    "$apsmpi" cast bfp7/2 inf 1 2
check 'cast: nvfp4 and integers' prints \
    '6\t0x3b124925:0x7e:0x7\t0x1.8p+2\t0x0p+0\n1e9\t0x7f\t0x1.fcp+6\t-0x1.dcd64c08p+29' \
    sh -c "'$apsmpi' cast nvfp4 6; '$apsmpi' cast flex8 1e9"

# decoded: the values decoded from the codes of nvfp4 equal the third column
decoded()
{
    seq 40 | awk '{ print sin($1) * exp($1 / 3 - 7) }' |
        "$apsmpi" cast nvfp4 >codes &&
        "$PYTHON3" - <<'END'
import struct

def value(code, exponent_bits, mantissa_bits, bias):
    """An OCP float without its sign and without NaN."""
    exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = code & (1 << mantissa_bits) - 1
    if exponent > 0:
        mantissa |= 1 << mantissa_bits
    return mantissa * 2.0 ** (max(exponent, 1) - bias - mantissa_bits)

def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]

blocks = set()
for line in open("codes"):
    given, codes, says, error = line.split("\t")
    g, s, code = (int(word, 16) for word in codes.split(":"))
    g = struct.unpack("f", struct.pack("I", g))[0]
    sign = -1 if code & 8 else 1
    x = sign * value(code, 2, 1, 1) * f32(value(s, 4, 3, 7) * g)
    assert f32(x) == float.fromhex(says), line
    blocks.add((g, s))
assert len({g for g, s in blocks}) == 1 and len(blocks) == 3, blocks
END
}
if "$PYTHON3" -c '' 2>/dev/null; then
    check 'cast: the codes of nvfp4 say what the values are' decoded
fi
check 'cast: integers that share a scale in FP32' prints \
    '1\t0x3f800000:0x7\t0x1p+0\t0x0p+0\n-.5\t0x3f800000:0xc\t-0x1.24924ap-1\t-0x1.24925p-4' \
    "$apsmpi" cast int4/64 -- 1 -.5
check 'cast: levels are drawn' prints \
    '1\t0x3f800000:0x1\t0x1p+0\t0x0p+0\n-1\t0x3f800000:0x3\t-0x1p+0\t0x0p+0' \
    "$apsmpi" cast qsgd1/64 -- 1 -1
check 'cast: ... and not rounded to nearest' refuses 2 'random bits' \
    "$apsmpi" cast --rounding nearest qsgd7/64 1
check 'cast: signs of the mean magnitude' prints \
    '3\t0x40000000:0x0\t0x1p+1\t-0x1p+0\n-1\t0x40000000:0x1\t-0x1p+1\t-0x1p+0' \
    "$apsmpi" cast sign/64 -- 3 -1
check 'cast: no value of a format in blocks' prints '' \
    feed '' "$apsmpi" cast bfp7/64
check 'cast: toward zero' \
    prints '61440\t0x7b\t0x1.cp+15\t-0x1p+12' \
    "$apsmpi" cast --rounding zero e5m2 61440
check 'cast: as CPD' \
    prints '61440\t0x7c\t0x1p+16\t0x1p+12\n-0x1p-130\t0x00\t0x0p+0\t0x1p-130' \
    "$apsmpi" cast e5m2 61440 -0x1p-130 --rounding=cpd

ups()
{
    "$apsmpi" cast e5m2 --rounding stochastic --seed "$1" $2 $2 $2 $2 $2 $2 \
        $2 $2 $2 $2 $2 $2 $2 $2 $2 $2 | grep -c -v '0x1p+0'
}
check 'cast: stochastic goes up, too' prints 1 sh -c "test $(ups 1 1.125) -gt 0 &&
    test $(ups 1 1.125) -lt 16 && echo 1"
check 'cast: stochastic repeats with its seed' \
    prints "$(ups 5 1.125)" echo "$(ups 5 1.125)"

drawn()
{
    "$apsmpi" cast e5m2 --rounding "$1" --rank "$2" 1.125 1.125 1.125 1.125 |
        cut -f 3 | sort | uniq -c | tr -s ' \n' ' '
}
# Eight equal values in the middle of two: four of them round up, at each place.
sum_of_eight()
{
    for rank in 0 1 2 3 4 5 6 7; do
        "$apsmpi" cast e5m2 --rounding correlated --rank $rank/8 1.125 1.125 \
            1.125
    done | grep -c 0x1.4p+0
}
check 'cast: correlated: half of the ranks go up' prints 12 sum_of_eight
check 'cast: correlated with one rank is stochastic' \
    prints "$(drawn stochastic 0/1)" drawn correlated 0/1
check 'cast: a rank that is not one of ranks' refuses 2 "not '8/8'" \
    "$apsmpi" cast --rounding correlated --rank 8/8 e5m2 1
check 'cast: too many ranks' refuses 2 'supports at most 262144' \
    "$apsmpi" cast --rounding correlated --rank 0/262145 e5m2 1
check 'cast: values from standard input, by blanks and lines' \
    prints '1\t0x3c\t0x1p+0\t0x0p+0\n2\t0x40\t0x1p+1\t0x0p+0\n3\t0x42\t0x1.8p+1\t0x0p+0' \
    feed '1 2\n\n \t3' "$apsmpi" cast e5m2
check 'cast: nothing on standard input' prints '' feed '' "$apsmpi" cast e5m2

for value in x 1x 0x '' ' 1' '1 2' --1 nan\(1\) 1e39 1,5; do
    check "cast: '$value' is not a value" \
        refuses 1 "'$value' is " "$apsmpi" cast e5m2 -- "$value"
done
lines()
{
    printf '1\n2 foo\n3\n' | "$apsmpi" cast e5m2 >out 2>err
    status=$?
    cat out err
    test $status = 1 && test "$(wc -l <out)" -eq 3 &&
        grep -qF "standard input:2: 'foo' is not a number" err
}
check 'cast: a bad value is named by line, the others are printed' lines

check 'cast: no format' refuses 2 usage "$apsmpi" cast
check 'cast: exponent 0' refuses 2 'must be 1 to 8' "$apsmpi" cast e0m3 1
check 'cast: exponent 9' refuses 2 'wider than FP32' "$apsmpi" cast e9m3 1
check 'cast: mantissa 24' refuses 2 'wider than FP32' "$apsmpi" cast e4m24 1
check 'cast: unknown format' refuses 2 'not a format' "$apsmpi" cast float 1
check 'cast: unknown rounding' refuses 2 "did you mean 'nearest'" \
    "$apsmpi" cast --rounding nearst e5m2 1
check 'cast: cpd of an OCP format' refuses 2 'cpd rounds to formats eEmM' \
    "$apsmpi" cast --rounding cpd e4m3fn 1
check 'cast: bad seed' refuses 2 "not '-1'" \
    "$apsmpi" cast --seed -1 e5m2 1
check 'cast: option without its value' refuses 2 usage \
    "$apsmpi" cast e5m2 1 --seed

finish
