# SPDX-License-Identifier: BSD-3-Clause
"""Reads a round-off log in one pass, without holding it in memory: the header, rows,
many at a time, and events. Incomplete lines are reported and skipped."""

import bisect
import re

from .columns import COLUMNS, Header
from .text import UserError, shorten

BLOCK = 1 << 21         # most bytes that are read at once
LINE_MAX = 1 << 16      # most bytes of a line; the library writes 3 KiB at most
NOTES_MAX = 20          # most lines of a log that notes report


class LogFile:
    """One log file. Subclasses do with its rows and events what they need:

    read_rows(columns, events)  rows, and pairs of the number of the row after an
                                event and the result of read_event()
    take_events(events)         events after which no row has come yet
    read_event(line)            returns the event in a line for the other two
    end()                       the file has ended
    """

    columns = COLUMNS       # that are read

    def __init__(self, path, say):
        """say: takes notes for the user."""
        self.path = path
        self.say = say
        self.malformed = 0
        self.header = None
        self.number = 0         # number of lines read
        self.rest = b""         # bytes after the last end of a line
        self.too_long = False   # true if the line in `rest` is
        self.truncated = False  # true if the file ends within a line

    def read_event(self, line):
        """The text of an event."""
        return line[1:].strip()

    def end(self):
        """Nothing comes any more."""

    def read(self):
        try:
            with open(self.path, "rb") as file:
                while True:
                    data = file.read(BLOCK)
                    if not data:
                        break
                    self.feed(data)
        except OSError as error:
            raise UserError("%s: %s" % (self.path, error.strerror)) from None
        self.finish()

    def feed(self, data):
        """Read what the file has next. A line that does not end yet waits."""
        data = self.rest + data
        end = data.rfind(b"\n") + 1
        self.rest = data[end:]
        if self.too_long and end > 0:
            start = data.find(b"\n") + 1
            data, end = data[start:], end - start
            self.number += 1
            self.skip_line(self.number, "a line of more than %d bytes" % LINE_MAX)
            self.too_long = False
        if end > 0:
            self.read_text(data[:end].decode("utf-8", "replace"))
        if len(self.rest) > LINE_MAX:
            if not self.header:
                raise UserError("%s:%d: not a round-off log: a line of more than "
                                "%d bytes" % (self.path, self.number + 1, LINE_MAX))
            self.too_long = True
        if self.too_long:
            self.rest = self.rest[:1]

    def finish(self):
        """The file has ended."""
        number = self.number + bool(self.rest)
        if number == 0:
            raise UserError("%s:1: the file is empty, and no round-off log"
                            % self.path)
        rest, self.rest = self.rest.decode("utf-8", "replace"), b""
        if rest and not self.header and not rest.startswith("#"):
            self.read_header(rest.rstrip("\r"), number)
            rest = ""
        if not self.header:
            raise UserError("%s:%d: the file ends without a header"
                            % (self.path, number))
        if rest:
            self.truncated = True
            self.say("%s:%d: truncated last line ignored" % (self.path, number))
        self.end()

    def read_text(self, text):
        """Whole lines."""
        if "\r\n" in text:
            text = re.sub(r"\r+\n", "\n", text)
        lines = text.split("\n")[:-1]
        first = self.number + 1
        self.number += len(lines)
        start = 0
        while not self.header and start < len(lines):
            if lines[start].startswith("#"):
                self.take_events([self.read_event(lines[start])])
            else:
                self.read_header(lines[start], first + start)
            start += 1
        if start:
            del lines[:start]
            first += start
        if lines:
            self.read_lines(lines, first, text)

    def read_header(self, line, number):
        try:
            self.header = Header(line, self.columns)
        except ValueError as error:
            raise UserError(
                "%s:%d: not a round-off log: %s in the header '%s'"
                % (self.path, number, error, shorten(line, 60))) from None

    def read_lines(self, lines, first, text):
        """Reads lines after the header. first: the number of the first one."""
        numbers = range(first, first + len(lines))
        events = []         # (number of rows before it, text)
        if ("\n#" in text or "\n\n" in text or text[0] in "#\n"
                or self.header.line in text):
            rows = []
            for number, line in zip(numbers, lines):
                if line.startswith("#"):
                    events.append((len(rows), line))
                elif line and line != self.header.line:
                    rows.append((number, line))
            numbers = [number for number, _ in rows]
            lines = [line for _, line in rows]
        for start, columns in self.header.parse(lines):
            if isinstance(columns, str):
                self.skip_line(numbers[start], columns)
                continue
            now = bisect.bisect_left(events, (start + columns.rows,))
            self.read_rows(columns, [(max(0, row - start), self.read_event(line))
                                     for row, line in events[:now]])
            del events[:now]
        self.take_events([self.read_event(line) for _, line in events])

    def skip_line(self, number, why):
        self.malformed += 1
        if self.malformed <= NOTES_MAX:
            self.say("%s:%d: %s; line skipped" % (self.path, number, why))
        elif self.malformed == NOTES_MAX + 1:
            self.say("%s: more malformed lines follow" % self.path)
