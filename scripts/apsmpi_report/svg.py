# SPDX-License-Identifier: BSD-3-Clause
"""Elements of HTML and SVG as text, and what drawings share: colours and axes."""

import html
import math

INK, FAINT, PALE = "#333", "#ddd", "#d9d9d9"
BLUE, ORANGE, GREEN, RED = "#0072b2", "#e69f00", "#009e73", "#d5400e"
LINES = (BLUE, ORANGE, GREEN, RED, "#a0508c", "#3a9bd9", "#000000")
LETTER = 6.3            # the width of a letter in the text of a drawing
WIDTH = 960             # of a drawing; the page scales it


def element(name, *content, **attributes):
    """<name attribute="value">content</name>: the content is text that is an
    element already, values are escaped. A _ in an attribute's name is a -."""
    opened = "".join(' %s="%s"' % (key.rstrip("_").replace("_", "-"),
                                   html.escape(str(value)))
                     for key, value in attributes.items() if value is not None)
    return "<%s%s>%s</%s>" % (name, opened, "".join(content), name)


def show(number):
    """A coordinate."""
    return "%.4g" % number if abs(number) < 1000 else "%.0f" % number


def label(x, y, text, anchor="start", **attributes):
    return element("text", html.escape(str(text)), x=show(x), y=show(y),
                   text_anchor=anchor, **attributes)


def line(x1, y1, x2, y2, colour=FAINT, **attributes):
    return element("line", x1=show(x1), y1=show(y1), x2=show(x2), y2=show(y2),
                   stroke=colour, **attributes)


def box(x, y, width, height, colour, *content, **attributes):
    return element("rect", *content, x=show(x), y=show(y), width=show(width),
                   height=show(height), fill=colour, **attributes)


def drawing(height, description, *content, **attributes):
    return element(
        "svg", element("title", html.escape(description)), *content,
        viewBox="0 0 %d %d" % (WIDTH, math.ceil(height)), role="img", **attributes)


def ramp(stops, number):
    """So many colours between these, each a triple of 0 to 255."""
    colours = []
    for i in range(number):
        place = i / max(number - 1, 1) * (len(stops) - 1)
        low = min(int(place), len(stops) - 2)
        part = place - low
        colours.append("#%02x%02x%02x" % tuple(
            round(a + (b - a) * part) for a, b in zip(stops[low], stops[low + 1])))
    return colours


def round_numbers(first, last, most=8):
    """At most most + 1 multiples of 1, 2 or 5 times a power of ten."""
    if not last > first:
        return [first]
    power = 10.0 ** math.floor(math.log10((last - first) / most))
    every = next(n * power for n in (1, 2, 5, 10) if last - first <= most * n * power)
    return [i * every for i in range(math.ceil(first / every - 1e-9),
                                     math.floor(last / every + 1e-9) + 1)]


def powers(low, high):
    """Numbers to name on a logarithmic axis from low to high."""
    decades = math.log10(high / low)
    factors = ((1,) if decades > 2.2 else (1, 2, 5) if decades > 0.8
               else (1, 1.5, 2, 3, 5, 7))
    ticks = [f * 10.0 ** e for e in range(math.floor(math.log10(low)),
                                          math.ceil(math.log10(high)) + 1)
             for f in factors]
    ticks = [tick for tick in ticks if low * .999 <= tick <= high * 1.001]
    if len(ticks) < 2:      # a short axis
        ticks = round_numbers(low, high, 4)
    return ticks[::math.ceil(len(ticks) / 9)]
