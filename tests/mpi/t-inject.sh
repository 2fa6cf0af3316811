# SPDX-License-Identifier: BSD-3-Clause
# MPI makes no communicator for the library, or its calls come late: all sums
# are right, and a line reports the failure.
. "$top_srcdir/tests/mpi/run.sh"

library=$mpi/.libs/inject.so:$library
printf 'version: 1\nprogress: thread\nrules: [{format: e5m10, reduce: %s}]\n' \
    direct >"$tmp/direct.yaml"
sed 's/direct/hierarchical/' "$tmp/direct.yaml" >"$tmp/hierarchical.yaml"

# injected ORDER RANKS POLICY ARG...
injected()
{
    order=$1 ranks=$2 policy=$3
    shift 3
    run "$order, $ranks ranks, $policy, $*" "$ranks" -genv INJECT "$order" \
        -genv APSMPI_POLICY "$tmp/$policy.yaml" "$mpi/faulty" "$@"
}

# fails ORDER RANKS POLICY ARG...: a line reports the failure, if the library
# makes that call at all.
fails()
{
    injected "$@"
    grep -q '^# inject: failure' "$tmp/stderr" || return 0
    grep -v ' calls of MPI_\| rewrites its first call' "$tmp/stderr" |
        grep -q "^apsmpi: "
    named=$?
    check $named "$1, $2 ranks, $3: a line reports it"
    [ $named -eq 0 ] || show_errors
}

# The library's own communicators, if it makes any: in the world, and in a session.
for where in world session; do
    for function in PMPI_Comm_split PMPI_Comm_split_type PMPI_Comm_dup; do
        fails "fail:$function:*:1" 3 hierarchical $where blocking
    done
done

injected late:PMPI_Isend:1:2:3 3 direct world blocking
injected late:PMPI_Irecv:0:3:3 2 direct world nonblocking

# --- damaged messages -------------------------------------------------------

# A rank damages one message: its bytes are others, or it is cut in its middle. The job
# ends within the limit, without a signal, and by an error if an agreement is damaged or
# a message cut. A damaged number in a message of data is not detected; the byte of a
# row is 0 where INF or NaN on one rank would make the ranks take other ways.
limit=60
[ -z "${APS_TEST_TIMEOUT:-}" ] || limit=$APS_TEST_TIMEOUT

# attempt ORDER: a job with $ranks on $nodes, and $tmp/damage.yaml; leaves $status
attempt()
{
    timeout -k 5 "$limit" $launch -n "$ranks" -genv LD_PRELOAD "$library" \
        -genv APSMPI_TEST_NODES "$nodes" -genv INJECT_REPORT 1 -genv INJECT "$1" \
        -genv APSMPI_POLICY "$tmp/damage.yaml" "$mpi/faulty" world blocking fatal \
        >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
    status=$?
}

# damage RANK TAG MESSAGE ORDER: true if the job ends as it should
damage()
{
    tried=$((tried + 1))
    attempt "${4%:*}:tag$2:$1:$3:${4#*:}"
    [ $status -ne 124 ] && [ $status -ne 137 ] &&
        ! grep -q 'signal 11\|signal [678]\|malloc\|Sanitizer' "$tmp/stdout" \
            "$tmp/stderr" &&
        grep -q '^# inject: message .* is damaged' "$tmp/stderr" &&
        case $2,$4 in
        0,* | *,cut:*) grep -q '^apsmpi: .*failed' "$tmp/stderr" ;;
        esac && return 0
    echo "# $rule: message $3 of tag$2 from rank $1, ${4%:*}: status $status" >&2
    show_errors
    return 1
}

# kinds: the numbers of enum aps_tag, without that of no message
kinds()
{
    sed -n '/^enum aps_tag {/,/^}/s/^ *\(APS_TAG_[A-Z]*\),.*/\1/p' \
        "$top_srcdir/pmpi/message/vcomm.h" |
        awk '$0 != "APS_TAG_NONE" { print NR - 1 }'
}

# damage_first RANK TAG...: damages the rank's first message of each of these kinds,
# with the first rule every agreement (tag 0), and with APS_TEST_LONG every message
damage_first()
{
    from=$1
    shift
    for tag; do
        sent=$(sed -n "s/^# inject: rank $from sent \(.*\) messages of tag$tag\$/\1/p" \
            "$tmp/clean")
        [ -n "$sent" ] || continue
        damaged="$damaged $tag"
        message=0 last=1
        [ "$tag" -ne 0 ] || [ "$row" -gt 0 ] || last=$sent
        [ -z "${APS_TEST_LONG:-}" ] || last=$sent
        while [ $((message += 1)) -le "$last" ]; do
            # The first messages of a job are the same in all rows.
            [ "$tag" -ne 0 ] || [ "$row" -eq 0 ] || [ "$message" -gt 1 ] || continue
            damage "$from" "$tag" "$message" "garble:$byte" || bad=$((bad + 1))
            damage "$from" "$tag" "$message" cut:0 || bad=$((bad + 1))
        done
    done
}

# damage_each RANKS NODES BYTE RULE: rank 1 damages messages of each kind, and with the
# first rule rank 0 agreements, which it broadcasts
damage_each()
{
    ranks=$1 nodes=$2 byte=$3 rule=$4
    bad=0 tried=0
    printf 'version: 1\nmin_count: 1\nsteps: auto\nlog: {file: %s, every: 1}\n' \
        "$tmp/damage.csv" >"$tmp/damage.yaml"
    echo "rules: [{$rule}]" >>"$tmp/damage.yaml"
    attempt ''
    cp "$tmp/stderr" "$tmp/clean"
    # shellcheck disable=SC2046 # numbers
    damage_first 1 $(kinds)
    [ $row -gt 0 ] || damage_first 0 0
    row=$((row + 1))
    [ $bad -eq 0 ] && [ $tried -gt 0 ]
    check $? "$ranks ranks, $nodes nodes, $rule: $tried damaged messages end the job"
}
row=0 damaged=
while read -r ranks nodes byte rule; do
    damage_each "$ranks" "$nodes" "$byte" "$rule"
done <<END
2 2 255 format: e4m3, scale: aps, reduce: direct
4 2 255 format: e4m3, scale: aps, reduce: hierarchical
2 2 0 format: e5m2, scale: {backoff: {start: 2^4, window: 20}}, reduce: hierarchical
2 2 0 format: e5m2, scale: unit, reduce: direct
2 2 255 format: e4m3, feedback: on
2 2 255 format: e5m10, scale: none, reduce: ring
2 2 255 format: e8m7, reduce: master, group: 1
2 2 255 compress: ternary
2 2 0 compress: vote
2 2 255 compress: {threshold: {value: 0.5, density: 1}}, reduce: gather
2 2 0 compress: {powersgd: {rank: 2, min_ratio: 1}}
2 2 0 compress: {chunks: {density: 0.3, size: 64}}
2 2 255 compress: {topk: 0.1}, reduce: direct
4 2 255 compress: {topk: 0.1}, reduce: hierarchical
2 1 255 compress: {topk: 0.1}, reduce: hierarchical
2 2 255 reduce: auto, format: e5m10
2 2 255 format: {auto: [e5m2, e5m10], target: snr 20dB}
END
for tag in $(kinds); do
    case "$damaged " in
    *" $tag "*) ;;
    *) check 1 "a row damages messages of tag$tag" ;;
    esac
done
finish
