# SPDX-License-Identifier: BSD-3-Clause
# Shared-memory groups by themselves: one rank fails, and numbers of calls.
. "$top_srcdir/tests/mpi/run.sh"

for ranks in 2 3; do
    run "$ranks ranks" "$ranks" "$mpi/shm_group"
done
finish
