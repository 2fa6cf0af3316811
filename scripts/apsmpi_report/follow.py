# SPDX-License-Identifier: BSD-3-Clause
"""The table of a log while a job writes it. On a terminal the table is drawn in
place; otherwise it is printed again after each change."""

import os
import shutil
import signal
import stat
import sys
import time

from apsmpi_log.lines import BLOCK
from apsmpi_log.text import UserError, plural, printable, shorten

from .reading import Log
from .candidate_tables import candidate_lines
from .format_changes import HEADING, change_lines, changes_of, other_events
from .tables import CANDIDATES, describe_rows, print_report, table_lines
from .text import show_time

PAUSE = 0.5             # seconds between two reads of the file
EVENTS_SHOWN = 3
HOME, CLEAR, REST, LINE = "\x1b[H", "\x1b[2J", "\x1b[J", "\x1b[K"
BEGIN = "\x1b[?25l\x1b[?7l"     # no cursor, and long lines are cut
END = "\x1b[?7h\x1b[?25h\r\n"
NEWEST_LAST = ("step", "epoch")


class Tail:
    """A log that grows: the file may come later, and another may take its place."""

    def __init__(self, path, options, say):
        self.path = path
        self.options = options
        self.say = say
        self.file = None
        self.place = None       # device and inode of the open file
        self.before = None      # runs that had ended at the first read
        self.start()

    def start(self):
        self.log = Log(self.path, self.options)
        self.log.say = self.say
        self.read = 0

    def close(self):
        if self.file:
            self.file.close()
        self.file = None

    def poll(self):
        """Read what is new; is there anything?"""
        new = self.look()
        if self.before is None:
            self.before = dict(self.log.ended)
        return new

    def look(self):
        try:
            status = os.stat(self.path)
            if not stat.S_ISREG(status.st_mode):
                raise UserError("%s: --follow needs a regular file" % self.path)
            place = (status.st_dev, status.st_ino)
            if self.file and (place != self.place or status.st_size < self.read):
                self.say("%s: another file has taken its place, or it was cut; "
                         "read from its beginning" % self.path)
                self.close()
                self.start()
            if not self.file:
                self.file = open(self.path, "rb")
                self.place = place
            return self.read_new()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise UserError("%s: %s" % (self.path, error.strerror)) from None

    def has_ended(self):
        """True if the latest run has ended, and had not ended when this command began.
        Its job writes little after that event."""
        last = next(reversed(self.log.begun), None)
        return last in self.log.ended and last not in (self.before or ())

    def read_new(self):
        before = self.read
        while True:
            data = self.file.read(BLOCK)
            if not data:
                return self.read > before
            self.read += len(data)
            self.log.feed(data)


def head_lines(tail):
    log = tail.log
    if not tail.file:
        return ["%s: does not exist yet" % tail.path]
    if not log.filled:
        return ["%s: %s" % (tail.path, log.why_empty() if log.header
                            else "no header yet")]
    lines = ["%s, last at %s UTC" % (describe_rows(log), show_time(log.last))]
    runs = [run for run in log.runs if run]
    if runs:
        several = "" if len(runs) == 1 else " (last of %d in the table)" % len(runs)
        lines.append("run %s%s %s" % (runs[-1], several,
                                      log.begun.get(runs[-1], "")))
    return lines


def foot_lines(tail, notes):
    log, lines = tail.log, []
    if log.malformed:
        lines.append("%s skipped" % plural(log.malformed, "malformed line"))
    events = other_events(log)
    if events:
        lines.append("%s, the last:" % plural(sum(events.values()), "event"))
        lines += ["  %d x %s" % (events[text], text)
                  for text in list(events)[-EVENTS_SHOWN:]]
    last = next(reversed(log.begun), None)
    if tail.has_ended():
        return lines + notes[-1:] + ["the run has ended"]
    return lines + notes[-1:] + [
        "the last run has ended; Ctrl-C ends, or the next run's end"
        if last in log.ended else "Ctrl-C ends"]


def choose_lines(lines, room, newest, heading=2, total=2):
    """The table with as many lines as there is room for, and how many are left
    out: at its head or, if the newest are wanted, at its foot. heading, total: lines
    that always stay."""
    end = len(lines) - total
    head, body, foot = lines[:heading], lines[heading:end], lines[end:]
    kept = max(1, room - len(head) - len(foot))
    if len(body) <= kept:
        return lines
    kept = max(1, kept - 1)
    left = "... and %s, for which the terminal has no room" % plural(
        len(body) - kept, "line")
    body = [left] + body[-kept:] if newest else body[:kept] + [left]
    return head + body + foot


def screen(tail, notes, width, height):
    """Returns the lines for a terminal of this width and height."""
    head, foot, log = head_lines(tail), foot_lines(tail, notes), tail.log
    by, middle = tail.options.by, []
    tables = [(list(table_lines([log], by, width)), 2, 2)] if log.total.rows else []
    changes = changes_of(log)
    if changes:
        tables.append(([HEADING] + change_lines(changes, width), 2, 0))
    if log.candidates.rows:
        tables.append(([CANDIDATES] + candidate_lines(log, by, width), 3, 0))
    room = height - len(head) - len(foot) - 1 - len(tables)
    for i, (table, heading, total) in enumerate(tables):
        # The lines that earlier tables leave are shared by the remaining tables.
        lines = choose_lines(table, room // (len(tables) - i), by in NEWEST_LAST,
                             heading, total)
        room -= len(lines)
        middle += [""] + lines
    lines = (head + middle + [""] * bool(tables) + foot)[:height]
    return [shorten(printable(line), width) for line in lines]


def draw(lines, afresh):
    # A line is cleared before it is written: after a line as wide as the terminal
    # the cursor is at the last character.
    sys.stdout.write((CLEAR if afresh else "") + HOME + "".join(
        LINE + line + "\r\n" for line in lines[:-1]) + REST + lines[-1])
    sys.stdout.flush()


def follow_terminal(tail, notes):
    size = None
    try:
        sys.stdout.write(BEGIN)
        while True:
            before, size = size, shutil.get_terminal_size()
            ended = tail.has_ended()
            if tail.poll() or before != size or ended:
                draw(screen(tail, notes, size.columns, size.lines), before != size)
            if ended:
                return
            time.sleep(PAUSE)
    finally:
        sys.stdout.write(END)
        sys.stdout.flush()


def follow_lines(tail):
    """Prints tables to an output that is not a terminal."""
    first = True
    while True:
        ended = tail.has_ended()
        if tail.poll() and tail.log.header:
            if not first:
                print()
            first = False
            print_report([tail.log], tail.options.by)
            sys.stdout.flush()
        if ended:
            return
        time.sleep(PAUSE)


def follow(path, options, say):
    """Shows the table until the run ends or Ctrl-C is pressed. `say` prints notes that
    cannot disturb the table."""
    terminal = sys.stdout.isatty()
    notes = []
    tail = Tail(path, options, notes.append if terminal else say)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        if terminal:
            follow_terminal(tail, notes)
        else:
            follow_lines(tail)
    except KeyboardInterrupt:
        pass
    finally:
        tail.close()
