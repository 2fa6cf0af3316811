#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A code of 5 bits a value with less error than MXFP6: trellis.py FOLDER

prints its NMSE and MXFP6's, of the sum of 8 ranks with two roundings, and writes
FOLDER/trellis.csv. The library does not have this code. A message has a fixed number
of bytes, a coder's state of 32 bits and words of 16 bits, which hold one step and
the values' codes. The sender takes the smallest step with which they fit.

Trellis-coded quantisation (Marcellin and Fischer, 1990; the quantisers are those of
VVC's dependent quantisation): a state machine chooses between two quantisers, the
even multiples of the step and the odd ones and 0, and the parity of each code
selects the next state. The sender searches the best path (Viterbi); 8 states gain
1.1 dB over rounding, of at most 1.53 dB for any code.

The codes are written by an asymmetric numeral system (Duda, arXiv 1311.2540; the
range variant), with the frequencies of a logistic distribution. Its scale follows
the magnitudes of the previous values and, with `sums`, those of the sums of earlier
steps at the value's place, which all ranks know. (Here these are exact sums; a
library would have its own results.) With `own` the owner adds its own contribution
unrounded, because no rank sends it. The bits of the two roundings have the mean 5.
"""
import os

import numpy as np

from allot import mx, nmse, read_tensors, slices_of
from gradients import SETS, prepare
from output import folder_given, write_csv
from replay import RANKS

HEADER = 34                     # bits of the coder's state and of its begin
FINE = 256                      # steps are 2^(k / FINE)
PRECISION = 14                  # bits of frequencies
LEAST, MOST = -12, 16           # scales 2^(s / 4) with frequencies of their own
SYMBOLS = 128                   # codes from -63 to 64; the lowest: any other
ESCAPE = 24                     # bits of a code after it
STEPS = 3                       # the last recorded
# (name, states, is the owner's contribution exact, with earlier sums, bits of each)
WAYS = [("trellis", 8, False, False, (5, 5)),
        ("trellis, own", 8, True, False, (4.88, 5.12)),
        ("trellis/32, own", 32, True, False, (4.88, 5.12)),
        ("trellis, sums", 8, False, True, (4.85, 5.15)),
        ("trellis, own, sums", 8, True, True, (4.88, 5.12))]
# Parity checks (Ungerboeck 1982, one dimension), without the last bit.
CHECKS = {4: (2, 1), 8: (5, 2), 32: (18, 4)}


def next_state(states, state, parity):
    feedback, check = CHECKS[states]
    return state >> 1 ^ feedback * (state & 1) ^ check * parity


def nearest(a):
    """Returns the magnitudes nearest to a = |x| / step, in steps: of the
    quantiser 0 with even and odd codes, and of the quantiser 1."""
    odd = np.maximum(4 * np.round((a - 3) / 4) + 3, 3)
    return np.stack([4 * np.round(a / 4),
                     np.maximum(4 * np.round((a - 2) / 4) + 2, 2),
                     np.where(a < np.abs(a - odd), 0, odd),
                     np.maximum(4 * np.round((a - 1) / 4) + 1, 1)])


def quantised(x, step, states):
    """Returns for each row of x[row, value], with step[row], the multiples of the
    step of least squared error, and the quantiser of each."""
    a = np.abs(x) / step[:, None]
    choices = nearest(a)
    errors = ((choices - a) ** 2).transpose(2, 1, 0).copy()
    came = [[] for _ in range(states)]      # (state, choice)
    for state in range(states):
        for parity in (0, 1):
            came[next_state(states, state, parity)].append(
                (state, 2 * (state & 1) + parity))
    came = np.array(came)
    cost = np.full((len(x), states), np.inf)
    cost[:, 0] = 0
    second = np.zeros((x.shape[1], len(x), states), bool)
    for i, error in enumerate(errors):
        one, two = (cost[:, came[:, k, 0]] + error[:, came[:, k, 1]]
                    for k in (0, 1))
        second[i] = two < one
        cost = np.minimum(one, two)
    state, rows = np.argmin(cost, axis=1), np.arange(len(x))
    multiples = np.zeros(x.shape, int)
    quantisers = np.zeros(x.shape, int)
    for i in reversed(range(x.shape[1])):
        from_state, choice = came[state, second[i, rows, state].astype(int)].T
        multiples[:, i] = choices[choice, rows, i]
        quantisers[:, i], state = choice >> 1, from_state
    return np.where(x < 0, -multiples, multiples), quantisers


def frequencies():
    """Returns [quantiser, scale, symbol], of sum 2^PRECISION, each at least 1."""
    tables = np.zeros((2, MOST - LEAST + 1, SYMBOLS), int)
    codes = np.arange(SYMBOLS) - SYMBOLS // 2 + 1.0
    for quantiser in (0, 1):
        middle = np.sign(codes) * (2 * np.abs(codes) - quantiser)
        edges = np.concatenate([[-np.inf], (middle[1:] + middle[:-1]) / 2,
                                [np.inf]])
        for scale in range(LEAST, MOST + 1):
            z = edges * np.pi / 3 ** 0.5 / 2 ** (scale / 4)
            share = np.diff(1 / (1 + np.exp(-np.clip(z, -500, 500))))
            table = 1 + np.floor(share * (2 ** PRECISION - SYMBOLS)).astype(int)
            table[SYMBOLS // 2 - 1] += 2 ** PRECISION - table.sum()
            tables[quantiser, scale - LEAST] = table
    return tables


TABLES = frequencies()
STARTS = np.cumsum(TABLES, axis=2) - TABLES
COSTS = PRECISION - np.log2(TABLES)


class Scale:
    """The scale of the next value, of each row, in quarters of a power of two;
    `known` is the scale of all values from earlier sums."""

    def __init__(self, known):
        self.known, self.i = known, 0
        self.near = np.full(len(known), 12 << 8)    # mean magnitudes, of 8
        self.far = self.near.copy()                 # and of 64 values

    def next(self):
        log = 2.4 * np.log2(self.near + 90) + 1.6 * np.log2(self.far + 90)
        return np.maximum(np.floor(log - 30 + self.known[:, self.i]).astype(int),
                          LEAST)

    def add(self, multiples):
        size = np.floor(256 * np.abs(multiples)
                        * 2.0 ** (-self.known[:, self.i] / 4)).astype(int)
        self.near += size - self.near >> 3
        self.far += size - self.far >> 6
        self.i += 1


def split(code, scale):
    """Returns for a code the symbol, the row of the tables, and the number and
    value of its low bits, which follow unencoded. A symbol represents the
    codes around its multiple."""
    low = np.maximum(scale - MOST + 3, 0) >> 2
    symbol = (code + (1 << low >> 1) >> low) + SYMBOLS // 2 - 1
    is_other = (symbol < 1) | (symbol >= SYMBOLS)
    return (np.where(is_other, 0, symbol), scale - 4 * low - LEAST,
            np.where(is_other, ESCAPE, low),
            np.where(is_other, code, code + (1 << low >> 1)))


def code_of(multiples):
    return np.sign(multiples) * ((np.abs(multiples) + 1) // 2)


def lengths(multiples, quantisers, known):
    """Returns the bits of each row."""
    scale, bits = Scale(known), np.full(len(multiples), HEADER + 0.0)
    for m, quantiser in zip(multiples.T, quantisers.T):
        symbol, table, low, _ = split(code_of(m), scale.next())
        bits += COSTS[quantiser, table, symbol] + low
        scale.add(m)
    return bits


def write(multiples, quantisers, known, step):
    """Returns one message's state and words, for a decoder that reads forwards:
    the codes, and last the step's 16 bits."""
    scale, parts = Scale(known[None]), []
    for m, quantiser in zip(multiples, quantisers):
        symbol, table, low, tail = (
            int(k[0]) for k in split(code_of(m), scale.next()))
        parts.append((int(TABLES[quantiser, table, symbol]),
                      int(STARTS[quantiser, table, symbol]), PRECISION))
        for shift in range(0, low, 8):
            part = tail >> shift & (1 << min(8, low - shift)) - 1
            parts.append((1, part, min(8, low - shift)))
        scale.add(np.array([m]))
    state, words = 1 << 16 | step & 0xffff, []
    for size, start, bits in reversed(parts):
        if state >= size << 32 - bits:
            words.append(state & 0xffff)
            state >>= 16
        state = (state // size << bits) + state % size + start
    return state, words[::-1]


def read(state, words, n, states, known):
    """Returns the multiples of the step that write() got, and the step."""
    words, at, trellis = iter(words), Scale(known[None]), 0
    multiples = []

    def advance(size, start, bits):
        nonlocal state
        state = size * (state >> bits) + (state & (1 << bits) - 1) - start
        if state < 1 << 16:
            state = state << 16 | next(words)

    def raw(low):
        value = 0
        for shift in range(0, low, 8):
            bits = min(8, low - shift)
            part = state & (1 << bits) - 1
            advance(1, part, bits)
            value |= part << shift
        return value

    for _ in range(n):
        scale, quantiser = int(at.next()[0]), trellis & 1
        low = max(scale - MOST + 3, 0) >> 2
        table = scale - 4 * low - LEAST
        place = state & (1 << PRECISION) - 1
        symbol = int(np.searchsorted(STARTS[quantiser, table], place,
                                     side="right")) - 1
        advance(int(TABLES[quantiser, table, symbol]),
                int(STARTS[quantiser, table, symbol]), PRECISION)
        if symbol:
            code = (symbol - SYMBOLS // 2 + 1 << low) + raw(low) - (1 << low >> 1)
        else:
            code = raw(ESCAPE)
            code -= (code >> ESCAPE - 1) << ESCAPE
        multiples.append(int(np.sign(code)) * (2 * abs(code) - quantiser))
        at.add(np.array(multiples[-1:]))
        trellis = next_state(states, trellis, code & 1)
    return multiples, (state & 0x7fff) - (state & 0x8000)


def fitted(x, known, budget, states):
    """Returns for each row of x: multiples, quantisers and the step's exponent,
    the least with which the row fits in `budget` bits a value."""
    most = np.abs(x).max(axis=1)
    top = np.ceil(np.log2(np.where(most > 0, most, 1))).astype(int)
    low, high = FINE * (top - 20), FINE * (top + 1)     # too small, fits
    best = np.zeros(x.shape, int), np.zeros(x.shape, int)
    while (high - low > 1).any():
        middle = (low + high) // 2
        tried = quantised(x, 2.0 ** (middle / FINE), states)
        fits = lengths(*tried, known) <= budget * x.shape[1]
        for old, new in zip(best, tried):
            old[fits] = new[fits]
        low, high = np.where(fits, low, middle), np.where(fits, middle, high)
    return (*best, high)


def known_by(sums):
    """Returns the scales of a layer's values from earlier sums: u[value]."""
    mean = np.zeros(len(sums[0]))
    for total in sums:
        mean = 0.8 * mean + np.abs(total)
    return np.round(2.4 * np.log2(mean / mean.mean() + 0.2)).astype(int)


def rounded(rows, known, budget, states):
    """Returns each of the rows, which have one length, as its receiver decodes it."""
    multiples, _, step = fitted(rows, known, budget, states)
    return multiples * 2.0 ** (step / FINE)[:, None]


def errors_of(tensor, sums, way):
    """Returns the NMSE of the sum of tensor[rank, value], with a way of WAYS."""
    _, states, is_own, is_known, bits = way
    exact = tensor.sum(axis=0)
    known = known_by(sums) if is_known else np.zeros(len(exact), int)
    bounds = slices_of(len(exact))
    slices = [(owner, slice(begin, end)) for owner, (begin, end)
              in enumerate(zip(bounds, bounds[1:])) if begin < end]
    error = 0.0
    for length in {part.stop - part.start for _, part in slices}:
        some = [(owner, part) for owner, part in slices
                if part.stop - part.start == length]
        x = np.stack([tensor[:, part] for _, part in some])
        k = np.stack([known[part] for _, part in some])
        y = rounded(x.reshape(-1, length), np.repeat(k, RANKS, axis=0), bits[0],
                    states).reshape(x.shape)
        if is_own:
            for i, (owner, _) in enumerate(some):
                y[i, owner] = x[i, owner]
        error += ((rounded(y.sum(axis=1), k, bits[1], states)
                   - x.sum(axis=1)) ** 2).sum()
    return error / (exact ** 2).sum()


def rows_of(folder, name):
    """Yields the CSV's rows of one data set, as dictionaries."""
    prefix, tensors = prepare(folder, name)
    records = read_tensors(prefix)
    some = range(len(records) - STEPS * tensors, len(records))
    mxfp6 = min(np.mean([nmse(records[i], mx(*bits)) for i in some])
                for bits in ((2, 3), (3, 2)))
    yield {"set": name, "code": "MXFP6", "bits": 6.25, "nmse": mxfp6}
    for way in WAYS:
        # The steps of tests/sim repeat the same four.
        if way[3] and name == "sim":
            continue
        errors = [errors_of(records[i], [t.sum(axis=0) for t in
                                         records[i % tensors:i:tensors]], way)
                  for i in some]
        yield {"set": name, "code": way[0], "bits": np.mean(way[4]),
               "nmse": np.mean(errors)}


def main():
    folder = folder_given()
    rows = []
    for name in SETS:
        for row in rows_of(folder, name):
            row["nmse"] = "%.4g" % row["nmse"]
            print("%-12s %-20s %6.3f bits  %s" % tuple(row.values()), flush=True)
            rows.append(row)
    write_csv(os.path.join(folder, "trellis.csv"), rows)


if __name__ == "__main__":
    main()
