# SPDX-License-Identifier: BSD-3-Clause
# Nonblocking calls in which some layers pass through, and plans that the
# library cannot carry out.
. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

cat >layers.csv <<END
layer,name,count
0,first,50000
1,left,50000
2,alone,50000
3,last,50000
END

# parts NAME RANKS RULE [ARG...]: $more is added to the policy
parts()
{
    cat >policy.yaml <<END
version: 1
layers: layers.csv
progress: $progress
$more
rules:
  - {layers: 1-2, format: fp32}
  - {format: e3m0, scale: none, $3}
END
    parts_name="$1, progress $progress"
    parts_ranks=$2
    shift 3
    run "$parts_name" "$parts_ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv HWLOC_SYNTHETIC 'core:4 pu:1' "$mpi/parts" "$@"
}

for progress in calls thread; do
    can_be_driven || [ $progress = thread ] || continue
    more=
    parts "hierarchical" 2 'reduce: hierarchical'
    parts "direct" 4 'reduce: direct'
    parts "auto" 2 'reduce: auto' any
    more='fuse: 1MiB'
    parts "fuse" 2 'reduce: hierarchical'
    more='log: {file: log.csv, every: 2}'
    parts "samples" 2 'reduce: direct'
    # Without packages in hwloc, blocking calls pass through, others do not.
    more=
    parts "no groups" 2 'reduce: hierarchical, group: package' nnnn
    says 'cannot run here: .* are reduced by `direct` in nonblocking ones' 1 \
        "no groups, progress $progress: said once"
done
finish
