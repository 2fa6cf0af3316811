# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a log as a grid of layers and steps, small enough to draw."""

from apsmpi_log.text import NAN


COLUMNS_MAX = 160       # more steps than that share a column
ROWS_MAX = 400          # more layers than that share a row
RUNS_APART = 20         # with more runs a column may hold steps of two
STEP_BITS = 48


class Grid:
    """columns: (run, first step, run, last step) each; rows: lists of layer keys."""

    def __init__(self, log):
        cells = log.cells
        self.log = log
        self.runs = list(cells.run_index)
        mask = (1 << STEP_BITS) - 1
        packed = sorted({run << STEP_BITS | (step & mask)
                         for run, step in zip(cells.run, cells.step)})
        share = -(-len(packed) // COLUMNS_MAX)
        groups = []
        for moment in packed:
            new = not groups or len(groups[-1]) == share or (
                len(self.runs) <= RUNS_APART
                and groups[-1][0] >> STEP_BITS != moment >> STEP_BITS)
            if new:
                groups.append([])
            groups[-1].append(moment)
        self.share = max(map(len, groups))
        self.columns = [(group[0] >> STEP_BITS, group[0] & mask,
                         group[-1] >> STEP_BITS, group[-1] & mask)
                        for group in groups]
        column_of = {moment: i for i, group in enumerate(groups) for moment in group}
        del packed, groups

        keys = sorted(log.layers)
        number = min(len(keys), ROWS_MAX)
        self.rows = [[] for _ in range(number)]
        row_of = [0] * len(keys)
        for i, key in enumerate(keys):
            row = i * number // len(keys)
            self.rows[row].append(key)
            row_of[log.layers[key].index] = row
        self.row_of = row_of
        self.column_of = column_of
        self.mask = mask

    def places(self):
        """(row, column) of each row of the log."""
        cells, mask = self.log.cells, self.mask
        for layer, run, step in zip(cells.layer, cells.run, cells.step):
            yield (self.row_of[layer],
                   self.column_of[run << STEP_BITS | (step & mask)])

    def means(self, values):
        """[row][column]: the mean of what is not nan, or nan."""
        width = len(self.columns)
        total = [0.0] * (len(self.rows) * width)
        number = [0] * len(total)
        for (row, column), value in zip(self.places(), values):
            if value == value:
                place = row * width + column
                total[place] += value
                number[place] += 1
        means = [t / n if n else NAN for t, n in zip(total, number)]
        return [means[i:i + width] for i in range(0, len(means), width)]

    def sums(self, values):
        """[column]: the sum over all layers."""
        total = [0] * len(self.columns)
        for (_, column), value in zip(self.places(), values):
            total[column] += value
        return total

    def by_step(self, values):
        """[column]: the mean of what is not nan, or nan."""
        total, number = [0.0] * len(self.columns), [0] * len(self.columns)
        for (_, column), value in zip(self.places(), values):
            if value == value:
                total[column] += value
                number[column] += 1
        return [t / n if n else NAN for t, n in zip(total, number)]

    def column_name(self, column):
        """The steps in a column, as text."""
        run, first, last_run, last = self.columns[column]
        several = len(self.runs) > 1
        text = ("run %d, " % (run + 1) if several else "") + "step %d" % first
        if last_run != run:
            return text + " to run %d, step %d" % (last_run + 1, last)
        return text if first == last else text + " to %d" % last
