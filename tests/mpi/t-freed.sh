# SPDX-License-Identifier: BSD-3-Clause
# The library's messages when communicators are freed, and at the end of sessions.
. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

# apsmpi_lines: the number of the library's lines in the last run
apsmpi_lines()
{
    grep -c '^apsmpi: ' "$tmp/stderr"
}

run "no discovery" 2 "$mpi/freed" world
[ "$(apsmpi_lines)" -eq 1 ] && grep -q '^apsmpi: 12[0-9]* calls' "$tmp/stderr"
silent=$?
check $silent "no discovery: the summary alone"
[ $silent -eq 0 ] || show_errors

APSMPI_DISCOVERY=$tmp/found
run "discovery" 2 "$mpi/freed" world
says '^apsmpi: .*step' 3 "discovery: a line for each step, or where there is none"
APSMPI_DISCOVERY=off

# MPI_Finalize, which prints the summary, is not called.
if grep -q '^#define HAVE_PMPI_ALLREDUCE_INIT' "$top_builddir/config.h"; then
    run "sessions" 2 "$mpi/freed" session
    grep -q '^apsmpi: .*\(summary\|calls of MPI_Allreduce\)' "$tmp/stderr"
    check $? "sessions: a summary, or a line that there is none"
    [ "$(grep -c '^apsmpi: .*calls of MPI_Allreduce' "$tmp/stderr")" -le 1 ]
    check $? "sessions: no second one from a forked child"
    run "a session before MPI_Init" 2 "$mpi/freed" both
    says '^apsmpi: 12[0-9]* calls of MPI_Allreduce' 1 \
        "a session before MPI_Init: one summary, in MPI_Finalize"
fi
finish
