# SPDX-License-Identifier: BSD-3-Clause
"""Parts that all figures share: colours, axes, files, and SVG inside a page.

matplotlib and numpy are loaded when a figure is asked for, and passed to functions
as `mpl` and `np`.
"""

import io
import math
import re
import sys
import warnings
from xml.etree import ElementTree

from apsmpi_log.text import UserError, printable, shorten

from .text import show_count


# Okabe and Ito's colours, which colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
COLOURS = (BLUE, ORANGE, GREEN, RED, "#CC79A7", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
PALE, INK = "#D9D9D9", "#333333"
LEGEND_COLUMNS = 5
ROWS_NAMED = 60         # largest number of layers that all have their names
NAME_MAX = 34           # characters of a layer's name at an axis
TIPS_MAX = 8000         # tooltips of a map
TINY, HUGE = 1e-150, 1e150      # errors outside are drawn like 0 and infinite ones
AXIS = 1e-12            # least value of an axis of errors over its largest
TICKS = 8               # most intervals between the steps that an axis names
ERR_LABEL = "mean round-off error  |ref − low| / |ref|"


def load_matplotlib(option="--plot", backend="Agg"):
    """Returns matplotlib and numpy. `option` names what needs them, for a UserError.
    backend: of matplotlib; None: the one that the program has chosen."""
    try:
        import matplotlib
        if backend:
            matplotlib.use(backend)
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
    # A letter that the font lacks is drawn as a box.
    warnings.filterwarnings("ignore", "Glyph .* missing")
    return matplotlib, numpy


def draw(option, paths, figure):
    """Draws a figure into each file. `option` names the option with the paths."""
    mpl, np = load_matplotlib(option)
    for path in paths:
        # A figure's layout moves when the figure is saved again.
        fig = figure(mpl, np)
        svg = path.lower().endswith(".svg")
        try:
            fig.savefig(path, dpi=150, metadata={"Date": None} if svg else None)
        except OSError as error:
            raise UserError("%s: %s" % (path, error.strerror)) from None
        mpl.pyplot.close(fig)


# --- in a page ----------------------------------------------------------------

def add_tip(ax, text, x=None, y=None):
    """Gives a rectangle of the axes a tooltip, for a page. x and y: (least, largest)
    in the axes' data; None: the whole axis."""
    vars(ax).setdefault("apsmpi_tips", []).append((text, x, y))


def tips_of(np, ax, height):
    """Returns the tooltips of axes as an element. height: of the figure, in points."""
    group = ElementTree.Element("g", {"class": "tips"})
    tips = getattr(ax, "apsmpi_tips", [])
    corners = np.array([(x or ax.get_xlim(), y or ax.get_ylim()) for _, x, y in tips])
    corners = ax.transData.transform(
        corners.transpose(0, 2, 1).reshape(-1, 2)).reshape(-1, 2, 2)
    lows, highs = corners.min(axis=1), corners.max(axis=1)
    for (text, _, _), (left, low), (right, high) in zip(
            tips, lows.tolist(), highs.tolist()):
        path = ElementTree.SubElement(group, "path", d="M%.1f %.1fH%.1fV%.1fH%.1fz" % (
            left, height - high, right, height - low, left))
        ElementTree.SubElement(path, "title").text = printable(text)
    return group


def svg_element(mpl, np, fig, name, about):
    """Returns a figure as SVG inside HTML, and closes it. name: the beginning of the
    SVG's ids, which are unique in a page; about: the figure for those who hear it."""
    fig.set_dpi(72)     # an inch of matplotlib's SVG has 72 units
    stream = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        fig.savefig(stream, format="svg", dpi=150)
    # A name may have letters that XML forbids.
    root = ElementTree.fromstring(re.sub(rb"[\0-\x08\x0b\x0c\x0e-\x1f]", b"?",
                                         stream.getvalue()))
    for element in root.iter():
        element.tag = element.tag.rsplit("}", 1)[-1]
        attributes = list(element.items())
        element.attrib.clear()
        for key, value in attributes:
            key = key.rsplit("}", 1)[-1]
            if key == "id":
                value = name + value
            elif key == "href" and value.startswith("#"):
                value = "#" + name + value[1:]
            element.set(key, value.replace("url(#", "url(#" + name))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in ("metadata", "style"):
                parent.remove(child)
    width, height = fig.get_size_inches() * 72
    for ax in fig.axes:
        if hasattr(ax, "apsmpi_tips"):
            root.append(tips_of(np, ax, height))
    root.set("width", "%.0f" % (1.2 * width))
    root.attrib.pop("height")
    root.set("role", "img")
    root.set("aria-label", about)
    mpl.pyplot.close(fig)
    return ElementTree.tostring(root, encoding="unicode")


# --- legends, layers, steps, errors -------------------------------------------

def add_legend(ax, place, handles, labels):
    """Fills axes with the figure's legend alone: every matplotlib gives axes a place
    in the layout."""
    ax.axis("off")
    ax.legend(handles, labels, loc=place, borderaxespad=0, frameon=False,
              ncol=LEGEND_COLUMNS, fontsize=9, handlelength=3.2)


def legend_height(labels):
    """Returns the height of a legend, in inches."""
    return 0.1 + 0.22 * -(-labels // LEGEND_COLUMNS)


def layer_label(key, name, comms, width=NAME_MAX):
    """Returns the text for a layer. A long name loses its middle, since both ends
    tell layers apart."""
    comm, layer, count, call = key
    where = "%s " % comm if comms > 1 else ""
    if layer < 0:
        return printable(where + show_count(call, count))
    return printable(where + shorten(("%d  %s" % (layer, name)).strip(), width))


def layer_labels(keys, names, width=NAME_MAX):
    comms = len({key[0] for key in keys})
    return [layer_label(key, name, comms, width) for key, name in zip(keys, names)]


def set_layer_axis(ax, labels):
    """Names all layers, downwards, or every nth of many."""
    every = 1
    if len(labels) > ROWS_NAMED:
        every = next(n for n in (2, 5, 10, 20, 50, 100, 200, 500, 1000, 10 ** 9)
                     if len(labels) / n <= 35)
    ticks = range(0, len(labels), every)
    ax.set_yticks(ticks)
    ax.set_yticklabels([labels[i] for i in ticks], fontsize=8)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_ylabel("layer" if every == 1 else "layer (every %dth named)" % every)


def figure_height(layers):
    """Returns the height of a figure with a row for each layer, in inches."""
    return min(max(4.4, 2.0 + 0.19 * layers), 10.5)


def round_steps(first, last, most=TICKS):
    """Returns at most most + 1 multiples of 1, 2 or 5 times a power of ten."""
    every = next(n * 10 ** e for e in range(19) for n in (1, 2, 5)
                 if (last - first) / (n * 10 ** e) <= most)
    ticks = list(range(-(-first // every) * every, last + 1, every))
    return ticks or [first]


def set_step_axis(np, ax, grid, note=""):
    """Names round steps; a step between two logged ones has its place between their
    columns. A dashed line is the start of a run."""
    ticks, names = [], []
    runs = np.unique(grid.run)
    for i, run in enumerate(runs):
        at = np.flatnonzero(grid.run == run)
        if i:
            ax.axvline(at[0] - .5, color=INK, linewidth=.8, linestyle=(0, (3, 3)))
        if i % -(-len(runs) // TICKS):
            continue
        # Each of up to four runs has three ticks.
        most = max(12 // len(runs), 1) if len(runs) > 1 else TICKS + 1
        steps = grid.first[at].tolist() if len(at) <= most else round_steps(
            int(grid.first[at[0]]), int(grid.first[at[-1]]), min(most, TICKS))
        ticks += list(np.interp(steps, grid.first[at], at))
        names += ["%d" % step for step in steps]
        if grid.several:
            names[-len(steps)] += "\nrun %d" % (run + 1)
    ax.set_xticks(ticks)
    ax.set_xticklabels(names)
    notes = ["mean over up to %d logged steps a column" % grid.share] * (
        grid.share > 1) + [note] * bool(note)
    ax.set_xlabel("step" + (" (%s)" % "; ".join(notes) if notes else ""))


def add_cell_tips(ax, labels, values, name, left=-.5, width=1):
    """Gives the cells of a map tooltips, several cells one if there are many.
    values: [row][column]; name: a function of the first and the last column; left,
    width: the left edge of the map and the width of a cell in the axis' data."""
    columns = len(values[0])
    share = -(-len(labels) * columns // TIPS_MAX)
    for row, (label, line) in enumerate(zip(labels, values.tolist())):
        for first in range(0, columns if share <= columns else 0, share):
            last = min(first + share, columns) - 1
            good = [value for value in line[first:last + 1] if value == value]
            add_tip(ax, "%s, %s: %s" % (label, name(first, last), "%.3g" % (
                sum(good) / len(good)) if good else "no value"),
                (left + first * width, left + (last + 1) * width),
                (row - .5, row + .5))


def drawable(np, values):
    """Returns the values that a logarithmic axis can show, and NaN for the others."""
    return np.where((values > TINY) & (values < HUGE), values, math.nan)


def positive_limits(np, values):
    """Returns limits for a logarithmic axis, or None if no value is positive."""
    good = drawable(np, values)
    good = good[~np.isnan(good)]
    if not good.size:
        return None
    low, high = max(good.min(), good.max() * AXIS), good.max()
    return (low / 1.5, high * 1.5) if high < low * 1.2 else (low, high)


def say_below(values, low):
    """Returns the kinds of values below a scale that begins at `low`, or ""."""
    kinds = ["0"] * bool((values == 0).any())
    kinds += ["less than the scale"] * bool(((values < low) & (values != 0)).any())
    return " or ".join(kinds)


def say_nothing(ax, text):
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center",
            color="#777777")
    ax.set_xticks([])


def set_error_ticks(mpl, axis, limits):
    """Names powers of ten, and numbers between them on a short axis."""
    decades = math.log10(limits[1] / limits[0])
    if decades < 0.35:
        axis.set_major_locator(mpl.ticker.MaxNLocator(5))
    else:
        subs = ((1,) if decades > 3 else (1, 2, 5) if decades > 0.9
                else (1, 1.5, 2, 3, 5, 7))
        axis.set_major_locator(mpl.ticker.LogLocator(subs=subs, numticks=12))
    axis.set_major_formatter(mpl.ticker.FuncFormatter(lambda x, _: "%.3g" % x))
    axis.set_minor_locator(mpl.ticker.NullLocator())


def set_whole_axis(mpl, axis):
    """Names at most nine whole numbers, such as steps."""
    axis.set_major_locator(mpl.ticker.MaxNLocator(
        8, integer=True, steps=[1, 2, 5, 10]))
