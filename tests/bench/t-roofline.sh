#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The roofline's bounds are those of the rates that it reads. With APS_TEST_LONG (make
# check-long) they are measured. No test asserts a time.
# shellcheck disable=SC2317 # functions that check calls
. "${top_srcdir:-.}/tests/e2e/lib.sh"

# matches REGEX [TIMES]: TIMES lines of the tables (1) match
matches()
{
    [ "$(grep -c -e "$1" out)" -eq "${2:-1}" ]
}

# kernels FILE RATE: output of `codec`; RATE is that of encode in memory
kernels()
{
    cat >"$1" <<END
256 KiB of floats: GB/s, and as a multiple of memcpy
  cpu     format    bits memcpy         read          max       encode      bounded       decode   decode_add       stream   sum_encode
  plain   e4m3         8   40.0   20.0 0.50x   80.0 2.00x   20.0 0.50x   25.0 0.62x   50.0 1.25x   40.0 1.00x   30.0 0.75x   20.0 0.50x
262144 KiB of floats: GB/s, and as a multiple of memcpy
  cpu     format    bits memcpy         read          max       encode      bounded       decode   decode_add       stream   sum_encode
  plain   e4m3         8   10.0   20.0 2.00x   20.0 2.00x   $2 1.20x   16.0 1.60x   12.5 1.25x   10.0 1.00x   11.0 1.10x   10.0 1.00x
END
}

kernels r-kernels-1.txt 12.0
kernels r-kernels-2.txt 11.0
cat >r-instructions.txt <<'END'
instructions a value
  cpu     format    bits        max     encode    bounded     decode decode_add     stream sum_encode
  plain   e4m3         8      0.500      1.250          -      0.750      1.500      0.625      1.125
END
printf '%s 1000000 %s 500.0\n' aps 612.3 aps-tight 411.8 codes8 38.6 >r-passes.txt
for scale in aps aps-tight; do
    cat >r-$scale.csv <<'END'
variant,reduce,count,median_usec,ratio_native,ratio_floor,rewritten
fp32,native,1000000,2000,1,,no
e4m3,hierarchical,1000000,1500,2.5,1.75,yes
END
done
timed "$PYTHON3" "$top_srcdir/tests/bench/roofline.py" r
check "it reads them" status_is 0
# 0.05 ns for a byte read, and for a byte written
check "what only reads is bounded by itself" \
    matches 'e4m3 *max * 4 * 0 * 0.500 * 20.0 * 2.00 * 20.0$'
check "encode by a byte more; the slower of two processes counts" \
    matches 'e4m3 *encode * 4 * 1 * 1.250 * 11.0 * 1.10 * 16.0$'
check "decode and add by nine bytes" \
    matches 'e4m3 *decode_add * 5 * 4 * 1.500 * 10.0 * 1.00 * 8.9$'
check "decode past the caches by five" \
    matches 'e4m3 *stream * 1 * 4 * 0.625 * 11.0 * 1.10 * 16.0$'
check "a sum of codes by three" \
    matches 'e4m3 *sum_encode * 2 * 1 * 1.125 * 10.0 * 1.00 * 26.7$'
check "instructions that were not counted are not shown" \
    lines 2 out ' - '
# aps: 4 bytes at 20, 16 and 12.5 GB/s; half of them at 20
check "a call of aps reads FP32 twice" \
    matches '1000000 e4m3 * 8 * 4 * 2 * 1.5 * 612 * 870 * 39 * 1500 * 1.72 * 2.50 * 1.75$'
# 4 bytes at 20, 25 and 12.5; half of them at 20
check "one of aps-tight once" \
    matches '1000000 e4m3 * 4 * 4 * 2 * 1.5 * 412 * 780 * 39 * 1500 * 1.92 '
timed "$PYTHON3" "$top_srcdir/tests/bench/roofline.py" --ranks 4 --cores 2 r
# ... and a quarter of them at 20, and again without the encoder's at 25: 830 us
check "four ranks share two cores" matches '1000000 e4m3 .* 612 * 1660 * 39 * 1500'

if [ -z "${APS_TEST_LONG:-}" ]; then
    skip "the command runs all that it needs" 'make check-long tries it, for a minute'
    finish
fi
limit=300
timed env FORMATS=e4m3 KIB='16 64' SIZES=4Ki PYTHON3="$PYTHON3" \
    sh "$top_srcdir/tests/bench/roofline.sh" --seconds 0 --rounds 2
check "the command runs all that it needs" status_is 0
[ "$(nproc)" -lt 2 ] || check "two ranks hand codes over" \
    lines 1 "$top_builddir/tests/bench/roofline-passes.txt" 'codes8 4096 '
check "and has a row for each scale" lines 2 out ' 4096 e4m3 '

finish
