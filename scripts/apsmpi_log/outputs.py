# SPDX-License-Identifier: BSD-3-Clause
"""Files that a command writes: none may be one that it reads."""

import os

from .text import UserError


def same_file(one, other):
    """True if both paths lead to one file, which exists."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def keep_inputs(outputs, inputs):
    """UserError: writing an output would destroy an input. outputs: pairs of an
    option and its path; paths may be None."""
    for option, output in outputs:
        for path in inputs:
            if output and path and same_file(output, path):
                raise UserError("%s %s would overwrite %s, which this command reads: "
                                "name another file" % (
                                    option, output,
                                    "the file" if output == path else path))
