# SPDX-License-Identifier: BSD-3-Clause
# Scales that keep a state in a program that trains: with `on_overflow: inf` its
# own loss scaler skips the steps that overflow, with `redo` no step has to be
# skipped; the sample policies train as well.
. "$top_srcdir/tests/mpi/run.sh"

# policy SCALE [FORMAT]
policy()
{
    printf 'version: 1\nsteps: auto\nlog: {file: "%s", every: 50}\n' \
        "$tmp/log.csv" >"$tmp/policy.yaml"
    printf 'rules:\n  - {format: %s, scale: %s}\n' "${2:-e5m2}" "$1" \
        >>"$tmp/policy.yaml"
    rm -f "$tmp/log.csv"
}

# trains NAME RANKS ARGUMENT...
trains()
{
    name=$1 ranks=$2
    shift 2
    run "$name" "$ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/grad_scaler" "$@"
}

for scope in model layer; do
    policy "{backoff: {on_overflow: inf, scope: $scope}}"
    trains "inf, scope $scope" 3 skips
done
policy '{logmax: {on_overflow: inf, max: 2^40, min: 2^-40}}'
trains 'logmax, inf' 2 never
for word in redo saturate zero; do
    policy "{backoff: {on_overflow: $word}}"
    trains "$word" 2 never
done

policy dfxp e5m10
trains 'dfxp' 2 never
for reduce in ring gather master; do
    policy "autoflex, reduce: $reduce" flex8
    trains "autoflex, $reduce" 3 never
done
policy 'delayed, accumulate: format' e5m10
trains 'delayed, accumulate: format' 3 never

# The layer table's deviations: the exponents are in the log.
policy '{unit: table}'
sed -i 's/^steps: .*/table: table.csv/' "$tmp/policy.yaml"
printf 'layer,name,count,scale\n0,c,1500,0.25\n1,b,2000,2^-7\n2,a,4096,100\n' \
    >"$tmp/table.csv"
trains 'unit: table' 2 never
awk -F, '/^time,/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
    !/^#/ { print $at["name"], $at["scale_exp"] }' "$tmp/log.csv" |
    sort -u >"$tmp/exponents"
printf 'a -7\nb 7\nc 2\n' | cmp -s - "$tmp/exponents"
check $? 'unit: table: the exponents are those of the table'

# The sample policies, with their log in a writable directory.
for sample in "$top_srcdir"/config/policies/*.yaml; do
    grep -Eq '^ *(backoff|logmax|underflow|unit|autoflex|delayed):' "$sample" ||
        continue
    sed "s,file: roundoff.csv,file: \"$tmp/log.csv\"," "$sample" \
        >"$tmp/policy.yaml"
    rm -f "$tmp/log.csv"
    trains "$(basename "$sample")" 4 never
    grep -q "$(sed -n 's/^      \([a-z]*\):$/,\1,/p' "$sample")" "$tmp/log.csv"
    check $? "$(basename "$sample"): the log has the scale"
done
finish
