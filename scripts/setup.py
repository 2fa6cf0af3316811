# SPDX-License-Identifier: BSD-3-Clause
"""Builds libaps into the Python package apsmpi, for `pip install ./scripts` from the tree.

The sources are those that src/local.mk lists for libaps.la. This needs a C compiler and
libyaml (Debian: libyaml-dev), and neither MPI nor autotools.
"""

import concurrent.futures
import os
import re

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FLAGS = ["-std=gnu11", "-fvisibility=hidden", "-ffp-contract=off", "-fno-fast-math"]
KERNEL_FLAGS = ["-fno-trapping-math"]
if "-O" not in os.environ.get("CFLAGS", ""):
    KERNEL_FLAGS.append("-O3")


def text(path):
    with open(os.path.join("..", path), encoding="utf-8") as file:
        return file.read()


def sources(library):
    """The .c files that src/local.mk lists for a library."""
    lists = text("src/local.mk").replace("\\\n", " ")
    names = re.search(r"(?m)^%s_la_SOURCES =(.*)$" % library, lists).group(1).split()
    return [os.path.join("..", name) for name in names if name.endswith(".c")]


VERSION = re.search(r"AC_INIT\(\[apsmpi\], \[(.*)\]\)", text("configure.ac")).group(1)
KERNELS = sources("libkernels")
OTHERS = sources("libcore") + sources("libpolicy") + sources("libaps")


class BuildLibrary(build_ext):
    """Compiles the kernels with flags of their own, as src/local.mk does."""

    def build_extension(self, extension):
        folder = os.path.join(self.build_temp, "include")
        os.makedirs(folder, exist_ok=True)
        number = sum(int(part) * 100 ** i
                     for i, part in enumerate(reversed(VERSION.split("."))))
        with open(os.path.join(folder, "config.h"), "w", encoding="utf-8") as file:
            file.write("#define _GNU_SOURCE 1\n#define PACKAGE_VERSION \"%s\"\n"
                       % VERSION)
        with open(os.path.join(folder, "aps_version.h"), "w", encoding="utf-8") as file:
            file.write(text("src/aps_version.h.in")
                       .replace("@APS_VERSION_NUMBER@", str(number))
                       .replace("@PACKAGE_VERSION@", VERSION))

        package = os.path.join(self.build_lib, "apsmpi_log")
        os.makedirs(package, exist_ok=True)
        with open(os.path.join(package, "built.py"), "w", encoding="utf-8") as file:
            file.write("VERSION = %r\n" % VERSION)

        def compiled(name):
            return self.compiler.compile(
                [name], output_dir=self.build_temp,
                include_dirs=[folder, "../src", "../pmpi", ".."],
                extra_preargs=FLAGS + (KERNEL_FLAGS if name in KERNELS else []))

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = sum(pool.map(compiled, KERNELS + OTHERS), [])
        self.compiler.link_shared_object(
            objects, self.get_ext_fullpath(extension.name), libraries=["yaml", "m"],
            extra_preargs=["-Wl,--version-script=../src/libaps.map"],
            build_temp=self.build_temp)


setup(
    version=VERSION,
    packages=["apsmpi", "apsmpi_log", "apsmpi_report", "apsmpi_suggest"],
    package_data={"apsmpi": ["py.typed"]},
    options={"build": {"build_base": "../build/python"}},
    ext_modules=[Extension("apsmpi._libaps", KERNELS + OTHERS)],
    cmdclass={"build_ext": BuildLibrary},
)
