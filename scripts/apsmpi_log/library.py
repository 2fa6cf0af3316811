# SPDX-License-Identifier: BSD-3-Clause
"""The library's VERSION.

`make` writes it into built.py, which is installed with this package. In the
source tree, where nothing may be built yet, it is read from
configure.ac.
"""

import os
import re

try:
    from .built import VERSION
except ImportError:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                           "..", "configure.ac"), encoding="utf-8") as _file:
        VERSION = re.search(r"AC_INIT\(\[apsmpi\], \[(.*)\]\)",
                            _file.read()).group(1)
