# SPDX-License-Identifier: BSD-3-Clause
"""Makes a wheel of an installed prefix: wheel.py PREFIX VERSION.

pip installs the prefix into that of the environment: bin/apsmpi-run, for example, is in
the directory of the environment's python3, whose name the scripts of Python get. The
module apsmpi gets a copy of libaps. The platform is manylinux with the version of glibc
that the files need. The wheel is written to the current directory.
"""
import base64
import hashlib
import os
import platform
import re
import sys
import time
import zipfile

METADATA = """Metadata-Version: 2.1
Name: apsmpi
Version: {version}
Summary: MPI_Allreduce of float gradients in few bits, by a preloaded library
License: BSD-3-Clause
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: logs
Requires-Dist: pandas; extra == "logs"
Provides-Extra: plots
Requires-Dist: matplotlib; extra == "plots"
Provides-Extra: torch
Requires-Dist: torch; extra == "torch"
Description-Content-Type: text/markdown

{readme}"""
WHEEL = """Wheel-Version: 1.0
Generator: apsmpi
Root-Is-Purelib: false
Tag: {tag}
"""
GLIBC = re.compile(rb"GLIBC_2\.(\d+)\0")
MODULE = re.compile(r"share/apsmpi/((apsmpi|apsmpi_log)/.*)")
PYTHON = b"#!/usr/bin/env python3\n"


def files(prefix):
    """Yields (name, mode, bytes) of the prefix's files; a wheel has no links."""
    for folder, folders, names in os.walk(prefix):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if re.search(r"\.so\.\d+\.", name):
                continue  # its links have shorter names
            with open(path, "rb") as stream:
                data = stream.read()
            mode = 0o755 if os.access(path, os.X_OK) else 0o644
            yield os.path.relpath(path, prefix), mode, data


def add(wheel, name, data, mode=0o644):
    """Adds a file, with the time of the sources. Returns its line of RECORD."""
    stamp = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    info = zipfile.ZipInfo(name, stamp)
    info.external_attr = (0o100000 | mode) << 16
    wheel.writestr(info, data, zipfile.ZIP_DEFLATED)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    return f"{name},sha256={digest.decode()},{len(data)}\n"


def main(prefix, version):
    data = f"apsmpi-{version}.data/"
    own = f"apsmpi-{version}.dist-info/"
    found = list(files(prefix))
    newest = max(int(minor) for _, _, text in found if text.startswith(b"\x7fELF")
                 for minor in GLIBC.findall(text))
    tag = f"py3-none-manylinux_2_{newest}_{platform.machine()}"
    path = f"apsmpi-{version}-{tag}.whl"
    with open(os.path.join(prefix, "share/doc/apsmpi/README.md"),
              encoding="utf-8") as stream:
        readme = stream.read()
    with zipfile.ZipFile(path, "w") as wheel:
        record = ""
        for name, mode, text in found:
            module = MODULE.match(name)
            if module:
                record += add(wheel, module[1], text)
            if name == "lib/libaps.so":
                record += add(wheel, "apsmpi/_libaps.so", text)
                continue
            place = "data/" + name
            if name.startswith("bin/") and text.startswith(PYTHON):
                place = "scripts/" + os.path.basename(name)
                text = b"#!python\n" + text[len(PYTHON):]
            record += add(wheel, data + place, text, mode)
        record += add(wheel, own + "METADATA", METADATA.format(
            version=version, readme=readme).encode())
        record += add(wheel, own + "WHEEL", WHEEL.format(tag=tag).encode())
        name = own + "RECORD"
        add(wheel, name, (record + name + ",,\n").encode())
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
