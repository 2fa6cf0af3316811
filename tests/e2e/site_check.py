# SPDX-License-Identifier: BSD-3-Clause
"""Checks the links of a site: site_check.py FOLDER prints each one that leads nowhere."""
import json
import os
import sys
from html.parser import HTMLParser


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = {""}, []
        with open(path, encoding="utf-8") as stream:
            self.feed(stream.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors.add(attrs.get("id", ""))
        self.links += [attrs[name] for name in ("href", "src") if name in attrs]


def main(folder):
    names = os.listdir(folder)
    pages = {name: Page(os.path.join(folder, name))
             for name in names if name.endswith(".html")}
    with open(os.path.join(folder, "index.js"), encoding="utf-8") as stream:
        rows = json.loads(stream.read().partition("=")[2].rstrip(";\n"))
    links = [("index.js", f"{page}.html#{anchor}") for page, anchor, _, _ in rows]
    links += [(name, link) for name, page in pages.items() for link in page.links]
    for name, link in links:
        target, _, anchor = link.partition("#")
        target = target or name
        if "://" in link:
            continue
        if target not in names or target in pages and anchor not in pages[target].anchors:
            print(f"{name}: {link} leads nowhere")
    print(f"{len(links)} links of {len(pages)} pages")


main(sys.argv[1])
