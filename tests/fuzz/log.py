# SPDX-License-Identifier: BSD-3-Clause
"""Reads round-off logs and mutations of them as apsmpi-report and apsmpi-suggest do,
and histograms of exponents:

    log.py SECONDS FILE...

Anything but a UserError is an error of the reader; the input is then written to
log.input in the working directory. Without seconds a file has 200 mutations, the same
in every run; with seconds, others in each run follow."""

import argparse
import csv
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "scripts"))

from apsmpi_log.text import UserError  # noqa: E402
from apsmpi_report import exponents, reading  # noqa: E402
from apsmpi_suggest.samples import Samples  # noqa: E402

MUTATIONS = 200
WORDS = [b",", b"\n", b'"', b"#", b"-", b"nan", b"1e999", b"9" * 20, b"\xff", b"",
         b"# run=a end", b"\r\n", b"\0", b"3", b"\xef\xbb\xbf"]
reading.note = lambda text: None


def mutate(data, chance):
    for _ in range(chance.randint(1, 8)):
        at = chance.randint(0, len(data))
        end = min(len(data), at + chance.choice((0, 1, 1, 8, 80)))
        word = chance.choice(WORDS)
        if chance.random() < .3:
            begin = chance.randint(0, len(data))
            word = data[begin:begin + chance.randint(0, 200)]
        data = data[:at] + word + data[end:]
    return data


def read_exponents(data):
    lines = data.decode("utf-8", "replace").splitlines()
    histogram = exponents.Histogram()
    reader = csv.DictReader(lines)
    while True:
        try:
            histogram.add(exponents.parse(next(reader)))
        except StopIteration:
            break
        except (csv.Error, ValueError, AttributeError, TypeError, KeyError):
            pass
    histogram.quantile(0.5)


def read(data, chance):
    options = argparse.Namespace(
        by=chance.choice(("layer", "step", "epoch", "format")), comm=None,
        last=chance.random() < .3, since=None, layers=None)
    suggest = chance.random() < .5
    log = (Samples("log", chance.choice((None, "last")), None, reading.note) if suggest
           else reading.Log("log", options))
    try:
        while data:
            size = chance.randint(1, len(data))
            log.feed(data[:size])
            data = data[size:]
        log.finish()
        if suggest:
            log.gather({})
        else:
            list(log.summary().items())
    except UserError:
        pass


def main(seconds, paths):
    chance, runs, end = random.Random(1), 0, time.monotonic() + seconds
    files = []
    for path in paths:
        with open(path, "rb") as file:
            files.append(file.read())
    while runs < MUTATIONS * len(files) or time.monotonic() < end:
        if runs == MUTATIONS * len(files):
            chance.seed()
        data = files[runs % len(files)]
        if runs >= len(files):
            data = mutate(data, chance)
        try:
            if b"binades" in data[:100]:
                read_exponents(data)
            else:
                read(data, chance)
        except BaseException:
            with open("log.input", "wb") as file:
                file.write(data)
            print("log.input has the input", file=sys.stderr)
            raise
        runs += 1
    print("%d inputs" % runs)


main(float(sys.argv[1]), sys.argv[2:])
