#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""python.py [FORMAT...]: processor time of quantize() of the Python package apsmpi,
over that of the C function that it calls, on 2^24 floats. The first ratio, with a given
output, should be at most 1.1; the second one, with a new array for each result, has the
time in which the system makes pages. Both are ratios of the least times of turns that
alternate. `make -C build bench-python` runs it."""

import sys
import time

import numpy as np

import apsmpi
from apsmpi.library import LIB, CastOptions, byref

COUNT = 1 << 24
TURNS = 15


def seconds(function):
    begin = time.thread_time()
    function()
    return time.thread_time() - begin


def main():
    x = np.random.default_rng(1).standard_normal(COUNT).astype(np.float32)
    out = np.empty_like(x)
    print("format    C, ms  quantize / C  with a new array")
    for name in sys.argv[1:] or ("e4m3", "e5m2", "e5m10", "bfp7/64"):
        form, options = apsmpi.Format(name), CastOptions()

        def c_function(form=form, options=options):
            LIB.aps_cast_array(form.pointer, x.ctypes.data, COUNT, byref(options),
                               out.ctypes.data)

        c_function()
        times = [[seconds(c_function),
                  seconds(lambda name=name: apsmpi.quantize(x, name, out=out)),
                  seconds(lambda name=name: apsmpi.quantize(x, name))]
                 for turn in range(TURNS)]
        own, given, new = (min(column) for column in zip(*times))
        print("%-8s %6.1f  %12.3f  %16.3f"
              % (name, own * 1000, given / own, new / own))


if __name__ == "__main__":
    main()
