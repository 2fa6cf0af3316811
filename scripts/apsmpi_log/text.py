# SPDX-License-Identifier: BSD-3-Clause
"""Errors for the user, and texts that a terminal can show."""

NAN = float("nan")
INF = float("inf")


class UserError(Exception):
    """What ends the command, with the text for the user."""


def printable(text):
    """Without what a terminal would take for a command."""
    return "".join(c if c.isprintable() else "?" for c in text)


def shorten(text, width):
    """At most `width` characters, cut in the middle."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return text[:width - 1 - tail] + "~" + text[len(text) - tail:]


def plural(number, word):
    return "%d %s%s" % (number, word, "" if number == 1 else "s")
