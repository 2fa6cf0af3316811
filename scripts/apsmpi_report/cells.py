# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of each row of a log that figures need."""

import array
import math

from apsmpi_log.candidates import FP32
from apsmpi_log.text import NAN


def numbers_of(values, index):
    """Returns the number of each value in `index`, and adds new values to it."""
    return [index.setdefault(value, len(index)) for value in values]


def exponents_of(columns):
    """Returns the exponents of the factors by which values were multiplied. An
    exponent is whole, unless the policy names a factor that is not a power of 2. Rows
    in FP32 have none, because no factor changes their values."""
    exponents = [NAN if exponent is None else exponent
                 for exponent in columns["scale_exp"]]
    if columns.same.get("scale", "fixed") == "fixed":
        for row, (scale, value) in enumerate(zip(columns["scale"],
                                                 columns["scale_value"])):
            if scale == "fixed" and value > 0:
                exponents[row] = math.log2(value)
    return [NAN if form == FP32 else exponent
            for exponent, form in zip(exponents, columns["format"])]


class Cells:
    """Arrays with an entry for each row: the step, indices of the layer, scale,
    compressor and run, and values."""

    def __init__(self, runs):
        """runs: {id: number}; add() adds new runs to it."""
        self.step = array.array("q")
        self.layer = array.array("q")
        self.err = array.array("d")
        self.ratio = array.array("d")           # signal to noise, in dB
        self.exp = array.array("d")
        self.scale = array.array("q")           # index into scale_index
        self.scale_index = {}
        self.redone = array.array("q")
        self.residual = array.array("d")
        self.compress = array.array("q")        # index into compress_index
        self.compress_index = {}
        self.run = array.array("q")             # index into run_index
        self.run_index = runs
        self.over = array.array("b")            # 1: a value overflowed

    def add(self, columns, layers):
        """layers: the index of the layer of each row."""
        self.step.extend(columns["step"])
        self.layer.extend(layers)
        self.err.extend(columns["err_mean"])
        self.ratio.extend(columns["snr_db"])
        self.exp.extend(exponents_of(columns))
        self.scale.extend(numbers_of(columns["scale"], self.scale_index))
        self.redone.extend(columns["redone"])
        self.residual.extend(columns["residual"])
        self.compress.extend(numbers_of(columns["compress"], self.compress_index))
        self.run.extend(numbers_of(columns["run"], self.run_index))
        self.over.extend(map(bool, map(max, columns["overflow"],
                                       columns["overflowed"], columns["redone"])))
