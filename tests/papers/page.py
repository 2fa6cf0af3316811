#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints apsmpi-results(7) from the results of papers.py: page.py FOLDER"""
import csv
import os
import sys

from claims import CLAIMS
from intervals import decimals, table_of
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
Four ranks share a machine with two cores, with Debian 12's Python 3.11, PyTorch 1.13 and
MPICH 4.0.2.
.Pp
A row is a policy for all gradients, and its name is short for it:
.Sq e4m3, APS
is
.Ql {format: e4m3, scale: aps} ,
and other words after a format are other scales, see
.Xr apsmpi-policy 5 .
.Pa tests/papers/rows.py
has the policies.
Each is trained with five seeds, from which the first weights and the order of the
examples follow.
.Sq Difference
is the mean over the seeds of the score minus that of FP32, which MPI adds, with the
same seed, and, in brackets, half of its 95 % interval (Student's t).
All differences of a table share their FP32 trainings: where these were lucky, all
policies seem worse.
.Sq Bytes
are those that rank 0 sends, in percent of FP32, with those of sums that a scale repeats
after an overflow.
.Pp
.Ql make -C build check-papers
trains all tables, and with
.Ql PAPER=lars
one of them.
It writes tables and pictures to
.Pa build/papers ,
and checks the claims below each table:
.Sq better
means better with every seed, and that the interval excludes 0;
.Sq at most N worse ,
that the worse end of the interval is less than N below.
The numbers N were chosen after the trainings.
The scores of each seed and epoch are in
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
In this network 8 bits train without a scale, too, unlike ResNet-50 in the APS paper's
Table 6.
The losses of
.Sq fixed 2^10
are NaN.
Papers: APS, Tables 4, 6 and 7; gradient scaling, Table 1; GC-HBFP, Tables I to III.'''),
    "lars": ("Large batches", '''\
The same network learns the same images by LARS, in 20 epochs of four steps.
Five seeds do not show for e4m3 and e3m0 that they lose at most 3.
Papers: APS, Table 5 and Fig. 9.'''),
    "scenes": ("Dense prediction", '''\
An encoder and a decoder give a class to each pixel of 640 scenes, in 12 epochs of 20
steps.
A scene has four clothes of Fashion-MNIST at random places.
Seeds matter more than formats: with FP32 the five score from 18.1 to 28.8.
The scores are the mean of intersection over union, and the mean accuracy of the
classes, on 400 other scenes, in percent.
Five seeds do not show for e3m2 and e3m0 that they lose at most 1.
Papers: APS, Table 3, Figs. 7 and 8; gradient scaling, Table 3.'''),
    "lstm": ("LSTM", '''\
An LSTM of 96 units predicts the next character of the texts of Python's help
(pydoc_data.topics, PSF licence), in 6 epochs of 50 steps by SGD with clipped gradients.
The score is the cross entropy on other text, in bits a character: less is better.
Paper: GC-HBFP, Table IV.'''),
    "hbfp": ("LSTM with products in block floating point", '''\
The same training, where
.Pa libapsgemm.so
computes all products of matrices in block floating point, with this number of bits and
values a block.
.Sq 6/64 last
has six bits in the last layer and the last epoch, as in
Accuracy Boosters (arXiv 2211.10737).
Eight bits cost little.
With fewer, rounding to nearest makes the small values of each block zero, which costs
this network more than those of the papers; four bits with stochastic rounding are
better than six without.
Paper: GC-HBFP, which compresses gradients of such products.'''),
    "transformer": ("Transformer", '''\
A transformer of two layers predicts the same characters, with Adam.
Papers: unit scaling, Fig. 4; APS on BERT.'''),
    "groups": ("Accuracy by group size", '''\
The task is that of large batches, with 12 epochs of five steps, on the ranks of the
next section.
Differences are from FP64, whose sums are exact.
All intervals contain 0: this task does not distinguish the group sizes.
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
is the error in the Euclidean norm, as a share of the sum's, and
.Sq mean
the mean relative error over all elements, Eq. 5 of the APS paper, which depends on the
sums that are almost 0.
If the terms of the ranks are independent, the expected error is least in groups of 16,
the square root of the ranks: a partial sum of n terms grows as the root of n, and each
addition rounds in proportion to it.
If all terms are equal, it is least in groups of 32, (256^2 / 2)^(1/3); see
.Pa tests/sim/roundoff.c .
Gradients lie between the two.
A line is one sum, so that neighbours may change places with other data.
Paper: APS, Table 9.
'''

SCALES = '''\
.Ss Which scale
Each task is trained once in e4m3 with
.Ql scale: aps ,
and every tenth step is logged.
The first picture shows which part of rank 0's gradient values each format would make 0
or INF if all layers and steps had the scale on the axis, and the second the scales that
APS gives to each layer.
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
            row += [decimals(line[name], name), "" if line is table[0] else
                    "%s (%s)" % (decimals(line[name + " difference"], name, "+"),
                                 decimals(line[name + " +-"], name))]
        yield row + (["%.0f" % line["bytes %"]] if share else [])


def errors_tables(path):
    """Yields (task, table): a line for each reduction, in e5m2."""
    with open(path, encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    errors = {(l["task"], l["reduction"], l["weights"]): ["%.4f" % float(l["l2"]),
                                                         "%.3f" % float(l["eq5"])]
              for l in lines}
    for task in dict.fromkeys(line["task"] for line in lines):
        yield task, [["reduction", "norm before", "mean before", "norm after",
                     "mean after"]] + [
            [reduction, *errors[task, reduction, "initial"],
             *errors[task, reduction, "trained"]]
            for reduction in dict.fromkeys(line["reduction"] for line in lines)]


def page(folder):
    yield HEAD.rstrip("\n")
    for task, (title, text) in SECTIONS.items():
        path = os.path.join(folder, task + ".csv")
        with open(path, encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        yield ".Ss %s (%s)" % (title, task)
        yield text
        yield from column_list(list(scores_table(table_of(lines, RULES[task]))))
        yield ".Pp"
        yield "Pictures of the differences, and of some rows by epoch:"
        yield ".Pa tests/papers/results/%s.svg ," % task
        yield ".Pa tests/papers/results/%s-curves.svg ." % task
        claims = list(CLAIMS[task](lines)) if task in CLAIMS else []
        if claims:
            yield "These claims hold:"
            yield ".Bl -bullet -compact"
            for text, holds in claims:
                if not holds:
                    sys.exit("page.py: %s: this claim fails: %s" % (task, text))
                yield ".It"
                yield text
            yield ".El"
    yield ERRORS.rstrip("\n")
    for task, table in errors_tables(os.path.join(folder, "groups-error.csv")):
        yield ".Pp"
        yield "%s:" % SECTIONS[task][0]
        yield from column_list(table)
    yield SCALES.rstrip("\n")
    yield ".Sh SEE ALSO"
    yield ".Xr apsmpi-policy 5 ,\n.Xr apsmpi 7 ,\n.Xr apsmpi-python 7"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: page.py FOLDER")
    try:
        print("\n".join(page(sys.argv[1])))
    except OSError as error:
        sys.exit("page.py: %s" % error)
