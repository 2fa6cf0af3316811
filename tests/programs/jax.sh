# SPDX-License-Identifier: BSD-3-Clause
# Installs JAX and mpi4jax: sets $python.
#
# shellcheck shell=sh disable=SC2034,SC2154 # of lib.sh
install_jax()
{
    pip wheel 'setuptools<80' cython 'numpy<2' jax==0.4.30 jaxlib==0.4.30 &&
        pip_mpi4py && pip --no-build-isolation --no-binary=mpi4jax mpi4jax==0.5.4
}
debian python3-venv python3-dev gcc libmpich-dev dataset-fashion-mnist
environment jax install_jax
