# SPDX-License-Identifier: BSD-3-Clause
"""The frame of every page: the head with the style. The page has no script, and its
policy forbids a browser to load anything. Pictures inside figures are part of it."""

import html

from apsmpi_log.library import VERSION

STYLE = """
:root { --ink: #222; --soft: #666; --line: #ddd }
* { box-sizing: border-box }
body { font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; color: var(--ink);
  background: #fff; max-width: 1260px; margin: 0 auto; padding: 0 1rem 3rem }
h1 { font-size: 1.5rem; margin: 1.2rem 0 .3rem }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .4rem; padding-top: .6rem;
  border-top: 2px solid var(--line); overflow-wrap: anywhere }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem }
p { margin: .4rem 0; overflow-wrap: anywhere }
.soft { color: var(--soft) }
.note { background: #fff6d9; padding: .4rem .7rem }
.facts { display: flex; flex-wrap: wrap; gap: .6rem; margin: .8rem 0 }
.fact { border: 1px solid var(--line); border-radius: 4px; padding: .4rem .8rem;
  flex: 1 1 8.5rem }
.fact b { display: block; font-size: 1.35rem; font-weight: 600 }
.fact span { color: var(--soft); font-size: .85rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .86rem;
  font-variant-numeric: tabular-nums }
th, td { padding: .18rem .5rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid #eee }
th { position: sticky; top: 0; background: #fff; border-bottom: 2px solid #bbb }
th.left, td.left { text-align: left }
.events td.left { white-space: normal; overflow-wrap: anywhere }
tr.total td { border-top: 2px solid #bbb; font-weight: 600 }
.long { max-height: 36rem; overflow-y: auto }
svg { display: block; max-width: max(100%, 860px); height: auto }
svg * { stroke-linejoin: round; stroke-linecap: butt }
.tips { fill: transparent; stroke-width: .7 }
.tips path:hover { stroke: #000 }
code, pre { font: .82rem/1.4 "DejaVu Sans Mono", monospace }
.policy { background: #f6f6f3; border: 1px solid var(--line); border-radius: 4px;
  padding: .6rem .9rem; overflow-x: auto }
@media print { .long { max-height: none } }
"""


def frame(title, body):
    """Returns the whole page as text."""
    return """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="apsmpi-report %s">
<title>%s</title>
<style>%s</style>
</head>
<body>
%s
</body>
</html>
""" % (html.escape(VERSION), html.escape(title), STYLE, body)
