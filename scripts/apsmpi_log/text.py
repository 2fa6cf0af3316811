# SPDX-License-Identifier: BSD-3-Clause
"""Errors for the user, and texts that a terminal can show."""

NAN = float("nan")
INF = float("inf")


class UserError(Exception):
    """Ends the command, with a text for the user."""


def printable(text):
    """Replaces characters that a terminal would take for a command."""
    return "".join(c if c.isprintable() else "?" for c in text)


def shorten(text, width):
    """Returns at most `width` characters of a text, which loses its middle."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return text[:width - 1 - tail] + "~" + text[len(text) - tail:]


def plural(number, word):
    return "%d %s%s" % (number, word, "" if number == 1 else "s")
