# SPDX-License-Identifier: BSD-3-Clause
"""The lines of a table by steps, which may have a million. A line to which no rows
are being added is packed."""

import array
import itertools
import marshal
import zlib

from .statistics import Stats

LIVE = 4096             # most lines that are not packed
OPEN = 8                # most packed parts that are unpacked at a time
FIELDS = [field for field in Stats.__slots__ if field not in ("steps", "index")]


class LineStore:
    """Replaces a dictionary of Stats by (comm, step); its items are in order. A key
    may have several packed lines, for rows that came at different times."""

    def __init__(self, by):
        self.by = by
        self.live = {}
        self.parts = []         # packed lists of lines
        self.comms = {}         # {name: number}
        # For each packed line: numbers of its comm and part, place there, step.
        self.comm, self.part, self.place = (array.array("l") for _ in range(3))
        self.step = array.array("q")
        self.open = {}          # {number: part}, unpacked; the last used is last

    # --- methods for gather()

    def get(self, key):
        return self.live.get(key)

    def __setitem__(self, key, stats):
        if len(self.live) >= LIVE:
            self.pack()
        self.live[key] = stats

    def __len__(self):
        return len(self.live)

    # --- packed lines

    def pack(self):
        lines = []
        for place, ((comm, step), stats) in enumerate(sorted(
                self.live.items(), key=lambda line: line[0])):
            self.comm.append(self.comms.setdefault(comm, len(self.comms)))
            self.step.append(step)
            self.part.append(len(self.parts))
            self.place.append(place)
            lines.append(tuple(getattr(stats, field) for field in FIELDS))
        self.parts.append(zlib.compress(marshal.dumps(lines), 1))
        self.live = {}

    def unpack(self, number):
        """Returns the packed line with this number as Stats."""
        part = self.part[number]
        lines = self.open.pop(part, None)
        if lines is None:
            lines = marshal.loads(zlib.decompress(self.parts[part]))
            if len(self.open) == OPEN:
                del self.open[next(iter(self.open))]
        self.open[part] = lines
        stats = Stats(self.by)
        for field, value in zip(FIELDS, lines[self.place[number]]):
            setattr(stats, field, value)
        return stats

    # --- methods for a table

    @property
    def large(self):
        return bool(self.parts)

    def items(self):
        """Yields pairs of keys and Stats, in the order of the keys."""
        if self.live:
            self.pack()
        names = list(self.comms)
        rank = {self.comms[name]: i for i, name in enumerate(sorted(names))}
        # A number for each line takes less memory than a pair.
        ranks = [(rank[comm] << 64) + step for comm, step in zip(self.comm, self.step)]
        order = range(len(ranks))
        if any(a > b for a, b in zip(ranks, itertools.islice(ranks, 1, None))):
            order = sorted(order, key=ranks.__getitem__)
        for _, numbers in itertools.groupby(order, key=ranks.__getitem__):
            whole = None
            for number in numbers:
                stats = self.unpack(number)
                if whole is None:
                    whole = stats
                else:
                    whole.absorb(stats)
            yield (names[self.comm[number]], self.step[number]), whole

    def values(self):
        for _, stats in self.items():
            yield stats

    def __iter__(self):
        for key, _ in self.items():
            yield key
