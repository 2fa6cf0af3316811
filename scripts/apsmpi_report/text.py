# SPDX-License-Identifier: BSD-3-Clause
"""Notes, and numbers as text."""

import datetime
import math

from apsmpi_log.command import notes_of
from apsmpi_log.text import plural

WIDTH = 120           # columns of a table
NOTES_MAX = 20        # events listed per log
RUNS_MAX = 5          # runs described per log, the last ones


note = notes_of("apsmpi-report")


def show_error(value):
    return "-" if math.isnan(value) else "%.2e" % value


def show_fixed(value, digits):
    return "-" if math.isnan(value) else "%.*f" % (digits, value)


def show_elements(count, _=None):
    for unit, size in ((" Mi", 1 << 20), (" Ki", 1 << 10)):
        if count >= size:
            return "%.3g%s" % (count / size, unit)
    return "%.3g" % count


def show_count(call, count):
    """Names rows without a layer by their size, and by their call if it is not an
    all-reduce."""
    return ("%s %s" % (call, plural(count, "element"))).strip()


def show_usec(value, _=None):
    for unit, size in ((" s", 1e6), (" ms", 1e3)):
        if value >= size:
            return "%.3g%s" % (value / size, unit)
    return "%.3g us" % value


def show_bytes(value, _=None):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return "%.3g %s" % (value / size, unit)
    return "%.3g B" % value


def show_time(seconds):
    try:
        when = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    except (OverflowError, ValueError, OSError):
        return "%g s" % seconds
    return when.strftime("%Y-%m-%d %H:%M:%S")
