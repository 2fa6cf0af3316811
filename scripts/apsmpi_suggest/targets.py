# SPDX-License-Identifier: BSD-3-Clause
"""Targets: a bound of the error of each layer, or of the bytes."""

import argparse
import math
import re

NUMBER = r"([0-9]+\.?[0-9]*(?:e[-+]?[0-9]+)?|\.[0-9]+)"

SNR_MIN = -200          # in dB; compressors with feedback have ratios below 0

# Default margins in dB. The mean relative error depends on the few elements whose sums
# are nearly 0, and differs much between runs.
MARGINS = {"snr": 1.0, "err": 6.0}


class Bound:
    """A bound that each layer keeps by itself, in every epoch. The values are the
    relative error in the Euclidean norm or the mean relative error: less is
    better."""

    def __init__(self, kind, most, margin):
        """margin: the first run must be better than `most` by this, in dB. None: the
        default."""
        self.kind = kind        # "snr" or "err"
        margin = MARGINS[kind] if margin is None else margin
        self.most = most
        self.allowed = most * 10 ** (-margin / 20)
        self.margin = margin

    def value(self, sums):
        """Returns the value of the sums over the samples of an epoch (samples.Sums)."""
        return sums.l2() if self.kind == "snr" else sums.err()

    def show(self, value):
        if self.kind == "err":
            return "err %.3g" % value
        if value == 0:
            return "no error"
        return "%.1f dB" % (-20 * math.log10(value) if value < math.inf
                            else -math.inf)

    def __str__(self):
        if self.kind == "err":
            return "err=%.4g" % self.most
        return "snr=%.4gdB" % (-20 * math.log10(self.most))


class Budget:
    """The bytes that a step may have, as a part of those in FP32."""

    kind = "bytes"

    def __init__(self, part):
        self.part = part

    def __str__(self):
        return "bytes=%.6g%%" % (100 * self.part)


def parse_target(text):
    """A function from the margin in dB to a Bound or a Budget."""
    found = re.fullmatch(r"(snr|err|bytes)[ =:]+(-?)%s *(dB|%%)?" % NUMBER, text, re.I)
    if not found:
        raise argparse.ArgumentTypeError(
            "'%s' is none of snr=20dB, err=0.1 and bytes=25%%" % text)
    kind, number = found[1].lower(), float(found[2] + found[3])
    unit = (found[4] or {"snr": "db"}.get(kind, "")).lower()
    if unit != {"snr": "db", "err": "", "bytes": "%"}[kind]:
        raise argparse.ArgumentTypeError("'%s': %s" % (text, {
            "snr": "snr is in dB, as in snr=20dB",
            "err": "err is a plain number, as in err=0.1",
            "bytes": "bytes are a percentage of those of FP32, as in bytes=25%"}[kind]))
    if kind == "bytes":
        if not 0 < number <= 100:
            raise argparse.ArgumentTypeError(
                "'%s': bytes are above 0 %% and at most 100 %%" % text)
        return lambda margin: Budget(number / 100)
    if kind == "snr" and number < SNR_MIN:
        raise argparse.ArgumentTypeError(
            "'%s': snr is at least %ddB" % (text, SNR_MIN))
    if kind == "err" and number < 0:
        raise argparse.ArgumentTypeError("'%s': err is above 0" % text)
    if kind == "err" and number >= 1:
        raise argparse.ArgumentTypeError(
            "'%s' asks for nothing: zeros would meet it" % text)
    most = number if kind == "err" else 10 ** (-number / 20)
    if most == 0:
        raise argparse.ArgumentTypeError("'%s': only FP32 has no error" % text)
    return lambda margin: Bound(kind, most, margin)


def parse_margin(text):
    found = re.fullmatch(NUMBER + r" *(dB)?", text, re.I)
    if not found:
        raise argparse.ArgumentTypeError("'%s' is no margin, such as 1dB" % text)
    return float(found[1])
