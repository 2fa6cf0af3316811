# SPDX-License-Identifier: BSD-3-Clause
# Installs Horovod for PyTorch of Debian and TensorFlow of PyPI: sets $python, and
# $frameworks. Horovod is compiled, which takes minutes.
#
# shellcheck shell=sh disable=SC2034,SC2154 # of lib.sh
install_horovod()
{
    with=WITHOUT
    pip 'tensorflow-cpu==2.13.1' && with=WITH
    pip wheel 'setuptools<80' packaging cffi cloudpickle psutil pyyaml &&
        env HOROVOD_WITH_MPI=1 HOROVOD_WITHOUT_GLOO=1 HOROVOD_WITHOUT_MXNET=1 \
            HOROVOD_CPU_OPERATIONS=MPI HOROVOD_WITH_PYTORCH=1 \
            "HOROVOD_${with}_TENSORFLOW=1" MAKEFLAGS="-j$(nproc)" \
            nice "$venv/bin/pip" install --no-build-isolation --no-binary=horovod \
            horovod==0.28.1
}
debian python3-venv python3-dev python3-torch libtorch-dev pybind11-dev cmake g++ \
    libmpich-dev dataset-fashion-mnist
environment horovod install_horovod --system-site-packages
frameworks=torch
! "$python" -c 'import horovod.tensorflow' 2>/dev/null || frameworks='torch keras'
