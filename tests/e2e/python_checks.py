# SPDX-License-Identifier: BSD-3-Clause
"""TAP lines of the tests of the Python package apsmpi."""

import numpy as np

counted = [0, 0]


def ok(passed, name):
    counted[0] += 1
    counted[1] += not passed
    print("%sok %d - %s" % ("" if passed else "not ", counted[0], name), flush=True)


def skip(name, why):
    counted[0] += 1
    print("ok %d - %s # SKIP %s" % (counted[0], name, why))


def refuses(title, kind, part, function, *arguments, **named):
    """The call raises this kind of exception, with that part of a text."""
    try:
        function(*arguments, **named)
    except kind as error:
        ok(part in str(error), "%s: %s" % (title, error))
    else:
        ok(False, "%s: no exception" % title)


def same(x, y):
    return np.array_equal(np.asarray(x).view(np.uint32), np.asarray(y).view(np.uint32))
