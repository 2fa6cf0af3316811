# SPDX-License-Identifier: BSD-3-Clause
# MPI_Comm_idup of MPI_COMM_SELF while first reductions of communicators begin.
. "$top_srcdir/tests/mpi/run.sh"

# A call that never returns takes memory without end.
limit_memory 8000000

for progress in thread calls; do
    can_be_driven || [ $progress = thread ] || continue
    for reduce in hierarchical direct; do
        cat >"$tmp/policy.yaml" <<END
version: 1
progress: $progress
rules: [{format: e5m10, reduce: $reduce}]
END
        for ranks in 2 3; do
            [ "$reduce$ranks" != direct3 ] || continue
            run "nonblocking, $progress, $reduce, $ranks ranks" $ranks \
                -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/idup_self" \
                nonblocking
        done
    done
done
sed 's/direct/hierarchical/' "$tmp/policy.yaml" >"$tmp/groups.yaml"
for policy in policy groups; do
    for ranks in 2 3; do
        run "three threads, $policy, $ranks ranks" $ranks \
            -genv APSMPI_POLICY "$tmp/$policy.yaml" "$mpi/idup_self" threads
    done
done
finish
