# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the page: elements of HTML, texts, tables, and figures with headings."""

import html

from apsmpi_log.text import UserError

from .figures import load_matplotlib, svg_element


def element(name, *content, **attributes):
    """Returns <name attribute="value">content</name>. The content is elements as
    text; values are escaped. An attribute's name ends before its last _."""
    opened = "".join(' %s="%s"' % (key.rstrip("_"), html.escape(str(value)))
                     for key, value in attributes.items() if value is not None)
    return "<%s%s>%s</%s>" % (name, opened, "".join(content), name)


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


def columns_table(columns, total=False, **attributes):
    """Returns the columns of a text's table as a table of the page."""
    return table([column.heading for column in columns],
                 list(zip(*(column.cells for column in columns))),
                 [i for i, column in enumerate(columns) if column.align == "<"],
                 total, **attributes)


def fact(value, about):
    return element("div", element("b", words(value)), element("span", words(about)),
                   class_="fact")


class Figures:
    """Draws the figures of a page. missing: why there are none, or None."""

    def __init__(self):
        self.number, self.missing = 0, None
        try:
            self.libraries = load_matplotlib("a figure of --html")
        except UserError as error:
            self.missing = str(error)

    def __call__(self, heading, make):
        """Returns what make(mpl, np) has drawn, below its heading."""
        if self.missing:
            return ""
        self.number += 1
        drawn = svg_element(*self.libraries, make(*self.libraries),
                            "f%d-" % self.number, heading)
        return element("h3", words(heading)) + element("div", drawn, class_="wide")
