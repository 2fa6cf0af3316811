# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a log as a grid of layers and steps, small enough to draw.

A column is one logged step, or several if a log has many. The steps of two runs
never share a column.
"""

COLUMNS_MAX = 200       # more steps than that share columns
STEP_BITS = 48


class Grid:
    """keys: of the layers, one a row. run, first, last: arrays with the number of the
    run, the first and the last step of each column. share: most steps in a column."""

    def __init__(self, np, log):
        self.np = np
        self.keys = sorted(log.layers)
        row_of = np.empty(len(self.keys), dtype=np.int64)
        for row, key in enumerate(self.keys):
            row_of[log.layers[key].index] = row
        self.row = row_of[np.frombuffer(log.cells.layer, dtype=np.int64)]
        moments, column = np.unique(
            (np.frombuffer(log.cells.run, dtype=np.int64) << STEP_BITS) +
            np.frombuffer(log.cells.step, dtype=np.int64), return_inverse=True)
        runs = (moments + (1 << STEP_BITS - 1)) >> STEP_BITS
        steps = moments - (runs << STEP_BITS)
        self.share = -(-len(moments) // COLUMNS_MAX)
        inside = np.arange(len(runs)) - np.searchsorted(runs, runs)
        begins = inside % self.share == 0
        self.column = (np.cumsum(begins) - 1)[column.reshape(-1)]
        self.run, self.first = runs[begins], steps[begins]
        self.last = steps[np.append(np.flatnonzero(begins)[1:], len(steps)) - 1]
        self.several = self.run[0] != self.run[-1]

    def mean(self, values, cell, cells):
        """Returns the mean of the values in each of the cells, without NaNs."""
        np = self.np
        values = np.frombuffer(values, dtype=float)
        use = ~np.isnan(values)
        total = np.bincount(cell[use], values[use], minlength=cells)
        with np.errstate(invalid="ignore"):
            return total / np.bincount(cell[use], minlength=cells)

    def means(self, values):
        """Returns the means as an array [layer, column]."""
        shape = len(self.keys), len(self.run)
        return self.mean(values, self.row * shape[1] + self.column,
                         shape[0] * shape[1]).reshape(shape)

    def column_means(self, values):
        """Returns the means as an array [column]."""
        return self.mean(values, self.column, len(self.run))

    def name(self, first, last):
        """Returns the steps in these columns as text."""
        begin, end = self.first[first], self.last[last]
        text = "step %d" % begin if begin == end else "steps %d to %d" % (begin, end)
        if self.run[last] != self.run[first]:
            return "run %d step %d to run %d step %d" % (
                self.run[first] + 1, begin, self.run[last] + 1, end)
        return "run %d %s" % (self.run[first] + 1, text) if self.several else text
