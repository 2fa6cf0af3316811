#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# JAX with mpi4jax: all-reduces inside jit, in the order of the program.
. "${top_srcdir:-.}/tests/programs/lib.sh"
. "$here/jax.sh"

program=$here/jax_train.py
native 2 "$python" "$program" --save net.npz
check 'native: learns' learned 70
diag "JAX $(version jax), mpi4jax $(version mpi4jax), native: $(accuracy) %"
timed "$layers_command" --output layers.csv net.npz
check 'apsmpi-layers makes a table of its weights' status_is 0
by_layers 'fc2.*' "$python" "$program"
finish
