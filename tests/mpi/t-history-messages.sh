# SPDX-License-Identifier: BSD-3-Clause
# Scales that keep a state send no message before the data, as aps does: the headers of
# the blocks carry the data for the state. If nothing is rounded, they need no data.
. "$top_srcdir/tests/mpi/run.sh"

library=$mpi/.libs/inject.so:$library

# calls_of NAME RANKS NODES RULE: sets $calls
calls_of()
{
    printf 'version: 1\nmin_count: 1\nrules: [{format: e5m2, %s}]\n' "$4" \
        >"$tmp/policy.yaml"
    run "$1" "$2" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$3" "$mpi/history_messages"
    calls=$(sed -n 's/^# \([0-9]*\) calls of MPI$/\1/p' "$tmp/stdout" \
        "$tmp/stderr")
}

while IFS=: read -r ranks nodes reduce scales; do
    calls_of "$reduce, aps-tight" "$ranks" "$nodes" \
        "reduce: $reduce, scale: aps-tight"
    tight=$calls
    calls_of "$reduce, aps" "$ranks" "$nodes" "reduce: $reduce, scale: aps"
    [ "$tight" -gt 0 ] && [ "$calls" -gt "$tight" ]
    check $? "$reduce: aps makes more calls of MPI, $calls, than aps-tight, $tight"
    for scale in $scales; do
        calls_of "$reduce, $scale" "$ranks" "$nodes" \
            "reduce: $reduce, scale: $scale"
        [ "$calls" = "$tight" ]
        check $? "$reduce: $scale makes as many as aps-tight, $calls"
    done
done <<END
3:1:direct:backoff logmax underflow unit autoflex delayed dfxp
3:1:ring:backoff autoflex
2:1:gather:backoff
4:1:master:backoff
4:2:hierarchical:backoff delayed
END
# Where nothing is rounded: not even at the first calls.
while IFS=: read -r ranks scales; do
    rule='reduce: hierarchical, node: fp32, scale'
    calls_of "node: fp32, none" "$ranks" 1 "$rule: none"
    none=$calls
    for scale in $scales; do
        calls_of "node: fp32, $scale" "$ranks" 1 "$rule: $scale"
        [ "$calls" = "$none" ]
        check $? "node: fp32: $scale makes as many as none, $calls"
    done
done <<END
3:aps backoff logmax underflow unit autoflex delayed dfxp
END
finish
