# SPDX-License-Identifier: BSD-3-Clause
"""The figure of the all-reduce bench."""

import math

from .bench import COPY, NATIVE
from .figures import (BLUE, GREEN, INK, MARKERS, ORANGE, RED, add_legend,
                      legend_height)
from .text import show_elements, show_usec


def bench_styles(bench):
    """Returns {variant: style}: the colour shows the name, the line the reduction."""
    styles = {NATIVE: dict(color="#000000", marker="o")}
    floors = bench.of_kind("floor")
    dashes = [(1, 1), (3, 1.2), (5, 1.5), (6, 1, 1, 1)]
    for i, variant in enumerate(floors):
        styles[variant] = dict(color="#8A8A8A", linewidth=1.2, marker="",
                               linestyle=(0, dashes[i % len(dashes)]))
    for variant in bench.of_kind("copy"):
        styles[variant] = dict(color="#C4C4C4", linewidth=1.2, marker="")
    for variant, line in zip(bench.of_kind("typed"), ("-", "--")):
        styles[variant] = dict(color="#7E57C2", marker="P", linestyle=line)
    for variant in bench.of_kind("half"):
        styles[variant] = dict(color="#CC79A7", marker="X")
    ours = bench.of_kind("ours")
    names = list(dict.fromkeys(name for name, _ in ours))
    reduces = list(dict.fromkeys(reduce for _, reduce in ours))
    lines = ("-", "--", "-.", ":")
    colours = (BLUE, ORANGE, GREEN, RED, "#56B4E9", "#8C564B")
    for name, reduce in ours:
        i = names.index(name)
        styles[(name, reduce)] = dict(
            color=colours[i % len(colours)], marker=MARKERS[1:][i % 5],
            linestyle=lines[reduces.index(reduce) % len(lines)],
            # A line that another one covers is wider and shows.
            linewidth=max(3 - 0.5 * i, 1.2), markersize=max(7 - i, 4))
    return styles


def bench_label(bench, variant):
    name, reduce = variant
    if variant == NATIVE:
        return "native FP32"
    if variant == COPY:
        return "bound of memory: memcpy"
    if variant in bench.of_kind("typed"):
        return "%s, not converted" % name
    if variant in bench.of_kind("floor"):
        return "floor: native %s-bit integers" % name[3:]
    if reduce == "native":
        return "FP16, user's operation"
    several = len({r for _, r in bench.of_kind("ours")}) > 1
    return "%s %s" % (name, reduce) if several else name


def set_size_axis(mpl, ax, sizes):
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(mpl.ticker.FixedLocator(
        thin([count for _, count in sizes])))
    ax.xaxis.set_major_formatter(mpl.ticker.FuncFormatter(show_elements))
    ax.xaxis.set_minor_locator(mpl.ticker.NullLocator())
    ax.set_xlabel("floats")
    if len(sizes) == 1:
        ax.set_xlim(sizes[0][1] / 2, sizes[0][1] * 2)


def thin(counts):
    """Returns the sizes without those whose labels would touch the next label."""
    kept = []
    for count in reversed(counts):
        if not kept or count * 1.9 < kept[-1]:
            kept.append(count)
    return kept[::-1]


def figure_bench(mpl, np, bench, title):
    styles = bench_styles(bench)
    tensors = [case for case in bench.cases if case[0] > 1]
    panels = 2 * bool(bench.sizes) + len(tensors)
    ratios = [1.15, 1.15] * bool(bench.sizes) + [0.85] * len(tensors)
    drawn = [v for v in bench.variants if v in styles]
    below = legend_height(len(drawn))
    fig = mpl.pyplot.figure(figsize=(1 + 5 * sum(ratios) / 1.1, 6),
                            layout="constrained")
    spec = fig.add_gridspec(2, panels, width_ratios=ratios,
                            height_ratios=(6 - below, below))
    axes = [fig.add_subplot(spec[0, i]) for i in range(panels)]
    if bench.sizes:
        draw_bench_lines(mpl, bench, styles, drawn, axes.pop(0), axes.pop(0))
    for case, ax in zip(tensors, axes):
        draw_bench_bars(mpl, bench, styles, drawn, case, ax)
    handles, labels = fig.axes[0].get_legend_handles_labels()
    add_legend(fig.add_subplot(spec[1, :]), "center", handles, labels)
    fig.suptitle("MPI_Allreduce of floats: %s" % (title or bench.title()),
                 x=0.01, ha="left", fontsize=12)
    return fig


def draw_bench_lines(mpl, bench, styles, drawn, times, ratios):
    """Draws the time and the speed-up by size."""
    for variant in drawn:
        cases = [c for c in bench.sizes if bench.get(variant, c)]
        style = dict({"linewidth": 1.8, "markersize": 5}, **styles[variant])
        counts = [count for _, count in cases]
        times.plot(counts, [bench.get(variant, c).median_usec for c in cases],
                   label=bench_label(bench, variant), **style)
        if variant != COPY:
            ratios.plot(counts, [bench.speedup(variant, c) for c in cases], **style)
    for variant in bench.of_kind("floor"):
        case = bench.sizes[-1]
        if bench.get(variant, case):
            ratios.annotate("%s bits" % variant[0][3:],
                            (case[1], bench.speedup(variant, case)),
                            xytext=(4, 0), textcoords="offset points",
                            fontsize=8, va="center", color="#6A6A6A",
                            annotation_clip=False)
    times.set_title("Time of one call, median")
    times.set_yscale("log")
    times.yaxis.set_major_locator(mpl.ticker.LogLocator(numticks=12))
    times.yaxis.set_major_formatter(mpl.ticker.FuncFormatter(show_usec))
    times.yaxis.set_minor_formatter(mpl.ticker.NullFormatter())
    ratios.set_title("Times faster than native FP32")
    set_ratio_axis(mpl, ratios, ratios.yaxis, ratios.get_ylim())
    for ax in (times, ratios):
        set_size_axis(mpl, ax, bench.sizes)
        ax.grid()


def set_ratio_axis(mpl, ax, axis, limits):
    """Names powers of two, and numbers half-way between them on a short axis."""
    (ax.set_yscale if axis is ax.yaxis else ax.set_xscale)("log", base=2)
    ticks = [2.0 ** e * f for e in range(-8, 9) for f in (1, 1.5)]
    short = limits[1] / max(limits[0], 1e-3) < 6
    axis.set_major_locator(mpl.ticker.FixedLocator(
        [t for t in ticks if short or math.log2(t) == round(math.log2(t))]))
    axis.set_major_formatter(mpl.ticker.FuncFormatter(lambda x, _: "%gx" % x))
    axis.set_minor_locator(mpl.ticker.NullLocator())


def draw_bench_bars(mpl, bench, styles, drawn, case, ax):
    """Draws speed-ups as bars, for one call for each of many tensors."""
    rows = [v for v in drawn if v != COPY and bench.get(v, case)]
    values = [bench.speedup(v, case) for v in rows]
    bars = ax.barh(range(len(rows)), values, height=0.7, edgecolor="white",
                   linewidth=0, color=[styles[v]["color"] for v in rows])
    for row, (bar, variant) in enumerate(zip(bars, rows)):
        if styles[variant].get("linestyle") in ("--", "-.", ":"):
            bar.set_hatch("//")
        ax.text(values[row], row, " %.2fx" % values[row], va="center",
                fontsize=8)
    ax.axvline(1, color=INK, linewidth=0.8)
    ax.set_yticks(range(len(rows)))
    ax.set_yticklabels([bench_label(bench, v) for v in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(0, max(values) * 1.2)
    ax.set_title("%d tensors, a call each" % case[0])
    ax.set_xlabel("times faster than native FP32\n(%s for %s floats)" % (
        show_usec(bench.get(NATIVE, case).median_usec), show_elements(case[1])))
    ax.grid(axis="x")
