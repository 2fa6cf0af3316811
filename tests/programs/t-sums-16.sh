#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bf16 and fp16 of mpi4py, ml_dtypes and numpy on MPICH 5, which has MPI types for them.
. "${top_srcdir:-.}/tests/programs/lib.sh"

install_mpich_5()
{
    pip mpich==5.0.2 mpi4py ml_dtypes numpy
}
debian python3-venv
environment sums-16 install_mpich_5
MPIEXEC=$venv/bin/mpiexec
export MPIEXEC

policy e4m3.yaml 'format: e4m3, scale: aps'
policy bf16.yaml 'format: bf16'
for type in float bf16 fp16; do
    set -- "$python" "$here/sums_16.py" "$top_srcdir/tests/apps/digits.csv" $type
    native 2 "$@"
    check "$type, native: learns" learned 94
    what="mpi4py $(version mpi4py), $type: native $(accuracy) %"
    saved='\(49\|50\)'
    [ $type != float ] || saved='\(74\|75\)'
    for format in e4m3 bf16; do
        job 2 APSMPI_POLICY=$format.yaml "$@"
        check "$type, $format: learns" learned 94
        what="$what, $format $(accuracy) %"
        check '... all calls are rewritten' rewritten 440
        [ $format = bf16 ] ||
            check '... and one byte of each value is sent' \
                grep -q "($saved\.[0-9] % saved)" err
    done
    diag "$what"
done
finish
