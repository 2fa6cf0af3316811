# SPDX-License-Identifier: BSD-3-Clause
"""Summarise the round-off logs that libapsmpi writes.

Reads one or several logs, prints a table by layer, step, epoch or format, and
on request writes the table as CSV and draws figures. The table needs nothing
but Python's standard library; a figure needs matplotlib. With --bench the same
for the figures of tests/bench/allreduce.

    command         the arguments, and what each leads to
    figures         bench_figures   drawn by matplotlib; others build on figures
    candidate_figures
    page            page_frame      as HTML, drawn by us
    page_candidates                 what was only measured, and what follows from it
    page_formats                    what was chosen while the program ran
    page_figures    page_parts      figures, tables
    page_maps       layers by something, as colours
    follow          the table while a log grows
    tables          bench_tables    as text and as CSV
    candidate_tables                of what was only measured
    format_changes                  of what was chosen while the program ran
    table_layout                    columns and lines of texts
    svg             grid            how the page draws; layers by steps
    reading         bench           exponents       what is read
    trials          what events say
    cells           what figures need
    line_store      lines of a table by steps, packed
    statistics      what a line of the table is computed from
    text            notes, and numbers as text

A module imports only from its own line and the lines below. The package apsmpi_log
lies below all of them: it reads the log's lines; so does apsmpi_suggest, whose policy
the page shows.
"""
