# SPDX-License-Identifier: BSD-3-Clause
# Calls of MPI fail, or come late, inside the library: nobody waits for ever, all
# ranks get an error, one line names the rank.
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

# fails ORDER RANKS POLICY ARG...: a line says so, and names the rank if it is one,
# where the library has made that call at all.
fails()
{
    injected "$@"
    grep -q '^# inject: failure' "$tmp/stderr" || return 0
    case $1 in
    *:\**) who= ;;
    *) who="rank $(echo "$1" | cut -d: -f3)" ;;
    esac
    grep -v ' calls of MPI_\| rewrites its first call' "$tmp/stderr" |
        grep -q "^apsmpi: .*$who"
    named=$?
    check $named "$1, $2 ranks, $3: a line says so${who:+ and names $who}"
    [ $named -eq 0 ] || show_errors
}

# Communicators of the library's own, where there are any: in the world, and in a
# session.
for where in world session; do
    for function in PMPI_Comm_split PMPI_Comm_split_type PMPI_Comm_dup; do
        fails "fail:$function:*:1" 3 hierarchical $where blocking
    done
    fails spoil:PMPI_Comm_split_type:1:1 3 hierarchical $where blocking
    for order in 'fail:PMPI_Comm_idup:*:1' 'fail:completion:*:1'; do
        fails "$order" 3 direct $where nonblocking
    done
done

# Messages and agreements, on one rank.
for order in fail:PMPI_Isend:1:1 fail:PMPI_Isend:0:4 fail:PMPI_Irecv:1:1 \
    fail:PMPI_Irecv:0:4 fail:PMPI_Iallreduce:1:1 fail:PMPI_Iallreduce:0:3; do
    fails $order 3 direct world blocking
    fails $order 2 direct world nonblocking
done
# ... and several times in a row.
order=
for number in 4 5 6 7 8 9 10 11; do
    order=$order${order:+,}fail:PMPI_Iallreduce:1:$number
done
fails "$order" 3 direct world blocking
fails "$order" 2 direct world nonblocking
for order in fail:PMPI_Isend:1:3 fail:PMPI_Irecv:2:2 fail:PMPI_Isend:3:9; do
    APSMPI_TEST_NODES=2
    export APSMPI_TEST_NODES
    fails $order 4 hierarchical world blocking
    unset APSMPI_TEST_NODES
done

# What has come to one rank is lost, in the agreements of MPI_Init and of a first call:
# a second round tells the others.
for number in 1 2 3 4 5 6 7 8 9 12 15 18; do
    injected fail:receipt:1:$number 3 direct world blocking
    says '^# inject: failure of receipt' 1 "receipt $number is lost"
done
for number in 23 24 25 26 27 28 30; do
    injected fail:receipt:1:$number 3 hierarchical world blocking
    says '^# inject: failure of receipt' 1 "receipt $number is lost"
done

# ... also where rank 0 hands its policy out.
for number in 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    run_mpiexec "receipt $number is lost, rank 0 has the policy" \
        -genv INJECT fail:receipt:1:$number \
        -n 1 -env APSMPI_POLICY "$tmp/direct.yaml" "$mpi/faulty" world blocking : \
        -n 2 "$mpi/faulty" world blocking
done

injected late:PMPI_Isend:1:2:3 3 direct world blocking late
injected late:PMPI_Irecv:0:3:3 2 direct world nonblocking late
finish
