# SPDX-License-Identifier: BSD-3-Clause
# Fused calls with a different lookahead on each rank: all ranks decide the same.
. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

# ahead MODE PROGRESS: the rest of the policy is read from standard input
ahead()
{
    progress=$2
    can_be_driven || progress=thread
    {
        printf 'version: 1\nprogress: %s\n' "$progress"
        cat
    } >"$tmp/policy.yaml"
    run "$1, progress $progress" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/lookahead" "$1"
}

for progress in calls thread; do
    ahead passing $progress <<END
fuse: 64MiB
log: {file: log.csv, every: 2}
rules: [{min_count: 5000, format: e4m3, reduce: direct}]
END
    ahead steps $progress <<END
fuse: 64MiB
steps: {order: backward}
rules: [{layers: 2, format: fp32}, {format: e4m3, reduce: direct}]
END
    ahead alone $progress <<END
fuse: off
rules: [{min_count: 5000, format: e4m3, reduce: direct}]
END
    ahead auto $progress <<END
fuse: 64MiB
rules:
  - {min_count: 200000, format: e4m3, reduce: direct}
  - {format: e4m3, reduce: auto}
END
done
finish
