# SPDX-License-Identifier: BSD-3-Clause
"""How apsmpi-suggest speaks: notes, and numbers as text."""

import math

from apsmpi_log.command import notes_of

NAME = "apsmpi suggest"

note = notes_of(NAME)


def show_db(value):
    return "%.1f dB" % value if abs(value) != float("inf") else (
        "no error" if value > 0 else "-inf dB")


def show_percent(part, digits=1):
    return "%.*f %%" % (digits, 100 * part)


def show_seconds(seconds):
    if seconds != seconds:
        return "an unknown time"
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return "%.3g %s" % (seconds * factor, unit)
    return "%.3g us" % (seconds * 1e6)


def percent_above(part, digits=1):
    """A percentage of few digits, as a number, that is not below the part."""
    unit = 10 ** digits
    number = math.floor(part * 100 * unit)
    while number / unit / 100 < part:
        number += 1
    return number / unit


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
