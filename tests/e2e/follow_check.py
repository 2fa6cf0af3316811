# SPDX-License-Identifier: BSD-3-Clause
"""apsmpi-report --follow on a terminal: follow_check.py COLUMNS LINES REPORT LOG runs
it on a pseudo-terminal of that size while LOG grows, and prints lines "ok - NAME"
and "not ok - NAME"; `signal`, `lines` and
`candidates` in place of a size are other scenes. With
the variable PICTURE it writes a screen to that file."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 30.0         # seconds; the report reads the file twice a second
SEQUENCE = re.compile(rb"\x1b\[(\??)([0-9;]*)([A-Za-z])")
HEADER = ("time,comm,step,epoch,layer,name,count,format,scale,reduce,scale_exp,"
          "err_mean,err_max,err_l2,snr_db,underflow,overflow,nonfinite,skipped,"
          "wire_bytes,fp32_bytes,usec,run,redone\n")
LAYERS = 30


class Screen:
    """Screen of a terminal of this size; understands the report's control sequences."""

    def __init__(self, columns, lines):
        self.bad = []
        self.wrap = self.cursor = True
        self.resize(columns, lines)

    def resize(self, columns, lines):
        self.columns, self.lines = columns, lines
        self.cells = [[" "] * columns for _ in range(lines)]
        self.x = self.y = 0

    def feed(self, data):
        at = 0
        while at < len(data):
            found = SEQUENCE.match(data, at)
            if found:
                self.control(*found.groups())
                at = found.end()
                continue
            if data[at] == 0x1b:
                self.bad.append("an escape that no terminal here knows: %r"
                                % data[at:at + 8])
                return
            end = min((i for i in (data.find(c, at + 1) for c in (
                b"\x1b", b"\r", b"\n")) if i > 0), default=len(data))
            for letter in data[at:end].decode("utf-8", "replace"):
                self.put(letter)
            at = end

    def put(self, letter):
        if letter == "\r":
            self.x = 0
        elif letter == "\n":
            self.y += 1
            if self.y == self.lines:        # the terminal scrolls
                self.y -= 1
                self.cells = self.cells[1:] + [[" "] * self.columns]
        elif ord(letter) < 32:
            self.bad.append("the control character %r" % letter)
        elif self.x < self.columns:
            self.cells[self.y][self.x] = letter
            self.x += 1
        else:
            self.bad.append("a line of more than %d columns: %s" % (
                self.columns, "".join(self.cells[self.y])))

    def control(self, private, numbers, letter):
        if private:
            on = letter == b"h"
            if numbers == b"25":
                self.cursor = on
            elif numbers == b"7":
                self.wrap = on
            return
        # At the end of a line the cursor stays on the last column.
        at = min(self.x, self.columns - 1)
        if letter == b"H" and not numbers:
            self.x = self.y = 0
        elif letter == b"K" and not numbers:
            self.cells[self.y][at:] = [" "] * (self.columns - at)
        elif letter == b"J" and numbers == b"2":
            self.cells = [[" "] * self.columns for _ in range(self.lines)]
        elif letter == b"J" and not numbers:
            self.cells[self.y][at:] = [" "] * (self.columns - at)
            for line in self.cells[self.y + 1:]:
                line[:] = [" "] * self.columns
        else:
            self.bad.append("a sequence that the screen does not know: %r" % (
                (numbers, letter),))

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)


def interruptible():
    """A shell makes its background jobs ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def own_terminal():
    interruptible()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """Runs the report on a pseudo-terminal."""

    def __init__(self, columns, lines, command):
        self.screen = Screen(columns, lines)
        self.master, slave = pty.openpty()
        self.set_size(slave)
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment,
            start_new_session=True, preexec_fn=own_terminal)
        os.close(slave)
        self.rest = b""

    def set_size(self, fd):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack(
            "HHHH", self.screen.lines, self.screen.columns, 0, 0))

    def resize(self, columns, lines):
        self.read(.1)
        self.screen.resize(columns, lines)
        self.set_size(self.master)

    def read(self, seconds):
        """Reads the output of this time to the screen; False at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        data = self.rest + data
        # An incomplete sequence waits for its rest.
        cut = data.rfind(b"\x1b")
        whole = cut < 0 or SEQUENCE.match(data, cut)
        self.rest = b"" if whole else data[cut:]
        self.screen.feed(data if whole else data[:cut])
        return bool(data)

    def shows(self, pattern):
        """True if the screen shows this in time."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if re.search(pattern, self.screen.text(), re.M):
                return True
            if not self.read(.2):
                break
        return bool(re.search(pattern, self.screen.text(), re.M))

    def ends(self):
        """Returns the exit status, if the report ends in time."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            self.read(.2)
        while self.read(.1) and select.select([self.master], [], [], .1)[0]:
            pass
        return self.process.poll()


def row(step, layer, run="first", error=0.125, redone=0):
    return ("%d,world,%d,0,%d,block%d.convolution.weight,%d,e4m3,aps,hierarchical,"
            "%d,%g,0.5,0.1,20,0,0,0,0,1000,4000,50,%s,%d\n" % (
                1700000000 + step, step, layer, layer, 4096 + layer, layer - 4,
                error, run, redone))


def tell(passed, name, terminal):
    print("%s - %s" % ("ok" if passed else "not ok", name))
    if not passed:
        for line in terminal.screen.text().split("\n"):
            print("# |" + line)
    return passed


def add(path, text):
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def scene(columns, lines, report, log):
    """Yields (passed, name) of each check of the screen."""
    terminal = Terminal(columns, lines, [sys.executable, report, "--follow", log])
    results = []

    def check(passed, name):
        results.append(tell(passed, "%d columns: %s" % (columns, name), terminal))

    check(terminal.shows("does not exist yet"), "a log that is not there yet")
    add(log, HEADER[:50])
    time.sleep(1)
    add(log, HEADER[50:] + "# run=first apsmpi=1.0 ranks=4 host=node1 policy=%s.yaml\n"
        % ("p" * columns))
    check(terminal.shows("a header and no rows"), "a log without rows")
    add(log, row(0, 0))
    check(terminal.shows(r": 1 row, 1 layer, step 0,"), "its first row")
    check(terminal.shows(r"^ *0 +block0\S*t +4096 .*1\.25e-01 "), "... in the table")
    check(terminal.shows(r"^run first +apsmpi=1\.0 ranks=4"), "... and what runs")
    check(terminal.shows(r"^run first.{%d}$" % (columns - 9)),
          "... in a line as wide as the terminal")
    half = row(0, 1)
    add(log, half[:40])
    time.sleep(1.2)
    check(terminal.shows(": 1 row,"), "half a row is left")
    add(log, half[40:])
    check(terminal.shows(": 2 rows, 2 layers"), "... until it is whole")
    add(log, "".join(row(step, layer) for step in range(1, 4) for layer in
                     range(LAYERS)) + row(4, 0, error=9, redone=2))
    check(terminal.shows(r": 93 rows, 30 layers, steps 0 to 4,"), "rows by the dozen")
    check(terminal.shows(r"^total .*\b2$"), "... with their total")
    fits = 2 + 1 + 4 + LAYERS + 2 <= lines
    check(fits or terminal.shows(r"^\.\.\. and \d+ lines, for which the terminal"),
          "... as many as there is room for")
    add(log, "# world: desync: call 1 has 64 elements \x1b[2J\n")
    check(terminal.shows(r"^  1 x world: desync: call 1 has 64 elem"), "an event")
    add(log, "1700000000,world\n")
    check(terminal.shows("^1 malformed line skipped"), "a malformed line")
    check(terminal.shows("2 fields, expected 24"), "... and what is wrong")
    other = 200 if columns < 120 else 80
    terminal.resize(other, lines + 10)
    add(log, row(5, 0))
    check(terminal.shows(r"steps 0 to 5,"), "another size")
    check(terminal.shows("err_max") if other == 200 else
          terminal.shows("err_mean") and "err_max" not in terminal.screen.text(),
          "... with the columns that fit")
    terminal.resize(columns, lines)
    add(log, row(0, 0, "second"))
    check(terminal.shows(r"^run second \(last of 2 in the table\)"), "another job")
    check(terminal.shows(r"^Ctrl-C ends$"), "how it ends")
    if os.environ.get("PICTURE"):
        with open(os.environ["PICTURE"], "w", encoding="utf-8") as file:
            file.write(terminal.screen.text())
    os.replace(log, log + ".old")
    add(log, HEADER + row(7, 3))
    check(terminal.shows(r": 1 row, 1 layer, step 7,"), "another file in its place")
    os.write(terminal.master, b"\x03")
    status = terminal.ends()
    check(status == 0, "Ctrl-C ends it (status %s)" % status)
    check(terminal.screen.cursor and terminal.screen.wrap,
          "... with the terminal as it was")
    check("step 7" in terminal.screen.text() and
          "Traceback" not in terminal.screen.text(), "... and the table still there")
    check(not terminal.screen.bad, "nothing was sent that spoils the screen")
    for bad in terminal.screen.bad[:5]:
        print("# " + bad)
    if terminal.process.poll() is None:
        terminal.process.kill()
    os.remove(log)
    os.remove(log + ".old")
    return all(results)


def candidates(report, log):
    """Rows of candidates have their own table."""
    header = HEADER.rstrip("\n") + ",shadow,entropy\n"

    def measured(step, layer, number):
        return row(step, layer).rstrip("\n") + ",%d,2.5\n" % number

    add(log, header + "".join(measured(0, layer, number) for layer in range(3)
                              for number in (1, 2)))
    terminal = Terminal(110, 24, [sys.executable, report, "--follow", log])
    good = tell(terminal.shows(": 6 rows of candidates, 3 layers, step 0,"),
                "candidates: how many", terminal)
    good &= tell(terminal.shows(r"^Candidates, which were measured") and
                 terminal.shows(r"^ +2 +block2\S*t +4098 +e4m3 aps.* 2\.50 "),
                 "... their table", terminal)
    add(log, "".join(measured(1, layer, 0) for layer in range(20)))
    good &= tell(terminal.shows(": 20 rows and 6 of candidates, 20 layers"),
                 "... beside the program's rows", terminal)
    good &= tell(terminal.shows(r"^total ") and terminal.shows(r"^Candidates, which")
                 and terminal.shows(r"^\.\.\. and \d+ lines, for which"),
                 "... with both tables, as far as there is room", terminal)
    good &= tell(not terminal.screen.bad, "... and nothing that spoils it", terminal)
    terminal.process.send_signal(signal.SIGTERM)
    terminal.ends()
    os.remove(log)
    return good


def without_terminal(report, log):
    """A table after each change, one below the other; Ctrl-C ends this, too."""
    add(log, HEADER + row(0, 0))
    process = subprocess.Popen(
        [sys.executable, "-u", report, "--follow", log], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=interruptible)
    said = ""
    for number in (1, 2):
        while ": %d row" % number not in said or said.count("\ntotal") < number:
            line = process.stdout.readline()
            said += line
            if not line:
                break
        add(log, row(1, number))
    add(log, "1700000000,half")     # no change: not a whole line
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=PATIENCE)
    said += rest
    passed = (process.returncode == 0 and not errors and "\x1b" not in said
              and said.count("\ntotal") == said.count(" rows, ") + 1 == 3)
    print("%s - without a terminal: a table after each change, until Ctrl-C"
          % ("ok" if passed else "not ok"))
    if not passed:
        print("# status %s" % process.returncode)
        for line in (said + errors).split("\n"):
            print("# " + line)
    os.remove(log)
    return passed


def ended_by_signal(report, log):
    """SIGTERM leaves the terminal as it was, too."""
    add(log, HEADER + row(0, 0))
    terminal = Terminal(80, 24, [sys.executable, report, "--follow", log])
    passed = terminal.shows(": 1 row,")
    terminal.process.send_signal(signal.SIGTERM)
    status = terminal.ends()
    os.remove(log)
    passed = (passed and status == 128 + signal.SIGTERM and terminal.screen.cursor
              and terminal.screen.wrap)
    return tell(passed, "SIGTERM ends it, with the terminal as it was (status %s)"
                % status, terminal)


if __name__ == "__main__":
    if sys.argv[1] == "signal":
        sys.exit(not ended_by_signal(*sys.argv[2:]))
    if sys.argv[1] == "candidates":
        sys.exit(not candidates(*sys.argv[2:]))
    if sys.argv[1] == "lines":
        sys.exit(not without_terminal(*sys.argv[2:]))
    sys.exit(not scene(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
