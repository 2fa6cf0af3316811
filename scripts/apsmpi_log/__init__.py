# SPDX-License-Identifier: BSD-3-Clause
"""Reads the round-off logs that libapsmpi writes: what the commands that read
logs share.

    lines           from bytes to rows, many at a time, and events
    columns         runs        rows as lists of values; which run they are of
    candidates      names of what is sent, and of what a run has only measured
    library         the library's version
    outputs         no file that a command reads may be written
    text            errors, and what a terminal can show

A module imports only from its own line and the lines below.
"""
