# SPDX-License-Identifier: BSD-3-Clause
# A package of Spack. In a folder packages/apsmpi of a repository of packages, with the
# archive of `make dist` in the current directory:
#
#     spack install --no-checksum apsmpi
import os

from spack.package import *


class Apsmpi(AutotoolsPackage):
    """Preloaded library that carries out MPI_Allreduce of float gradients in few bits."""

    homepage = "https://arxiv.org/abs/1911.08907"
    url = "file:///{0}/apsmpi-0.1.0.tar.xz".format(os.getcwd())

    license("BSD-3-Clause", checked_by="apsmpi")

    version("0.1.0")

    variant("cuda", default=False, description="Build the plugin for GPU memory")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("hwloc@2")
    depends_on("libyaml")
    depends_on("cuda@12:", when="+cuda")
    depends_on("python@3.9:", type=("build", "run"))

    def configure_args(self):
        mpi = "openmpi" if self.spec.satisfies("^[virtuals=mpi] openmpi") else "mpich"
        args = [
            f"--with-mpi={mpi}",
            f"MPICC={self.spec['mpi'].mpicc}",
            f"LIBYAML_ARCHIVE={self.spec['libyaml'].prefix.lib}/libyaml.a",
        ]
        args += self.with_or_without("cuda", activation_value="prefix")
        return args
