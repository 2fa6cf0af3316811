# SPDX-License-Identifier: BSD-3-Clause
# MPI_Finalize while nonblocking reductions are under way: the library completes them,
# or a line reports the lost ones. No thread of the library is left after MPI_Finalize.
. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

waits='MPI_Finalize waits for nonblocking calls .*: 1 of MPI_COMM_WORLD$'
lost='rank 0: MPI_Finalize gives up .* are lost: 1 of MPI_COMM_WORLD:'

# threads NAME ARG...: the number of threads that the program counts after MPI_Finalize
threads()
{
    run "$@" "$mpi/finish" threads
    found=$(sed -n 's/^# threads: //p' "$tmp/stdout")
}

# late PROGRESS SECONDS RANKS TEXT PATIENCE: the last rank comes SECONDS later
late()
{
    run "progress $1, a rank is $4" "$3" -genv APSMPI_POLICY "$1.yaml" \
        -genv APSMPI_TEST_PATIENCE "$5" "$mpi/finish" late "$2"
}

soon()
{
    late "$1" 1 2 late 10000
    says 'MPI_Finalize' 0 "progress $1, a rank is late: no line is printed"
}
very_late()
{
    late "$1" 3 3 'very late' 1000
    says "$waits" 2 "progress $1, a rank is very late: the others report it"
}
one_lost()
{
    run "progress $1, a call is lost" 2 -genv APSMPI_POLICY "$1.yaml" \
        -genv APSMPI_TEST_PATIENCE 1000 "$mpi/finish" lost
    says "$lost" 1 "progress $1, a call is lost: one line reports it"
}

for progress in calls thread; do
    can_be_driven || [ $progress = thread ] || continue
    cat >$progress.yaml <<END
version: 1
min_count: 1
progress: $progress
rules: [{format: e5m10, reduce: direct}]
END
    for what in soon very_late one_lost; do
        beside $what $progress
    done
done
met

for progress in calls thread; do
    can_be_driven || [ $progress = thread ] || continue
    name="progress $progress"
    library_there=$library
    library=
    threads "$name, without the library" 2
    native=$found
    library=$library_there
    threads "$name" 2 -genv APSMPI_POLICY $progress.yaml
    [ "$found" -eq "$native" ]
    check $? "$name: as many threads after MPI_Finalize as without the library"
    echo "# $found threads, $native without the library" >&2
done

finish
