# SPDX-License-Identifier: BSD-3-Clause
# Candidates (shadow): the program gets MPI's own results, to the last bit, and
# the log has for each candidate the values that it has for a run that uses it.
. "$top_srcdir/tests/mpi/layered.sh"

# job RANKS POLICY HOW [ARG...]
job()
{
    layered_job shadowed "$@"
}

# same_as_native TEXT: the last job, and the one before in `native`
same_as_native()
{
    cmp -s said native && grep -q '^sums' said
    check $? "$1"
}

# candidates RANKS HOW CANDIDATE...: each is a rule's settings. A run that
# really uses a candidate has the rule in the log's event.
candidates()
{
    ranks=$1 how=$2
    shift 2
    name="$ranks ranks, $how"
    job "$ranks" none "$how"
    mv said native
    {
        printf 'version: 1\ntable: layers.csv\nlog: {file: shadow.csv, every: 1}\n'
        printf 'shadow:\n'
        printf '  - {%s}\n' "$@"
    } >shadow.yaml
    rm -f shadow*.csv
    job "$ranks" shadow.yaml "$how"
    same_as_native "$name: the results are MPI's"
    number=0
    for candidate; do
        number=$((number + 1))
        plan=$(sed -n \
            "s/^# candidate run=.* rule=\"\" shadow=$number plan=\"\(.*\)\"\$/\1/p" \
            shadow.csv)
        echo "# $candidate is $plan" >&2
        {
            printf 'version: 1\ntable: layers.csv\n'
            printf 'log: {file: real.csv, every: 1}\nrules:\n  - %s\n' "$plan"
        } >real.yaml
        rm -f real.csv
        job "$ranks" real.yaml "$how"
        "$PYTHON3" "$top_srcdir/tests/mpi/shadowed.py" shadow.csv $number real.csv \
            2>why
        check $? "$name: $candidate: the rows of its own run"
        sed 's/^/# /' why >&2
    done
}

more='-genv APSMPI_TEST_NODES 2'
candidates 4 blocking \
    'format: e5m2' 'format: e4m3, scale: aps' 'format: e3m0, scale: none' \
    'format: e4m3, scale: {backoff: {scope: layer}}' \
    'format: e5m2, scale: delayed' 'format: e4m3, scale: logmax' \
    'format: e4m3, reduce: direct, rounding: {stochastic: {seed: 3}}' \
    'format: e5m2, scale: aps, reduce: ring, accumulate: format' \
    'format: mx-e4m3fn' 'format: e4m3, feedback: on' \
    'compress: {powersgd: {rank: 2}}' 'compress: {topk: 0.1}' \
    'format: e4m3, reduce: gather, accumulate: kahan, scale: aps'
candidates 3 in-place 'format: e4m3, scale: aps' 'format: e3m2, feedback: on' \
    'format: qsgd7/512, reduce: direct'
candidates 2 together 'format: e5m2' 'format: e4m3, scale: backoff' \
    'compress: ternary'
more=
if can_be_driven; then
    candidates 2 nonblocking 'format: e4m3, scale: aps' \
        'format: e5m2, scale: backoff' 'format: e3m0, feedback: on'
    if grep -q '^#define HAVE_PMPI_ALLREDUCE_INIT' "$top_builddir/config.h"; then
        candidates 2 persistent 'format: e4m3, scale: aps' \
            'format: e3m0, feedback: on'
    fi
fi

# --- rules --------------------------------------------------------------------

# One layer is rewritten, one is left to MPI, and one is measured in its rule's
# format and in e5m2.
cat >rules.yaml <<END
version: 1
table: layers.csv
log: {file: rules.csv, every: 1}
rules:
  - {layers: 0, format: e4m3, scale: aps, reduce: direct, shadow: [e5m2]}
  - {layers: 1, format: e3m0}
END
job 2 none blocking
job 2 rules.yaml blocking
grep -v '^[#t]' rules.csv | cut -d, -f5,8,9,10,25,30 | sort -u >shown
cmp -s shown - <<END
0,e4m3,aps,direct,0,1
0,e5m2,aps-tight,direct,0,2
1,e3m0,aps-tight,hierarchical,1,0
END
check $? "a rule's own plan is its first candidate; others have its reduction"
sed -n 's/^# candidate run=[^ ]* //p' rules.csv >shown
cmp -s shown - <<'END'
rule=0 shadow=1 plan="{format: e4m3, scale: aps, reduce: direct}"
rule=0 shadow=2 plan="{format: e5m2, scale: aps-tight, reduce: direct}"
END
check $? "each has an event with its whole plan"

grep -q 'shadow: candidates .* and 49.2 KB of memory; errors are in rules.csv' stderr
check $? "the summary says the memory of the longest layer, on rank 0"

# Candidates at the top are for layers without a rule, too: their rows have none.
sed 's/^rules/shadow: [e5m10]\n&/; s/rules.csv/top.csv/; s/, shadow: .e5m2.//' \
    rules.yaml >top.yaml
job 2 none blocking
mv said native
job 2 top.yaml blocking
same_as_native "candidates for all layers: the results are MPI's"
grep -v '^[#t]' top.csv | cut -d, -f5,8,25,30 | sort -u >shown
cmp -s shown - <<END
0,e4m3,0,1
0,e5m10,0,2
1,e3m0,1,1
1,e5m10,1,2
2,e5m10,,1
END
check $? "a layer that no rule matches has the candidates alone, and no rule"
sed -n 's/^# candidate run=[^ ]* //p' top.csv | cut -d' ' -f1,2 >shown
cmp -s shown - <<'END'
rule="" shadow=1
rule=0 shadow=1
rule=0 shadow=2
rule=1 shadow=1
rule=1 shadow=2
END
check $? "and so have their events"

# --- time ---------------------------------------------------------------------

job 2 none blocking 60 2000
mv said native
rm -f roundoff.csv
more='-genv APSMPI_SHADOW e5m2,e4m3:aps'
preload_only="-genv LD_PRELOAD $library"
# shellcheck disable=SC2086 # several words
timeout "$seconds" $launch -n 2 $preload_only $more "$mpi/shadowed" blocking 60 \
    2000 </dev/null >said 2>stderr
same_as_native "APSMPI_SHADOW needs no policy: the results are MPI's"
steps=$(grep -v '^#' roundoff.csv | cut -d, -f3 | sort -nu | sed 1d | wc -l)
[ "$steps" -ge 1 ]
check $? "and steps are sampled within its share of the time"
echo "# $steps steps" >&2
grep -q '^apsmpi: shadow: candidates were measured on' stderr
check $? "which the summary says"
[ "$(head -n 1 roundoff-exponents.csv)" = \
    run,comm,call,step,epoch,layer,name,count,zeros,infinite,nan,binades ] &&
    [ "$(grep -c MPI_COMM_WORLD roundoff-exponents.csv)" -eq $((steps * 3)) ]
check $? "beside the log is a histogram a layer and sample"

# --- mistakes -----------------------------------------------------------------

more='-genv APSMPI_SHADOW e5m22,e4m3:aspt'
# shellcheck disable=SC2086 # several words
timeout "$seconds" $launch -n 2 $preload_only $more "$mpi/shadowed" blocking \
    </dev/null >said 2>stderr
grep -q "APSMPI_SHADOW:1:12: unknown scale 'aspt'" stderr
check $? "errors in APSMPI_SHADOW are reported with their place"
finish
