# SPDX-License-Identifier: BSD-3-Clause
# Other tools before the library: it reports exactly the tools that keep the
# program's calls from it.
. "$top_srcdir/tests/mpi/run.sh"

cat >"$tmp/policy.yaml" <<END
version: 1
rules: [{format: e3m0, scale: none}]
END
ours=$library

# tool FILE NAME RESULT VARIABLES...: two ranks with that tool before the
# library. If no call reaches the library, the summary cannot report that
# nothing was rewritten: RESULT is unseen.
tool()
{
    library=$mpi/.libs/$1.so:$ours
    tool_name=$2 tool_result=$3
    shift 3
    run "$tool_name" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" "$@" \
        "$mpi/agreement" $tool_result
}

tool preload_before "a tool that calls PMPI" native -genv FRONT pmpi
says '^apsmpi: no call of MPI_Allreduce reaches the library: .*/preload_before.so defines' 1 \
    "a tool that calls PMPI: said once, with its path"
says 'libapsmpi.so before it in LD_PRELOAD' 1 \
    "a tool that calls PMPI: with what to do"
tool preload_before "a tool that calls the next library" rounded -genv FRONT next
says 'comes first' 0 "a tool that calls the next library: not a word"
says '3 eligible calls of MPI_Allreduce' 1 \
    "a tool that calls the next library: the trial is not counted"

tool preload_before-init "a tool with MPI_Init" rounded \
    -genv FRONT next -genv FRONT_INIT next
says 'comes first' 0 "a tool with MPI_Init: not a word"
tool preload_before-init "... that calls PMPI later" native -genv FRONT_INIT next
says '^apsmpi: no call of MPI_Allreduce reached the library: .*/preload_before-init.so defines' 1 \
    "... that calls PMPI later: said at the end, once"
tool preload_before-init "... that calls PMPI always" "native unseen"
says '^apsmpi: no call of MPI_Allreduce reached the library: .*/preload_before-init.so defines' 1 \
    "... that calls PMPI always: said at the end, once"
tool preload_before-init "... calls PMPI_Init alone" rounded -genv FRONT next
says 'comes first' 0 "... calls PMPI_Init alone: not a word"
tool preload_before-init "APSMPI_ENABLE=off" "native unseen" -genv APSMPI_ENABLE off
says apsmpi 0 "APSMPI_ENABLE=off: not a word"

library=$mpi/.libs/preload_before-init.so:$ours
run "no policy" 2 "$mpi/agreement" native unseen
says apsmpi 0 "no policy: not a word"

# The order that the library asks for.
library=$ours:$mpi/.libs/preload_before-init.so
run "the library in front" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$mpi/agreement" rounded
says 'comes first' 0 "the library in front: not a word"

library=$ours
run "a tool inside the program" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$mpi/own" native
says '^apsmpi: .*the program itself (.*/own) defines MPI_Allreduce' 1 \
    "a tool inside the program: said once"
run "a program at fixed addresses" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$mpi/call_by_address"
says 'comes first\|itself' 0 "a program at fixed addresses: not a word"
run "a program at fixed addresses that does not reduce" 2 \
    -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/call_by_address" nothing
says 'comes first\|itself' 0 \
    "a program at fixed addresses that does not reduce: not a word"

# Processes that are not ranks.
library=$mpi/.libs/preload_before-init.so:$ours
LD_PRELOAD=$library APSMPI_POLICY=$tmp/policy.yaml ls / >"$tmp/stdout" \
    2>"$tmp/stderr"
check $? "ls after a tool"
[ ! -s "$tmp/stderr" ]
check $? "ls after a tool: not a word"
finish
