#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Old and new library alternate: the quotients decide the verdict, and the
# command runs both. No test asserts a time.
# shellcheck disable=SC2317 # functions that check calls
. "${top_srcdir:-.}/tests/e2e/lib.sh"

# figures FILE USEC [NATIVE]: a job's CSV, of two rows and a floor
figures()
{
    ratio=$(awk -v own="$2" -v native="${3:-100}" 'BEGIN { print native / own }')
    cat >"$1" <<CSV
variant,reduce,count,ranks,median_usec,min_usec,ratio_native
fp32,native,4096,2,${3:-100},90,1
int8,native,4096,2,30,29,3
e4m3,hierarchical,4096,2,$2,40,$ratio
CSV
}

# matches REGEX: one line of the table matches
matches()
{
    [ "$(grep -c -e "$1" out)" -eq 1 ]
}

# pairs NEW...: the new library's time in each round; the old library takes 50
# us; native takes 100 us, or with the new one $native
native=100
pairs()
{
    round=0
    rm -f pair-*.csv
    for new in "$@"; do
        round=$((round + 1))
        figures pair-$round-old.csv 50
        figures pair-$round-new.csv "$new" "$native"
    done
    timed "$PYTHON3" "$top_srcdir/tests/bench/paired.py" pair $round
}

pairs 52 52 50
check "a median of 4 % more is worse" status_is 1
check "and says which row" matches 'e4m3 .* 1\.040 .*WORSE'
pairs 51 90 40
check "a median of 2 % more is not, whatever the spread" status_is 0
check "which is shown" matches 'e4m3 .* 1\.020 * 0\.800 * 1\.800 * 1\.020$'
native=300
pairs 150 150 150
check "a slow phase of the machine, of native FP32 too, is not" status_is 0
check "native FP32 is shown, and not judged" matches 'fp32 .* 3\.000 .*own'
check "and the variant's time beside it" matches 'e4m3 .* 3\.000 .* 1\.000$'
native=100
check "integers are not shown" lines 0 out 'int8'
pairs 50 50
sed '/^e4m3/d' pair-1-old.csv >pair-2-new.csv
timed "$PYTHON3" "$top_srcdir/tests/bench/paired.py" pair 2
check "a job without a row is an error" status_is 2
check "and says which" has err 'round 2, new'

# paired OLD OPTION...: runs rounds of the command, on $hosts of the lab if it is set
hosts=
paired()
{
    old=$1
    shift
    timed env OLD="$old" HOSTS="$hosts" RATE=10gbit ROUNDS=2 LIMIT=1e6 \
        RULES='scale: aps' PYTHON3="$PYTHON3" sh "$top_srcdir/tests/bench/paired.sh" \
        --sizes 4Ki --formats e4m3 --seconds 0 --rounds 2 "$@"
}

paired "$tmp/no/libapsmpi.so"
check "an old library that is not there is an error" status_is 2
check "and says how one is named" has err 'OLD='
paired "$library"
check "the same library twice runs" status_is 0
check "in as many pairs as it was told" matches '^2 pairs'
check "with a row for what they rewrite" matches '4096 e4m3 '
if [ "$MPI" = mpich ] &&
    "$top_srcdir/scripts/apsmpi-lab" --hosts 2 -- sleep 0.2 >/dev/null 2>&1; then
    hosts=2
    paired "$library"
    hosts=
    check "on the lab's hosts, too" status_is 0
else
    skip "on the lab's hosts, too" "there can be no lab here"
fi
paired "$library" --formats e9m2
check "a job that fails ends it" status_is 2

finish
