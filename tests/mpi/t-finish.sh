# SPDX-License-Identifier: BSD-3-Clause
# MPI_Finalize while nonblocking reductions are under way: they are carried out,
# and where that cannot be, a line says what is lost. No thread of the library
# goes on after it.
. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

waits='MPI_Finalize waits for nonblocking calls .*: 1 of MPI_COMM_WORLD$'
lost='rank 0: MPI_Finalize gives up .* are lost: 1 of MPI_COMM_WORLD:'

# threads NAME ARG...: what the program counts after MPI_Finalize
threads()
{
    run "$@" "$mpi/finish" threads
    found=$(sed -n 's/^# threads: //p' "$tmp/stdout")
}

for progress in calls thread; do
    can_be_driven || [ $progress = thread ] || continue
    cat >policy.yaml <<END
version: 1
min_count: 1
progress: $progress
rules: [{format: e5m10, reduce: direct}]
END
    name="progress $progress"
    run "$name, a rank is late" 2 -genv APSMPI_POLICY policy.yaml \
        "$mpi/finish" late 3
    says 'MPI_Finalize' 0 "$name, a rank is late: nothing is said"
    run "$name, a rank is very late" 3 -genv APSMPI_POLICY policy.yaml \
        "$mpi/finish" late 13
    says "$waits" 2 "$name, a rank is very late: the others say so"
    run "$name, a call is lost" 2 -genv APSMPI_POLICY policy.yaml \
        "$mpi/finish" lost
    says "$lost" 1 "$name, a call is lost: one line says so"

    library_there=$library
    library=
    threads "$name, without the library" 2
    native=$found
    library=$library_there
    threads "$name" 2 -genv APSMPI_POLICY policy.yaml
    [ "$found" -eq "$native" ]
    check $? "$name: as many threads after MPI_Finalize as without the library"
    echo "# $found threads, $native without the library" >&2
done
finish
