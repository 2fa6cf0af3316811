# SPDX-License-Identifier: BSD-3-Clause
"""Reads what apsmpi-bench writes by its --csv."""

import collections
import csv

from apsmpi_log.columns import counts, floats
from apsmpi_log.text import INF, NAN, UserError, plural

from .text import note


def parse_count(text):
    return counts([text])[0]


def parse_float(text):
    """Returns a number, inf or nan. An empty field is nan."""
    return floats([text])[0]


BENCH_FIELDS = {        # columns of apsmpi-bench --csv; others are ignored
    "variant": str, "reduce": str, "count": parse_count, "ranks": parse_count,
    "median_usec": float, "min_usec": float, "ratio_native": float,
    "ratio_floor": parse_float, "wire_share": parse_float,
    "hosts": parse_count, "calls": parse_count, "rewritten": str,
    "wire_gbit": parse_float}
Timing = collections.namedtuple("Timing", BENCH_FIELDS)
NATIVE = ("fp32", "native")
COPY = ("memcpy", "native")
NATIVE_OF_BYPASSED = ("fp32 of it", "native")
PASSED = ("fp32 again", "unmatched", "fp32 of it", "bypassed")


class Bench:
    """The timings of one run, by variant (name, reduction) and case (calls,
    elements)."""

    def __init__(self, path):
        self.path = path
        self.timings = {}
        try:
            with open(path, newline="", encoding="utf-8") as file:
                self.read(csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise UserError("%s: %s" % (
                path, getattr(error, "strerror", error))) from None
        self.cases = sorted({case for _, case in self.timings})
        self.variants = list(dict.fromkeys(v for v, _ in self.timings))
        self.sizes = [case for case in self.cases if case[0] == 1]
        for case in self.cases:
            if (NATIVE, case) not in self.timings:
                raise UserError("%s: no native FP32 at %s"
                                % (path, plural(case[1], "element")))

    def read(self, rows):
        missing = [f for f in BENCH_FIELDS if f not in (rows.fieldnames or ())]
        if missing:
            raise UserError("%s:1: not the figures of an all-reduce bench: "
                            "no column '%s'" % (self.path, missing[0]))
        for row in rows:
            try:
                timing = Timing(*(convert(row[field] or "") for field, convert
                                  in BENCH_FIELDS.items()))
                if not 0 < timing.median_usec < INF or timing.count == 0:
                    raise ValueError("no time or no elements")
            except ValueError as error:
                note("%s:%d: %s; line skipped"
                     % (self.path, rows.line_num, error))
                continue
            self.last = timing
            self.timings[((timing.variant, timing.reduce),
                          (timing.calls, timing.count))] = timing
        if not self.timings:
            raise UserError("%s: a header and no rows" % self.path)

    def get(self, variant, case):
        return self.timings.get((variant, case))

    def of_kind(self, kind):
        """Returns the variants of a kind: native, passed, floor, copy, typed, half or
        ours."""
        if kind == "passed":
            return [v for v in ((name, "native") for name in PASSED)
                    if v in self.variants]
        return [v for v in self.variants if kind == (
            "native" if v == NATIVE else "passed" if v[0] in PASSED
            else "ours" if v[1] != "native" else "copy" if v == COPY
            else "floor" if v[0].startswith("int")
            else "typed" if v[0].startswith("MPI ") else "half")]

    def speedup(self, variant, case):
        timing = self.get(variant, case)
        if timing is None:
            return NAN
        native = self.get(NATIVE, case)
        if variant[0] == "bypassed":  # some elements more
            native = self.get(NATIVE_OF_BYPASSED, case) or native
        return native.median_usec / timing.median_usec

    def copy_share(self, variant, case):
        """Returns memcpy's time over that of the variant."""
        copy, timing = self.get(COPY, case), self.get(variant, case)
        return copy.median_usec / timing.median_usec if copy and timing else NAN

    def title(self):
        text = "%s on %s" % (plural(self.last.ranks, "rank"),
                             plural(self.last.hosts, "host"))
        if self.last.wire_gbit > 0:
            text += ", links of %g Gbit/s" % self.last.wire_gbit
        return text
