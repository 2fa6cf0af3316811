#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints apsmpi-results(7) from the results of papers.py: page.py FOLDER

FOLDER has TASK.csv for the tasks of rows.py, and groups-error.csv.
"""
import csv
import os
import sys

from claims import CLAIMS
from intervals import table_of
from rows import RULES

HEAD = r'''.\" SPDX-License-Identifier: BSD-3-Clause
.\" Made by tests/papers/page.py.
.Dd November 29, 2026
.Dt APSMPI-RESULTS 7
.Os apsmpi
.Sh NAME
.Nm apsmpi-results
.Nd networks trained under policies
.Sh DESCRIPTION
This page shows in miniature the tables of the papers that
.Xr apsmpi 7
implements.
Small networks learn real data in programs that know nothing of the library.
The programs use PyTorch and mpi4py, and sum each gradient by one
.Fn MPI_Allreduce
of floats.
Four ranks share a machine with two cores.
.Pp
A row is a policy for all gradients.
It is trained with five seeds, from which the first weights and the order of the
examples follow.
.Sq Difference
is the mean of the differences from FP32, which MPI adds, with the same seed; after it
stands half of its 95 % interval, by Student's t.
With 40 rows, two intervals exclude 0 by chance.
.Sq Bytes
are those that rank 0 sends, in percent of FP32.
.Pp
.Ql make -C build check-papers
trains all tables, and with
.Ql PAPER=lars
one of them.
It draws a picture of each, and checks what the section says below its table.
The sources have the scores of each seed and epoch, in
.Pa tests/papers/results .
.Pp
The papers are:
.Bl -tag -width Ds
.It APS
Auto-Precision Scaling for Distributed Deep Learning (arXiv 1911.08907)
.It Gradient scaling
Reducing Underflow in Mixed Precision Training by Gradient Scaling (IJCAI 2020)
.It GC-HBFP
Gradient-Compressed HBFP for Distributed Deep Learning Workloads
.It Unit scaling
Unit Scaling: Out-of-the-Box Low-Precision Training (arXiv 2303.11257)
.El
'''

# task: (title, text)
SECTIONS = {
    "residual": ("Residual network", '''\
A residual network of eight layers with batch normalisation learns 6,400 images of
Fashion-MNIST (Debian's dataset-fashion-mnist, MIT licence), averaged to 14 x 14 pixels,
in 8 epochs of 50 steps by SGD with momentum.
The score is the accuracy on 4,000 other images, in percent.
Papers: APS, Tables 4, 6 and 7; gradient scaling, Table 1; GC-HBFP, Tables I to III.'''),
    "lars": ("Large batches", '''\
The same network learns the same images by LARS, in 20 epochs of four steps.
Papers: APS, Table 5 and Fig. 9.'''),
    "scenes": ("Dense prediction", '''\
An encoder and a decoder give a class to each pixel of 640 scenes, in 12 epochs of 20
steps.
A scene has four clothes of Fashion-MNIST at random places.
The scores are the mean of intersection over union, and the mean accuracy of the
classes, on 400 other scenes, in percent.
Papers: APS, Table 3, Figs. 7 and 8; gradient scaling, Table 3.'''),
    "lstm": ("LSTM", '''\
An LSTM of 96 units predicts the next character of the texts of Python's help
(pydoc_data.topics, PSF licence), in 6 epochs of 50 steps by SGD with clipped gradients.
The score is the cross entropy on other text, in bits a character: less is better.
In rows with HBFP,
.Pa libapsgemm.so
computes all products of matrices in block floating point, with this number of bits and
values a block.
Papers: GC-HBFP, Table IV and its title.'''),
    "transformer": ("Transformer", '''\
A transformer of two layers predicts the same characters, with Adam.
Papers: unit scaling, Fig. 4; APS on BERT.'''),
    "groups": ("Accuracy by group size", '''\
The task is that of large batches, with 12 epochs of five steps, on the ranks of the
next section.
FP64 has exact sums.
Papers: APS, Table 8 and Fig. 11.'''),
}
ERRORS = '''\
.Ss Errors by group size
The errors of one sum of gradients on 256 ranks in e5m2 with
.Ql scale: aps ,
before and after a training of the residual network and of the transformer.
The Python package of
.Xr apsmpi-python 7
plays the ranks, with the arithmetic of the library.
Except in
.Ql direct ,
partial sums are rounded, as in the paper.
.Sq Norm
is the error in the Euclidean norm, and
.Sq mean
the mean relative error over all elements, Eq. 5 of the APS paper, which depends on the
sums that are almost 0.
Terms of the ranks that are independent have the least norm in groups of the square root
of the ranks, 16: their partial sums grow as the root of the number of terms, and each
addition rounds in proportion.
Equal terms have it in groups of (256^2 / 2)^(1/3), 32, which
.Pa tests/sim/roundoff.c
shows; gradients of the first weights have a part in common.
'''

SCALES = '''\
.Ss Which scale
One training of each task in e4m3 with
.Ql scale: aps ,
of which each tenth step is sampled.
The first picture of a task shows what part of rank 0's gradients formats make 0 or INF
if all layers and steps have one scale, and the second the scales that APS gives to each
layer.
.Bl -bullet -compact
.It
residual:
.Pa tests/papers/results/scales-residual-lost.png ,
.Pa tests/papers/results/scales-residual.png
.It
lstm:
.Pa tests/papers/results/scales-lstm-lost.png ,
.Pa tests/papers/results/scales-lstm.png
.It
transformer:
.Pa tests/papers/results/scales-transformer-lost.png ,
.Pa tests/papers/results/scales-transformer.png
.El
Papers: APS, Figs. 1 to 5 and 10; gradient scaling, Figs. 1 to 3; unit scaling, Figs. 1
and 2.
'''


def column_list(rows):
    """A table; its first row has the titles."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    yield ".Bl -column " + " ".join('"%s"' % ("x" * width) for width in widths)
    yield ".It Sy " + " Ta Sy ".join(rows[0])
    for row in rows[1:]:
        yield ".It " + " Ta ".join(row)
    yield ".El"


def scores_table(table):
    """Means, differences and intervals of all scores, and the share of bytes."""
    names = [name for name in table[0] if name + " difference" in table[0]]
    titles = ["policy"]
    for name in names:
        titles += [name, "difference"]
    share = "bytes %" in table[0]
    yield titles + ["bytes"] * share
    for line in table:
        row = [line["row"]]
        for name in names:
            row += ["%.2f" % float(line[name]), "" if line is table[0] else
                    "%+.2f (%.2f)" % (float(line[name + " difference"]),
                                      float(line[name + " +-"]))]
        yield row + ["%.0f" % float(line["bytes %"])] * share


def errors_tables(path):
    """Yields (task, table): a line for each reduction, in e5m2."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["format"] == "e5m2"]
    errors = {(l["task"], l["reduction"], l["weights"]): ["%.4f" % float(l["l2"]),
                                                         "%.3f" % float(l["eq5"])]
              for l in lines}
    for task in dict.fromkeys(line["task"] for line in lines):
        yield task, [["reduction", "norm before", "mean", "norm after", "mean"]] + [
            [reduction, *errors[task, reduction, "initial"],
             *errors[task, reduction, "trained"]]
            for reduction in dict.fromkeys(line["reduction"] for line in lines)]


def page(folder):
    yield HEAD.rstrip("\n")
    for task, (title, text) in SECTIONS.items():
        path = os.path.join(folder, task + ".csv")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        yield ".Ss " + title
        yield text
        yield from column_list(list(scores_table(table_of(lines, RULES[task]))))
        yield ".Pp"
        yield "Pictures of the differences, and of some rows by epoch:"
        yield ".Pa tests/papers/results/%s.svg ," % task
        yield ".Pa tests/papers/results/%s-curves.svg ." % task
        claims = list(CLAIMS[task](lines)) if task in CLAIMS else []
        if claims:
            yield "These differences hold for each seed or by their intervals:"
            yield ".Bl -bullet -compact"
            for text, _ in claims:
                yield ".It"
                yield text
            yield ".El"
    path = os.path.join(folder, "groups-error.csv")
    if os.path.exists(path):
        yield ERRORS.rstrip("\n")
        for task, table in errors_tables(path):
            yield ".Pp"
            yield "%s:" % SECTIONS[task][0]
            yield from column_list(table)
    if os.path.exists(os.path.join(folder, "scales-residual.png")):
        yield SCALES.rstrip("\n")
    yield ".Sh SEE ALSO"
    yield ".Xr apsmpi-policy 5 ,\n.Xr apsmpi 7 ,\n.Xr apsmpi-python 7"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: page.py FOLDER")
    print("\n".join(page(sys.argv[1])))
