# SPDX-License-Identifier: BSD-3-Clause
"""How the commands speak, and how they end."""

import os
import sys

from .text import UserError, printable


def notes_of(name):
    """The function that says a text for the user, after the name of the command."""
    def note(text):
        print("%s: %s" % (name, "\n".join(map(printable, text.split("\n")))),
              file=sys.stderr)
    return note


def status_of(work, note):
    """What the work returns; 2 after a UserError, which is said."""
    try:
        return work()
    except UserError as error:
        note(str(error))
        return 2


def print_safely(work):
    """The work prints: a reader who leaves early (head) is no error, and a full disk
    is one. 0, or UserError."""
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        work()
        sys.stdout.flush()
    except OSError as error:
        # Python flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise UserError("standard output: %s" % error.strerror) from None
    return 0
