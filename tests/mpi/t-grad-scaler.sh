# SPDX-License-Identifier: BSD-3-Clause
# Scales that keep a state under a program that trains: with on_overflow: inf its
# own loss scaler skips the steps that overflow, with redo it has none to skip;
# the sample policies train as well.
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

# The sample policies, with their log where it may be written.
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
