#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Trains the miniatures of the papers' tables: papers.py FOLDER [TASK...]

trains each task of rows.py (default: all) on RANKS ranks by train.py, or on 256 that
play.py plays, under each of its rows with SEEDS seeds. Writes

  FOLDER/TASK.csv        a line for each row, seed and epoch: loss, scores, and the bytes
                         that rank 0 sent in the job, as a share of FP32's
  FOLDER/TASK-table.csv  a line a row: the mean score, and the mean of the differences
                         from the first row with the same seed, with its 95 % interval
                         (Student's t); also printed
  FOLDER/TASK.svg        a picture of these intervals
  FOLDER/TASK-curves.svg loss and score of some rows by epoch
  FOLDER/scales-TASK.png and scales-TASK-lost.png    scale exponents of layers over the
                         steps, and what formats lose over the scale
  FOLDER/groups-error.csv errors of single sums by group size (play.py)

and checks the claims of claims.py: exit status 1 if one fails. Rows that TASK.csv has
already are not trained again, so that a run continues where the last one has ended.
"""
import csv
import json
import os
import re
import subprocess
import sys
import time

FIGURES = os.path.join(os.environ["top_srcdir"], "tests/figures")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FIGURES)

from claims import CLAIMS
from fashion import python_with_torch
from intervals import draw, draw_curves, table_of
from output import write_csv
from replay import fail, launch, library
from rows import CURVES, PRODUCTS, PROGRAM, RULES

RANKS, SEEDS, LIMIT = 4, 5, 3600     # seconds of a row
SCALES = ("residual", "lstm", "transformer")
PLAYED = ["--batch", "1280", "--epochs", "12"]
SCRIPT = os.path.join(HERE, "train.py")


class Study:
    """One task: its program, its layers, and the lines of its CSV."""

    def __init__(self, folder, task, python, seeds, options=()):
        self.folder, self.task, self.python = folder, task, python
        self.program = [python, SCRIPT, PROGRAM.get(task, task), *options]
        self.seeds, self.options = seeds, options
        self.path = os.path.join(folder, task + ".csv")
        self.layers = os.path.join(folder, task + "-layers.csv")
        self.lines = []
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.lines = list(csv.DictReader(file))

    def prepare(self):
        """Makes the table of layers from the initial weights; sets self.steps."""
        weights = os.path.join(self.folder, self.task + ".npz")
        self.steps = int(subprocess.run(
            [*self.program, "--save", weights],
            check=True, stdout=subprocess.PIPE, text=True).stdout)
        with open(self.layers, "w", encoding="utf-8") as file:
            subprocess.run([sys.executable, os.path.join(
                os.environ["top_srcdir"], "scripts/apsmpi-layers"), weights],
                stdout=file, check=True)
        os.remove(weights)

    def policy(self, row, more=""):
        """Writes a row's policy, with more lines at the top."""
        products = PRODUCTS.get(self.task, {}).get(row, "")
        path = os.path.join(self.folder, self.task + ".yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("version: 1\nmin_count: 1\ntable: %s\nsteps: {per_epoch: %d}\n"
                       % (self.layers, self.steps))
            file.write(more)
            if products:
                file.write("gemm: %s\n" % self.numbered(products))
            file.write("rules:\n")
            for rule in RULES[self.task][row]:
                file.write("  - {%s}\n" % rule)
        return path

    def numbered(self, gemm):
        """A section `gemm` with the numbers of this model and this training."""
        if "OUTPUT" in gemm:
            with open(self.layers, encoding="utf-8") as file:
                gemm = gemm.replace("OUTPUT", next(
                    line["count"] for line in csv.DictReader(
                        text for text in file if not text.startswith("#"))
                    if line["name"] == "output.bias"))
        if "LAST_EPOCH" in gemm:
            gemm = gemm.replace("LAST_EPOCH", self.last_epochs())
        return gemm

    def last_epochs(self):
        """The numbers of the products in the last epoch of each seed. One process trains
        all seeds, and counts on; a training of one seed tells how many they are."""
        stem = os.path.join(self.folder, self.task + "-products")
        with open(stem + ".yaml", "w", encoding="utf-8") as file:
            file.write("version: 1\ngemm: {format: fp32}\n")
        launch(self.program, [library("libapsgemm.so")],
               {"APSMPI_POLICY": stem + ".yaml", "APSMPI_SUMMARY": "on"},
               stem + ".out", RANKS, LIMIT)
        with open(stem + ".out", encoding="utf-8") as file:
            epochs = len(list(csv.DictReader(file)))
        with open(stem + ".out.err", encoding="utf-8") as file:
            found = re.search(r"(\d+) products of matrices", file.read())
        count = int(found[1]) if found else 0
        if count == 0 or count % epochs:
            fail("%s: %d products of matrices in %d epochs" % (self.task, count, epochs))
        for left in (".yaml", ".out", ".out.err"):
            os.remove(stem + left)
        return ", ".join("%d-%d" % (end - count // epochs, end - 1) for end in
                         (count * (i + 1) for i in range(len(self.seeds))))

    def missing(self):
        done = {}
        for line in self.lines:
            done.setdefault(line["row"], set()).add(int(line["seed"]))
        for row, seeds in done.items():
            if seeds != set(self.seeds):
                fail("%s: the row '%s' has other seeds: remove its lines"
                     % (self.path, row))
        return [row for row in RULES[self.task] if row not in done]

    def train(self, row):
        """Runs all seeds of a row, and appends its lines."""
        stem = os.path.join(self.folder, self.task)
        summary = stem + ".json"
        variables, preloads = {}, []
        if os.path.exists(summary):
            os.remove(summary)      # a run appends to it
        if RULES[self.task][row]:
            variables = {"APSMPI_POLICY": self.policy(row),
                         "APSMPI_SUMMARY": "json:" + summary}
            preloads = [library("libapsmpi.so"), library("libapsgemm.so")]
        launch([*self.program, "--seeds", ",".join(map(str, self.seeds))],
               preloads, variables, stem + ".out", RANKS, LIMIT)
        share = sent_share(summary) if preloads else 1
        if share == 1 and RULES[self.task][row] not in (None, ["format: fp32"]):
            fail("%s: '%s': no sum was rewritten" % (self.task, row))
        with open(stem + ".out", encoding="utf-8") as file:
            self.append([{"row": row, **line, "bytes": "%.4f" % share}
                         for line in csv.DictReader(file)])

    def append(self, new):
        if self.lines and list(self.lines[0]) != list(new[0]):
            fail("%s has other columns: remove it" % self.path)
        with open(self.path, "a", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(new[0]), lineterminator="\n")
            if not self.lines:
                writer.writeheader()
            writer.writerows(new)
        self.lines += new


class Played(Study):
    """Group sizes: play.py plays 256 ranks, each seed in a process of its own."""
    ERRORS = ("residual", "transformer")

    def play(self, *arguments):
        return subprocess.Popen(
            [self.python, os.path.join(HERE, "play.py"), *arguments, *self.options],
            stdout=subprocess.PIPE, text=True, env={
                **os.environ, "LIBAPS": library("libaps.so"), "PYTHONPATH":
                os.path.join(os.environ["top_srcdir"], "scripts") + ":"
                + os.environ["PYTHONPATH"]})

    def prepare(self):
        """Writes the errors, if there is no file of them."""
        path = os.path.join(self.folder, self.task + "-error.csv")
        if not os.path.exists(path):
            write_csv(path, list(read_all(
                [self.play(name) for name in self.ERRORS])))

    def train(self, row):
        rule = ", ".join(RULES[self.task][row] or [])
        runs = [self.play("lars", "--rule", rule, "--seeds", str(seed),
                          *PLAYED) for seed in self.seeds]
        self.append([{"row": row, **line} for line in read_all(runs)])


def read_all(processes):
    """Yields the lines of the CSVs that processes print."""
    for process in processes:
        text = process.communicate()[0]
        if process.returncode:
            for other in processes:
                other.kill()
            fail("%s has failed" % " ".join(process.args))
        yield from csv.DictReader(text.splitlines())


def draw_scales(folder, python):
    """Which scale: the exponents and the scales of gradients in one training a task."""
    for task in SCALES:
        study = Study(folder, task, python, [1])
        study.prepare()
        stem = os.path.join(folder, "scales-" + task)
        for left in (stem + ".csv", stem + "-exponents.csv"):
            if os.path.exists(left):
                os.remove(left)     # a run appends to both
        policy = study.policy("e4m3, APS", "log: {file: %s.csv, every: 10}\n" % stem)
        launch([*study.program, "--seeds", "1"], [library("libapsmpi.so")],
               {"APSMPI_POLICY": policy}, stem + ".out", RANKS)
        subprocess.run([sys.executable, os.path.join(
            os.environ["top_srcdir"], "scripts/apsmpi-report"), "--plot-lost",
            stem + "-lost.png", "--plot-scales", stem + ".png", stem + ".csv"],
            check=True, stdout=subprocess.DEVNULL)


def sent_share(path):
    """Returns the bytes that rank 0 sent as a share of FP32's, from a summary."""
    with open(path, encoding="utf-8") as file:
        call = json.load(file)["calls"][0]
    rewritten = call["rewritten_bytes"] / call["eligible_bytes"]
    return 1 - rewritten + rewritten * call["wire_bytes"] / max(1, call["fp32_bytes"])


def run(study):
    """Trains the missing rows, and shows how long the others will take."""
    study.prepare()
    rows, begin = study.missing(), time.monotonic()
    for done, row in enumerate(rows):
        left = (time.monotonic() - begin) / done * (len(rows) - done) if done else 0
        print("%s: %s, row %d of %d%s" % (
            study.task, row, done + 1, len(rows),
            ", %d min left" % round(left / 60) if done else ""), flush=True)
        study.train(row)


def write_results(folder, task, lines):
    """Writes table and picture, and prints them. True if all claims hold."""
    table = table_of(lines, RULES[task])
    shown = [{name: "%.5f" % value if isinstance(value, float) else value
              for name, value in line.items()} for line in table]
    write_csv(os.path.join(folder, task + "-table.csv"), shown)
    with open(os.path.join(folder, task + ".svg"), "w", encoding="utf-8") as file:
        file.write(draw(task, table))
    path = os.path.join(folder, task + "-curves.svg")
    with open(path, "w", encoding="utf-8") as file:
        file.write(draw_curves(task, lines, CURVES[task]))
    columns = list(table[0])
    for line in [dict(zip(columns, columns)), *shown]:
        print("%-36s" % line["row"] + "".join(
            " %10s" % line[name] for name in columns[1:]))
    good = True
    for text, holds in CLAIMS[task](lines) if task in CLAIMS else []:
        print("%s %s" % ("holds:" if holds else "FAILS:", text))
        good &= holds
    return good


def main():
    if len(sys.argv) < 2:
        fail("usage: papers.py FOLDER [TASK...]")
    folder, *tasks = sys.argv[1:]
    for task in tasks:
        if task not in (*RULES, "scales"):
            fail("'%s' is not a task: %s, scales" % (task, ", ".join(RULES)))
    # Ranks that wait leave their cores to the others, natively too.
    os.environ["APS_TEST_YIELD"] = library("tests/tap/yield.so")
    python = python_with_torch()
    good = True
    for task in tasks or (*RULES, "scales"):
        if task == "scales":
            draw_scales(folder, python)
            continue
        kind = Played if task == "groups" else Study
        study = kind(folder, task, python, range(1, 1 + SEEDS))
        run(study)
        good &= write_results(folder, task, study.lines)
    sys.exit(not good)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        fail(str(error))
