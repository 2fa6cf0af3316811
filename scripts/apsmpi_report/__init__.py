# SPDX-License-Identifier: BSD-3-Clause
"""Summarise the round-off logs that libapsmpi writes.

Reads one or several logs, prints a table by layer, step, epoch or format, and
on request writes the table as CSV and draws figures. The table needs nothing
but Python's standard library; a figure needs matplotlib. With --bench the same
for the figures of tests/bench/allreduce.

    command         the arguments, and what each leads to
    figures         bench_figures   drawn by matplotlib
    tables          bench_tables    as text and as CSV
    reading         bench           what is read
    columns         runs            from lines to values, and to runs of jobs
    cells           statistics      what figures, and lines of the table, are of
    library         the library's version
    text            errors, notes, and numbers as text

A module imports only from its own line and the lines below.
"""
