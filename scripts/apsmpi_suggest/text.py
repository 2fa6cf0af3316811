# SPDX-License-Identifier: BSD-3-Clause
"""How apsmpi-suggest speaks: notes, and numbers as text."""

import sys

from apsmpi_log.text import printable

NAME = "apsmpi suggest"


def note(text):
    print("%s: %s" % (NAME, printable(text)), file=sys.stderr)


def show_db(value):
    return "%.1f dB" % value if abs(value) != float("inf") else (
        "no error" if value > 0 else "-inf dB")


def show_percent(part):
    return "%.1f %%" % (100 * part)


def show_ranges(numbers):
    """[0, 1, 2, 5] as 0-2, 5."""
    ranges = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join("%d" % low if low == high else "%d-%d" % (low, high)
                     for low, high in ranges)
