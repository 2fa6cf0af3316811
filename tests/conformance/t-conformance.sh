# SPDX-License-Identifier: BSD-3-Clause
# Random MPI programs receive the same without the library, with the library
# alone, and where it carries out every sum in full floats.
. "$top_srcdir/tests/conformance/compare.sh"

if [ "$MPI" = openmpi ]; then
    echo "1..0 # SKIP Open MPI does not survive these programs by itself"
    exit 0
fi

# More of them, on more ranks: `make check-conformance`, of `make check-long`.
batch 1 1 6
batch 2 101 125
batch 3 201 215
batch 4 301 310
batch 5 401 404

# What is compared depends on what the library does.
program native 2 101 120
program coarse 2 101 120
others=$(sort "$tmp/native.out" "$tmp/coarse.out" | uniq -u | wc -l)
[ "$status" -eq 0 ] && [ "$others" -ge 30 ]
check $? "seeds 101 to 120 in e3m0: most receive something else"

finish
