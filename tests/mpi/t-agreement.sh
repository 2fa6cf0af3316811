# SPDX-License-Identifier: BSD-3-Clause
# Ranks that were started differently still do the same. Four ranks; the sum of
# four times 1 is exact in e3m0.
. "$top_srcdir/tests/mpi/run.sh"

# write_policy FILE FORMAT REDUCE
write_policy()
{
    cat >"$tmp/$1" <<END
version: 1
rules: [{format: $2, scale: none, reduce: $3}]
END
}

write_policy a.yaml e3m0 direct
write_policy b.yaml e4m3 direct
write_policy hierarchical.yaml e3m0 hierarchical
write_policy bad.yaml e99m0 direct
cat >"$tmp/table.yaml" <<END
version: 1
layers: table.csv
rules: [{format: e3m0, scale: none}]
END
printf 'layer,name,count\n0,all,2048\n' >"$tmp/table.csv"
printf 'version: 1\nrules: [{min_count: 9, format: e3m0, scale: none}]\n' \
    >"$tmp/odd.yaml"
mkdir "$tmp/other"
cp "$tmp/table.yaml" "$tmp/other"
printf 'layer,name,count\n0,half,1024\n1,more,1024\n' >"$tmp/other/table.csv"

# odd NAME RESULT RANK VARIABLE VALUE POLICY: one rank has another VALUE.
odd()
{
    name=$1 result=$2 rank=$3 variable=$4 value=$5 policy=$6
    set -- -genv APSMPI_POLICY "$tmp/$policy"
    [ "$rank" -eq 0 ] || set -- "$@" -n "$rank" "$mpi/agreement" "$result" :
    set -- "$@" -n 1 -env "$variable" "$value" "$mpi/agreement" "$result"
    [ "$rank" -eq 3 ] ||
        set -- "$@" : -n $((3 - rank)) "$mpi/agreement" "$result"
    run_mpiexec "$name" "$@"
}

odd "another policy on rank 1" native 1 APSMPI_POLICY "$tmp/b.yaml" a.yaml
says '^apsmpi: .*rank 1 holds another policy' 1 \
    "another policy on rank 1: said once, with the rank"
odd "another policy on rank 3" native 3 APSMPI_POLICY "$tmp/b.yaml" a.yaml
says '^apsmpi: .*rank 3 holds another policy' 1 \
    "another policy on rank 3: said once, with the rank"
says '^apsmpi: .*rank 3 holds another policy (.*b.yaml) than rank 0 (.*a.yaml): ' 1 \
    "another policy on rank 3: the line names both files"
odd "another policy on rank 0" native 0 APSMPI_POLICY "$tmp/b.yaml" a.yaml
says '^apsmpi: .*rank 1 holds another policy' 1 \
    "another policy on rank 0: said once, with a rank"
odd "another layer table on rank 2" native 2 \
    APSMPI_POLICY "$tmp/other/table.yaml" table.yaml
says '^apsmpi: .*rank 2 holds another policy' 1 \
    "another layer table on rank 2: said once, with the rank"
odd "another number of nodes on rank 2" native 2 \
    APSMPI_TEST_NODES 2 hierarchical.yaml
says '^apsmpi: .*rank 2 and rank 0 differ in APSMPI_TEST_NODES: ' 1 \
    "another number of nodes: said once, with the rank"
# A hash of 16 bits of this number is that of none.
odd "a number of nodes with the hash of none on rank 2" native 2 \
    APSMPI_TEST_NODES 57839 hierarchical.yaml
says '^apsmpi: .*rank 2 and rank 0 differ in APSMPI_TEST_NODES: ' 1 \
    "a number of nodes with the hash of none: said once, with the rank"
odd "nodes in turn on rank 2" native 2 \
    APSMPI_TEST_NODES 2:cyclic hierarchical.yaml
says '^apsmpi: .*rank 2 and rank 0 differ in APSMPI_TEST_NODES: ' 1 \
    "nodes in turn: said once, with the rank"
# The library with another number that represents its sources.
if "$PYTHON3" - "$library" "$tmp/other.so" \
    "$top_builddir/pmpi/job/build_identity.h" <<'END'
import re, sys
library = open(sys.argv[1], "rb").read()
number = int(re.search(r"0x([0-9a-f]+)u", open(sys.argv[3]).read())[1], 16)
there = number.to_bytes(8, sys.byteorder)
if there not in library:
    sys.exit(1)
other = (number ^ 1 << 40).to_bytes(8, sys.byteorder)
open(sys.argv[2], "wb").write(library.replace(there, other))
END
then
    odd "a library of other sources on rank 2" native 2 \
        LD_PRELOAD "$tmp/other.so" a.yaml
    says '^apsmpi: .*rank 2 runs an apsmpi .* of other sources' 1 \
        "a library of other sources: said once, with the rank"
    odd "a library of other sources on rank 0" native 0 \
        LD_PRELOAD "$tmp/other.so" a.yaml
    says '^apsmpi: .*rank 1 runs an apsmpi .* of other sources' 1 \
        "a library of other sources on rank 0: said once, with a rank"
else
    skip "a library of other sources" "the number is not found in $library"
fi
odd "switched off on rank 1" native 1 APSMPI_ENABLE off a.yaml
says '^apsmpi: .*rank 1 and rank 0 differ in APSMPI_ENABLE: ' 1 \
    "switched off on rank 1: said once, with the rank"

# The first all-reduce of these ranks meets the others in MPI_Init.
for rank in 0 1; do
    set -- "$mpi/agreement" native first : -n 1 -env APSMPI_WORLD off \
        "$mpi/agreement" native first
    if [ $rank -eq 0 ]; then
        set -- -n 1 -env APSMPI_WORLD off "$mpi/agreement" native first : \
            -n 3 "$mpi/agreement" native first
    else
        set -- -n 1 "$@" : -n 2 "$mpi/agreement" native first
    fi
    run_mpiexec "APSMPI_WORLD=off on rank $rank" \
        -genv APSMPI_POLICY "$tmp/a.yaml" "$@"
    says "^apsmpi: rank $rank agrees with the others at its first reduction" 1 \
        "APSMPI_WORLD=off on rank $rank: said once, with the rank"
done

odd "left to run on errors on rank 2" native 2 APSMPI_ON_ERROR pass a.yaml
says '^apsmpi: .*rank 2 and rank 0 differ in APSMPI_ON_ERROR: ' 1 \
    "left to run on errors on rank 2: said once, with the rank"
odd "a log on rank 1 alone" rounded 1 APSMPI_LOG "$tmp/log.csv" a.yaml
says '^apsmpi: APSMPI_LOG is set on rank 1, but not on rank 0, ' 1 \
    "a log on rank 1 alone: said once"

odd "no policy file on rank 1" rounded 1 APSMPI_POLICY "$tmp/none" a.yaml
says '^apsmpi: .*policy' 0 "no policy file on rank 1: not a word"
odd "no policy on rank 2" rounded 2 APSMPI_POLICY "" a.yaml
run_mpiexec "a policy on rank 0 only" \
    -n 1 -env APSMPI_POLICY "$tmp/hierarchical.yaml" \
    "$mpi/agreement" rounded : \
    -n 3 -env APSMPI_POLICY "$tmp/none" "$mpi/agreement" rounded
run_mpiexec "a policy and a layer table on rank 0 only" \
    -n 1 -env APSMPI_POLICY "$tmp/table.yaml" "$mpi/agreement" rounded : \
    -n 3 -env APSMPI_POLICY "$tmp/none" "$mpi/agreement" rounded
run "a policy with a warning" 4 -genv APSMPI_POLICY "$tmp/odd.yaml" \
    "$mpi/agreement" rounded
says '^apsmpi: .*odd.yaml:2:10: warning: min_count 9' 1 \
    "a policy with a warning: said once"
odd "a policy with a warning on rank 2 only" rounded 2 \
    APSMPI_POLICY "$tmp/odd.yaml" none.yaml
says '^apsmpi: rank 2: .*odd.yaml:2:10: warning: min_count 9' 1 \
    "a policy with a warning on rank 2 only: said once, with the rank"
odd "other kernels on rank 1" rounded 1 APSMPI_CPU plain a.yaml
odd "results past the caches on rank 1" rounded 1 APSMPI_STREAM 64 a.yaml
odd "slots past the caches on rank 1" rounded 1 APSMPI_HANDOFF stream \
    hierarchical.yaml
run "no policy" 4 "$mpi/agreement" native
run "switched off" 4 -genv APSMPI_POLICY "$tmp/a.yaml" \
    -genv APSMPI_ENABLE off "$mpi/agreement" native
run "bad but told to pass" 4 -genv APSMPI_POLICY "$tmp/bad.yaml" \
    -genv APSMPI_ON_ERROR pass "$mpi/agreement" native
says 'bad.yaml:2:.*e99m0' 1 "bad but told to pass: said once"

# A policy that stops the job: the program prints no test. stops NAME
# MPIEXEC-ARGUMENTS...
stops()
{
    name=$1
    shift
    # shellcheck disable=SC2086 # two words
    timeout "$seconds" $launch "$@" </dev/null >"$tmp/stdout" 2>"$tmp/stderr"
    [ $? -eq 2 ] && ! grep -q '^ok' "$tmp/stdout"
    check $? "$name stops the job with status 2"
    says 'bad.yaml:2:.*e99m0' 1 "$name: said once, with its place"
}

for rank in 1 3; do
    set -- -genv LD_PRELOAD "$library" -genv APSMPI_POLICY "$tmp/a.yaml" \
        -n $rank "$mpi/agreement" native : \
        -n 1 -env APSMPI_POLICY "$tmp/bad.yaml" "$mpi/agreement" native
    [ $rank -eq 3 ] || set -- "$@" : -n $((3 - rank)) "$mpi/agreement" native
    stops "a policy that is bad on rank $rank alone" "$@"
done
stops 'a bad policy' -n 4 -genv LD_PRELOAD "$library" \
    -genv APSMPI_POLICY "$tmp/bad.yaml" "$mpi/agreement" native
finish
