# SPDX-License-Identifier: BSD-3-Clause
# Ranks of two jobs on one communicator.
. "$top_srcdir/tests/mpi/run.sh"

printf 'version: 1\nrules: [{%s}, {%s}]\n' \
    'format: e3m0, scale: none, reduce: direct' \
    'calls: [reduce_scatter], format: e3m0, scale: none' >"$tmp/policy.yaml"
# Open MPI's shared memory serves only the ranks of one job.
OMPI_MCA_btl=self,vader,tcp
for what in control others; do
    run "$what" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/spawned" \
        "$library" $what
done
finish
