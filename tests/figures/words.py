# SPDX-License-Identifier: BSD-3-Clause
"""Formats, scales and roundings that the figures compare, as words of a policy.

A format, a scale or a rounding is one entry of a table here. `apsmpi check`
decides which of them can be combined, and which of them this library knows."""

import itertools
import os
import subprocess
import tempfile

# Floats of 4 to 8 bits with every split into exponent and mantissa, and the
# wider ones that have names.
FLOATS = ["e%dm%d" % (e, width - 1 - e)
          for width in (4, 5, 6, 7, 8) for e in (1, 2, 3, 4, 5)
          if 0 <= width - 1 - e] + ["e5m10", "e8m7"]
OCP_FLOATS = ["e4m3fn", "e3m2fn", "e2m3fn", "e2m1fn"]
MX = ["mx-e2m1fn", "mx-e2m3fn", "mx-e3m2fn", "mx-e4m3fn", "mx-e5m2", "mx-int8"]
BLOCKS = ["bfp%d/%d" % (m, b) for m in (2, 3, 4, 5, 6, 7) for b in (16, 64, 576)]
BLOCKS += ["bfp%d/32" % m for m in (3, 4, 5)]
OTHERS = ["nvfp4", "flex8", "flex16"]

# A part of the floats, for tables that people read.
FEW_FLOATS = ["e3m0", "e2m1", "e2m2", "e3m1", "e2m3", "e3m2", "e3m4", "e4m3",
              "e5m2", "e5m10", "e8m7"]
FEW_BLOCKS = ["bfp3/64", "bfp4/16", "bfp4/64", "bfp5/64", "bfp7/64", "bfp7/576"]

# Name in tables, and the policy's words; None: no key, because formats choose
# that scale themselves.
SCALES = {
    "-": None,
    "none": "none",
    "fixed": "{fixed: 2^10}",
    "aps": "aps",
    "aps-tight": "aps-tight",
    "backoff": "backoff",
    "logmax": "logmax",
    "underflow": "underflow",
    "unit": "unit",
    "autoflex": "autoflex",
    "delayed": "delayed",
    "dfxp": "dfxp",
}
ROUNDINGS = ["nearest", "stochastic", "correlated"]


class Variant:
    """One way to reduce: the words of a rule. The scale is a name of SCALES, or
    the policy's words."""

    def __init__(self, format, scale, rounding):
        self.format, self.scale, self.rounding = format, scale, rounding

    def __str__(self):
        return ", ".join(word for word in (
            self.format, self.scale if self.scale != "-" else "",
            self.rounding if self.rounding != "nearest" else "") if word)

    def rule(self):
        """Returns the rule's keys, in YAML's flow style."""
        keys = ["format: " + self.format, "reduce: direct"]
        scale = SCALES.get(self.scale, self.scale)
        if scale is not None:
            keys.append("scale: " + scale)
        if self.rounding != "nearest":
            keys.append("rounding: " + self.rounding)
        return ", ".join(keys)


def is_known(apsmpi, variant):
    """True if the library accepts this rule."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("version: 1\nsteps: {calls: 6}\nrules: [{%s}]\n"
                   % variant.rule())
        file.flush()
        return subprocess.run([apsmpi, "check", file.name], check=False,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0


def variants(formats, scales, roundings):
    """Yields all ways that the library accepts. A format whose blocks have their
    own scales takes no scale, and occurs once, with '-'; for other formats '-'
    is the default and is left out."""
    apsmpi = os.path.join(os.environ["top_builddir"], "apsmpi")
    for format in formats:
        scaled = is_known(apsmpi, Variant(format, "fixed", "nearest"))
        for scale, rounding in itertools.product(scales, roundings):
            if (scale == "-") == scaled:
                continue
            variant = Variant(format, scale, rounding)
            if is_known(apsmpi, variant):
                yield variant
