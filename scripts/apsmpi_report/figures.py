# SPDX-License-Identifier: BSD-3-Clause
"""Figures of round-off logs; and what all figures share: colours, axes, files.

matplotlib and numpy are loaded where a figure is asked for, and handed down as
`mpl` and `np`."""

import math
import sys

from apsmpi_log.text import NAN, UserError, plural, shorten

from .statistics import merge
from .tables import show_steps
from .text import show_bytes, show_count


# Okabe and Ito's colours, which stay apart for colour-blind readers.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
COLOURS = (BLUE, ORANGE, GREEN, RED, "#CC79A7", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
PALE, INK = "#D9D9D9", "#333333"
LEGEND_COLUMNS = 5
ROWS_NAMED = 60         # up to so many layers each gets its name
COLUMNS_MAX = 400       # more steps than that are averaged
AXIS = 1e-12            # an axis of errors: its least value over its largest
ERR_LABEL = "mean round-off error  |ref − low| / |ref|"


def load_matplotlib(option="--plot"):
    """option: what the user asks for, to be named where it cannot be had."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot
        import numpy
    except ImportError as error:
        raise UserError("%s needs matplotlib 3.5 or later, which %s cannot load: %s. "
                        "Install it (Debian and Ubuntu: apt-get install "
                        "python3-matplotlib)" % (option, sys.executable, error)
                        ) from None
    if tuple(map(int, matplotlib.__version__.split(".")[:2])) < (3, 5):
        raise UserError("%s needs matplotlib 3.5 or later, and %s has %s: install a "
                        "later one (pip install matplotlib)" % (
                            option, sys.executable, matplotlib.__version__))
    matplotlib.rcParams.update({
        "font.size": 9, "axes.titlesize": 10, "axes.titleweight": "bold",
        "axes.titlelocation": "left", "axes.edgecolor": "#888888",
        "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
        "ytick.color": INK, "axes.spines.top": False,
        "axes.spines.right": False, "axes.axisbelow": True,
        "grid.color": "#E5E5E5", "grid.linewidth": 0.6,
        "svg.hashsalt": "apsmpi"})
    if "text.parse_math" in matplotlib.rcParams:    # from 3.6 on
        matplotlib.rcParams["text.parse_math"] = False
    return matplotlib, numpy


def draw(option, paths, figure):
    """option: the one that names the paths."""
    mpl, np = load_matplotlib(option)
    for path in paths:
        # Afresh each time: the layout of a saved figure moves when it is
        # saved again.
        fig = figure(mpl, np)
        svg = path.lower().endswith(".svg")
        try:
            fig.savefig(path, dpi=150, metadata={"Date": None} if svg else None)
        except OSError as error:
            raise UserError("%s: %s" % (path, error.strerror)) from None
        mpl.pyplot.close(fig)


def add_legend(ax, place, handles, labels):
    """The figure's legend, alone in axes of its own: it takes its place in the
    layout with every matplotlib."""
    ax.axis("off")
    ax.legend(handles, labels, loc=place, borderaxespad=0, frameon=False,
              ncol=LEGEND_COLUMNS, fontsize=9, handlelength=3.2)


def legend_height(labels):
    """In inches."""
    return 0.1 + 0.22 * -(-labels // LEGEND_COLUMNS)


def layer_label(key, stats, comms):
    comm, layer, count, call = key
    where = "%s " % comm if comms > 1 else ""
    if layer < 0:
        return where + show_count(call, count)
    # Long names lose their middle: both ends tell layers apart.
    return where + shorten(("%d  %s" % (layer, stats.name())).strip(), 34)


def set_layer_axis(ax, keys, stats):
    """Layers downwards; all names where they fit, else every so many."""
    comms = len({key[0] for key in keys})
    every = 1
    if len(keys) > ROWS_NAMED:
        every = next(n for n in (2, 5, 10, 20, 50, 100, 200, 500, 1000, 10 ** 9)
                     if len(keys) / n <= 35)
    ticks = list(range(0, len(keys), every))
    ax.set_yticks(ticks)
    ax.set_yticklabels([layer_label(keys[i], stats[i], comms) for i in ticks],
                       fontsize=8)
    ax.set_ylim(len(keys) - 0.5, -0.5)
    ax.set_ylabel("layer" if every == 1 else "layer (every %dth named)" % every)


def figure_height(layers):
    return min(max(4.4, 2.0 + 0.19 * layers), 10.5)


def layer_by_step(np, log, keys):
    """Mean error and scale exponent as arrays [layer, column], and the step
    that each column begins with."""
    index_of = {log.layers[key].index: i for i, key in enumerate(keys)}
    order = np.array([index_of[i] for i in range(len(keys))])
    layer = order[np.frombuffer(log.cells.layer, dtype=np.int64)]
    steps, column = np.unique(np.frombuffer(log.cells.step, dtype=np.int64),
                              return_inverse=True)
    group = -(-len(steps) // COLUMNS_MAX)
    column = column // group
    shape = (len(keys), -(-len(steps) // group))
    grids = []
    for values in (log.cells.err, log.cells.exp):
        values = np.frombuffer(values, dtype=float)
        use = ~np.isnan(values)
        total, number = np.zeros(shape), np.zeros(shape)
        np.add.at(total, (layer[use], column[use]), values[use])
        np.add.at(number, (layer[use], column[use]), 1)
        with np.errstate(invalid="ignore"):
            grids.append(total / number)
    return grids[0], grids[1], steps[::group], group


def round_steps(first, last):
    """At most nine multiples of 1, 2 or 5 times a power of ten."""
    every = next(n * 10 ** e for e in range(19) for n in (1, 2, 5)
                 if (last - first) / (n * 10 ** e) <= 8)
    ticks = list(range(-(-first // every) * every, last + 1, every))
    return ticks or [first]


def set_step_axis(np, ax, steps, group, what):
    """Columns are the logged steps, in order. Round numbers of steps are named,
    those between two logged steps between their columns."""
    ticks = round_steps(int(steps[0]), int(steps[-1]))
    ax.set_xticks(np.interp(ticks, steps, range(len(steps))))
    ax.set_xticklabels(["%d" % step for step in ticks])
    ax.set_xlabel("step" if group == 1 else
                  "step (%s over %d logged steps a column)" % (what, group))


def positive_limits(np, values):
    """Limits for a logarithmic axis, or None where nothing is positive."""
    good = values[np.isfinite(values) & (values > 0)]
    if not good.size:
        return None
    low, high = max(good.min(), good.max() * AXIS), good.max()
    return (low / 1.5, high * 1.5) if high < low * 1.2 else (low, high)


def say_below(values, low):
    """What those values are that a scale that begins at `low` has no place for; ""
    where there are none."""
    kinds = ["0"] * bool((values == 0).any())
    kinds += ["less than the scale"] * bool(((values < low) & (values != 0)).any())
    return " or ".join(kinds)


def say_nothing(ax, text):
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center",
            color="#777777")
    ax.set_xticks([])


def draw_error_map(mpl, np, fig, ax, grid, steps, group):
    limits = positive_limits(np, grid)
    ax.set_title("Mean round-off error")
    if limits is None:
        return say_nothing(ax, "no error above 0")
    cmap = mpl.colormaps["viridis"].with_extremes(under=PALE, over=RED)
    shown = np.where(np.isinf(grid), limits[1] * 10, grid)
    shown = np.where(shown < limits[0], limits[0] / 10, shown)  # 0 has no log
    image = ax.imshow(np.ma.masked_invalid(shown), aspect="auto",
                      interpolation="nearest", cmap=cmap,
                      norm=mpl.colors.LogNorm(*limits))
    under, over = say_below(grid, limits[0]), np.isinf(grid).any()
    bar = fig.colorbar(image, ax=ax, location="bottom", aspect=35, pad=0.02,
                       extend={(0, 0): "neither", (1, 0): "min", (0, 1): "max",
                               (1, 1): "both"}[(int(bool(under)), int(over))])
    keys = ["grey: " + under] * bool(under) + ["red: inf"] * bool(over)
    bar.set_label(ERR_LABEL + (" (%s)" % ", ".join(keys) if keys else ""))
    bar.outline.set_visible(False)
    set_error_ticks(mpl, bar.ax.xaxis, limits)
    set_step_axis(np, ax, steps, group, "mean")
    return None


def set_error_ticks(mpl, axis, limits):
    """Powers of ten, with some between them on a short axis."""
    decades = math.log10(limits[1] / limits[0])
    if decades < 0.35:
        axis.set_major_locator(mpl.ticker.MaxNLocator(5))
    else:
        subs = ((1,) if decades > 3 else (1, 2, 5) if decades > 0.9
                else (1, 1.5, 2, 3, 5, 7))
        axis.set_major_locator(mpl.ticker.LogLocator(subs=subs, numticks=12))
    axis.set_major_formatter(mpl.ticker.FuncFormatter(lambda x, _: "%.3g" % x))
    axis.set_minor_locator(mpl.ticker.NullLocator())


def draw_exponent_map(mpl, np, fig, ax, grid, steps, group):
    ax.set_title("Scale exponent")
    good = grid[~np.isnan(grid)]
    if not good.size:
        return say_nothing(ax, "no scale exponents in this log")
    low, high = math.floor(good.min()), math.ceil(good.max())
    bounds = np.arange(low, high + 2) - 0.5     # one colour an integer
    cmap = mpl.colors.ListedColormap(mpl.colormaps["cividis"](
        np.linspace(0, 1, len(bounds) - 1)))
    image = ax.imshow(np.ma.masked_invalid(grid), aspect="auto",
                      interpolation="nearest", cmap=cmap,
                      norm=mpl.colors.BoundaryNorm(bounds, cmap.N))
    bar = fig.colorbar(image, ax=ax, location="bottom", aspect=35, pad=0.02,
                       spacing="proportional")
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100) if (high - low) / n <= 12)
    bar.set_ticks([e for e in range(low, high + 1) if e % every == 0])
    bar.ax.minorticks_off()
    bar.set_label("scale exponent f: values are multiplied by 2^f")
    bar.outline.set_visible(False)
    set_step_axis(np, ax, steps, group, "mean")
    return None


def draw_error_dots(mpl, np, ax, series, size=30):
    """Mean error by layer: series is (values, colour, marker, label) lists."""
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
        # Equal values lie on each other: those below are larger, and show.
        ax.scatter(values, rows, s=size * (1 + 0.8 * (len(series) - 1 - i)),
                   color=colour, marker=marker, zorder=3, label=label, linewidths=0)
        for rows_at, x, sign, meaning in (
                (rows[values < limits[0]], 0, "<", "hollow, left: " + under),
                (rows[np.isinf(values)], 1, ">", "hollow, right: inf")):
            if len(rows_at):
                notes[meaning] = True
            ax.scatter([x] * len(rows_at), rows_at, s=size, marker=sign,
                       facecolors="none", edgecolors=colour, transform=edge,
                       clip_on=False, zorder=4)
    set_error_ticks(mpl, ax.xaxis, limits)
    ax.set_xlabel(ERR_LABEL + (" (%s)" % "; ".join(notes) if notes else ""))
    return None


def draw_exponent_dots(mpl, np, ax, values, size):
    ax.set_title("Scale exponent")
    if np.isnan(values).all():
        return say_nothing(ax, "no scale exponents in this log")
    ax.grid(axis="both" if len(values) <= ROWS_NAMED else "x")
    ax.scatter(values, np.arange(len(values)), s=size, color=ORANGE, zorder=3,
               linewidths=0)
    ax.set_xlim(np.nanmin(values) - 1, np.nanmax(values) + 1)
    ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(8, integer=True))
    ax.set_xlabel("scale exponent f: values are multiplied by 2^f")
    return None


def draw_bytes(mpl, np, ax, stats, total):
    """Bytes a call by layer, FP32 behind what was sent."""
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
    # Below the axis and its label, where the maps have their colour bars.
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=4,
              ncol=2, frameon=False)
    return None


def figure_one(mpl, np, log):
    keys = sorted(log.layers)
    stats = [log.layers[key] for key in keys]
    err, exp, steps, group = layer_by_step(np, log, keys)
    fig, axes = mpl.pyplot.subplots(
        1, 3, figsize=(14, figure_height(len(keys))), sharey=True,
        layout="constrained", gridspec_kw={"width_ratios": (1.15, 1.15, 1)})
    if len(steps) > 1:
        draw_error_map(mpl, np, fig, axes[0], err, steps, group)
        draw_exponent_map(mpl, np, fig, axes[1], exp, steps, group)
    else:
        size = 30 if len(keys) <= ROWS_NAMED else 12
        axes[0].set_title("Mean round-off error")
        draw_error_dots(mpl, np, axes[0], [(err[:, 0], BLUE, "o", None)], size)
        draw_exponent_dots(mpl, np, axes[1], exp[:, 0], size)
    draw_bytes(mpl, np, axes[2], stats, log.total)
    set_layer_axis(axes[0], keys, stats)
    for ax in axes[1:]:
        ax.tick_params(axis="y", left=False, labelleft=False)
    fig.suptitle("%s: %s, scale %s, %s, %s" % (
        shorten(log.label, 60), log.total.sent(),
        "/".join(log.total.scales),
        plural(len(keys), "layer"), show_steps(log.total)),
        x=0.01, ha="left", fontsize=12)
    return fig


def figure_compared(mpl, np, logs):
    keys = sorted({key for log in logs for key in log.layers})
    stats = [merge(log.layers[key] for log in logs if key in log.layers)
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
        err = np.frombuffer(log.cells.err, dtype=float)
        use = ~np.isnan(err)
        steps, column = np.unique(
            np.frombuffer(log.cells.step, dtype=np.int64)[use],
            return_inverse=True)
        mean = np.bincount(column, err[use]) / np.bincount(column)
        means.append(mean)
        mean = np.where(np.isfinite(mean) & (mean > 0), mean, NAN)
        # Equal curves lie on each other: those below are wider, and show; and
        # each has its markers at other steps.
        every = max(1, len(steps) // 20)
        lines.plot(steps, mean, color=colour, marker=marker, markersize=4,
                   markevery=(i * every // len(logs), every), label=log.label,
                   linewidth=1.4 + 1.4 * min(len(logs) - 1 - i, 5))
    limits = positive_limits(np, np.concatenate(means))
    if limits is None:
        say_nothing(lines, "no error above 0")
    else:
        lines.set_yscale("log")
        lines.set_ylim(limits[0] / 1.2, limits[1] * 1.2)
        set_error_ticks(mpl, lines.yaxis, limits)
        lines.xaxis.set_major_locator(mpl.ticker.MaxNLocator(
            8, integer=True, steps=[1, 2, 5, 10]))
        gaps = any((~np.isfinite(mean) | (mean < limits[0])).any() for mean in means)
        less = "less" in say_below(np.concatenate(means), limits[0])
        lines.set_xlabel("step (gaps: error 0%s or inf)" % (
            ", less than the scale" if less else "") if gaps else "step")
        lines.set_ylabel(ERR_LABEL)
        lines.grid()

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
        if log.total.fp32:
            bars.text(1.01, row, "%.1f %% saved" % log.total.saved_percent(),
                      transform=bars.get_yaxis_transform(), va="center",
                      fontsize=8)

    dots.set_title("Mean round-off error by layer")
    draw_error_dots(mpl, np, dots, [
        (np.array([log.layers[key].err_mean() if key in log.layers else NAN
                   for key in keys]), colour, marker, log.label)
        for log, (colour, marker) in zip(logs, styles)],
        30 if len(keys) <= ROWS_NAMED else 12)
    set_layer_axis(dots, keys, stats)
    add_legend(fig.add_subplot(spec[0, :]), "center left",
               *lines.get_legend_handles_labels())
    return fig
