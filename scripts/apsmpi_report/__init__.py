# SPDX-License-Identifier: BSD-3-Clause
"""Summarise the round-off logs that libapsmpi writes.

Reads one or several logs, prints a table by layer, step, epoch or format, and
on request writes the table as CSV, draws figures, and writes a page. The tables need
nothing but Python's standard library; a figure needs matplotlib. --bench shows the
results of apsmpi-bench in the same way.

    command         arguments, and the work of the command
    page            page_frame      the page; its head
    page_candidates                 candidates, and a policy that follows from them
    page_exponents                  the exponents of the values
    page_formats                    formats that were chosen while the program ran
    page_parts                      elements, tables and figures of the page
    log_figures     line_figures    bench_figures   drawn by matplotlib
    candidate_figures               exponent_figures    format_figures
    figures         grid            what figures share; layers by steps
    follow          the table while a log grows
    tables          bench_tables    as text and as CSV
    candidate_tables                of candidates
    format_changes                  of formats that were chosen while the program ran
    table_layout                    columns and lines of texts
    reading         bench           exponents       snr     readers of files
    trials          trials of `reduce: auto` in events
    cells           numbers of each row, for figures
    line_store      lines of a table by steps, packed
    statistics      sums over rows, for a line of the table
    text            notes, and numbers as text

A module imports only from its own line and the lines below. The package apsmpi_log
lies below all of them: it reads the log's lines. apsmpi_suggest makes the policy of
a page.
"""
