# SPDX-License-Identifier: BSD-3-Clause
"""Figures of round-off logs: one log by layer and step, one log by step, several
logs compared."""

import collections
import math

from apsmpi_log.text import INF, NAN, plural, shorten

from .figures import (BLUE, COLOURS, ERR_LABEL, MARKERS, PALE, RED, ROWS_NAMED,
                      add_cell_tips, add_legend, add_tip, drawable, figure_height,
                      layer_labels, legend_height, positive_limits, say_below,
                      say_nothing, set_error_ticks, set_layer_axis, set_step_axis,
                      set_whole_axis)
from .grid import Grid
from .statistics import Stats, merge
from .tables import show_steps
from .text import show_bytes


# A value of rows. cells: its field of Cells; nothing: the text of a figure without
# any.
Value = collections.namedtuple("Value", "cells title label nothing")
ERROR = Value("err", "Mean round-off error", ERR_LABEL, "no error above 0")
RATIO = Value("ratio", "Signal-to-noise ratio", "signal-to-noise ratio, dB",
              "no row has a finite ratio")
RESIDUAL = Value("residual", "Residual", "residual: norm left out / norm given",
                 "no residuals in this log")
EXPONENT = Value("exp", "Scale exponent",
                 "scale exponent f: values are multiplied by 2^f",
                 "no scale exponents in this log")


def shows_ratios(logs):
    """True if rows have errors without a meaning: of compressors, and of plain formats
    with feedback."""
    return any(log.total.compressed or log.total.fed for log in logs)


def cells_of(np, log, value):
    """Returns the value of each row of a log, or NaN if the row has none."""
    cells = np.frombuffer(getattr(log.cells, value.cells), dtype=float)
    # A row without an error has an infinite ratio.
    return np.where(cells == INF, NAN, cells) if value is RATIO else cells


def values_of(np, log):
    """Returns the Values that say something about a log."""
    if not shows_ratios([log]):
        return [ERROR, EXPONENT]
    return [RATIO, *(value for value in (RESIDUAL, EXPONENT)
                     if not np.isnan(cells_of(np, log, value)).all())]


def note_left(np, cells):
    """Returns a list with the note on rows that a figure leaves out, or []."""
    left = int(np.isnan(cells).sum())
    return ["left out: %s without a value" % plural(left, "row")] * bool(left)


def note_overflows(np, ax, log, grid):
    """Marks layers and steps in which values overflowed. Returns a list of notes."""
    over = np.frombuffer(log.cells.over, dtype=np.int8) > 0
    if over.any():
        ax.scatter(grid.column[over], grid.row[over], s=14, marker="x", color=RED,
                   linewidths=1, rasterized=int(over.sum()) > 2000)
    notes = ["red: overflows in " + plural(int(over.sum()), "row")] * bool(over.any())
    return notes + [plural(log.total.redone, "chunk") + " reduced again"] * bool(
        log.total.redone)


def draw_linear_map(mpl, np, fig, ax, log, grid, labels, value, cells):
    """cells: the value of each row of the log."""
    ax.set_title(value.title)
    values = grid.means(cells)
    good = values[np.isfinite(values)]
    if not good.size:
        return say_nothing(ax, value.nothing)
    # Darker is better, as in the map of errors.
    cmap = mpl.colormaps["viridis_r" if value is RATIO else "viridis"].with_extremes(
        under=RED, over=RED)
    norm = mpl.colors.Normalize(good.min() if value is RATIO else 0,
                                max(good.max(), good.min() + 1e-9))
    image = ax.imshow(np.ma.masked_invalid(np.clip(
        values, norm.vmin - 1, norm.vmax + 1)), aspect="auto",
        interpolation="nearest", cmap=cmap, norm=norm)
    bar = fig.colorbar(image, ax=ax, location="bottom", aspect=35, pad=0.02)
    bar.set_label(value.label + " (red: INF or NaN in the sum)" * bool(
        np.isinf(values).any()))
    bar.outline.set_visible(False)
    set_step_axis(np, ax, grid, ", ".join(
        note_overflows(np, ax, log, grid) + note_left(np, cells)))
    add_cell_tips(ax, labels, values, grid.name)
    return None


def draw_error_map(mpl, np, fig, ax, log, grid, labels, value, cells):
    values = grid.means(cells)
    limits = positive_limits(np, values)
    ax.set_title(value.title)
    if limits is None:
        return say_nothing(ax, value.nothing)
    cmap = mpl.colormaps["viridis"].with_extremes(under=PALE, over=RED)
    shown = np.minimum(values, limits[1] * 10)
    shown = np.where(shown < limits[0], limits[0] / 10, shown)  # 0 has no log
    image = ax.imshow(np.ma.masked_invalid(shown), aspect="auto",
                      interpolation="nearest", cmap=cmap,
                      norm=mpl.colors.LogNorm(*limits))
    under, over = say_below(values, limits[0]), (values > limits[1]).any()
    bar = fig.colorbar(image, ax=ax, location="bottom", aspect=35, pad=0.02,
                       extend={(0, 0): "neither", (1, 0): "min", (0, 1): "max",
                               (1, 1): "both"}[(int(bool(under)), int(over))])
    keys = ["grey: " + under] * bool(under) + ["red: inf"] * bool(over)
    bar.set_label(ERR_LABEL + (" (%s)" % ", ".join(keys) if keys else ""))
    bar.outline.set_visible(False)
    set_error_ticks(mpl, bar.ax.xaxis, limits)
    set_step_axis(np, ax, grid)
    add_cell_tips(ax, labels, values, grid.name)
    return None


def draw_exponent_map(mpl, np, fig, ax, log, grid, labels, value, cells):
    ax.set_title(value.title)
    values = grid.means(cells)
    good = values[~np.isnan(values)]
    if not good.size:
        return say_nothing(ax, value.nothing)
    low, high = math.floor(good.min()), math.ceil(good.max())
    bounds = np.arange(low, high + 2) - 0.5     # one colour an integer
    cmap = mpl.colors.ListedColormap(mpl.colormaps["cividis"](
        np.linspace(0, 1, len(bounds) - 1)))
    image = ax.imshow(np.ma.masked_invalid(values), aspect="auto",
                      interpolation="nearest", cmap=cmap,
                      norm=mpl.colors.BoundaryNorm(bounds, cmap.N))
    bar = fig.colorbar(image, ax=ax, location="bottom", aspect=35, pad=0.02,
                       spacing="proportional")
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100) if (high - low) / n <= 12)
    bar.set_ticks([e for e in range(low, high + 1) if e % every == 0])
    bar.ax.minorticks_off()
    bar.set_label(value.label)
    bar.outline.set_visible(False)
    set_step_axis(np, ax, grid, ", ".join(
        note_overflows(np, ax, log, grid) + note_left(np, cells)))
    add_cell_tips(ax, labels, values, grid.name)
    return None


def draw_error_dots(mpl, np, ax, series, labels, value):
    """Draws the mean error by layer. series: (values, colour, marker, label) lists."""
    ax.set_title(value.title)
    size = 30 if len(labels) <= ROWS_NAMED else 12
    limits = positive_limits(np, np.concatenate([s[0] for s in series]))
    if limits is None:
        return say_nothing(ax, "no error above 0")
    ax.set_xscale("log")
    ax.set_xlim(limits[0] / 1.3, limits[1] * 1.3)
    ax.grid(axis="both" if len(series[0][0]) <= ROWS_NAMED else "x")
    edge = ax.get_yaxis_transform()
    notes = {}
    under = say_below(np.concatenate([s[0] for s in series]), limits[0])
    for i, (values, colour, marker, label) in enumerate(series):
        rows = np.arange(len(values))
        # Equal values cover each other: the covered ones are larger and show.
        ax.scatter(drawable(np, values), rows,
                   s=size * (1 + 0.8 * (len(series) - 1 - i)), color=colour,
                   marker=marker, zorder=3, label=label, linewidths=0)
        for rows_at, x, sign, meaning in (
                (rows[values < limits[0]], 0, "<", "hollow, left: " + under),
                (rows[values > limits[1]], 1, ">", "hollow, right: inf")):
            if len(rows_at):
                notes[meaning] = True
            ax.scatter([x] * len(rows_at), rows_at, s=size, marker=sign,
                       facecolors="none", edgecolors=colour, transform=edge,
                       clip_on=False, zorder=4)
    for row, label in enumerate(labels):
        add_tip(ax, "%s: %s" % (label, ", ".join(
            ("%s %.3g" % (one[3] or "", one[0][row])).strip() for one in series)),
            y=(row - .5, row + .5))
    set_error_ticks(mpl, ax.xaxis, limits)
    ax.set_xlabel(ERR_LABEL + (" (%s)" % "; ".join(notes) if notes else ""))
    return None


def draw_linear_dots(mpl, np, ax, series, labels, value):
    """Draws a value by layer. series: as for draw_error_dots."""
    every = np.concatenate([s[0] for s in series])
    good = every[np.isfinite(every)]
    ax.set_title(value.title)
    if not good.size:
        return say_nothing(ax, value.nothing)
    few = len(labels) <= ROWS_NAMED
    ax.grid(axis="both" if few else "x")
    for i, (values, colour, marker, label) in enumerate(series):
        # Equal values cover each other: the covered ones are larger and show.
        ax.scatter(np.where(np.isfinite(values), values, NAN), np.arange(len(values)),
                   s=(30 if few else 12) * (1 + 0.8 * (len(series) - 1 - i)),
                   color=colour, marker=marker, zorder=3, label=label, linewidths=0)
    for row, label in enumerate(labels):
        add_tip(ax, "%s: %s" % (label, ", ".join(
            ("%s %.3g" % (one[3] or "", one[0][row])).strip() for one in series)),
            y=(row - .5, row + .5))
    if value is EXPONENT:
        ax.set_xlim(good.min() - 1, good.max() + 1)
        set_whole_axis(mpl, ax.xaxis)
    missing = ["no dot: no value"] * bool(
        (np.isnan(every) | (every == INF)).any())
    missing += ["no dot: INF or NaN in the sum"] * bool((every == -INF).any())
    ax.set_xlabel("; ".join([value.label, *missing]))
    return None


def draw_bytes(mpl, np, ax, stats, total, labels):
    """Draws the bytes of a call by layer, as sent and in FP32."""
    wire = np.array([s.wire / s.rows for s in stats])
    fp32 = np.array([s.fp32 / s.rows for s in stats])
    rows = np.arange(len(stats))
    saved = total.saved_percent()
    ax.set_title("Bytes sent per call" + (
        "" if math.isnan(saved) else ": %.1f %% saved" % saved))
    both = np.concatenate([wire, fp32])
    both = both[both > 0]
    if not both.size:
        return say_nothing(ax, "nothing was sent")
    few = len(stats) <= ROWS_NAMED
    ax.grid(axis="x")
    ax.barh(rows, fp32, height=0.8 if few else 1.0, color=PALE, label="FP32")
    ax.barh(rows, wire, height=0.46 if few else 1.0, color=BLUE,
            label="on the wire")
    if both.max() > 50 * both.min():
        ax.set_xscale("log")
        ax.set_xlim(both.min() / 2, both.max() * 1.3)
        ax.xaxis.set_major_locator(mpl.ticker.LogLocator(numticks=9))
        ax.xaxis.set_minor_locator(mpl.ticker.NullLocator())
        ax.set_xlabel("bytes per call and rank (log scale)")
    else:
        ax.set_xlim(0, both.max() * 1.05)
        ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(
            5, steps=[1, 2, 5, 10]))
        ax.set_xlabel("bytes per call and rank")
    ax.xaxis.set_major_formatter(mpl.ticker.FuncFormatter(show_bytes))
    if few:
        for row, s in zip(rows, stats):
            if s.fp32:
                ax.text(1.02, row, "%.1f %%" % s.saved_percent(), fontsize=8,
                        transform=ax.get_yaxis_transform(), va="center")
        ax.text(1.02, 1.0, "saved", fontsize=8, fontweight="bold",
                transform=ax.transAxes, va="bottom")
    for row, label in enumerate(labels):
        add_tip(ax, "%s: %s, FP32: %s" % (label, show_bytes(wire[row]),
                                          show_bytes(fp32[row])),
                y=(row - .5, row + .5))
    # Below the axis and its label, at the height of the maps' colour bars.
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=4,
              ncol=2, frameon=False)
    return None


MAPS = {ERROR: draw_error_map, EXPONENT: draw_exponent_map}
DOTS = {ERROR: draw_error_dots}


def figure_one(mpl, np, log):
    """Draws the values that say something about a log, and the bytes, by layer."""
    grid = Grid(np, log)
    keys = grid.keys
    stats = [log.layers[key] for key in keys]
    names = [one.name() for one in stats]
    full = layer_labels(keys, names, 10 ** 6)
    shown = values_of(np, log)
    fig, axes = mpl.pyplot.subplots(
        1, len(shown) + 1, figsize=(4 + 5 * len(shown), figure_height(len(keys))),
        sharey=True, layout="constrained",
        gridspec_kw={"width_ratios": [1.15] * len(shown) + [1]})
    for ax, value in zip(axes, shown):
        cells = cells_of(np, log, value)
        if len(grid.run) > 1:
            MAPS.get(value, draw_linear_map)(mpl, np, fig, ax, log, grid, full, value,
                                             cells)
        else:
            DOTS.get(value, draw_linear_dots)(
                mpl, np, ax, [(grid.means(cells)[:, 0], BLUE, "o", None)], full, value)
    draw_bytes(mpl, np, axes[-1], stats, log.total, full)
    set_layer_axis(axes[0], layer_labels(keys, names))
    for ax in axes[1:]:
        ax.tick_params(axis="y", left=False, labelleft=False)
    fig.suptitle("%s: %s, scale %s, %s, %s" % (
        shorten(log.label, 60), log.total.sent(),
        "/".join(log.total.scales),
        plural(len(keys), "layer"), show_steps(log.total)),
        x=0.01, ha="left", fontsize=12)
    return fig


def curve_of(np, means, value):
    """Returns the means that a curve can show, and NaN for the others."""
    return drawable(np, means) if value is ERROR else np.where(
        np.isfinite(means), means, NAN)


def set_curve_axis(mpl, np, ax, means, value):
    """Sets the axis of a curve; returns what gaps in the curves mean, or ""."""
    if value is RATIO:
        if not np.isfinite(means).any():
            say_nothing(ax, value.nothing)
            return ""
        ax.set_ylabel(value.label)
        ax.grid()
        return "gaps: no error, or INF or NaN in the sum" if not np.isfinite(
            means).all() else ""
    limits = positive_limits(np, means)
    if limits is None:
        say_nothing(ax, "no error above 0")
        return ""
    ax.set_yscale("log")
    ax.set_ylim(limits[0] / 1.2, limits[1] * 1.2)
    set_error_ticks(mpl, ax.yaxis, limits)
    ax.set_ylabel(ERR_LABEL)
    ax.grid()
    less = "less" in say_below(means, limits[0])
    return "gaps: error 0%s or inf" % (", less than the scale" if less else "") if (
        ~np.isfinite(means) | (means < limits[0])).any() else ""


def figure_steps(mpl, np, log):
    """Draws the mean error of a log, or its mean ratio, by step."""
    grid = Grid(np, log)
    value = values_of(np, log)[0]
    means = grid.column_means(cells_of(np, log, value))
    fig, ax = mpl.pyplot.subplots(figsize=(14, 3), layout="constrained")
    good = curve_of(np, means, value)
    for run in np.unique(grid.run):
        at = np.flatnonzero(grid.run == run)
        ax.plot(at, good[at], color=BLUE, linewidth=1.4, marker="o", markersize=3)
    for i, mean in enumerate(means):
        add_tip(ax, "%s: %.3g" % (grid.name(i, i), mean), (i - .5, i + .5))
    ax.set_xlim(-.5, len(means) - .5)
    gaps = set_curve_axis(mpl, np, ax, means, value)
    set_step_axis(np, ax, grid, gaps)
    return fig


def figure_compared(mpl, np, logs):
    """Draws the errors, or the ratios, and the bytes of several logs."""
    value = RATIO if shows_ratios(logs) else ERROR
    keys = sorted({key for log in logs for key in log.layers})
    names = [merge(log.layers[key] for log in logs if key in log.layers).name()
             for key in keys]
    styles = [(COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)])
              for i in range(len(logs))]
    height = max(6.0 + 0.25 * len(logs), figure_height(len(keys)))
    below = 0.2 + 0.3 * len(logs)       # inches of the bars
    above = legend_height(len(logs))
    fig = mpl.pyplot.figure(figsize=(14, height), layout="constrained")
    spec = fig.add_gridspec(3, 2, width_ratios=(1.3, 1), height_ratios=(
        above, height - 1.8 - below - above, below))
    lines, bars = fig.add_subplot(spec[1, 0]), fig.add_subplot(spec[2, 0])
    dots = fig.add_subplot(spec[1:, 1])

    lines.set_title(value.title + " by step")
    means = []
    for i, (log, (colour, marker)) in enumerate(zip(logs, styles)):
        grid = Grid(np, log)
        means.append(grid.column_means(cells_of(np, log, value)))
        mean = curve_of(np, means[-1], value)
        # The curves of two runs are not connected.
        at = np.flatnonzero(np.diff(grid.run)) + 1
        steps, mean = np.insert(grid.first, at, 0), np.insert(mean, at, NAN)
        # Equal curves cover each other: the covered ones are wider and show, and
        # each has its markers at other steps.
        every = max(1, len(steps) // 20)
        lines.plot(steps, mean, color=colour, marker=marker, markersize=4,
                   markevery=(i * every // len(logs), every), label=log.label,
                   linewidth=1.4 + 1.4 * min(len(logs) - 1 - i, 5))
    gaps = set_curve_axis(mpl, np, lines, np.concatenate(means), value)
    lines.set_xlabel("step (%s)" % gaps if gaps else "step")
    set_whole_axis(mpl, lines.xaxis)

    bars.set_title("Bytes sent in the sampled calls")
    rows = np.arange(len(logs))
    wire = np.array([float(log.total.wire) for log in logs])
    fp32 = np.array([float(log.total.fp32) for log in logs])
    bars.barh(rows, fp32, height=0.8, color=PALE)
    bars.barh(rows, wire, height=0.46, color=[colour for colour, _ in styles])
    bars.set_xlim(0, max(fp32.max(), wire.max(), 1) * 1.05)
    bars.set_ylim(len(logs) - 0.5, -0.5)
    bars.set_yticks(rows)
    bars.set_yticklabels([shorten(log.label, 24) for log in logs])
    bars.grid(axis="x")
    bars.xaxis.set_major_locator(mpl.ticker.MaxNLocator(
        6, steps=[1, 2, 5, 10]))
    bars.xaxis.set_major_formatter(mpl.ticker.FuncFormatter(show_bytes))
    bars.set_xlabel("bytes that the logging rank sent in them; pale: in FP32")
    for row, log in zip(rows, logs):
        add_tip(bars, "%s: %s, FP32: %s" % (
            log.label, show_bytes(wire[row]), show_bytes(fp32[row])),
            y=(row - .5, row + .5))
        if log.total.fp32:
            bars.text(1.01, row, "%.1f %% saved" % log.total.saved_percent(),
                      transform=bars.get_yaxis_transform(), va="center",
                      fontsize=8)

    mean_of = Stats.err_mean if value is ERROR else Stats.snr
    DOTS.get(value, draw_linear_dots)(mpl, np, dots, [
        (np.array([mean_of(log.layers[key]) if key in log.layers else NAN
                   for key in keys]), colour, marker, log.label)
        for log, (colour, marker) in zip(logs, styles)],
        layer_labels(keys, names, 10 ** 6), value)
    dots.set_title(value.title + " by layer")
    set_layer_axis(dots, layer_labels(keys, names))
    add_legend(fig.add_subplot(spec[0, :]), "center left",
               *lines.get_legend_handles_labels())
    return fig
