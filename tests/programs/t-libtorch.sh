#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libtorch in C++: a loop over parameters, one all-reduce each.
. "${top_srcdir:-.}/tests/programs/lib.sh"

debian g++ libtorch-dev libmpich-dev dataset-fashion-mnist
for file in "$images"/*.gz; do
    gzip -dc "$file" >"$(basename "$file" .gz)"
done
torch=/usr/include/torch/csrc/api/include

timed mpicxx.mpich -O1 -std=c++14 -I $torch -o train "$here/libtorch.cpp" \
    -ltorch -ltorch_cpu -lc10
check 'the program is built' status_is 0
native 2 ./train . layers
check 'native: learns' learned 70
diag "libtorch $(dpkg-query -W -f '${Version}' libtorch-dev), native: $(accuracy) %"
{
    echo layer,name,count,shape
    sed -n 's/^layer //p' out | awk '{ print NR - 1 "," $0 }'
} >layers.csv
by_layers 'fc2.*' ./train .
finish
