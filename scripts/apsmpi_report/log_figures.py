# SPDX-License-Identifier: BSD-3-Clause
"""Figures of round-off logs: one log by layer and step, one log by step, several
logs compared."""

import math

from apsmpi_log.text import NAN, plural, shorten

from .figures import (BLUE, COLOURS, ERR_LABEL, MARKERS, ORANGE, PALE, RED, ROWS_NAMED,
                      add_cell_tips, add_legend, add_tip, drawable, figure_height,
                      layer_labels, legend_height, positive_limits, say_below,
                      say_nothing, set_error_ticks, set_layer_axis, set_step_axis,
                      set_whole_axis)
from .grid import Grid
from .statistics import merge
from .tables import show_steps
from .text import show_bytes


def draw_error_map(mpl, np, fig, ax, log, grid, labels):
    values = grid.means(log.cells.err)
    limits = positive_limits(np, values)
    ax.set_title("Mean round-off error")
    if limits is None:
        return say_nothing(ax, "no error above 0")
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


def draw_exponent_map(mpl, np, fig, ax, log, grid, labels):
    """Also marks layers and steps in which values overflowed."""
    ax.set_title("Scale exponent")
    values = grid.means(log.cells.exp)
    good = values[~np.isnan(values)]
    if not good.size:
        return say_nothing(ax, "no scale exponents in this log")
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
    bar.set_label("scale exponent f: values are multiplied by 2^f")
    bar.outline.set_visible(False)
    over = np.frombuffer(log.cells.over, dtype=np.int8) > 0
    if over.any():
        ax.scatter(grid.column[over], grid.row[over], s=14, marker="x", color=RED,
                   linewidths=1, rasterized=int(over.sum()) > 2000)
    notes = ["red: overflows in " + plural(int(over.sum()), "row")] * bool(over.any())
    notes += [plural(log.total.redone, "chunk") + " reduced again"] * bool(
        log.total.redone)
    set_step_axis(np, ax, grid, ", ".join(notes))
    add_cell_tips(ax, labels, values, grid.name)
    return None


def draw_error_dots(mpl, np, ax, series, labels):
    """Draws the mean error by layer. series: (values, colour, marker, label) lists."""
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
        ax.scatter(drawable(np, values), rows, s=size * (1 + 0.8 * (len(series) - 1 - i)),
                   color=colour, marker=marker, zorder=3, label=label, linewidths=0)
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


def draw_exponent_dots(mpl, np, ax, values):
    ax.set_title("Scale exponent")
    if np.isnan(values).all():
        return say_nothing(ax, "no scale exponents in this log")
    ax.grid(axis="both" if len(values) <= ROWS_NAMED else "x")
    ax.scatter(values, np.arange(len(values)), color=ORANGE, zorder=3, linewidths=0,
               s=30 if len(values) <= ROWS_NAMED else 12)
    ax.set_xlim(np.nanmin(values) - 1, np.nanmax(values) + 1)
    set_whole_axis(mpl, ax.xaxis)
    ax.set_xlabel("scale exponent f: values are multiplied by 2^f")
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


def figure_one(mpl, np, log):
    """Draws the errors, scale exponents and bytes of a log by layer."""
    grid = Grid(np, log)
    keys = grid.keys
    stats = [log.layers[key] for key in keys]
    names = [one.name() for one in stats]
    full = layer_labels(keys, names, 10 ** 6)
    fig, axes = mpl.pyplot.subplots(
        1, 3, figsize=(14, figure_height(len(keys))), sharey=True,
        layout="constrained", gridspec_kw={"width_ratios": (1.15, 1.15, 1)})
    if len(grid.run) > 1:
        draw_error_map(mpl, np, fig, axes[0], log, grid, full)
        draw_exponent_map(mpl, np, fig, axes[1], log, grid, full)
    else:
        axes[0].set_title("Mean round-off error")
        draw_error_dots(mpl, np, axes[0], [
            (grid.means(log.cells.err)[:, 0], BLUE, "o", None)], full)
        draw_exponent_dots(mpl, np, axes[1], grid.means(log.cells.exp)[:, 0])
    draw_bytes(mpl, np, axes[2], stats, log.total, full)
    set_layer_axis(axes[0], layer_labels(keys, names))
    for ax in axes[1:]:
        ax.tick_params(axis="y", left=False, labelleft=False)
    fig.suptitle("%s: %s, scale %s, %s, %s" % (
        shorten(log.label, 60), log.total.sent(),
        "/".join(log.total.scales),
        plural(len(keys), "layer"), show_steps(log.total)),
        x=0.01, ha="left", fontsize=12)
    return fig


def set_curve_axis(mpl, np, ax, means):
    """Sets the axis of errors; returns what gaps in the curves mean, or ""."""
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
    """Draws the mean error of a log by step."""
    grid = Grid(np, log)
    means = grid.column_means(log.cells.err)
    fig, ax = mpl.pyplot.subplots(figsize=(14, 3), layout="constrained")
    good = drawable(np, means)
    for run in np.unique(grid.run):
        at = np.flatnonzero(grid.run == run)
        ax.plot(at, good[at], color=BLUE, linewidth=1.4, marker="o", markersize=3)
    for i, mean in enumerate(means):
        add_tip(ax, "%s: %.3g" % (grid.name(i, i), mean), (i - .5, i + .5))
    ax.set_xlim(-.5, len(means) - .5)
    gaps = set_curve_axis(mpl, np, ax, means)
    set_step_axis(np, ax, grid, gaps)
    return fig


def figure_compared(mpl, np, logs):
    """Draws the errors and bytes of several logs."""
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

    lines.set_title("Mean round-off error by step")
    means = []
    for i, (log, (colour, marker)) in enumerate(zip(logs, styles)):
        grid = Grid(np, log)
        means.append(grid.column_means(log.cells.err))
        mean = drawable(np, means[-1])
        # The curves of two runs are not connected.
        at = np.flatnonzero(np.diff(grid.run)) + 1
        steps, mean = np.insert(grid.first, at, 0), np.insert(mean, at, NAN)
        # Equal curves cover each other: the covered ones are wider and show, and
        # each has its markers at other steps.
        every = max(1, len(steps) // 20)
        lines.plot(steps, mean, color=colour, marker=marker, markersize=4,
                   markevery=(i * every // len(logs), every), label=log.label,
                   linewidth=1.4 + 1.4 * min(len(logs) - 1 - i, 5))
    gaps = set_curve_axis(mpl, np, lines, np.concatenate(means))
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

    dots.set_title("Mean round-off error by layer")
    draw_error_dots(mpl, np, dots, [
        (np.array([log.layers[key].err_mean() if key in log.layers else NAN
                   for key in keys]), colour, marker, log.label)
        for log, (colour, marker) in zip(logs, styles)],
        layer_labels(keys, names, 10 ** 6))
    set_layer_axis(dots, layer_labels(keys, names))
    add_legend(fig.add_subplot(spec[0, :]), "center left",
               *lines.get_legend_handles_labels())
    return fig
