#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ChainerMN: an all-reduce of each gradient, in the order of the names. The last Chainer
# is of 2021, and needs a numpy of its time.
. "${top_srcdir:-.}/tests/programs/lib.sh"

install_chainer()
{
    pip wheel 'setuptools<80' 'numpy<1.24' six filelock typing_extensions \
        'protobuf<3.21' && pip_mpi4py &&
        pip --no-deps --no-build-isolation chainer==7.8.1
}
debian python3-venv python3-dev gcc libmpich-dev dataset-fashion-mnist
environment chainer install_chainer

program=$here/chainer_train.py
native 2 "$python" "$program" --save net.npz
check 'native: learns' learned 70
diag "ChainerMN $(version chainer), native: $(accuracy) %"
timed "$layers_command" --output layers.csv net.npz
check 'apsmpi-layers makes a table of its weights' status_is 0
by_layers 'fc2.*' "$python" "$program"
finish
