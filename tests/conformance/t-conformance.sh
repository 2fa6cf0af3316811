# SPDX-License-Identifier: BSD-3-Clause
# Random MPI programs receive the same data without the library, with the
# library alone, and if it reduces every sum in FP32.
. "$top_srcdir/tests/conformance/compare.sh"

case $MPI in
openmpi) echo "1..0 # SKIP Open MPI does not survive these programs by itself" ;;
abi) echo "1..0 # SKIP MPICH 5 does not survive these programs by itself" ;;
esac
[ "$MPI" = mpich ] || exit 0

# `make check-conformance`, a part of `make check-long`, runs more, on more ranks.
batch 1 1 6
batch 2 101 125
batch 3 201 215
batch 4 301 310
batch 5 401 404

# The comparison depends on the library's mode.
program native 2 101 120
program coarse 2 101 120
others=$(sort "$tmp/native.out" "$tmp/coarse.out" | uniq -u | wc -l)
[ "$status" -eq 0 ] && [ "$others" -ge 30 ]
check $? "seeds 101 to 120 in e3m0: most receive something else"

finish
