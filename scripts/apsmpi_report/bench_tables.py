# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the all-reduce bench."""

import collections

from .bench import NATIVE, PASSED
from .table_layout import Column, layout
from .text import WIDTH, show_elements, show_fixed, show_usec

def show_case(case):
    return (show_elements(case[1]) if case[0] == 1
            else "%d tensors" % case[0])


BenchGroup = collections.namedtuple("BenchGroup", "label")


def bench_table(bench, kinds, cell):
    """Returns lines of a table with a line for each size and a column for each
    variant of these kinds, grouped by reduction; [] if there is no variant."""
    columns = [
        Column("floats", ">", [show_case(case) for case in bench.cases]),
        Column("fp32's", ">", [show_usec(bench.get(NATIVE, case).median_usec)
                             for case in bench.cases])]
    groups = {}
    for kind, label in kinds:
        for variant in bench.of_kind(kind):
            name = label or variant[1]
            columns.append(Column(
                variant[0], ">", [cell(bench.get(variant, case), variant, case)
                                  for case in bench.cases],
                groups.setdefault(name, BenchGroup(name))))
    if len(columns) == 2:
        return []
    for group in groups.values():       # room for its name
        members = [column for column in columns if column.group is group]
        span = sum(column.width for column in members) + len(members) - 1
        members[0].width += max(0, len(group.label) - span)
    gap = 2 if sum(c.width + 2 for c in columns) <= WIDTH + 2 else 1
    return layout(columns, gap, total=False)


def print_bench(bench, title):
    def speedup(timing, variant, case):
        if timing is None:
            return "-"
        mark = "=" if timing.rewritten == "no" and variant in ours else ""
        return "%.*f%s" % (3 if variant[0] in PASSED else 2,
                           bench.speedup(variant, case), mark)

    def of_floor(timing, variant, case):
        return "-" if timing is None else show_fixed(timing.ratio_floor, 2)

    def of_wire(timing, variant, case):
        return ("-" if timing is None
                else show_fixed(100 * timing.wire_share, 1))

    def of_copy(_, variant, case):
        return show_fixed(100 * bench.copy_share(variant, case), 1)

    ours = bench.of_kind("ours")
    print("%s: %s" % (bench.path, title or bench.title()))
    for heading, kinds, cell in (
            ("times faster than native FP32",
             (("passed", "left to MPI"), ("floor", "floor"),
              ("typed", "MPI's own"), ("half", "user's"), ("ours", "")), speedup),
            ("time over the floor's: native integers of the same width",
             (("typed", "MPI's own"), ("half", "user's"), ("ours", "")), of_floor),
            ("% of memcpy's rate",
             (("native", "native"), ("typed", "MPI's own"), ("half", "user's"),
              ("ours", "")), of_copy if bench.of_kind("copy") else None),
            ("% of what the links could carry",
             (("native", "native"), ("floor", "floor"), ("typed", "MPI's own"),
              ("half", "user's"), ("ours", "")),
             of_wire if bench.last.wire_gbit > 0 and bench.last.hosts > 1
             else None)):
        lines = bench_table(bench, kinds, cell) if cell else []
        if lines:
            print("\n%s\n\n%s" % (heading, "\n".join(lines)))
    if any(t.rewritten == "no" for (v, _), t in bench.timings.items()
           if v in ours):
        print("\n=: not rewritten, or native was chosen: the sum is FP32's")
