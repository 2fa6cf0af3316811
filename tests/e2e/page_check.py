# SPDX-License-Identifier: BSD-3-Clause
"""Checks a page that apsmpi-report --html has written.

    page_check.py PAGE shape        prints errors of its shape
    page_check.py PAGE table CSV    compares its tables with the output of --csv
    page_check.py PAGE texts CLASS  prints a table's cells
    page_check.py PAGE map          prints the values of its maps
    page_check.py PAGE tips         prints all tooltips of its figures
"""

import csv
import html.parser
import re
import sys

VOID = ("meta", "link", "br", "img", "input", "hr")


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.wrong = []
        self.open = []
        self.seen = {}          # tag: number
        self.ids = []
        self.tables = []        # (class, rows of cells)
        self.tips = []          # lists of tooltips: of axes
        self.names = []         # of figures
        self.used = []          # ids that figures refer to
        self.texts = []         # what a reader sees
        self.style = ""
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())
        self.close()
        if self.open:
            self.wrong.append("never closed: %s" % self.open)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.seen[tag] = self.seen.get(tag, 0) + 1
        if len(attributes) != len(attrs):
            self.wrong.append("an attribute twice: %s" % self.get_starttag_text())
        for name, value in attrs:
            if name == "href" and tag == "use" and value.startswith("#"):
                self.used.append(value[1:])
                continue
            if name == "href" and tag == "image" and re.fullmatch(
                    r"data:image/png;base64,[A-Za-z0-9+/=\s]+", value):
                continue
            self.used += re.findall(r"url\(#(.*?)\)", value or "")
            if name in ("src", "href", "srcset", "action", "data", "poster") or (
                    name.startswith("on")) or "//" in (value or ""):
                self.wrong.append("leads out: %s" % self.get_starttag_text()[:200])
            if "nan" in (value or "").split() and tag in ("path", "rect", "line"):
                self.wrong.append("no number: %s" % self.get_starttag_text())
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "table":
            self.tables.append((attributes.get("class"), []))
        if tag == "tr":
            self.tables[-1][1].append([])
        if tag in ("td", "th"):
            self.tables[-1][1][-1].append("")
        if tag == "svg":
            self.names.append(attributes.get("aria-label"))
        if tag == "g" and attributes.get("class") == "tips":
            self.tips.append([])
        if tag == "title" and self.open[-2:-1] == ["path"]:
            self.tips[-1].append("")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append("</%s> where %s is open, line %d" % (
                tag, self.open, self.getpos()[0]))

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        if inside == "style":
            self.style += data
            return
        self.texts.append(data)
        if inside == "title" and self.open[-2:-1] == ["path"]:
            self.tips[-1][-1] += data
        if inside in ("td", "th"):
            self.tables[-1][1][-1][-1] += data

    def table(self, name):
        return [rows for kind, rows in self.tables if kind == name]


def shape(page):
    """Yields the errors, a line each."""
    yield from page.wrong
    for tag, times in (("html", 1), ("head", 1), ("body", 1), ("h1", 1),
                       ("script", 0), ("style", 1)):
        if page.seen.get(tag, 0) != times:
            yield "%s <%s>" % (page.seen.get(tag, 0), tag)
    for tag in ("link", "img", "iframe", "object", "embed", "base", "audio", "video",
                "form"):
        if tag in page.seen:
            yield "<%s>" % tag
    for word in ("url(", "@import", "http:", "https:"):
        if word in page.style:
            yield "a style with %s" % word
    if len(set(page.ids)) != len(page.ids):
        yield "an id twice: %s" % page.ids
    for name in set(page.used) - set(page.ids):
        yield "no element has the id %s" % name
    if not all(page.names):
        yield "a figure without a name"
    for tips in page.tips:
        if not all(tips):
            yield "an empty tooltip"


FORMATS = {     # page's column: column of the CSV, and its text
    "count": ("count", str), "rows": ("rows", str), "format": ("format", str),
    "scale": ("scale", str), "reduce": ("reduce", str),
    "err_mean": ("err_mean", lambda v: "%.2e" % float(v)),
    "err_max": ("err_max", lambda v: "%.2e" % float(v)),
    "snr_db": ("snr_db", lambda v: "%.1f" % float(v)),
    "saved%": ("saved_pct", lambda v: "%.1f" % float(v)),
    "overfl": ("overflow", str), "nonfin": ("nonfinite", str),
    "redone": ("redone", str), "over": ("overflowed", str),
    "resid": ("residual", lambda v: "%.3f" % float(v))}


def compare(page, path):
    """Yields the differences between the page's table and the CSV, a line each."""
    with open(path, newline="", encoding="utf-8") as file:
        every = list(csv.DictReader(file))
    # A line of a candidate has its number in the column shadow.
    wanted = [line for line in every if line.get("shadow") in (None, "0")]
    measured = [line for line in every if line not in wanted]
    shown = [row for rows in page.table("candidates") for row in rows[1:]]
    if len(shown) != len(measured):
        yield "%d candidates, the table has %d" % (len(shown), len(measured))
    for row, line in zip(shown, measured):
        texts = ["%.1f" % (100 - float(line["saved_pct"])),
                 "%.2e" % float(line["err_mean"]), "%.1f" % float(line["snr_db"])]
        if not set(texts) <= set(row):
            yield "a candidate's line has not %s: %s" % (texts, row)
    found = [dict(zip(rows[0], row)) for rows in page.table("lines")
             for row in rows[1:-1]]
    if len(found) != len(wanted) or not (found or measured):
        yield "%d lines, the table has %d" % (len(found), len(wanted))
    compared = 0
    for ours, theirs in zip(found, wanted):
        for heading, (column, text) in FORMATS.items():
            if heading in ours:
                value = theirs[column]
                value = text(value) if value else "-"
                compared += 1
                if ours[heading] != value:
                    yield "%s: '%s', not '%s'" % (heading, ours[heading], value)
        if theirs.get("name") and ours.get("name") != theirs["name"]:
            yield "name: '%s', not '%s'" % (ours.get("name"), theirs["name"])
    if compared < 10 * len(wanted):
        yield "only %d cells were compared" % compared


def maps(page):
    """Prints a line for each row of a map, by the tooltips of its cells."""
    for tips in page.tips:
        rows = {}
        for tip in tips:
            cell = re.fullmatch(r"(.*), (?:run \d+ )?(?:steps? \d|2\^).*: (.*)", tip)
            if cell:
                rows.setdefault(cell[1], []).append(
                    "-" if cell[2] == "no value" else cell[2])
        for row, values in rows.items():
            print("%s: %s" % (row, " ".join(values)))


def main():
    page = Page(sys.argv[1])
    if sys.argv[2] == "texts":
        for rows in page.table(sys.argv[3]):
            for row in rows:
                print("|".join(row))
        return 0
    if sys.argv[2] == "tips":
        print("\n".join(tip for tips in page.tips for tip in tips))
        return 0
    if sys.argv[2] == "map":
        maps(page)
        return 0
    wrong = list(shape(page) if sys.argv[2] == "shape"
                 else compare(page, sys.argv[3]))
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
