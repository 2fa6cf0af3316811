#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# R with Rmpi, which Debian builds for Open MPI: a module that R loads. Its sums are of
# doubles.
. "${top_srcdir:-.}/tests/programs/lib.sh"

other=$top_builddir/openmpi/.libs/libapsmpi.so
[ -e "$other" ] || skip_all "there is no $other (make build-openmpi)"
debian r-cran-rmpi openmpi-bin
# Rmpi makes the symbols of a libmpi.so.1 or libmpi.so global. The second one may be
# another MPI's.
right=$(/sbin/ldconfig -p | awk '/libmpi\.so\.40 / { print $NF; exit }')
ln -s "$right" libmpi.so.1
LD_LIBRARY_PATH=$tmp
export LD_LIBRARY_PATH
policy double.yaml 'types: double, format: e4m3, scale: aps'
policy float.yaml 'format: e4m3, scale: aps'

# rmpi POLICY
rmpi()
{
    timed "$top_builddir/scripts/apsmpi-run" --library "$other" -p "$1" \
        mpiexec.openmpi --allow-run-as-root --oversubscribe -n 2 \
        Rscript "$here/sums.R"
    check "$1: the job ends" status_is 0
    error=$(sed -n 's/^error *//p' out)
}
rmpi double.yaml
check '... its sums are rewritten' rewritten 5
check "... with an error of $error" \
    awk "BEGIN { exit !($error > 1e-4 && $error < 0.1) }"
rmpi float.yaml
check '... and left to MPI by a policy without double' has err 'none rewritten'
check "... with an error of $error" awk "BEGIN { exit !($error < 1e-12) }"
finish
