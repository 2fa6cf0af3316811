# SPDX-License-Identifier: BSD-3-Clause
# Installs what DistributedDataParallel needs to sum by mpi4py: sets $python.
#
# shellcheck shell=sh disable=SC2034,SC2154 # of lib.sh
debian python3-venv python3-dev python3-torch gcc libmpich-dev dataset-fashion-mnist
environment ddp pip_mpi4py --system-site-packages
