# SPDX-License-Identifier: BSD-3-Clause
# Thousands of random programs, on up to 8 ranks; for `make check-long`.
# CONFORMANCE_SEED is the first seed.
. "$top_srcdir/tests/conformance/compare.sh"

seed=${CONFORMANCE_SEED:-1000}
seconds=1200

# batches TIMES RANKS SEEDS
batches()
{
    for _ in $(seq "$1"); do
        batch "$2" "$seed" $((seed + $3 - 1))
        seed=$((seed + $3))
    done
}

batches 5 2 100
batches 5 3 50
batches 5 4 40
batches 3 5 20
batches 3 8 10
finish
