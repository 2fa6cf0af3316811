# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the page: texts, tables, and figures with headings."""

import html

from .svg import element


def words(text):
    return html.escape(text)


def table(headings, rows, left=(), total=False, **attributes):
    """left: numbers of the columns of texts."""
    def cells(name, row):
        return "".join(element(name, words(cell), class_="left" if i in left else None)
                       for i, cell in enumerate(row))

    lines = ["<tr>%s</tr>" % cells("th", headings)]
    for i, row in enumerate(rows):
        last = total and i == len(rows) - 1
        lines.append(element("tr", cells("td", row), class_="total" if last else None))
    return element("div", element("table", "\n".join(lines), **attributes),
                   class_="wide long" if len(rows) > 24 else "wide")


def fact(value, about):
    return element("div", element("b", words(value)), element("span", words(about)),
                   class_="fact")


def figure(heading, drawn):
    """A drawing below its heading; nothing where there is none."""
    if not drawn:
        return ""
    return element("h3", words(heading)) + element("div", drawn, class_="wide")
