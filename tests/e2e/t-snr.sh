#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi snr, and its picture by apsmpi-report.

. "${top_srcdir:-.}/tests/e2e/lib.sh"

# near TABLE...: FORMAT K DB: within 0.05 dB of integrals over the normal density
near()
{
    awk -F, -v table="$*" 'NR == 1 { for (i = 2; i <= NF; i++) column[$i] = i }
        { for (f in column) at[f, $1] = $column[f] }
        END {
            n = split(table, word, " ")
            for (i = 1; i < n; i += 3) {
                got = at[word[i], word[i + 1]]
                off = got - word[i + 2]
                print word[i], word[i + 1], got
                if (got == "" || off > 0.05 || off < -0.05)
                    bad = 1
            }
            exit bad
        }' snr.csv
}

check 'snr: a table' sh -c "'$apsmpi' snr e5m10 e5m2 e4m3 e3m2 e3m0 e8m7 \
    mx-e4m3fn nvfp4 bfp7/64 bfp3/64 flex16 >snr.csv"
check 'snr: e5m10, its plateau and beyond both ends' \
    near e5m10 -8 73.65 e5m10 0 73.65 e5m10 8 73.65 e5m10 -16 58.96 \
    e5m10 16 8.21
check 'snr: e5m2' near e5m2 -8 25.54 e5m2 0 25.54 e5m2 8 25.54 e5m2 -16 10.79
check 'snr: e4m3' \
    near e4m3 -2 31.52 e4m3 0 31.52 e4m3 4 31.52 e4m3 -8 16.81 e4m3 8 7.62
check 'snr: e3m2, e3m0' near e3m2 0 25.46 e3m0 0 14.13
check 'snr: e8m7' near e8m7 -24 55.59 e8m7 0 55.59 e8m7 24 55.59
flat()
{
    awk -F, -v name="$1" 'NR == 1 { for (i = 2; i <= NF; i++) if ($i == name) c = i }
        NR == 2 { first = $c } NR > 1 && $c != first { exit 1 }' snr.csv
}
for format in mx-e4m3fn nvfp4 bfp7/64 bfp3/64; do
    check "snr: $format is as good at every scale" flat $format
done
check 'snr: the same in every run' sh -c "'$apsmpi' snr e5m10 e5m2 e4m3 e3m2 \
    e3m0 e8m7 mx-e4m3fn nvfp4 bfp7/64 bfp3/64 flex16 | cmp - snr.csv"
check 'snr: the same with plain kernels' sh -c "APSMPI_CPU=plain '$apsmpi' snr \
    e5m10 e5m2 e4m3 e3m2 e3m0 e8m7 mx-e4m3fn nvfp4 bfp7/64 bfp3/64 flex16 |
    cmp - snr.csv"
# Signs have 10 log10(1 / (1 - 2 / pi)) = 4.4 dB, at every scale.
check 'snr: levels and signs, as good at every scale' sh -c "'$apsmpi' snr \
    int8/512 qsgd127/512 qsgd7/512 sign/512 | awk -F, 'NR == 2 { a = \$2; \
    b = \$3; c = \$4; d = \$5 } NR > 1 && (\$2 != a || \$3 != b || \$4 != c ||
    \$5 != d) { exit 1 } END { exit !(a > b && b > c && c > d && d > 4) }'"
refused()
{
    "$apsmpi" snr "$@" >out 2>err
    test $? = 2 && ! test -s out && test -s err
}
check 'snr: no format' refused e5m2 e9m2
check 'snr: without formats' refused

check 'report: a table of the best ratios' sh -c "'$PYTHON3' '$report' \
    --snr snr.csv | grep -q '^e3m0  *14\.2  *-1 to 2$'"
printf 'a,b\n1,2\n' >wrong.csv
wrong()
{
    "$PYTHON3" "$report" --snr wrong.csv >out 2>err
    test $? = 2 && ! test -s out && grep -q 'first line must be' err
}
check 'report: no such table' wrong
if "$PYTHON3" -c 'import matplotlib' 2>/dev/null; then
    check 'report: a picture' sh -c "'$PYTHON3' '$report' --snr snr.csv \
        --plot snr.svg && grep -q 'bfp7/64' snr.svg"
else
    skip 'report: a picture' "$PYTHON3 has no matplotlib"
fi
finish
