# SPDX-License-Identifier: BSD-3-Clause
"""Writes a policy from a log of candidates, as a shadow run leaves one.

    command         the arguments, and what each leads to
    policy          the policy as text, with comments
    choosing        which candidate each layer gets; rules for neighbours
    budget          the choice under a budget of bytes
    times           how long candidates take, as `apsmpi explain` predicts
    layers          how runs told their layers apart: logs and options agree
    samples         the candidates' rows: what each costs each layer, by epochs
    candidates      what a candidate is, in the words of a policy
    targets         what the user asks for
    text            notes, and numbers as text

A module imports only from the lines below. The package apsmpi_log, which reads
logs, lies below all of them.
"""
