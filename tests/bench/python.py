#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""python.py [FORMAT...]: processor time of quantize() of the Python package apsmpi,
over that of the C function that it calls, on 2^24 floats. The first ratio, with a given
output, should be at most 1.1; the second one, with a new array for each result, has the
time in which the system makes pages. The third one is that of QPyTorch's
float_quantize(), rounding to nearest, where its modules qtorch, torch and ninja are
installed (CPD's functions are for GPUs only). All are ratios of the least times of
turns that alternate. `make -C build bench-python` runs it."""

import re
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


def qtorch_function(name, x):
    """Returns QPyTorch's call for x in the format `name`, or None."""
    bits = re.fullmatch(r"e(\d+)m(\d+)", name)
    try:
        import torch
        from qtorch.quant import float_quantize
    except ImportError:
        return None
    if not bits:
        return None
    torch.set_num_threads(1)
    exponent, mantissa = map(int, bits.groups())
    return lambda: float_quantize(torch.from_numpy(x), exponent, mantissa, "nearest")


def main():
    x = np.random.default_rng(1).standard_normal(COUNT).astype(np.float32)
    out = np.empty_like(x)
    print("format    C, ms  quantize / C  with a new array  qtorch / C")
    for name in sys.argv[1:] or ("e4m3", "e5m2", "e5m10", "bfp7/64"):
        form, options = apsmpi.Format(name), CastOptions()

        def c_function(form=form, options=options):
            LIB.aps_cast_array(form.pointer, x.ctypes.data, COUNT, byref(options),
                               out.ctypes.data)

        functions = [c_function,
                     lambda name=name: apsmpi.quantize(x, name, out=out),
                     lambda name=name: apsmpi.quantize(x, name),
                     qtorch_function(name, x)]
        functions = [function for function in functions if function]
        times = zip(*[[seconds(function) for function in functions]
                      for turn in range(TURNS)])
        own, *others = (min(column) for column in times)
        ratios = ["%.3f" % (other / own) for other in others]
        print("%-8s %6.1f  %12s  %16s  %10s"
              % (name, own * 1000, *ratios, *["-"] * (3 - len(ratios))))


if __name__ == "__main__":
    main()
