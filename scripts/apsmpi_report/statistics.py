# SPDX-License-Identifier: BSD-3-Clause
"""Sums over rows, from which a line of the table is computed."""

import math

from apsmpi_log.candidates import join_sent
from apsmpi_log.text import INF, NAN


def add_known(total, values):
    """`total` and the values that are not nan, added; and how many these are."""
    after = sum(values, total)
    if after == after:
        return after, len(values)
    values = [value for value in values if value == value]
    return sum(values, total), len(values)


# Counts that are added up: the field of Stats, and the column of the log.
SUMS = (("elements", "count"), ("underflow", "underflow"), ("overflow", "overflow"),
        ("nonfinite", "nonfinite"), ("skipped", "skipped"), ("wire", "wire_bytes"),
        ("fp32", "fp32_bytes"), ("redone", "redone"), ("overflowed", "overflowed"))
# Texts and numbers, kept as keys of ordered sets.
SETS = (("formats", "sent"), ("scales", "scale"), ("reduces", "reduce"),
        ("epochs", "epoch"), ("names", "name"))
# Means without nan: the fields of the sum and the number, and the column.
MEANS = (("err_sum", "err_rows", "err_mean"), ("l2_sum", "l2_rows", "err_l2"),
         ("residual_sum", "residual_rows", "residual"),
         ("entropy_sum", "entropy_rows", "entropy"))


class Share:
    """The columns of many rows as Stats.add() needs them: without those in which
    there is nothing to add."""

    def __init__(self, columns, by):
        """by: what a line stands for; names are shown of layers alone."""
        same = columns.same
        sets = SETS if by == "layer" else SETS[:-1]
        self.columns = columns
        self.sums = [(field, columns[name]) for field, name in SUMS
                     if same.get(name) != 0]
        self.once = [(field, {same[name]: True}) for field, name in sets
                     if name in same and (same[name] or field != "names")]
        self.sets = [(field, columns[name]) for field, name in sets
                     if name not in same]
        self.means = [(total, rows, columns[name]) for total, rows, name in MEANS
                      if name not in same or same[name] == same[name]]
        self.exponents = ("scale_exp" not in same
                          or same["scale_exp"] is not None)
        self.overflows = same.get("overflowed") != 0
        self.compressed = same.get("compress") != ""
        residual = same.get("residual", 0)
        self.fed = not same.get("compress") and residual == residual


class Stats:
    """Sums over the rows of one line of the table."""

    __slots__ = ("rows", "err_sum", "err_rows", "l2_sum", "l2_rows", "snr_sum",
                 "snr_rows", "snr_exact", "err_max", "exp_min", "exp_max",
                 "elements", "underflow", "overflow", "nonfinite", "skipped",
                 "wire", "fp32", "redone", "overflowed", "kept", "residual_sum",
                 "residual_rows", "compressed", "fed", "entropy_sum", "entropy_rows",
                 "usec", "layers", "names", "formats", "scales", "reduces", "step_min",
                 "step_max", "steps", "epochs", "index")

    def __init__(self, by="layer"):
        """by: the option --by of the table."""
        self.rows = 0
        self.err_sum, self.err_rows = 0.0, 0
        self.l2_sum, self.l2_rows = 0.0, 0
        self.snr_sum, self.snr_rows, self.snr_exact = 0.0, 0, 0
        self.err_max = NAN
        self.exp_min = self.exp_max = None
        self.elements = self.underflow = self.overflow = 0
        self.nonfinite = self.skipped = self.wire = self.fp32 = self.redone = 0
        self.overflowed = self.kept = 0     # rows; `kept`: nothing redone
        self.residual_sum, self.residual_rows = 0.0, 0
        self.compressed = 0                 # rows
        self.fed = 0                        # rows of plain formats with feedback
        self.entropy_sum, self.entropy_rows = 0.0, 0
        self.usec = 0.0
        self.layers = {}        # keys of layers seen, as ordered sets
        self.names, self.formats, self.scales, self.reduces = {}, {}, {}, {}
        self.epochs = {}
        self.step_min = self.step_max = None
        # A log may have a million steps: only lines that count steps keep them.
        self.steps = set() if by == "epoch" else None
        self.index = None       # number of the layer in the figures' cells

    def add(self, share, rows, pick, layers):
        """Adds rows of a log. rows: their number; pick: a function that returns their
        values of a column; layers: the keys of their layers."""
        columns = share.columns
        self.rows += rows
        for field, values in share.sums:
            setattr(self, field, getattr(self, field) + sum(pick(values)))
        for field, value in share.once:
            getattr(self, field).update(value)
        for field, values in share.sets:
            getattr(self, field).update(dict.fromkeys(pick(values), True))
        self.names.pop("", None)
        for field, number, values in share.means:
            total, known = add_known(getattr(self, field), pick(values))
            setattr(self, field, total)
            setattr(self, number, getattr(self, number) + known)
        self.add_ratios(pick(columns["snr_db"]))
        self.add_largest(pick(columns["err_max"]))
        if share.exponents:
            self.add_exponents(pick(columns["scale_exp"]))
        if share.overflows:
            self.kept += sum(over for over, redone in zip(
                pick(columns["overflowed"]), pick(columns["redone"])) if not redone)
        if share.compressed:
            self.compressed += sum(map(bool, pick(columns["compress"])))
        if share.fed:
            self.fed += sum(residual == residual and not compress
                            for residual, compress in zip(
                                pick(columns["residual"]), pick(columns["compress"])))
        times = pick(columns["usec"])
        after = sum(times, self.usec)
        self.usec = after if math.isfinite(after) else sum(
            filter(math.isfinite, times), self.usec)
        self.layers.update(dict.fromkeys(layers, True))
        self.add_steps(pick(columns["step"]))

    def add_ratios(self, ratios):
        after = sum(ratios, self.snr_sum)
        if not math.isfinite(after):
            self.snr_exact += ratios.count(INF)
            # -inf too: the mean is -inf
            ratios = [ratio for ratio in ratios if ratio == ratio and ratio != INF]
            after = sum(ratios, self.snr_sum)
        self.snr_sum = after
        self.snr_rows += len(ratios)

    def add_largest(self, errors):
        largest = max(errors)
        if math.isnan(errors[0]):   # max() keeps a nan that comes first
            largest = max((e for e in errors if e == e), default=NAN)
        if not largest <= self.err_max and largest == largest:
            self.err_max = largest

    def add_exponents(self, known):
        if None in known:
            known = [exponent for exponent in known if exponent is not None]
        if known:
            self.add_range("exp", min(known), max(known))

    def add_steps(self, steps):
        if self.steps is not None:
            self.steps.update(steps)
        self.add_range("step", min(steps), max(steps))

    def add_range(self, field, low, high):
        """Widen FIELD_min and FIELD_max."""
        before_low = getattr(self, field + "_min")
        before_high = getattr(self, field + "_max")
        if before_low is None or low < before_low:
            setattr(self, field + "_min", low)
        if before_high is None or high > before_high:
            setattr(self, field + "_max", high)

    def absorb(self, part):
        """Add what another one has."""
        for field in ("rows", "err_sum", "err_rows", "l2_sum", "l2_rows", "snr_sum",
                      "snr_rows", "snr_exact", "residual_sum", "residual_rows",
                      "compressed", "fed", "entropy_sum", "entropy_rows", "usec",
                      "kept", *(field for field, _ in SUMS)):
            setattr(self, field, getattr(self, field) + getattr(part, field))
        for field in ("layers", *(field for field, _ in SETS)):
            getattr(self, field).update(getattr(part, field))
        if not part.err_max <= self.err_max and part.err_max == part.err_max:
            self.err_max = part.err_max
        for field in ("exp", "step"):
            low, high = getattr(part, field + "_min"), getattr(part, field + "_max")
            if low is not None:
                self.add_range(field, low, high)
        if part.steps is not None:
            self.steps = set() if self.steps is None else self.steps
            self.steps.update(part.steps)

    def step_count(self):
        """How many steps there are, where they are counted."""
        return len(self.steps or ())

    def err_nan(self):
        """Rows without a mean error."""
        return self.rows - self.err_rows

    def name(self):
        return "/".join(self.names)

    def sent(self):
        """The formats and compressors, as a text."""
        return join_sent(self.formats)

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

    def entropy(self):
        """Bits a value."""
        return self.entropy_sum / self.entropy_rows if self.entropy_rows else NAN

    def snr(self):
        if self.snr_rows:
            return self.snr_sum / self.snr_rows
        return INF if self.snr_exact else NAN

    def underflow_percent(self):
        return 100.0 * self.underflow / self.elements if self.elements else NAN

    def sent_percent(self):
        return 100.0 * self.wire / self.fp32 if self.fp32 else NAN

    def saved_percent(self):
        return 100.0 * (1 - self.wire / self.fp32) if self.fp32 else NAN


def merge(parts):
    """One Stats of the rows of all of `parts`."""
    whole = Stats()
    for part in parts:
        whole.absorb(part)
    return whole
