# SPDX-License-Identifier: BSD-3-Clause
"""Notes, exit statuses and standard output of the commands."""

import os
import sys

from .text import UserError, printable


def notes_of(name):
    """Returns a function that prints a text for the user, after the command's name."""
    def note(text):
        print("%s: %s" % (name, "\n".join(map(printable, text.split("\n")))),
              file=sys.stderr)
    return note


def status_of(work, note):
    """Returns the result of the work, or 2 after a UserError, which is printed."""
    try:
        return work()
    except UserError as error:
        note(str(error))
        return 2


def print_safely(work):
    """Does work that prints, and returns 0. A reader that closes the pipe early (head)
    is not an error; a full disk raises UserError."""
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
