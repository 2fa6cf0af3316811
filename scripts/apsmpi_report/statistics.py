# SPDX-License-Identifier: BSD-3-Clause
"""What a line of the table is computed from."""

import math

from .text import INF, NAN


class Stats:
    """What one line of the table is computed from: sums over its rows."""

    def __init__(self):
        self.rows = 0
        self.err_sum, self.err_rows, self.err_nan = 0.0, 0, 0
        self.l2_sum, self.l2_rows = 0.0, 0
        self.snr_sum, self.snr_rows, self.snr_exact = 0.0, 0, 0
        self.err_max = NAN
        self.exp_min = self.exp_max = None
        self.elements = self.underflow = self.overflow = 0
        self.nonfinite = self.skipped = self.wire = self.fp32 = self.redone = 0
        self.overflowed = self.kept = 0     # rows; `kept`: nothing redone
        self.residual_sum, self.residual_rows = 0.0, 0
        self.usec = 0.0
        self.layers = {}        # keys of layers seen, as ordered sets
        self.names, self.formats, self.scales, self.reduces = {}, {}, {}, {}
        self.steps, self.epochs = {}, {}

    def add(self, row, layer):
        self.rows += 1
        if math.isnan(row.err_mean):
            self.err_nan += 1
        else:
            self.err_sum += row.err_mean
            self.err_rows += 1
        if not math.isnan(row.err_max) and not row.err_max <= self.err_max:
            self.err_max = row.err_max
        if not math.isnan(row.err_l2):
            self.l2_sum += row.err_l2
            self.l2_rows += 1
        if row.snr_db == INF:
            self.snr_exact += 1
        elif not math.isnan(row.snr_db):    # -inf too: the mean is -inf
            self.snr_sum += row.snr_db
            self.snr_rows += 1
        if row.scale_exp is not None:
            if self.exp_min is None or row.scale_exp < self.exp_min:
                self.exp_min = row.scale_exp
            if self.exp_max is None or row.scale_exp > self.exp_max:
                self.exp_max = row.scale_exp
        self.elements += row.count
        self.underflow += row.underflow
        self.overflow += row.overflow
        self.nonfinite += row.nonfinite
        self.skipped += row.skipped
        self.wire += row.wire_bytes
        self.fp32 += row.fp32_bytes
        self.redone += row.redone
        self.overflowed += row.overflowed
        self.kept += row.overflowed if row.redone == 0 else 0
        if not math.isnan(row.residual):
            self.residual_sum += row.residual
            self.residual_rows += 1
        if math.isfinite(row.usec):
            self.usec += row.usec
        self.layers[layer] = True
        if row.name:
            self.names[row.name] = True
        self.formats[row.format] = True
        self.scales[row.scale] = True
        self.reduces[row.reduce] = True
        self.steps[row.step] = True
        self.epochs[row.epoch] = True

    def name(self):
        return "/".join(self.names)

    def count(self):
        """Elements of the layers in it, each layer once."""
        return sum(count for _, _, count, _ in self.layers)

    def err_mean(self):
        return self.err_sum / self.err_rows if self.err_rows else NAN

    def err_l2(self):
        return self.l2_sum / self.l2_rows if self.l2_rows else NAN

    def residual(self):
        return (self.residual_sum / self.residual_rows if self.residual_rows
                else NAN)

    def snr(self):
        if self.snr_rows:
            return self.snr_sum / self.snr_rows
        return INF if self.snr_exact else NAN

    def underflow_percent(self):
        return 100.0 * self.underflow / self.elements if self.elements else NAN

    def saved_percent(self):
        return 100.0 * (1 - self.wire / self.fp32) if self.fp32 else NAN


def merge(parts):
    """One Stats that knows the layers, names and steps of all of `parts`."""
    whole = Stats()
    for part in parts:
        for field in ("layers", "names", "steps", "epochs"):
            getattr(whole, field).update(getattr(part, field))
    return whole
