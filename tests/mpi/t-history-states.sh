# SPDX-License-Identifier: BSD-3-Clause
# The state that a scale keeps, and the calls at which it begins again, as the
# exponents in the log show. history_states.c describes the calls.
. "$top_srcdir/tests/mpi/run.sh"

# policy SETTING RULE...: with a log of every call
policy()
{
    {
        printf 'version: 1\nmin_count: 10\n%s\n' "$1"
        shift
        printf 'log: {file: "%s", every: 1}\nrules:\n' "$tmp/log.csv"
        printf '  - {%s}\n' "$@"
    } >"$tmp/policy.yaml"
}

# Prints the log's rows: the layer's letter, its exponent, and ! if it was redone.
exponents()
{
    awk -F, '
        /^#/ { next }
        /^time,/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            layer = substr("abcdefgh", $at["count"] / 100, 1)
            printf "%s%s%s%s", gap, layer, $at["scale_exp"],
                ($at["redone"] > 0) ? "!" : ""
            gap = " "
        }' "$1"
}

# gives NAME RANKS EXPECTED CALL...: the exponents that the calls use
gives()
{
    name=$1 ranks=$2 wanted=$3
    shift 3
    rm -f "$tmp/log.csv"
    run "$name" "$ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/history_states" "$@"
    got=$(exponents "$tmp/log.csv")
    [ "$got" = "$wanted" ]
    check $? "$name: the exponents"
    [ "$got" = "$wanted" ] ||
        printf '#  expected %s\n#       got %s\n' "$wanted" "$got" >&2
}

# backoff SCOPE WINDOW [PARAMETER...]
backoff()
{
    scope=$1 window=$2
    shift 2
    printf 'format: e5m2, reduce: direct, scale: {backoff: {start: 2^6, scope: %s, window: %s' \
        "$scope" "$window"
    printf ', %s' "$@"
    printf '}}'
}
layer=$(backoff layer 2 'max: 2^6')

policy '' "$layer"
gives 'the saw-tooth of a layer' 2 \
    'a6! a5! a4 a4 a5 a5 a6 a6' A A a a a a a a
# MPICH over UCX then sends no message, however short, before its receiver arrives.
UCX_RNDV_THRESH=0
export UCX_RNDV_THRESH
gives 'the saw-tooth of a layer, by rendezvous' 3 \
    'a6! a5! a4 a4 a5 a5 a6 a6' A A a a a a a a
unset UCX_RNDV_THRESH
gives 'layers are told apart by their elements' 3 \
    'a6! b6 a5! b6 a4 b6! a4 b5 a5' A b A b a B a b a
gives 'zeros, INF and NaN leave the state alone' 2 \
    'a6! a5 a5 a5 a5 a5 a6' A 0a ia na a a a
gives 'also with an overflow besides the INF' 2 'a6! a6! a6! a5' iA nA A a
gives 'each communicator has states of its own' 2 \
    'a6! a5! a6! a4 a5 a6' A A % A %1 a %2 a % a
gives 'a communicator that is freed takes them along' 2 \
    'a6! a6! a5! a6 a5' A % A A /2 % a %1 a
for reduce in ring gather master hierarchical; do
    policy '' "$(backoff layer 2 'max: 2^6' | sed "s/direct/$reduce/")"
    gives "$reduce: zeros, INF and NaN leave the state alone" 3 \
        'a6! a5 a5 a5 a5 a5 a6' A 0a ia na a a a
done

# Steps, and what breaks them.
policy 'steps: {calls: 2}' "$layer"
gives 'layers are told apart by their places in a step' 2 \
    'a6! a6 a5! a6 a4 a6' A a A a a a
gives 'a desync drops all states' 2 \
    'a6! b6 a5! b6 a6 b6' A b A b b a b a b
model=$(backoff model 2 'max: 2^6')
policy 'steps: {calls: 2}' "$model"
gives 'a model changes between two steps' 2 \
    'a6 b6! a5! b5! a4 b4 a4 b4 a5 b5' a B A B a b a b a b
gives 'one overflow a step, wherever it was' 2 \
    'a6! b6! a5 b5 a5 b5! a4 b4' A B 0a 0b a B a b
gives 'an INF in a step leaves the state alone' 2 \
    'a6! b6 a6! b6 a5 b5' A ib A b a b
gives 'nonblocking calls, too' 2 \
    'a6 b6! a5! b5! a4 b4 a4 b4 a5 b5' +a +B +A +B +a +b +a +b +a +b

# Epochs: another rule continues the state of the same scale, and of no other.
policy 'steps: {calls: 1, per_epoch: 2}' "epochs: 0, $layer" \
    "epochs: 1, $(echo "$layer" | sed 's/direct/ring/; s/e5m2/e5m10/')" \
    "epochs: 2, $(backoff layer 3 'max: 2^6')"
gives 'epochs: a state is kept as long as the scale is the same' 2 \
    'a6! a5! a4 a4 a6! a5' A A a a A a

policy 'steps: {calls: 1, per_epoch: 2}' "epochs: 0, $model" \
    "epochs: 1, $(echo "$model" | sed 's/direct/ring/; s/e5m2/e5m10/')" \
    "epochs: 2, $(backoff model 3 'max: 2^6')"
gives 'epochs: and so is that of a rule' 2 \
    'a6! a5! a4 a4 a6! a5' A A a a A a

# Sums of a group that stay FP32 are cast first between the groups: with the scale of
# the contributions, which is greater for sums of 2 than for their sum, 4.
policy '' 'format: e5m2, reduce: hierarchical, node: fp32, scale: delayed'
APSMPI_TEST_NODES=2
export APSMPI_TEST_NODES
gives 'node: fp32: group sums have the scale of contributions' 4 \
    'a13 a14 a14' a a a
unset APSMPI_TEST_NODES

# The ring sends FP32 sums, and does not cast contributions, but records them all the
# same: a reduction that casts them continues with their scale, 15 for ones, not with 0.
for first in 'reduce: ring' 'reduce: master, group: 1'; do
    policy 'steps: {calls: 1, per_epoch: 2}' \
        "epochs: 0, format: e5m2, $first, scale: delayed" \
        'format: e5m2, reduce: direct, scale: delayed'
    gives "$first, then direct: contributions have the scale of contributions" \
        2 'a14 a14 a15 a15' a a a a
done

# A block has 12 bytes before its values, where others have 4; a chunk that is
# redone is sent as with aps. Each of two ranks sends a contribution and a
# result. bytes_of SCALE CALL: sets $bytes
bytes_of()
{
    policy '' "format: e5m2, reduce: direct, scale: $1"
    rm -f "$tmp/log.csv"
    run "bytes, $1, $2" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/history_states" "$2"
    bytes=$(awk -F, '
        /^time,/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        !/^#/ { print $at["wire_bytes"] }' "$tmp/log.csv")
}
bytes_of aps-tight a
tight=$bytes
bytes_of backoff a
[ "$bytes" -eq $((tight + 2 * 8)) ]
check $? "a call sends 8 bytes a block more than with aps-tight"
bytes_of backoff A
[ "$bytes" -eq $((tight + 2 * 8 + tight)) ]
check $? "a call that is redone sends as much as aps-tight besides"

# The effects of an overflow, which the summary and the log report.
while read -r word said; do
    policy '' "$(backoff layer 2 'max: 2^6' "on_overflow: $word")"
    gives "on_overflow: $word changes the state, and redoes nothing" 2 \
        'a6 a5 a4' A A a
    overflowed=$(awk -F, '
        /^time,/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        !/^#/ { printf "%s ", $at["overflowed"] }' "$tmp/log.csv")
    [ "$overflowed" = '1 1 0 ' ]
    check $? "... the log has the calls in which a value overflowed"
    says "^apsmpi: .* saved), $said\$" 1 "... and the summary their number"
done <<END
zero 2 layers zeroed after an overflow
saturate 2 layers saturated after an overflow
END
policy '' "$layer"
gives 'a chunk that is redone' 2 'a6! a5! a4' A A a
says '2 chunks reduced again after an overflow$' 1 'the summary counts chunks'
policy '' 'format: e5m2, scale: {backoff: {on_overflow: inf, max: 2^3, min: 2^3}}'
run 'on_overflow: inf' 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    -genv APSMPI_TEST_INF 1 "$mpi/history_states" A A
says '2 layers with INF or NaN after an overflow$' 1 'on_overflow: inf, too'

# A scale that is at its minimum.
says 'scale backoff is at its minimum of 8, and a value overflows all the same (1 time so far)' \
    1 'a scale at its minimum under which a value overflows has a line'
says 'scale backoff is at its minimum' 2 '... at the first times, each'
policy 'steps: {calls: 1}' \
    'format: e5m2, scale: {backoff: {max: 2^3, min: 2^3, scope: model}}'
run 'a state of the model at its minimum' 2 -genv APSMPI_POLICY \
    "$tmp/policy.yaml" "$mpi/history_states" A A a a
says 'scale backoff is at its minimum' 2 'also of the model'
policy '' 'format: e5m2, scale: {logmax: {max: 2^3, min: 2^3}}'
run 'logmax at its minimum' 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$mpi/history_states" a a A A a
says 'scale logmax is at its minimum of 8' 2 'and of logmax'
policy '' "$layer"
run 'a scale that falls' 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$mpi/history_states" A A a
says 'is at its minimum' 0 'a scale that falls has no line'
finish
