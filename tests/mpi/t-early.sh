# SPDX-License-Identifier: BSD-3-Clause
# APSMPI_EARLY: what `scale: aps` encodes beside the search for the maximum has the bits
# of what it encodes behind it, on all ranks, whichever of them guess.
. "$top_srcdir/tests/mpi/run.sh"

# early FORMAT FEWEST-BYTES NAME ARGUMENT...: the job, and how many bytes rank 0 has
# encoded early at least; 0: none.
early()
{
    format=$1 fewest=$2 name=$3
    shift 3
    cat >"$tmp/policy.yaml" <<END
version: 1
rules: [{format: $format, scale: aps, reduce: hierarchical}]
END
    rm -f "$tmp/summary.json"
    run_mpiexec "$format, $name" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_SUMMARY "json:$tmp/summary.json" "$@"
    "$PYTHON3" - "$tmp/summary.json" "$fewest" <<'END'
import json, sys
calls = json.load(open(sys.argv[1]))["calls"]
early = sum(call["early_bytes"] for call in calls)
wire = sum(call["wire_bytes"] for call in calls)
fewest = int(sys.argv[2])
print("early %d of %d bytes" % (early, wire), file=sys.stderr)
sys.exit(not (fewest <= early < wire if fewest > 0 else early == 0))
END
    check $? "... and $fewest bytes or more of it early"
}

# No codec of other processors searches and encodes in one pass.
some=2000000
grep -qw avx2 /proc/cpuinfo || some=0
program=$mpi/early
early e4m3 "$some" "2 ranks" -genv APSMPI_EARLY 64 -n 2 "$program"
early e3m0 "$((some / 2))" "3 ranks, past the caches" -genv APSMPI_EARLY 64 \
    -genv APSMPI_HANDOFF stream -n 3 "$program"
early e5m10 0 "4 ranks, off" -genv APSMPI_EARLY off -n 4 "$program"
early e5m2 0 "2 ranks, of long vectors alone, and there are none" -n 2 "$program"
early e4m3 0 "2 ranks, off on rank 1" -n 1 -env APSMPI_EARLY 64 "$program" : \
    -n 1 -env APSMPI_EARLY off "$program"
early e4m3 0 "2 ranks, another processor on rank 1" \
    -n 1 -env APSMPI_EARLY 64 "$program" : \
    -n 1 -env APSMPI_EARLY 4Ki -env APSMPI_CPU plain "$program"

# Segments of shared memory on a rank: of the world, the room that it wants there, of
# the other communicator, and the room there. Where a rank cannot open the second, the
# world has none, and does not ask again for as much or more.
if [ "$some" -gt 0 ]; then
    library=$mpi/.libs/inject.so:$library
    for rank in 0 1; do
        early e4m3 300000 "2 ranks, room that rank $rank cannot open" \
            -genv APSMPI_EARLY 64 -genv INJECT_REPORT 1 \
            -genv INJECT "fail:shm_open:$rank:2" -n 2 "$program"
        grep -q 'failure of shm_open number 2' "$tmp/stderr" &&
            grep -q '^# inject: shm_open was called 4 times' "$tmp/stderr"
        check $? "... and nobody asks for it again"
    done
fi
finish
