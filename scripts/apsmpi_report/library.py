# SPDX-License-Identifier: BSD-3-Clause
"""What the report must know of the library: its VERSION, and the LOG_HEADER of
its logs.

`make` writes both into built.py, which is installed with this package. In the
source tree, where nothing may be built yet, they are read where they stand:
configure.ac and src/roundoff/log.h.
"""

import os
import re

try:
    from .built import LOG_HEADER, VERSION
except ImportError:
    _TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

    def _find(path, pattern):
        with open(os.path.join(_TOP, path), encoding="utf-8") as file:
            return re.search(pattern, file.read()).group(1)

    VERSION = _find("configure.ac", r"AC_INIT\(\[apsmpi\], \[(.*)\]\)")
    LOG_HEADER = "".join(re.findall('"(.*)"', _find(
        "src/roundoff/log.h", r"#define APS_LOG_HEADER((?:.*\\\n)*.*)")))
