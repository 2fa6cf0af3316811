# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of exponents, which a run with candidates writes next to its log: the
number of a layer's values in each binade."""

import collections
import csv
import os

from apsmpi_log.text import plural

from .text import note

COLUMNS = ("run", "comm", "layer", "name", "count", "zeros", "infinite", "nan",
           "binades")


def exponents_path(path):
    """Returns the path of the histograms of a log."""
    stem, ending = os.path.splitext(path)
    return stem + "-exponents" + ending


class Histogram:
    """The histogram of one layer, over its samples."""

    def __init__(self):
        self.name = ""
        self.samples = self.values = self.zeros = self.infinite = self.nan = 0
        self.binades = collections.Counter()    # floor(log2 |x|): number of values

    def add(self, sample):
        """sample: a result of parse()."""
        self.name, count, zeros, infinite, nan, binades = sample
        self.samples += 1
        self.values += count
        self.zeros += zeros
        self.infinite += infinite
        self.nan += nan
        self.binades.update(binades)

    def quantile(self, part):
        """Returns the least binade up to which there is this part of the numbers other
        than 0."""
        left = part * sum(self.binades.values())
        for exponent in sorted(self.binades):
            left -= self.binades[exponent]
            if left <= 0:
                return exponent
        return None


def parse(row):
    """Returns (name, count, zeros, infinite, nan, binades) of a line. Raises
    ValueError."""
    binades = {}
    for item in row["binades"].split():
        exponent, number = map(int, item.split(":"))
        if number < 1 or not -1074 <= exponent <= 1023:     # those of a double
            raise ValueError(item)
        binades[exponent] = number
    counts = [int(row[name]) for name in ("count", "zeros", "infinite", "nan")]
    if min(counts) < 0:
        raise ValueError(counts)
    return (row["name"], *counts, binades)


def read_exponents(log):
    """Returns {(comm, layer, count, ""): Histogram} for the runs in the log."""
    path, found, bad = exponents_path(log.path), {}, 0
    try:
        with open(path, newline="", encoding="utf-8", errors="replace") as file:
            reader = csv.DictReader(line for line in file if not line.startswith("#"))
            if not set(COLUMNS) <= set(reader.fieldnames or ()):
                note("%s: no histograms of exponents" % path)
                return {}
            for row in reader:
                try:
                    layer = int(row["layer"])
                    if row["run"] not in log.runs or not wanted(log, row, layer):
                        continue
                    sample = parse(row)
                    key = (row["comm"], layer, sample[1], "")
                    found.setdefault(key, Histogram()).add(sample)
                except (ValueError, AttributeError, TypeError):
                    bad += 1
    except FileNotFoundError:
        return {}
    except (OSError, csv.Error) as error:
        note("%s: %s" % (path, getattr(error, "strerror", None) or error))
        return {}
    if bad:
        note("%s: %s skipped" % (path, plural(bad, "malformed line")))
    return found


def wanted(log, row, layer):
    options = log.options
    return ((options.comm is None or row["comm"] == options.comm)
            and (not options.layers or options.layers(layer, row["name"])))
