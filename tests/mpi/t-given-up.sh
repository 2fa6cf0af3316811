# SPDX-License-Identifier: BSD-3-Clause
# Nonblocking calls whose group cannot be agreed on: their requests complete when
# MPI is done with their buffers.
. "$top_srcdir/tests/mpi/run.sh"

library=$mpi/.libs/inject.so:$library
cat >"$tmp/layers.csv" <<END
layer,name,count
0,first,1000
1,left,1048576
2,second,1000
3,last,1000
END

for progress in calls thread; do
    can_be_driven || [ $progress = thread ] || continue
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
layers: $tmp/layers.csv
progress: $progress
fuse: 1MiB
rules:
  - {layers: 1, format: fp32}
  - {format: e5m10, reduce: direct, scale: {backoff: {window: 1}}}
END
    run "progress $progress" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/given_up"
done
finish
