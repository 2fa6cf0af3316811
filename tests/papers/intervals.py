# SPDX-License-Identifier: BSD-3-Clause
"""Paired differences of seeds, with their intervals, as a table and as a picture.

Only Python's standard library; a table always gives the same bytes.
"""
import math
import statistics
from html import escape

from rows import FP32

# 97.5 % quantile of Student's t distribution, by degrees of freedom
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365,
           8: 2.306, 9: 2.262}
FIXED = ("row", "seed", "epoch", "loss", "bytes")     # the other columns are scores


def decimals(value, name, sign=""):
    """Returns the value of a score as text; differences of bits are small."""
    digits = 4 if name == "bits" else 2
    return "NaN" if math.isnan(value) else "%{}.{}f".format(sign, digits) % (
        round(value, digits) + 0.0)     # not -0


def score_of(lines):
    """Returns the name of the first score."""
    return next(name for name in lines[0] if name not in FIXED)


def last_scores(lines, row, name=None):
    """{seed: score of the last epoch}"""
    name = name or score_of(lines)
    scores = {int(line["seed"]): float(line[name]) for line in lines
              if line["row"] == row}
    if not scores:
        raise SystemExit("there are no results of the row '%s'" % row)
    return scores


def interval(values):
    """Returns (mean, half of the width of the 95 % interval), NaN if a value is."""
    values = list(values)
    if not all(map(math.isfinite, values)):
        return math.nan, math.nan
    if len(values) < 2:
        return values[0], float("inf")
    return (statistics.mean(values), STUDENT[len(values) - 1]
            * statistics.stdev(values) / len(values) ** 0.5)


def difference(lines, row, other=FP32, name=None):
    """Returns interval() of row's scores less the other's with the same seeds."""
    own, base = last_scores(lines, row, name), last_scores(lines, other, name)
    if not own.keys() <= base.keys():
        raise SystemExit("the row '%s' lacks seeds of '%s'" % (other, row))
    return interval(own[seed] - base[seed] for seed in own)


def table_of(lines, rows):
    """Returns a dictionary for each row. Differences are from the first one."""
    table, base = [], next(iter(rows))
    for row in rows:
        line = {"row": row, "seeds": len(last_scores(lines, row))}
        for name in (n for n in lines[0] if n not in FIXED):
            mean, half = difference(lines, row, base, name)
            line[name] = statistics.mean(last_scores(lines, row, name).values())
            line[name + " difference"] = mean
            line[name + " +-"] = half
        if "bytes" in lines[0]:
            share = next(float(l["bytes"]) for l in lines if l["row"] == row)
            line["bytes %"] = 100 * share
        table.append(line)
    return table


# --- the picture ----------------------------------------------------------------

WIDTH, LEFT, RIGHT, TOP, LINE = 720, 230, 80, 44, 16
FONT = 'font-family="sans-serif" font-size="11" fill="#222222"'


def text(x, y, words, anchor="start"):
    return '<text x="%g" y="%g" text-anchor="%s" %s>%s</text>' % (
        x, y, anchor, FONT, escape(words))


def sheet(width, height, title):
    """The beginning of a picture."""
    return ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
            'viewBox="0 0 %d %d">' % (width, height, width, height),
            '<rect width="100%" height="100%" fill="#ffffff"/>', text(10, 20, title)]


def draw(title, table):
    """A line for each row: mean and interval of the difference from the first. Rows
    beyond the left or right edge have their value there, and NaN has no mark."""
    name = list(table[0])[2]
    means = [line[name + " difference"] for line in table]
    halves = [line[name + " +-"] for line in table]
    usual = sorted(max(abs(m) + h, 1e-9) for m, h in zip(means, halves)
                   if math.isfinite(m + h))
    limit = usual[len(usual) * 2 // 3] * 1.2
    bottom = TOP + LINE * len(table)
    middle, scale = (LEFT + WIDTH - RIGHT) / 2, (WIDTH - RIGHT - LEFT) / 2 / limit
    out = sheet(WIDTH, bottom + 30, "%s: %s less that of %s with the same seed; mean of "
                "%s seeds, 95 %% interval" % (title, name, table[0]["row"],
                                              table[0]["seeds"]))
    for tick in (-limit / 1.2, 0, limit / 1.2):
        x = middle + tick * scale
        out.append('<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s"/>' % (
            x, TOP - 8, x, bottom, "#222222" if tick == 0 else "#dddddd"))
        out.append(text(round(x, 1), bottom + 16, "%.3g" % tick, "middle"))
    for i, (line, mean, half) in enumerate(zip(table, means, halves)):
        y = TOP + LINE * i + LINE / 2
        out.append(text(LEFT - 8, y + 4, line["row"], "end"))
        out.append(text(WIDTH - RIGHT + 8, y + 4, decimals(line[name], name)))
        if not math.isfinite(mean + half):
            continue
        low, high = (max(-limit, min(limit, v)) for v in (mean - half, mean + half))
        out.append('<line x1="%.1f" y1="%g" x2="%.1f" y2="%g" stroke="#0072B2" '
                   'stroke-width="2"/>' % (middle + low * scale, y,
                                           middle + high * scale, y))
        if abs(mean) <= limit:
            out.append('<circle cx="%.1f" cy="%g" r="3.5" fill="#0072B2"/>' % (
                middle + mean * scale, y))
        else:
            edge = middle + (limit if mean > 0 else -limit) * scale
            out.append(text(round(edge, 1), y + 4, "%.3g" % mean,
                            "end" if mean > 0 else "start"))
    return "\n".join(out + ["</svg>"]) + "\n"


# --- curves -----------------------------------------------------------------------

COLOURS = ("#000000", "#0072B2", "#56B4E9", "#E69F00", "#D55E00", "#009E73", "#CC79A7")
PANEL, HEIGHT = 330, 240


def curve(lines, row, name):
    """Returns the mean over seeds for each epoch."""
    own = [line for line in lines if line["row"] == row]
    epochs = sorted({int(line["epoch"]) for line in own})
    return [statistics.mean(float(line[name]) for line in own
                            if int(line["epoch"]) == epoch) for epoch in epochs]


def draw_curves(title, lines, rows):
    """Loss and first score by epoch, means over the seeds, for up to 7 rows."""
    names = "loss", score_of(lines)
    width, bottom = 2 * PANEL + 60, TOP + HEIGHT
    height = bottom + 40 + LINE * len(rows)
    out = sheet(width, height, "%s: means of the seeds, by epoch" % title)
    for panel, name in enumerate(names):
        left = 50 + panel * (PANEL + 10)
        curves = [curve(lines, row, name) for row in rows]
        # The axes fit the first row; curves that leave them are cut off.
        first = curves[0]
        span = max(first) - min(first)
        rises = first[-1] > first[0]
        low = min(first) - span / (2 if rises else 10)
        high = max(first) + span / (10 if rises else 2)
        out.append('<rect x="%d" y="%d" width="%d" height="%d" fill="none" '
                   'stroke="#888888"/>' % (left, TOP, PANEL - 50, HEIGHT))
        out += [text(left - 4, round(y, 1), "%.3g" % value, "end") for value, y in (
            (high, TOP + 8), (low, bottom))]
        out.append(text(left, bottom + 16, "%s, epochs 1 to %d" % (name, len(first))))
        for colour, values in zip(COLOURS, curves):
            points = " ".join("%.1f,%.1f" % (
                left + (PANEL - 50) * i / max(1, len(values) - 1),
                bottom - HEIGHT * (min(max(value, low), high) - low) / (high - low))
                for i, value in enumerate(values) if math.isfinite(value))
            out.append('<polyline points="%s" fill="none" stroke="%s" '
                       'stroke-width="1.5"/>' % (points, colour))
    for i, (colour, row) in enumerate(zip(COLOURS, rows)):
        y = bottom + 34 + LINE * i
        out.append('<line x1="50" y1="%g" x2="74" y2="%g" stroke="%s" '
                   'stroke-width="2"/>' % (y - 4, y - 4, colour))
        out.append(text(80, y, row))
    return "\n".join(out + ["</svg>"]) + "\n"
