# SPDX-License-Identifier: BSD-3-Clause
"""Checks that pandas reads round-off logs.

    logs.py LOG...

reads each log by pandas, as apsmpi-log(5) describes, and by Python's csv
module, and prints a line for each field that differs. Half a row, which a
killed job may have left, must end where the row ends. The exit status is 1 if
anything differs, and 77 without pandas.
"""

import csv
import math
import sys

try:
    import pandas
except ImportError as error:
    print(error)
    sys.exit(77)

TEXTS = {"comm", "name", "format", "scale", "reduce", "run", "call", "rule",
         "group", "node", "accumulate", "compress", "type"}


def read_by_csv(path):
    with open(path, newline="\n", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.reader(lines, strict=True))


def same_number(text, value):
    if text in ("", "nan"):
        return math.isnan(value)
    return float(text) == value


def differences(path):
    """Yields the differences, a line each."""
    header, *rows = read_by_csv(path)
    texts = pandas.read_csv(path, comment="#", dtype=str, keep_default_na=False)
    typed = pandas.read_csv(path, comment="#",
                            dtype=dict.fromkeys(TEXTS & set(header), str))
    if list(texts.columns) != header:
        yield "columns %s, not %s" % (list(texts.columns), header)
        return
    if len(texts) != len(rows):
        yield "%d rows, not %d" % (len(texts), len(rows))
        return
    whole = all(len(row) == len(header) for row in rows)
    for index, name in enumerate(header):
        for row, cells in enumerate(rows):
            wanted = cells[index] if index < len(cells) else None
            found = texts[name][row]
            if wanted is None and (found == "" or isinstance(found, float)):
                continue
            if found != wanted:
                yield "row %d: %s is %r, not %r" % (row, name, found, wanted)
            elif (whole and name not in TEXTS
                  and not same_number(wanted, float(typed[name][row]))):
                yield "row %d: %s is the number %r, not %s" % (
                    row, name, typed[name][row], wanted)


def main(paths):
    bad = False
    for path in paths:
        for line in differences(path):
            print("%s: %s" % (path, line))
            bad = True
    print("%d logs read" % len(paths))
    return int(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
