# SPDX-License-Identifier: BSD-3-Clause
# Wrong arguments get MPI's own answer.
. "$top_srcdir/tests/mpi/run.sh"

cat >"$tmp/policy.yaml" <<END
version: 1
rules: [{format: e5m2}]
END
run "2 ranks" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/errors"

# By default MPI ends the job, with the same words as without the library.
#
# fatal NAME ARG...: leaves the words in $tmp/NAME, and $status.
fatal()
{
    said=$1
    shift
    # shellcheck disable=SC2086 # two words
    timeout "$seconds" $launch "$@" >"$tmp/stdout" 2>&1 </dev/null
    status=$?
    sed -n 's/.*\(Fatal error in .*\)/\1/p; s/.*\(An error occurred in .*\)/\1/p
            s/.*\(MPI_ERR_[A-Z_]*: .*\)/\1/p' "$tmp/stdout" | sort -u >"$tmp/$said"
}
for call in 0 1 2; do
    [ $call -lt 2 ] || grep -q '^#define HAVE_PMPI_ALLREDUCE_INIT' \
        "$top_builddir/config.h" || continue
    for mistake in 1 2 3; do
        [ "$MPI$mistake" != openmpi1 ] || continue # it crashes
        fatal theirs -n 1 "$mpi/errors" fatal $call $mistake
        ended=$status
        fatal ours -n 1 -genv LD_PRELOAD "$library" -genv APSMPI_POLICY \
            "$tmp/policy.yaml" "$mpi/errors" fatal $call $mistake
        what="call $call, mistake $mistake: fatal with MPI's own words"
        if [ ! -s "$tmp/theirs" ]; then
            skip "$what" "MPI has none"
            continue
        fi
        cmp -s "$tmp/ours" "$tmp/theirs" && [ "$status" -eq "$ended" ]
        check $? "$what"
        diff "$tmp/theirs" "$tmp/ours" | sed 's/^/# /' >&2
        [ "$status" -eq "$ended" ] || echo "# status $status, not $ended" >&2
    done
done

library=$library:$mpi/.libs/preload_after.so
run "2 ranks, a profiler behind" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$mpi/errors" behind
finish
