# SPDX-License-Identifier: BSD-3-Clause
# Calls that some ranks pass through by a shorter way than others, and samples.
. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

# skipped NAME RANKS ARG...: $more is added to the policy
skipped()
{
    cat >policy.yaml <<END
version: 1
log: {file: log.csv, every: 2}
$more
rules: [{min_count: 4096, format: e5m2, reduce: direct}]
END
    run_name=$1
    run_ranks=$2
    shift 2
    rm -f log.csv
    run "$run_name" "$run_ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/skipped" "$@"
}

more=
skipped "as reported" 2 reported
grep -q ',4362,e5m2,' log.csv
check $? "as reported: the first call that is rewritten is sampled"
for seed in 1 2 3 4; do
    skipped "drawn, 2 ranks" 2 drawn $seed
done
skipped "drawn, 3 ranks" 3 drawn 5
can_be_driven || more='progress: thread'
more="fuse: 64KiB
$more"
skipped "drawn, calls fuse" 2 drawn 6
finish
