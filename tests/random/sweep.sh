# SPDX-License-Identifier: BSD-3-Clause
# Thousands of random programs, on up to 8 ranks; for `make check-long`.
# RANDOM_SEED and RANDOM_SEEDS are the first seed and the number of seeds.
. "$top_srcdir/tests/random/seeds.sh"

first=${RANDOM_SEED:-1001}
programs=${RANDOM_SEEDS:-3000}
seeds "$first" $((first + programs / 3 * 2 - 1)) 5
seeds $((first + programs / 3 * 2)) $((first + programs - 1)) 8
finish_seeds
