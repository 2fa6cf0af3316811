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

# Numbers that another rank has garbled: an error on all ranks, within the limit.

# garbled BYTES SKIPPED: rank 1 garbles its messages of BYTES bytes, except the first
# SKIPPED
garbled()
{
    # shellcheck disable=SC2086 # two words
    timeout 60 $launch -n 2 -genv LD_PRELOAD "$library" \
        -genv INJECT "garble:PMPI_Isend:1:$1:$2" \
        -genv APSMPI_POLICY "$tmp/threshold.yaml" "$mpi/selected" bytes 831 2 \
        >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
    status=$?
    [ $status -ne 0 ] && [ $status -ne 124 ] &&
        ! grep -q 'signal 11\|signal 6\|malloc' "$tmp/stderr"
    check $? "messages of $1 bytes after $2 are garbled: an error, without a signal"
    grep -q '^apsmpi: .*failed' "$tmp/stderr"
    check $? '... a line reports it'
}
cat >"$tmp/threshold.yaml" <<END
version: 1
min_count: 1
table: $tmp/table.csv
rules: [{compress: {threshold: 0.5}, format: e8m23, scale: none, reduce: gather}]
END
printf 'layer,name,count\n0,a,700\n1,b,3\n2,c,128\n' >"$tmp/table.csv"
# The agreement on the policy, on a cause, and on the elements of three layers.
garbled 64 0
for skipped in 0 1 2 3; do
    garbled 4 $skipped
done
finish
