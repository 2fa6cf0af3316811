# SPDX-License-Identifier: BSD-3-Clause
# The steps of the figures: gradients are recorded, summed again by each rule of
# a policy, and the sent bytes are counted.
. "$top_srcdir/tests/mpi/run.sh"
figures=$top_builddir/tests/figures

# job LIBRARIES ARG...: runs two ranks; standard output is left in $tmp/stdout.
job()
{
    preloads=$1
    shift
    # shellcheck disable=SC2086 # two words
    timeout "$seconds" $launch -n 2 -genv LD_PRELOAD "$preloads" "$@" \
        </dev/null >"$tmp/stdout" 2>"$tmp/stderr" || show_errors
}

# cell FILE LINE COLUMN: prints a cell of a CSV whose fields have no commas.
cell()
{
    awk -F, -v name="$3" -v line="$2" '
        /^#/ { next }
        n++ == 0 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
        n == line + 1 { print $column }' "$1"
}

# One epoch has 11 steps, with two matrices of at least 1024 values.
job "$figures/.libs/record.so" -genv RECORD "$tmp/digits" \
    "$top_builddir/tests/apps/digits" --hidden 32 --epochs 1 \
    --data "$top_srcdir/tests/apps/digits.csv"
for rank in 0 1; do
    size=$(wc -c <"$tmp/digits.$rank")
    [ "$size" -eq $((11 * (8 + 4 * 2048 + 8 + 4 * 1024))) ]
    check $? "rank $rank: each sum of 1024 values and more is recorded"
done
! cmp -s "$tmp/digits.0" "$tmp/digits.1"
check $? 'the ranks contributed different values'

cat >"$tmp/policy.yaml" <<END
version: 1
steps: {calls: 4}
log: {file: $tmp/log.csv, every: 1}
rules:
  - {layers: 0-1, format: e4m3, scale: none, reduce: direct}
  - {layers: 2-3, format: e4m3, scale: aps, reduce: direct}
END
job "$library" -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$figures/replay" "$tmp/digits" 2 2
[ "$(grep -c '^[0-9]' "$tmp/log.csv")" -eq 44 ]
check $? 'the log has a row for each tensor, rule and step'
awk -F, 'n++ > 0 && !/^#/ && $7 == 2048 { print $12 }' "$tmp/log.csv" |
    sort -u >"$tmp/errors"
[ "$(wc -l <"$tmp/errors")" -gt 11 ]
check $? 'steps and rules have different errors'
wire=$(cell "$tmp/log.csv" 1 wire_bytes)

sed /^log:/d "$tmp/policy.yaml" >"$tmp/counted.yaml"
job "$figures/.libs/count.so:$library" \
    -genv APSMPI_POLICY "$tmp/counted.yaml" "$figures/replay" "$tmp/digits" 2 2
[ "$(cell "$tmp/stdout" 1 calls)" -eq 8 ] &&
    [ "$(cell "$tmp/stdout" 1 messages)" -eq 32 ]
check $? 'without a scale each of 2 ranks sends 2 messages a call'
[ "$(cell "$tmp/stdout" 1 bytes)" -eq $((16 * wire)) ]
check $? 'with the bytes that the log counts'
[ "$(cell "$tmp/stdout" 3 messages)" -eq 48 ]
check $? 'aps sends one more: the exponents'
awk -F, 'FNR == 1 { n = 0 }
    /^#/ { next } n++ == 0 { next }
    FNR == NR { if ($3 >= 3) { eq5[$5] += $12; nmse[$5] += $14 ^ 2 } next }
    { seen++
      if ($7 < 1e-3 || $7 / eq5[$1] > 1.001 || $7 / eq5[$1] < 0.999 ||
          $8 / nmse[$1] > 1.001 || $8 / nmse[$1] < 0.999) exit 1 }
    END { if (seen != 4) exit 1 }' "$tmp/log.csv" "$tmp/stdout"
check $? 'errors are those of the log'

# A step whose tensors have other sizes than the step before is an error.
for rank in 0 1; do
    tail -c $((8 + 4 * 1024)) "$tmp/digits.$rank" >"$tmp/last"
    cat "$tmp/last" >>"$tmp/digits.$rank"
    cat "$tmp/last" >>"$tmp/digits.$rank"
done
timeout "$seconds" $launch -n 2 "$figures/replay" "$tmp/digits" 2 1 \
    >"$tmp/stdout" 2>"$tmp/stderr"
[ $? -eq 2 ]
check $? 'records that do not repeat are refused'

# The tables of words, and the frontier of example rows.
PYTHONPATH=$top_srcdir/tests/figures "$PYTHON3" - \
    >"$tmp/words" 2>"$tmp/stderr" <<'END'
from frontier import frontier_of
from words import SCALES, variants

print(*variants(["e4m3", "bfp7/64", "e9m9"], ["-", "none", "aps", "nothing"],
                ["nearest", "odd"]), sep="; ")
print(all(any(v.scale == scale for v in variants(["e4m3"], [scale], ["nearest"]))
          for scale in SCALES if scale != "-"))
print(*(row["bits"] for row in frontier_of([
    {"bits": bits, "nmse": nmse} for bits, nmse in (
        ("8", "0.01"), ("4", "0.2"), ("6", "0.2"), ("5", "0.1"), ("5", "0.05"),
        ("7", "0.05"), ("4.5", "inf"))])))
END
status=$?
[ $status -eq 0 ] || show_errors
check $status 'the tables of words are read'
[ "$(sed -n 1p "$tmp/words")" = 'e4m3, none; e4m3, aps; bfp7/64' ]
check $? 'what the library does not know is left out'
[ "$(sed -n 2p "$tmp/words")" = True ]
check $? 'the library knows all scales of the table'
[ "$(sed -n 3p "$tmp/words")" = '4 5 8' ]
check $? 'the frontier is what no other betters in bits and error'
finish
