#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fortran coarrays of OpenCoarrays: co_sum is an all-reduce in place.
. "${top_srcdir:-.}/tests/programs/lib.sh"

debian gfortran libcoarrays-mpich-dev
cp "$top_srcdir/tests/apps/digits.csv" .
timed gfortran -O2 -fcoarray=lib -o coarrays "$here/coarrays.f90" \
    "-L$(dirname "$(gcc -print-file-name=libcaf_mpich.so)")" -lcaf_mpich
check 'the program is built' status_is 0
native 2 ./coarrays
check 'native: learns' learned 85
diag "OpenCoarrays $(dpkg-query -W -f '${Version}' libcoarrays-mpich-dev)," \
    "native: $(accuracy) %"
policy e4m3.yaml -t 'log: {file: e4m3.csv, every: 10}' 'format: e4m3, scale: aps'
job 2 APSMPI_POLICY=e4m3.yaml ./coarrays
check 'e4m3: learns' learned 85
diag "e4m3: $(accuracy) %"
check '... every sum is rewritten' rewritten 1600
cat >layers.csv <<'END'
layer,name,count,shape
0,hidden,4096,64x64
1,output,640,10x64
END
policy powersgd.yaml -t 'table: layers.csv' -t 'log: {file: powersgd.csv, every: 10}' \
    'layers: output, format: fp32' 'compress: {powersgd: {rank: 4}}'
job 2 APSMPI_POLICY=powersgd.yaml ./coarrays
check 'PowerSGD: learns' learned 85
diag "PowerSGD: $(accuracy) %"
check '... the hidden layer travels as factors' equal \
    "$(distinct compress powersgd.csv 'v["name"] == "hidden"')" 'powersgd rank 4'
finish
